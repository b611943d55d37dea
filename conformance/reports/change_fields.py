"""Changes every field of a recorded report in turn and shows which changes `submit` refuses.

    python3 conformance dev change-fields [REPORT.json] [--rule WAIT-01]...

Each change is tried twice: alone, when the digest over the whole report has to refuse it, and with a new digest, when only fields
that submission.UNSEEN names may pass. Takes minutes: about a hundredth of a second per field.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance.pdlkit import places
from conformance.pdlkit.exits import FAILED, OK
from conformance.pdlkit.report import inconsistencies
from conformance.reports.complete import report_schema, shape_problem
from conformance.reports.recomputed import judged_by, part_of, recomputed_problems, same_words
from conformance.reports.submission import UNSEEN, UNSEEN_OF_OTHER_BOOKS, UNSEEN_OF_OTHER_WORDS, digest_problems

Report = dict[str, Any]
Place = tuple[str | int, ...]


def leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a JSON tree that is not a container."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path, value


_OTHER = {
    "PASS": "INCONCLUSIVE",
    "KILLED": "SURVIVED",
    "FAIL": "INCONCLUSIVE",
    "CRASH": "PASS",
    "SURVIVED": "KILLED",
    "documented": "measured",
    "derived": "documented",
    "measured": "derived",
    "CONFORMS": "UNPROVEN",
    "VIOLATES": "CONFORMS",
    "UNPROVEN": "CONFORMS",
    "INCONCLUSIVE": "NOT_RUN",
}


def changed(value: Any) -> Any:
    """Another value of the same kind, as close as can be; a word with a meaning becomes another such word."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.0001 + 1e-9
    if value is None:
        return 1
    return _OTHER.get(value, value + "0")


def with_change(report: Report, place: Place) -> Report:
    """The report with one field changed; the rest is shared with the original, which stays as it is."""

    def rebuilt(value: Any, rest: Place) -> Any:
        if not rest:
            return changed(value)
        copied = copy.copy(value)
        copied[rest[0]] = rebuilt(value[rest[0]], rest[1:])
        return copied

    return dict(rebuilt(report, place))


def redigested(report: Report) -> Report:
    """The report with the digest that belongs to it, as somebody would make it who changes both."""
    run = {key: value for key, value in report["run"].items() if key != "id"}
    text = json.dumps({**report, "run": run}, sort_keys=True)
    return {**report, "run": {**run, "id": "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:32]}}


def seen(report: Report) -> bool:
    """Whether anything but the digest speaks against this report."""
    return shape_problem(report, report_schema()) is not None or bool(inconsistencies(report)) \
        or next(recomputed_problems(report), None) is not None


def blind_to(report: Report) -> Callable[[str], bool]:
    """Whether a field is one of those of which the check says that it cannot see them, in a report like this one."""
    book, own = judged_by(report)
    of_the_book = UNSEEN_OF_OTHER_BOOKS if not own else "" if same_words(book, report) else UNSEEN_OF_OTHER_WORDS
    names = [*UNSEEN.values(), *filter(None, [of_the_book])]
    return re.compile("|".join(names)).fullmatch  # type: ignore[return-value]


def pattern(place: Place) -> str:
    """The place with a star for every index, as UNSEEN names it."""
    return "/".join("*" if isinstance(key, int) else key for key in place)


def try_part(report: Report, rule: str) -> tuple[Counter[str], Counter[str], list[str]]:
    """Of one rule's part of the report: fields by pattern that were refused and that passed with a new digest, and what is wrong."""
    part = redigested(part_of(report, [rule]))
    refused, passed, wrong = Counter[str](), Counter[str](), [f"{rule}: {text}" for text in recomputed_problems(part)]
    named = blind_to(part)
    for place, _ in leaves(part):
        other, name = with_change(part, place), pattern(place)
        if not any(digest_problems(other)):
            wrong.append(f"{rule}: {'/'.join(map(str, place))} was changed, and the digest did not tell")
        if name == "run/id":
            continue
        caught = seen(redigested(other))
        (refused if caught else passed)[name] += 1
        if not caught and not named(name):
            wrong.append(f"{rule}: {'/'.join(map(str, place))} was changed with a new digest, and nothing told")
    return refused, passed, wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Change every field of every rule's part."""
    parser = argparse.ArgumentParser(description="Change every field of a recorded report in turn and show which changes are refused.")
    parser.add_argument("report", nargs="?", type=Path, default=places.KIT / "results" / "h200-580.159.04-13.0.88-waived.json")
    parser.add_argument("--rule", action="append", help="only this rule's part; may be repeated")
    options = parser.parse_args(argv)
    report = json.loads(options.report.read_text(encoding="utf-8"))
    refused, passed, wrong = Counter[str](), Counter[str](), list[str]()
    rules = options.rule or [rule["id"] for rule in report["rules"]]
    for rule in rules:
        for total, found in zip((refused, passed, wrong), try_part(report, rule), strict=True):
            total += found  # type: ignore[operator]
    print(f"{sum(refused.values()) + sum(passed.values()):,} fields of {len(rules)} rules were changed; the digest tells every change")
    print(f"with a new digest {sum(refused.values()):,} changes are refused, and these pass:")
    print("\n".join(f"  {name}: {count:,}" for name, count in sorted(passed.items())))
    print("\n".join(wrong[:20]))
    return FAILED if wrong else OK
