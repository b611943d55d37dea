"""The comparison of eager launches with captured ones."""

from __future__ import annotations

from typing import Any

from conformance.pdlkit.eager import compare, sentences


def a_test(path: str, run: int = 100, fresh: int = 100, overlap: int = 100, rule: str = "EVT-11") -> dict[str, Any]:
    return {"name": f"{rule}.covered.widened.{path}", "rule": rule, "kind": "visibility", "window": "widened", "path": path,
            "trials": {"run": run}, "outcomes": {"fresh": fresh, "overlap": overlap}}


def test_the_same_is_the_same() -> None:
    (entry,) = compare([a_test("stream"), a_test("captured")])
    assert entry["words"] == "same" and not entry["overlap_differs"]
    assert entry["stream"] == {"run": 100, "fresh": 100, "overlap": 100}
    assert sentences([entry]) == []


def test_overlap_on_one_path_is_told() -> None:
    (entry,) = compare([a_test("stream", overlap=0), a_test("captured")])
    assert entry["words"] == "same" and entry["overlap_differs"]
    assert sentences([entry]) == ["EVT-11.covered overlapped in 100 of 100 trials captured and in 0 of 100 launched eagerly"]


def test_wrong_words_on_one_path_are_told() -> None:
    (entry,) = compare([a_test("stream"), a_test("captured", fresh=99)])
    assert entry["words"] == "wrong when captured"
    assert sentences([entry]) == ["EVT-11.covered gave wrong words when captured, and never on the other path"]


def test_wrong_words_on_both_paths_are_no_difference() -> None:
    (entry,) = compare([a_test("stream", fresh=1), a_test("captured", fresh=99)])
    assert entry["words"] == "same"


def test_one_path_alone_is_not_compared() -> None:
    assert compare([a_test("captured"), a_test("built"), a_test("stream", run=0), a_test("stream", rule="EVT-01")]) == []
