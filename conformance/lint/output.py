"""Findings as JSON, the exit code, and how anything gets onto stdout."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from conformance.lint.findings import ERROR, HINT, WARNING, Finding
from conformance.lint.json_text import Written
from conformance.lint.judged import Said
from conformance.lint.linter import Report
from conformance.lint.packed import Told, shown
from conformance.pdlkit import outputs
from conformance.pdlkit.exits import SetupImpossible

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
FOUND, DAMAGED, NOT_JUDGED = 1, 2, 3  # exit codes


def shown_findings(findings: Iterable[Finding], hints: bool) -> Iterator[Finding]:
    """Hints only on demand."""
    return (f for f in findings if hints or f.severity != HINT)


def counts(told: Iterable[Told]) -> dict[str, int]:
    """Of those that are neither suppressed nor in the baseline, by severity."""
    number = {severity: 0 for severity in (ERROR, WARNING, HINT)}
    for group in told:
        if group.first.suppressed is None and not group.first.known:
            number[group.first.severity] += group.count
    return number


def as_json(report: Report, hints: bool) -> dict[str, Any]:
    """Its findings are an iterator, for dump."""
    return {
        "schema": 2,
        "findings": _findings(report, hints),
        "kernels": [
            {"kernel": v.kernel, "demangled": v.demangled, "file": v.file, "image": v.image, "arch": v.arch,
             "judged": v.judged, "clean": v.clean}
            for v in report.verdicts if v.judged
        ],
        "not_judged": len(report.not_judged),
        "not_judged_kernels": [{"kernel": v.kernel, "demangled": v.demangled, "file": v.file} for v in report.not_judged],
        "unreadable": [{"file": file, "message": message} for file, message in report.unreadable],
        "notes": report.notes,
        "counts": counts(shown(report.told(), hints)),
        "timing": {"instructions": report.instructions, "own_s": round(report.own_seconds, 4)},
    }


def _findings(report: Report, hints: bool) -> Iterator[dict[str, Any] | Written]:
    for verdict in report.verdicts:
        if isinstance(verdict.findings, Said):  # then hints were not asked for
            yield from verdict.findings.written(verdict.file, verdict.image)
        else:
            yield from (f.as_json() for f in shown_findings(verdict.findings, hints))
    yield from (f.as_json() for f in shown_findings(report.extra, hints))


def exit_code(report: Report) -> int:
    """1: findings above hint that are new; 2: something could not be analysed; 3: nothing was judged, or nothing that was named;
    0: clean."""
    if any(t.first.counts for t in report.told()):
        return FOUND
    if report.unreadable:
        return DAMAGED
    return NOT_JUDGED if report.unmatched or not any(v.judged for v in report.verdicts) else 0


def visible(line: str) -> str:
    """Names in damaged files hold anything; a terminal would obey it."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def say(text: str | Iterable[str], encoding: str | None = None) -> None:
    """On stdout, in this encoding or its own, with a line's end; the pieces of a text as they come."""
    if encoding and (reconfigure := getattr(sys.stdout, "reconfigure", None)):
        reconfigure(encoding=encoding, errors="backslashreplace")
    sys.stdout.writelines((text, "\n") if isinstance(text, str) else chain(text, "\n"))
    reason = outputs.lost()
    if reason is not None:
        raise SetupImpossible(f"the findings are lost: stdout cannot be written ({reason})")
