"""`submit` as a whole: each check is asked, and one refused file refuses them all, whichever it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.pdlkit.report import identified
from conformance.reports import submission, submit
from conformance.reports.tests.made_reports import recorded


def test_one_refused_report_refuses_the_call(tmp_path: Path) -> None:
    good, model = recorded(), recorded()
    model["device"]["kind"] = "model"
    for name, report in (("good", good), ("bad", identified(model))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(report))
    files = {name: str(tmp_path / name / "report.json") for name in ("good", "bad")}
    assert submit.main([files["good"]]) == 0
    assert submit.main([files["bad"], files["good"]]) == 1 and submit.main([files["good"], files["bad"]]) == 1


@pytest.mark.parametrize("wrong", [[], ["one"], [f"problem {number}" for number in range(25)]])
def test_what_is_wrong_with_a_file_is_told_and_none_of_it_is_lost(
    wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(recorded()))
    monkeypatch.setattr(submit, "problems", lambda _: iter(wrong))
    assert submit.main([str(path)]) == bool(wrong)
    place = submission.place_for(recorded())
    shown = [f"{path}: " + ("refused" if wrong else f"accepted; it goes to conformance/results/{place}")]
    shown += [f"  {text}" for text in wrong[:20]] + (["  and 5 more"] if len(wrong) > 20 else [])
    assert capsys.readouterr().out.splitlines() == shown
    assert submit.main([str(path), "--json"]) == bool(wrong)
    said = {"file": str(path), "accepted": not wrong, "problems": wrong, "place": None if wrong else place}
    assert json.loads(capsys.readouterr().out) == [said]


@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"run": 1}', '{"run": {}, "run": {}}'])
def test_what_is_no_report_is_refused_with_one_sentence(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").write_text(text)
    assert submit.main([str(tmp_path), "--json"]) == 1
    (said,) = json.loads(capsys.readouterr().out)
    assert (said["accepted"], said["place"], len(said["problems"])) == (False, None, 1)


def test_the_schema_is_asked_and_a_check_that_could_not_run_is_no_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    report = recorded()
    report["tests"][0]["trials"]["run"] = -1
    report["verdict"] = "FINE"
    assert {text.partition(":")[0] for text in submission.schema_problems(report)} >= {"tests/0/trials/run", "verdict"}
    monkeypatch.setattr(submission, "_CHECK", "raise SystemExit('no library')")
    with pytest.raises(RuntimeError, match="no library"):
        list(submission.schema_problems(recorded()))


def test_after_the_schema_failed_nothing_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "schema_problems", lambda _: iter(["one", "two"]))
    assert list(submission.problems({})) == ["one", "two"]


@pytest.mark.parametrize("check", ["schema_problems", "digest_problems", "inconsistencies", "recomputed_problems", "name_problems",
                                   "fitness_problems"])
def test_every_check_is_asked(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"conformance.reports.submission.{check}", lambda _: ["planted"])
    assert "planted" in list(submission.problems(recorded()))
