"""Findings as text, JSON and SARIF."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from typing import Any
from urllib.parse import quote

from conformance.lint.findings import ERROR, HINT, RULES, WARNING, Finding, above_hint
from conformance.lint.linter import Report
from conformance.pdlkit.exits import SetupImpossible

_SARIF_LEVELS = {ERROR: "error", WARNING: "warning", HINT: "note"}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HALVES = re.compile(r"[\ud800-\udfff]")  # bytes of a file's name that are no UTF-8
_ORDER = {ERROR: 0, WARNING: 1, HINT: 2}
_MOST_ALIKE = 4  # findings of one kernel and kind under one condition, each told in full
_MOST_PLACES = 12  # of the others


def _counts(findings: list[Finding]) -> dict[str, int]:
    return {s: sum(f.severity == s for f in findings) for s in (ERROR, WARNING, HINT)}


def as_text(report: Report, hints: bool) -> str:
    """One block for each kernel with something to say, worst first, then the sum."""
    lines: list[str] = []
    for verdict in report.verdicts:
        shown = [f for f in verdict.findings if hints or f.severity != HINT]
        if not shown:
            continue
        inside = f" in {verdict.image}" if verdict.image else ""
        lines.append(f"{verdict.demangled} ({verdict.arch}{inside}, {verdict.file})")
        for alike in _folded(sorted(shown, key=lambda f: (_ORDER[f.severity], f.offset or 0))):
            lines += _finding_lines(alike[0], alike[1:])
        lines.append("")
    for finding in report.extra:
        lines += [*_finding_lines(finding), ""]
    lines.append(_summary(report))
    return "\n".join(map(visible, lines))


def _folded(findings: list[Finding]) -> list[list[Finding]]:
    """Each alone, but those that have one cause together: a parameter that decides whether the kernel waits."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.condition is not None:
            alike.setdefault((finding.id, finding.condition), []).append(finding)
    told: list[list[Finding]] = []
    for finding in findings:
        group = alike.get((finding.id, finding.condition or ""), [])
        if len(group) <= _MOST_ALIKE:
            told.append([finding])
        elif finding is group[0]:
            told.append(group)
    return told


def _finding_lines(finding: Finding, others: list[Finding] | None = None) -> list[str]:
    place = finding.where.split(": ", 1)[-1].split(" ", 1)[-1] if finding.offset is not None else ""
    lines = [f"  {finding.severity}: {finding.message} [{finding.id}]"]
    if place:
        lines.append(f"      at {place}: {finding.instruction}")
    if others:
        places = ", ".join(f"+0x{f.offset or 0:04x}" for f in others[:_MOST_PLACES])
        more = ", ..." if len(others) > _MOST_PLACES else ""
        lines.append(f"      and {len(others)} more of this kind, for the same reason, at {places}{more} (--json tells each)")
    if finding.severity != HINT:
        lines.append(f"      {finding.advice}")
    return lines


def _summary(report: Report) -> str:
    counts = _counts(report.findings)
    judged = sum(v.judged for v in report.verdicts)
    rest = len(report.verdicts) - judged
    text = f"{judged} kernel{'s' if judged != 1 else ''} judged: {counts[ERROR]} errors, {counts[WARNING]} warnings, " \
           f"{counts[HINT]} hints"
    if rest:
        text += f"; {rest} without a wait and not named by --overlapping: not judged"
    return text


def as_json(report: Report) -> dict[str, Any]:
    return {
        "schema": 1,
        "findings": [f.as_json() for f in report.findings],
        "kernels": [
            {"kernel": v.kernel, "demangled": v.demangled, "file": v.file, "image": v.image, "arch": v.arch,
             "judged": v.judged, "clean": v.clean}
            for v in report.verdicts if v.judged
        ],
        "not_judged": sum(not v.judged for v in report.verdicts),
        "unreadable": [{"file": file, "message": message} for file, message in report.unreadable],
        "counts": _counts(report.findings),
        "timing": {"instructions": report.instructions, "own_s": round(report.own_seconds, 4),
                   "disassembler_s": round(report.disassembler_seconds, 4)},
    }


def as_sarif(report: Report) -> dict[str, Any]:
    used = sorted({f.id for f in report.findings})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "pdl-lint", "rules": [
                {"id": rule, "shortDescription": {"text": RULES[rule].title}, "help": {"text": RULES[rule].advice},
                 "defaultConfiguration": {"level": _SARIF_LEVELS[RULES[rule].severity]}}
                for rule in used
            ]}},
            "invocations": [{"executionSuccessful": not report.unreadable, "toolExecutionNotifications": [
                {"level": "error", "message": {"text": f"{file}: {message}"}} for file, message in report.unreadable
            ]}],
            "results": [_sarif_result(f) for f in report.findings],
        }],
    }


def _uri(path: str) -> str:
    return quote(os.fsencode(path))


def _sarif_result(finding: Finding) -> dict[str, Any]:
    if finding.source is not None:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.source[0])},
                                    "region": {"startLine": max(finding.source[1], 1)}}
    else:
        location = {"artifactLocation": {"uri": _uri(finding.file)}}
    logical = {"name": finding.demangled, "fullyQualifiedName": finding.kernel, "kind": "function"}
    return {
        "ruleId": finding.id, "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.advice}."},
        "locations": [{"physicalLocation": location, "logicalLocations": [logical]}],
        "properties": {"arch": finding.arch, "where": finding.where, "parameters": finding.parameters},
    }


def exit_code(report: Report) -> int:
    """1: findings above hint; 2: something could not be analysed, and no finding; 0: clean."""
    if above_hint(report.findings):
        return 1
    return 2 if report.unreadable else 0


def dump(content: dict[str, Any]) -> str:
    return _HALVES.sub("\ufffd", json.dumps(content, indent=1, ensure_ascii=False))


def visible(line: str) -> str:
    """Names in damaged files hold anything; a terminal would obey it."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def say(text: str, encoding: str | None = None) -> None:
    """On stdout, whatever its encoding; JSON is UTF-8 everywhere."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding or sys.stdout.encoding, errors="backslashreplace")
    print(text)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries again when it ends
        raise SetupImpossible(f"stdout cannot be written: {error.strerror}") from None
