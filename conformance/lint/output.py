"""Findings as JSON, the exit code, and how anything gets onto stdout."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from typing import Any

from conformance.lint.findings import ERROR, HINT, WARNING, Finding
from conformance.lint.linter import Report
from conformance.pdlkit.exits import SetupImpossible

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HALVES = re.compile(r"[\ud800-\udfff]")  # bytes of a file's name that are no UTF-8
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
