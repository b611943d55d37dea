"""What CTest is told when two builds of the model, or of the harness, do not say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.model.tests import check_builds, check_records


@pytest.mark.parametrize(("said", "code"), [
    (["a\n", "a\n", "a\n"], 0), (["a\n", "b\n", "a\n"], 1), (["a\n", "a\n", "b\n"], 1), (["", "", ""], 1), (["b\n", "a\n", "a\n"], 1)])
def test_builds_that_say_something_else_are_told(said: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    builds = list(check_builds.BUILDS[:3])
    monkeypatch.setattr(check_builds, "BUILDS", builds)
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(check_builds, "check", lambda build, *_: said[builds.index(build)])
    assert check_builds.main(["--cuda-include", "/i", "--work", str(tmp_path / "w")]) == code
    out = capsys.readouterr().out
    assert [build.name in out.partition("not the same")[2].partition(": ")[2] for build in builds] == [text != said[0] for text in said]


@pytest.mark.parametrize(("wrong", "here", "code"), [
    ([[], []], True, 0), ([["x"], []], True, 1), ([[], ["x"]], True, 1), ([[], []], False, 77)])
def test_records_that_differ_in_any_build_are_told(wrong: list[list[str]], here: bool, code: int, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(wrong)
    monkeypatch.setattr(check_records, "BUILDS", check_records.BUILDS[:2])
    monkeypatch.setattr("shutil.which", lambda name: name if here else None)
    monkeypatch.setattr(check_records, "make", lambda *_: tmp_path)
    monkeypatch.setattr(check_records, "compare", lambda *_: next(answers))
    assert check_records.main(["--harness", str(tmp_path / "h"), "--work", str(tmp_path)]) == code


@pytest.mark.parametrize(("other", "count"), [
    (("d", 0, ""), 0), (("e", 0, ""), 2), (("d", 1, ""), 2), (("d", 0, "runtime error: overflow"), 2)])
def test_a_build_differs_by_its_records_its_exit_code_or_a_complaint(other: tuple[str, int, str], count: int, tmp_path: Path,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_records, "parts", lambda *_: [("--family", "f")])
    monkeypatch.setattr(check_records, "DEVICES", ("model", "broken"))
    monkeypatch.setattr(check_records, "expected", lambda *_: ("d", (0,)))
    monkeypatch.setattr(check_records, "said", lambda *_: other)
    assert len(check_records.compare(tmp_path, tmp_path, 1, 1, ())) == count
