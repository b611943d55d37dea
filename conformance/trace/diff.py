"""`python3 conformance trace diff OLD.json NEW.json`: what a change did, pair by pair. Exit codes: 0 same, 1 worse, 3 better."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.pdlkit.read_report import Unreadable, read_json
from conformance.trace.report import SCHEMA, clipped, short_name, us

BETTER = 3
_SAME = 0.02  # of a step's time: two runs of one program on a quiet GPU differ by less


@dataclass(frozen=True)
class Change:
    """One pair in both traces; counts are shares of its runs."""

    primary: str
    dependent: str
    where: str
    overlapping_before: float
    overlapping_after: float
    overlap_us_before: float
    overlap_us_after: float
    gap_us_before: float
    gap_us_after: float
    reason_before: str
    reason_after: str


def _read(path: str) -> dict[str, Any]:
    try:
        content = read_json(Path(path))
    except Unreadable as reason:
        raise BadArguments(f"{path} cannot be read: {reason}") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise BadArguments(f"{path} is not what `trace --json` writes ({SCHEMA})")
    return content


def _key(pair: Mapping[str, Any]) -> tuple[str, str, str]:
    """Numbers of graphs change from run to run; whether the pair stands in one does not."""
    return pair["primary"], pair["dependent"], "".join(letter for letter in pair["where"] if not letter.isdigit()).strip()


def _merged(content: Mapping[str, Any]) -> dict[tuple[str, str, str], dict[str, float | str]]:
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for pair in content["pairs"]:
        entry = found.setdefault(_key(pair), {"launches": 0, "overlapping": 0, "overlap": 0.0, "gap": 0.0, "reason": "", "most": 0})
        entry["launches"] += pair["launches"]
        entry["overlapping"] += pair["overlapping"]
        entry["overlap"] += pair["overlap_us"]["sum"]
        entry["gap"] += pair["gap_us"]["sum"]
        if pair["why_not"] and pair["launches"] > entry["most"]:
            entry["reason"], entry["most"] = pair["why_not"][0]["reason"], pair["launches"]
    return found


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Pairs that both have, the greatest change of share first."""
    before, after = _merged(old), _merged(new)
    found = []
    for key in before.keys() & after.keys():
        a: dict[str, Any] = before[key]
        b: dict[str, Any] = after[key]
        found.append(Change(*key, a["overlapping"] / a["launches"], b["overlapping"] / b["launches"], a["overlap"] / a["launches"],
                            b["overlap"] / b["launches"], a["gap"] / a["launches"], b["gap"] / b["launches"], a["reason"], b["reason"]))
    return sorted(found, key=_size, reverse=True)


def _size(change: Change) -> tuple[float, float, str]:
    return (abs(change.overlapping_after - change.overlapping_before), abs(change.gap_us_after - change.gap_us_before), change.primary)


def verdict(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[int, str]:
    """By the median time of a step."""
    before, after = old["steps"]["median_us"], new["steps"]["median_us"]
    if not before or not after:
        return OK, "same: one of the traces has no step"
    ratio = after / before
    word, code = ("same", OK) if abs(ratio - 1) <= _SAME else ("better", BETTER) if ratio < 1 else ("worse", FAILED)
    return code, f"{word}: a step took {us(before)} us, now {us(after)} us ({100 * (ratio - 1):+.1f} %)"


def _lines(found: list[Change]) -> list[str]:
    lines = []
    for c in found[:20]:
        lines.append(f"{clipped(short_name(c.primary), 36)} > {clipped(short_name(c.dependent), 36)}, {c.where}")
        reasons = [c.reason_before or "nothing in the way", c.reason_after or "nothing in the way"]
        why = f"; {reasons[0]} -> {reasons[1]}" if reasons[0] != reasons[1] else ""
        lines.append(f"    overlap in {100 * c.overlapping_before:.0f} -> {100 * c.overlapping_after:.0f} %, {us(c.overlap_us_before)} -> "
                     f"{us(c.overlap_us_after)} us; gap {us(c.gap_us_before)} -> {us(c.gap_us_after)} us{why}")
    return lines


def main(argv: list[str]) -> int:
    """Compare two files."""
    parser = Parser("trace diff", "What a change did to each pair of kernels. Exit codes: 0 same, 1 worse, 3 better (time per step).")
    parser.add_argument("old", help="what `trace --json` wrote before the change")
    parser.add_argument("new", help="and after it")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    given = parser.parse_args(argv)
    old, new = _read(given.old), _read(given.new)
    code, sentence = verdict(old, new)
    found = changes(old, new)
    before, after = set(_merged(old)), set(_merged(new))
    if given.json:
        print(json.dumps({"verdict": sentence.partition(":")[0], "sentence": sentence, "changes": [asdict(c) for c in found],
                          "gone": sorted(map(list, before - after)), "come": sorted(map(list, after - before))}, indent=1))
        return code
    print("\n".join([sentence, *_lines(found)]))
    for word, keys in (("gone", before - after), ("new", after - before)):
        for primary, dependent, where in sorted(keys)[:20]:
            print(f"{word}: {clipped(short_name(primary), 36)} > {clipped(short_name(dependent), 36)}, {where}")
    return code
