"""Whom a wait helps besides the thread that executed it: named barriers and barrier objects in shared memory.

A thread that passed by the wait of its siblings is safe behind a barrier at which a thread arrives that has waited, or
that was itself released in this way. What such threads signal is gathered first; then each barrier is held against it.
Where a number or an address cannot be followed, the barrier counts as one that helps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pdlkit.lint import conditions as cond

Range = tuple[int, int]
_NAMED_BARRIERS: Range = (0, 15)


@dataclass
class Signals:
    """Numbers of named barriers (as ranges; None: any) and addresses of barrier objects (None: any)."""

    barriers: set[Range | None] = field(default_factory=set)
    objects: set[Any] = field(default_factory=set)

    def reaches_barrier(self, number: Range | None, threads_known: bool) -> bool:
        """Whether each barrier that this number can mean is one of those signalled.

        How many of the numbers occur depends on the size of the block. If that is not known, only a single number
        that all waiters share says that the others have no waiter.
        """
        if number is None or None in self.barriers:
            return bool(self.barriers)
        known = [r for r in self.barriers if r is not None]
        if not threads_known and number[0] != number[1] and (len(known) != 1 or known[0][0] != known[0][1]):
            return any(low <= number[1] and number[0] <= high for low, high in known)
        return all(any(low <= n <= high for low, high in known) for n in range(number[0], number[1] + 1))

    def reaches_object(self, address: Any) -> bool:
        return any(may_be_same(address, other) for other in self.objects)


def may_be_same(left: Any, right: Any) -> bool:
    """Two addresses differ for sure only if they are the same expression plus different numbers, or of different variables."""
    if left is None or right is None:
        return True
    if left[0] == "any" or right[0] == "any":
        return any(may_be_same(a, b) for a in _either(left) for b in _either(right))
    (left_base, left_offset), (right_base, right_offset) = _parted(left), _parted(right)
    if left_base == right_base:
        return left_offset == right_offset
    names: tuple[set[str], set[str]] = set(), set()
    same = _without_names(left_base, names[0]) == _without_names(right_base, names[1])
    return not (same and len(names[0]) == len(names[1]) == 1)


def _either(address: Any) -> tuple[Any, ...]:
    return tuple(address[1:]) if address[0] == "any" else (address,)


def _without_names(expression: Any, names: set[str]) -> Any:
    """The expression with one name for each variable whose address is in it; the names are added to the set."""
    if not isinstance(expression, tuple):
        return expression
    if expression[:2] == ("c", 4) and isinstance(expression[2], tuple):
        names.add(str(expression[2][0]))
        return ("variable", *expression[2][1:])
    return tuple(_without_names(part, names) for part in expression)


def _parted(expression: Any) -> tuple[Any, int]:
    if expression[0] == "k":
        return None, expression[1]
    if expression[0] == "op" and expression[2] == "add" and expression[4][0] == "k":
        return expression[3], expression[4][1]
    return expression, 0


def barrier_range(expression: Any, facts: cond.Facts) -> Range | None:
    """The barrier numbers that the expression can mean on a path with these facts."""
    found = value_range(expression, facts)
    if found is None or found[1] < _NAMED_BARRIERS[0] or found[0] > _NAMED_BARRIERS[1]:
        return None
    return max(found[0], _NAMED_BARRIERS[0]), min(found[1], _NAMED_BARRIERS[1])


def value_range(expression: Any, facts: cond.Facts) -> Range | None:
    """The smallest and the largest number that the expression can be; None if nothing is known."""
    if expression is None:
        return None
    if expression[0] == "k":
        return expression[1], expression[1]
    if expression[0] == "sel":
        parts = [value_range(part, facts) for part in expression[2:4]]
        return None if parts[0] is None or parts[1] is None else (min(p[0] for p in parts if p), max(p[1] for p in parts if p))
    if expression[0] == "op" and expression[4:] and expression[4][0] == "k":
        inner = value_range(expression[3], facts)
        number = expression[4][1]
        if inner is not None:
            if expression[2] in ("shr", "sar"):
                return inner[0] >> number, inner[1] >> number
            if expression[2] == "add" and inner[1] + number < 2**32:
                return inner[0] + number, inner[1] + number
            if expression[2] == "mul" and inner[1] * number < 2**32:
                return inner[0] * number, inner[1] * number
            if expression[2] == "and" and inner[1] <= number and (number + 1) & number == 0:
                return inner
    return cond.extent(expression, facts)


def leaves(expression: Any) -> set[Any]:
    """What facts about the numbers in this expression are kept under."""
    if not isinstance(expression, tuple) or not expression:
        return set()
    if expression[0] == "s":
        return {(expression, "u")}
    return set().union(*(leaves(part) for part in expression[1:]))
