"""Compares what `trace --inside` recorded with the times that the kernels of inside.cu noted themselves.

The recorded times surround the kernel's own: a start is recorded before the kernel reads the clock, the times of a wait's begin, a
trigger and an exit after it, the end of a wait before it. So each difference has a sign that it must have, and its size is what
lies between two readings of the clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from conformance.trace.inside.records import Launch, read_process

FIELDS = ("start", "wait_begun", "wait_ended", "trigger", "exit")
_RECORDED = ("start", "wait_begun", "wait_ended", "trigger", "exit", "entered")
# Of the kernel's own time less the recorded one. `entered` is compared with the kernel's own start, too.
_SIGN = {"start": 1, "wait_begun": -1, "wait_ended": 1, "trigger": -1, "exit": -1, "entered": 1}

Times = dict[int, tuple[int, ...]]  # by block


def own_times(stamps: Path) -> list[Times]:
    """By launch, in the order in which they started; the first line is the program's result."""
    found: dict[int, Times] = defaultdict(dict)
    for line in stamps.read_text(encoding="ascii").splitlines()[1:]:
        launch, block, *times = map(int, line.split())
        found[launch][block] = tuple(times)
    return sorted(found.values(), key=lambda blocks: min(times[0] for times in blocks.values()))


def _recorded_times(launch: Launch) -> Times:
    return {number: tuple(int(getattr(block, name)) for name in _RECORDED) for number, block in launch.blocks.items()}


def compare(own: list[Times], recorded: list[Times]) -> dict[str, Any]:
    """What was found of all launches, and how far apart the times are (ns). A recorded launch belongs to the own one that starts
    nearest after it."""
    differences: dict[str, list[int]] = {name: [] for name in _RECORDED}
    starts = [min(times[0] for times in blocks.values()) for blocks in own]
    matched, at = 0, 0
    for launch in sorted(recorded, key=lambda blocks: min(times[0] for times in blocks.values())):
        began = min(times[0] for times in launch.values())
        while at < len(own) and starts[at] < began:
            at += 1
        if at == len(own) or own[at].keys() != launch.keys():
            continue
        matched += 1
        for number, times in launch.items():
            mine_too = (*own[at][number], own[at][number][0])
            for name, mine, theirs in zip(_RECORDED, mine_too, times, strict=True):
                differences[name].append(_SIGN[name] * (mine - theirs))
        at += 1
    return {"launches": len(own), "recorded": len(recorded), "matched": matched,
            "difference_ns": {name: _spread(values) for name, values in differences.items() if values},
            "wrong_sign": {name: sum(value < 0 for value in values) for name, values in differences.items()}}


def _spread(values: list[int]) -> dict[str, float]:
    values = sorted(values)
    return {"least": values[0], "median": median(values), "p99": values[len(values) * 99 // 100], "most": values[-1]}


def of_session(kept: Path, stamps: Path, kernel: str = "stamped") -> dict[str, Any]:
    """Of a session that `trace --inside --keep` left."""
    launches: Iterable[Launch] = (launch for path in sorted((kept / "inside").glob("process-*.jsonl"))
                                  for launch in read_process(path).launches if kernel in launch.name)
    return compare(own_times(stamps), [_recorded_times(launch) for launch in launches])
