"""A process under trace, made by hand: what the host asked for, and when the device did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.trace.pairs import Finder, Knowledge, Pair
from conformance.trace.records import Activity, Device, Edge, Graph, HostEvent, Kernel, Node, Process, Stream
from conformance.trace.timeline import Timeline, join

GRID, BLOCK = (1, 1, 1), (32, 1, 1)
NODE_IDS = 1000  # of a graph's nodes: this much per graph, and the node's index


@dataclass
class Made:
    """Calls are noted one after the other; a launch returns at `launched`, so early that no host is too slow."""

    process: Process = field(default_factory=lambda: Process(pid=1, times="CUPTI", ended=True, devices={0: Device(), 1: Device()}))

    def call(self, operation: str, stream: int = 0, detail: int = 0, code: int = 0, **more: Any) -> None:
        """A call that puts something on a stream."""
        self.process.streams[stream] = Stream(stream, 0, 70 + stream, "created")
        begin, end = more.pop("begin", 0), more.pop("launched", 1)
        self.process.events.append(HostEvent(operation, len(self.process.events), begin, end, 1, stream, code, detail, **more))

    def kernel(self, name: str, start: int, end: int, stream: int = 0, device: int = 0, ptx: int = 90, **more: Any) -> None:
        """A launch and its run."""
        number = len(self.process.kernels)
        self.process.kernels[number] = Kernel(name, 32, 0, ptx)
        self.call("launch", stream, kernel=number, grid=GRID, block=BLOCK, **more)
        self.ran(name, start, end, 70 + stream, device)

    def ran(self, name: str, start: int, end: int, stream_id: int = 70, device: int = 0, graph: int = 0, node: int = 0,
            correlation: int | None = None) -> None:
        """A run that the device tells of."""
        correlation = len(self.process.activities) if correlation is None else correlation
        self.process.activities.append(
            Activity(start, end, device, stream_id, correlation, graph, node, name, GRID, BLOCK, 0, 0, 32, 0))

    def graph(self, number: int, nodes: Mapping[int, tuple[str, str]], edges: list[tuple[int, ...]], parents: Mapping[int, int]) -> None:
        """A graph whose nodes are (kind, name of the kernel); nodes of child graphs have parents."""
        made = Graph(number, 50 + number)
        for index, (kind, name) in nodes.items():
            kernel = len(self.process.kernels) if kind == "kernel" else None
            if kernel is not None:
                self.process.kernels[kernel] = Kernel(name, 32, 0, 90)
            made.nodes.append(Node(index, parents.get(index, -1), kind, NODE_IDS * number + index, kernel))
        made.edges = [Edge(*edge) for edge in edges]
        self.process.graphs[number] = made

    def graph_launch(self, number: int, times: Mapping[int, tuple[int, int]], stream: int = 0, correlation: int | None = None) -> None:
        """A launch of the graph, with the times of its kernels by node."""
        kernels = self.process.kernels
        names = {node.index: kernels[node.kernel].name for node in self.process.graphs[number].nodes if node.kernel is not None}
        correlation = len(self.process.activities) if correlation is None else correlation
        self.call("graph", stream, number)
        for index, (start, end) in times.items():
            self.ran(names[index], start, end, 70 + stream, 0, 50 + number, NODE_IDS * number + index, correlation)

    def joined(self) -> Timeline:
        """The timeline."""
        return join(self.process)

    def found(self, knowledge: Knowledge | None = None) -> tuple[Timeline, list[Pair]]:
        """The timeline, and the pairs of its runs, streams first."""
        timeline = self.joined()
        return timeline, list(Finder(timeline, knowledge or Knowledge()).pairs())

    def pairs(self, knowledge: Knowledge | None = None) -> list[Pair]:
        """The pairs alone."""
        return self.found(knowledge)[1]

    def pair(self, knowledge: Knowledge | None = None) -> Pair:
        """The only one."""
        (only,) = self.pairs(knowledge)
        return only
