"""Writes what a driver makes of edges, captures and queries as one page, from a report.

    python3 conformance dev graph-tables REPORT.json > conformance/results/NAME-graphs.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK
from conformance.pdlkit.read_report import read_report

CAPTURED = ("EDGE-11.attribute", "EDGE-12.event", "EDGE-13.start", "EDGE-30a.table", "EVT-12.waiters", "EDGE-30.no_kernel")
MATRIX = "EDGE-08.codes"
ANSWERS = ("EDGE-33.edges", "EDGE-33.round_trip", "EDGE-33.driver", "EDGE-33b.new_node", "EDGE-33b.removed", "EDGE-33b.begun",
           "EDGE-33b.updated", "EDGE-04.reserved", "EDGE-14.lossy", "EDGE-15.counting", "EDGE-16.twice", "EDGE-16a.other_data",
           "EDGE-17.remove",
           "EDGE-17a.remove_other", "EDGE-19.unjoined", "EDGE-19a.early_join", "EDGE-19b.pending", "EDGE-20.removed", "EDGE-23.retyped",
           "EDGE-26a.special", "EDGE-27.disabled", "EVT-05.events", "EVT-06.flags", "ATTR-06a.copied")


def _answers(tests: list[dict[str, Any]], name: str) -> list[tuple[str, str]]:
    rows = (row for test in tests if test["name"].startswith(name + ".") for row in test.get("answers") or ())
    return [(row["what"], row["answer"]) for row in rows]


def _capture_rows(tests: list[dict[str, Any]]) -> Iterator[str]:
    """What was captured, and its edges; a script that several cases capture is told once."""
    told = set[tuple[str, str]]()
    for name in CAPTURED:
        for what, answer in _answers(tests, name):
            if (">" in answer or answer == "no edge") and (what, answer) not in told:
                told.add((what, answer))
                yield f"| {what} | {answer} | `{name.partition('.')[0]}` |"


def _matrix_rows(tests: list[dict[str, Any]]) -> Iterator[str]:
    """Kinds of nodes with the same codes together."""
    groups: dict[str, list[str]] = {}
    for what, answer in _answers(tests, MATRIX):
        groups.setdefault(answer, []).append(what)
    for answer, kinds in groups.items():
        yield f"| {'; '.join(kinds)} | {'<br>'.join(answer.split('; '))} |"


def _answer_rows(tests: list[dict[str, Any]]) -> Iterator[str]:
    """Of what was wrong in a case, the first, and how many more there are; what was asked and answered alike, once."""
    for name in ANSWERS:
        shown, answers = f"`{name}`", _answers(tests, name)
        wrong = [answer for what, answer in answers if what == "wrong"]
        if len(wrong) > 1:
            answers = [("wrong", f"{wrong[0]}, and {len(wrong) - 1} more"), *(row for row in answers if row[0] != "wrong")]
        for (what, answer), times in Counter(answers).items():
            yield f"| {shown} | {what} | {answer}{f', {times} times' if times > 1 else ''} |"
            shown = ""


def page(report: Mapping[str, Any]) -> str:
    """The Markdown page."""
    device, driver, tests = report["device"], report["driver"], report["tests"]
    out = [
        "# Edges, captures and queries", "",
        f"{device.get('name', 'device')}, driver {driver.get('version') or driver.get('cuda', '?')}, toolkit {driver.get('toolkit', '?')}.",
        "Made by `conformance dev graph-tables` from a report; one driver, no promise. An edge is from_port,to_port,type.", "",
        "## What capture makes", "",
        "P is the first kernel, D the last, M one between them or beside P.", "",
        "| captured | edges | case |", "|---|---|---|", *_capture_rows(tests), "",
        "## Which edges are taken", "",
        "Every combination of from_port 0 to 3, to_port 0 and 1, type 0 to 2, by the code that adding it gave.", "",
        "| from and to | codes |", "|---|---|", *_matrix_rows(tests), "",
        "## Other answers", "", "| case | asked | answer |", "|---|---|---|", *_answer_rows(tests),
    ]
    return "\n".join(out) + "\n"


def main(argv: list[str]) -> int:
    """The tool `dev graph-tables`; 0 done, 64 bad arguments."""
    parser = Parser("dev graph-tables", "write what a driver makes of edges, captures and queries as one page, from a report")
    parser.add_argument("report", type=Path, metavar="REPORT.json", help="what `run` wrote, or its folder")
    sys.stdout.write(page(read_report(parser.parse_args(argv).report)))
    return OK
