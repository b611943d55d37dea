"""Conditions on values that do not change while a thread runs, and what is known of them on one path.

A formula is one of
    ("k", 0 | 1)                      a constant
    ("in", base, domain, low, high)   low <= base <= high; domain "u" or "s" says how base is read
    ("atom", key)                     anything else that is either true or false
    ("not", f)  ("and", f, g)  ("or", f, g)
Facts map (base, domain) to disjoint intervals and atom keys to booleans; a path on which they contradict does not exist.
"""

from __future__ import annotations

from typing import Any

from pdlkit.lint.values import bitwise

Formula = tuple[Any, ...]
Facts = dict[Any, Any]

TRUE: Formula = ("k", 1)
FALSE: Formula = ("k", 0)
_LIMITS = {"u": (0, 2**32 - 1), "s": (-(2**31), 2**31 - 1)}
_NATURAL = {  # special registers with a small range: signed and unsigned agree
    "SR_TID.X": 1023, "SR_TID.Y": 1023, "SR_TID.Z": 63, "SR_LANEID": 31, "SR_CTAID.X": 2**31 - 2,
    "SR_CTAID.Y": 65535, "SR_CTAID.Z": 65535, "SR_NTID.X": 1024, "SR_CgaCtaId": 15, "SR_CTARANK": 15,
}


def negation(formula: Formula) -> Formula:
    if formula[0] == "k":
        return FALSE if formula[1] else TRUE
    return formula[1] if formula[0] == "not" else ("not", formula)


def conjunction(left: Formula, right: Formula) -> Formula:
    if left[0] == "k":
        return right if left[1] else FALSE
    if right[0] == "k":
        return left if right[1] else FALSE
    return left if left == right else ("and", left, right)


def disjunction(left: Formula, right: Formula) -> Formula:
    return negation(conjunction(negation(left), negation(right)))


_EXTREMES = {
    "min.s": (disjunction, True), "min.u": (disjunction, False), "max.s": (conjunction, True), "max.u": (conjunction, False),
}


def comparison(operator: str, signed: bool, left: Any, right: Any) -> Formula | None:
    """The formula of left OPERATOR right (EQ NE LT LE GT GE), or None if nothing can be said."""
    if left is None or right is None:
        return None
    if left[0] == "k" and right[0] != "k":
        return comparison({"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(operator, operator), signed, right, left)
    if left[0] == "any" or right[0] == "any":
        return None
    if operator == "NE":
        return _negated(comparison("EQ", signed, left, right))
    if operator == "GE":
        return _negated(comparison("LT", signed, left, right))
    if operator == "GT":
        return _negated(comparison("LE", signed, left, right))
    if right[0] == "k":
        return _against_constant(operator, signed, left, right[1])
    if operator == "LE":  # a <= b is not (b < a)
        return ("not", ("atom", ("LT", signed, right, left)))
    if operator == "EQ" and repr(right) < repr(left):
        left, right = right, left
    return ("atom", (operator, signed, left, right))


def _negated(formula: Formula | None) -> Formula | None:
    return None if formula is None else negation(formula)


def _signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def natural_limit(base: Any) -> int | None:
    """The largest value of a base that is small and not negative, or None."""
    if base[0] == "s":
        return _NATURAL.get(base[1])
    if base[0] == "op" and base[2] == "and" and base[4][0] == "k" and base[4][1] < 2**31:
        return int(base[4][1])
    if base[0] == "op" and base[2] == "lop60":  # exclusive or
        limits = [p[1] if p[0] == "k" else natural_limit(p) for p in base[3:5]]
        if all(n is not None and n < 2**31 for n in limits):
            return (1 << max(int(n).bit_length() for n in limits if n is not None)) - 1
    return None


def _against_constant(operator: str, signed: bool, left: Any, constant: int) -> Formula:
    if left[0] == "k":
        a, b = (_signed(left[1]), _signed(constant)) if signed else (left[1] & 0xFFFFFFFF, constant & 0xFFFFFFFF)
        return TRUE if {"EQ": a == b, "LT": a < b, "LE": a <= b}[operator] else FALSE
    if left[0] == "sel" and left[2][0] == "k" and left[3][0] == "k":
        when_true = _against_constant(operator, signed, left[2], constant)
        when_false = _against_constant(operator, signed, left[3], constant)
        return disjunction(conjunction(left[1], when_true), conjunction(negation(left[1]), when_false))
    if left[0] == "op" and left[2] in _EXTREMES and _EXTREMES[left[2]][1] == signed and operator != "EQ":
        parts = [comparison(operator, signed, part, ("k", constant)) for part in left[3:5]]
        if parts[0] is not None and parts[1] is not None:
            return _EXTREMES[left[2]][0](parts[0], parts[1])
    if operator == "EQ" and constant == 0 and left[0] == "op" and left[2].startswith("lop"):
        apart = _zero_parts(int(left[2][3:]), left[3:6])
        if apart is not None:
            return apart
    if operator == "EQ" and constant == 0 and left[0] == "op" and left[2] == "and" and left[4][0] == "k":
        below = left[4][1] & -left[4][1]  # its lowest bit; all above it are asked for: x & ~31 == 0 is x < 32
        highest = natural_limit(left[3]) or 2**32 - 1
        if below and not highest & ~(left[4][1] | below - 1):
            return comparison("LT", False, left[3], ("k", below)) or FALSE
    value = _signed(constant) if signed else constant & 0xFFFFFFFF
    shift, base = 0, left
    while base[0] == "op" and base[2] == "shr" and base[4][0] == "k" and natural_limit(base[3]) is not None:
        shift, base = shift + base[4][1], base[3]
    if shift == 0 and not signed and operator != "EQ" and base[0] == "op" and base[2] == "add" and base[4][0] == "k":
        return _shifted(operator, base[3], base[4][1], value)
    limit = natural_limit(base)
    domain = "u" if limit is not None or not signed else "s"
    low, high = (0, limit) if limit is not None else _LIMITS[domain]
    if operator == "EQ":
        first, last = value << shift, (value << shift) + (1 << shift) - 1
    else:
        last_value = value - 1 if operator == "LT" else value
        first, last = low, (last_value << shift) + (1 << shift) - 1
    first, last = max(first, low), min(last, high)
    if first > last:
        return FALSE
    return TRUE if (first, last) == (low, high) else ("in", base, domain, first, last)


def _zero_parts(table: int, inputs: Any) -> Formula | None:
    """A bitwise combination is 0 only if each input is 0 that alone makes it 1: a | b & c is, where a is and b & c."""
    parts: list[Formula | None] = []
    left = list(inputs)
    for position, column in enumerate((0xF0, 0xCC, 0xAA)):
        if table & column == column:
            parts.append(comparison("EQ", False, inputs[position], ("k", 0)))
            left[position] = ("k", 0)
    if not parts:
        return None
    rest = bitwise(table, *left)
    parts.append(None if rest is None else comparison("EQ", False, rest, ("k", 0)))
    whole: Formula = TRUE
    for part in parts:
        if part is None:
            return None
        whole = conjunction(whole, part)
    return whole


def _shifted(operator: str, base: Any, added: int, value: int) -> Formula:
    """base + added OPERATOR value, unsigned, as an interval of base: that is how a - 1 < 3 is asked."""
    first, last = -added, (value - 1 if operator == "LT" else value) - added
    if last < first:
        return FALSE
    if last - first >= 2**32 - 1:
        return TRUE
    first, last = first % 2**32, last % 2**32
    if first <= last:
        return ("in", base, "u", first, last)
    return ("not", ("in", base, "u", last + 1, first - 1))


def _mask_source(base: Any) -> Any:
    """x of x & (2^m - 1), which is x itself where x is known to be small; else None."""
    if base[0] == "op" and base[2] == "and" and base[4][0] == "k" and (base[4][1] + 1) & base[4][1] == 0:
        return base[3]
    return None


def _known(formula: Formula, facts: Facts) -> list[tuple[int, int]]:
    base, domain = formula[1], formula[2]
    known = facts.get((base, domain))
    if known is not None:
        return list(known)
    source = _mask_source(base)
    if source is not None:
        inner = facts.get((source, "u"), facts.get((source, "s")))
        if inner and all(0 <= a and b <= base[4][1] for a, b in inner):
            return list(inner)
    limit = natural_limit(base)
    return [(0, limit) if limit is not None else _LIMITS[domain]]


def extent(base: Any, facts: Facts) -> tuple[int, int] | None:
    """The smallest and the largest number that facts or nature allow for this base; None if that is any number."""
    known = _known(("in", base, "u", 0, 0), facts)
    return None if not known or known == [_LIMITS["u"]] else (min(a for a, _ in known), max(b for _, b in known))


def truth(formula: Formula, facts: Facts) -> bool | None:
    """Whether the facts decide the formula."""
    tag = formula[0]
    if tag == "k":
        return bool(formula[1])
    if tag == "atom":
        return facts.get(formula)
    if tag == "in":
        inside = [max(a, formula[3]) <= min(b, formula[4]) for a, b in _known(formula, facts)]
        if not any(inside):
            return False
        return True if all(formula[3] <= a and b <= formula[4] for a, b in _known(formula, facts)) else None
    if tag == "not":
        inner = truth(formula[1], facts)
        return None if inner is None else not inner
    left, right = truth(formula[1], facts), truth(formula[2], facts)
    if tag == "and":
        return False if left is False or right is False else (True if left and right else None)
    return True if left or right else (False if left is False and right is False else None)


def assume(formula: Formula, value: bool, facts: Facts) -> Facts | None:
    """The facts on a path where the formula has this value, or None if there is no such path."""
    decided = truth(formula, facts)
    if decided is not None:
        return facts if decided == value else None
    tag = formula[0]
    if tag == "not":
        return assume(formula[1], not value, facts)
    if tag == "atom":
        return {**facts, formula: value}
    if tag == "in":
        low, high = formula[3], formula[4]
        kept: list[tuple[int, int]] = []
        for a, b in _known(formula, facts):
            pieces = [(max(a, low), min(b, high))] if value else [(a, min(b, low - 1)), (max(a, high + 1), b)]
            kept += [p for p in pieces if p[0] <= p[1]]
        return {**facts, (formula[1], formula[2]): tuple(kept)} if kept else None
    if (tag == "and") == value:  # both parts are decided alike
        first = assume(formula[1], value, facts)
        return None if first is None else assume(formula[2], value, first)
    for known, open_part in ((formula[1], formula[2]), (formula[2], formula[1])):
        decided = truth(known, facts)
        if decided is not None and decided == (tag == "and"):
            return assume(open_part, value, facts)
    return facts


def bases(formula: Formula) -> set[Any]:
    """What facts about this formula are kept under."""
    tag = formula[0]
    if tag == "k":
        return set()
    if tag == "in":
        source = _mask_source(formula[1])
        own = {(formula[1], formula[2])}
        return own if source is None else own | {(source, "u"), (source, "s")}
    if tag == "atom":
        return {formula}
    return set().union(*(bases(part) for part in formula[1:]))


def atoms(formula: Formula) -> list[Formula]:
    """The parts that are no combination of others."""
    if formula[0] in ("in", "atom"):
        return [formula]
    return [] if formula[0] == "k" else [a for part in formula[1:] for a in atoms(part)]
