"""What a thread stored on its stack or in shared memory, so that what it loads from there is known again.

Debug code keeps every variable on the stack and reaches it by generic pointers, so all ways to one word have to meet: a
place is (space, base, offset), the base an expression, the stack pointer for the stack. Words are kept in the registers of
a state, under ("mem", space, base, offset, bytes). What cannot be told apart is joined, never forgotten: of an unknown word
the image knows where anything ever stored in its space came from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pdlkit.lint.destinations import destinations_of
from pdlkit.lint.opcodes import data_words
from pdlkit.lint.values import (
    NOTHING,
    UNKNOWN,
    Root,
    Value,
    add,
    bitwise,
    for_each_choice,
    joined,
    low_registers,
    sum_terms,
)

if TYPE_CHECKING:
    from pdlkit.lint.evaluator import Evaluator, Registers

LOCAL, SHARED, CONSTANT = "local", "shared", "constant"
Place = tuple[str, Any, int]  # space, base, offset


@lru_cache(maxsize=None)
def width_of(opcode: str) -> int:
    """Bytes that a memory instruction moves."""
    parts = opcode.split(".")
    if "U8" in parts or "S8" in parts:
        return 1
    return 2 if "U16" in parts or "S16" in parts else 4 * data_words(opcode)


def spaces_of(roots: frozenset[Root]) -> set[str]:
    """The memories that an address with these roots lies in; empty: it may be global memory."""
    return {str(r[1]) for r in roots} if roots and all(r[0] == "window" for r in roots) else set()


def places_of(self: Evaluator, regs: Registers, memory: str, spaces: set[str]) -> list[Place]:
    """The places that an address in [..] can name; none if nothing is known. A generic address begins with its window."""
    if len(spaces) != 1:
        return []
    space = next(iter(spaces))
    names, offset = low_registers(memory)
    total: Any = ("k", offset & 0xFFFFFFFF)
    for name in names:
        total = add(total, regs.get(name, UNKNOWN)[0])
    if total is None:
        return []
    found = []
    for one in total[1:] if total[0] == "any" else (total,):
        if one == ("k", 0) and total[0] == "any":
            continue  # nobody reads at the null pointer
        terms, constant = sum_terms(one)
        if space == CONSTANT and self.image.parameter_window not in terms:
            return []
        kept = tuple(t for t in terms if t not in self.image.windows)
        found.append((space, kept, constant - 2**32 if constant >= 2**31 else constant))
    return found


def store(self: Evaluator, regs: Registers, opcode: str, operands: tuple[str, ...], spaces: set[str]) -> None:
    """Words under the same base are replaced; what stands under another base may be the same word, and is joined."""
    width = width_of(opcode)
    values = [self.value(regs, operands[-1], half) for half in range((width + 3) // 4)]
    if width < 4:
        mask = (1 << 8 * width) - 1
        values = [(for_each_choice(lambda e: bitwise(0xC0, e, ("k", mask), ("k", 0)), v[0]), v[1], v[2]) for v in values]
    for space in spaces & {LOCAL, SHARED}:
        self.image.remember(space, values)
    places = places_of(self, regs, operands[0], spaces)
    place = places[0] if len(places) == 1 else None
    for key in [k for k in regs if isinstance(k, tuple) and k[1] in spaces]:
        if place is not None and key[2] == place[1]:
            if key[3] < place[2] + width and place[2] < key[3] + key[4]:
                del regs[key]
            continue
        old, roots, varies = regs[key]
        for value in values:
            old, roots, varies = joined((old, roots, varies), value)
        regs[key] = (old, roots, varies)
    if place is None:
        return
    for number, value in enumerate(values):
        told = value[1] or value[0] is not None and value[0][0] != "site"
        if told or place[0] == LOCAL:  # of shared memory there is too much to keep the words of which nothing is known
            regs["mem", place[0], place[1], place[2] + 4 * number, min(width, 4)] = value


def load(self: Evaluator, regs: Registers, opcode: str, operands: tuple[str, ...], spaces: set[str], site: Any) -> dict[Any, Any]:
    """The registers that a load from these memories writes."""
    memory = next((o for o in operands if "[" in o), "")
    destinations, _ = destinations_of(opcode, operands)
    places = places_of(self, regs, memory, spaces)
    varies = 0
    for name in low_registers(memory)[0]:
        varies |= regs.get(name, UNKNOWN)[2]
    found: dict[Any, Any] = {}
    for number, name in enumerate(destinations):
        words = [_word(self, regs, place, 4 * number, min(width_of(opcode), 4)) for place in places]
        known: Value | None = words[0] if words else None
        for word in words[1:]:
            known = None if known is None or word is None else joined(known, word)
        found[name] = known if known is not None else self.fresh(name, site, *self.image.remembered(spaces, varies))
    return found


def _word(self: Evaluator, regs: Registers, place: Place, ahead: int, width: int) -> Value | None:
    space, base, offset = place
    if space == CONSTANT:
        if base:
            return (None, self.any_of(0, []), 0)
        return self.image.constant(0, self.image.info.parameter_base + offset + ahead) if width == 4 else None
    value = regs.get(("mem", space, base, offset + ahead, width))
    if width == 4:
        return value
    if value is None:  # a part of a known word
        value = next((v for b in range(4) if (v := regs.get(("mem", space, base, offset - b, 4))) is not None), None)
    return None if value is None else (value[0] if _small(value[0], width) else None, NOTHING, value[2])


def _small(expression: Any, width: int) -> bool:
    """A number that is the same whether its highest bit is a sign or not."""
    if expression is not None and expression[0] == "sel":
        return all(_small(part, width) for part in expression[2:4])
    return expression is not None and expression[0] == "k" and expression[1] < 1 << (8 * width - 1)


def forget_shared(regs: Registers) -> None:
    """Behind a barrier shared memory may hold what other threads stored."""
    for key in [k for k in regs if isinstance(k, tuple) and k[1] == SHARED]:
        del regs[key]

