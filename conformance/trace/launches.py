"""The launches file that `lint --launches` reads: which kernels were launched how, and after which others."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.pdlkit.output_folder import in_one_step
from conformance.trace import reasons
from conformance.trace.pairs import Pair
from conformance.trace.timeline import Timeline

_OVERLAP: dict[str, bool | str] = {
    reasons.ATTRIBUTE: True, reasons.EVENT: True, reasons.PROGRAMMATIC_EDGE: "edge", reasons.BLOCK_START_EDGE: "edge",
    reasons.COMPLETION_EDGE: "edge", reasons.NOT_ASKED: False,
}


def lines(timelines: Sequence[Timeline], pairs: Sequence[Pair], images: Mapping[str, str]) -> list[str]:
    """One JSON object per kernel and way of launching."""
    asked: dict[int, Pair] = {id(pair.dependent): pair for pair in pairs}
    count: dict[tuple[str, bool | str], int] = defaultdict(int)
    behind: dict[tuple[str, bool | str], set[str]] = defaultdict(set)
    for timeline in timelines:
        for run in timeline.runs:
            pair = asked.get(id(run))
            key = (run.name, _OVERLAP[pair.facts.asked] if pair else False)
            count[key] += 1
            if pair:
                behind[key].add(pair.primary.name)
    return [json.dumps({"kernel": name, "image": images.get(name, ""), "overlap": overlap, "behind": sorted(behind[name, overlap]),
                        "launches": launches})
            for (name, overlap), launches in sorted(count.items(), key=lambda entry: (entry[0][0], str(entry[0][1])))]


def write(path: Path, timelines: Sequence[Timeline], pairs: Sequence[Pair], images: Mapping[str, str]) -> None:
    """The file."""
    with in_one_step(path) as draft:
        draft.write_text("".join(line + "\n" for line in lines(timelines, pairs, images)), encoding="utf-8")
