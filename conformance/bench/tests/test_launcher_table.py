"""The table of launchers side by side: made from a record and the sources alone, and nothing is left out of it silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.bench import launcher_table
from conformance.pdlkit.exits import SetupImpossible


def record(us: float = 2.5) -> dict[str, Any]:
    cost = {"rounds": 7, "us": us, "to_raw": {"median": 1.01, "low95": 1.0, "high95": 1.02}}
    return {"device": {"device": "NVIDIA Test"}, "host_cost": [cost | {"launcher": row.name} for row in launcher_table.LAUNCHERS]}


COMPILED = {"nvcc": "13.0", "added_ms": {row.header: 1700.0 for row in launcher_table.LAUNCHERS if row.header} | {"pdl.h": -9.0}}


def test_statements_are_those_of_the_launchers_that_are_timed() -> None:
    counted = {row.name: launcher_table.statements(row.function) for row in launcher_table.LAUNCHERS}
    assert counted["pdl::launch"] == 1 == min(counted.values())
    # attribute, id, value; configuration, two sizes in one, stream; list of arguments, attrs, numAttrs, launch
    assert counted["cudaLaunchKernelExC"] == 10


def test_a_function_that_is_gone_is_named() -> None:
    with pytest.raises(KeyError, match="by_nobody"):
        launcher_table.statements("by_nobody")


def test_each_row_has_the_records_numbers() -> None:
    lines = launcher_table.table(record(), COMPILED).splitlines()
    assert "7 rounds" in lines[0] and "NVIDIA Test" in lines[0]
    rows = {line.split(" | ")[0].strip("| "): line for line in lines[4:]}
    assert len(rows) == len(launcher_table.LAUNCHERS)
    assert rows["`pdl::launch(kernel, ...)`"].endswith("| 2.50 | 1.010 (1.000 to 1.020) | below 0.4 |")
    assert rows["CCCL `triple_chevron`"].endswith("| 1.7 |") and rows["`cudaLaunchKernelExC`"].endswith("| 0 |")


def test_a_record_without_a_launcher_is_refused() -> None:
    short = record()
    short["host_cost"] = [row for row in short["host_cost"] if row["launcher"] != "CUTLASS ClusterLauncher"]
    with pytest.raises(SetupImpossible, match=r"no CUTLASS ClusterLauncher: record it again .* --peers"):
        launcher_table.table(short, COMPILED)


def test_the_page_is_compared_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, compiled, bench = tmp_path / "page.md", tmp_path / "compile.json", tmp_path / "bench.json"
    page.write_text(f"before\n{launcher_table.BEGIN}old\n{launcher_table.END}after\n", encoding="utf-8")
    compiled.write_text(json.dumps(COMPILED), encoding="utf-8")
    bench.write_text(json.dumps(record()), encoding="utf-8")
    monkeypatch.setattr(launcher_table, "PAGE", page)
    monkeypatch.setattr(launcher_table, "COMPILE", compiled)
    monkeypatch.setattr(launcher_table, "in_tree", str)
    assert launcher_table.main([str(bench), "--check"]) == 1 and "old" in page.read_text(encoding="utf-8")
    assert launcher_table.main([str(bench)]) == 0 and launcher_table.main([str(bench), "--check"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    bench.write_text(json.dumps(record(us=3.5)), encoding="utf-8")
    assert launcher_table.main([str(bench), "--check"]) == 1


def test_the_page_in_this_tree_is_of_its_records() -> None:
    assert launcher_table.main(["--check"]) == 0, "run python3 conformance dev launcher-table"
