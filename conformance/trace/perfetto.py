"""Chrome's JSON of trace events, which Perfetto and trace analysers read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from conformance.pdlkit.output_folder import in_one_step
from conformance.trace.pairs import Pair
from conformance.trace.report import short_name
from conformance.trace.timeline import Run, Timeline


class _Lasting(Protocol):
    @property
    def start(self) -> int:
        """When it begins."""

    @property
    def end(self) -> int:
        """When it ends."""


def lanes(runs: Sequence[_Lasting]) -> dict[int, int]:
    """By id of the run: a row in which nothing else runs then, because slices of one row may not overlap by halves."""
    ends: list[int] = []
    found = {}
    for run in sorted(runs, key=lambda run: run.start):
        row = next((i for i, end in enumerate(ends) if end <= run.start), len(ends))
        if row == len(ends):
            ends.append(0)
        ends[row] = run.end
        found[id(run)] = row
    return found


def _events(timelines: Sequence[Timeline], pairs: Sequence[Pair]) -> Iterator[dict[str, Any]]:
    begin = min((run.start for timeline in timelines for run in timeline.runs), default=0)
    place = {id(pair.dependent): pair for pair in pairs}
    for timeline in timelines:
        pid, rank = timeline.process.pid, timeline.process.rank
        program = Path(timeline.process.program).name + (f" rank {rank}" if rank else "")
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": program}}
        rows: dict[int, tuple[int, int]] = {}
        for stream in sorted({run.stream for run in timeline.runs}):
            own = [run for run in timeline.runs if run.stream == stream]
            rows |= {identity: (stream, row) for identity, row in lanes(own).items()}
        for stream, row in sorted(set(rows.values())):
            title = f"stream {stream}" + (f", row {row + 1}" if row else "")
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": stream * 100 + row, "args": {"name": title}}
        for number, run in enumerate(timeline.runs):
            stream, row = rows[id(run)]
            yield _slice(run, pid, stream * 100 + row, begin, place.get(id(run)))
            pair = place.get(id(run))
            if pair is not None and id(pair.primary) in rows:
                stream_before, row_before = rows[id(pair.primary)]
                arrow = {"cat": "pair", "name": "releases", "pid": pid, "id": pid * 10_000_000 + number}
                inside = min(pair.primary.end, run.start)
                yield {"ph": "s", **arrow, "tid": stream_before * 100 + row_before, "ts": (inside - begin - 1) / 1000}
                yield {"ph": "f", "bp": "e", **arrow, "tid": stream * 100 + row, "ts": (run.start - begin) / 1000}


def _slice(run: Run, pid: int, tid: int, begin: int, pair: Pair | None) -> dict[str, Any]:
    details: dict[str, Any] = {"kernel": run.name, "grid": list(run.grid), "block": list(run.block), "stream": run.stream}
    if run.graph is not None:
        details |= {"graph": run.graph, "node": run.node}
    if run.range:
        details["range"] = run.range
    if pair is not None:
        details |= {"overlap us": pair.overlap_ns / 1000, "gap us": pair.gap_ns / 1000, "asked": pair.facts.asked,
                    "why not": [reason.code for reason in pair.reasons]}
    return {"ph": "X", "cat": "kernel", "name": short_name(run.name), "pid": pid, "tid": tid, "ts": (run.start - begin) / 1000,
            "dur": (run.end - run.start) / 1000, "args": details}


def write(path: Path, timelines: Sequence[Timeline], pairs: Sequence[Pair]) -> None:
    """One event a line, so that a large file can be looked at."""
    with in_one_step(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        for number, event in enumerate(_events(timelines, pairs)):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}\n")
