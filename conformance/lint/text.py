"""Findings for people: grouped by kernel, rule and parameter, and kernels by their template, so that a library fits on a page."""

from __future__ import annotations

from conformance.lint import packed
from conformance.lint.findings import ERROR, HINT, WARNING
from conformance.lint.grouping import Block, Group, blocks
from conformance.lint.linter import KernelVerdict, Report
from conformance.lint.output import counts, visible
from conformance.lint.packed import Told
from conformance.lint.results import Place

_MOST_NAMES = 3  # kernels of one block that are named
_MOST_SUBJECTS = 6  # groups of one cause that are told one by one
_MOST_NOT_JUDGED = 12  # listed one by one
_LONGEST_NAME = 160


def as_text(report: Report, hints: bool, not_judged: bool) -> str:
    """One block for each template with something to say, then the sum."""
    told, rest = report.told(), report.not_judged
    shown = [t for t in packed.shown(told, hints) if t.first.suppressed is None and not t.first.known]
    lines: list[str] = []
    for block in blocks(t for t in shown if t.first.kernel):
        lines += [_heading(block), *(line for groups in block.by_cause() for line in _cause_lines(groups)), ""]
    for finding in (t.first for t in shown if not t.first.kernel):
        lines += [f"{finding.severity}: {finding.where}: {finding.message} [{finding.id}]", f"    do: {finding.advice}", ""]
    judged = len({(v.kernel, v.file, v.image) for v in report.verdicts if v.judged})
    lines += [*_not_judged_lines(rest, not_judged), _summary(judged, told, shown, len(rest))]
    return "\n".join(map(visible, lines))


def _heading(block: Block) -> str:
    findings = [one.first for one in block.told]
    names = list(dict.fromkeys(f.demangled for f in findings))
    files = list(dict.fromkeys(f.file for f in findings))
    archs = ", ".join(sorted({f.arch for f in findings}))
    shown = [_short(name) for name in names[:_MOST_NAMES]]
    templates = len({group.template for group in block.groups})
    like = "of this template" if templates == 1 else "that are wrong in the same ways"
    more = f" and {len(names) - _MOST_NAMES} more {like} (--json lists each)" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(shown)}{more} ({archs}, {', '.join(files[:2])}{', ...' if files[2:] else ''})"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _cause_lines(groups: list[Group]) -> list[str]:
    """What is wrong for each subject, with the first place and its path; then, once, what to do about all of it."""
    finding = groups[0].first
    lines: list[str] = []
    before: list[str] = []
    for group in groups[:_MOST_SUBJECTS]:
        path = [f"      {step.what}: {_beside(step.place, group.first.place)}" for step in group.first.path]
        lines += [*_group_lines(group), *(line for line in path if line not in before)]
        before = path
    rest = groups[_MOST_SUBJECTS:]
    if rest:
        places = sum(group.count for group in rest)
        lines.append(f"  and {places} more places of this kind, about {len(rest)} other parameters or variables (--json lists each)")
    if finding.caution:
        lines.append(f"      {finding.caution}")
    if finding.severity != HINT:
        lines.append(f"      do: {finding.advice}")
    if finding.place is not None and not finding.place.lines and finding.severity != HINT:
        lines.append("      compile with -lineinfo (nvcc, NVRTC; clang: -gline-tables-only) to see the source line")
    return lines


def _group_lines(group: Group) -> list[str]:
    finding = group.first
    lines = [f"  {finding.severity}: {finding.message} [{finding.id}]{_how_many(group)}"]
    if finding.place is not None:
        place, code = finding.place, f"{finding.place.section}+0x{finding.place.offset:04x}"
        lines.append(f"      at {place.source[0]}:{place.source[1]} ({code}): {finding.instruction}" if place.source
                     else f"      at {code}: {finding.instruction}")
        lines += [f"         in the toolkit's {file}:{line}" for file, line in place.lines[: place.headers]]
        lines += [f"         inlined at {file}:{line}" for file, line in place.inlined_at]
    return lines


def _how_many(group: Group) -> str:
    kernels = len({one.first.kernel for one in group.told})
    if group.count == 1:
        return ""
    at = f"{group.count} places" + (f" in {kernels} kernels" if kernels > 1 else "")
    return f" ({at}; this is the first)"


def _beside(place: Place, main: Place | None) -> str:
    """A step of a path to another place: its line in the same file, because a wait's own line is in a header, and its code."""
    code = f"+0x{place.offset:04x}" if main is not None and place.section == main.section else f"{place.section}+0x{place.offset:04x}"
    if not place.lines:
        return code
    home = {file for file, _ in main.lines} if main else set()
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


def _summary(judged: int, told: list[Told], shown: list[Told], rest: int) -> str:
    number = counts(shown)
    text = f"{judged} kernel{'s' if judged != 1 else ''} judged: {number[ERROR]} errors, {number[WARNING]} warnings"
    if number[HINT]:
        text += f", {number[HINT]} hints"
    suppressed = sum(t.count for t in told if t.first.suppressed is not None)
    known = sum(t.count for t in packed.shown(told, False) if t.first.known and t.first.suppressed is None)
    text += f"; {suppressed} suppressed" if suppressed else ""
    text += f"; {known} in the baseline" if known else ""
    if rest:
        text += f"; {rest} without a wait, of which nothing says that they overlap: not judged"
        text += " (--not-judged lists them)" if rest > _MOST_NOT_JUDGED else ""
    return text
