"""Findings as SARIF 2.1.0, for code scanning services: relative paths, fingerprints that survive a rebuild, code flows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.lint.findings import ERROR, HINT, RULES, WARNING, Finding
from conformance.lint.linter import Report
from conformance.lint.output import shown_findings
from conformance.lint.packed import shown
from conformance.lint.results import Place

_LEVELS = {ERROR: "error", WARNING: "warning", HINT: "note"}
_ROOT = "SRCROOT"


def as_sarif(report: Report, hints: bool) -> dict[str, Any]:
    """One run, its results an iterator. Paths below the working directory are relative to it."""
    used = sorted({t.first.id for t in shown(report.told(), hints)})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "pdl-lint", "rules": [
                {"id": rule, "shortDescription": {"text": RULES[rule].title}, "help": {"text": RULES[rule].advice},
                 "defaultConfiguration": {"level": _LEVELS[RULES[rule].severity]}}
                for rule in used
            ]}},
            "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
            "invocations": [{"executionSuccessful": not report.unreadable, "toolExecutionNotifications": [
                {"level": "error", "message": {"text": f"{file}: {message}"}} for file, message in report.unreadable
            ]}],
            "results": (_result(f, used.index(f.id)) for f in shown_findings(report.each_finding(), hints)),
        }],
    }


def _artifact(path: str) -> dict[str, str]:
    """Relative to the working directory where that is possible."""
    absolute, here = os.path.abspath(path) if path else "", os.getcwd()
    if absolute.startswith(here + os.sep):
        return {"uri": quote(os.fsencode(os.path.relpath(absolute, here))), "uriBaseId": _ROOT}
    return {"uri": quote(os.fsencode(path))}


def _physical(place: Place | None, file: str) -> dict[str, Any]:
    if place is not None and place.source is not None:
        return {"artifactLocation": _artifact(place.source[0]), "region": {"startLine": max(place.source[1], 1)}}
    return {"artifactLocation": _artifact(file)}


def _location(place: Place, file: str, text: str) -> dict[str, Any]:
    return {"physicalLocation": _physical(place, file), "message": {"text": text},
            "logicalLocations": [{"name": f"{place.section}+0x{place.offset:04x}", "kind": "function"}]}


def _inlined(finding: Finding) -> list[dict[str, Any]]:
    lines = finding.place.inlined_at if finding.place else ()
    return [{"physicalLocation": {"artifactLocation": _artifact(file), "region": {"startLine": max(line, 1)}},
             "message": {"text": "inlined here"}} for file, line in lines]


def _result(finding: Finding, index: int) -> dict[str, Any]:
    logical = {"name": finding.demangled, "fullyQualifiedName": finding.kernel, "kind": "function"}
    steps = [_location(step.place, finding.file, step.what) for step in finding.path]
    result: dict[str, Any] = {
        "ruleId": finding.id, "ruleIndex": index, "level": _LEVELS[finding.severity],
        "message": {"text": finding.in_full},
        "locations": [{"physicalLocation": _physical(finding.place, finding.file), "logicalLocations": [logical]}],
        "partialFingerprints": {"pdlLint/v1": finding.fingerprint},
        "properties": {"arch": finding.arch, "where": finding.where, "parameters": finding.parameters, "imprecise": finding.imprecise},
    }
    related = [{**location, "id": number} for number, location in enumerate([*_inlined(finding), *steps], 1)]
    if related:
        result["relatedLocations"] = related
    if steps and finding.place is not None:
        ordered = sorted([*finding.path], key=lambda step: (step.place.section, step.place.offset))
        before = [s for s in ordered if (s.place.section, s.place.offset) < (finding.place.section, finding.place.offset)]
        after = [s for s in ordered if s not in before]
        flow = [*(_location(s.place, finding.file, s.what) for s in before), _location(finding.place, finding.file, finding.message),
                *(_location(s.place, finding.file, s.what) for s in after)]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": location} for location in flow]}]}]
    if finding.known:
        result["baselineState"] = "unchanged"
    if finding.suppressed is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.suppressed}]
    return result
