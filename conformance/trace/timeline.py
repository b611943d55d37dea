"""Joins what the host asked for with what the device did: every run of a kernel with its launch and its place in a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.trace.records import (
    ASKED_COOPERATIVE,
    CARVEOUT_NOT_ASKED,
    FIRST_OF_KERNEL,
    NOT_SAMPLED,
    Activity,
    Graph,
    HostEvent,
    Kernel,
    Node,
    Process,
    Shape,
)


@dataclass
class Run:
    """One run of a kernel. Times are of the device, in ns; host times are put on the device's clock."""

    process: int
    device: int
    stream: int  # number in this process
    kernel: Kernel
    grid: Shape
    block: Shape
    dynamic_shared: int
    start: int
    end: int
    flags: int = 0
    carveout: int = CARVEOUT_NOT_ASKED
    shared_set: int = 0
    launched: int | None = None  # when the call that launched it returned
    first: bool = False  # the first launch of this kernel in this process
    graph: int | None = None
    graph_launch: int | None = None
    node: int | None = None
    range: str = ""

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def cooperative(self) -> bool:
        return bool(self.flags & ASKED_COOPERATIVE)


@dataclass
class Item:
    """One entry of a stream, in the order in which the host put it there."""

    event: HostEvent
    runs: list[Run] = field(default_factory=list)  # of a launch one, of a graph its kernels by start


@dataclass
class Timeline:
    """One process."""

    process: Process
    items: list[Item]
    runs: list[Run]
    unmatched: int  # runs of the device whose launch is unknown
    untimed: int  # launches of which the device's record is missing


def _kernel(process: Process, number: int | None, activity: Activity) -> Kernel:
    known = process.kernels.get(number) if number is not None else None
    if known is not None and known.name:
        return known
    return Kernel(activity.name, activity.registers, activity.static_shared)


def _run(process: Process, stream: int, activity: Activity, number: int | None) -> Run:
    return Run(process.pid, activity.device, stream, _kernel(process, number, activity), activity.grid, activity.block,
               activity.dynamic_shared, activity.start, activity.end, shared_set=activity.shared_set)


def _fits(process: Process, event: HostEvent, activity: Activity) -> bool:
    name = process.kernels[event.kernel].name if event.kernel in process.kernels else ""
    return event.grid == activity.grid and event.block == activity.block and name in ("", activity.name)


def _join_launches(process: Process, items: list[Item]) -> tuple[int, int]:
    """Launches and records of one stream come in the same order; what does not fit is skipped on either side."""
    number_of = {stream.cupti_id: stream.number for stream in process.streams.values()}
    waiting: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if item.event.operation == "launch" and not item.event.flags & NOT_SAMPLED:
            waiting[item.event.stream].append(item)
    seen: dict[int, list[Activity]] = defaultdict(list)
    for activity in process.activities:
        if not activity.graph_id:
            seen[number_of.get(activity.stream_id, -1)].append(activity)
    unmatched = untimed = 0
    for stream in {*waiting, *seen}:
        left = sorted(seen[stream], key=lambda activity: (activity.correlation, activity.start))
        at = 0
        for item in waiting[stream]:
            found = next((i for i in range(at, min(at + 64, len(left))) if _fits(process, item.event, left[i])), None)
            if found is None:
                untimed += 1
                continue
            unmatched += found - at
            at = found + 1
            item.runs = [_launched_run(process, item.event, left[found])]
        unmatched += len(left) - at
    return unmatched, untimed


def _launched_run(process: Process, event: HostEvent, activity: Activity) -> Run:
    run = _run(process, event.stream, activity, event.kernel)
    run.flags, run.carveout = event.flags, event.carveout
    run.launched = process.on_device_clock(event.end)
    run.first = bool(event.flags & FIRST_OF_KERNEL)
    return run


def _nodes_by_id(process: Process, graph: Graph) -> dict[int, Node]:
    return {node.cupti_id: node for node in graph.nodes if node.cupti_id >= 0}


def _node_of(process: Process, nodes: dict[int, Node], identity: int) -> Node | None:
    """The node as it was added: instantiation clones each node, and a node of a child graph several times."""
    for _ in range(16):
        if identity in nodes:
            return nodes[identity]
        if identity not in process.clones:
            return None
        identity = process.clones[identity]
    return None


def _join_graphs(process: Process, items: list[Item]) -> tuple[int, int]:
    """All kernels of one launch of a graph carry the same correlation, and those numbers grow from launch to launch."""
    launches: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if item.event.operation == "graph" and not item.event.flags & NOT_SAMPLED:
            graph = process.graphs.get(item.event.detail)
            launches[graph.cupti_id if graph else -1].append(item)
    groups: dict[int, dict[int, list[Activity]]] = defaultdict(lambda: defaultdict(list))
    for activity in process.activities:
        if activity.graph_id:
            groups[activity.graph_id][activity.correlation].append(activity)
    unmatched = untimed = 0
    for identity in {*launches, *groups}:
        expected = launches[identity]
        found = [groups[identity][correlation] for correlation in sorted(groups[identity])]
        for item, activities in zip(expected, found, strict=False):
            item.runs = _graph_runs(process, item.event, activities)
        unmatched += sum(len(group) for group in found[len(expected):])
        untimed += max(0, len(expected) - len(found)) if identity >= 0 else 0
    return unmatched, untimed


def _graph_runs(process: Process, event: HostEvent, activities: Iterable[Activity]) -> list[Run]:
    graph = process.graphs[event.detail]
    nodes = _nodes_by_id(process, graph)
    launched = process.on_device_clock(event.end)
    runs = []
    for activity in sorted(activities, key=lambda activity: activity.start):
        node = _node_of(process, nodes, activity.node_id)
        run = _run(process, event.stream, activity, node.kernel if node else None)
        run.graph, run.graph_launch, run.launched = graph.number, event.number, launched
        if node is not None:
            run.node, run.flags, run.carveout = node.index, node.flags, node.carveout
        runs.append(run)
    return runs


def _name_ranges(process: Process, items: list[Item]) -> None:
    """Each run gets the innermost NVTX range in which its launch was made, with those around it: step / layer 3."""
    marks = sorted([(r.time, 0, r) for r in process.ranges] + [(i.event.begin, 1, i) for i in items], key=lambda m: m[:2])
    stacks: dict[int, list[str]] = defaultdict(list)
    opened: dict[int, str] = {}
    for _, _, what in marks:
        if isinstance(what, Item):
            path = " / ".join([*opened.values(), *stacks[what.event.thread]])
            for run in what.runs:
                run.range = path
        elif what.what == "push":
            stacks[what.thread].append(what.text)
        elif what.what == "pop" and stacks[what.thread]:
            stacks[what.thread].pop()
        elif what.what == "start":
            opened[what.identity] = what.text
        elif what.what == "end":
            opened.pop(what.identity, None)


def join(process: Process) -> Timeline:
    """The timeline of a process."""
    items = [Item(event) for event in sorted(process.events, key=lambda event: event.number) if event.took_effect]
    lost_launches, no_times = _join_launches(process, items)
    lost_graphs, no_graph_times = _join_graphs(process, items)
    _name_ranges(process, items)
    runs = sorted((run for item in items for run in item.runs), key=lambda run: run.start)
    return Timeline(process, items, runs, lost_launches + lost_graphs, no_times + no_graph_times)
