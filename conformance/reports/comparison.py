"""Two reports case by case: verdicts by their order, rates by Fisher's exact test, times by their ratio.

Trials of one launch shape are not independent draws, so a rate's counts are scaled to the number of distinct shapes where the
reports tell it. That makes the test slower to see a change and never quicker.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from conformance.pdlkit.verdicts import FORBIDDEN
from conformance.reports.content import Report
from conformance.reports.rates import fisher, holm, median_interval

ALPHA = 0.01  # for all questions of one comparison together
_RANK = {"PASS": 0, "INCONCLUSIVE": 1, "NOT_SUPPORTED": 1, "NOT_RUN": 2, "FAIL": 4, "HANG": 4, "CRASH": 3, "DEVICE_LOST": 5, "KIT_ERROR": 5}
_RUN_RANK = {"CONFORMS": 0, "NOT_APPLICABLE": 1, "UNPROVEN": 2, "VIOLATES": 3, "INVALID": 4}
_BAD = ("FAIL", "HANG", "CRASH", "DEVICE_LOST", "KIT_ERROR")
_COUNT = re.compile(r"[0-9]+ of [0-9]+")
Case = Mapping[str, Any]


@dataclass
class Change:
    """Something about one case that is not as it was."""

    case: str
    what: str
    old: str
    new: str
    direction: str  # worse, better or changed
    p: float | None = None


@dataclass
class Comparison:
    """What differs between two reports."""

    verdict: str  # same, worse or better
    changes: list[Change] = field(default_factory=list)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    compared: int = 0
    notes: list[str] = field(default_factory=list)
    times: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


@dataclass(frozen=True)
class _Rate:
    """A question that a test has to answer before it is a change."""

    case: str
    what: str
    old: tuple[int, int]
    new: tuple[int, int]
    scaled: tuple[tuple[int, int], tuple[int, int]]
    more_is: str


def _scaled(count: int, run: int, shapes: int | None) -> tuple[int, int]:
    """The count among distinct shapes; a single event is kept as one."""
    if not shapes or shapes >= run:
        return count, run
    return (min(shapes, max(1 if count else 0, round(count * shapes / run))), shapes)


def _rate(case: str, what: str, old: tuple[int, int, int | None], new: tuple[int, int, int | None], more_is: str) -> _Rate:
    return _Rate(case, what, old[:2], new[:2], (_scaled(*old), _scaled(*new)), more_is)


def _rates(old: Case, new: Case) -> Iterator[_Rate]:
    """The rates of one case: forbidden outcomes, overlap, exercised trials, and what each planted bug showed."""

    def side(case: Case, count: int) -> tuple[int, int, int | None]:
        return count, case["trials"]["run"], case.get("shapes")

    if not (old["trials"]["run"] and new["trials"]["run"]):
        return
    judged = old["class"] != "measured"
    if names := FORBIDDEN[old["kind"]]:
        wrong = [min(case["trials"]["run"], sum(case["outcomes"].get(name, 0) for name in names)) for case in (old, new)]
        yield _rate(old["name"], "forbidden outcomes", side(old, wrong[0]), side(new, wrong[1]), "worse" if judged else "changed")
        if "overlap" in old["outcomes"] and "overlap" in new["outcomes"]:
            yield _rate(old["name"], "overlap", side(old, old["outcomes"]["overlap"]), side(new, new["outcomes"]["overlap"]), "changed")
        yield _rate(
            old["name"], "exercised trials", side(old, old["trials"]["exercised"]), side(new, new["trials"]["exercised"]), "changed"
        )
    for what, before, after in _answers(old, new):
        if _same_words(before, after):
            counts = [tuple(map(int, match[0].split(" of "))) for match in (_COUNT.search(before), _COUNT.search(after)) if match]
            (a, n), (b, m) = counts
            if 0 <= a <= n and 0 <= b <= m and n and m:
                yield _rate(old["name"], f"answer to: {what}", (a, n, None), (b, m, None), "changed")
    others = {(v["kind"], v["tag"]): v for v in (*new["mutants"], *new["controls"], *new["broken_waits"])}
    for variant in (*old["mutants"], *old["controls"], *old["broken_waits"]):
        other = others.get((variant["kind"], variant["tag"]))
        if other and variant["trials"] and other["trials"]:
            yield _rate(
                old["name"],
                f"{variant['kind'].replace('_', ' ')} {variant['tag']} showed",
                (variant["kills"], variant["trials"], old.get("shapes")),
                (other["kills"], other["trials"], new.get("shapes")),
                "changed",
            )


def _status(old: Case, new: Case) -> Iterator[Change]:
    """A verdict of a higher rank is worse, and only a PASS is better: a FAIL that now crashes, or is not asked, is no progress. In a
    measured rule each is a change, because it judges nothing."""
    before, after = old["status"], new["status"]
    if before != after:
        better = "better" if after == "PASS" else "changed"
        direction = "changed" if old["class"] == "measured" else "worse" if _RANK[after] > _RANK[before] else better
        yield Change(old["name"], "verdict", before, after, direction)
    if old["resolution_ns"] is not None and new["resolution_ns"] is None and after == "PASS":
        yield Change(old["name"], "resolution", f"{old['resolution_ns']} ns", "none: no broken wait was killed", "worse")
    fates = {(v["kind"], v["tag"]): v["status"] for v in (*new["mutants"], *new["controls"])}
    for variant in (*old["mutants"], *old["controls"]):
        fate = fates.get((variant["kind"], variant["tag"]), variant["status"])
        if fate != variant["status"]:
            direction = {"SURVIVED": "worse"}.get(fate, "better" if variant["status"] == "SURVIVED" else "changed")
            yield Change(old["name"], f"{variant['kind']} {variant['tag']}", variant["status"], fate, direction)
    for what, before, after in _answers(old, new):
        if before != after and not _same_words(before, after):
            yield Change(old["name"], f"answer to: {what}", before, after, "changed")


def _answers(old: Case, new: Case) -> Iterator[tuple[str, str, str]]:
    """The same question in both; one that is asked several times is matched in its order."""

    def numbered(case: Case) -> dict[tuple[str, int], str]:
        asked: Counter[str] = Counter()
        found = {}
        for entry in case.get("answers") or []:
            found[(entry["what"], asked[entry["what"]])] = entry["answer"]
            asked[entry["what"]] += 1
        return found

    after = numbered(new)
    yield from ((what, answer, after[(what, place)]) for (what, place), answer in numbered(old).items() if (what, place) in after)


def _same_words(before: str, after: str) -> bool:
    """Answers that differ only in a count of trials: a question for the test of rates."""
    return _COUNT.sub("n", before) == _COUNT.sub("n", after) and _COUNT.search(before) is not None


def _direction(rate: _Rate) -> str:
    if rate.more_is == "changed":
        return "changed"
    more = rate.new[0] * rate.old[1] > rate.old[0] * rate.new[1]
    return rate.more_is if more else {"worse": "better"}[rate.more_is]


def _words(count: tuple[int, int]) -> str:
    return f"{count[0]:,} of {count[1]:,} ({count[0] / count[1]:.2%})"


def _significant(rates: list[_Rate]) -> Iterator[Change]:
    asked = [rate for rate in rates if rate.old[0] or rate.new[0]]
    for rate, p in zip(asked, holm([fisher(*rate.scaled) for rate in asked]), strict=True):
        if p < ALPHA:
            yield Change(rate.case, rate.what, _words(rate.old), _words(rate.new), _direction(rate), p)


def _times(pairs: list[tuple[Case, Case]]) -> dict[str, Any] | None:
    """The kit's own time per trial, new over old: the median over the cases, and an interval for it."""
    ratios = {}
    for old, new in pairs:
        if old["wall_s"] and new["wall_s"] and old["trials"]["run"] and new["trials"]["run"]:
            ratios[old["name"]] = (new["wall_s"] / new["trials"]["run"]) / (old["wall_s"] / old["trials"]["run"])
    if not ratios:
        return None
    middle, low, high = (
        math.exp(value) if math.isfinite(value) else None for value in median_interval([math.log(ratio) for ratio in ratios.values()])
    )
    return {"cases": len(ratios), "median_ratio": middle, "low": low, "high": high}


def _notes(old: Report, new: Report) -> Iterator[str]:
    for part, key, what in (
        ("device", "name", "GPU"),
        ("driver", "version", "driver"),
        ("toolchain", "nvcc", "toolkit"),
        ("run", "profile", "profile"),
        ("run", "device", "device"),
        ("suite", "rules_hash", "rule book"),
        ("suite", "sources", "judging code"),
    ):
        before, after = old[part].get(key), new[part].get(key)
        if before != after:
            yield f"{what}: {before or 'unknown'}, then {after or 'unknown'}"


def _run_verdict(old: Report, new: Report) -> Iterator[Change]:
    """A run can fall short of CONFORMS for a reason that stands in no case: an interposer, or children that contradict each other."""
    before, after = old["verdict"], new["verdict"]
    if before != after:
        yield Change("the run", "verdict", before, after, "worse" if _RUN_RANK[after] > _RUN_RANK[before] else "changed")


def _one_sided(before: Mapping[str, Case], after: Mapping[str, Case], asked_less: bool) -> Iterator[Change]:
    """Cases of one report only: a pass that nobody asks for any more, and what was asked for the first time and went wrong."""
    for name, case in before.items():
        if name not in after and case["status"] == "PASS" and case["proving"] and not asked_less:
            yield Change(name, "verdict", "PASS", "not in the report", "worse")
    for name, case in after.items():
        if name not in before and case["status"] in _BAD:
            yield Change(name, "verdict", "not in the report", case["status"], "changed" if case["class"] == "measured" else "worse")


def compare(old: Report, new: Report) -> Comparison:
    """Everything that differs; worse wins over better."""
    before, after = ({test["name"]: test for test in report["tests"]} for report in (old, new))
    pairs = [(before[name], after[name]) for name in before if name in after]
    asked_less = bool(new["run"]["only"]) or old["suite"]["rules_hash"] != new["suite"]["rules_hash"]
    changes = [*_run_verdict(old, new), *(change for pair in pairs for change in _status(*pair)), *_one_sided(before, after, asked_less)]
    changes += _significant([rate for pair in pairs for rate in _rates(*pair)])
    directions = {change.direction for change in changes}
    verdict = "worse" if "worse" in directions else "better" if "better" in directions else "same"
    return Comparison(
        verdict,
        changes,
        [name for name in before if name not in after],
        [name for name in after if name not in before],
        len(pairs),
        list(_notes(old, new)),
        _times(pairs),
    )
