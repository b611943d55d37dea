"""`python3 conformance whatif [options] -- COMMAND...`: the command line."""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser, amount
from conformance.pdlkit.exits import BadArguments, InvalidRun
from conformance.trace import session
from conformance.trace.report import clipped, short_name, us, wrapped
from conformance.trace.whatif import measure, variants, where
from conformance.trace.whatif.cases import Cases, cases
from conformance.trace.whatif.measure import Interval, Key
from conformance.trace.whatif.search import Found, Places, search
from conformance.trace.whatif.variants import Noted, Variant
from conformance.trace.whatif.where import Place

SCHEMA = "pdl-whatif/1"
_MOST_TURNS = 4
_EPILOG = """\
The program runs as it is; rewritten with an empty prologue; and rewritten with a wait at each kernel's entry and launched to
overlap. The runs are interleaved. Machine code is rewritten in memory, as it is loaded; no file of the program is changed.

Order is kept, because every kernel that may start early waits for all that it depends on before its own first instruction.
That blocks are there earlier, and hold room while they wait, can keep away a kernel of another stream that they depend on:
this is for finding out, and no way to ship.

exit codes: 0 done, 64 bad arguments, 69 set-up impossible, 70 nothing could be measured"""


@dataclass
class Ran:
    """One run of a variant."""

    code: int | None
    wall_s: float
    output: bytes
    files: list[bytes]
    noted: Noted
    times: dict[Key, list[float]] = field(default_factory=dict)


def _parser() -> Parser:
    parser = Parser("whatif", "Measure what PDL would give an unchanged program.", epilog=_EPILOG,
                    usage="python3 conformance whatif [options] -- COMMAND...")
    parser.add_argument("--trigger", action="store_true", help="also with a trigger at each kernel's entry, ahead of the wait")
    parser.add_argument("--pairs", action="store_true", help="also trace the original and the best variant: at which pairs the gain is")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each variant (default %(default)s)")
    parser.add_argument("--within", type=float, metavar="PERCENT",
                        help="go on after the rounds until each gain's interval reaches no further than this to either side, "
                             f"up to {_MOST_TURNS} times as many rounds")
    parser.add_argument("--compare-outputs", action="store_true", help="compare the standard output of the variants")
    parser.add_argument("--compare-files", metavar="FILE", action="append", default=[], help="compare a file that the program writes")
    parser.add_argument("--exempt", metavar="REGEX", help="leave these kernels as they are (mangled or short name)")
    parser.add_argument("--timeout", type=amount, metavar="S", help="end a run after this long (default: 60 s, or 10 times the original)")
    parser.add_argument("--search", type=int, metavar="N", nargs="?", const=8,
                        help="also with each kernel's trigger where it gains most: nowhere, before or after the wait; tried one by one "
                             "for the N kernels that are launched most (default: 8), each run under the time limit")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _checked(given: argparse.Namespace) -> argparse.Namespace:
    if given.command[:1] == ["--"]:
        given.command = given.command[1:]
    if not given.command:
        raise BadArguments("there is no command to run; write it after --")
    if shutil.which(given.command[0]) is None:
        raise BadArguments(f"{given.command[0]} is not a program that can be run")
    if given.rounds < 2:
        raise BadArguments("--rounds takes 2 or more: one run gives no interval")
    if given.within is not None and given.within <= 0:
        raise BadArguments("--within takes percent, more than 0")
    if given.search is not None and given.search < 1:
        raise BadArguments("--search takes 1 or more")
    try:
        re.compile(given.exempt or "")
    except re.error as error:
        raise BadArguments(f"--exempt: `{given.exempt}` is not a regular expression ({error})") from error
    return given


def _run(given: argparse.Namespace, variant: Variant, folder: Path, timeout: float) -> Ran:
    output = folder / "output"
    variables = variants.environment(variant, folder)
    with output.open("wb") as stream:
        code, wall_s = session.ended(given.command, variables, stream, timeout)
    files = [Path(name).read_bytes() if Path(name).is_file() else b"" for name in given.compare_files]
    noted = variants.read(folder)
    return Ran(code, wall_s, output.read_bytes(), files, noted, measure.times(noted.processes))


@dataclass
class Study:
    """All that was measured."""

    step: Key | None
    runs: dict[str, list[Ran]]
    changed: list[str]
    left: dict[str, str]
    cases: Cases
    places: list[Place] | None = None
    searched: Found | None = None

    @property
    def best(self) -> str:
        """The variant with PDL that gains most."""
        return max((name for name in self.runs if name in ("pdl", "trigger", "searched")), key=lambda name: self.gain(name).estimate)

    def series(self, name: str) -> list[float]:
        """Each round's time of a step (us), or of the whole run where there are no steps."""
        return [measure.typical(ran.times, self.step) if self.step else ran.wall_s * 1e6 for ran in self.runs[name]]

    def gain(self, name: str) -> Interval:
        """Against the original."""
        return measure.gain(self.series("original"), self.series(name))

    def reach(self) -> float:
        """How far the widest interval of a gain reaches to one side."""
        return max((interval.high - interval.low) / 2 for interval in map(self.gain, self.runs) if interval.low > -math.inf)

    def gain_over_empty(self, name: str) -> Interval:
        """Against the rewritten program with an empty prologue: what PDL gives apart from what rewriting costs."""
        return measure.gain(self.series("empty"), self.series(name))

    def differing(self, given: argparse.Namespace) -> list[str]:
        """Variants whose results differ from the original's where that was asked."""
        first = self.runs["original"][0]
        found = []
        for name, runs in self.runs.items():
            same = all(ran.code == first.code and (not given.compare_outputs or ran.output == first.output) and ran.files == first.files
                       for ran in runs)
            found += [] if same else [name]
        return found


def _choose(noted: Noted, exempt: str | None) -> tuple[list[str], dict[str, str]]:
    chosen, left = [], {}
    for name, known in sorted(noted.kernels.items()):
        if not known.launches:
            continue
        why = variants.why_left(known, noted.refused)
        if exempt and (re.search(exempt, name) or re.search(exempt, short_name(name))):
            why = "exempted by name"
        if why:
            left[name] = why
        else:
            chosen.append(name)
    return chosen, left


def _ended_badly(name: str, ran: Ran) -> InvalidRun:
    ended = "did not end in time" if ran.code is None else f"ended with code {ran.code}"
    more = "; parked blocks may have kept away a kernel that another one waits for" if ran.code is None and name != "original" else ""
    return InvalidRun(f"the {name} variant {ended}{more}; nothing was measured")


def _study(given: argparse.Namespace, folder: Path) -> Study:
    first = _run(given, variants.original(), folder / "first", given.timeout or 600.0)
    if first.code != 0 or not first.noted.processes:
        raise _ended_badly("original", first) if first.code != 0 else InvalidRun("the program launched no kernel; nothing was measured")
    timeout = given.timeout or max(60.0, 10 * first.wall_s)
    survey = _run(given, variants.empty(), folder / "survey", timeout)
    if survey.code != 0:
        raise _ended_badly("empty", survey)
    chosen, left = _choose(survey.noted, given.exempt)
    if not chosen:
        raise InvalidRun("no kernel of this program can be given a wait: " + "; ".join(
            f"{clipped(short_name(name), 40)}: {why}" for name, why in list(left.items())[:5]))
    order = [variants.original(), variants.empty(), variants.with_waits(chosen, False)]
    order += [variants.with_waits(chosen, True)] if given.trigger else []
    searched = _search(given, chosen, survey.noted, first, folder, timeout) if given.search else None
    order += [variants.placed("searched", searched.places)] if searched and searched.places else []
    runs: dict[str, list[Ran]] = {variant.name: [] for variant in order}
    study = Study(None, runs, chosen, left, cases(survey.noted.processes, chosen, left), searched=searched)
    for number in range(given.rounds * (_MOST_TURNS if given.within else 1)):
        if number >= given.rounds and study.reach() <= given.within / 100:
            break
        print(f"whatif: round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
        turned = order[number % len(order):] + order[:number % len(order)]
        for variant in turned:
            ran = _run(given, variant, folder / f"{variant.name}-{number}", timeout)
            if ran.code != first.code:
                raise _ended_badly(variant.name, ran)
            runs[variant.name].append(ran)
        study.step = measure.step_of([ran.times for each in runs.values() for ran in each])
    if given.pairs:
        best = next(variant for variant in order if variant.name == study.best)
        study.places = where.traced(given.command, best, folder, timeout)
    return study


def _search(given: argparse.Namespace, chosen: list[str], noted: Noted, first: Ran, folder: Path, timeout: float) -> Found:
    """The kernels that are launched most come first. A run that does not end in time, or ends otherwise, rules its places out."""
    number, step = 0, measure.step_of([first.times])

    def run(places: Places) -> list[float] | None:
        nonlocal number
        number += 1
        print(f"whatif: search, attempt {number}", file=sys.stderr, flush=True)
        runs = []
        for round_number in range(given.rounds):
            ran = _run(given, variants.placed("search", places), folder / f"search-{number}-{round_number}", timeout)
            if ran.code != first.code:
                return None
            runs.append(ran)
        return [measure.typical(ran.times, step) if step else ran.wall_s * 1e6 for ran in runs]

    return search(sorted(chosen, key=lambda name: -noted.kernels[name].launches), run, given.search)


def _step_words(step: Key | None) -> str:
    if step is None:
        return "whole run (no work between synchronisations is common to all runs)"
    parts = [f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in zip(step, ("launch", "graph launch"), strict=True) if count]
    return "between synchronisations: " + " and ".join(parts).replace("launchs", "launches")


def _assurances(study: Study, given: argparse.Namespace) -> list[str]:
    compared = given.compare_outputs or bool(given.compare_files)
    differing = study.differing(given)
    results = "results were not compared (--compare-outputs, --compare-files)" if not compared else \
        f"results DIFFER in: {', '.join(differing)}" if differing else "results are the same in every run"
    return [
        f"{results}; they are {study.cases.preserved_if()}",
        f"termination: {study.cases.may_not_end_when()}",
        "it cannot show what a prologue ahead of a later wait would hide: every wait stands first, so the gain is a lower bound for that",
    ]


def as_json(study: Study, given: argparse.Namespace) -> dict[str, Any]:
    """For scripts."""
    found: dict[str, Any] = {}
    for name in study.runs:
        series = study.series(name)
        found[name] = {"us_per_step": [round(value, 3) for value in series]}
        if name != "original":
            found[name]["gain"] = study.gain(name).as_json()
            found[name]["gain_over_empty"] = study.gain_over_empty(name).as_json()
    return {"schema": SCHEMA, "command": given.command, "step": _step_words(study.step), "rounds": len(study.runs["original"]),
            "gain": study.gain(study.best).as_json(), "by": study.best, "variants": found, "changed": study.changed,
            "left": [{"kernel": name, "why": why} for name, why in study.left.items()],
            "pairs": None if study.places is None else [asdict(place) for place in study.places],
            "searched": None if study.searched is None else {
                "tried": study.searched.tried, "places": {name: place.value for name, place in study.searched.places.items()},
                "ruled_out": [{"kernel": name, "place": place.value} for name, place in study.searched.failed]},
            "differing": study.differing(given), "assurances": _assurances(study, given), "cases": study.cases.as_json()}


def _table(study: Study, given: argparse.Namespace) -> str:
    lines = [f"step         {_step_words(study.step)}"]
    words = {"original": "as it is", "empty": "rewritten, nothing added", "pdl": "with PDL, wait first",
             "trigger": "with PDL, trigger and wait first", "searched": "with PDL, triggers as searched"}
    for name in study.runs:
        series = sorted(study.series(name))
        told = "" if name == "original" else f"  gain {study.gain(name).words()}"
        lines.append(f"{words[name]:<32}{us(series[len(series) // 2]):>9} us{told}")
    lines.append(f"changed      {len(study.changed)} kernels; left as they are: {len(study.left)}")
    for name, trigger in sorted(study.searched.places.items())[:10] if study.searched else ():
        lines += _titled("trigger", f"{trigger.value}: {clipped(short_name(name), 60)}")
    for name, trigger in study.searched.failed[:10] if study.searched else ():
        lines += _titled("ruled out", f"trigger {trigger.value} in {clipped(short_name(name), 40)}: the program did not end as before")
    for name, why in list(study.left.items())[:10]:
        lines += _titled("left", f"{clipped(short_name(name), 40)}: {why}")
    for place in (study.places or [])[:10]:
        names = f"{clipped(short_name(place.primary), 30)} > {clipped(short_name(place.dependent), 30)}"
        lines += _titled("saved", f"{us(place.saved_us)} us at each of {place.launches:,}: {names}, overlap in "
                         f"{100 * place.overlapping_before:.0f} -> {100 * place.overlapping_after:.0f} %")
    for text in _assurances(study, given):
        lines += _titled("note", text)
    return "\n".join(lines)


def _titled(title: str, text: str) -> list[str]:
    first, *rest = wrapped(text, 13)
    return [f"{title:<13}{first.strip()}", *rest]


def main(argv: Sequence[str]) -> int:
    """A whole study."""
    given = _checked(_parser().parse_args(list(argv)))
    folder = session.new_folder()
    try:
        study = _study(given, folder)
        if given.json:
            print(json.dumps(as_json(study, given), indent=1))
        else:
            print(_table(study, given))
        return 0
    finally:
        session.remove(folder)
