"""Random control-flow graphs as machine code text, and the true answer by enumerating every thread of every launch.

A launch is an assignment of the parameters that the branches ask about; a thread is a range of thread indices. Both
together decide every branch, so each run is one walk, and the walk ends at an exit or when it repeats itself.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

from pdlkit.lint.elf import KernelInfo, Parameter
from pdlkit.lint.program import Program
from pdlkit.lint.waits import Analysis

_PARAMETERS = 3
_BOUNDS = (32, 64, 96)  # thread indices at which conditions change; the block has 128 threads
_BASE = 0x210


@dataclass
class Block:
    events: list[str] = field(default_factory=list)  # "wait", "read"
    condition: tuple[str, int] | None = None  # ("param", k): parameter k is 0; ("thread", bound): index below bound
    targets: list[int] = field(default_factory=list)  # taken, not taken; one: jump; none: exit


class FakeCubin:
    """As much of a cubin as the analysis asks for."""

    sm = 90
    virtual_sm = 90
    symbols: list[object] = []
    sections: list[object] = []
    constant4: dict[int, str] = {}
    initialised_symbols: frozenset[str] = frozenset()
    function_addresses: frozenset[str] = frozenset()
    function_names: frozenset[str] = frozenset()
    kernels = ["k"]

    def code_table(self, kernel: str) -> dict[int, str]:
        return {}

    def kernel_info(self, kernel: str) -> KernelInfo:
        parameters = [Parameter(0, 0, 8), *(Parameter(1 + i, 8 + 4 * i, 4) for i in range(_PARAMETERS))]
        return KernelInfo(parameters, _BASE, 8 + 4 * _PARAMETERS, 0)


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


def as_text(blocks: list[Block]) -> str:
    """The graph in nvdisasm's form. Every block computes its condition anew, as unoptimised code does."""
    lines: list[str] = []

    def emit(text: str, guard: str = "") -> None:
        lines.append(f"        /*{len([x for x in lines if '/*' in x]) * 16:04x}*/          {guard}         {text} ;")

    emit("S2R R0, SR_TID.X")
    emit("LDC.64 R2, c[0x0][0x210]")
    emit("ULDC.64 UR4, c[0x0][0x208]")
    for number, block in enumerate(blocks):
        lines.append(f".L_b_{number}:")
        for event in block.events:
            emit("ACQBULK" if event == "wait" else "LDG.E R9, desc[UR4][R2.64]")
        if not block.targets:
            emit("EXIT")
        elif block.condition is None:
            emit(f"BRA `(.L_b_{block.targets[0]})")
        else:
            kind, number_asked = block.condition
            if kind == "param":
                emit(f"LDC R4, c[0x0][0x{_BASE + 8 + 4 * number_asked:x}]")
                emit("ISETP.EQ.AND P0, PT, R4, RZ, PT")
            else:
                emit(f"ISETP.LT.U32.AND P0, PT, R0, 0x{number_asked:x}, PT")
            emit(f"BRA `(.L_b_{block.targets[0]})", "@P0")
            emit(f"BRA `(.L_b_{block.targets[1]})")
    return "\n".join(lines) + "\n"


def truth(blocks: list[Block]) -> set[tuple[int, int]]:
    """(block, event) of each read that some thread of some launch reaches without having waited."""
    early: set[tuple[int, int]] = set()
    for zero in itertools.product((False, True), repeat=_PARAMETERS):
        for thread in (0, *_BOUNDS):
            _walk(blocks, zero, thread, early)
    return early


def _walk(blocks: list[Block], zero: tuple[bool, ...], thread: int, early: set[tuple[int, int]]) -> None:
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


def found_by_lint(blocks: list[Block]) -> set[tuple[int, int]]:
    """The same set as lint sees it."""
    program = Program(FakeCubin(), {"k": as_text(blocks)})  # type: ignore[arg-type]
    result = Analysis(program, "k").run()
    flow = program.flow("k")
    assert flow is not None
    starts = [flow.function.labels[f".L_b_{n}"] for n in range(len(blocks))]
    places = {starts[n] + p: (n, p) for n, b in enumerate(blocks) for p in range(len(b.events))}
    return {places[access.index] for access in result.accesses.values()}


def disagreements(seeds: range) -> list[int]:
    """Seeds whose graph lint and the enumeration judge differently."""
    return [seed for seed in seeds if found_by_lint(g := random_graph(seed)) != truth(g)]
