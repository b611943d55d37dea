"""Every sentence of a guidance page, read again: what it says is computed anew from the cells, by other code than wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from conformance.bench.guidance import AXES, page
from conformance.bench.matrix import from_records
from conformance.bench.record import Bench, from_text
from conformance.bench.tests.test_bench import records
from conformance.pdlkit.places import KIT

AXIS_OF = {text: axis for axis, text in AXES.items()} | {"base shape": "base"}
RECORDED = sorted((KIT / "results").glob("*/bench.json"))
AT = r"(?P<axis>[^=;]+) = (?P<value>[\d.]+)"


class Cells:
    """The rows of a bench.json by path, axis, value and mode."""

    def __init__(self, bench: dict[str, Any], factor: float = 1.0, names: frozenset[str] = frozenset()) -> None:
        self.rows: dict[tuple[str, str, float, str], dict[str, Any]] = {}
        for row in bench["cells"]:
            scale = factor if row["cell"] in names else 1.0
            us = {key: row[key] * scale for key in ("us", "low95", "high95")}
            self.rows[row["path"], row["axis"], row["value"], row["mode"]] = {**row, **us}

    def gain(self, row: dict[str, Any]) -> str:
        return f"{self.rows[row['path'], row['axis'], row['value'], 'plain']['us'] / row['us']:.2f}"

    def along(self, path: str, axis: str, mode: str) -> list[dict[str, Any]]:
        return sorted((r for (p, a, _, m), r in self.rows.items() if (p, a, m) == (path, axis, mode)), key=lambda r: r["value"])

    def shape(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        return [r for (p, a, v, _), r in self.rows.items() if (p, a, v) == (row["path"], row["axis"], row["value"])]

    def unbeaten(self, row: dict[str, Any]) -> bool:
        return not any(row["low95"] > other["high95"] and row["us"] >= 1.02 * other["us"] for other in self.shape(row))

    def each_shape(self, path: str, mode: str) -> list[dict[str, Any]]:
        once = {json.dumps(r["shape"], sort_keys=True): r for (p, _, _, m), r in reversed(self.rows.items()) if (p, m) == (path, mode)}
        return list(once.values())


def percent(row: dict[str, Any]) -> str:
    return f"{row['limit_us'] / row['us']:.0%}"


def false_words(cells: Cells, path: str, said: str) -> str | None:
    """What is wrong with a sentence, or None; a sentence that this test cannot parse is wrong, too."""

    def at(axis: str, value: str, mode: str) -> dict[str, Any]:
        return cells.rows[path, AXIS_OF[axis], float(value), mode]

    if m := re.fullmatch(r".* \(`(\w+)`\): in (\d+) of (\d+) shapes no other mode is 2 % faster \(.*?\)\. The most it gains is "
                         rf"([\d.]+)x \({AT}\)\.(?: It is beaten at (.*)\.)?", said):
        mode, rows = m[1], cells.each_shape(path, m[1])
        standing = {name: sum(map(cells.unbeaten, cells.each_shape(path, name))) for name in {k[3] for k in cells.rows}}
        beaten = re.findall(rf"(?:^|; ){AT} by `(\w+)`", m[7] or "")
        right = (standing[mode] == max(standing.values()) == int(m[2]) and len(rows) == int(m[3]) == standing[mode] + len(beaten)
                 and all(f"`{name}` in {count}" in said for name, count in standing.items() if name != mode)
                 and cells.gain(at(m["axis"], m["value"], mode)) == m[4] == max(map(cells.gain, rows), key=float)
                 and all(at(a, v, by)["high95"] < at(a, v, mode)["low95"] for a, v, by in beaten))
    elif m := re.fullmatch(r"The attribute alone, without a trigger, saves ([-\d.]+) us per kernel of the base shape, and gains at "
                           rf"most ([\d.]+)x \({AT}\)\.", said):
        base, plain = (cells.rows[path, "base", 0, mode] for mode in ("attribute", "plain"))
        right = (f"{plain['us'] - base['us']:.2f}" == m[1] and cells.gain(at(m["axis"], m["value"], "attribute")) == m[2] ==
                 max(map(cells.gain, cells.each_shape(path, "attribute")), key=float))
    elif m := re.fullmatch(r"With the trigger first, a prologue is hidden by the kernels before it.*: the longest of the matrix, "
                           r"([\d.]+) us, reaches (\d+%) of the limit\.", said):
        rows = cells.along(path, "prologue_short_main_us", "early")
        right = rows[-1]["value"] == float(m[1]) and percent(rows[-1]) == m[2] and all(r["limit_us"] >= 0.9 * r["us"] for r in rows)
    elif m := re.fullmatch(r"With the trigger first, a prologue is hidden by the kernels before it.*: up to ([\d.]+) us of it reach "
                           r"(\d+%) of the limit, ([\d.]+) us only (\d+%)\.", said):
        far, short = (cells.rows[path, "prologue_short_main_us", float(v), "early"] for v in (m[1], m[3]))
        right = ((percent(far), percent(short)) == (m[2], m[4]) and far["limit_us"] >= 0.9 * far["us"] > 0
                 and short["limit_us"] < 0.9 * short["us"])
    elif said.startswith("No prologue before a main part of 1 us"):
        right = all(r["limit_us"] < 0.9 * r["us"] for r in cells.along(path, "prologue_short_main_us", "early"))
    elif m := re.fullmatch(rf"No reason to leave it off: at worst the gain is ([\d.]+)x \({AT}\)\.", said):
        right = (cells.gain(at(m["axis"], m["value"], "early")) == m[1] == min(map(cells.gain, cells.each_shape(path, "early")), key=float)
                 and all(r["low95"] <= at(m["axis"], m["value"], "plain")["high95"] for r in [at(m["axis"], m["value"], "early")]))
    elif said.startswith("The trigger first costs more than it saves at "):
        found = re.findall(rf"(?: at |; ){AT} \(([\d.]+)x, best `(\w+)` with ([\d.]+)x\)", said)
        right = bool(found) and len(found) == said.count("best `") and all(
            at(a, v, "early")["low95"] > at(a, v, "plain")["high95"] and cells.gain(at(a, v, "early")) == g
            and cells.gain(at(a, v, by)) == h and at(a, v, by)["us"] == min(r["us"] for r in cells.shape(at(a, v, by)))
            for a, v, g, by, h in found)
    elif m := re.fullmatch(r"Base shape: (.*) per kernel; the best is `(\w+)`, (\d+%) of the limit\.", said):
        rows = cells.shape(cells.rows[path, "base", 0, "plain"])
        best = cells.rows[path, "base", 0, m[2]]
        right = (set(m[1].split(", ")) == {f"{r['mode']} {r['us']:.2f} us" for r in rows} and percent(best) == m[3]
                 and best["us"] == min(r["us"] for r in rows))
    elif m := re.fullmatch(r"The fastest by (.*?): (at .*)\.", said):
        part_of = re.compile(r"at ([\d.]+) ((?:`\w+`(?: or |, )?)+) \(([\d.]+) us, plain ([\d.]+) us\)")
        parts = [p for part in m[2].split("; ") if (p := part_of.fullmatch(part))]
        right = len(parts) == len(m[2].split("; ")) and [p[1] for p in parts] == [
            f"{r['value']:g}" for r in cells.along(path, AXIS_OF[m[1]], "plain")]
        for p in parts if right else []:
            named = re.findall(r"`(\w+)`", p[2])
            rows, first = cells.shape(at(m[1], p[1], named[0])), at(m[1], p[1], named[0])
            right = right and first["us"] == min(r["us"] for r in rows) and f"{first['us']:.2f}" == p[3] and set(named) == {
                r["mode"] for r in rows if r["low95"] <= first["high95"]} and f"{at(m[1], p[1], 'plain')['us']:.2f}" == p[4]
    elif m := re.fullmatch(r"The trigger pays from a prologue of ([\d.]+) us on: ([\d.]+)x there, ([\d.]+)x at ([\d.]+) us\.", said):
        rows = cells.along(path, "prologue_us", "early")
        paying = [r["value"] for r in rows if float(cells.gain(r)) >= 1.02]
        said_gains = {float(m[1]): m[2], float(m[4]): m[3]}
        right = paying[0] == float(m[1]) and all(cells.gain(r) == said_gains.get(r["value"], cells.gain(r)) for r in rows)
    elif m := re.fullmatch(r"Of each further microsecond of prologue ([\d.]+) us is left to see\.", said):
        rows = cells.along(path, "prologue_us", "early")
        right = f"{max(0, rows[-1]['us'] - rows[0]['us']) / (rows[-1]['value'] - rows[0]['value']):.2f}" == m[1]
    elif m := re.fullmatch(r"(.*): (nothing is gained|gained) at ((?:[\d.]+ \([\d.]+x\)(?:, )?)+)\.", said):
        found = re.findall(r"([\d.]+) \(([\d.]+)x\)", m[3])
        rows = [r for r in cells.along(path, AXIS_OF[m[1]], "early")
                if (cells.rows[path, r["axis"], r["value"], "plain"]["us"] >= 1.02 * r["us"]) == (m[2] == "gained")]
        right = found == [(f"{r['value']:g}", cells.gain(r)) for r in rows]
    elif m := re.fullmatch(r"With ([\d.]+) MiB read and .*: ((?:\d+% `\w+` \([\d.]+ us\)(?:, )?)+)\.", said):
        rows = cells.shape(cells.rows[path, "traffic_mib", float(m[1]), "plain"])
        right = set(m[2].split(", ")) == {f"{r['moved']:.0%} `{r['mode']}` ({r['us']:.2f} us)" for r in rows}
    elif m := re.fullmatch(rf"{AT}: `(\w+)` takes ([\d.]+) us, plain ([\d.]+) us \(([\d.]+)x\)\.", said):
        row, plain = at(m[1], m[2], m[3]), at(m[1], m[2], "plain")
        right = (f"{row['us']:.2f}", f"{plain['us']:.2f}", cells.gain(row)) == (m[4], m[5], m[6]) and row["low95"] > plain["high95"]
    else:
        return "no check for this sentence"
    return None if right else "the cells do not say so"


def sentences(text: str) -> list[tuple[str, str, frozenset[str]]]:
    """Path, sentence and cited cells of each bullet above the examples."""
    found, path = [], ""
    for line in text.split("## The examples")[0].split("## What a launch")[0].split("## All cells")[0].splitlines():
        if m := re.fullmatch(r"## In (?:short, in )?a (stream|graph)", line):
            path = m[1]
        if line.startswith("- "):
            m = re.fullmatch(r"- (.*) \[(`[^]]*`)\]", line)
            assert m, f"points at no cell: {line}"
            found.append((path, m[1], frozenset(re.findall(r"`([^`]+)`", m[2]))))
    return found


def _pages() -> list[tuple[str, str]]:
    made_up = Bench(from_records(records()))
    return [(made_up.as_text(), page(made_up, [])), *((file.read_text(), (file.parent / "guidance.md").read_text()) for file in RECORDED)]


@pytest.mark.parametrize("bench, text", _pages(), ids=["made up", *(file.parent.name for file in RECORDED)])
def test_every_sentence_is_true_and_false_of_other_cells(bench: str, text: str) -> None:
    data = json.loads(bench)
    names = {row["cell"] for row in data["cells"]}
    said = sentences(text)
    assert len(said) >= 20 and not [s for s in said if not s[2] <= names or not all(name.startswith(s[0]) for name in s[2])]
    wrong = [(false_words(Cells(data), path, sentence), sentence) for path, sentence, _ in said]
    assert not [pair for pair in wrong if pair[0]], "\n".join(f"{why}: {what}" for why, what in wrong if why)
    for path, sentence, cited in said:
        for name in cited:
            changed = [false_words(Cells(data, factor, frozenset([name])), path, sentence) for factor in (0.1, 3)]
            assert any(changed), f"still called true when {name} changes: {sentence}"


def test_a_sentence_without_a_check_is_refused() -> None:
    cells = Cells(json.loads(Bench(from_records(records())).as_text()))
    assert false_words(cells, "graph", "PDL makes everything faster.") == "no check for this sentence"
    assert false_words(cells, "graph", "Of each further microsecond of prologue 0.77 us is left to see.") == "the cells do not say so"


def test_a_bullet_without_cells_is_refused() -> None:
    with pytest.raises(AssertionError, match="points at no cell"):
        sentences("## In a graph\n\n- Put the trigger last.\n")


def test_a_recorded_page_belongs_to_its_record() -> None:
    assert RECORDED and all(from_text(file.read_text()).matrix.cells for file in RECORDED)
