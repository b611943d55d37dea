"""`python3 conformance trace [options] -- COMMAND...`: the command line."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.arguments import Parser, amount
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.places import shown
from conformance.trace import images, launches, page, perfetto, report, session
from conformance.trace.cupti import find_cupti
from conformance.trace.inside import run as inside_run
from conformance.trace.inside.findings import Inside
from conformance.trace.inside.plan import LEFT_OUT
from conformance.trace.pairs import Finder, Knowledge, Pair
from conformance.trace.presence import Presence, compare
from conformance.trace.records import Process, read_folder
from conformance.trace.summary import summarise
from conformance.trace.timeline import Timeline, join

_EPILOG = """\
parts:
  trace diff OLD.json NEW.json    what a change did to each pair; exit code 0 same, 1 worse, 3 better
  trace zoo                       programs without overlap, each for one reason, on this GPU: is each reason named?
  trace annotate FILE             an Nsight Systems export (.sqlite) or a PyTorch profiler trace (.json), with reasons

The command is run twice: first with launches noted but not timed, then timed by CUPTI's activity records, which leave kernels
concurrent. Comparing the two shows what the trace itself costs. --once leaves the first run out.

exit codes: 0 done, 64 bad arguments, 69 set-up impossible, or nothing to trace"""

_SERIALISERS = {"compute-sanitizer": "compute-sanitizer", "sanitizer-collection": "compute-sanitizer",
                "nsight-compute": "Nsight Compute", "TreeLauncher": "Nsight Compute", "InjectionAPI": "a profiler"}


def _parser() -> Parser:
    parser = Parser("trace", "Run a program unchanged; say what overlapped, what did not, and why, per pair of kernels.",
                    epilog=_EPILOG, usage="python3 conformance trace [options] -- COMMAND...")
    out = parser.add_argument_group("output")
    out.add_argument("--json", action="store_true", help="nothing but JSON on stdout (the program's output is dropped)")
    out.add_argument("--html", metavar="FILE", help="one page with a timeline to zoom")
    out.add_argument("--perfetto", metavar="FILE", help="Chrome JSON, for Perfetto and trace analysers")
    out.add_argument("--launches", metavar="FILE", help="which kernel was launched how, for `lint --launches`")
    what = parser.add_argument_group("what")
    what.add_argument("--step", metavar="REGEX", help="NVTX ranges that are one step (default: launches of the main graph)")
    what.add_argument("--steps", metavar="A:B", help="only steps A to B, counted from 0, B not included")
    what.add_argument("--rank", metavar="N", help="only the process with this rank (RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID)")
    how = parser.add_argument_group("how")
    how.add_argument("--inside", action="store_true",
                     help="run it once more with kernels that record when each block starts, waits, triggers and ends "
                          "(machine code is rewritten; ran on H200s only)")
    how.add_argument("--inside-without", metavar="KIND", action="append", default=[], choices=list(LEFT_OUT),
                     help="leave out what is recorded at waits, triggers or exits, to find the kind that a program does not stand")
    how.add_argument("--once", action="store_true", help="one run only; the trace's own cost is then not measured")
    how.add_argument("--sample", type=int, default=1, metavar="N",
                     help="time one of N graph launches, and one of N stretches between synchronisations (default: all)")
    how.add_argument("--no-times", action="store_true", help="without CUPTI: how launches ask for overlap, but no times")
    how.add_argument("--timeout", type=amount, metavar="S", help="end the program after this long")
    how.add_argument("--keep", metavar="DIR", help="keep the records and images here")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _checked(given: argparse.Namespace) -> argparse.Namespace:
    if given.command[:1] == ["--"]:
        given.command = given.command[1:]
    if not given.command:
        raise BadArguments("there is no command to run; write it after --")
    if shutil.which(given.command[0]) is None:
        raise BadArguments(f"{given.command[0]} is not a program that can be run")
    if given.inside and given.no_times:
        raise BadArguments("--inside needs the times that --no-times leaves out: they say which kernels follow each other")
    if given.sample < 1:
        raise BadArguments("--sample takes 1 or more")
    try:
        re.compile(given.step or "")
    except re.error as error:
        raise BadArguments(f"--step: `{given.step}` is not a regular expression ({error})") from error
    if given.steps is not None and not re.fullmatch(r"\d*:\d*", given.steps):
        raise BadArguments(f"--steps takes two numbers with a colon between them, such as 10:20, not `{given.steps}`")
    for name in ("html", "perfetto", "launches"):
        value = getattr(given, name)
        if value and not Path(value).resolve().parent.is_dir():
            raise BadArguments(f"--{name}: the folder of {value} is not there")
    return given


def _serialiser() -> str:
    """A tool that this command itself runs under."""
    watched = " ".join(os.environ.get(name, "") for name in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NV_TPS_LAUNCH_TOKEN"))
    return next((tool for part, tool in _SERIALISERS.items() if part in watched), "")


def timelines_of(folder: Path) -> list[Timeline]:
    """Every process of a session."""
    return [join(process) for process in read_folder(folder)]


def pairs_of(timelines: Sequence[Timeline], folder: Path, serialiser: str = "") -> tuple[list[Pair], dict[str, str]]:
    """All pairs, and of each kernel the digest of its image."""
    names = {run.name for timeline in timelines for run in timeline.runs}
    digests = [digest for timeline in timelines for digest in timeline.process.images]
    codes, where = images.codes(folder, digests, names)
    knowledge = Knowledge(codes, serialiser)
    return [pair for timeline in timelines for pair in Finder(timeline, knowledge).pairs()], where


def _runs(given: argparse.Namespace, folder: Path) -> tuple[list[Process], session.Ran]:
    """The plain run's processes (none with --once), and the traced run."""
    cupti = None if given.no_times else find_cupti(given.command)
    plain: list[Process] = []
    if not given.once and cupti is not None:
        print("trace: first run, launches noted but not timed", file=sys.stderr, flush=True)
        variables = session.environment(folder / "plain", None, given.rank)
        ran = session.run(given.command, folder / "plain", variables, True, given.timeout)
        plain = list(read_folder(ran.folder))
    print("trace: traced run", file=sys.stderr, flush=True)
    variables = session.environment(folder / "traced", cupti, given.rank, given.sample)
    return plain, session.run(given.command, folder / "traced", variables, given.json, given.timeout)


def _nothing(ran: session.Ran, given: argparse.Namespace) -> SetupImpossible:
    ended = "did not end in time" if ran.code is None else f"ended with code {ran.code}"
    files = list(ran.folder.glob("process-*.jsonl"))
    refused = next((p.times_code for p in read_folder(ran.folder) if p.times == "refused"), None)
    if refused is not None:
        why = f"CUPTI refused with code {refused} (35: no permission; 39: another tool holds it; others: CUpti_Result)"
    elif not files:
        why = "it made no call of libcuda: it uses no CUDA, or its processes do not inherit LD_PRELOAD (a static or privileged program)"
    else:
        why = "it launched no kernel that CUPTI timed" if not given.no_times else "it launched no kernel"
    return SetupImpossible(f"nothing was traced: the program {ended}; {why}")


def _write(given: argparse.Namespace, timelines: list[Timeline], pairs: list[Pair], where: dict[str, str], presence: Presence | None,
           ran: session.Ran, found: Inside | None) -> None:
    first, _, last = (given.steps or ":").partition(":")
    chosen = slice(int(first) if first else None, int(last) if last else None)
    summary = summarise(timelines, pairs, given.step, chosen)
    if ran.code != 0:
        summary.notes.append("the program was ended after its time" if ran.code is None else f"the program ended with code {ran.code}")
    if given.html:
        page.write(Path(given.html), page.data(summary, timelines, pairs, presence, given.command, found))
    if given.perfetto:
        perfetto.write(Path(given.perfetto), timelines, pairs)
    if given.launches:
        launches.write(Path(given.launches), timelines, pairs, where)
    if given.json:
        more = {"command_exit": ran.code, "wall_s": round(ran.wall_s, 3)} | ({"inside": found.as_json()} if found else {})
        print(json.dumps(report.as_json(summary, presence, given.command, more), indent=1))
    else:
        print("\n".join([report.table(summary, presence), *(report.inside_table(found) if found else [])]))
        written = [value for value in (given.html, given.perfetto, given.launches) if value]
        if written:
            print("\nwritten      " + ", ".join(shown(Path(value)) for value in written))


def main(argv: list[str]) -> int:
    """A whole session."""
    given = _checked(_parser().parse_args(argv))
    kept = Path(given.keep).resolve() if given.keep else None
    if kept:
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(kept.iterdir()):
            raise BadArguments(f"--keep: {given.keep} is not empty; name a new folder")
    folder = kept or session.new_folder()
    try:
        plain, ran = _runs(given, folder)
        timelines = timelines_of(ran.folder)
        if not any(timeline.runs or (given.no_times and timeline.items) for timeline in timelines):
            raise _nothing(ran, given)
        pairs, where = pairs_of(timelines, ran.folder, _serialiser())
        presence = compare(plain, [timeline.process for timeline in timelines]) if plain else None
        found = None
        if given.inside:
            print("trace: run with recording kernels", file=sys.stderr, flush=True)
            found = inside_run.inside(given.command, folder / "inside", given.rank, timelines, pairs, given.timeout, given.inside_without)
        _write(given, timelines, pairs, where, presence, ran, found)
        return 0
    finally:
        if not kept:
            session.remove(folder)
