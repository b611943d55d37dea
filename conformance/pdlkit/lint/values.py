"""What a register may hold, as far as lint needs to know: a constant or an invariant expression, and where an address
comes from.

A value is (expression | None, roots, varies):
    expression  ("k", n), ("s", special register), ("c", bank, offset), ("site", id), ("op", size, name, a, b...),
                ("sel", formula, a, b), none of which changes during one execution of the code that made it;
                ("any", a, b...): one of these addresses, not always the same, so never part of a condition
    roots       where the parts of an address come from, see Root
    varies      bits: VARIES_BY_THREAD, VARIES_BY_BLOCK (in a cluster)
A predicate is (formula | None, varies).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

VARIES_BY_THREAD, VARIES_BY_BLOCK = 1, 2

Root = tuple[Any, ...]  # ("param", offset), ("via", root), ("symbol", name), ("window", "local"|"shared"), ("bank", n)
Value = tuple[Any, frozenset[Root], int]
NOTHING: frozenset[Root] = frozenset()
UNKNOWN: Value = (None, NOTHING, 0)
ZERO: Value = (("k", 0), NOTHING, 0)
THREAD_REGISTERS = ("SR_TID", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK", "SR_VIRTID")
CLUSTER_REGISTERS = ("SR_CgaCtaId", "SR_CTARANK", "SR_CLUSTERCTARANK", "SR_CTAID")
_STACK_POINTERS = (("c", 0, 0x28), ("c", 0, 0x37C))  # before sm_100, from sm_100 on
_MOST_PLACES = 6
_MAX_SIZE = 14  # of an expression; larger ones are not worth comparing

_REGISTER = re.compile(r"^([-~|!]*)(U?R(?:\d+|Z)|U?P(?:\d+|T))")
_CONSTANT = re.compile(r"^([-~|]*)c\[(0x[0-9a-f]+)\]\[(?:(U?R(?:\d+|Z))\+?)?(-?0x[0-9a-f]+)?\]")
_INTEGER = re.compile(r"^(-?)(0x[0-9a-f]+|\d+)$")
_TABLE = re.compile(r"^c\[(?:0x[0-9a-f]+\]\[)?(U?R\d+)\+`")  # of constants, at a place that the linker has yet to fill in
_PLACE = re.compile(r"^`\(\$?([\w$.]+)\)$")  # of a shared variable that the linker has yet to lay out
_HALF = re.compile(r"32@(lo|hi)\(\(?(?:fun@unified\()?([\w$.]+)")
_REGISTER_IN_ADDRESS = re.compile(r"(U?R)(\d+|Z)(?:\.\w+)*")
_ADDRESS = re.compile(r"(?:desc\[(UR\d+)\])?\[([^\]]*)\]")


@lru_cache(maxsize=65536)
def split_operands(text: str) -> tuple[str, ...]:
    """At commas, and at the space that some branches have instead; never inside brackets."""
    parts = [p.strip() for p in text.split(",")]
    return tuple(p for p in parts if p)


@lru_cache(maxsize=65536)
def parse_operand(text: str) -> tuple[Any, ...]:
    """("reg", name, negated), ("pred", name, negated), ("int", n), ("const", bank, register, offset),
    ("sym", name, half), ("place", name), ("table", register that indexes it) or ("other",)."""
    found = _REGISTER.match(text)
    if found:
        name = found.group(2)
        return ("pred" if "P" in name else "reg", name, bool(found.group(1).strip("|")))
    found = _CONSTANT.match(text)
    if found:
        offset = int(found.group(4), 16) if found.group(4) else 0
        return ("const", int(found.group(2), 16), found.group(3), offset, bool(found.group(1).strip("|")))
    found = _INTEGER.match(text)
    if found:
        number = int(found.group(2), 0)
        return ("int", (-number if found.group(1) else number) & 0xFFFFFFFF)
    found = _HALF.search(text)
    if found:
        return ("sym", found.group(2), found.group(1))
    found = _PLACE.match(text)
    if found:
        return ("place", found.group(1))
    found = _TABLE.match(text)
    if found:
        return ("table", found.group(1))
    return ("other",)


@lru_cache(maxsize=65536)
def address_registers(text: str) -> tuple[tuple[str, ...], int]:
    """Registers whose values make up the address in [..], both halves of 64-bit ones, and the constant offset."""
    found = _ADDRESS.search(text)
    if not found:
        return (), 0
    inside, names = found.group(2), []
    for file, number in _REGISTER_IN_ADDRESS.findall(inside):
        if number == "Z":
            continue
        names.append(file + number)
        names.append(file + str(int(number) + 1))
    offset = re.search(r"(-?0x[0-9a-f]+)$", inside)
    return tuple(names), int(offset.group(1), 16) if offset else 0


@lru_cache(maxsize=65536)
def low_registers(text: str) -> tuple[tuple[str, ...], int]:
    """The same with only the low halves, which are whole addresses in shared and local memory."""
    found = _ADDRESS.search(text)
    if not found:
        return (), 0
    inside = found.group(2)
    offset = re.search(r"(-?0x[0-9a-f]+)$", inside)
    names = [file + number for file, number in _REGISTER_IN_ADDRESS.findall(inside) if number != "Z"]
    return tuple(names), int(offset.group(1), 16) if offset else 0


def operation(name: str, *parts: Any) -> Any:
    """An expression over parts, or None if a part is unknown or the whole would get too large."""
    size = 1
    for part in parts:
        if part is None or part[0] == "any":
            return None
        size += part[1] if part[0] == "op" else 1
    if size > _MAX_SIZE:
        return None
    return ("op", size, name, *parts)


def add(left: Any, right: Any) -> Any:
    """Sums have one form, so that two ways to add the same compare equal: sorted terms, the constant last."""
    if left is None or right is None:
        return None
    if left[0] == "k" and right[0] == "k":
        return ("k", (left[1] + right[1]) & 0xFFFFFFFF)
    if left == ("k", 0):
        return right
    if right == ("k", 0):
        return left
    if left[0] == "any" or right[0] == "any":
        many, one = (left, right) if left[0] == "any" else (right, left)
        moved = {add(part, one) for part in many[1:]}
        return None if one[0] == "any" or None in moved else ("any", *sorted(moved))
    (ours, here), (theirs, there) = sum_terms(left), sum_terms(right)
    terms = sorted([*ours, *theirs], key=repr) if ours and theirs else [*ours, *theirs]
    total, constant = terms[0], (here + there) & 0xFFFFFFFF
    for term in terms[1:]:
        total = operation("add", total, term)
        if total is None:
            return None
    return operation("add", total, ("k", constant)) if constant else total


def any_of(left: Any, right: Any) -> Any:
    """One of these places on the stack, the null pointer perhaps among them; None if that cannot be said."""
    if left is None or right is None or left[0] == right[0] == "k" or "site" in (left[0], right[0]):
        return None
    flat = {*(left[1:] if left[0] == "any" else (left,)), *(right[1:] if right[0] == "any" else (right,))}
    bases = {tuple(sum_terms(part)[0]) for part in flat if part != ("k", 0)}
    stack = len(bases) == 1 and any(term in _STACK_POINTERS for term in next(iter(bases)))
    return ("any", *sorted(flat)) if stack and len(flat) <= _MOST_PLACES else None


def joined(left: Value, right: Value) -> Value:
    """What holds of either value."""
    same = left[0] == right[0]
    return left[0] if same else any_of(left[0], right[0]), left[1] | right[1], left[2] | right[2]


def sum_terms(expression: Any) -> tuple[list[Any], int]:
    """(the terms that are no numbers, the sum of the numbers)."""
    terms, constant = [], 0
    while expression[0] == "op" and expression[2] == "add":
        last, expression = expression[4], expression[3]
        if last[0] == "k":
            constant += last[1]
        else:
            terms.append(last)
    if expression[0] == "k":
        return terms[::-1], (constant + expression[1]) & 0xFFFFFFFF
    return [expression, *reversed(terms)], constant & 0xFFFFFFFF


def multiply(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return ("k", 0) if ("k", 0) in (left, right) else None
    if left[0] == "k" and right[0] == "k":
        return ("k", left[1] * right[1] & 0xFFFFFFFF)
    if ("k", 0) in (left, right):
        return ("k", 0)
    if left == ("k", 1):
        return right
    if right == ("k", 1):
        return left
    return operation("mul", *sorted((left, right), key=repr))


def shift_right(value: Any, count: Any) -> Any:
    if value is None or count is None or count[0] != "k":
        return None
    if value[0] == "k":
        return ("k", (value[1] & 0xFFFFFFFF) >> (count[1] & 31))
    return value if count[1] == 0 else operation("shr", value, count)


def arithmetic_shift(value: Any, count: Any) -> Any:
    if value is None or count is None or count[0] != "k":
        return None
    if value[0] == "k":
        number = value[1] - 2**32 if value[1] >= 2**31 else value[1]
        return ("k", number >> (count[1] & 31) & 0xFFFFFFFF)
    return value if count[1] == 0 else operation("sar", value, count)


def shift_left(value: Any, count: Any) -> Any:
    if value is None or count is None or count[0] != "k":
        return None
    return multiply(value, ("k", 1 << (count[1] & 31)))


def reciprocal_of(expression: Any) -> int | None:
    """The number whose reciprocal this was made of, by the steps of an integer division; None if of none."""
    if not isinstance(expression, tuple) or not expression or expression[0] != "op":
        return None
    if expression[2] == "reciprocal":
        return int(expression[3][1])
    return next((n for part in expression[3:] if (n := reciprocal_of(part)) is not None), None)


def bitwise(table: int, a: Any, b: Any, c: Any) -> Any:
    """LOP3 with truth table over three expressions; exact on constants, else only a & k, copies and the like."""
    if a is not None and b is not None and c is not None and a[0] == b[0] == c[0] == "k":
        result = 0
        for bit in range(32):
            row = (a[1] >> bit & 1) << 2 | (b[1] >> bit & 1) << 1 | c[1] >> bit & 1
            result |= (table >> row & 1) << bit
        return ("k", result)
    if table == 0xC0 and a is not None and b is not None:
        for part, mask in ((a, b), (b, a)):
            if part[0] == "op" and part[2] == "part" and mask[0] == "k" and mask[1] & ~part[3] & 0xFFFFFFFF == 0:
                return ("k", part[4] & mask[1])
        if ("k", 0) in (a, b):
            return ("k", 0)
        left, right = (b, a) if a[0] == "k" else (a, b)
        if left[0] == "sel" and right == ("k", 1) and {left[2], left[3]} <= {("k", 0), ("k", 1)}:
            return left
        if left[0] == "sel" and right[0] == "k" and left[2][0] == left[3][0] == "k":
            return ("sel", left[1], ("k", left[2][1] & right[1]), ("k", left[3][1] & right[1]))
        return operation("and", left, right)
    for pattern, choice in ((0xF0, a), (0xCC, b), (0xAA, c)):
        if table == pattern:
            return choice
    if table not in (0xC0, 0xF0, 0xCC, 0xAA):
        for shift, column, part in ((4, 0xF0, a), (2, 0xCC, b), (1, 0xAA, c)):
            if part == ("k", 0) and (reduced := table & ~column & 0xFF | (table & ~column & 0xFF) << shift) != table:
                return bitwise(reduced, a, b, c)  # what an input of 0 leaves
        if table & 0xFF in (0x88, 0xA0):  # b & c, a & c
            return bitwise(0xC0, b if table == 0x88 else a, c, ("k", 0))
    return operation(f"lop{table}", a, b, c)


def permuted(selector: int, a: Any, b: Any) -> Any:
    """PRMT: each result byte is one of the eight bytes of a (0-3) and b (4-7); known bytes stay known."""
    mask = value = 0
    for position in range(4):
        nibble = selector >> (4 * position) & 15
        source, byte = (a, nibble & 3) if nibble & 7 < 4 else (b, nibble & 3)
        if source is None:
            continue
        known, bits = (0xFFFFFFFF, source[1]) if source[0] == "k" else (
            source[3:5] if source[0] == "op" and source[2] == "part" else (0, 0))
        if known >> (8 * byte) & 0xFF == 0xFF:
            mask |= 0xFF << (8 * position)
            found = bits >> (8 * byte) & 0xFF
            value |= (found if nibble < 8 else 0xFF * (found >> 7)) << (8 * position)
    if mask == 0xFFFFFFFF:
        return ("k", value)
    return ("op", 1, "part", mask, value) if mask else None


def for_each_choice(function: Callable[[Any], Any], value: Any) -> Any:
    """The function of a value, and of both values where a condition chooses between two numbers."""
    if value is None:
        return None
    if value[0] == "sel":
        parts = [for_each_choice(function, part) for part in value[2:4]]
        known = all(part is not None and part[0] in ("k", "sel") for part in parts)
        return ("sel", value[1], *parts) if known else None
    return function(value)


def half_pair(high: str, low: str) -> int | None:
    """The 32 bits of two half-precision immediates, high part first."""
    try:
        return int.from_bytes(struct.pack("<ee", float(low), float(high)), "little")
    except (ValueError, OverflowError):
        return None


def pure_window(roots: frozenset[Root]) -> bool:
    """Whether an address can only lie in shared or local memory."""
    return bool(roots) and all(root[0] == "window" for root in roots)


def indirect(roots: frozenset[Root]) -> frozenset[Root]:
    """The roots of a value loaded through an address with these roots."""
    return frozenset(root if root[0] == "via" else ("via", root) for root in roots if root[0] != "window")


def leaf_varies(expression: Any, varying_sites: Collection[Any], registers: tuple[str, ...] = THREAD_REGISTERS) -> bool:
    """Whether threads of a block (or blocks, by their registers) can hold different values of this expression or formula."""
    if not isinstance(expression, tuple) or not expression:
        return False
    if expression[0] == "s":
        return isinstance(expression[1], str) and expression[1].startswith(registers)
    if expression[0] == "site":
        return expression in varying_sites
    return any(leaf_varies(part, varying_sites, registers) for part in expression[1:])
