"""Runs the model over many seeds: nothing forbidden where it conforms, everything allowed reached, every broken device caught.

    python3 conformance dev sweep [--seeds 1000] [--device-seeds 50] [--through-run] [--record FILE]

First every case that the model can run, one process per family and seed: a FAIL, HANG, KIT_ERROR or unproven case is a
problem, and so is an outcome that rules.toml calls allowed or interesting and that no seed reached (or one that was reached
where `serial` says that nothing overlaps). Then every broken device, as often: some case of the rule it breaks must fail
with every seed. --through-run asks `python3 conformance run --only RULE` for its exit code instead of running the harness.
Exit 0: nothing of all this; 1: the problems are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.model import on_model
from conformance.model.on_model import BROKEN, CONFORMING, Device
from conformance.pdlkit import places
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, VIOLATES, BadArguments, KitExit
from conformance.pdlkit.rules import Case, RuleBook
from conformance.pdlkit.verdicts import ALLOWED, CaseResult, judge_run

PROFILE = "smoke"
SHOWN = 40
RARE_SEEDS = 100  # fewer need not show what a natural window shows now and then


@dataclass
class Seen:
    """What the conforming device did over all seeds."""

    statuses: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    mutants: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, seed: int, result: CaseResult) -> None:
        """One case of one seed."""
        self.statuses[result.status] += 1
        self.outcomes[result.case.name].update(result.record.get("outcomes", {}))
        self.mutants.update(v["status"] for v in result.variants if v["kind"] in ("mutant", "control"))
        if result.status != "PASS" and (result.case.proving or result.status != "INCONCLUSIVE"):
            self.problems.append(f"seed {seed:x}: {result.case.name}: {result.status}, {result.reason}")


def reach_problems(case: Case, outcomes: Counter[str]) -> list[str]:
    """What this case should have shown over all seeds and did not, or should not have and did."""
    found = []
    for outcome in (*case.allowed, *case.interesting):
        count = sum(outcomes[name] for name in ALLOWED.get(outcome, (outcome,)))
        if case.serial and count:
            found.append(f"{case.name}: {outcome} was reached, though rules.toml says: {case.serial}")
        elif not case.serial and not count:
            found.append(f"{case.name}: {outcome} was never reached")
    return found


def _in_parallel(jobs: Iterable[Any], work: Callable[[Any], Any], say: Callable[[str], None], what: str) -> list[Any]:
    todo, done, told = list(jobs), [], time.monotonic()
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        for result in pool.map(work, todo):
            done.append(result)
            if time.monotonic() - told > 20:
                told = time.monotonic()
                say(f"{what}: {len(done):,} of {len(todo):,}")
    return done


def sweep_conforming(harness: Path, book: RuleBook, seeds: range, say: Callable[[str], None]) -> Seen:
    """Every case that the model can run, on the device that conforms."""
    families = list(on_model.by_family(on_model.capable(book)).values())
    jobs = [(seed, cases) for seed in seeds for cases in families]

    def work(job: tuple[int, list[Case]]) -> tuple[int, list[CaseResult]]:
        return job[0], on_model.run_family(harness, book, CONFORMING, PROFILE, job[0], job[1])

    seen = Seen()
    for seed, results in _in_parallel(jobs, work, say, "processes"):
        for result in results:
            seen.add(seed, result)
    for case in on_model.capable(book):
        if case.window != "natural" or len(seeds) >= RARE_SEEDS:
            seen.problems += reach_problems(case, seen.outcomes[case.name])
    return seen


def escapes(harness: Path, book: RuleBook, device: Device, seed: int) -> str | None:
    """Why this device would not be called VIOLATES in its rule, or lost, if so."""
    cases = [case for case in on_model.capable(book) if case.rule == device.rule]
    if not cases:
        return f"{device.option}: its rule {device.rule} has no case that the model can run"
    results = [result for family in on_model.by_family(cases).values()
               for result in on_model.run_family(harness, book, device, PROFILE, seed, family)]
    verdict = judge_run(results)
    if verdict.exit != OK and any(result.status in BROKEN for result in results):
        return None
    return f"{device.option}, seed {seed:x}: {device.rule} is {verdict.verdict}: {'; '.join(verdict.reasons) or 'no reason'}"


def escapes_run(harness: Path, device: Device, seed: int) -> str | None:
    """The same, asked of `run`."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, str(places.KIT), "run", "--device", device.option, "--profile", PROFILE, "--seed", f"{seed:x}",
                "--only", device.rule, "--harness", str(harness), "--output", folder]
        code = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL).returncode
    return None if code == VIOLATES else f"{device.option}, seed {seed:x}: `run --only {device.rule}` exits with {code}"


def sweep_devices(
    harness: Path, book: RuleBook, broken: list[Device], seeds: range, through_run: bool, say: Callable[[str], None]
) -> list[str]:
    """Every broken device with every seed; the problems."""
    def work(job: tuple[Device, int]) -> str | None:
        device, seed = job
        return escapes_run(harness, device, seed) if through_run else escapes(harness, book, device, seed)

    jobs = [(device, seed) for device in broken for seed in seeds]
    return list(dict.fromkeys(text for text in _in_parallel(jobs, work, say, "runs of broken devices") if text))


def conforming_part(book: RuleBook, seen: Seen, seeds: int) -> dict[str, Any]:
    """What --record keeps of the conforming device."""
    marked = [(case.name, outcome) for case in on_model.capable(book) if not case.serial
              for outcome in (*case.allowed, *case.interesting)]
    return {
        "command": f"python3 conformance dev sweep --seeds {seeds} --device-seeds 0", "rules_hash": book.digest,
        "seeds": seeds, "cases": len(on_model.capable(book)), "verdicts": dict(sorted(seen.statuses.items())),
        "mutants_and_controls": dict(sorted(seen.mutants.items())), "outcomes_marked_and_reached": len(marked),
    }


def broken_part(book: RuleBook, broken: list[Device], seeds: int, through_run: bool) -> dict[str, Any]:
    """What --record keeps of the broken devices."""
    return {
        "command": f"python3 conformance dev sweep --seeds 0 --device-seeds {seeds}" + (" --through-run" if through_run else ""),
        "rules_hash": book.digest, "seeds": seeds, "judged_by": "the exit code of run" if through_run else "the harness's records",
        "caught_in": {device.name: device.rule for device in broken},
    }


def keep(path: Path, parts: dict[str, Any]) -> None:
    """Write these parts and leave the others of the file alone; no time, no path: the same tree gives the same file."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps({**kept, "profile": PROFILE, **parts}, indent=1) + "\n", encoding="utf-8")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="the model over many seeds", allow_abbrev=False)
    made.add_argument("--seeds", type=int, default=1000, metavar="N", help="of the conforming device (1000); 0: none")
    made.add_argument("--device-seeds", type=int, default=50, metavar="N", help="of each broken device (50); 0: none")
    made.add_argument("--device", action="append", metavar="NAME", help="only this broken device; may be repeated")
    made.add_argument("--first", type=lambda text: int(text, 16), default=1, metavar="HEX", help="first seed (1)")
    made.add_argument("--through-run", action="store_true", help="judge broken devices by the exit code of `run`")
    made.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    made.add_argument("--record", type=Path, metavar="FILE", help="keep a summary here if there is no problem")
    return made


def _broken(harness: Path, names: list[str] | None) -> list[Device]:
    known = [device for device in on_model.devices(harness) if not device.conforming]
    for name in names or ():
        if not any(device.name == name for device in known):
            raise BadArguments(f"--device {name}: no such broken device; `list --broken-devices` names them")
    return [device for device in known if not names or device.name in names]


def sweep(options: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Both parts; 0 or 1."""
    if options.record and options.device:
        raise BadArguments("--record keeps what all broken devices did; leave --device out")
    book, harness = on_model.load_book(), on_model.harness_at(options.harness)
    broken, problems, parts = _broken(harness, options.device), [], {}
    if options.seeds:
        seen = sweep_conforming(harness, book, range(options.first, options.first + options.seeds), say)
        problems += seen.problems
        parts["conforming"] = conforming_part(book, seen, options.seeds)
        verdicts = ", ".join(f"{count:,} {status}" for status, count in sorted(seen.statuses.items()))
        say(f"{options.seeds:,} seeds of the model, {len(on_model.capable(book))} cases: {verdicts}")
    if options.device_seeds:
        escaped = sweep_devices(harness, book, broken, range(options.first, options.first + options.device_seeds),
                                options.through_run, say)
        problems += escaped
        parts["broken_devices"] = broken_part(book, broken, options.device_seeds, options.through_run)
        say(f"{len(broken)} broken devices, {options.device_seeds} seeds each: {len(escaped)} escaped")
    for problem in problems[:SHOWN]:
        say(problem)
    if len(problems) > SHOWN:
        say(f"and {len(problems) - SHOWN:,} more")
    if options.record and not problems:
        keep(options.record, parts)
    return FAILED if problems else OK


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        return sweep(options, lambda text: print(text, flush=True))
    except KitExit as stop:
        print(f"sweep: {stop}", file=sys.stderr)
        return stop.code
