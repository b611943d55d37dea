"""The table of contested claims: every case it names exists, and each kind of answer is read rightly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pdlkit import ambiguities, places
from pdlkit.rules import load


def entry(name: str = "WAIT-08.silent.widened.stream", kind: str = "visibility", run: int = 100, exercised: int = 90,
          **outcomes: int) -> dict[str, Any]:
    return {"name": name, "kind": kind, "status": "INCONCLUSIVE", "reason": None, "outcomes": outcomes,
            "trials": {"run": run, "exercised": exercised}}


QUESTION = ambiguities.Question("AMB-01", "?", "a", "b", ("WAIT-08.silent",))
OVERLAP = ambiguities.Question("AMB-16", "?", "a", "b", ("WAIT-08.silent",), overlap=True)
BARE = ambiguities.Question("AMB-04", "?", "a", "b", ("WAIT-08.silent",), bare=True)


def test_every_named_pair_is_in_the_rule_book() -> None:
    names = {case.name for case in load(places.RULES).cases}
    for question in ambiguities.QUESTIONS:
        for pair in question.cases:
            assert any(name.startswith(pair + ".") for name in names), f"{question.id} names {pair}, which no rule has"


@pytest.mark.parametrize(("question", "test", "follows"), [
    (QUESTION, entry(fresh=100, overlap=90), "A"),
    (QUESTION, entry(fresh=99, poison=1, overlap=90), "B"),
    (QUESTION, entry(exercised=0, fresh=100), "-"),
    (BARE, entry(exercised=0, fresh=100), "A"),
    (BARE, entry(exercised=0, early_start=1), "B"),
    (OVERLAP, entry(fresh=100, overlap=1), "A"),
    (OVERLAP, entry(fresh=100), "B"),
])
def test_answer(question: ambiguities.Question, test: dict[str, Any], follows: str) -> None:
    assert ambiguities.answer(question, test)[0] == follows


def test_bound_is_of_the_exercised_trials() -> None:
    assert ambiguities.answer(QUESTION, entry(exercised=3000))[2] == ambiguities.bound95(3000) == "1.0e-03"


def test_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = {"device": {"name": "GPU"}, "driver": {"version": "1"}, "run": {"profile": "quick", "seed": "0x1"},
              "tests": [entry(fresh=100, overlap=90)]}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    assert ambiguities.main([str(path)]) == 0
    assert "| `WAIT-08.silent.widened.stream` | A | wrong 0 of 90 exercised |" in capsys.readouterr().out
