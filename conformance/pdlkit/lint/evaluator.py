"""One instruction's effect on the registers, as far as conditions and addresses need it.

Unhandled instructions make their destinations unknown and hand the roots of their sources on, so a missing case costs
precision and never hides an access.
"""

from __future__ import annotations

from typing import Any

from pdlkit.lint import conditions as cond
from pdlkit.lint.destinations import destinations_of, next_register
from pdlkit.lint.elf import Cubin, KernelInfo
from pdlkit.lint.instructions import HANDLERS, PREDICATE_UNKNOWN
from pdlkit.lint.memory import LOCAL, SHARED, load, spaces_of, store
from pdlkit.lint.opcodes import Kind, kind_of
from pdlkit.lint.values import (
    NOTHING,
    UNKNOWN,
    VARIES_BY_THREAD,
    ZERO,
    Root,
    Value,
    add,
    address_registers,
    indirect,
    low_registers,
    parse_operand,
    split_operands,
)

Registers = dict[Any, Any]
_LOCAL_WINDOW = {True: (0x20, 0x24), False: (0x2F8, 0x2FC)}  # below sm_100, from sm_100 on
_CONSTANT_WINDOW = {True: (0xD0, 0xD4, 0x198, 0x19C), False: (0x120, 0x124, 0x348, 0x34C)}
_PREDICATE_TRUE = (cond.TRUE, 0)
_OWN_SPACE = {"STL": LOCAL, "LDL": LOCAL, "STS": SHARED, "LDS": SHARED}


class Image:
    """What the evaluator knows of the kernel besides its instructions."""

    def __init__(self, cubin: Cubin, kernel: str, info: KernelInfo) -> None:
        sm, self.info, self.constant4 = cubin.sm, info, cubin.constant4
        self.functions = cubin.function_names
        self.code_table = cubin.code_table(kernel)  # constant bank 2: what function pointers are indices into
        self.local_window = _LOCAL_WINDOW[sm < 100]
        self.constant_window = _CONSTANT_WINDOW[sm < 100]
        self.windows = {("c", 0, offset) for offset in (*self.local_window, *self.constant_window)}
        self.parameter_window = ("c", 0, self.constant_window[2])
        self._stored: dict[str, tuple[frozenset[Root], int]] = {LOCAL: (NOTHING, 0), SHARED: (NOTHING, 0)}  # ever, anywhere
        self.cluster_flag = ("c", 0, 0x140 if sm < 100 else 0x36C)  # 1 where the kernel runs in clusters
        self.varying_sites: set[Any] = set()  # results that threads of a block may hold differently

    def remember(self, space: str, values: list[Value]) -> None:
        for value in values:
            roots, varies = self._stored[space]
            self._stored[space] = (roots | value[1], varies | value[2])

    def remembered(self, spaces: set[str], varies: int) -> tuple[frozenset[Root], int]:
        """Roots of what may stand at an unknown place, and whether threads may find different things there."""
        roots: frozenset[Root] = NOTHING
        for space in spaces & {LOCAL, SHARED}:
            roots |= self._stored[space][0]
            varies |= self._stored[space][1] if space == LOCAL else 0  # all threads find the same in shared memory
        if "constant" in spaces:
            roots |= frozenset(("param", p.offset) for p in self.info.parameters)
        return roots, varies

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
        if bank == 2 and offset in self.code_table:
            return (("c", 2, offset), frozenset({("symbol", self.code_table[offset])}), 0)
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
                choices = _constants(index[0])
                if len(choices) != 1:
                    return (None, self.any_of(parsed[1], [offset + c for c in choices]), index[2])
                found = self.image.constant(parsed[1], offset + choices[0])
            return (None, found[1], found[2]) if parsed[4] else found
        if tag == "place":
            return (("c", 4, (parsed[1], "lo")), NOTHING, 0)
        if tag == "sym":
            return (("c", 4, parsed[1:]), frozenset({("symbol", parsed[1])}), 0)
        if tag == "table":  # threads find different words if they ask for different ones
            return (None, NOTHING, self.register(regs, parsed[1], 0)[2])
        return UNKNOWN

    def any_of(self, bank: int, offsets: list[int]) -> frozenset[Root]:
        """Where a word may come from that is loaded from one of these places, or, if there are none, from any."""
        if offsets:
            return frozenset(root for offset in offsets for root in self.image.constant(bank, offset)[1])
        if bank == 0:
            return frozenset(("param", p.offset) for p in self.image.info.parameters)
        if bank == 2:
            return frozenset(("symbol", name) for name in self.image.code_table.values())
        return frozenset({("bank", bank)}) if bank == 3 else NOTHING

    def register(self, regs: Registers, name: str, half: int) -> Value:
        if name.endswith("Z"):
            return ZERO
        if half:
            name = next_register(name, half)
        found: Value = regs.get(name, UNKNOWN)
        return found

    def predicate(self, regs: Registers, operand: str) -> tuple[Any, int]:
        """(formula or None, varies) of P0, !P0, PT, !UPT..."""
        negated = operand.startswith("!")
        name = operand.lstrip("!")
        formula, varies = _PREDICATE_TRUE if name.endswith("T") else regs.get(name, PREDICATE_UNKNOWN)
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
        return self._without_scalars(self._without_code(roots)), varies

    def object_address(self, regs: Registers, opcode: str, operand_text: str) -> Any:
        """The address of the barrier object that an instruction waits for or signals, or None."""
        memory = next((o for o in split_operands(operand_text) if o.startswith("[")), None)
        if memory is None or opcode.startswith("LDGSTS"):
            return None
        names, offset = low_registers(memory)
        if opcode.startswith(("UBLKCP", "UTMALDG")):  # it stands in the register behind the destination's
            names, offset = tuple(next_register(n) for n in names[:1]), 0
        elif not opcode.startswith(("SYNCS", "ARRIVES")):
            return None
        total: Any = ("k", offset & 0xFFFFFFFF)
        for name in names:
            total = add(total, self.register(regs, name, 0)[0])
        return total

    def _without_code(self, roots: frozenset[Root]) -> frozenset[Root]:
        """Addresses of functions are on the stack to return to; nobody reads or writes there."""
        return frozenset(r for r in roots if not (r[0] == "symbol" and r[1] in self.image.functions))

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
        handler = HANDLERS.get(base)
        if handler is not None:
            result = handler(self, regs, opcode, operands, site)
            if result is not None:
                return result if site is None else self._named(result, site)
        kind = kind_of(opcode)
        if base in _OWN_SPACE:
            spaces = {_OWN_SPACE[base]}
        elif kind in (Kind.GENERIC_LOAD, Kind.GENERIC_STORE):
            spaces = spaces_of(self.address(regs, next((o for o in operands if "[" in o), ""))[0])
        else:
            spaces = set()
        if spaces and base.startswith("LD"):
            return load(self, regs, opcode, operands, spaces, site)
        if spaces and len(operands) > 1:
            store(self, regs, opcode, operands, spaces)
            return {}
        if kind in (Kind.LOAD, Kind.GENERIC_LOAD, Kind.ATOMIC, Kind.GENERIC_ATOMIC):
            return self._loaded(regs, opcode, operands, site)
        if kind in (Kind.STORE, Kind.GENERIC_STORE):
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
        roots, varies = self.address(regs, next((o for o in operands if "[" in o), ""))
        return {n: self.fresh(n, site, indirect(roots), varies) for n in destinations}


def _constants(expression: Any) -> list[int]:
    """The numbers that an expression can be, as far as it says; empty: any."""
    if expression is None or expression[0] not in ("k", "sel"):
        return []
    if expression[0] == "k":
        return [expression[1]]
    either = [_constants(part) for part in expression[2:4]]
    return sorted({*either[0], *either[1]}) if all(either) else []


def _choice(formula: Any, varies: int, new: Any, old: Any, is_predicate: bool) -> Any:
    """The value after a predicated write: new where the formula holds, else old."""
    if is_predicate:
        old_formula, old_varies = old or PREDICATE_UNKNOWN
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
