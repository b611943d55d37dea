"""Findings for people: grouped by kernel, rule and parameter, and kernels by their template, so that a library fits on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.lint.findings import ERROR, HINT, WARNING, Finding
from conformance.lint.linter import KernelVerdict, Report
from conformance.lint.output import counts, shown_findings, visible
from conformance.lint.results import Place

_ANONYMOUS, _PLACEHOLDER = "(anonymous namespace)", "\0"
_ORDER = {ERROR: 0, WARNING: 1, HINT: 2}
_MOST_NAMES = 3  # kernels of one template that are named
_MOST_NOT_JUDGED = 12  # listed one by one
_LONGEST_NAME = 160


@dataclass
class Group:
    """Findings that one sentence tells: of one template, rule and message."""

    template: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def first(self) -> Finding:
        return self.findings[0]


def template_of(name: str) -> str:
    """A demangled name without the arguments of its template and of its call: void ns::k<4>(int) is ns::k."""
    depth = 0
    kept: list[str] = []
    text = name.replace(_ANONYMOUS, _PLACEHOLDER)
    for letter in text:
        if letter == "(" and depth == 0:
            break
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">" and depth > 0
    short = "".join(kept).strip().removeprefix("void ")
    return (short or name).replace(_PLACEHOLDER, _ANONYMOUS)


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Worst first; within a template in the order of the code."""
    groups: dict[tuple[str, str, str, str], Group] = {}
    for finding in findings:
        template = template_of(finding.demangled)
        about = finding.subject if finding.place else finding.message
        key = (template, finding.id, about, finding.condition or "")
        groups.setdefault(key, Group(template)).findings.append(finding)
    return sorted(groups.values(), key=lambda g: (_ORDER[g.first.severity], g.template))


def as_text(report: Report, hints: bool, not_judged: bool) -> str:
    """One block for each template with something to say, then the sum."""
    shown = [f for f in shown_findings(report.findings, hints) if f.suppressed is None and not f.known]
    by_template: dict[str, list[Group]] = {}
    for group in grouped(f for f in shown if f.kernel):
        by_template.setdefault(group.template, []).append(group)
    lines: list[str] = []
    for groups in by_template.values():
        lines += [_heading([f for g in groups for f in g.findings])]
        for group in groups:
            lines += _group_lines(group)
        lines.append("")
    for finding in (f for f in shown if not f.kernel):
        lines += [f"{finding.severity}: {finding.where}: {finding.message} [{finding.id}]", f"    do: {finding.advice}", ""]
    lines += [*_not_judged_lines(report.not_judged, not_judged), _summary(report, shown)]
    return "\n".join(map(visible, lines))


def _heading(findings: list[Finding]) -> str:
    names = list(dict.fromkeys(f.demangled for f in findings))
    files = list(dict.fromkeys(f.file for f in findings))
    archs = ", ".join(sorted({f.arch for f in findings}))
    shown = [_short(name) for name in names[:_MOST_NAMES]]
    more = f" and {len(names) - _MOST_NAMES} more of this template (--json lists each)" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(shown)}{more} ({archs}, {', '.join(files[:2])}{', ...' if files[2:] else ''})"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _group_lines(group: Group) -> list[str]:
    finding = group.first
    lines = [f"  {finding.severity}: {finding.message} [{finding.id}]{_how_many(group)}"]
    if finding.place is not None:
        lines.append(f"      at {_at(finding.place)}: {finding.instruction}")
        lines += [f"         inlined at {file}:{line}" for file, line in finding.place.lines[1:]]
    lines += [f"      {step.what}: {_at(step.place, finding.place)}" for step in finding.path]
    if finding.imprecise:
        lines.append("      lint merged paths of this kernel, because there are too many: look whether this one can be taken")
    if finding.severity != HINT:
        lines.append(f"      do: {finding.advice}")
    if finding.place is not None and not finding.place.lines and finding.severity != HINT:
        lines.append("      compile with -lineinfo (nvcc, NVRTC; clang: -gline-tables-only) to see the source line")
    return lines


def _how_many(group: Group) -> str:
    kernels = len({f.kernel for f in group.findings})
    places = Counter(f.kernel for f in group.findings)
    if len(group.findings) == 1:
        return ""
    at = f"{max(places.values())} places" if kernels == 1 else f"{len(group.findings)} places in {kernels} kernels"
    return f" ({at}; this is the first)"


def _at(place: Place, beside: Place | None = None) -> str:
    """The innermost line; beside another place the line in the same file, because a wait's own line is in a header."""
    code = f"{place.section}+0x{place.offset:04x}"
    if not place.lines:
        return code
    home = {file for file, _ in beside.lines} if beside else set()
    file, line = next((one for one in place.lines if one[0] in home), place.lines[0])
    return f"{file}:{line} ({code})"


def _not_judged_lines(rest: list[KernelVerdict], everything: bool) -> list[str]:
    """Kernels without a wait that are not said to overlap."""
    if not rest:
        return []
    if len(rest) <= _MOST_NOT_JUDGED or everything:
        return ["not judged, because they have no wait and nothing says that they are launched with overlap:",
                *(f"  {_short(v.demangled)}" for v in rest), ""]
    return []


def _summary(report: Report, shown: list[Finding]) -> str:
    number = counts(shown)
    judged = len({(v.kernel, v.file, v.image) for v in report.verdicts if v.judged})
    text = f"{judged} kernel{'s' if judged != 1 else ''} judged: {number[ERROR]} errors, {number[WARNING]} warnings"
    if number[HINT]:
        text += f", {number[HINT]} hints"
    suppressed = sum(f.suppressed is not None for f in report.findings)
    known = sum(f.known and f.suppressed is None and f.severity != HINT for f in report.findings)
    text += f"; {suppressed} suppressed" if suppressed else ""
    text += f"; {known} in the baseline" if known else ""
    rest = len(report.not_judged)
    if rest:
        text += f"; {rest} without a wait, of which nothing says that they overlap: not judged"
        text += " (--not-judged lists them)" if rest > _MOST_NOT_JUDGED else ""
    return text
