"""`python3 conformance trace annotate FILE`: overlap and reasons for a trace that another tool made.

Reads an Nsight Systems export (`nsys export --type sqlite`) or a PyTorch profiler trace (JSON, or JSON compressed by gzip).
Launches and kernels are joined by correlation id. Neither file tells whether a launch asked for overlap, so the reasons are
those that times, shapes and what stood between can show. The user's file is never changed: --output writes an annotated copy.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.output_folder import in_one_step
from conformance.pdlkit.read_report import Unreadable, read_plain
from conformance.trace import page, reasons, report, room
from conformance.trace.pairs import ARRIVAL_NS, COMPLETION_NS, Pair
from conformance.trace.reasons import Facts
from conformance.trace.records import Device, Kernel, Process, Shape
from conformance.trace.summary import summarise
from conformance.trace.timeline import Run, Timeline

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Work:
    """One thing that a stream did."""

    correlation: int
    kind: str  # "kernel", "memset", "copy"
    run: Run
    launched: int | None  # the end of the call that launched it


# ---- Nsight Systems ----


def _tables(database: sqlite3.Connection) -> set[str]:
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def _rows(database: sqlite3.Connection, table: str, wanted: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Columns that this version of the export lacks are None."""
    known = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}  # the names are this file's constants
    columns = [name for name in wanted if name in known]
    for row in database.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        yield {**dict.fromkeys(wanted), **dict(zip(columns, row, strict=True))}


_KERNEL_COLUMNS = (
    "start", "end", "deviceId", "streamId", "correlationId", "mangledName", "demangledName", "shortName", "gridX", "gridY", "gridZ",
    "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "registersPerThread", "graphId", "graphNodeId")


def _nsys_run(row: dict[str, Any], kernel: Kernel, grid: Shape, block: Shape) -> Run:
    return Run(0, row["deviceId"] or 0, row["streamId"] or 0, kernel, grid, block, 0, row["start"], row["end"])


def _from_nsys(path: Path) -> tuple[list[Work], dict[int, Device]]:
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as database:
        tables = _tables(database)
        if "CUPTI_ACTIVITY_KIND_KERNEL" not in tables:
            raise BadArguments(f"{path} holds no kernels: no table CUPTI_ACTIVITY_KIND_KERNEL (was CUDA traced?)")
        texts = dict(database.execute("SELECT id, value FROM StringIds")) if "StringIds" in tables else {}
        calls = {}
        if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
            calls = dict(database.execute("SELECT correlationId, MAX(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY correlationId"))
        found = []
        for row in _rows(database, "CUPTI_ACTIVITY_KIND_KERNEL", _KERNEL_COLUMNS):
            name = next((texts[row[key]] for key in ("mangledName", "demangledName", "shortName") if row[key] in texts), "kernel")
            kernel = Kernel(name, row["registersPerThread"], row["staticSharedMemory"])
            grid, block = (row["gridX"], row["gridY"], row["gridZ"]), (row["blockX"], row["blockY"], row["blockZ"])
            run = _nsys_run(row, kernel, _shape([size or 1 for size in grid]), _shape([size or 1 for size in block]))
            run.dynamic_shared = row["dynamicSharedMemory"] or 0
            if row["graphNodeId"] or row["graphId"]:
                run.graph, run.graph_launch = row["graphId"] or 0, row["correlationId"]
            found.append(Work(row["correlationId"] or 0, "kernel", run, calls.get(row["correlationId"])))
        for table, kind in (("CUPTI_ACTIVITY_KIND_MEMSET", "memset"), ("CUPTI_ACTIVITY_KIND_MEMCPY", "copy")):
            if table in tables:
                for row in _rows(database, table, ("start", "end", "deviceId", "streamId", "correlationId")):
                    run = _nsys_run(row, Kernel(kind), (1, 1, 1), (1, 1, 1))
                    found.append(Work(row["correlationId"] or 0, kind, run, calls.get(row["correlationId"])))
        return found, _nsys_devices(database, tables)


def _nsys_devices(database: sqlite3.Connection, tables: set[str]) -> dict[int, Device]:
    wanted = ("id", "name", "smMajor", "smMinor", "computeMajor", "computeMinor", "smCount", "maxWarpsPerSm", "maxBlocksPerSm",
              "maxRegistersPerSm", "maxShmemPerSm")
    found = {}
    for row in _rows(database, "TARGET_INFO_GPU", wanted) if "TARGET_INFO_GPU" in tables else ():
        major = row["computeMajor"] if row["computeMajor"] is not None else row["smMajor"]
        minor = row["computeMinor"] if row["computeMinor"] is not None else row["smMinor"]
        found[row["id"]] = Device(row["name"] or "", row["smCount"] or 0, 10 * (major or 0) + (minor or 0), row["maxBlocksPerSm"] or 0,
                                  32 * (row["maxWarpsPerSm"] or 0), row["maxRegistersPerSm"] or 0, row["maxShmemPerSm"] or 0, 32, 1024)
    return found


# ---- PyTorch ----


def _torch_events(path: Path) -> dict[str, Any]:
    try:
        raw = read_plain(path)
        content = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError, Unreadable) as error:
        raise BadArguments(f"{path} is neither an Nsight Systems export nor a PyTorch trace: {error}") from error
    content = {"traceEvents": content} if isinstance(content, list) else content
    if not isinstance(content, dict) or not isinstance(content.get("traceEvents"), list):
        raise BadArguments(f"{path} is not a PyTorch trace: it has no list traceEvents")
    return content


def _shape(value: Any) -> tuple[int, int, int]:
    numbers = [int(part) for part in value][:3] if isinstance(value, list) else []
    padded = [*numbers, 1, 1, 1]
    return padded[0], padded[1], padded[2]


_TORCH_KINDS = {"kernel": "kernel", "gpu_memset": "memset", "gpu_memcpy": "copy"}


def _from_torch(content: dict[str, Any]) -> tuple[list[Work], dict[int, Device]]:
    calls: dict[int, int] = {}
    operators: dict[int, str] = {}
    for event in content["traceEvents"]:
        args = event.get("args") or {}
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in args:
            calls[args["correlation"]] = round((event["ts"] + event.get("dur", 0)) * 1000)
        elif event.get("cat") == "cpu_op" and "External id" in args:
            operators[args["External id"]] = event.get("name", "")
    found = []
    for event in content["traceEvents"]:
        kind, args = _TORCH_KINDS.get(event.get("cat", "")), event.get("args") or {}
        if kind is None or event.get("ph") != "X":
            continue
        start = round(event["ts"] * 1000)
        kernel = Kernel(event.get("name", "kernel") if kind == "kernel" else kind, args.get("registers per thread"), 0)
        run = Run(0, int(args.get("device", 0)), int(args.get("stream", 0)), kernel, _shape(args.get("grid")), _shape(args.get("block")),
                  int(args.get("shared memory", 0)), start, start + round(event.get("dur", 0) * 1000))
        run.range = operators.get(args.get("External id", -1), "")
        if args.get("graph node id"):
            run.graph, run.graph_launch = int(args.get("graph id", 0)), args.get("correlation", 0)
        found.append(Work(args.get("correlation", 0), kind, run, calls.get(args.get("correlation", -1))))
    devices = {}
    for entry in content.get("deviceProperties") or []:
        devices[entry.get("id", 0)] = Device(
            entry.get("name", ""), entry.get("numSms", 0), 10 * entry.get("computeMajor", 0) + entry.get("computeMinor", 0), 32,
            entry.get("maxThreadsPerMultiprocessor", 0), entry.get("regsPerMultiprocessor", 0), entry.get("sharedMemPerMultiprocessor", 0),
            entry.get("warpSize", 32), 1024)
    return found, devices


# ---- both ----


def _facts(before: Run, run: Run, launched: int | None, between: tuple[str, ...], device: Device | None) -> Facts:
    same_graph = run.graph is not None and run.graph_launch == before.graph_launch
    path = "graph" if same_graph else "boundary" if run.graph is not None or before.graph is not None else "stream"
    known = device is not None and run.kernel.registers is not None and before.kernel.registers is not None
    estimate = room.estimate(device, _blocks(before), _blocks(run)) if known and device is not None else None
    late = (launched + ARRIVAL_NS - before.end) / 1000 if launched is not None and not same_graph else None
    overlapped = run.start < before.end - COMPLETION_NS
    return Facts(path=path, asked=reasons.UNKNOWN, between=between, overlapped=overlapped, cc=device.cc if device else None,
                 room=estimate, late_us=late, primary_us=(before.end - before.start) / 1000)


def _blocks(run: Run) -> room.Blocks:
    return room.Blocks(run.grid, run.block, run.kernel.registers or 0, run.kernel.static_shared or 0, run.dynamic_shared)


def pairs_of(work: Iterable[Work], devices: dict[int, Device]) -> Iterator[tuple[Pair, int, int]]:
    """Each pair with the correlation ids of primary and dependent."""
    streams: dict[tuple[int, int], list[Work]] = defaultdict(list)
    for entry in work:
        streams[entry.run.device, entry.run.stream].append(entry)
    for (device, stream), entries in sorted(streams.items()):
        before: Work | None = None
        between: list[str] = []
        for entry in sorted(entries, key=lambda entry: entry.run.start):
            if entry.kind != "kernel":
                between.append(entry.kind)
                continue
            if before is not None:
                facts = _facts(before.run, entry.run, entry.launched, tuple(between), devices.get(device))
                yield Pair(before.run, entry.run, facts, f"stream {stream}", reasons.why_not(facts)), before.correlation, entry.correlation
            before, between = entry, []


def _copy_of_nsys(source: Path, target: Path, found: list[tuple[Pair, int, int]]) -> None:
    shutil.copyfile(source, target)
    with sqlite3.connect(target) as database:
        database.execute("CREATE TABLE PDL_PAIRS (correlationId INTEGER, start INTEGER, primaryCorrelationId INTEGER, overlapNs INTEGER, "
                         "gapNs INTEGER, reasons TEXT)")
        database.executemany("INSERT INTO PDL_PAIRS VALUES (?, ?, ?, ?, ?, ?)", [
            (after, pair.dependent.start, before, pair.overlap_ns, pair.gap_ns, " ".join(reason.code for reason in pair.reasons))
            for pair, before, after in found])


def _copy_of_torch(content: dict[str, Any], target: Path, found: list[tuple[Pair, int, int]]) -> None:
    by_start = {(after, pair.dependent.start): pair for pair, _, after in found}
    for event in content["traceEvents"]:
        if event.get("cat") == "kernel" and event.get("ph") == "X":
            pair = by_start.get(((event.get("args") or {}).get("correlation", 0), round(event["ts"] * 1000)))
            if pair is not None:
                event["args"] |= {"PDL overlap us": pair.overlap_ns / 1000, "PDL gap us": pair.gap_ns / 1000,
                                  "PDL why not": "; ".join(f"{reason.code}: {reason.sentence()}" for reason in pair.reasons)}
    with in_one_step(target) as draft:
        draft.write_text(json.dumps(content), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Annotate one file."""
    parser = Parser("trace annotate", __doc__ or "")
    parser.add_argument("file", help="an Nsight Systems export (.sqlite) or a PyTorch profiler trace (.json, .json.gz)")
    parser.add_argument("--output", metavar="FILE", help="an annotated copy: a table PDL_PAIRS, or arguments of each kernel's event")
    parser.add_argument("--html", metavar="FILE", help="one page with a timeline to zoom")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    given = parser.parse_args(argv)
    source = Path(given.file)
    if not source.is_file():
        raise BadArguments(f"{source} is not there")
    if given.output and Path(given.output).exists():
        raise BadArguments(f"--output: {given.output} is there already; name a new file")
    with source.open("rb") as file:
        nsys = file.read(len(_SQLITE)) == _SQLITE
    content = {} if nsys else _torch_events(source)
    work, devices = _from_nsys(source) if nsys else _from_torch(content)
    found = list(pairs_of(work, devices))
    runs = sorted((entry.run for entry in work if entry.kind == "kernel"), key=lambda run: run.start)
    process = Process(program=source.name, devices=devices, times="CUPTI", ended=True)
    timelines, pairs = [Timeline(process, [], runs, 0, 0)], [pair for pair, _, _ in found]
    summary = summarise(timelines, pairs, None)
    if given.output and nsys:
        _copy_of_nsys(source, Path(given.output), found)
    elif given.output:
        _copy_of_torch(content, Path(given.output), found)
    if given.html:
        page.write(Path(given.html), page.data(summary, timelines, pairs, None, ["annotate", source.name]))
    print(json.dumps(report.as_json(summary, None, ["annotate", source.name], {}), indent=1) if given.json else report.table(summary, None))
    return 0
