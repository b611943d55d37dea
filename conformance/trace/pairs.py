"""Pairs of consecutive kernels: found run by run, explained, and put together by name and by place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.trace import reasons, room
from conformance.trace.images import Code
from conformance.trace.reasons import Facts, Reason
from conformance.trace.records import (
    ASKED_COMPLETION_EVENT,
    ASKED_EVENT,
    ASKED_OVERLAP,
    Edge,
    Graph,
    Node,
    Process,
)
from conformance.trace.timeline import Item, Run, Timeline

# From the return of a launch call to the start of its kernel on an idle GPU: 1.8 to 2.5 us on an H200 (results/*-trace.json).
ARRIVAL_NS = 1800
# CUPTI's end of a kernel is its completion, memory flushed: up to 0.7 us after its last thread's last instruction. A kernel
# that starts in that time starts after its primary's last block.
COMPLETION_NS = 700
# What PDL takes off the time between two kernels, where nothing else stands in the way (F1, F3).
BOUNDARY_NS = 450
_ON_STREAM = ("launch", "graph")
_NOT_BY_PDL = ("host-bound", "graph-boundary", "device", "too-short", "traced")


@dataclass
class Pair:
    """One dependent's run with the primary that ended last before it (or still ran)."""

    primary: Run
    dependent: Run
    facts: Facts
    place: str  # "stream", "graph 3: 5 to 6", "start of graph 3"
    reasons: list[Reason] = field(default_factory=list)

    @property
    def overlap_ns(self) -> int:
        """How long both ran; 0 if they did not."""
        return 0 if not self.facts.overlapped else max(0, min(self.primary.end, self.dependent.end) - self.dependent.start)

    @property
    def gap_ns(self) -> int:
        """From the primary's end to the dependent's start; 0 if they overlapped."""
        return max(0, self.dependent.start - self.primary.end)

    @property
    def recoverable_ns(self) -> int:
        """What PDL could take off this boundary at least: launch latency, without any prologue that it would hide, too."""
        if self.facts.overlapped or any(r.code in _NOT_BY_PDL for r in self.reasons):
            return 0
        return BOUNDARY_NS + min(self.gap_ns, 4 * BOUNDARY_NS)

    @property
    def by_graph_ns(self) -> int:
        """What launching ahead could take off: the gap that the host left."""
        return self.gap_ns if any(r.code == "host-bound" for r in self.reasons) else 0


@dataclass(frozen=True)
class Knowledge:
    """What is known beyond the records: machine code by kernel, and who else was there."""

    codes: Mapping[str, Code] = field(default_factory=dict)
    serialiser: str = ""


@dataclass(frozen=True)
class _Before:
    """What a kernel may follow: runs, and what was put on the stream after them."""

    runs: list[Run]
    between: tuple[str, ...]


@dataclass
class _Stream:
    """A stream, as it stands before its next launch."""

    last: _Before = field(default_factory=lambda: _Before([], ()))
    waited: list[_Before] = field(default_factory=list)  # of other streams

    def pass_over(self, operation: str) -> None:
        """Something else was put on the stream."""
        self.last = replace(self.last, between=(*self.last.between, operation))
        self.waited = [replace(before, between=(*before.between, operation)) for before in self.waited]


class Finder:
    """Finds the pairs of one process."""

    def __init__(self, timeline: Timeline, knowledge: Knowledge) -> None:
        self.timeline, self.process, self.knowledge = timeline, timeline.process, knowledge
        self.base = _process_facts(self.process, knowledge)

    def pairs(self) -> Iterator[Pair]:
        """All of them, streams first."""
        for pair in [*self._stream_pairs(), *self._graph_pairs()]:
            pair.reasons = reasons.why_not(pair.facts)
            yield pair

    # ---- streams ----

    def _stream_pairs(self) -> Iterator[Pair]:
        streams: dict[int, _Stream] = defaultdict(_Stream)
        recorded: dict[int, _Before] = {}  # by event
        for item in self.timeline.items:
            event, stream = item.event, streams[item.event.stream]
            if event.operation in _ON_STREAM:
                if item.runs:
                    yield from self._boundary(item, stream)
                if event.flags & (ASKED_EVENT | ASKED_COMPLETION_EVENT):
                    recorded[event.detail] = _Before(item.runs, ())
                streams[event.stream] = _Stream(_Before(item.runs, ()))  # without runs if it was not timed
            elif event.operation == "wait_event":
                if event.detail in recorded:
                    stream.waited.append(recorded[event.detail])
                stream.pass_over(event.operation)
            elif event.operation != "synchronize":
                stream.pass_over(event.operation)
                if event.operation in ("event", "timed_event"):
                    recorded[event.detail] = stream.last

    def _boundary(self, item: Item, stream: _Stream) -> Iterator[Pair]:
        dependent = item.runs[0]
        candidates = [(run, before.between, before is not stream.last) for before in [stream.last, *stream.waited] for run in before.runs]
        if not candidates:
            return
        before, between, foreign = max(candidates, key=lambda candidate: candidate[0].end)
        if before.start > dependent.start or before.device != dependent.device:
            return
        whole = dependent.graph is not None or before.graph is not None
        asked = reasons.ATTRIBUTE if dependent.flags & ASKED_OVERLAP and not whole else reasons.NOT_ASKED
        if foreign and not whole and before.flags & (ASKED_EVENT | ASKED_COMPLETION_EVENT):
            asked = reasons.EVENT if before.flags & ASKED_EVENT else reasons.COMPLETION_EDGE
        facts = replace(self._facts(before, dependent), path="boundary" if whole else "stream", asked=asked, between=between,
                        late_us=_late_us(before, dependent))
        place = f"start of graph {dependent.graph}" if dependent.graph is not None else \
            f"end of graph {before.graph}" if before.graph is not None else "streams" if foreign else "stream"
        yield Pair(before, dependent, facts, place)

    # ---- graphs ----

    def _graph_pairs(self) -> Iterator[Pair]:
        shapes = {number: _predecessors(graph) for number, graph in self.process.graphs.items()}
        for item in self.timeline.items:
            if item.event.operation != "graph" or not item.runs:
                continue
            runs = {run.node: run for run in item.runs if run.node is not None}
            number = item.event.detail
            for target, sources in shapes.get(number, {}).items():
                dependent = runs.get(target)
                before = [link for link in sources if link.source in runs]
                if dependent is None or not before:
                    continue
                link = max(before, key=lambda link: runs[link.source].end)
                primary = runs[link.source]
                facts = replace(self._facts(primary, dependent), path="graph", asked=link.asked, between=link.between,
                                incoming=len(sources), head_of_graph=primary is item.runs[0])
                yield Pair(primary, dependent, facts, f"graph {number}: {link.source} to {target}")

    def _facts(self, primary: Run, dependent: Run) -> Facts:
        first, second = self.knowledge.codes.get(primary.name), self.knowledge.codes.get(dependent.name)
        device = self.process.devices.get(dependent.device)
        return replace(
            self.base, overlapped=dependent.start < primary.end - COMPLETION_NS, cc=device.cc if device else None,
            dependent_ptx=dependent.kernel.ptx_version, primary_ptx=primary.kernel.ptx_version,
            dependent_cooperative=dependent.cooperative, dependent_first=dependent.first,
            primary_triggers=bool(first.triggers) if first else None, dependent_waits=bool(second.waits) if second else None,
            dependent_waits_first=second.waits_first if second else None,
            room=room.estimate(device, _blocks(primary), _blocks(dependent)) if device else None,
            primary_us=(primary.end - primary.start) / 1000)


def _process_facts(process: Process, knowledge: Knowledge) -> Facts:
    environment = process.environment
    blocking = environment.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0")
    return Facts(launch_blocking=blocking, killed=environment.get("PDL_DISABLE", "0") not in ("", "0"), serialiser=knowledge.serialiser)


def _blocks(run: Run) -> room.Blocks:
    carveout = run.carveout if run.carveout >= -1 else run.kernel.carveout
    return room.Blocks(run.grid, run.block, run.kernel.registers or 0, run.kernel.static_shared or 0, run.dynamic_shared,
                       -1 if carveout is None else carveout)


def _late_us(primary: Run, dependent: Run) -> float | None:
    if dependent.launched is None:
        return None
    return (dependent.launched + ARRIVAL_NS - primary.end) / 1000


@dataclass(frozen=True)
class _Link:
    """A way from a kernel to the next kernel in a graph."""

    source: int
    asked: str
    between: tuple[str, ...]


def _asked_by(edge: Edge) -> str:
    kinds = {(1, 1): reasons.PROGRAMMATIC_EDGE, (2, 1): reasons.BLOCK_START_EDGE, (2, 0): reasons.COMPLETION_EDGE}
    return kinds.get((edge.from_port, edge.kind), reasons.NOT_ASKED)


def _predecessors(graph: Graph) -> dict[int, list[_Link]]:
    """Of each kernel node the kernels before it, through nodes of other kinds; child graphs stand in their node's place."""
    nodes = {node.index: node for node in graph.nodes}
    into: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        into[edge.target].append(edge)
    sinks = _sinks(graph)
    return {node.index: _links(node, nodes, into, sinks) for node in graph.nodes if node.kind == "kernel"}


def _sinks(graph: Graph) -> dict[int, list[int]]:
    """Of each child graph the nodes that nothing follows in it."""
    followed = {edge.source for edge in graph.edges}
    found: dict[int, list[int]] = defaultdict(list)
    for node in graph.nodes:
        if node.parent >= 0 and node.index not in followed:
            found[node.parent].append(node.index)
    return found


def _links(node: Node, nodes: dict[int, Node], into: dict[int, list[Edge]], sinks: dict[int, list[int]]) -> list[_Link]:
    found: dict[int, _Link] = {}
    seen: set[int] = set()
    todo: list[tuple[int, tuple[str, ...]]] = [(node.index, ())]  # where, and what stands between there and the node
    while todo:
        index, between = todo.pop()
        edges = into.get(index, [])
        steps = [(edge.source, _asked_by(edge) if index == node.index else reasons.NOT_ASKED) for edge in edges]
        if not edges and nodes[index].parent >= 0:  # the root of a child graph follows what its node follows
            steps = [(edge.source, reasons.NOT_ASKED) for edge in into.get(nodes[index].parent, [])]
        for source, asked in steps:
            for end in _ends(source, nodes, sinks):
                if nodes[end].kind == "kernel":
                    found.setdefault(end, _Link(end, asked, between))
                elif end not in seen:
                    seen.add(end)
                    todo.append((end, (*between, nodes[end].kind)))
    return list(found.values())


def _ends(index: int, nodes: dict[int, Node], sinks: dict[int, list[int]]) -> list[int]:
    """A node, or of a child graph the nodes that it ends with, and so on; an empty one stands for itself."""
    ends = sinks.get(index, []) if nodes[index].kind == "graph" else []
    return [last for end in ends for last in _ends(end, nodes, sinks)] or [index]


# ---- put together ----


@dataclass
class Spread:
    """A distribution."""

    values: list[float]

    def at(self, share: float) -> float:
        """The value below which this share lies."""
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def as_json(self) -> dict[str, float]:
        """Percentiles and the sum."""
        names = {"min": 0.0, "p5": 0.05, "p50": 0.5, "p95": 0.95, "max": 1.0}
        return {**{name: round(self.at(share), 3) for name, share in names.items()}, "sum": round(sum(self.values), 3)}


@dataclass
class Group:
    """All runs of a pair of kernels at one kind of place."""

    primary: str
    dependent: str
    where: str  # "stream", "streams", "graph 3", "start of graph 3"
    pairs: list[Pair]
    steps: int = 1  # launches of its graph, or steps of the program

    @property
    def worth_us(self) -> float:
        """Per step, by PDL or by launching ahead."""
        return (self.recoverable_us + self.by_graph_us) / max(1, self.steps)

    @property
    def overlapping(self) -> int:
        return sum(pair.facts.overlapped for pair in self.pairs)

    @property
    def overlap_us(self) -> Spread:
        return Spread([pair.overlap_ns / 1000 for pair in self.pairs])

    @property
    def gap_us(self) -> Spread:
        return Spread([pair.gap_ns / 1000 for pair in self.pairs])

    @property
    def recoverable_us(self) -> float:
        return sum(pair.recoverable_ns for pair in self.pairs) / 1000

    @property
    def by_graph_us(self) -> float:
        return sum(pair.by_graph_ns for pair in self.pairs) / 1000

    @property
    def asked(self) -> Counter[str]:
        return Counter(pair.facts.asked for pair in self.pairs)

    @property
    def between(self) -> Counter[str]:
        return Counter(name for pair in self.pairs for name in dict.fromkeys(pair.facts.between))

    @property
    def ranges(self) -> list[str]:
        return [name for name, _ in Counter(pair.dependent.range for pair in self.pairs if pair.dependent.range).most_common()]

    def reasons(self) -> list[tuple[Reason, int]]:
        """By the number of runs that each holds for; the first reason of a run before its others."""
        count: Counter[str] = Counter()
        first: Counter[str] = Counter()
        known: dict[str, Reason] = {}
        for pair in self.pairs:
            for i, reason in enumerate(pair.reasons):
                known.setdefault(reason.code, reason)
                count[reason.code] += 1
                first[reason.code] += i == 0
        order = sorted(known, key=lambda code: (-first[code], -count[code], code))
        return [(known[code], count[code]) for code in order]


def grouped(pairs: list[Pair], steps: int) -> list[Group]:
    """By names and kind of place, what could be won most in all first. What stands in a graph is counted per launch of it."""
    groups: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.primary.name, pair.dependent.name, pair.place.split(":")[0]].append(pair)
    launches: dict[str, set[tuple[int, int | None]]] = defaultdict(set)
    for pair in pairs:
        if pair.dependent.graph is not None:
            launches[f"graph {pair.dependent.graph}"].add((pair.dependent.process, pair.dependent.graph_launch))
    found = []
    for (primary, dependent, where), members in groups.items():
        graph = where.removeprefix("start of ").removeprefix("end of ")
        found.append(Group(primary, dependent, where, members, len(launches[graph]) if graph in launches else steps))
    return sorted(found, key=lambda group: (-group.recoverable_us, -sum(group.gap_us.values), group.primary, group.dependent))
