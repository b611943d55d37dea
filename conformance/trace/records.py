"""Reads what the tracing library wrote: one file of JSON lines per process. README.md lists the records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ASKED_OVERLAP, ASKED_COOPERATIVE, ASKED_CLUSTER, ASKED_EVENT, ASKED_COMPLETION_EVENT = 1, 2, 4, 8, 16
IN_CAPTURE, ASKED_UPDATABLE, FIRST_OF_KERNEL, NOT_SAMPLED = 32, 64, 128, 256
CARVEOUT_NOT_ASKED = -2

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Device:
    """What a multiprocessor of this GPU has room for."""

    name: str = ""
    sms: int = 0
    cc: int = 0
    block_slots: int = 0
    threads: int = 0
    registers: int = 0
    shared: int = 0
    warp: int = 32
    reserved_shared: int = 0


@dataclass(frozen=True)
class Kernel:
    """A kernel as the driver described it; None where it did not say."""

    name: str
    registers: int | None = None
    static_shared: int | None = None
    ptx_version: int | None = None
    carveout: int | None = None


@dataclass(frozen=True)
class Stream:
    number: int
    device: int
    cupti_id: int
    kind: str


@dataclass(frozen=True)
class HostEvent:
    """A call that put something on a stream (or waited for one)."""

    operation: str
    number: int
    begin: int
    end: int
    thread: int
    stream: int
    code: int
    detail: int = 0
    kernel: int = 0
    grid: Shape = (1, 1, 1)
    block: Shape = (1, 1, 1)
    shared: int = 0
    flags: int = 0
    carveout: int = CARVEOUT_NOT_ASKED

    @property
    def took_effect(self) -> bool:
        """Whether the device was given something to do."""
        return self.code == 0 and not self.flags & IN_CAPTURE


@dataclass(frozen=True)
class Node:
    index: int
    parent: int
    kind: str
    cupti_id: int
    kernel: int | None = None
    grid: Shape = (1, 1, 1)
    block: Shape = (1, 1, 1)
    shared: int = 0
    flags: int = 0
    carveout: int = CARVEOUT_NOT_ASKED


@dataclass(frozen=True)
class Edge:
    source: int
    target: int
    from_port: int = 0
    to_port: int = 0
    kind: int = 0


@dataclass
class Graph:
    """An instantiation of a graph, as it was walked."""

    number: int
    cupti_id: int
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True)
class Activity:
    """One run of a kernel on the device, as CUPTI timed it (ns)."""

    start: int
    end: int
    device: int
    stream_id: int
    correlation: int
    graph_id: int
    node_id: int
    name: str
    grid: Shape
    block: Shape
    static_shared: int
    dynamic_shared: int
    registers: int
    shared_set: int


@dataclass(frozen=True)
class Range:
    """One side of an NVTX range."""

    what: str
    time: int
    thread: int
    identity: int
    text: str


@dataclass
class Process:
    """Everything one process did."""

    pid: int = 0
    program: str = ""
    rank: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    devices: dict[int, Device] = field(default_factory=dict)
    kernels: dict[int, Kernel] = field(default_factory=dict)
    streams: dict[int, Stream] = field(default_factory=dict)
    graphs: dict[int, Graph] = field(default_factory=dict)
    events: list[HostEvent] = field(default_factory=list)
    activities: list[Activity] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    clones: dict[int, int] = field(default_factory=dict)
    clocks: list[tuple[int, int]] = field(default_factory=list)
    times: str = "none"
    times_code: int = 0  # CUPTI's answer where it refused
    subscribed: bool = True
    dropped: int = 0
    damaged: int = 0
    ended: bool = False

    def on_device_clock(self, host: int) -> int:
        """A time of the host's clock on the device's; the pair of readings next to it counts."""
        if not self.clocks:
            return host
        nearest = min(self.clocks, key=lambda pair: abs(pair[0] - host))
        return host + nearest[1] - nearest[0]


def _shape(values: Any) -> Shape:
    return (int(values[0]), int(values[1]), int(values[2]))


class _Reader:
    def __init__(self) -> None:
        self.process = Process()
        self.names: dict[int, str] = {}

    def take(self, record: Any) -> None:
        if isinstance(record, dict):
            self._object(record)
        else:
            self._row(record)

    def _object(self, record: dict[str, Any]) -> None:
        process, key = self.process, list(record)[0]
        if key == "process":
            process.pid, process.program = record["process"], record["program"]
            process.rank, process.environment = record["rank"], record["environment"]
        elif key == "device":
            known = {name: record[name] for name in Device.__dataclass_fields__ if name in record}
            cc = 10 * record.get("cc_major", 0) + record.get("cc_minor", 0)
            process.devices[record["device"]] = Device(**{**known, "cc": cc})
        elif key == "kernel":
            process.kernels[record["kernel"]] = Kernel(
                record["name"], record.get("registers"), record.get("static_shared"), record.get("ptx_version"), record.get("carveout"))
        elif key == "stream":
            process.streams[record["stream"]] = Stream(record["stream"], record["device"], record["id"], record["kind"])
        elif key == "graph":
            process.graphs[record["graph"]] = Graph(record["graph"], record["id"])
        elif key == "name":
            self.names[record["name"]] = record["text"]
        elif key == "image":
            process.images.append(record["image"])
        elif key == "times":
            process.times, process.times_code = record["times"], record.get("code", 0)
        elif key == "subscribe":
            process.subscribed = False
        elif key == "dropped":
            process.dropped += record["dropped"]
        elif key == "end":
            process.ended = True

    def _row(self, row: list[Any]) -> None:
        process, kind = self.process, row[0]
        if kind == "K":
            process.activities.append(Activity(row[1], row[2], row[3], row[4], row[5], row[6], row[7], self.names.get(row[8], ""),
                                               _shape(row[9]), _shape(row[10]), row[11], row[12], row[13], row[14]))
        elif kind == "launch":
            process.events.append(HostEvent("launch", row[1], row[2], row[3], row[4], row[5], row[6], row[13], row[7], _shape(row[8]),
                                            _shape(row[9]), row[10], row[11], row[12]))
        elif kind == "node":
            process.graphs[row[1]].nodes.append(_node(row))
        elif kind == "edge":
            process.graphs[row[1]].edges.append(Edge(*row[2:7]))
        elif kind == "clone":
            process.clones[row[2]] = row[1]
        elif kind == "clock":
            process.clocks.append((row[1], row[2]))
        elif kind == "range":
            process.ranges.append(Range(*row[1:6]))
        elif kind not in ("C", "M"):
            process.events.append(HostEvent(kind, row[1], row[2], row[3], row[4], row[5], row[6], row[7], flags=row[8]))


def _node(row: list[Any]) -> Node:
    if len(row) < 7:
        return Node(row[2], row[3], row[4], row[5])
    return Node(row[2], row[3], row[4], row[5], row[6], _shape(row[7]), _shape(row[8]), row[9], row[10], row[11])


def read_process(path: Path) -> Process:
    """One file. Lines that a killed process left unfinished are counted, not taken."""
    reader = _Reader()
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                reader.take(json.loads(line))
            except (ValueError, KeyError, IndexError, TypeError):
                reader.process.damaged += 1
    return reader.process


def read_folder(folder: Path) -> Iterator[Process]:
    """Every process of a session that launched something or tried to."""
    for path in sorted(folder.glob("process-*.jsonl")):
        process = read_process(path)
        if process.events or process.activities:
            yield process
