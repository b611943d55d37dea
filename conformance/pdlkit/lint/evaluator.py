"""One instruction's effect on the registers, as far as conditions and addresses need it.

Unhandled instructions make their destinations unknown and hand the roots of their sources on, so a missing case costs
precision and never hides an access.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pdlkit.lint import conditions as cond
from pdlkit.lint.elf import KernelInfo
from pdlkit.lint.opcodes import Kind, data_words, kind_of
from pdlkit.lint.values import (
    THREAD_REGISTERS,
    NOTHING,
    UNKNOWN,
    VARIES_BY_BLOCK,
    VARIES_BY_THREAD,
    ZERO,
    Root,
    Value,
    add,
    address_registers,
    arithmetic_shift,
    bitwise,
    half_pair,
    indirect,
    multiply,
    operation,
    parse_operand,
    permuted,
    pure_window,
    shift_left,
    shift_right,
    split_operands,
)

Registers = dict[Any, Any]
_CLUSTER_REGISTERS = ("SR_CgaCtaId", "SR_CTARANK", "SR_CLUSTERCTARANK", "SR_CTAID")
_CHANGING = ("SR_CLOCK", "SR_GLOBALTIMER", "SR_REGALLOC", "SR_SMEMSZ")
_LOCAL_WINDOW = {True: (0x20, 0x24), False: (0x2F8, 0x2FC)}  # below sm_100, from sm_100 on
_CONSTANT_WINDOW = {True: (0xD0, 0xD4), False: (0x120, 0x124)}
_PREDICATE_TRUE = (cond.TRUE, 0)
_PREDICATE_UNKNOWN = (None, 0)


class Image:
    """What the evaluator knows of the kernel besides its instructions."""

    def __init__(self, sm: int, info: KernelInfo, constant4: dict[int, str]) -> None:
        self.info, self.constant4 = info, constant4
        self.local_window = _LOCAL_WINDOW[sm < 100]
        self.constant_window = _CONSTANT_WINDOW[sm < 100]
        self.local_roots: frozenset[Root] = NOTHING  # of everything ever stored to local memory
        self.local_varies = 0
        self.cluster_flag = ("c", 0, 0x140 if sm < 100 else 0x36C)  # 1 where the kernel runs in clusters
        self.varying_sites: set[Any] = set()  # results that threads of a block may hold differently

    def constant(self, bank: int, offset: int) -> Value:
        if bank == 0:
            relative = offset - self.info.parameter_base
            if offset in self.local_window:
                return (("c", 0, offset), frozenset({("window", "local")}), 0)
            if offset in self.constant_window:
                return (("c", 0, offset), frozenset({("window", "constant")}), 0)
            if self.info.parameter_base and 0 <= relative < max(self.info.parameter_bytes, 1):
                return (("c", 0, offset), frozenset({("param", relative)}), 0)
            return (("c", 0, offset), NOTHING, 0)
        if bank == 4:
            return (("c", 4, offset), frozenset({("symbol", self.constant4.get(offset & ~7, "?"))}), 0)
        return (("c", bank, offset), frozenset({("bank", bank)}) if bank == 3 else NOTHING, 0)


class Evaluator:
    """Bound to one image; `site` names the instruction (None in a loop, where a result is not the same each time)."""

    def __init__(self, image: Image) -> None:
        self.image = image

    # reading -------------------------------------------------------------------------------------------------------
    def value(self, regs: Registers, operand: str, half: int = 0) -> Value:
        """An operand's value; half 1 is the register or constant word behind it."""
        parsed = parse_operand(operand)
        tag = parsed[0]
        if tag == "reg":
            found = self.register(regs, parsed[1], half)
            return (None, found[1], found[2]) if parsed[2] and found is not ZERO else found
        if tag == "int":
            return (("k", parsed[1] if half == 0 else 0), NOTHING, 0)
        if tag == "const":
            offset = parsed[3] + 4 * half
            if parsed[2] is None or parsed[2].endswith("Z"):
                found = self.image.constant(parsed[1], offset)
            else:
                index = self.register(regs, parsed[2], 0)
                if index[0] is None or index[0][0] != "k":
                    return (None, self._any_parameter(parsed[1]), index[2])
                found = self.image.constant(parsed[1], offset + index[0][1])
            return (None, found[1], found[2]) if parsed[4] else found
        if tag == "sym":
            return (("c", 4, parsed[1:]), frozenset({("symbol", parsed[1])}), 0)
        return UNKNOWN

    def _any_parameter(self, bank: int) -> frozenset[Root]:
        if bank != 0:
            return frozenset({("bank", bank)}) if bank == 3 else NOTHING
        return frozenset(("param", p.offset) for p in self.image.info.parameters)

    def register(self, regs: Registers, name: str, half: int) -> Value:
        if name.endswith("Z"):
            return ZERO
        if half:
            name = _next(name, half)
        return regs.get(name, UNKNOWN)

    def predicate(self, regs: Registers, operand: str) -> tuple[Any, int]:
        """(formula or None, varies) of P0, !P0, PT, !UPT..."""
        negated = operand.startswith("!")
        name = operand.lstrip("!")
        formula, varies = _PREDICATE_TRUE if name.endswith("T") else regs.get(name, _PREDICATE_UNKNOWN)
        if negated and formula is not None:
            formula = cond.negation(formula)
        return formula, varies

    def address(self, regs: Registers, operand: str) -> tuple[frozenset[Root], int]:
        """(roots, varies) of the address in [..]."""
        names, _ = address_registers(operand)
        roots: frozenset[Root] = NOTHING
        varies = 0
        for name in names:
            found = regs.get(name, UNKNOWN)
            roots |= found[1]
            varies |= found[2]
        return self._without_scalars(roots), varies

    def _without_scalars(self, roots: frozenset[Root]) -> frozenset[Root]:
        """Parameters too small for a pointer can only be an index."""
        small = {
            r for r in roots if r[0] == "param"
            and any(p.offset <= r[1] < p.offset + p.size and p.size < 8 for p in self.image.info.parameters)
        }
        return roots - small

    # writing -------------------------------------------------------------------------------------------------------
    def execute(self, regs: Registers, opcode: str, operand_text: str, guard: str, site: Any) -> None:
        """Apply an instruction; under a guard that is not surely true, the old value may stay."""
        operands = split_operands(operand_text)
        formula, varies = self.predicate(regs, guard) if guard else _PREDICATE_TRUE
        if formula == cond.FALSE:
            return
        result = self._result(regs, opcode, operands, site)
        conditional = formula != cond.TRUE
        for name, new in result.items():
            if conditional:
                new = _choice(formula, varies, new, regs.get(name), is_predicate=isinstance(name, str) and "P" in name)
            regs[name] = new

    def _result(self, regs: Registers, opcode: str, operands: tuple[str, ...], site: Any) -> dict[Any, Any]:
        base = opcode.split(".", 1)[0]
        handler = _HANDLERS.get(base)
        if handler is not None:
            result = handler(self, regs, opcode, operands, site)
            if result is not None:
                return result if site is None else self._named(result, site)
        kind = kind_of(opcode)
        if base in ("STL", "LDL"):
            return self._local(regs, opcode, operands)
        if kind in (Kind.LOAD, Kind.GENERIC_LOAD, Kind.ATOMIC, Kind.GENERIC_ATOMIC):
            return self._loaded(regs, opcode, operands, site)
        if kind in (Kind.STORE, Kind.GENERIC_STORE):
            self._generic_store(regs, opcode, operands)
            return {}
        return self._unknown(regs, opcode, operands, site)

    def _unknown(self, regs: Registers, opcode: str, operands: tuple[str, ...], site: Any) -> dict[Any, Any]:
        destinations, sources = destinations_of(opcode, operands)
        roots: frozenset[Root] = NOTHING
        varies = VARIES_BY_THREAD if opcode.startswith(("ELECT", "MATCH")) else 0
        for operand in sources:
            parsed = parse_operand(operand)
            if parsed[0] == "pred":
                varies |= self.predicate(regs, operand)[1]
            elif parsed[0] in ("reg", "const"):
                found = self.value(regs, operand)
                roots |= found[1]
                varies |= found[2]
        return {n: self.fresh(n, site, roots, varies) for n in destinations}

    def fresh(self, name: str, site: Any, roots: frozenset[Root], varies: int) -> Any:
        """A result nobody can compute, but that is the same wherever this execution of the site is meant."""
        expression = ("site", site, name) if site is not None else None
        if varies & VARIES_BY_THREAD and expression is not None:
            self.image.varying_sites.add(expression)
        if "P" in name:
            return (None if expression is None else ("atom", expression), varies)
        return (expression, roots, varies)

    def _named(self, result: dict[Any, Any], site: Any) -> dict[Any, Any]:
        """Results that could not be expressed get the name of their place, so that two uses can still be compared."""
        for name, value in result.items():
            if value[0] is None:
                result[name] = self.fresh(name, site, NOTHING if len(value) == 2 else value[1], value[-1])
        return result

    def _loaded(self, regs: Registers, opcode: str, operands: tuple[str, ...], site: Any) -> dict[Any, Any]:
        destinations, _ = destinations_of(opcode, operands)
        memory = next((o for o in operands if "[" in o), "")
        roots, varies = self.address(regs, memory)
        if pure_window(roots) and opcode.startswith("LD") and len(destinations) == 1:
            known = regs.get(("generic", *_generic_place(regs, memory), data_words(opcode), _narrowness(opcode)))
            if known is not None:
                return {destinations[0]: known}
        through = indirect(roots) or (self.image.local_roots if pure_window(roots) else NOTHING)
        return {n: self.fresh(n, site, through, varies) for n in destinations}

    def _generic_store(self, regs: Registers, opcode: str, operands: tuple[str, ...]) -> None:
        """Through a generic pointer to the stack or to shared memory: remembered if the place is known."""
        roots, _ = self.address(regs, operands[0]) if operands else (NOTHING, 0)
        if not pure_window(roots) or len(operands) < 2:
            return
        words, stored = data_words(opcode), self.value(regs, operands[-1])
        self.image.local_roots |= stored[1] | self.value(regs, operands[-1], 1)[1]
        base, offset = _generic_place(regs, operands[0])
        for key in [k for k in regs if not isinstance(k, str)]:
            same = key[0] == "generic" and key[1] == base and base is not None
            if not same or (key[2] < offset + 4 * words and offset < key[2] + 4 * key[3]):
                del regs[key]
        narrow = _narrowness(opcode)
        if base is not None and words == 1 and (not narrow or (stored[0] is not None and stored[0][0] in ("k", "sel"))):
            regs[("generic", base, offset, words, narrow)] = stored

    def _local(self, regs: Registers, opcode: str, operands: tuple[str, ...]) -> dict[Any, Any]:
        """Local memory is the thread's own: a word stored at a known place is what is loaded from there."""
        words = data_words(opcode)
        memory = operands[0] if opcode.startswith("STL") else operands[-1]
        names, offset = address_registers(memory)
        place = regs.get(names[0], UNKNOWN)[0] if names else ("k", 0)
        place = add(place, ("k", offset & 0xFFFFFFFF))
        if opcode.startswith("STL"):
            stored = [self.value(regs, operands[-1], half) for half in range(words)]
            for value in stored:
                self.image.local_roots |= value[1]
                self.image.local_varies |= value[2]
            if place is None:
                for key in [k for k in regs if not isinstance(k, str)]:
                    del regs[key]
                return {}
            return {("local", add(place, ("k", 4 * i))): value for i, value in enumerate(stored)}
        fallback: Value = (None, self.image.local_roots, self.image.local_varies)
        first = operands[0]
        return {
            _next(first, i): regs.get(("local", add(place, ("k", 4 * i))), fallback) if place is not None else fallback
            for i in range(words)
            if parse_operand(first)[0] == "reg" and not first.endswith("Z")
        }


def _generic_place(regs: Registers, memory: str) -> tuple[Any, int]:
    """(expression of the address without its constant part or None, that constant)."""
    names, offset = address_registers(memory)
    address = add(regs.get(names[0], UNKNOWN)[0], ("k", offset & 0xFFFFFFFF)) if names else None
    if address is None:
        return None, 0
    if address[0] == "op" and address[2] == "add" and address[4][0] == "k":
        return address[3], address[4][1]
    return address, 0


def _narrowness(opcode: str) -> str:
    return next((p for p in opcode.split(".") if p in ("U8", "S8", "U16", "S16")), "").replace("S", "U")


def _choice(formula: Any, varies: int, new: Any, old: Any, is_predicate: bool) -> Any:
    """The value after a predicated write: new where the formula holds, else old."""
    if is_predicate:
        old_formula, old_varies = old or _PREDICATE_UNKNOWN
        merged = None
        if formula is not None and new[0] is not None and old_formula is not None:
            merged = cond.disjunction(
                cond.conjunction(formula, new[0]), cond.conjunction(cond.negation(formula), old_formula)
            )
        return merged if merged is None or len(repr(merged)) < 400 else None, new[1] | old_varies | varies
    old = old or UNKNOWN
    if new[0] is not None and new[0] == old[0]:
        return (new[0], new[1] | old[1], new[2] | old[2])
    merged = None
    if formula is not None and new[0] is not None and old[0] is not None and new[0][0] == old[0][0] == "k":
        merged = ("sel", formula, new[0], old[0])
    return (merged, new[1] | old[1], new[2] | old[2] | varies)


@lru_cache(maxsize=65536)
def _next(name: str, step: int = 1) -> str:
    name = name.split(".", 1)[0]
    cut = 2 if name.startswith("U") else 1
    return f"{name[:cut]}{int(name[cut:]) + step}" if name[cut:].isdigit() else name


_WIDE_RESULTS = {"HMMA": 4, "IMMA": 4, "DMMA": 8, "QMMA": 4, "OMMA": 4, "BMMA": 4, "HGMMA": 128, "IGMMA": 128,
                 "QGMMA": 128, "BGMMA": 128, "LDTM": 128, "LDSM": 4, "LDT": 64, "TEX": 4, "TLD": 4, "TLD4": 4, "TXD": 4,
                 "CS2R": 2, "FADD2": 2, "FFMA2": 2, "FMUL2": 2, "DADD": 2, "DMUL": 2, "DFMA": 2, "LDGMC": 4, "UGETNEXTWORKID": 4}
_NO_RESULT = frozenset({"STS", "STL", "STG", "ST", "REDG", "RED", "BAR", "BRA", "EXIT", "MEMBAR", "BSSY", "BSYNC", "STSM",
                        "UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED", "UTMAPF", "LDGSTS", "STAS", "WARPSYNC",
                        "CCTL", "NANOSLEEP", "DEPBAR", "BMOV", "CALL", "RET", "UTMACCTL", "UBLKPF", "SUST", "BREAK"})


@lru_cache(maxsize=65536)
def destinations_of(opcode: str, operands: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(registers and predicates written, the other operands)."""
    base = opcode.split(".", 1)[0]
    if base in _NO_RESULT or not operands:
        return (), operands
    names: list[str] = []
    at = 0
    while at < len(operands) and at < 3:
        tag = parse_operand(operands[at])
        if tag[0] == "pred" and not operands[at].startswith("!"):
            names.append(tag[1])
            at += 1
            continue
        if tag[0] == "reg" and not any("P" not in n for n in names):
            names += _register_run(base, opcode, tag[1])
            at += 1
            if at < len(operands) and parse_operand(operands[at])[0] == "pred":
                continue
        break
    kept = tuple(n for n in names if not n.endswith(("Z", "T")))
    return kept, operands[min(at, len(operands)) :] or operands


def _register_run(base: str, opcode: str, first: str) -> list[str]:
    if first.endswith("Z"):
        return []
    count = _WIDE_RESULTS.get(base, data_words(opcode))
    if ".WIDE" in opcode or opcode.endswith((".F64", ".S64", ".U64")) or ".F64." in opcode:
        count = max(count, 2)
    return [_next(first, i) for i in range(count)]


_HANDLERS: dict[str, Callable[..., dict[Any, Any] | None]] = {}


def handles(*names: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        for name in names:
            _HANDLERS[name] = function
        return function

    return register


def _target(operands: tuple[str, ...]) -> str | None:
    if not operands:
        return None
    parsed = parse_operand(operands[0])
    return parsed[1] if parsed[0] == "reg" else None


def _write(name: str | None, value: Value) -> dict[Any, Any]:
    return {} if name is None or name.endswith("Z") else {name: value}


def _pair(name: str | None, low: Value, high: Value) -> dict[Any, Any]:
    return {} if name is None or name.endswith("Z") else {name: low, _next(name): high}


@handles("MOV", "UMOV", "MOV32I")
def _move(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if ".64" in opcode:
        return _pair(_target(ops), self.value(regs, ops[1]), self.value(regs, ops[1], 1))
    return _write(_target(ops), self.value(regs, ops[1]))


@handles("R2UR")
def _to_uniform(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    source = next((o for o in ops[1:] if parse_operand(o)[0] == "reg"), None)
    return None if source is None else _write(_target(ops), self.value(regs, source))


@handles("LDC", "ULDC", "LDCU")
def _load_constant(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    name = _target(ops)
    if name is None or len(ops) < 2:
        return None
    words = data_words(opcode)
    narrow = any(part in opcode for part in (".U8", ".S8", ".U16", ".S16"))
    result = {_next(name, i): self.value(regs, ops[-1], i) for i in range(words)}
    if narrow:
        value = result[name]
        result[name] = (operation(opcode, value[0]), NOTHING, value[2])
    return result


@handles("S2R", "S2UR", "CS2R")
def _special(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    name, source = _target(ops), ops[-1]
    if source == "SRZ":
        return _write(name, ZERO) if ".32" in opcode else _pair(name, ZERO, ZERO)
    if source.startswith(_CHANGING):
        return None
    roots: frozenset[Root] = NOTHING
    if source in ("SR_SWINHI", "SR_SHMEMHI"):
        roots = frozenset({("window", "shared")})
    varies = VARIES_BY_THREAD if source.startswith(THREAD_REGISTERS) else 0
    varies |= VARIES_BY_BLOCK if source.startswith(_CLUSTER_REGISTERS) else 0
    return _write(name, (("s", source), roots, varies))


def _sum(self: Evaluator, regs: Registers, sources: list[str], half: int = 0) -> Value:
    expression: Any = ("k", 0)
    roots: frozenset[Root] = NOTHING
    varies = 0
    for source in sources:
        if source.startswith("-") and parse_operand(source)[0] != "int":
            inner = self.value(regs, source.lstrip("-"), half)
            value: Value = (multiply(inner[0], ("k", 0xFFFFFFFF)), inner[1], inner[2])
        else:
            value = self.value(regs, source, half)
        expression = add(expression, value[0])
        roots |= value[1]
        varies |= value[2]
    return expression, roots, varies


def _carries(ops: tuple[str, ...]) -> tuple[dict[Any, Any], list[str]]:
    """Carry-out predicates (unknown from here on) and the register sources of an addition."""
    outs = {}
    for operand in ops[1:3]:
        parsed = parse_operand(operand)
        if parsed[0] == "pred" and not parsed[1].endswith("T"):
            outs[parsed[1]] = _PREDICATE_UNKNOWN
    return outs, [o for o in ops[1:] if parse_operand(o)[0] != "pred"]


@handles("IADD3", "UIADD3", "VIADD", "UVIADD", "IADD", "UIADD", "IADD32I")
def _addition(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    outs, sources = _carries(ops)
    if ".64" in opcode:
        low, high = _sum(self, regs, sources), _sum(self, regs, sources, 1)
        return {**outs, **_pair(_target(ops), low, (None, high[1], high[2]))}
    total = _sum(self, regs, sources)
    if ".X" in opcode:
        total = (None, total[1], total[2])
    return {**outs, **_write(_target(ops), total)}


@handles("IMAD", "UIMAD")
def _multiply_add(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    name = _target(ops)
    outs, rest = _carries(ops)
    if len(rest) < 3:
        return None
    a, b, c = (self.value(regs, o) for o in rest[:3])
    moved = a is ZERO or b is ZERO
    factor_roots = a[1] if b[0] == ("k", 1) else (b[1] if a[0] == ("k", 1) else NOTHING)
    roots = c[1] | factor_roots
    varies = c[2] | (0 if moved else a[2] | b[2])
    negative = rest[2].startswith("-") or rest[0].startswith("-") or rest[1].startswith("-")
    product = ("k", 0) if moved else multiply(a[0], b[0])
    if ".WIDE" in opcode:
        high = self.value(regs, rest[2], 1)
        low_expression = None if negative else add(product, c[0])
        high_expression = high[0] if moved else None
        return {**outs, **_pair(name, (low_expression, roots, varies), (high_expression, high[1], varies | high[2]))}
    expression = None if (negative and not moved) or ".X" in opcode or ".HI" in opcode else add(product, c[0])
    if moved and rest[2].startswith("-"):
        expression = multiply(self.value(regs, rest[2].lstrip("-"))[0], ("k", 0xFFFFFFFF))
    return {**outs, **_write(name, (expression, roots, varies))}


@handles("HFMA2")
def _half_move(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    """The compiler's other way to load a constant: -0 * 0 + (high, low)."""
    if len(ops) == 5 and ops[1].startswith(("-RZ", "RZ")) and ops[2].startswith("RZ"):
        packed = half_pair(ops[3], ops[4])
        if packed is not None:
            return _write(_target(ops), (("k", packed), NOTHING, 0))
    return None


@handles("SHF", "USHF", "SHL", "SHR", "USHL", "USHR")
def _shift(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    name = _target(ops)
    if len(ops) < 3:
        return None
    low, count = self.value(regs, ops[1]), self.value(regs, ops[2])
    high = self.value(regs, ops[3]) if len(ops) > 3 else ZERO
    varies = low[2] | count[2] | high[2]
    expression = None
    if ".R" in opcode and ".HI" in opcode and low is ZERO:
        if ".U32" in opcode or cond._natural_limit(high[0] or ("x",)) is not None:
            expression = shift_right(high[0], count[0])
        else:
            expression = arithmetic_shift(high[0], count[0])
    elif ".L" in opcode and (".HI" not in opcode) and (len(ops) < 4 or high is ZERO):
        expression = shift_left(low[0], count[0])
    else:
        expression = operation(opcode, low[0], count[0], high[0])
    return _write(name, (expression, NOTHING, varies))


@handles("SGXT", "USGXT")
def _sign_extend(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    value, width = self.value(regs, ops[1]), self.value(regs, ops[2])[0]
    expression = None
    if value[0] is not None and value[0][0] == "k" and width is not None and width[0] == "k" and 0 < width[1] < 32:
        low = value[0][1] & ((1 << width[1]) - 1)
        negative = low >> (width[1] - 1) and ".U32" not in opcode
        expression = ("k", (low - (1 << width[1])) & 0xFFFFFFFF if negative else low)
    return _write(_target(ops), (expression, NOTHING, value[2]))


@handles("LEA", "ULEA")
def _scaled(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    outs, rest = _carries(ops)
    if len(rest) < 3:
        return None
    index, base = self.value(regs, rest[0]), self.value(regs, rest[1])
    varies = index[2] | base[2]
    if ".HI" in opcode or ".SX32" in opcode or ".64" in opcode:
        high = self.value(regs, rest[1], 1) if ".64" in opcode else UNKNOWN
        result = _write(_target(ops), (None, base[1], varies))
        if ".64" in opcode and _target(ops):
            result[_next(str(_target(ops)))] = (None, high[1], varies)
        return {**outs, **result}
    scaled = shift_left(index[0], self.value(regs, rest[2])[0])
    expression = None if any(o.startswith(("-", "~")) for o in rest[:2]) else add(scaled, base[0])
    return {**outs, **_write(_target(ops), (expression, base[1], varies))}


@handles("LOP3", "ULOP3")
def _logic(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    rest = list(ops)
    predicate = rest.pop(0) if parse_operand(rest[0])[0] == "pred" else None
    if len(rest) < 5:
        return None
    a, b, c = (self.value(regs, o) for o in rest[1:4])
    table = parse_operand(rest[4])
    varies = a[2] | b[2] | c[2]
    expression = bitwise(table[1] & 0xFF, a[0], b[0], c[0]) if table[0] == "int" else None
    outs: dict[Any, Any] = {}
    if predicate is not None and not predicate.endswith("T"):
        formula = cond.comparison("NE", False, expression, ("k", 0))
        outs[parse_operand(predicate)[1]] = (formula, varies)
    destination = parse_operand(rest[0])
    return {**outs, **_write(destination[1] if destination[0] == "reg" else None, (expression, a[1] | b[1] | c[1], varies))}


@handles("SEL", "USEL", "FSEL", "UFSEL")
def _select(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 4:
        return None
    a, b = self.value(regs, ops[1]), self.value(regs, ops[2])
    formula, varies = self.predicate(regs, ops[3])
    if formula is not None and formula[0] == "k":
        return _write(_target(ops), a if formula[1] else b)
    expression = None
    if formula is not None and a[0] is not None and b[0] is not None and a[0][0] == b[0][0] == "k":
        expression = ("sel", formula, a[0], b[0])
    return _write(_target(ops), (expression, a[1] | b[1], a[2] | b[2] | varies))


@handles("PRMT", "UPRMT")
def _permute(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 4 or "." in opcode:
        return None
    a, selector, b = (self.value(regs, o) for o in ops[1:4])
    expression = None
    if selector[0] is not None and selector[0][0] == "k":
        expression = permuted(selector[0][1], a[0], b[0])
    if expression is None:
        expression = operation("prmt", a[0], selector[0], b[0])
    return _write(_target(ops), (expression, a[1] | b[1], a[2] | selector[2] | b[2]))


@handles("VIMNMX", "IMNMX", "UIMNMX", "UVIMNMX")
def _extreme(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 4 or parse_operand(ops[0])[0] != "reg" or parse_operand(ops[-1])[0] != "pred":
        return None
    a, b = self.value(regs, ops[1]), self.value(regs, ops[2])
    return _write(_target(ops), (operation(opcode + ops[-1], a[0], b[0]), NOTHING, a[2] | b[2]))


@handles("SHFL")
def _shuffle(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    """The warp's number, read from lane 0, is the number that every lane would compute itself."""
    destination = next((o for o in ops[:2] if parse_operand(o)[0] == "reg"), None)
    if destination is None or len(ops) < 4:
        return None
    source = self.value(regs, ops[ops.index(destination) + 1])
    e = source[0]
    if e is not None and e[0] == "op" and e[2] == "shr" and e[4][0] == "k" and e[4][1] >= 5 and e[3] == ("s", "SR_TID.X"):
        return _write(parse_operand(destination)[1], source)
    return None


def _compare(self: Evaluator, regs: Registers, opcode: str, left: str, right: str) -> tuple[Any, int]:
    parts = opcode.split(".")
    a, b = self.value(regs, left), self.value(regs, right)
    signed = "U32" not in parts and "U64" not in parts
    if "EX" in parts or "64" in parts or "U64" in parts or "S64" in parts:
        return None, a[2] | b[2]
    return cond.comparison(parts[1], signed, a[0], b[0]), a[2] | b[2]


@handles("ISETP", "UISETP")
def _integer_compare(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 5:
        return None
    formula, varies = _compare(self, regs, opcode, ops[2], ops[3])
    extra, extra_varies = self.predicate(regs, ops[4])
    varies |= extra_varies
    if ".EX" in opcode and len(ops) > 5:
        varies |= self.predicate(regs, ops[5])[1]
    results: dict[Any, Any] = {}
    for operand, wanted in ((ops[0], formula), (ops[1], None if formula is None else cond.negation(formula))):
        name = parse_operand(operand)[1]
        if name.endswith("T"):
            continue
        if wanted is None or extra is None:
            results[name] = (_combined_unknown(opcode, wanted, extra), varies)
        else:
            combine = cond.disjunction if ".OR" in opcode else cond.conjunction
            results[name] = (combine(wanted, extra) if ".XOR" not in opcode else None, varies)
    return results


def _combined_unknown(opcode: str, wanted: Any, extra: Any) -> Any:
    """One side is unknown; the other may still decide."""
    for known in (wanted, extra):
        if known == cond.FALSE and ".AND" in opcode:
            return cond.FALSE
        if known == cond.TRUE and ".OR" in opcode:
            return cond.TRUE
    return None


@handles("PLOP3", "UPLOP3")
def _predicate_logic(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 6:
        return None
    inputs = [self.predicate(regs, o) for o in ops[2:5]]
    varies = inputs[0][1] | inputs[1][1] | inputs[2][1]
    results: dict[Any, Any] = {}
    for operand, table_operand in ((ops[0], ops[5]), (ops[1], ops[6] if len(ops) > 6 else "")):
        name, table = parse_operand(operand)[1], parse_operand(table_operand)
        if not name.endswith("T"):
            formula = _from_table(table[1], [i[0] for i in inputs]) if table[0] == "int" else None
            results[name] = (formula, varies)
    return results


def _from_table(table: int, inputs: list[Any]) -> Any:
    """The formula of a three-input truth table, as short as it can be; None if an unknown input matters."""
    if table & 0xFF == 0:
        return cond.FALSE
    if table & 0xFF == 0xFF:
        return cond.TRUE
    width = 1 << (len(inputs) - 1)  # rows in which the first input has one value
    low, high = table & ((1 << width) - 1), table >> width & ((1 << width) - 1)
    spread = {4: 0x11, 2: 0x55, 1: 0xFF}[width]
    when_false, when_true = (_from_table(half * spread, inputs[1:]) if width > 1 else (cond.TRUE if half else cond.FALSE)
                             for half in (low, high))
    if low == high:
        return when_true
    first = inputs[0]
    if first is None or when_true is None or when_false is None:
        return when_true if first == cond.TRUE else (when_false if first == cond.FALSE else None)
    return cond.disjunction(cond.conjunction(first, when_true), cond.conjunction(cond.negation(first), when_false)) \
        if when_true[0] != "k" and when_false[0] != "k" else _shortened(first, when_true, when_false)


def _shortened(first: Any, when_true: Any, when_false: Any) -> Any:
    """first ? when_true : when_false, where one of the two is a constant."""
    if when_true == cond.TRUE:
        return cond.disjunction(first, when_false)
    if when_true == cond.FALSE:
        return cond.conjunction(cond.negation(first), when_false)
    if when_false == cond.TRUE:
        return cond.disjunction(cond.negation(first), when_true)
    return cond.conjunction(first, when_true)
