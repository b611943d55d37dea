"""Why a run is not CONFORMS: every case that stands in the way, with its reason and where to look."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK
from conformance.pdlkit.read_report import read_report

_SILENT = {"PASS", "NOT_SUPPORTED"}
_ALWAYS = {"CRASH", "DEVICE_LOST", "NOT_RUN", "HANG", "FAIL", "KIT_ERROR"}  # these count in observing cases, too
_FINDING = {"HANG", "FAIL"}  # of a measured rule these are findings, and decide nothing


def in_the_way(test: Mapping[str, Any]) -> bool:
    """Whether this case, unless it is waived, keeps a run from CONFORMS."""
    status = test["status"]
    if test["class"] == "measured" and status in _FINDING:
        return False
    return status in _ALWAYS or (bool(test["proving"]) and status not in _SILENT)


def reasons(report: Mapping[str, Any]) -> list[str]:
    """Lines for people: the verdict, the run's own reasons, then case by case."""
    lines = [f"{report['verdict']}: {report['run'].get('device', '?')}, profile {report['run']['profile']}, seed {report['run']['seed']}"]
    lines += [f"reason: {text}" for text in report["reasons"]]
    waived = {case["name"] for waiver in report.get("waived") or () for case in waiver["cases"]}
    for test in (test for test in report["tests"] if in_the_way(test) and test["name"] not in waived):
        lines += [f"{test['name']}  {test['status']}", f"  {test.get('reason') or 'no reason was recorded'}"]
        survived = [mutant["tag"] for mutant in test.get("mutants", ()) if mutant["status"] == "SURVIVED"]
        lines += [f"  survived: {', '.join(survived)}"] if survived else []
        lines.append(f"  kernels and lines: python3 conformance list {test['name']}")
    if not report["reasons"]:
        proving = sum(bool(test["proving"]) for test in report["tests"])
        lines.append(f"no case stands in the way; {proving} of {len(report['tests'])} cases prove something, the others only observe"
                     + (f"; waived: {', '.join(sorted(waived))}" if waived else ""))
    return lines


def main(argv: list[str]) -> int:
    """The tool `dev reasons`."""
    parser = Parser("dev reasons", "say which cases keep a run from CONFORMS, and why, from a report")
    parser.add_argument("report", type=Path, metavar="REPORT.json", help="what `run` wrote, or its folder")
    print("\n".join(reasons(read_report(parser.parse_args(argv).report))))
    return OK
