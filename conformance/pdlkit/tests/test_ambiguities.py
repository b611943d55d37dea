"""The table of contested claims: every case it names exists, and each kind of answer is read rightly."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import ambiguities, places
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import load


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


def test_every_ambiguity_has_its_question() -> None:
    """All 23 but two: AMB-18 is about devices below 9.0, AMB-21 about a sentence in a document."""
    asked = {question.id for question in ambiguities.QUESTIONS}
    assert [f"AMB-{number:02d}" for number in range(1, 24) if f"AMB-{number:02d}" not in asked] == ["AMB-18", "AMB-21"]


def test_recorded_pages_are_what_their_reports_give() -> None:
    pages = sorted((places.KIT / "results").glob("*-ambiguities.md"))
    for page in pages:
        report = json.loads(page.with_name(page.name.replace("-ambiguities.md", "-full.json")).read_text(encoding="utf-8"))
        assert page.read_text(encoding="utf-8") == ambiguities.text(report), f"{page.name}: `dev ambiguities` writes it anew"
        assert json.loads(page.with_suffix(".json").read_text(encoding="utf-8")) == ambiguities.contested(report["tests"]), page.name
    assert pages


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


def asked(**answers: str) -> dict[str, Any]:
    rows = [{"what": what.replace("_", " ").replace(" of ", ", of "), "answer": said} for what, said in answers.items()]
    return {**entry("MEM-09.host_end.widened.stream", kind="api", run=len(rows)), "answers": rows}


def test_answers_that_are_the_same_stand_together() -> None:
    said = asked(a="cudaSuccess", b="1", c="cudaSuccess")
    assert ambiguities.answer(ambiguities.Question("AMB-12", "?", "", "", ()), said)[1] == "3 answers: a / c: cudaSuccess; b: 1"
    many = asked(**{letter: "refused" for letter in "abcdefgh"})
    assert ambiguities.answer(QUESTION, many)[1] == "8 answers: a / b / c / d / e / 3 more: refused"


def test_what_was_asked_often_and_never_seen_has_its_bound() -> None:
    assert ambiguities.answer(QUESTION, asked(stale_of_200="0", late_of_50="0", overlapped_of_8="8"))[2] == ambiguities.bound95(50)
    assert ambiguities.answer(QUESTION, asked(stale_of_200="3"))[2] == "-"


def test_a_trial_with_wrong_words_and_an_early_start_is_one_trial() -> None:
    both = entry(run=100, exercised=0, poison=100, early_start=100)
    assert ambiguities.answer(BARE, both)[:2] == ("B", "wrong 100 of 100; overlap 0")


def test_a_case_that_hung_answers_nothing() -> None:
    hung = {**entry(), "status": "HANG", "reason": "no end"}
    assert ambiguities.answer(QUESTION, hung) == ("HANG", "no end", "-")


def test_mixes_show_where_the_estimate_was_wrong() -> None:
    said = {"small": "overlapped 20 of 20; estimated yes", "full": "overlapped 3 of 20; estimated no: block slots",
            "cluster": "overlapped 0 of 20; estimated yes", "broken": "not asked: cudaErrorInvalidValue"}
    answers = [{"what": what, "answer": answer} for what, answer in said.items()]
    lines = ambiguities.mixes([{**entry("FWD-06a.mixes.widened.stream", kind="api"), "answers": answers}])
    assert [line.split("|")[-2].strip() for line in lines[-4:]] == ["yes", "**no**", "**no**", "-"]
    assert ambiguities.mixes([entry()]) == []


def test_a_case_whose_name_only_begins_alike_answers_nothing() -> None:
    names = ("WAIT-08.silent_twice", "WAIT-08.silent", "WAIT-08.silently", "WAIT-08")
    others = [entry(f"{name}.widened.stream", fresh=100) for name in names]
    assert [test["name"] for test in ambiguities._chosen(QUESTION, others)] == ["WAIT-08.silent.widened.stream"]


def test_the_report_holds_the_same_table() -> None:
    row = ambiguities.contested([entry(fresh=100, overlap=90)])[0]
    assert (row["id"], row["case"], row["follows"]) == ("AMB-01", "WAIT-08.silent.widened.stream", "A")


def test_no_trial_has_no_bound() -> None:
    assert (ambiguities.bound95(0), ambiguities.bound95(1)) == ("-", "9.5e-01")


def test_bound_is_of_the_exercised_trials() -> None:
    assert ambiguities.answer(QUESTION, entry(exercised=3000))[2] == ambiguities.bound95(3000) == "1.0e-03"


@pytest.mark.parametrize(("k", "n"), [(1, 1), (10, 10), (3, 10), (50, 100), (999, 1000)])
def test_what_was_seen_is_never_promised_too_often(k: int, n: int) -> None:
    """At the bound, k or more of n trials have a chance of at most 5 %, and no bound above k / n could say so."""
    floor = float(ambiguities.floor95(k, n).removeprefix(">= "))
    assert 0 < floor <= k / n
    assert sum(math.comb(n, i) * floor**i * (1 - floor) ** (n - i) for i in range(k, n + 1)) <= 0.05


def test_always_seen_has_the_bound_of_never_missed() -> None:
    assert ambiguities.floor95(61440, 61440) == f">= {math.floor(0.05 ** (1 / 61440) * 1e4) / 1e4:.4f}"
    assert ambiguities.answer(QUESTION, entry(stale=40, overlap=90))[2] == ambiguities.floor95(40, 100)


def test_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(next((places.KIT / "results").glob("h200-*-quick.json")).read_text(encoding="utf-8"))
    seen = entry(fresh=100, overlap=90)
    report["tests"] = [{**test, **seen, "trials": {**test["trials"], **seen["trials"]}}
                       for test in report["tests"] if test["name"] == seen["name"]]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    assert ambiguities.main([str(path)]) == 0
    assert "| `WAIT-08.silent.widened.stream` | A | wrong 0 of 90 exercised |" in capsys.readouterr().out
    assert ambiguities.main([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["bound"] == ambiguities.bound95(90)
    path.write_text("[]", encoding="utf-8")
    for argv, words in (([path], "is not a report"), ([tmp_path / "none"], "No such file"), ([path, "--yaml"], "--yaml"), ([], "REPORT")):
        with pytest.raises(BadArguments, match=words):
            ambiguities.main([str(word) for word in argv])
