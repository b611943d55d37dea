"""How long lint takes, and how much memory, on files as people have them: the first run, and the second one from the cache.

    python3 conformance dev bench-lint FILE... [--together FILE...] [--cores N] [--at-once N] [--record]

Each FILE is linted three times with a cache of its own: by the command, as a user calls it, held to 2 cores whatever the machine has
(--cores), so that records of different machines can be compared. The first two print the page; the third one prints all findings as
JSON, hundreds of megabytes for a library of generated kernels, and has no goal. With --at-once, several files are measured side by
side, each on cores of its own. The FILEs after --together are put into one archive, which makes a library as large as you like. Memory
is the largest sum over lint and all its children, sampled while they run: what is theirs alone, and their share of what they share
(PSS). CPU time is given beside the wall time, because it depends less on what else the machine does.
Goals, for 2 idle cores: 10 s and 300 MB for 1 GB without a wait,
3 minutes and 1 GB for 4,000 kernels that wait, 3 s from the cache. A file that misses its goal is named; that changes no exit code.
Where other work took more than a tenth of these cores, the wall time says nothing; then only a file whose CPU time alone, divided
by the cores, is too long counts as missed.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from conformance.lint import analyser
from conformance.lint.reader_library import library
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.keeper import descendants
from conformance.pdlkit.places import ROOT

RECORD = Path(__file__).resolve().with_name("benchmark.md")
_SAMPLED_S = 0.25  # reading what a large process holds takes the time of a core from it
_MB = 1e6
_WITHOUT_WAIT, _WITH_WAITS = (10.0, 300.0), (180.0, 1000.0)  # seconds, MB
_CACHED_S = 3.0
_IDLE = 0.1  # of the cores' time, which other work may take
_ENDINGS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Run:
    """One call of lint."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    others: float  # of the cores' time, what other work took

    def least_s(self, cores: int) -> float:
        """What it takes on idle cores, at least."""
        return self.wall_s if self.others <= _IDLE else self.cpu_s / cores


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
    as_json: Run

    def missed(self, cores: int) -> list[str]:
        """The goals that this file misses."""
        seconds, most = _WITH_WAITS if self.judged else _WITHOUT_WAIT
        taken = [run.least_s(cores) for run in (self.first, self.second)]
        return [text for missed, text in (
            (taken[0] > seconds, f"{taken[0]:.1f} s instead of {seconds:.0f} s"),
            (self.first.peak_mb > most, f"{self.first.peak_mb:.0f} MB instead of {most:.0f} MB"),
            (taken[1] > _CACHED_S, f"{taken[1]:.1f} s from the cache instead of {_CACHED_S:.0f} s"),
        ) if missed]

    def line(self) -> str:
        """Of the table."""
        return (f"| {self.name} | {self.size_mb:,.0f} | {self.judged:,} | {self.above_hint:,} | {self.instructions / 1e6:.1f} | "
                f"{self.first.wall_s:.1f} | {self.first.cpu_s:.1f} | {self.first.peak_mb:.0f} | "
                f"{self.second.wall_s:.1f} | {self.second.cpu_s:.1f} | {self.second.peak_mb:.0f} | {self.as_json.wall_s:.1f} |")


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


def _chosen(wanted: int) -> list[int]:
    """So many of the cores at hand; no two threads of one core while there are others."""
    def core_of(number: int) -> str:
        try:
            return Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list").read_text()
        except OSError:
            return str(number)
    at_hand = sorted(os.sched_getaffinity(0))
    first: dict[str, int] = {}
    for number in at_hand:
        first.setdefault(core_of(number), number)
    alone = sorted(first.values())
    return (alone + [number for number in at_hand if number not in alone])[:wanted]


def _busy_s(cores: list[int]) -> float:
    """How long these cores have worked, for whomever, since the machine was started."""
    names = {f"cpu{number}" for number in cores}
    rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    ticks = sum(int(row[field]) for row in rows if row[0] in names for field in (1, 2, 3, 6, 7, 8))  # neither idle nor waiting for a disk
    return ticks / os.sysconf("SC_CLK_TCK")


def _started(command: list[str], cores: list[int], **options: Any) -> subprocess.Popen[bytes]:
    """A child that is held to these cores, with all that it starts."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        return subprocess.Popen(command, **options)
    finally:
        os.sched_setaffinity(0, own)


def _run(file: Path, cache: Path, cores: list[int], out: IO[bytes], *form: str) -> Run:
    with tempfile.TemporaryFile() as err:
        began, busy = time.monotonic(), _busy_s(cores)
        process = _started([sys.executable, str(ROOT / "conformance"), "lint", *form, str(file)], cores, stdout=out, stderr=err,
                           stdin=subprocess.DEVNULL, env={**os.environ, "PDL_CACHE": str(cache)})
        memory = _Memory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak, cpu = memory.end(), usage.ru_utime + usage.ru_stime
        others = max(0.0, _busy_s(cores) - busy - cpu) / (wall * len(cores))
        err.seek(0)
        if process.returncode not in _ENDINGS:
            last = (err.read().decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
            raise BadArguments(f"{file}: lint ended with {process.returncode} and said: {last}")
        return Run(wall, cpu, peak, others)


def measure(file: Path, cores: list[int]) -> Row:
    """The runs of one file."""
    with tempfile.TemporaryDirectory(prefix="pdl-bench-lint-") as folder, tempfile.TemporaryFile() as page, \
            tempfile.TemporaryFile() as out:
        first, second = (_run(file, Path(folder), cores, page) for _ in range(2))
        as_json = _run(file, Path(folder), cores, out, "--json")
        out.seek(0)
        said = json.load(out)
    above = sum(finding["severity"] != "hint" for finding in said["findings"])
    return Row(file.name, file.stat().st_size / _MB, len(said["kernels"]), above, said["timing"]["instructions"], first, second, as_json)


def measure_together(files: list[Path], cores: list[int]) -> Row:
    """The runs of an archive of these files."""
    with tempfile.TemporaryDirectory(prefix="pdl-bench-lint-") as folder:
        archive = Path(folder, "archive.a")
        subprocess.run(["ar", "rcS", str(archive), *map(str, files)], check=True)
        row = measure(archive, cores)
    return replace(row, name=" + ".join(file.name for file in files))


def _groups(cores: int, at_once: int) -> SimpleQueue[list[int]]:
    """The cores for each of the files that are measured at once."""
    chosen = _chosen(cores * at_once)
    if cores < 1 or at_once < 1 or len(chosen) < cores * at_once:
        raise BadArguments(f"--cores {cores} --at-once {at_once}: there are {len(os.sched_getaffinity(0))} cores here")
    groups: SimpleQueue[list[int]] = SimpleQueue()
    for first in range(0, len(chosen), cores):
        groups.put(chosen[first:first + cores])
    return groups


def _on_free_cores(what: Path | list[Path], groups: SimpleQueue[list[int]]) -> Row:
    cores = groups.get()
    try:
        return measure(what, cores) if isinstance(what, Path) else measure_together(what, cores)
    finally:
        groups.put(cores)


def as_markdown(rows: list[Row], cores: int) -> str:
    """The record."""
    others = max((run.others for row in rows for run in (row.first, row.second, row.as_json)), default=0.0)
    state = "they had little else to do" if others <= _IDLE else \
        "where that is more than a tenth, the CPU time says more than the wall time"
    lines = [
        "# How long lint takes", "", "Written by `python3 conformance dev bench-lint FILE... --record`, never by hand.", "",
        f"On {cores} cores, {platform.machine()}. Other work took up to {100 * others:.0f} % of them: {state}.", "",
        "| file | MB | kernels judged | findings above hint | million instructions | s | CPU s | MB of memory | "
        "from the cache: s | CPU s | MB of memory | then as JSON: s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        *(row.line() for row in rows), "",
    ]
    none = "No goal was missed." if others <= _IDLE else \
        "By CPU time and memory no goal was missed; idle cores have to judge the wall time."
    missed = [f"- {row.name}: {'; '.join(texts)}" for row in rows if (texts := row.missed(cores))]
    return "\n".join([*lines, *(["Goals that were missed:", "", *missed, ""] if missed else [none, ""])])


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python3 conformance dev bench-lint", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--together", metavar="FILE", nargs="+", type=Path, default=[], help="files to lint as one archive")
    parser.add_argument("--cores", type=int, default=2, help="hold lint to so many cores (default: 2, which the goals are for)")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="measure so many files side by side (default: 1)")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    groups = _groups(arguments.cores, arguments.at_once)
    analyser.program()  # compiled ahead of the clock
    library()
    rows: list[Row] = []
    for file in (*arguments.files, *arguments.together):
        if not file.is_file():
            raise BadArguments(f"{file}: there is no such file")
    if not arguments.files and not arguments.together:
        raise BadArguments("name at least one FILE (see --help)")
    with ThreadPoolExecutor(arguments.at_once) as pool:
        for row in pool.map(lambda what: _on_free_cores(what, groups), [*arguments.files, *filter(None, [arguments.together])]):
            rows.append(row)
            print(row.line(), file=sys.stderr, flush=True)
            if arguments.record:
                RECORD.write_text(as_markdown(rows, arguments.cores), encoding="utf-8")
    print(as_markdown(rows, arguments.cores))
    return 0
