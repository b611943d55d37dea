"""`trace diff`: which way a change went, and of which pairs it speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.trace import diff
from conformance.trace.diff import Change
from conformance.trace.report import SCHEMA


def pair(primary: str, launches: int, overlapping: int = 0, overlap: float = 0.0, gap: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"primary": primary, "dependent": "d", "where": "stream", "launches": launches, "overlapping": overlapping,
            "overlap_us": {"sum": overlap}, "gap_us": {"sum": gap}, "why_not": [], **more}


def traced(*pairs: dict[str, Any], median: float = 100.0) -> dict[str, Any]:
    return {"schema": SCHEMA, "steps": {"median_us": median}, "pairs": list(pairs)}


@pytest.mark.parametrize(("before", "after", "code", "word"), [
    (100.0, 101.9, 0, "same"), (100.0, 98.1, 0, "same"), (100.0, 102.5, 1, "worse"), (100.0, 97.5, 3, "better"), (0.0, 100.0, 0, "same"),
    (100.0, 0.0, 0, "same")])
def test_a_step_that_takes_longer_is_worse(before: float, after: float, code: int, word: str) -> None:
    found = diff.verdict(traced(median=before), traced(median=after))
    assert (found[0], found[1].partition(":")[0]) == (code, word)


def test_the_sentence_says_by_how_much() -> None:
    assert diff.verdict(traced(median=100.0), traced(median=125.0))[1] == "worse: a step took 100.0 us, now 125.0 us (+25.0 %)"


def test_one_pair_in_several_graphs_is_one_with_the_reason_of_most_of_its_runs() -> None:
    old = traced(pair("p", 30, 3, 6.0, 60.0, where="graph 3", why_not=[{"reason": "not-asked"}]),
                 pair("p", 10, 1, 2.0, 20.0, where="graph 4", why_not=[{"reason": "between"}]))
    new = traced(pair("p", 20, 10, 40.0, 10.0, where="graph 7"))
    assert diff.changes(old, new) == [Change("p", "d", "graph", 0.1, 0.5, 0.2, 2.0, 2.0, 0.5, "not-asked", "")]


def test_the_greatest_change_comes_first_and_of_equal_ones_that_of_the_gap() -> None:
    old = traced(*(pair(name, 10) for name in "abc"))
    new = traced(pair("a", 10, 1), pair("b", 10, 9), pair("c", 10, 1, gap=50.0))
    assert [change.primary for change in diff.changes(old, new)] == ["b", "c", "a"]


def test_what_is_gone_and_what_is_new_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(tmp_path / name) for name in ("old", "new")]
    for path, name in zip(files, ("was", "is"), strict=True):
        Path(path).write_text(json.dumps(traced(pair("both", 1), pair(name, 1))))
    assert diff.main(files) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line[0] in "gn"] == ["gone: was > d, stream", "new: is > d, stream"]
    assert diff.main([*files, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["gone"], content["come"]) == ([["was", "d", "stream"]], [["is", "d", "stream"]])


@pytest.mark.parametrize(("median", "code"), [(100.0, 0), (150.0, 1), (50.0, 3)])
def test_the_exit_code_says_which_way_it_went(median: float, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(tmp_path / name) for name in ("old", "new")]
    for path, step in zip(files, (100.0, median), strict=True):
        Path(path).write_text(json.dumps(traced(pair("p", 1), median=step)))
    for more in ([], ["--json"]):
        said = diff.main([*files, *more])
        assert said == code and not isinstance(said, bool)
    assert capsys.readouterr().out
