"""Smoke runs on a GPU that others use: beside programs that load it, at the lowest priority, and under an MPS server.

    python3 conformance dev crowded [--device cuda] [--harness FILE] [--runs N] [--at-once K] [--leave-out RULE] [--stop-after S]
                                         [--output FILE]

N runs in each surrounding, K of them side by side. A run counts as good if cases passed and none is FAIL, HANG, CRASH, KIT_ERROR or
DEVICE_LOST, but for rules that have the same status in the report that --expect names (`run`'s report.json). An MPS server ends all its
clients when a kernel of one of them faults: with MPS and --at-once, --leave-out the rules by which the driver loses its device.
Exit code: 0 if all runs are good, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from conformance.pdlkit import rules
from conformance.pdlkit.children import Kept, run_tool
from conformance.pdlkit.cuda_programs import compile_for_this_gpu
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.mps import mps_server
from conformance.pdlkit.places import ROOT, RULES
from conformance.pdlkit.read_report import Unreadable, read_report

BAD = ("FAIL", "HANG", "CRASH", "KIT_ERROR", "DEVICE_LOST")
SURROUNDINGS = ("alone", "nice 19", "compute", "memory", "graphs", "MPS")
LOADS = ("compute", "memory", "graphs")
RUN_LIMIT_S = 900.0


def failed_rules(report: dict[str, Any]) -> Counter[tuple[str, str]]:
    """(rule, status) of every case that is bad, and how many cases."""
    return Counter((test["rule"], test["status"]) for test in report["tests"] if test["status"] in BAD)


def proves_something(report: dict[str, Any]) -> bool:
    """Whether cases ran on the device, and the run counts."""
    return report["verdict"] != "INVALID" and any(test["status"] == "PASS" for test in report["tests"])


@contextmanager
def _loaded(program: Path, how: str) -> Iterator[dict[str, str]]:
    """A process that loads the GPU from now to the end."""
    kept = Kept([str(program), how], stdin=subprocess.DEVNULL)
    try:
        assert kept.process.stdout
        if kept.process.stdout.readline().strip() != b"loading":
            raise SetupImpossible(f"the load `{how}` did not start")
        yield {}
        if kept.process.poll() is not None:
            raise SetupImpossible(f"the load `{how}` ended by itself")
    finally:
        kept.stop()


def _run(argv: list[str], more: dict[str, str], output: Path) -> tuple[dict[str, Any], int]:
    """The report of one run, and its exit code."""
    done = run_tool([*argv, "--output", str(output)], timeout=RUN_LIMIT_S, environment={**os.environ, **more}, cwd=ROOT)
    return read_report(output / "report.json"), done.returncode


def _surrounding(stack: ExitStack, name: str, program: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    """What stands before the command, and more variables."""
    if name == "nice 19":
        return ["nice", "-n", "19"], {}
    if name in LOADS:
        return [], stack.enter_context(_loaded(program, name))
    if name == "MPS":
        return [], stack.enter_context(mps_server(folder))
    return [], {}


def _judged(argv: list[str], more: dict[str, str], output: Path, known: set[tuple[str, str]]) -> dict[str, Any]:
    """One run, and whether it is good."""
    began = time.monotonic()
    report, code = _run(argv, more, output)
    failed = failed_rules(report)
    return {"verdict": report["verdict"], "code": code, "seconds": round(time.monotonic() - began, 1),
            "statuses": dict(Counter(test["status"] for test in report["tests"])),
            "bad": [{"rule": rule, "status": status, "cases": count} for (rule, status), count in sorted(failed.items())],
            "good": proves_something(report) and failed.keys() <= known}


def measure(name: str, argv: list[str], runs: int, at_once: int, program: Path, known: set[tuple[str, str]]) -> dict[str, Any]:
    """Some runs in one surrounding."""
    found: list[dict[str, Any]] = []
    row: dict[str, Any] = {"surrounding": name, "at_once": at_once, "runs": found}
    try:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pdl-crowded-")))
            before, more = _surrounding(stack, name, program, folder)
            with ThreadPoolExecutor(at_once) as pool:
                found += pool.map(lambda number: _judged([*before, *argv], more, folder / f"run-{number}", known), range(runs))
    except (OSError, subprocess.SubprocessError, SetupImpossible, Unreadable) as error:
        row["why"] = str(error) or type(error).__name__
    return row


def _others(left_out: list[str]) -> list[str]:
    """Arguments of `run` that ask every rule but these."""
    asked = sorted({case.rule for case in rules.load(RULES).cases}) if left_out else []
    for name in left_out:
        if name not in asked:
            raise BadArguments(f"--leave-out {name}: no rule with a case has that name (see `list --cases`)")
    return [word for name in asked if name not in left_out for word in ("--only", name)]


def line(row: dict[str, Any]) -> str:
    """A line of the table."""
    runs = row["runs"]
    verdicts = ", ".join(f"{count} {name}" for name, count in Counter(run["verdict"] for run in runs).items())
    bad = Counter(f"{entry['rule']} {entry['status']}" for run in runs for entry in run["bad"])
    seconds = f"{min(run['seconds'] for run in runs):.0f} to {max(run['seconds'] for run in runs):.0f} s" if runs else ""
    return (f"{row['surrounding']:<8} {sum(run['good'] for run in runs)} of {len(runs)} good; {verdicts}; {seconds}; "
            f"{', '.join(sorted(bad)) or 'nothing failed'}" + (f"; not done: {row['why']}" if "why" in row else ""))


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="smoke runs beside other users of the GPU")
    parser.add_argument("--device", default="cuda", metavar="D", help="as `run` takes it (default %(default)s)")
    parser.add_argument("--harness", type=Path, metavar="FILE", help="a harness that is built already")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="in each surrounding (default %(default)s)")
    parser.add_argument("--at-once", type=int, default=1, metavar="K", help="so many runs side by side (default %(default)s)")
    parser.add_argument("--only", choices=SURROUNDINGS, action="append", help="only this surrounding (repeatable)")
    parser.add_argument("--expect", type=Path, metavar="REPORT", help="rules may end as badly as in this report")
    parser.add_argument("--leave-out", action="append", default=[], metavar="RULE", help="do not ask this rule (repeatable)")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="S", help="begin no surrounding after so many seconds")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write everything as JSON, after each surrounding")
    given = parser.parse_args(argv)
    if given.runs < 1 or given.at_once < 1:
        raise BadArguments("--runs and --at-once take 1 or more")
    known = set(failed_rules(read_report(given.expect))) if given.expect else set()
    command = [sys.executable, "conformance", "run", "--profile", "smoke", "--device", given.device]
    command += ["--harness", str(given.harness.resolve())] if given.harness else []
    command += _others(given.leave_out)
    rows, began = [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pdl-crowded-") as folder:
        program = Path(folder) / "crowded"
        compile_for_this_gpu(Path(__file__).with_suffix(".cu"), program, "-O2")
        for name in given.only or SURROUNDINGS:
            over = time.monotonic() - began > given.stop_after
            rows.append({"surrounding": name, "runs": [], "why": "the time given by --stop-after was over"} if over
                        else measure(name, command, given.runs, given.at_once, program, known))
            print(line(rows[-1]), flush=True)
            if given.output:
                given.output.write_text(json.dumps({"schema": "pdl-crowded/1", "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return OK if all(run["good"] for row in rows for run in row["runs"]) and all("why" not in row for row in rows) else FAILED
