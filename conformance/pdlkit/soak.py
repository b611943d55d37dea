"""`run --profile soak --for TIME`: rounds with shapes drawn anew, until the time is up, or nearly so, and both bounds over all of them.

Every round is a run of its own in DIR/rounds/NNNN, with a seed made from the soak's. A whole round judges everything, in profile
quick. The deep rounds after it ask visibility rules only, in profile full: there the GPU spends its time on the trials that both
bounds speak of, and not on mutants and starts of processes. Three of four ask graphs, and one asks streams, where a trial takes two
to three times as long. With --only, every round asks just that. An interrupted soak goes on where it stopped when it is started again
with the same DIR; a round that was cut is resumed as any run is, so that no fault is hidden by a second try. The rounds' own reports
stay; DIR/report.json is the worst round's, with what all rounds showed together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import machine, places, sources
from conformance.pdlkit.children import Kept
from conformance.pdlkit.display import verdict_line, waived_rules
from conformance.pdlkit.exits import INTERRUPTED, BadArguments, InvalidRun
from conformance.pdlkit.read_report import read_report, report_of
from conformance.pdlkit.report import UNCHECKED, identified, write_report
from conformance.pdlkit.rules import RuleBook
from conformance.pdlkit.verdicts import RUN_VERDICTS, bound95, shape_bound95

DEEP_TURNS = 6  # of four deep rounds each, before everything is judged again
STATE = "soak.json"
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WORST_FIRST = ("INVALID", "VIOLATES", "UNPROVEN", "NOT_APPLICABLE", "CONFORMS")


def parse_time(text: str) -> float:
    """Seconds of 90s, 8m, 10h or 2d."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd])", text)
    if match is None or float(match[1]) <= 0:
        raise BadArguments(f"--for {text}: write a time such as 90s, 8m, 10h or 2d")
    return float(match[1]) * _UNITS[match[2]]


def round_seed(seed: int, number: int) -> int:
    """The seed of a round: the same soak draws the same rounds."""
    return int.from_bytes(hashlib.sha256(f"{seed:016x} {number}".encode()).digest()[:8], "big")


def deep_rounds(book: RuleBook) -> list[list[str]]:
    """The cases of one turn's deep rounds, by name: those of kind visibility that prove something."""
    asked = [case for case in book.cases if case.proving and case.kind == "visibility"]
    streams = [case.name for case in asked if case.path == "stream"]
    graphs = [case.name for case in asked if case.path != "stream"]
    return [graphs, streams, graphs, graphs]


def round_asks(number: int, deep: list[list[str]], only: list[str]) -> tuple[str, list[str]]:
    """What the round with this number, counted from 1, runs: its profile, and its cases or patterns of cases; none: all."""
    place = (number - 1) % (1 + DEEP_TURNS * len(deep))
    if only or place == 0:
        return "quick", only
    return "full", deep[(place - 1) % len(deep)]


@dataclass
class Total:
    """All finished rounds together."""

    rounds: int = 0
    wall_s: float = 0.0
    shortest_s: float = float("inf")  # of the rounds
    exercised: int = 0
    shapes: int = 0
    verdict: str = "CONFORMS"
    worst: int = 0  # number of the worst round
    dirty: bool = False  # some visibility rule did not pass in some round: no bound holds
    waived: dict[str, None] = field(default_factory=dict)  # rules that failed in some round and did not decide it

    def add(self, number: int, report: dict[str, Any]) -> None:
        """One round's report."""
        pooled = report["pooled"]
        self.rounds += 1
        self.wall_s += report["run"]["wall_s"]
        self.shortest_s = min(self.shortest_s, report["run"]["wall_s"])
        self.exercised += pooled["exercised"]
        self.shapes += pooled["shapes"]
        self.dirty |= pooled["bound95"] is None
        rules = dict.fromkeys(waived_rules(report))
        place = _WORST_FIRST.index(report["verdict"]) - _WORST_FIRST.index(self.verdict)
        if self.worst == 0 or place < 0 or (place == 0 and rules and not self.waived):  # of equal ones, one that had a waiver's help
            self.verdict, self.worst = report["verdict"], number
        self.waived |= rules

    def has_time(self, seconds: float) -> bool:
        """Whether at least half of another round, as short as the shortest one, still fits."""
        return self.rounds == 0 or self.wall_s + self.shortest_s / 2 < seconds

    def entry(self, seconds: float) -> dict[str, Any]:
        """The `soak` part of report.json."""
        return {
            "asked_s": seconds, "rounds": self.rounds, "wall_s": round(self.wall_s, 1), "exercised": self.exercised,
            "shapes": self.shapes, "bound95": None if self.dirty else bound95(self.exercised),
            "shape_bound95": None if self.dirty else shape_bound95(self.shapes), "worst_round": self.worst,
            "waived": list(self.waived),
        }

    def line(self, seconds: float) -> str:
        """Progress and bounds so far."""
        entry = self.entry(seconds)
        bounds = "" if entry["bound95"] is None else f", p95 <= {entry['bound95']:.1e}"
        bounds += "" if entry["shape_bound95"] is None else f"; {self.shapes:,} shapes, p95 <= {entry['shape_bound95']:.1e}"
        return (f"soak {min(100.0, 100 * self.wall_s / seconds):.0f}%: {self.rounds} rounds, {self.exercised:,} visibility trials "
                f"exercised{bounds}; worst verdict {self.verdict}")


def _identity(options: argparse.Namespace, seed: int, device: str) -> dict[str, Any]:
    """What must be the same in all rounds: they are pooled."""
    def of(file: Path | None) -> str | None:
        return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()[:16]

    return {"seed": f"{seed:016x}", "device": device, "only": options.only, "sources": sources.digest(), "harness": of(options.harness),
            "waivers": of(options.waive), "driver": machine.driver_version()}


def _begin(folder: Path, options: argparse.Namespace, seed: int | None, device: str) -> int:
    """The soak's seed: that of an interrupted one in this folder, else the given or a fresh one."""
    path = folder / STATE
    if not path.is_file():
        if seed is None:
            raise AssertionError("a new soak needs a seed")
        path.write_text(json.dumps(_identity(options, seed, device)) + "\n")
        return seed
    kept = json.loads(path.read_text())
    before = int(kept["seed"], 16)
    asked = _identity(options, before if seed is None else seed, device)
    other = [name for name, value in asked.items() if kept.get(name) != value]
    if other:
        raise BadArguments(f"--output {folder}: a soak lies there of device {kept['device']}, seed 0x{kept['seed']}"
                           f"{', only ' + ' '.join(kept['only']) if kept['only'] else ''}, and its {' and '.join(other)} differ"
                           f"{'s' if len(other) == 1 else ''} from this one's; ask for the same, or name another folder")
    return before


def _command(options: argparse.Namespace, device: str, seed: int, folder: Path, asks: tuple[str, list[str]]) -> list[str]:
    argv = [sys.executable, str(places.KIT), "run"]
    if (folder / "families.jsonl").is_file():
        argv += ["--resume", str(folder)]
    else:
        argv += ["--device", device, "--profile", asks[0], "--seed", f"{seed:016x}", "--output", str(folder)]
        argv += [word for pattern in asks[1] for word in ("--only", pattern)]
    argv += ["--waive", str(options.waive.resolve())] if options.waive else []
    return argv + (["--harness", str(options.harness.resolve())] if options.harness else [])


def _finished(folder: Path) -> dict[str, Any] | None:
    """The report of a round that came to its end; None for one that has to go on."""
    try:
        report = read_report(folder)
    except BadArguments:
        return None
    return None if report["static_check"] == UNCHECKED else report


def _run_round(argv: list[str], folder: Path) -> dict[str, Any] | None:
    """One round's report; None if it was interrupted. What is no whole report does not stay: the round goes on when the soak does."""
    kept, interrupted = Kept(argv, stdout=subprocess.DEVNULL), False
    try:
        while True:
            try:
                _, said = kept.process.communicate()
                break
            except KeyboardInterrupt:  # the round keeps what it has
                interrupted = True
                kept.ask_to_end()
    finally:
        kept.stop()
    code = kept.process.returncode
    found = None if interrupted or code == INTERRUPTED else report_of(folder, code)
    if not isinstance(found, dict):
        (folder / "report.json").unlink(missing_ok=True)
    if isinstance(found, str):
        raise InvalidRun(f"round {folder.name} {found}: {said.decode(errors='replace').strip().splitlines()[-1:]}")
    return found


def soak(options: argparse.Namespace, book: RuleBook, device: str, seed: int | None, folder: Path, say: Callable[[str], None]) -> int:
    """Run rounds until the time is up; returns the exit code of the worst."""
    seconds, deep = parse_time(options.time), deep_rounds(book)
    seed = _begin(folder, options, seed, device)
    total, number, ran, report = Total(), 0, 0, None
    while total.has_time(seconds):
        number += 1
        place = folder / "rounds" / f"{number:04d}"
        report = _finished(place)
        if report is None:
            place.mkdir(parents=True, exist_ok=True)
            asks, ran = round_asks(number, deep, options.only), ran + 1
            report = _run_round(_command(options, device, round_seed(seed, number), place, asks), place)
        if report is None:  # interrupted
            break
        total.add(number, report)
        say(total.line(seconds))
    if ran == 0:
        raise BadArguments(f"--output {folder}: the soak there has run for {total.wall_s:.0f} s and ended {total.verdict}: nothing "
                           "was run; name another folder, or a longer time")
    return _finish(options, folder, total, seconds, interrupted=report is None)


def _finish(options: argparse.Namespace, folder: Path, total: Total, seconds: float, interrupted: bool) -> int:
    if total.rounds == 0:
        print("interrupted in the first round; the same command goes on with it")
        return RUN_VERDICTS["UNPROVEN"]
    worst = _finished(folder / "rounds" / f"{total.worst:04d}") or {}
    verdict = "UNPROVEN" if interrupted and total.verdict == "CONFORMS" else total.verdict
    report = {**worst, "soak": total.entry(seconds), "verdict": verdict, "exit": RUN_VERDICTS[verdict]}
    if verdict != worst["verdict"]:
        report["reasons"] = ["the soak was interrupted; the same command goes on with it", *worst["reasons"]]
    report = identified(report)
    write_report(report, folder)
    if options.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    else:
        print(total.line(seconds))
        print(f"VERDICT  {verdict_line(report)}   worst of {total.rounds} rounds: number {total.worst}")
        print(f"report   {places.shown(folder / 'report.json')}")
    return int(report["exit"])
