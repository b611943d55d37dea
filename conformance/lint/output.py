"""Findings as JSON, the exit code, and how anything gets onto stdout."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from conformance.lint.findings import ERROR, HINT, WARNING, Finding
from conformance.lint.linter import Report
from conformance.pdlkit import outputs
from conformance.pdlkit.exits import SetupImpossible

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HALVES = re.compile(r"[\ud800-\udfff]")  # bytes of a file's name that are not valid UTF-8
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
FOUND, DAMAGED, NOT_JUDGED = 1, 2, 3  # exit codes


def shown_findings(findings: list[Finding], hints: bool) -> list[Finding]:
    """Hints only on demand."""
    return [f for f in findings if hints or f.severity != HINT]


def counts(findings: list[Finding]) -> dict[str, int]:
    """Of those that are neither suppressed nor in the baseline, by severity."""
    return {s: sum(f.severity == s and f.suppressed is None and not f.known for f in findings) for s in (ERROR, WARNING, HINT)}


def as_json(report: Report, hints: bool) -> dict[str, Any]:
    shown = shown_findings(report.findings, hints)
    return {
        "schema": 2,
        "findings": [f.as_json() for f in shown],
        "kernels": [
            {"kernel": v.kernel, "demangled": v.demangled, "file": v.file, "image": v.image, "arch": v.arch,
             "judged": v.judged, "clean": v.clean}
            for v in report.verdicts if v.judged
        ],
        "not_judged": len(report.not_judged),
        "not_judged_kernels": [{"kernel": v.kernel, "demangled": v.demangled, "file": v.file} for v in report.not_judged],
        "unreadable": [{"file": file, "message": message} for file, message in report.unreadable],
        "notes": report.notes,
        "counts": counts(shown),
        "timing": {"instructions": report.instructions, "own_s": round(report.own_seconds, 4)},
    }


def exit_code(report: Report) -> int:
    """1: findings above hint that are new; 2: something could not be analysed; 3: nothing was judged, or nothing that was named;
    0: clean."""
    if any(f.counts for f in report.findings):
        return FOUND
    if report.unreadable:
        return DAMAGED
    return NOT_JUDGED if report.unmatched or not any(v.judged for v in report.verdicts) else 0


def dump(content: dict[str, Any]) -> str:
    """JSON in ASCII, so that it stays valid whatever the encoding of stdout is and whatever bytes a file's name has."""
    text = _HALVES.sub("\ufffd", json.dumps(content, indent=1, ensure_ascii=False))
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def visible(line: str) -> str:
    """Names in damaged files hold anything; a terminal would obey it."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def say(text: str, encoding: str | None = None) -> None:
    """On stdout, in this encoding or its own."""
    if encoding and (reconfigure := getattr(sys.stdout, "reconfigure", None)):
        reconfigure(encoding=encoding, errors="backslashreplace")
    print(text)
    reason = outputs.lost()
    if reason is not None:
        raise SetupImpossible(f"the findings are lost: stdout cannot be written ({reason})")
