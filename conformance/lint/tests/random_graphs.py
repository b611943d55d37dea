"""Random control-flow graphs as machine code text, and the true answer by enumerating every thread of every launch.

A launch is an assignment of the parameters that the branches ask about; a thread is a range of thread indices. Both
together decide every branch, so each run is one walk, and the walk ends at an exit or when it repeats itself.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.lint.analyser import Question, analyse
from conformance.pdlkit.elf import KernelInfo, Parameter

_PARAMETERS = 3
_BOUNDS = (32, 64, 96)  # thread indices at which conditions change; the block has 128 threads
_BASE = 0x210
_AT_ONCE = 500  # graphs in one call of the analysis
_INFO = KernelInfo([Parameter(0, 0, 8), *(Parameter(1 + i, 8 + 4 * i, 4) for i in range(_PARAMETERS))], _BASE, 8 + 4 * _PARAMETERS, 0)

Place = tuple[int, int]  # (block, event)


@dataclass
class Block:
    events: list[str] = field(default_factory=list)  # "wait", "read"
    condition: tuple[str, int] | None = None  # ("param", k): parameter k is 0; ("thread", bound): index below bound
    targets: list[int] = field(default_factory=list)  # taken, not taken; one: jump; none: exit


def random_graph(seed: int) -> list[Block]:
    """Up to 9 blocks; back edges included. With the same seed always the same graph."""
    dice = random.Random(seed)
    count = dice.randint(2, 9)
    blocks = [Block() for _ in range(count)]
    for number, block in enumerate(blocks):
        block.events = [dice.choice(("wait", "read", "read")) for _ in range(dice.choice((0, 0, 1, 1, 2)))]
        kind = dice.random()
        if number == count - 1 or kind < 0.12:
            continue
        forward = [dice.randrange(number + 1, count) for _ in range(2)]
        if dice.random() < 0.15:
            forward[0] = dice.randrange(0, number + 1)
        if kind < 0.3:
            block.targets = [forward[1]]
            continue
        block.targets = forward
        block.condition = ("param", dice.randrange(_PARAMETERS)) if dice.random() < 0.6 else ("thread", dice.choice(_BOUNDS))
    return blocks


def as_text(name: str, blocks: list[Block]) -> tuple[str, dict[int, Place]]:
    """The graph in nvdisasm's form, and which event stands where. Every block computes its condition anew, as unoptimised code does."""
    lines, places, offset = [f'\t.section\t.text.{name},"ax",@progbits'], {}, 0

    def emit(text: str, guard: str = "") -> None:
        nonlocal offset
        lines.append(f"        /*{offset:04x}*/          {guard}         {text} ;")
        offset += 16

    emit("S2R R0, SR_TID.X")
    emit("LDC.64 R2, c[0x0][0x210]")
    emit("ULDC.64 UR4, c[0x0][0x208]")
    for number, block in enumerate(blocks):
        lines.append(f".L_b_{number}:")
        for position, event in enumerate(block.events):
            places[offset] = (number, position)
            emit("ACQBULK" if event == "wait" else "LDG.E R9, desc[UR4][R2.64]")
        if not block.targets:
            emit("EXIT")
        elif block.condition is None:
            emit(f"BRA `(.L_b_{block.targets[0]})")
        else:
            kind, asked = block.condition
            if kind == "param":
                emit(f"LDC R4, c[0x0][0x{_BASE + 8 + 4 * asked:x}]")
                emit("ISETP.EQ.AND P0, PT, R4, RZ, PT")
            else:
                emit(f"ISETP.LT.U32.AND P0, PT, R0, 0x{asked:x}, PT")
            emit(f"BRA `(.L_b_{block.targets[0]})", "@P0")
            emit(f"BRA `(.L_b_{block.targets[1]})")
    emit("ACQBULK")  # reached by nobody: a kernel without any wait would not be looked at
    emit("EXIT")
    return "\n".join(lines) + "\n", places


def truth(blocks: list[Block]) -> set[Place]:
    """(block, event) of each read that some thread of some launch reaches without having waited."""
    early: set[Place] = set()
    for zero in itertools.product((False, True), repeat=_PARAMETERS):
        for thread in (0, *_BOUNDS):
            _walk(blocks, zero, thread, early)
    return early


def _walk(blocks: list[Block], zero: tuple[bool, ...], thread: int, early: set[Place]) -> None:
    number, seen = 0, set()
    while number not in seen:
        seen.add(number)
        block = blocks[number]
        for position, event in enumerate(block.events):
            if event == "wait":
                return
            early.add((number, position))
        if not block.targets:
            return
        if block.condition is None:
            number = block.targets[0]
            continue
        kind, asked = block.condition
        taken = zero[asked] if kind == "param" else thread < asked
        number = block.targets[0] if taken else block.targets[1]


def found_by_lint(graphs: Sequence[list[Block]]) -> list[set[Place]]:
    """The same set of each graph as lint sees it."""
    found: list[set[Place]] = []
    for first in range(0, len(graphs), _AT_ONCE):
        some = {f"k{number}": as_text(f"k{number}", graph) for number, graph in enumerate(graphs[first : first + _AT_ONCE])}
        answer = analyse(Question(90, dict.fromkeys(some, _INFO), entries=list(some)), [text.encode() for text, _ in some.values()])
        found += [{places[a.place.offset] for a in answer.kernels[name].accesses} for name, (_, places) in some.items()]
    return found


def disagreements(seeds: range) -> list[int]:
    """Seeds whose graph lint and the enumeration judge differently."""
    wrong: list[int] = []
    for first in range(0, len(seeds), _AT_ONCE):
        some = seeds[first : first + _AT_ONCE]
        graphs = [random_graph(seed) for seed in some]
        wrong += [seed for seed, graph, said in zip(some, graphs, found_by_lint(graphs), strict=True) if said != truth(graph)]
    return wrong
