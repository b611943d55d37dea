"""One self-contained HTML page: a timeline that can be zoomed, and the pairs in words. It makes no request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from conformance.pdlkit.output_folder import in_one_step
from conformance.trace.inside.findings import Inside
from conformance.trace.pairs import Group, Pair
from conformance.trace.perfetto import lanes
from conformance.trace.presence import Presence
from conformance.trace.report import short_name, us
from conformance.trace.summary import Summary
from conformance.trace.timeline import Run, Timeline


class _Numbers:
    """Numbers for texts, in the order in which they come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(text)
        return self._known[text]


def _rows(timelines: Sequence[Timeline]) -> tuple[dict[int, int], list[str]]:
    """Of each run its row; of each row its title."""
    row_of: dict[int, int] = {}
    titles: list[str] = []
    for timeline in timelines:
        for stream in sorted({run.stream for run in timeline.runs}):
            own = lanes([run for run in timeline.runs if run.stream == stream])
            for identity, row in own.items():
                row_of[identity] = len(titles) + row
            where = f"{timeline.process.pid}: " if len(timelines) > 1 else ""
            titles += [f"{where}stream {stream}" if row == 0 else "" for row in range(max(own.values(), default=-1) + 1)]
    return row_of, titles


def _runs(runs: Sequence[Run], row_of: dict[int, int], pair_of: dict[int, Pair]) -> dict[str, Any]:
    begin = runs[0].start if runs else 0
    number = {id(run): i for i, run in enumerate(runs)}
    names, ranges, asked, why = _Numbers(), _Numbers(), _Numbers(), _Numbers()
    out: dict[str, Any] = {key: [] for key in ("start", "length", "name", "row", "primary", "asked", "why", "range", "shape")}
    for run in runs:
        pair = pair_of.get(id(run))
        out["start"].append(run.start - begin)
        out["length"].append(run.end - run.start)
        out["name"].append(names.of(run.name))
        out["row"].append(row_of[id(run)])
        out["primary"].append(number.get(id(pair.primary), -1) if pair else -1)
        out["asked"].append(asked.of(pair.facts.asked) if pair else -1)
        out["why"].append(why.of(f"{pair.reasons[0].code}: {pair.reasons[0].sentence()}") if pair and pair.reasons else -1)
        out["range"].append(ranges.of(run.range) if run.range else -1)
        out["shape"].append("{}×{}×{} blocks of {}×{}×{}".format(*run.grid, *run.block))
    return {"runs": out, "names": names.texts, "short": [short_name(name) for name in names.texts], "ranges": ranges.texts,
            "asked": asked.texts, "why": why.texts, "number": number}


def _pair_row(group: Group, number: dict[int, int]) -> dict[str, Any]:
    return {
        "worth": us(group.worth_us),
        "pair": f"{short_name(group.primary)} → {short_name(group.dependent)}", "where": group.where, "runs": f"{len(group.pairs):,}",
        "asked": ", ".join(group.asked), "share": f"{100 * group.overlapping / len(group.pairs):.0f} %",
        "overlap": f"{us(group.overlap_us.at(0.5))} / {us(group.overlap_us.at(0.95))}", "gap": us(group.gap_us.at(0.5)),
        "why": [[reason.code, f"{reason.sentence()} ({count:,})"] for reason, count in group.reasons()[:3]],
        "first": number.get(id(group.pairs[len(group.pairs) // 2].dependent), -1),
    }


def _recorded(inside: Inside) -> dict[str, Any]:
    """The timeline of launches that recorded: the same columns as the traced one, and where a typical block's wait and the last
    block's trigger stand in it (ns from the start; -1: there is none)."""
    launches = sorted((launch for launch, _ in inside.shown), key=lambda launch: launch.start)
    begin = launches[0].start if launches else 0
    number = {id(launch): i for i, launch in enumerate(launches)}
    primary_of = {id(launch): number.get(id(primary), -1) for launch, primary in inside.shown}
    row_of, names = lanes(launches), _Numbers()
    out: dict[str, Any] = {key: [] for key in ("start", "length", "name", "row", "primary", "begun", "ended", "trigger", "shape")}
    for launch in launches:
        wait_begun, wait_ended = launch.typical_wait
        out["start"].append(launch.start - begin)
        out["length"].append(launch.end - launch.start)
        out["name"].append(names.of(launch.name))
        out["row"].append(row_of[id(launch)])
        out["primary"].append(primary_of[id(launch)])
        out["begun"].append(wait_begun - launch.start if wait_begun else -1)
        out["ended"].append(wait_ended - launch.start if wait_ended else -1)
        out["trigger"].append(launch.released - launch.start if launch.triggers else -1)
        out["shape"].append(f"{launch.blocks_expected:,} blocks")
    titles = ["recorded", *[""] * max(row_of.values(), default=0)]
    return {"runs": out, "names": names.texts, "short": [short_name(name) for name in names.texts], "rows": titles}


def _inside(inside: Inside | None) -> dict[str, Any] | None:
    """The table of --inside: columns in the order of the page's heading."""
    if inside is None:
        return None
    rows = [[f"{short_name(one.primary)} → {short_name(one.dependent)}", f"{len(one.steps):,}",
             *(us(one.typical(name)) for name in ("lead", "arrival", "prologue", "standing", "parked", "response")), one.sentence()]
            for one in inside.findings[:100]]
    refused = [f"{short_name(name)}: {why}" for name, why in sorted(inside.refused.items())[:100]]
    return {"rows": rows, "notes": inside.notes, "refused": refused}


def data(summary: Summary, timelines: Sequence[Timeline], pairs: Sequence[Pair], presence: Presence | None,
         command: Sequence[str], inside: Inside | None = None) -> dict[str, Any]:
    """What the page shows."""
    runs = sorted((run for timeline in timelines for run in timeline.runs), key=lambda run: run.start)
    row_of, titles = _rows(timelines)
    shown = _runs(runs, row_of, {id(pair.dependent): pair for pair in pairs})
    number = shown.pop("number")
    load = summary.loads[0]
    facts = [
        [f"{us(summary.recoverable_us)} us", "per step recoverable by PDL (estimate, without prologues)"],
        [f"{us(summary.by_graph_us)} us", "per step by launching ahead"],
        [f"{us(summary.step_us)} us", f"per {summary.steps.name} (median of {summary.steps.count:,})"],
        [f"{load.runs:,}", "kernels"], [f"{us(load.sum_us)} us", "sum of their times"], [f"{us(load.union_us)} us", "union of their times"],
    ]
    notes = [presence.sentence] if presence else []
    about = " ".join(command) + f" — {summary.device}. " + " ".join(f"{note}." for note in [*notes, *summary.notes])
    return {**shown, "rows": titles, "facts": facts, "about": about,
            "pairs": [_pair_row(group, number) for group in summary.groups[:100]], "inside": _inside(inside),
            "recorded": _recorded(inside) if inside and inside.shown else None}


def write(path: Path, content: dict[str, Any]) -> None:
    """The page. `<` is escaped in the data, so that no kernel's name can end the script."""
    template = resources.files("conformance.trace").joinpath("page.html").read_text(encoding="utf-8")
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    with in_one_step(path) as draft:
        draft.write_text(template.replace("@DATA@", text), encoding="utf-8")
