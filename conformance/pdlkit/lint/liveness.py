"""Which registers can still matter to a question of the analysis, and so which instructions have to be evaluated.

Addresses, conditions, barriers and what goes to memory matter; a register matters if what it holds can end up there. All
else (the arithmetic of a kernel, nearly all of it) is skipped. Registers are bits of a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pdlkit.lint.destinations import destinations_of
from pdlkit.lint.flow import Flow
from pdlkit.lint.opcodes import Kind, data_words
from pdlkit.lint.values import split_operands

_NAME = re.compile(r"(U?[RP])(\d+)")
_SLOT = re.compile(r"\[R1(?:\+(-?0x[0-9a-f]+))?\]")
_FIRST = {"R": 0, "UR": 256, "P": 512, "UP": 528}
_COUNT = {"R": 256, "UR": 256, "P": 16, "UP": 16}
_REGISTERS = (1 << 544) - 1
_PREDICATES = _REGISTERS >> 512 << 512
_SLOTS = 256  # words of the stack told apart; what stands behind shares a bit with one of these
_SHARED = 1 << (544 + _SLOTS)
_STACK = _SHARED - 1 & ~_REGISTERS
_GENERIC = _SHARED << 1  # words reached by generic addresses: no spilled registers, which loads from the stack itself reach
_ALL = _REGISTERS | _STACK | _SHARED | _GENERIC
# Only where they read or write matters, not what they carry.
_ADDRESS_ONLY = frozenset({Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.TEXTURE, Kind.PREFETCH})
_KEEPS_ALL = frozenset({Kind.CALL, Kind.RETURN})
_REAL = re.compile(r"U?[FHD](ADD|FMA|MUL|MNMX|SEL|SET|RND)|MUFU|[HDIQOB]G?MMA|I2F|F2F")
_ALL_PREDICATES = ("P2R", "R2P", "UP2UR", "UR2UP", "UP2R", "R2UP")


@dataclass(frozen=True)
class Liveness:
    entering: list[frozenset[str] | None]  # of each block: the registers that matter there; None: any may
    matters: bytearray  # of each instruction


@dataclass(frozen=True, slots=True)
class _Effect:
    """Bits: what it writes; what that replaces; what it reads for that; what it reads in any case."""

    written: int
    replaced: int
    read: int
    asked: int
    always: bool  # it matters by itself
    real: bool = False  # it computes a floating-point number, which is no address: what it was made of is of no use in memory


@lru_cache(maxsize=1 << 16)
def _bit(name: str) -> int:
    found = _NAME.match(name)
    return 1 << (_FIRST[found.group(1)] + int(found.group(2))) if found else 0


@lru_cache(maxsize=1 << 16)
def _mentioned(text: str, words: int) -> int:
    """Bits of the registers in this text; one of 64 or more bits is named by its first."""
    bits = 0
    for file, number in _NAME.findall(text):
        run = (1 << words) - 1 if "R" in file else 1
        bits |= run << (_FIRST[file] + int(number))
    return bits & _REGISTERS


def _memory(memory: str, opcode: str) -> int:
    """Bits of the words that a shared, local or generic address may name."""
    if opcode.startswith(("STS", "LDS")):
        return _SHARED
    if not opcode.startswith(("STL", "LDL")):
        return _GENERIC | _SHARED | (_STACK if opcode.startswith("LD") else 0)
    found = _SLOT.search(memory)
    if found is None:
        return _STACK | _GENERIC
    first = int(found.group(1) or "0", 16) // 4
    return sum(1 << (544 + (first + i) % _SLOTS) for i in range(data_words(opcode)))


@lru_cache(maxsize=1 << 16)
def _effect(opcode: str, operands: str, predicate: str, kind: Kind) -> _Effect:
    parts, guard = split_operands(operands), _mentioned(predicate, 1)
    written = 0
    for name in destinations_of(opcode, parts)[0]:
        written |= _bit(name)
    if opcode.startswith(_ALL_PREDICATES):
        return _Effect(0, 0, 0, _mentioned(operands, 2) | _PREDICATES | guard, True)
    where = ", ".join(p for p in parts if "[" in p)
    address, generic = _mentioned(where, 2) | guard, kind in (Kind.GENERIC_LOAD, Kind.GENERIC_STORE)
    if opcode.startswith(("STL", "STS")) and kind is Kind.PLAIN or kind is Kind.GENERIC_STORE:
        data = _mentioned(operands, data_words(opcode) + 1) | guard
        return _Effect(_memory(where, opcode), 0, data, address if generic else 0, generic)
    if opcode.startswith(("LDL", "LDS")) and kind is Kind.PLAIN or kind is Kind.GENERIC_LOAD:
        held = _memory(where, opcode)
        return _Effect(written, written, held | address, address if generic else 0, generic)
    if kind is Kind.PLAIN:
        read = _mentioned(", ".join(parts[1:]), max(2, data_words(opcode))) | guard
        return _Effect(written, written, read, 0, False, bool(_REAL.match(opcode)))
    asked = address if kind in _ADDRESS_ONLY else _mentioned(operands, 8) | guard
    return _Effect(written, written, asked, asked, True)


def liveness(flow: Flow, until_wait: bool) -> Liveness:
    """A callee may look at anything, and so may who called it. Shared memory is read by other threads, elsewhere.

    `until_wait`: only code that can run before the wait is looked at; in all other code everything matters.
    """
    chosen = _before_wait(flow) if until_wait else list(range(len(flow.blocks)))
    effects: dict[int, _Effect] = {}
    function = flow.function
    for number in chosen:
        for i in range(flow.blocks[number].start, flow.blocks[number].end):
            effects[i] = _effect(function.opcodes[i], function.operands[i], function.predicates[i], flow.kinds[i])
    entering, matters = _backwards(flow, chosen, effects, 0)
    if any((entering[n][0] | entering[n][1]) & _SHARED for n in chosen):
        entering, matters = _backwards(flow, chosen, effects, _SHARED)
    return Liveness([_names(a | b) for a, b in entering], matters)


def _before_wait(flow: Flow) -> list[int]:
    """The blocks that can be reached without a wait; all, if something is called, which may lead anywhere."""
    seen, work = {0}, [0]
    while work:
        block = flow.blocks[work.pop()]
        if block.callee is not None:
            return list(range(len(flow.blocks)))
        if flow.kinds[block.end - 1] is Kind.WAIT and not flow.function.predicates[block.end - 1]:
            continue
        for successor in block.successors():
            if successor not in seen:
                seen.add(successor)
                work.append(successor)
    return sorted(seen)


def _backwards(
    flow: Flow, chosen: list[int], effects: dict[int, _Effect], everywhere: int
) -> tuple[list[tuple[int, int]], bytearray]:
    """Through the blocks, last first, until nothing is added: (what is asked for, what only goes to memory)."""
    kinds, predicates, count = flow.kinds, flow.function.predicates, len(flow.blocks)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for number in chosen:
        for successor in flow.blocks[number].successors():
            predecessors[successor].append(number)
    entering, matters = [(_ALL, 0)] * count, bytearray(b"\1" * len(kinds))
    for number in chosen:
        block, entering[number] = flow.blocks[number], (0, everywhere)
        matters[block.start : block.end] = bytes(block.end - block.start)
    ending = set() if len(chosen) == count else {  # nothing is asked behind the wait
        n for n in chosen if kinds[flow.blocks[n].end - 1] is Kind.WAIT and not predicates[flow.blocks[n].end - 1]}
    work, waiting = list(chosen), [True] * count
    while work:
        number = work.pop()
        waiting[number] = False
        block, live, stored = flow.blocks[number], 0, everywhere
        for successor in () if number in ending else block.successors():
            live |= entering[successor][0]
            stored |= entering[successor][1]
        for index in range(block.end - 1, block.start - 1, -1):
            effect = effects[index]
            if kinds[index] in _KEEPS_ALL:
                live, matters[index] = _ALL, 1
                continue
            asked, kept = effect.written & live, effect.written & stored
            if asked or kept:
                matters[index] = 1
                if not predicates[index]:
                    live, stored = live & ~effect.replaced, stored & ~effect.replaced
                if asked:
                    live |= effect.read
                elif not effect.real:
                    stored |= effect.read
            if effect.always:
                matters[index] = 1
                live |= effect.asked
        if (live, stored) != entering[number]:
            entering[number] = (live, stored)
            for before in predecessors[number]:
                if not waiting[before]:
                    waiting[before] = True
                    work.append(before)
    return entering, matters


@lru_cache(maxsize=4096)
def _names(bits: int) -> frozenset[str] | None:
    if bits & _REGISTERS == _REGISTERS:
        return None
    names: set[str] = set()
    for file, first in _FIRST.items():
        digits = f"{bits >> first & (1 << _COUNT[file]) - 1:b}"
        names.update(f"{file}{number}" for number, digit in enumerate(reversed(digits)) if digit == "1")
    return frozenset(names)
