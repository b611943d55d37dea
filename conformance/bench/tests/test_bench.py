"""The matrix and the guidance page from made-up records, whose right answers are known."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.bench import gain_picture
from conformance.bench.command import main
from conformance.bench.guidance import gain, page
from conformance.bench.matrix import MODES, from_records
from conformance.bench.record import Bench, compared, from_text
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import KIT

BASE = {"blocks": 132, "threads": 128, "shared": 0, "carveout": 0, "prologue_ns": 1000, "main_ns": 5000, "tail_ns": 0,
        "depth": 20, "apart": 0, "words": 0}
AXES = {"blocks": ("blocks", 1, (1, 528)), "threads": ("threads", 1, (32, 1024)), "shared_kib": ("shared", 1024, (16, 160)),
        "prologue_us": ("prologue_ns", 1000, (0, 2, 8)), "main_us": ("main_ns", 1000, (0, 20)),
        "tail_us": ("tail_ns", 1000, (1, 4)), "depth": ("depth", 1, (2, 40))}
GAP = {"plain": 0.9, "attribute": 0.8, "early": 0.4, "waited": 0.5, "late": 0.6}


def _shape_records(axis: str, value: float, shape: dict[str, int]) -> list[str]:
    work = (shape["main_ns"] + shape["tail_ns"]) / 1000
    rows = []
    for path in ("stream", "graph"):
        for mode in MODES:
            hidden = mode == "early"
            us = work + GAP[mode] + (0 if hidden else shape["prologue_ns"] / 1000)
            us += 1.0 if axis == "blocks_empty" and hidden and shape["blocks"] > 500 else 0
            rows.append(("cell", path, mode, us))
        rows += [("main", path, "plain", work + 3.0), ("nothing", path, "plain", 3.0), ("empty", path, "attribute", 0.5),
                 ("empty", path, "early", 0.38)]
    return [json.dumps({"axis": axis, "value": value, "part": part, "path": path, "mode": mode, "us": us,
                        "low95": us - 0.01, "high95": us + 0.01, **shape}) for part, path, mode, us in rows]


def records() -> list[str]:
    lines = [json.dumps({"device": "made up", "cc": 90, "sms": 132, "driver_cuda": 13000, "runtime": 13000, "repetitions": 51})]
    lines += _shape_records("base", 0, BASE)
    for axis, (key, scale, values) in AXES.items():
        for value in values:
            lines += _shape_records(axis, value, {**BASE, key: value * scale})
    for value in (250, 4000):
        lines += _shape_records("prologue_short_main_us", value / 1000, {**BASE, "prologue_ns": value, "main_ns": 1000})
    for value in (0, 25):
        lines += _shape_records("carveout_apart", value, {**BASE, "carveout": value, "apart": 1})
    for value in (1, 4):
        made = [json.loads(line) for line in _shape_records("traffic_mib", value, {**BASE, "main_ns": 0, "words": value << 18})]
        lines += [json.dumps(row | ({"moved": 0.8 if row["mode"] == "early" else 0.06} if row["part"] == "cell" else {})) for row in made]
    for value in (1, 528):
        lines += _shape_records("blocks_empty", value, {**BASE, "blocks": value, "prologue_ns": 0, "main_ns": 0})
    return lines


def test_limit_is_the_main_part_alone_plus_the_empty_boundary() -> None:
    matrix = from_records(records())
    early = next(c for c in matrix.select("graph", "prologue_us", "early") if c.value == 8)
    assert early.limit_us == pytest.approx(5.38)
    assert early.of_limit == pytest.approx(5.38 / 5.4)
    assert gain(matrix, early) == pytest.approx(13.9 / 5.4)


def test_base_shape_lies_on_every_axis() -> None:
    matrix = from_records(records())
    assert [c.value for c in matrix.select("stream", "prologue_us", "early")] == [0, 1, 2, 8]
    assert [c.value for c in matrix.select("stream", "depth", "late")] == [2, 20, 40]


def test_losses_are_found_and_nothing_else() -> None:
    losses = from_records(records()).losses()
    assert {(c.axis, c.value, c.mode) for c in losses} == {("blocks_empty", 528, "early")}


def test_records_that_are_not_whole_are_refused() -> None:
    whole = records()
    with pytest.raises((ValueError, KeyError)):
        from_records([line for line in whole if '"late"' not in line])
    with pytest.raises(ValueError):
        from_records(whole[1:])


def test_every_sentence_points_at_cells_that_exist() -> None:
    matrix = from_records(records())
    text = page(Bench(matrix), [])
    cited = set(re.findall(r"`((?:stream|graph)\.[^`]+)`", text))
    assert cited and cited <= {cell.name for cell in matrix.cells}
    for line in text.split("## All cells")[0].splitlines():
        assert not line.startswith("- ") or line.endswith("]"), line
    assert "1 us on: " not in text and "from a prologue of 0 us on: 1.09x" in text


def test_command_from_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gap.jsonl").write_text("\n".join(records()) + "\n")
    assert main(["--records", str(tmp_path), "--output", str(tmp_path / "out"), "--no-plots", "--json"]) == 0
    bench = json.loads(capsys.readouterr().out)
    assert bench["schema"] == "pdl-bench-2" and (tmp_path / "out" / "guidance.md").is_file()
    assert len(bench["instructions"]) >= 3
    row = {"name": "01_x", "status": "right", "path": "stream", "limit_percent": 95.0}
    (tmp_path / "examples.json").write_text(json.dumps({"examples": [row, row | {"status": "wrong"}]}))
    again = ["--records", str(tmp_path / "out"), "--output", str(tmp_path / "again"), "--no-plots"]
    assert main([*again, "--examples", str(tmp_path / "examples.json")]) == 0
    assert "1 of 1 examples" in (tmp_path / "again" / "guidance.md").read_text()
    (tmp_path / "gap.jsonl").write_text("{}\n")
    with pytest.raises(BadArguments):
        main(["--records", str(tmp_path), "--output", str(tmp_path / "out"), "--no-plots"])


def test_a_record_makes_the_same_page_again() -> None:
    bench = Bench(from_records(records()), examples=[{"name": "01_x", "status": "right", "path": "graph", "limit_percent": 80.0}])
    again = from_text(bench.as_text())
    assert again.as_text() == bench.as_text() and page(again, ["a.png"]) == page(bench, ["a.png"])
    assert "- 01_x, in a graph, reaches 80 %." in page(again, [])
    with pytest.raises(ValueError):
        from_text(bench.as_text().replace("pdl-bench-2", "pdl-bench-0"))


def test_machines_are_told_apart_only_beyond_the_intervals() -> None:
    here = from_records(records())
    slower = [json.loads(line) for line in records()]
    for record in slower:
        if record.get("axis") == "tail_us" and record.get("part") == "cell" and record["mode"] == "late":
            record.update({key: record[key] + 1 for key in ("us", "low95", "high95")})
    lines = compared(here, from_records(json.dumps(record) for record in slower))
    assert compared(here, here)[-1] == "0 cells differ beyond both intervals"
    assert len([line for line in lines if line.startswith(("stream.late.tail_us", "graph.late.tail_us"))]) == 4
    assert "4 cells differ beyond both intervals:" in lines


def _edited(**changes: object) -> str:
    bench = json.loads(Bench(from_records(records())).as_text())
    bench["cells"][7].update({key: value for key, value in changes.items() if key in bench["cells"][7]})
    return json.dumps({**bench, **{key: value for key, value in changes.items() if key in bench}})


@pytest.mark.parametrize("text", [
    "", "null", "[1]", '"x"', _edited(schema="other"), _edited(device={}), _edited(device=[1]), _edited(cells=[]), _edited(cells=3),
    _edited(cells=["x"]), _edited(us=0), _edited(us=None), _edited(us="7"), _edited(us=float("nan")), _edited(high95=0.1),
    _edited(mode="other"), _edited(limit_us=-1)])
def test_what_is_no_record_is_refused_before_anything_is_measured(text: str, tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(text)
    for argv in (["--compare", str(tmp_path / "bench.json")], ["--records", str(tmp_path)]):
        with pytest.raises(BadArguments):
            main([*argv, "--output", str(tmp_path / "out"), "--no-plots"])
    assert not (tmp_path / "out" / "bench.json").exists()


def test_recorded_pages_are_made_from_their_records() -> None:
    files = sorted((KIT / "results").glob("*/bench.json"))
    assert files
    for file in files:
        said = (file.parent / "guidance.md").read_text()
        plots = re.findall(r"!\[\w+\]\((\w+\.png)\)", said)
        assert plots and set(plots) == {path.name for path in file.parent.glob("*.png")}
        assert page(from_text(file.read_text()), plots) == said, f"{file}: make the page again (bench --records)"


def test_the_readme_shows_the_recorded_gain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gain_picture.main(["--check"]) == 0, "make it again: python3 conformance dev gain-picture"
    readme = tmp_path / "README.md"
    readme.write_text("<!-- gain -->9 times<!-- /gain -->")
    monkeypatch.setattr(gain_picture, "README", readme)
    monkeypatch.setattr(gain_picture, "in_tree", str)
    assert gain_picture.main(["--check"]) == 1
