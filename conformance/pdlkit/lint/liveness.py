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
_FIRST = {"R": 0, "UR": 256, "P": 512, "UP": 528}
_ALL = (1 << 544) - 1
_BACK = {first: file for file, first in _FIRST.items()}
# Only where they read or write matters, not what they carry.
_ADDRESS_ONLY = frozenset({Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.TEXTURE, Kind.PREFETCH})
_KEEPS_ALL = frozenset({Kind.CALL, Kind.RETURN})
_OWN_STORES = ("STL", "STS")
_ALL_PREDICATES = ("P2R", "R2P", "UP2UR", "UR2UP", "UP2R", "R2UP")
_PREDICATES = _ALL >> 512 << 512


@dataclass(frozen=True)
class Liveness:
    entering: list[frozenset[str] | None]  # of each block: the registers that matter there; None: any may
    matters: bytearray  # of each instruction


@lru_cache(maxsize=1 << 18)
def _bit(name: str) -> int:
    found = _NAME.match(name)
    return 1 << (_FIRST[found.group(1)] + int(found.group(2))) if found else 0


@lru_cache(maxsize=1 << 18)
def _mentioned(text: str, words: int) -> int:
    """Bits of the registers in this text; one of 64 or more bits is named by its first."""
    bits = 0
    for file, number in _NAME.findall(text):
        run = (1 << words) - 1 if "R" in file else 1
        bits |= run << (_FIRST[file] + int(number))
    return bits & _ALL


@lru_cache(maxsize=1 << 18)
def _effect(opcode: str, operands: str, predicate: str, kind: Kind) -> tuple[int, int, bool]:
    """(bits written, bits read, whether it matters by itself)."""
    parts = split_operands(operands)
    names, _ = destinations_of(opcode, parts)
    written = 0
    for name in names:
        written |= _bit(name)
    guard = _mentioned(predicate, 1)
    if opcode.startswith(_ALL_PREDICATES):
        return 0, _mentioned(operands, 2) | _PREDICATES | guard, True
    if kind is Kind.PLAIN and not opcode.startswith(_OWN_STORES):
        return written, _mentioned(", ".join(parts[1:]), max(2, data_words(opcode))) | guard, False
    if kind in _ADDRESS_ONLY:
        return written, _mentioned(", ".join(p for p in parts if "[" in p), 2) | guard, True
    return written, _mentioned(operands, 8) | guard, True


def liveness(flow: Flow) -> Liveness:
    """Backwards through the blocks until nothing is added. A callee may look at anything, and so may who called it."""
    function, kinds, count = flow.function, flow.kinds, len(flow.blocks)
    effects = [_effect(o, t, p, k) for o, t, p, k in
               zip(function.opcodes, function.operands, function.predicates, kinds, strict=True)]
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for number, block in enumerate(flow.blocks):
        for successor in block.successors():
            predecessors[successor].append(number)
    entering, matters = [0] * count, bytearray(len(kinds))
    work, waiting = list(range(count)), [True] * count
    while work:
        number = work.pop()
        waiting[number] = False
        block, live = flow.blocks[number], 0
        for successor in block.successors():
            live |= entering[successor]
        for index in range(block.end - 1, block.start - 1, -1):
            written, read, by_itself = effects[index]
            if kinds[index] in _KEEPS_ALL:
                live, matters[index] = _ALL, 1
            elif by_itself or written & live:
                matters[index] = 1
                live = (live if function.predicates[index] else live & ~written) | read
        if live != entering[number]:
            entering[number] = live
            for before in predecessors[number]:
                if not waiting[before]:
                    waiting[before] = True
                    work.append(before)
    return Liveness([_names(bits) for bits in entering], matters)


@lru_cache(maxsize=4096)
def _names(bits: int) -> frozenset[str] | None:
    if bits == _ALL:
        return None
    names = set()
    while bits:
        at = (bits & -bits).bit_length() - 1
        first = max(f for f in _BACK if f <= at)
        names.add(f"{_BACK[first]}{at - first}")
        bits &= bits - 1
    return frozenset(names)
