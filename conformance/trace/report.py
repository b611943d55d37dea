"""The terminal's table, within 100 columns, and the JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from conformance.pdlkit.demangle import demangled
from conformance.trace.inside.findings import Inside
from conformance.trace.pairs import Group
from conformance.trace.presence import Presence
from conformance.trace.summary import Summary

SCHEMA = "pdl-trace/1"
WIDTH = 100
TOP = 10
_NAME = 34
_REASONS = 2


@lru_cache(maxsize=65536)
def short_name(name: str) -> str:
    """A kernel's name without parameters, namespaces and template arguments, as a person would say it."""
    text = demangled(name)
    text = re.sub(r"\(anonymous namespace\)|\{lambda[^}]*\}", "", text)
    text = _without_brackets(text)
    text = text.partition("(")[0].strip()
    text = text.rsplit(" ", 1)[-1]
    return text.rsplit("::", 1)[-1] or name


def _without_brackets(text: str) -> str:
    depth, kept = 0, []
    for letter in text:
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">" and depth > 0
    return "".join(kept)


def clipped(text: str, width: int) -> str:
    """At most this wide; what is left out of the middle is shown by an ellipsis."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail:]}"


def us(value: float) -> str:
    """Microseconds with as many digits as mean something."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def wrapped(text: str, indent: int) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and indent + len(line) + 1 + len(word) > WIDTH:
            lines.append(" " * indent + line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, " " * indent + line] if line else lines


def _asked(group: Group) -> str:
    return ", ".join(f"{kind} {count:,}" if len(group.asked) > 1 else kind for kind, count in group.asked.most_common())


def _row(number: int, group: Group) -> list[str]:
    names = f"{clipped(short_name(group.primary), _NAME)} > {clipped(short_name(group.dependent), _NAME)}"
    overlap, gap = group.overlap_us, group.gap_us
    lines = [f"{number:>2} {us(group.worth_us):>8}  {names}"]
    seen = f"{group.where}, {len(group.pairs):,} runs, asked: {_asked(group)}"
    if group.between:
        seen += ", between: " + ", ".join(name.replace("_", " ") for name, _ in group.between.most_common(3))
    lines += wrapped(seen, 13)
    share = 100 * group.overlapping / len(group.pairs)
    lines.append(f"{'':13}overlap in {share:.0f} %: p5 {us(overlap.at(0.05))}, p50 {us(overlap.at(0.5))}, p95 {us(overlap.at(0.95))} us; "
                 f"gap p50 {us(gap.at(0.5))}, p95 {us(gap.at(0.95))} us")
    for reason, count in group.reasons()[:_REASONS]:
        of = f" ({count:,} of {len(group.pairs):,})" if count < len(group.pairs) else ""
        lines += wrapped(f"{reason.code}{of}: {reason.sentence()}", 13)
    if group.ranges:
        others = f" and {len(group.ranges) - 1} more ranges" if group.ranges[1:] else ""
        lines += wrapped(f"in {clipped(group.ranges[0], 60)}{others}", 13)
    return lines


def _headline(summary: Summary) -> list[str]:
    several = f"{summary.processes} processes, " if summary.processes > 1 else ""
    share = f" ({100 * summary.recoverable_us / summary.step_us:.0f} %)" if summary.step_us else ""
    lines = [f"trace        {several}{summary.device}: {summary.runs:,} kernels",
             f"step         {summary.steps.name}, {summary.steps.count:,} times; {us(summary.step_us)} us each (median)",
             f"recoverable  {us(summary.recoverable_us)} us per step{share} by PDL, as an estimate without prologues",
             f"             {us(summary.by_graph_us)} us per step by launching ahead or from a graph"]
    if summary.critical:
        c = summary.critical
        lines.append(f"critical     {c.kernels:,} kernels in a row: {us(c.span_us)} us, of which {us(c.gaps_us)} us between kernels")
    for load in summary.loads[:5]:
        lines.append(f"{'time' if load is summary.loads[0] else '':<13}{load.name}: {load.runs:,} kernels, sum {us(load.sum_us)} us, "
                     f"union {us(load.union_us)} us")
    return lines


def table(summary: Summary, presence: Presence | None) -> str:
    """All that is printed."""
    lines = _headline(summary)
    if presence:
        lines += [f"presence     {line.strip()}" if i == 0 else line for i, line in enumerate(wrapped(presence.sentence, 13))]
    for note in summary.notes:
        lines += [f"note         {line.strip()}" if i == 0 else line for i, line in enumerate(wrapped(note, 13))]
    if summary.groups:
        lines += ["", " #  us/step  pair of kernels"]
    for number, group in enumerate(summary.groups[:TOP], 1):
        lines += _row(number, group)
    if len(summary.groups) > TOP:
        lines.append(f"             and {len(summary.groups) - TOP} more pairs in the JSON")
    return "\n".join(line.rstrip() for line in lines)


def inside_table(inside: Inside) -> list[str]:
    """What --inside adds: per pair the times of a typical block, and which of trigger and wait would gain."""
    lines = ["", f"inside       {inside.launches:,} launches recorded block by block"]
    for note in inside.notes:
        lines += [f"note         {line.strip()}" if i == 0 else line for i, line in enumerate(wrapped(note, 13))]
    for one in inside.findings[:TOP]:
        lines.append(f"{'':13}{clipped(short_name(one.primary), _NAME)} > {clipped(short_name(one.dependent), _NAME)}")
        lines += wrapped(f"{len(one.steps):,} launches; the trigger leads the primary's end by {us(one.typical('lead'))} us, the first "
                         f"block arrives {us(one.typical('arrival'))} us after it, works {us(one.typical('prologue'))} us, stands "
                         f"{us(one.typical('standing'))} us in the wait, which ends {us(one.typical('response'))} us after the primary", 15)
        lines += wrapped(one.sentence(), 15)
    if len(inside.findings) > TOP:
        lines.append(f"{'':13}and {len(inside.findings) - TOP} more pairs in the JSON")
    for name, why in sorted(inside.refused.items())[:TOP]:
        lines += wrapped(f"not recorded: {clipped(short_name(name), _NAME)}: {why}", 13)
    if len(inside.refused) > TOP:
        lines.append(f"{'':13}and {len(inside.refused) - TOP} more kernels in the JSON")
    return [line.rstrip() for line in lines]


def _group_json(group: Group) -> dict[str, Any]:
    per_step = max(1, group.steps)
    places: dict[str, int] = {}
    for pair in group.pairs:
        places[pair.place] = places.get(pair.place, 0) + 1
    return {
        "primary": group.primary, "dependent": group.dependent, "where": group.where, "places": places,
        "launches": len(group.pairs), "steps": group.steps,
        "asked": dict(group.asked), "between": dict(group.between), "overlapping": group.overlapping,
        "overlap_us": group.overlap_us.as_json(), "gap_us": group.gap_us.as_json(),
        "recoverable_us_per_step": round(group.recoverable_us / per_step, 3),
        "by_launching_ahead_us_per_step": round(group.by_graph_us / per_step, 3), "ranges": group.ranges[:20],
        "why_not": [{"reason": reason.code, "ids": list(reason.ids), "launches": count, "text": reason.text, "remedy": reason.remedy}
                    for reason, count in group.reasons()],
    }


def as_json(summary: Summary, presence: Presence | None, command: Sequence[str], more: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known, for scripts and for `trace diff`."""
    critical = summary.critical
    return {
        "schema": SCHEMA, "command": list(command), **more, "device": summary.device, "processes": summary.processes,
        "kernels": summary.runs,
        "steps": {"name": summary.steps.name, "count": summary.steps.count, "median_us": round(summary.step_us, 3)},
        "recoverable_us_per_step": round(summary.recoverable_us, 3),
        "by_launching_ahead_us_per_step": round(summary.by_graph_us, 3),
        "critical_path": None if critical is None else {
            "kernels": critical.kernels, "span_us": round(critical.span_us, 3), "kernels_us": round(critical.kernels_us, 3),
            "gaps_us": round(critical.gaps_us, 3)},
        "time": [{"name": load.name, "kernels": load.runs, "sum_us": round(load.sum_us, 3), "union_us": round(load.union_us, 3)}
                 for load in summary.loads],
        "presence": presence.as_json() if presence else None, "notes": summary.notes,
        "pairs": [_group_json(group) for group in summary.groups],
    }
