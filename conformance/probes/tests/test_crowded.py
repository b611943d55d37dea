"""Smoke runs beside others: which failures count, and what a line of the table says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.probes import crowded


def report(*tests: tuple[str, str]) -> dict[str, Any]:
    return {"verdict": "VIOLATES", "tests": [{"rule": rule, "status": status} for rule, status in tests]}


@pytest.mark.parametrize(("tests", "good"), [
    ([("A-01", "PASS"), ("A-02", "INCONCLUSIVE")], True), ([("A-03", "PASS"), ("A-01", "FAIL")], True),
    ([("A-03", "PASS"), ("A-04", "CRASH")], True), ([("A-03", "PASS"), ("A-04", "FAIL")], False),
    ([("A-03", "PASS"), ("A-02", "FAIL")], False), ([("A-03", "PASS"), ("A-01", "HANG")], False),
    *(([("A-03", "PASS"), ("A-02", status)], False) for status in ("HANG", "CRASH", "KIT_ERROR", "DEVICE_LOST")),
    ([("A-01", "NOT_SUPPORTED")], False), ([], False)])
def test_only_a_status_that_is_known_of_its_rule_is_good(tests: list[tuple[str, str]], good: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def run(argv: list[str], more: dict[str, str], output: Path) -> tuple[dict[str, Any], int]:
        seen.append(argv)
        return report(*tests), 1

    monkeypatch.setattr(crowded, "_run", run)
    row = crowded.measure("nice 19", ["run"], 2, 2, Path("none"), {("A-01", "FAIL"), ("A-04", "CRASH")})
    assert [run["good"] for run in row["runs"]] == [good, good] and seen[0] == ["nice", "-n", "19", "run"]
    assert f"{2 * good} of 2 good; 2 VIOLATES" in crowded.line(row)


def test_a_run_that_is_invalid_proves_nothing() -> None:
    passed = report(("A-01", "PASS"))
    assert crowded.proves_something(passed) and not crowded.proves_something({**passed, "verdict": "INVALID"})


@pytest.mark.parametrize(("rows", "code"), [
    ([{"runs": [{"good": True}]}, {"runs": [{"good": True}, {"good": True}]}], OK),
    ([{"runs": [{"good": True}]}, {"runs": [{"good": True}, {"good": False}]}], FAILED),
    ([{"runs": [{"good": False}]}, {"runs": [{"good": True}]}], FAILED),
    ([{"runs": [{"good": True}], "why": "it ended"}, {"runs": [{"good": True}]}], FAILED),
])
def test_every_run_of_every_surrounding_has_to_be_good(rows: list[dict[str, Any]], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter(rows)
    monkeypatch.setattr(crowded, "compile_for_this_gpu", lambda *_: None)
    monkeypatch.setattr(crowded, "measure", lambda *_: next(left))
    monkeypatch.setattr(crowded, "line", lambda row: "")
    assert crowded.main([word for name in crowded.SURROUNDINGS[:len(rows)] for word in ("--only", name)]) == code


def test_all_rules_but_those_left_out_are_asked() -> None:
    kept = crowded._others(["EDGE-27b"])
    assert kept[::2] == ["--only"] * (len(kept) // 2) and "EDGE-27a" in kept and "EDGE-27b" not in kept
    assert crowded._others([]) == []
    with pytest.raises(BadArguments, match="--leave-out EDGE-99: no rule with a case"):
        crowded._others(["EDGE-99"])


def test_a_surrounding_that_cannot_be_had_says_why(tmp_path: Path) -> None:
    row = crowded.measure("compute", ["run"], 1, 1, tmp_path / "nowhere", set())
    assert row["runs"] == [] and "cannot be started" in row["why"] and "not done" in crowded.line(row)


def test_a_run_writes_its_report_where_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[list[str], dict[str, str]]]()

    def runs(argv: list[str], environment: dict[str, str], **_: Any) -> SimpleNamespace:
        asked.append((argv, environment))
        return SimpleNamespace(returncode=3)

    monkeypatch.setattr(crowded, "run_tool", runs)
    monkeypatch.setattr(crowded, "read_report", lambda path: {"read": path})
    assert crowded._run(["run", "it"], {"MORE": "1"}, tmp_path / "out") == ({"read": tmp_path / "out" / "report.json"}, 3)
    assert asked[0][0] == ["run", "it", "--output", str(tmp_path / "out")] and asked[0][1]["MORE"] == "1" and "PATH" in asked[0][1]
