"""What single instructions compute, as far as conditions and addresses need it; the evaluator calls these by opcode.

A handler returns the registers and predicates that its instruction writes, or None where it cannot say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pdlkit.lint import conditions as cond
from pdlkit.lint.destinations import next_register
from pdlkit.lint.opcodes import data_words
from pdlkit.lint.values import (
    CLUSTER_REGISTERS,
    NOTHING,
    THREAD_REGISTERS,
    UNKNOWN,
    VARIES_BY_BLOCK,
    VARIES_BY_THREAD,
    ZERO,
    Root,
    Value,
    add,
    arithmetic_shift,
    bitwise,
    for_each_choice,
    half_pair,
    multiply,
    operation,
    parse_operand,
    permuted,
    reciprocal_of,
    shift_left,
    shift_right,
)

if TYPE_CHECKING:
    from pdlkit.lint.evaluator import Evaluator, Registers

_CHANGING = ("SR_CLOCK", "SR_GLOBALTIMER", "SR_REGALLOC", "SR_SMEMSZ")
PREDICATE_UNKNOWN = (None, 0)

HANDLERS: dict[str, Callable[..., dict[Any, Any] | None]] = {}


def handles(*names: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        for name in names:
            HANDLERS[name] = function
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
    return {} if name is None or name.endswith("Z") else {name: low, next_register(name): high}


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
    result = {next_register(name, i): self.value(regs, ops[-1], i) for i in range(words)}
    if narrow:
        value = result[name]
        result[name] = (operation(opcode, value[0]), NOTHING, value[2])
    return result


@handles("S2R", "S2UR", "CS2R", "CS2UR")
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
    varies |= VARIES_BY_BLOCK if source.startswith(CLUSTER_REGISTERS) else 0
    value: Value = (("s", source), roots, varies)
    wide = opcode.startswith("CS2") and ".32" not in opcode
    return _pair(name, value, UNKNOWN) if wide else _write(name, value)


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
            outs[parsed[1]] = PREDICATE_UNKNOWN
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
    if ".HI" in opcode and c is ZERO and not negative:
        expression = _quotient(a[0], b[0])
    if moved and rest[2].startswith("-"):
        expression = multiply(self.value(regs, rest[2].lstrip("-"))[0], ("k", 0xFFFFFFFF))
    return {**outs, **_write(name, (expression, roots, varies))}


@handles("IABS")
def _absolute(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    value = self.value(regs, ops[1])
    small = value[0] is not None and (value[0][0] == "k" and value[0][1] < 2**31 or cond.natural_limit(value[0]) is not None)
    return _write(_target(ops), value) if small else None


@handles("I2F", "MUFU", "F2I")
def _reciprocal(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    """Debug code divides integers by a number in steps that begin with an estimate of its reciprocal."""
    value = self.value(regs, ops[-1])
    number = value[0][1] if value[0] is not None and value[0][0] == "k" and opcode.startswith("I2F.U32.RP") else \
        reciprocal_of(value[0])
    return _write(_target(ops), (("op", 1, "reciprocal", ("k", number)), NOTHING, value[2])) if number else None


def _quotient(a: Any, b: Any) -> Any:
    """The high half of a product with such a reciprocal: a better one, or the quotient, perhaps 1 or 2 too small."""
    first, second = reciprocal_of(a), reciprocal_of(b)
    if first is not None and second is not None:
        return ("op", 1, "reciprocal", ("k", first))
    number, divided = (first, b) if first is not None else (second, a)
    return None if number is None else operation("quotient", divided, ("k", number))


def _divided(value: Value) -> Value:
    """The quotient at the end of those steps, as a shift where it is one."""
    e = value[0]
    if e is None or e[0] != "op" or e[2] != "quotient":
        return value
    number = e[4][1]
    if cond.natural_limit(e[3]) is not None and number & number - 1 == 0:
        return shift_right(e[3], ("k", number.bit_length() - 1)), value[1], value[2]
    return operation("div", e[3], e[4]), value[1], value[2]


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
        if ".U32" in opcode or cond.natural_limit(high[0] or ("x",)) is not None:
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
    if width is not None and width[0] == "k" and 0 < width[1] < 32:
        bits, signed = width[1], ".U32" not in opcode
        expression = for_each_choice(lambda part: _extended(part, bits, signed), value[0])
    return _write(_target(ops), (expression, NOTHING, value[2]))


def _extended(value: Any, bits: int, signed: bool) -> Any:
    if value[0] != "k":
        return None
    low = value[1] & ((1 << bits) - 1)
    return ("k", (low - (1 << bits)) & 0xFFFFFFFF if signed and low >> (bits - 1) else low)


@handles("LEA", "ULEA")
def _scaled(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    outs, rest = _carries(ops)
    if len(rest) < 3:
        return None
    index, base = self.value(regs, rest[0]), self.value(regs, rest[1])
    varies = index[2] | base[2]
    if ".HI" in opcode and ".SX32" not in opcode and len(rest) == 4 and self.value(regs, rest[2])[0] == ("k", 0):
        count = self.value(regs, rest[3])[0]
        known = count is not None and count[0] == "k" and 0 < count[1] < 32
        down = shift_right(index[0], ("k", 32 - count[1])) if known else None
        negated = any(o.startswith(("-", "~")) for o in rest[:2])
        return {**outs, **_write(_target(ops), (None if negated else add(down, base[0]), base[1], varies))}
    if ".HI" in opcode or ".SX32" in opcode or ".64" in opcode:
        high = self.value(regs, rest[1], 1) if ".64" in opcode else UNKNOWN
        result = _write(_target(ops), (None, base[1], varies))
        if ".64" in opcode and _target(ops):
            result[next_register(str(_target(ops)))] = (None, high[1], varies)
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
    expression = None
    if table[0] == "int":
        rows, second, third = table[1] & 0xFF, b[0], c[0]
        first = a[0] if a[0] is not None and a[0][0] == "sel" and second is not None and third is not None else None
        simple = first is not None and second[0] == third[0] == "k"
        expression = for_each_choice(lambda part: bitwise(rows, part, second, third), first) if simple else \
            bitwise(rows, a[0], second, third)
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
    formula, varies = self.predicate(regs, ops[3])
    halves = [_chosen(formula, varies, self.value(regs, ops[1], h), self.value(regs, ops[2], h)) for h in (0, 1)]
    return _pair(_target(ops), *halves) if ".64" in opcode else _write(_target(ops), halves[0])


def _chosen(formula: Any, varies: int, a: Value, b: Value) -> Value:
    if formula is not None and formula[0] == "k":
        return _divided(a if formula[1] else b)
    expression = None
    if b[0] is not None and b[0][0] == "op" and b[0][2] == "quotient" and a[0] == add(b[0], ("k", 1)):
        expression = b[0]  # one more, or not: a step of a division
    elif formula is not None and a[0] is not None and b[0] is not None and a[0][0] == b[0][0] == "k":
        expression = ("sel", formula, a[0], b[0])
    return (expression, a[1] | b[1], a[2] | b[2] | varies)


@handles("PRMT", "UPRMT")
def _permute(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 4 or "." in opcode:
        return None
    a, selector, b = (self.value(regs, o) for o in ops[1:4])
    expression = None
    if selector[0] is not None and selector[0][0] == "k":
        pattern, behind = selector[0][1], b[0]
        expression = for_each_choice(lambda value: permuted(pattern, value, behind), a[0])
    if expression is None:
        expression = operation("prmt", a[0], selector[0], b[0])
    return _write(_target(ops), (expression, a[1] | b[1], a[2] | selector[2] | b[2]))


@handles("VIMNMX", "IMNMX", "UIMNMX", "UVIMNMX")
def _extreme(self: Evaluator, regs: Registers, opcode: str, ops: tuple[str, ...], site: Any) -> Any:
    if len(ops) < 4 or parse_operand(ops[0])[0] != "reg" or parse_operand(ops[-1])[0] != "pred":
        return None
    sources = [o for o in ops[1:-1] if parse_operand(o)[0] != "pred"]  # sm_100 names two results of a comparison, too
    if len(sources) != 2 or any(o not in ("PT", "UPT") for o in ops[1:-1] if o not in sources):
        return None
    a, b = self.value(regs, sources[0]), self.value(regs, sources[1])
    which = {"PT": "min", "!PT": "max", "UPT": "min", "!UPT": "max"}.get(ops[-1], opcode + ops[-1])
    name = which + (".u" if ".U32" in opcode else ".s")
    return _write(_target(ops), (operation(name, a[0], b[0]), NOTHING, a[2] | b[2]))


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
