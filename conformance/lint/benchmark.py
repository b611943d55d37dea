"""How long lint takes, and how much memory, on files as people have them: the first run, and the second one from the cache.

    python3 conformance dev bench-lint FILE... [--together FILE...] [--record]

Each FILE is linted twice with a cache of its own: by the command, as a user calls it. The FILEs after --together are put into one
archive, which makes a library as large as you like. Memory is the largest sum over lint and all
its children, sampled while they run: what is theirs alone, and their share of what they share (PSS). CPU time is given beside the
wall time, because it depends less on what else the machine does. Goals, for 2 idle cores: 10 s and 300 MB for 1 GB without a wait,
3 minutes and 1 GB for 4,000 kernels that wait, 3 s from the cache. A file that misses its goal is named; that changes no exit code.
On a busy machine the wall time says nothing, so only a file whose CPU time alone, divided by the cores, is too long counts as missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.lint import analyser
from conformance.lint.reader_library import library
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.keeper import descendants
from conformance.pdlkit.places import ROOT

RECORD = Path(__file__).resolve().with_name("benchmark.md")
_SAMPLED_S = 0.05
_MB = 1e6
_WITHOUT_WAIT, _WITH_WAITS = (10.0, 300.0), (180.0, 1000.0)  # seconds, MB
_CACHED_S = 3.0
_ENDINGS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Run:
    """One call of lint."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    said: dict[str, object]


@dataclass(frozen=True)
class Row:
    """One file."""

    name: str
    size_mb: float
    judged: int
    above_hint: int
    instructions: int
    first: Run
    second: Run

    def missed(self, cores: int, idle: bool) -> list[str]:
        """The goals that this file misses."""
        seconds, most = _WITH_WAITS if self.judged else _WITHOUT_WAIT
        taken = [run.wall_s if idle else run.cpu_s / cores for run in (self.first, self.second)]
        return [text for missed, text in (
            (taken[0] > seconds, f"{taken[0]:.1f} s instead of {seconds:.0f} s"),
            (self.first.peak_mb > most, f"{self.first.peak_mb:.0f} MB instead of {most:.0f} MB"),
            (taken[1] > _CACHED_S, f"{taken[1]:.1f} s from the cache instead of {_CACHED_S:.0f} s"),
        ) if missed]

    def line(self) -> str:
        """Of the table."""
        return (f"| {self.name} | {self.size_mb:,.0f} | {self.judged:,} | {self.above_hint:,} | {self.instructions / 1e6:.1f} | "
                f"{self.first.wall_s:.1f} | {self.first.cpu_s:.1f} | {self.first.peak_mb:.0f} | "
                f"{self.second.wall_s:.1f} | {self.second.cpu_s:.1f} | {self.second.peak_mb:.0f} |")


class _Memory:
    """Samples what a process and its descendants hold."""

    def __init__(self, process: int) -> None:
        self.process, self.peak, self._ended = process, 0, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLED_S):
            self.peak = max(self.peak, sum(map(_share, (self.process, *descendants(self.process)))))

    def end(self) -> float:
        """The peak in MB."""
        self._ended.set()
        self._thread.join()
        return self.peak / _MB


def _share(process: int) -> int:
    """Bytes of a process: its own and its part of what it shares; 0 if it is gone."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        return 1024 * int(text.partition("\nPss:")[2].split()[0])
    except (OSError, IndexError, ValueError):
        return 0


def _run(file: Path, cache: Path) -> Run:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, str(ROOT / "conformance"), "lint", "--json", str(file)], stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "PDL_CACHE": str(cache)})
        memory = _Memory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = memory.end()
        out.seek(0)
        err.seek(0)
        if process.returncode not in _ENDINGS:
            last = (err.read().decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
            raise BadArguments(f"{file}: lint ended with {process.returncode} and said: {last}")
        return Run(wall, usage.ru_utime + usage.ru_stime, peak, json.load(out))


def measure(file: Path) -> Row:
    """Both runs of one file."""
    with tempfile.TemporaryDirectory(prefix="pdl-bench-lint-") as folder:
        first, second = (_run(file, Path(folder)) for _ in range(2))
    judged, findings, timing = (first.said[key] for key in ("kernels", "findings", "timing"))
    assert isinstance(judged, list) and isinstance(findings, list) and isinstance(timing, dict)
    above = sum(finding["severity"] != "hint" for finding in findings)
    return Row(file.name, file.stat().st_size / _MB, len(judged), above, timing["instructions"], first, second)


def measure_together(files: list[Path]) -> Row:
    """Both runs of an archive of these files."""
    with tempfile.TemporaryDirectory(prefix="pdl-bench-lint-") as folder:
        archive = Path(folder, "archive.a")
        subprocess.run(["ar", "rcS", str(archive), *map(str, files)], check=True)
        row = measure(archive)
    return replace(row, name=" + ".join(file.name for file in files))


def as_markdown(rows: list[Row]) -> str:
    """The record."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    idle = load <= cores + 0.5
    state = "idle but for this" if idle else "busy with other work, so the CPU time says more than the wall time"
    lines = [
        "# How long lint takes", "", "Written by `python3 conformance dev bench-lint FILE... --record`, never by hand.", "",
        f"{cores} cores, {platform.machine()}, load {load:.1f} at the end: the machine was {state}.", "",
        "| file | MB | kernels judged | findings above hint | million instructions | s | CPU s | MB of memory | "
        "from the cache: s | CPU s | MB of memory |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(row.line() for row in rows), "",
    ]
    none = "No goal was missed." if idle else "By CPU time and memory no goal was missed; an idle machine has to judge the wall time."
    missed = [f"- {row.name}: {'; '.join(texts)}" for row in rows if (texts := row.missed(cores, idle))]
    return "\n".join([*lines, *(["Goals that were missed:", "", *missed, ""] if missed else [none, ""])])


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python3 conformance dev bench-lint", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--together", metavar="FILE", nargs="+", type=Path, default=[], help="files to lint as one archive")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    analyser.program()  # compiled ahead of the clock
    library()
    rows: list[Row] = []
    for file in (*arguments.files, *arguments.together):
        if not file.is_file():
            raise BadArguments(f"{file}: there is no such file")
    for what in [*arguments.files, *([arguments.together] if arguments.together else [])]:
        rows.append(measure(what) if isinstance(what, Path) else measure_together(what))
        print(rows[-1].line(), file=sys.stderr, flush=True)
        if arguments.record:
            RECORD.write_text(as_markdown(rows), encoding="utf-8")
    if not rows:
        raise BadArguments("name at least one FILE (see --help)")
    print(as_markdown(rows))
    return 0
