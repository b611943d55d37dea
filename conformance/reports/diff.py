"""The command `diff`: is the new report worse than the old one, better, or the same?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.display import table
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.reports.comparison import ALPHA, Change, Comparison, compare
from conformance.reports.complete import read_complete

BETTER = 3
CODES = {"same": OK, "worse": FAILED, "better": BETTER}
_MOST = 60


def parser() -> Parser:
    """The command line of `diff`."""
    made = Parser(
        "diff",
        "compare two reports case by case",
        epilog=(
            f"exit codes: 0 same, 1 worse, 3 better, 64 bad arguments. Verdicts, of the run too, are compared by their order: only a PASS\n"
            f"is better. A passing case that is missing is worse, unless --only or another rule book left it out. Rates are compared by\n"
            f"Fisher's exact test (p below {ALPHA} after Holm's correction for the number of questions), times by their ratio per trial.\n"
            f"What differs in a measured rule, in overlap or in how often a planted bug showed is told as changed and decides nothing."
        ),
    )
    made.add_argument("old", type=Path, metavar="OLD", help="a report.json, or the folder that holds it")
    made.add_argument("new", type=Path, metavar="NEW", help="the one that is judged")
    made.add_argument("--json", action="store_true", help="JSON on stdout, nothing else")
    return made


def _rows(changes: list[Change]) -> list[tuple[str, ...]]:
    order = {"worse": 0, "better": 1, "changed": 2}
    return [
        (change.direction, change.case, change.what, change.old, change.new, "" if change.p is None else f"{change.p:.1e}")
        for change in sorted(changes, key=lambda change: order[change.direction])
    ]


def lines(found: Comparison) -> Iterator[str]:
    """The comparison as it is printed."""
    yield from (f" note     {note}" for note in found.notes)
    rows = _rows(found.changes)
    if rows:
        yield from table(("", "case", "what", "old", "new", "p"), rows[:_MOST], 5)
        if len(rows) > _MOST:
            yield f" ... and {len(rows) - _MOST} more; --json has them all"
    if found.times and found.times["low"] is not None:
        times = found.times
        yield (
            f" time     per trial, new over old: median {times['median_ratio']:.2f} "
            f"(95 %: {times['low']:.2f} to {times['high']:.2f}) over {times['cases']} cases"
        )
    for names, which in ((found.only_old, "old"), (found.only_new, "new")):
        if names:
            yield f" only in the {which} report: {', '.join(names[:8])}{f' and {len(names) - 8} more' if len(names) > 8 else ''}"
    count = {name: sum(change.direction == name for change in found.changes) for name in ("worse", "better", "changed")}
    said = ", ".join(f"{number} {name}" for name, number in count.items())
    yield f"{found.verdict.upper()}  {found.compared} cases compared: {said}"


def main(argv: list[str]) -> int:
    """Compare and say so."""
    options = parser().parse_args(argv)
    old, new = read_complete(options.old), read_complete(options.new)
    found = compare(old, new)
    if not found.compared:
        raise BadArguments(f"{options.old} and {options.new} have no case in common, so there is nothing to compare")
    print(json.dumps(found.as_json(), indent=1) if options.json else "\n".join(lines(found)))
    return CODES[found.verdict]
