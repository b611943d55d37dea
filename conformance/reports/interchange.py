"""A report in the forms that other programs read: JUnit XML, and the Common Test Report Format (CTRF) in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from conformance.reports.content import STATUSES, Report

Case = Mapping[str, Any]
_FAILURES = ("FAIL", "HANG")
_ERRORS = ("CRASH", "DEVICE_LOST", "KIT_ERROR", "NOT_RUN")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def fate(case: Case) -> str:
    """passed, failed, error or skipped. Green must be earned: a proving case without proof failed, and a finding did not."""
    status = case["status"]
    if status == "PASS":
        return "passed"
    if status in _ERRORS:
        return "error"
    if status in _FAILURES:
        return "skipped" if case["class"] == "measured" else "failed"
    return "failed" if status == "INCONCLUSIVE" and case["proving"] else "skipped"


def said(case: Case) -> str:
    """The verdict and its reason in one line."""
    return f"{case['status']}: {case['reason'] or STATUSES[case['status']]}"


def _text(value: object) -> str:
    return _NOT_XML.sub("?", str(value))


def _counted(report: Report) -> dict[str, int]:
    fates = [fate(case) for case in report["tests"]]
    return {name: fates.count(name) for name in ("passed", "failed", "error", "skipped")}


def write_junit(report: Report) -> str:
    """JUnit XML: a suite per rule, a test case per case, and what the run itself has to say as properties."""
    counts = _counted(report)
    root = ElementTree.Element(
        "testsuites",
        {
            "name": "pdl-conformance",
            "tests": str(len(report["tests"])),
            "failures": str(counts["failed"]),
            "errors": str(counts["error"]),
            "skipped": str(counts["skipped"]),
            "time": f"{report['run']['wall_s']:.3f}",
        },
    )
    groups: dict[str, list[Case]] = {}
    for case in report["tests"]:
        groups.setdefault(case["rule"], []).append(case)
    for rule, cases in groups.items():
        _suite(root, rule, cases, report)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, rule: str, cases: list[Case], report: Report) -> None:
    fates = [fate(case) for case in cases]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": _text(rule),
            "tests": str(len(cases)),
            "failures": str(fates.count("failed")),
            "errors": str(fates.count("error")),
            "skipped": str(fates.count("skipped")),
            "time": f"{sum(case['wall_s'] or 0 for case in cases):.3f}",
            "timestamp": _text(report["run"]["started"].removesuffix("Z")),
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("verdict", report["verdict"]), ("seed", report["run"]["seed"]), ("profile", report["run"]["profile"])):
        ElementTree.SubElement(properties, "property", {"name": name, "value": _text(value)})
    for case, end in zip(cases, fates, strict=True):
        entry = ElementTree.SubElement(
            suite, "testcase", {"classname": _text(f"pdl.{rule}"), "name": _text(case["name"]), "time": f"{case['wall_s'] or 0:.3f}"}
        )
        if end != "passed":
            tag = {"failed": "failure", "error": "error", "skipped": "skipped"}[end]
            ElementTree.SubElement(entry, tag, {"message": _text(said(case))})
        ElementTree.SubElement(entry, "system-out").text = _text(_numbers(case))


def _numbers(case: Case) -> str:
    trials = ", ".join(f"{name} {count}" for name, count in case["trials"].items())
    outcomes = ", ".join(f"{name} {count}" for name, count in case["outcomes"].items() if count)
    bound = f"; bound95 {case['bound95']:.3e}" if case["bound95"] is not None else ""
    return f"trials: {trials}; outcomes: {outcomes or 'none'}{bound}"


def write_ctrf(report: Report) -> str:
    """CTRF, spec 0.0.0: results.tool, results.summary, results.tests."""
    counts = _counted(report)
    start = int(datetime.strptime(report["run"]["started"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp() * 1000)
    tests = [
        {
            "name": case["name"],
            "status": "failed" if (end := fate(case)) == "error" else end,
            "duration": round((case["wall_s"] or 0) * 1000),
            "suite": case["rule"],
            "rawStatus": case["status"],
            "type": case["kind"],
            "tags": [case["class"], case["window"], case["path"]],
            **({} if end == "passed" else {"message": said(case)}),
        }
        for case in report["tests"]
    ]
    summary = {
        "tests": len(tests),
        "passed": counts["passed"],
        "failed": counts["failed"] + counts["error"],
        "pending": 0,
        "skipped": counts["skipped"],
        "other": 0,
        "start": start,
        "stop": start + round(report["run"]["wall_s"] * 1000),
    }
    whole = {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {
            "tool": {"name": "pdl-conformance", "version": report["suite"]["version"]},
            "summary": summary,
            "tests": tests,
            "extra": {
                "verdict": report["verdict"],
                "exit": report["exit"],
                "seed": report["run"]["seed"],
                "device": dict(report["device"]),
            },
        },
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
