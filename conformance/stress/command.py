"""`python3 conformance stress [options] -- COMMAND...`: the command line of the detector."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shlex
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from conformance.pdlkit.arguments import Parser, amount
from conformance.pdlkit.exits import BadArguments
from conformance.stress import options as stress_options
from conformance.stress.detector import MEANING, RACE_FOUND, Detector, Effort, Result, sentence
from conformance.stress.injection import library as injection
from conformance.stress.oracle import DTYPES, Oracle
from conformance.stress.plan import more_holds
from conformance.stress.program import Program
from conformance.stress.search import Race

_EPILOG = """\
parts:
  stress rewrite IN OUT           rewrite a PTX file, a cubin or a fat binary
  stress zoo                      the detector's own proof: planted bugs and their corrected twins, on this GPU
  stress same -- COMMAND          whether a program computes the same once it is rewritten, with a hold of 0
  stress roundtrip FILE.ptx...    whether PTX still assembles for every architecture once it is rewritten

The program's machine code is rewritten as the driver loads it; no source and no new build is needed.

Three kinds of finding: "race now" (its own triggers allow it), "latent" (wrong as soon as the primary triggers; it does not
today) and "relies on the trigger's place" (right as long as the primary triggers where it does; counts with --strict only).

exit codes: 0 nothing found, 1 a race found, 2 inconclusive, 64 bad arguments, 69 set-up impossible"""


def _parser() -> Parser:
    parser = Parser("stress", "Run a program with the window of every PDL pair widened; name the kernels that race.",
                    epilog=_EPILOG, usage="python3 conformance stress [options] -- COMMAND...")
    judge = parser.add_argument_group("what is right (against the plain run; the exit code always counts; if nothing is named, "
                                      "what the program copies to the host judges)")
    judge.add_argument("--check", metavar="COMMAND", help="run after each run; exit code 0 means right")
    judge.add_argument("--expr", metavar="PYTHON", help="true means right; knows stdout, stderr, code, files, plain, math")
    judge.add_argument("--compare-files", metavar="FILE", action="append", default=[], help="an output file, bit for bit")
    judge.add_argument("--compare-outputs", action="store_true", help="the program's own standard output")
    judge.add_argument("--tolerance", type=float, metavar="REL", help="numbers may differ by this much, relative to max(1, |x|)")
    judge.add_argument("--dtype", choices=sorted(DTYPES), help="files are binary arrays (default: text with numbers)")
    how = parser.add_argument_group("how")
    how.add_argument("--seed", metavar="HEX", help="64 bits; the same seed gives the same delays (default: new)")
    how.add_argument("--seeds", type=int, default=2, metavar="N", help="seeds to try (default %(default)s)")
    how.add_argument("--plain-runs", type=int, default=3, metavar="N", help="plain runs (default %(default)s)")
    how.add_argument("--repeats", type=int, default=1, metavar="N", help="runs per plan (default %(default)s)")
    how.add_argument("--confirm", type=int, default=2, metavar="N", help="runs per question of the bisection (default %(default)s)")
    how.add_argument("--hold", type=int, metavar="NS", help="hold (default: 20000 in graphs, by the launch gap eagerly)")
    how.add_argument("--only", metavar="REGEX", help="hold these kernels and no other")
    how.add_argument("--exempt", metavar="REGEX", help="leave these kernels as they are")
    how.add_argument("--protect", metavar="REGEX", help="give these kernels a wait at entry")
    how.add_argument("--after-wait", action="store_true", help="hold after each wait, too")
    how.add_argument("--before-exit", action="store_true", help="hold before each exit, too")
    how.add_argument("--strict", action="store_true",
                     help="count what relies on the place of a trigger as a race, too")
    loading = how.add_mutually_exclusive_group()
    loading.add_argument("--lazy-loading", action="store_true",
                         help="leave CUDA_MODULE_LOADING alone: first launches never overlap (default for Python with Triton)")
    loading.add_argument("--eager-loading", action="store_true", help="load all kernels ahead (default for all others)")
    how.add_argument("--timeout", type=amount, default=600.0, metavar="S", help="per run (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    parser.add_argument("--keep", metavar="DIR", help="keep plans, records and caches here")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _words(command: str) -> list[str]:
    """As a shell would split it; none if a quotation mark is not closed."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _checked(given: argparse.Namespace) -> argparse.Namespace:
    if given.command[:1] == ["--"]:
        given.command = given.command[1:]
    if not given.command:
        raise BadArguments("there is no command to run; write it after --")
    if shutil.which(given.command[0]) is None:
        raise BadArguments(f"{given.command[0]} is not a program that can be run")
    for name in ("seeds", "plain_runs", "repeats", "confirm"):
        if getattr(given, name) < 1:
            raise BadArguments(f"--{name.replace('_', '-')} takes 1 or more")
    if given.check is not None and not _words(given.check):
        raise BadArguments(f"--check takes a command line; `{given.check}` is not one")
    if given.dtype and given.tolerance is None:
        raise BadArguments("--dtype says how to read numbers; it needs --tolerance")
    if given.tolerance is not None and not 0 <= given.tolerance < 1:
        raise BadArguments("--tolerance takes a number from 0 to below 1; with a large one any two numbers would count as equal")
    for name in given.compare_files:
        if Path(name).exists() and not Path(name).is_file():
            raise BadArguments(f"--compare-files takes regular files; {name} is not one")
    return given


def _options(given: argparse.Namespace) -> stress_options.Options:
    return stress_options.checked(stress_options.Options(
        only=given.only, exempt=given.exempt, protect=given.protect, hold_ns=given.hold or 0,
        after_wait=given.after_wait, before_exit=given.before_exit))


def _loads_ahead(given: argparse.Namespace) -> bool:
    """PyTorch has thousands of kernels, and Triton's are loaded before their first launch however others are."""
    return given.eager_loading or not (given.lazy_loading or injection.has_triton(given.command))


def _program(given: argparse.Namespace, folder: Path) -> Program:
    silent = not (given.check or given.expr or given.compare_files or given.compare_outputs)
    oracle = Oracle(given.check, given.expr, tuple(given.compare_files), given.compare_outputs, given.tolerance, silent, given.dtype)
    rewritten = injection.environment(_loads_ahead(given))
    return Program(given.command, folder, oracle, given.timeout, injection.plain_environment(), rewritten)


def _effort(given: argparse.Namespace) -> Effort:
    seed = stress_options.seed_of(given.seed) if given.seed else secrets.randbits(64)
    return Effort(seed, given.seeds, given.plain_runs, given.repeats, given.confirm, given.hold, given.only, given.exempt,
                  given.protect, more_holds(given.after_wait, given.before_exit), given.strict)


def _replay(given: argparse.Namespace, result: Result, race: Race | None) -> str:
    words = ["python3", "conformance", "stress", "--seed", f"{result.seed:016x}", "--seeds", "1"]
    if race:
        words += ["--only", f"^({'|'.join(re.escape(name) for name in race.primary.split(' with '))})$"]
    for name in ("check", "expr", "hold", "tolerance", "dtype", "exempt", "protect"):
        value = getattr(given, name)
        words += [f"--{name}", str(value)] if value is not None else []
    for file in given.compare_files:
        words += ["--compare-files", file]
    flags = ("compare_outputs", "after_wait", "before_exit", "strict", "lazy_loading", "eager_loading")
    words += [f"--{name.replace('_', '-')}" for name in flags if getattr(given, name)]
    return shlex.join([*words, "--", *given.command])


def _print(result: Result, replays: list[str]) -> None:
    for name, why in sorted(result.not_rewritten.items()):
        print(f"not stressed: {name}: {why}")
    for name in result.left_alone:
        print(f"left alone: {name}: it waits for kernels that run beside it")
    for line in result.hangs:
        print(f"hang: {line}")
    for line in result.passed_on:
        print(f"passed on as it is: {line}")
    for note in result.notes:
        print(f"note: {note}")
    if result.stressed_s and result.plain_s:
        print(f"time: plain {result.plain_s:.2f} s, stressed at most {result.stressed_s:.2f} s "
              f"({result.stressed_s / result.plain_s:.2f}x), {result.runs} runs")
    if result.natural:
        print("the plain runs go wrong by themselves: they differ from runs in which every kernel waits first")
    for race, replay in zip(result.races, replays, strict=False):
        label = result.labels.get(sentence(race), "")
        print(f"\n{sentence(race)}" + (f"\n  {label}: {MEANING[label]}" if label else ""))
        if result.waiting and all(name not in result.waiting for name in race.dependents):
            print("  no wait was seen in its code")
        print(f"  replay: {replay}")
    if result.races:
        print("\nTo overwrite ahead of the wait what the other kernel still reads or writes looks the same.")
    if result.perhaps_the_same:
        print("Perhaps the same faults, seen through other kernels: "
              + ", ".join(f"{race.primary} > {' + '.join(race.dependents)}" for race in result.perhaps_the_same))
    for text in result.unexplained if result.races else []:
        print(text)
    if not result.races:
        print(result.sentence)
        if result.code == RACE_FOUND:
            print(f"replay: {replays[0]}")


def main(argv: list[str]) -> int:
    """A whole session."""
    given = _checked(_parser().parse_args(argv))
    _options(given)
    effort = _effort(given)
    kept = Path(given.keep).resolve() if given.keep else None
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    folder = kept or Path(tempfile.mkdtemp(prefix="session-", dir=injection.work_folder()))
    stream = sys.stderr if given.json else sys.stdout
    try:
        notes = ["CUDA_LAUNCH_BLOCKING was set and is not passed on: it hides every missing wait"] \
            if os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0") else []
        if not _loads_ahead(given):
            notes.append("kernels were loaded lazily, so first launches never overlapped; --eager-loading stresses them, too")
        result = Detector(_program(given, folder), effort, lambda line: print(line, file=stream, flush=True)).run()
        result.notes = notes + result.notes
        replays = [_replay(given, result, race) for race in result.races] or [_replay(given, result, None)]
        if given.json:
            print(json.dumps({"command": given.command, "replays": replays, **asdict(result)}, indent=2))
        else:
            _print(result, replays)
        return result.code
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
