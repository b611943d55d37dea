"""Random blocks of four warps that wait, read and meet at barriers, as machine code text, and the true answer by running them.

A program is one sequence of meetings (block barriers, cluster barriers, named barriers), each whole or split into arriving and
waiting, and between them each warp waits, reads or goes round a loop. All warps follow the same sequence, so no program
deadlocks, and whether a read is ordered after a wait does not depend on how the warps interleave: what a warp knows flows only
through meetings, from all who arrive to all who wait there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.lint.analyser import Question, analyse
from conformance.pdlkit.elf import KernelInfo, Parameter

WARPS = 4
_BASE = 0x210
_AT_ONCE = 400
_INFO = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 4)], _BASE, 12, 32 * WARPS)
_PAIRS = ([0, 2], [1, 2], [3, 0])  # who meets at each named barrier: always the same
_LOCAL = ("wait", "read", "read", "turn_first", "guarded_read")
_LAST = (*_LOCAL, "turn_second")  # on which nobody relies: that a second turn is taken for sure is more than lint knows


@dataclass
class Meeting:
    """Where warps meet. `arriving` only arrive; of a cluster barrier all arrive and wait, with local events between."""

    kind: str  # block, cluster, named
    number: int  # of a named barrier
    waiting: list[int]
    arriving: list[int] = field(default_factory=list)


@dataclass
class Machine:
    meetings: list[Meeting]
    # Of each warp: the local events ahead of each meeting and after the last; and those between arriving and waiting.
    ahead: list[list[list[str]]]
    between: list[list[list[str]]]


def random_machine(seed: int) -> Machine:
    """Up to four meetings; with the same seed always the same machine."""
    dice = random.Random(seed)
    meetings = [_meeting(dice) for _ in range(dice.randint(0, 4))]

    def local(kinds: tuple[str, ...] = _LOCAL) -> list[str]:
        return [dice.choice(kinds) for _ in range(dice.choice((0, 0, 1, 1, 2)))]

    return Machine(meetings, [[*(local() for _ in meetings), local(_LAST)] for _ in range(WARPS)],
                   [[local() if m.kind == "cluster" else [] for m in meetings] for _ in range(WARPS)])


def _meeting(dice: random.Random) -> Meeting:
    kind = dice.choice(("block", "block", "cluster", "named", "named"))
    everybody = list(range(WARPS))
    if kind == "cluster":
        return Meeting(kind, 0, everybody)
    number = 0 if kind == "block" else dice.randint(1, 3)
    chosen = everybody if kind == "block" else _PAIRS[number - 1]
    arriving = [warp for warp in chosen if dice.random() < 0.3]
    return Meeting(kind, number, [w for w in chosen if w not in arriving], arriving)


# as machine code ------------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, name: str) -> None:
        self.lines = [f'\t.section\t.text.{name},"ax",@progbits']
        self.offset, self.labels = 0, 0
        self.reads: dict[int, tuple[int, int]] = {}  # offset -> (warp, number of the read)

    def emit(self, text: str, guard: str = "") -> int:
        self.lines.append(f"        /*{self.offset:04x}*/          {guard}         {text} ;")
        self.offset += 16
        return self.offset - 16

    def label(self) -> str:
        self.labels += 1
        return f".L_m_{self.labels}"

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")


def as_text(name: str, machine: Machine) -> tuple[str, dict[int, tuple[int, int]]]:
    """In nvdisasm's form, and which read stands where."""
    out = _Writer(name)
    out.emit("S2R R0, SR_TID.X")
    out.emit("LDC.64 R2, c[0x0][0x210]")
    out.emit("ULDC.64 UR4, c[0x0][0x208]")
    roles = [out.label() for _ in range(WARPS)]
    for warp in range(WARPS - 1):
        out.emit(f"ISETP.LT.U32.AND P0, PT, R0, 0x{32 * (warp + 1):x}, PT")
        out.emit(f"BRA `({roles[warp]})", "@P0")
    for warp in reversed(range(WARPS)):
        out.place(roles[warp])
        _write_role(out, machine, warp)
    out.emit("ACQBULK")  # reached by nobody: a kernel without any wait would not be looked at
    out.emit("EXIT")
    return "\n".join(out.lines) + "\n", out.reads


def _write_role(out: _Writer, machine: Machine, warp: int) -> None:
    count = 0
    for number in range(len(machine.meetings) + 1):
        count = _write_events(out, machine.ahead[warp][number], warp, count)
        if number == len(machine.meetings):
            break
        meeting = machine.meetings[number]
        operands = "0x0, 0x80" if meeting.kind == "block" else f"0x{meeting.number:x}, 0x40"
        if meeting.kind == "cluster":
            out.emit("UCGABAR_ARV")
            count = _write_events(out, machine.between[warp][number], warp, count)
            out.emit("UCGABAR_WAIT")
        elif warp in meeting.arriving:
            out.emit(f"BAR.ARV {operands}")
        elif warp in meeting.waiting:
            out.emit(f"BAR.SYNC.DEFER_BLOCKING {operands}")
    out.emit("EXIT")


def _write_events(out: _Writer, events: list[str], warp: int, count: int) -> int:
    for event in events:
        if event == "wait":
            out.emit("ACQBULK")
            continue
        if event == "read":
            out.reads[out.emit("LDG.E R9, desc[UR4][R2.64]")] = (warp, count)
        elif event == "guarded_read":
            out.emit(f"LDC R4, c[0x0][0x{_BASE + 8:x}]")
            out.emit("ISETP.EQ.AND P1, PT, R4, RZ, PT")
            out.reads[out.emit("LDG.E R9, desc[UR4][R2.64]", "@P1")] = (warp, count)
        else:
            _write_loop(out, event, warp, count)
        count += 1
    return count


def _write_loop(out: _Writer, event: str, warp: int, count: int) -> None:
    """Two turns; the wait is in the first or the second, ahead of the read."""
    head, skip = out.label(), out.label()
    out.emit("MOV R5, RZ")
    out.place(head)
    out.emit(f"ISETP.{'NE' if event == 'turn_first' else 'EQ'}.AND P1, PT, R5, RZ, PT")
    out.emit(f"BRA `({skip})", "@P1")
    out.emit("ACQBULK")
    out.place(skip)
    out.reads[out.emit("LDG.E R9, desc[UR4][R2.64]")] = (warp, count)
    out.emit("IADD3 R5, R5, 0x1, RZ")
    out.emit("ISETP.LT.U32.AND P1, PT, R5, 0x2, PT")
    out.emit(f"BRA `({head})", "@P1")


# the truth ------------------------------------------------------------------------------------------------------------


def truth(machine: Machine) -> set[tuple[int, int]]:
    """(warp, number) of each read that is not ordered after a wait."""
    knows, counts, early = [False] * WARPS, [0] * WARPS, set[tuple[int, int]]()

    def happen(warp: int, events: list[str]) -> None:
        for event in events:
            if event == "wait":
                knows[warp] = True
                continue
            if not knows[warp] and event != "turn_first":
                early.add((warp, counts[warp]))
            knows[warp] = knows[warp] or event in ("turn_first", "turn_second")
            counts[warp] += 1

    for number, meeting in enumerate(machine.meetings):
        for warp in range(WARPS):
            happen(warp, machine.ahead[warp][number])
        arrived = any(knows[warp] for warp in (*meeting.waiting, *meeting.arriving))
        for warp in range(WARPS):
            happen(warp, machine.between[warp][number])
        for warp in meeting.waiting:
            knows[warp] = knows[warp] or arrived
    for warp in range(WARPS):
        happen(warp, machine.ahead[warp][-1])
    return early


# lint -----------------------------------------------------------------------------------------------------------------


def found_by_lint(machines: Sequence[Machine]) -> list[set[tuple[int, int]]]:
    """The same set of each machine as lint sees it."""
    found: list[set[tuple[int, int]]] = []
    for first in range(0, len(machines), _AT_ONCE):
        some = {f"k{number}": as_text(f"k{number}", machine) for number, machine in enumerate(machines[first : first + _AT_ONCE])}
        answer = analyse(Question(90, dict.fromkeys(some, _INFO), entries=list(some)), [text.encode() for text, _ in some.values()])
        found += [{reads[a.place.offset] for a in answer.kernels[name].accesses} for name, (_, reads) in some.items()]
    return found


def disagreements(seeds: range) -> list[int]:
    """Seeds whose machine lint and the run judge differently."""
    machines = [random_machine(seed) for seed in seeds]
    return [seed for seed, machine, said in zip(seeds, machines, found_by_lint(machines), strict=True) if said != truth(machine)]
