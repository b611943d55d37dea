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


@pytest.mark.parametrize("check", ["schema_problems", "digest_problems", "inconsistencies", "recomputed_problems", "name_problems",
                                   "fitness_problems"])
def test_every_check_is_asked(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"conformance.reports.submission.{check}", lambda _: ["planted"])
    assert "planted" in list(submission.problems(recorded()))
