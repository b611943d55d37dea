"""What a performance engineer asks first: time per step, how much of it boundaries take, and at which pairs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.trace.pairs import Group, Pair, grouped
from conformance.trace.timeline import Run, Timeline


@dataclass(frozen=True)
class Steps:
    """What counts as one step."""

    name: str  # "launch of graph 0", "range decode", "run"
    count: int


@dataclass(frozen=True)
class Load:
    """Time of kernels in a stream or graph: summed, and with overlapping parts counted once."""

    name: str
    runs: int
    sum_us: float
    union_us: float


@dataclass(frozen=True)
class Critical:
    """The chain that a typical step's end waited for."""

    kernels: int
    span_us: float
    kernels_us: float  # the part in which a kernel of the chain ran
    gaps_us: float


@dataclass
class Summary:
    """Everything that is told before the table of pairs."""

    device: str
    processes: int
    runs: int
    steps: Steps
    loads: list[Load]
    groups: list[Group]
    recoverable_us: float  # per step
    by_graph_us: float  # per step
    step_us: float
    critical: Critical | None
    notes: list[str] = field(default_factory=list)


def union_us(runs: Iterable[Run]) -> float:
    """Time in which at least one of them ran."""
    total, until = 0, 0
    for start, end in sorted((run.start, run.end) for run in runs):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total / 1000


def _load(name: str, runs: Sequence[Run]) -> Load:
    return Load(name, len(runs), sum(run.end - run.start for run in runs) / 1000, union_us(runs))


def _loads(runs: Sequence[Run], several: bool) -> list[Load]:
    parts: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        process = f"process {run.process}, " if several else ""
        parts[process + (f"graph {run.graph}" if run.graph is not None else f"stream {run.stream}")].append(run)
    found = [_load(name, members) for name, members in parts.items()]
    return [_load("all", runs), *sorted(found, key=lambda load: -load.sum_us)]


def _stepwise(timelines: Sequence[Timeline], wanted: str | None) -> tuple[Steps, list[list[Run]]]:
    """The steps and the runs of each: NVTX ranges that match, else launches of the graph that took most time, else all."""
    runs = [run for timeline in timelines for run in timeline.runs]
    if wanted is not None:
        chosen: dict[tuple[int, int], list[Run]] = defaultdict(list)
        for timeline in timelines:
            for number, members in enumerate(_in_ranges(timeline, wanted)):
                chosen[timeline.process.pid, number] = members
        return Steps(f"range {wanted}", len(chosen)), list(chosen.values())
    graphs: dict[tuple[int, int], dict[int, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.graph is not None and run.graph_launch is not None:
            graphs[run.process, run.graph][run.graph_launch].append(run)
    time_of = {key: sum(run.end - run.start for members in launches.values() for run in members) for key, launches in graphs.items()}
    if time_of:
        key = max(time_of, key=lambda key: time_of[key])
        if time_of[key] * 2 > sum(run.end - run.start for run in runs):
            return Steps(f"launch of graph {key[1]}", len(graphs[key])), list(graphs[key].values())
    return Steps("run of the program", 1), [runs]


def _in_ranges(timeline: Timeline, wanted: str) -> list[list[Run]]:
    """The runs whose launches lie in each range whose name matches."""
    spans: list[tuple[int, int]] = []
    open_ranges: dict[int, list[tuple[str, int]]] = defaultdict(list)
    started: dict[int, tuple[str, int]] = {}
    for mark in sorted(timeline.process.ranges, key=lambda mark: mark.time):
        ended = None
        if mark.what == "push":
            open_ranges[mark.thread].append((mark.text, mark.time))
        elif mark.what == "pop" and open_ranges[mark.thread]:
            ended = open_ranges[mark.thread].pop()
        elif mark.what == "start":
            started[mark.identity] = (mark.text, mark.time)
        elif mark.what == "end":
            ended = started.pop(mark.identity, None)
        if ended and re.search(wanted, ended[0]):
            spans.append((ended[1], mark.time))
    return [[run for item in timeline.items if begin <= item.event.begin <= end for run in item.runs] for begin, end in sorted(spans)]


def _critical(members: Sequence[Run], pairs: Iterable[Pair]) -> Critical | None:
    """Backwards from the last kernel to end, always to the primary that ended last."""
    if not members:
        return None
    inside = {id(run) for run in members}
    before = {id(pair.dependent): pair.primary for pair in pairs if id(pair.primary) in inside}
    run = max(members, key=lambda run: run.end)
    chain = [run]
    while id(run) in before and len(chain) <= len(members):
        run = before[id(run)]
        chain.append(run)
    span = (chain[0].end - chain[-1].start) / 1000
    busy = union_us(chain)
    return Critical(len(chain), span, busy, span - busy)


def summarise(timelines: Sequence[Timeline], pairs: list[Pair], wanted_step: str | None,
              chosen: slice | None = None) -> Summary:
    """Of all processes together."""
    runs = [run for timeline in timelines for run in timeline.runs]
    steps, members = _stepwise(timelines, wanted_step)
    ordered = [sorted(part, key=lambda run: run.start) for part in members if part]
    members = sorted(ordered, key=lambda part: part[0].start)[chosen or slice(None)]
    in_steps = {id(run) for part in members for run in part}
    counted = [pair for pair in pairs if id(pair.dependent) in in_steps and id(pair.primary) in in_steps]
    spans = sorted((max(run.end for run in part) - part[0].start) / 1000 for part in members)
    typical = members[len(members) // 2] if members else []
    devices = {device.name for timeline in timelines for device in timeline.process.devices.values() if device.name}
    per_step = max(1, len(members))
    listed = counted if wanted_step is not None or chosen is not None else pairs
    return Summary(
        ", ".join(sorted(devices)) or "GPU", len(timelines), len(runs), Steps(steps.name, len(members)), _loads(runs, len(timelines) > 1),
        grouped(listed, per_step), sum(pair.recoverable_ns for pair in counted) / 1000 / per_step,
        sum(pair.by_graph_ns for pair in counted) / 1000 / per_step, spans[len(spans) // 2] if spans else 0.0,
        _critical(typical, counted), [note for timeline in timelines for note in _notes(timeline)])


def _notes(timeline: Timeline) -> list[str]:
    """What a reader has to know before believing the numbers."""
    process, found = timeline.process, []
    name = f"process {process.pid}"
    if process.times not in ("CUPTI", "off"):
        found.append(f"{name}: no times of the device (CUPTI: {process.times})")
    if not process.subscribed:
        found.append(f"{name}: another tool holds CUPTI's callbacks, so machine code and places in graphs are unknown")
    if process.dropped:
        found.append(f"{name}: CUPTI dropped {process.dropped:,} records")
    if timeline.untimed and process.times == "CUPTI":
        found.append(f"{name}: {timeline.untimed:,} launches have no time")
    if timeline.unmatched:
        found.append(f"{name}: {timeline.unmatched:,} kernels ran that no launch was seen of (launched by the device, perhaps)")
    if not process.ended or process.damaged:
        found.append(f"{name}: it ended without warning, so its last records are missing")
    return found
