"""Feeds damaged and odd input to everything that reads files or takes arguments: each may refuse it as it says, and nothing else.

    python3 conformance dev fuzz [TARGET...] [--seconds N] [--jobs N] [--build DIR | --prebuilt DIR] [--json FILE]

The targets in Python (hypothesis chooses, pdlkit/fuzz.py) are records, checked-lines, report, elf and fatbin: what the kit reads
of harnesses, its own files, cubins and fat binaries. Those in C run under the address and undefined-behaviour sanitizers: rewriter (with
its readers of ELF and of fat binaries), lint-analysis, graph-check (pdl_graph_check against its rule written out) and arguments
(pdl_launch). libFuzzer chooses for those that it can see into if there is clang, else files are changed at random.

--build makes the C programs and stops; --prebuilt runs such programs on a machine without a compiler. Each of the --jobs processes takes
N seconds; they are dealt to the targets in turn. The command ends with 0, or with 1 and the inputs that did harm.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import secrets
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from subprocess import TimeoutExpired

from conformance.fuzzing import programs
from conformance.pdlkit import fuzz
from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.venv import PipFailed, ensure_venv

SCHEMA = "pdl-fuzz/1"
LONGEST_INPUT = 16384  # bytes, of libFuzzer
PATIENCE_S = 600.0     # over its seconds, for one process
KEPT_CRASHES = 16


@dataclass
class Tally:
    """What became of one target."""

    how: str = "not run"
    processes: int = 0
    executions: int = 0
    crashes: int = 0
    error: str = ""  # why it could not run
    found: list[dict[str, str]] = field(default_factory=list)  # the first inputs that did harm, and what was said


@dataclass(frozen=True)
class Outcome:
    """Of one process."""

    executions: int
    said: str = ""      # "": no harm was done
    inputs: tuple[bytes, ...] = ()


def _last_words(said: str, code: int) -> str:
    """Of a process that failed; one that was killed says nothing, and did harm as well."""
    return said[-4000:] or f"it ended with code {code} and said nothing"


def _of_python(name: str, seconds: float) -> Outcome:
    done = run_tool([sys.executable, "-m", "conformance.pdlkit.fuzz", name, "--seconds", str(seconds)], timeout=10 * seconds + PATIENCE_S,
                    cwd=KIT.parent)
    said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    count = sum(int(number.replace(",", "")) for number in re.findall(r": ([0-9,]+) inputs in", said))
    return Outcome(count, "" if done.returncode == 0 else _last_words(said, done.returncode))


def _of_program(program: Path, seconds: float, folder: Path) -> Outcome:
    """One process with a folder of its own. What stands in the folder after a crash is the input."""
    seeds = program.with_suffix(".seeds")
    if program.suffix == ".libfuzzer":
        corpus = folder / "corpus"
        corpus.mkdir()
        how = [f"-max_total_time={max(1, round(seconds))}", f"-max_len={LONGEST_INPUT}", f"-seed={secrets.randbits(31) | 1}",
               "-print_final_stats=1", f"-artifact_prefix={folder}/found-", str(corpus), str(seeds)]
    else:
        files = map(str, sorted(seeds.iterdir()))
        how = [str(max(1, round(seconds))), "0", f"{secrets.randbits(64):x}", str(folder / "found-last"), *files]
    try:
        done = run_tool([str(program), *how], timeout=seconds + PATIENCE_S)
    except TimeoutExpired:
        return Outcome(0, "it did not end", tuple(path.read_bytes() for path in folder.glob("found-*")))
    said = (done.stdout + done.stderr).decode(errors="replace")
    count = sum(map(int, re.findall(r"(?:stat::number_of_executed_units:|\btried) +(\d+)", said)))
    if done.returncode == 0:
        return Outcome(count)
    return Outcome(count, _last_words(said, done.returncode), tuple(path.read_bytes() for path in folder.glob("found-*")))


def _programs(names: list[str], folder: Path, prebuilt: bool, tallies: dict[str, Tally]) -> dict[str, Path]:
    """The C programs, built here unless they were before; why one could not be built stands in its tally."""
    if prebuilt:
        found = programs.built(folder)
        for name in set(names) - found.keys():
            tallies[name].error = f"{folder} has no program for it"
        return found
    found = {}
    for name in names:
        try:
            found[name] = programs.build(name, folder)
        except SetupImpossible as error:
            tallies[name].error = str(error)
    return found


def _python_is_ready(names: list[str], tallies: dict[str, Tally]) -> list[str]:
    """The targets in Python, if hypothesis can be had; else their tallies say why not."""
    try:
        if names:
            ensure_venv("test")
        return names
    except (SetupImpossible, PipFailed) as error:
        for name in names:
            tallies[name].error = str(error)
        return []


def _take(tally: Tally, outcome: Outcome) -> None:
    tally.processes += 1
    tally.executions += outcome.executions
    tally.crashes += bool(outcome.said)
    if outcome.said and len(tally.found) < KEPT_CRASHES:
        tally.found.append({"said": outcome.said, "inputs": " ".join(data.rstrip(b"\0").hex() for data in outcome.inputs)})


def _run(given: argparse.Namespace, names: list[str], folder: Path, tallies: dict[str, Tally]) -> None:
    """All processes; they are dealt to the targets in turn, each target has at least one."""
    in_c = _programs([name for name in names if name in programs.TARGETS], given.prebuilt or folder, bool(given.prebuilt), tallies)
    ready = [*_python_is_ready([name for name in names if name in fuzz.TARGETS], tallies), *(name for name in names if name in in_c)]
    for name in ready:
        tallies[name].how = {".libfuzzer": "libFuzzer", ".mutation": "random changes"}[in_c[name].suffix] if name in in_c else "hypothesis"

    def one(name: str) -> tuple[str, Outcome]:
        if name not in in_c:
            return name, _of_python(name, given.seconds)
        return name, _of_program(in_c[name], given.seconds, Path(tempfile.mkdtemp(dir=folder)))

    with ThreadPoolExecutor(given.jobs) as pool:
        for name, outcome in pool.map(one, islice(cycle(ready), max(given.jobs, len(ready)) if ready else 0)):
            _take(tallies[name], outcome)


def _checked(argv: list[str]) -> argparse.Namespace:
    everything = [*fuzz.TARGETS, *programs.TARGETS]
    parser = argparse.ArgumentParser(description="feed damaged and odd input to everything that reads files or takes arguments")
    parser.add_argument("target", nargs="*", metavar="TARGET", help=f"of {', '.join(everything)} (all)")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="for each process (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at the same time (one per core)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--build", type=Path, metavar="DIR", help="make the programs of the targets in C here, and stop")
    where.add_argument("--prebuilt", type=Path, metavar="DIR", help="run the programs that --build made")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts here")
    given = parser.parse_args(argv)
    for name in given.target:
        if name not in everything:
            raise BadArguments(f"there is no target {name}; say {', '.join(everything)}")
    if given.jobs < 1 or given.seconds <= 0:
        raise BadArguments("--jobs takes 1 or more, --seconds more than 0")
    if given.prebuilt and not given.prebuilt.is_dir():
        raise BadArguments(f"--prebuilt takes a folder that --build made; {given.prebuilt} is not one")
    given.target = given.target or everything
    return given


def main(argv: list[str]) -> int:
    """Fuzz for a time; 0 if nothing did harm, 1 if something did."""
    given = _checked(argv)
    if given.build:
        for name in given.target:
            if name in programs.TARGETS:
                print(programs.build(name, given.build), flush=True)
        return OK
    tallies, began = {name: Tally() for name in given.target}, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pdl-fuzz-") as folder:
        _run(given, given.target, Path(folder), tallies)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for name, tally in tallies.items():
        print(f"{name}: " + (f"not run: {tally.error}" if tally.error else
                             f"{tally.executions:,} inputs in {tally.processes} processes by {tally.how}, {tally.crashes or 'no'} crashes"))
        for found in tally.found:
            print(f"  {found['said']}\n  input: {found['inputs'] or 'not kept'}")
    if given.json:
        given.json.write_text(json.dumps({
            "schema": SCHEMA, "seconds": given.seconds, "jobs": given.jobs, "wall_s": round(time.monotonic() - began, 1),
            "cpu_s": round(used.ru_utime + used.ru_stime, 1), "executions": sum(tally.executions for tally in tallies.values()),
            "crashes": sum(tally.crashes for tally in tallies.values()),
            "targets": {name: tally.__dict__ for name, tally in tallies.items()}}, indent=1) + "\n", encoding="utf-8")
    if not any(tally.processes for tally in tallies.values()):
        raise SetupImpossible("no target could run: " + "; ".join(f"{name}: {tally.error}" for name, tally in tallies.items()))
    return FAILED if any(tally.crashes for tally in tallies.values()) else OK
