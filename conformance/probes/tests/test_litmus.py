"""The comparison of allowed and observed litmus outcomes: what is outside is never lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conformance.pdlkit import places
from conformance.probes import litmus


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def pair(tmp_path: Path, observed: dict[str, int]) -> list[str]:
    allowed = write(tmp_path / "a", [{"program": "mp", "allowed": ["0", "1"]}, {"program": "other", "allowed": ["1"]}])
    seen = write(tmp_path / "o", [{"program": "mp", "source": "F2", "runs": 10, "observed": observed}])
    return [str(allowed), str(seen)]


def test_nothing_outside_is_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert litmus.main(pair(tmp_path, {"1": 10})) == 0
    out = capsys.readouterr().out
    assert "1 programs; 1 of 2 allowed outcomes were seen, 0 that are not allowed" in out
    assert "| mp | F2 | 10 | 0, 1 | 1 (10) | 0 | - |" in out


def test_one_outcome_outside_is_a_failure(tmp_path: Path) -> None:
    result = tmp_path / "compared.json"
    assert litmus.main([*pair(tmp_path, {"1": 9, "hang": 1}), "--json", str(result)]) == 1
    assert json.loads(result.read_text())[0]["outside"] == ["hang"]


@pytest.mark.parametrize("bad", [("mp",), ("other",), ("mp", "other")])
def test_one_program_outside_is_a_failure_beside_others(bad: tuple[str, ...], tmp_path: Path) -> None:
    allowed, _ = pair(tmp_path, {"1": 1})
    seen = write(tmp_path / "o", [{"program": name, "source": "", "runs": 10, "observed": {"1": 9, "9": 1} if name in bad else {"1": 10}}
                                  for name in ("mp", "other")])
    assert litmus.main([allowed, str(seen)]) == 1


def test_a_second_run_does_not_hide_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, seen = pair(tmp_path, {"9": 1})
    Path(seen).write_text(Path(seen).read_text() + GOOD + "\n")
    assert litmus.main([allowed, seen]) == 64
    assert "line 2: a second one of mp" in capsys.readouterr().err


@pytest.mark.parametrize("allowed", ["01", "", [0, 1], ["0", 1], None, {"0": 1}])
def test_outcomes_that_are_no_list_of_texts_are_refused(allowed: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a text, each part of it would be found, and be allowed."""
    _, seen = pair(tmp_path, {"1": 1})
    assert litmus.main([str(write(tmp_path / "a", [{"program": "mp", "allowed": allowed}])), seen]) == 64
    assert "line 1: no `allowed`" in capsys.readouterr().err


@pytest.mark.parametrize("change", [{"runs": -1}, {"runs": True}, {"runs": "1"}, {"observed": ["1"]}, {"observed": {"1": -1}},
                                    {"observed": {"1": True}}, {"source": None}, {"program": 1}])
def test_counts_that_are_none_are_refused(change: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, _ = pair(tmp_path, {"1": 1})
    seen = write(tmp_path / "o", [{"program": "mp", "source": "F2", "runs": 10, "observed": {"1": 10}, **change}])
    assert litmus.main([allowed, str(seen)]) == 64
    assert f"line 1: no `{next(iter(change))}`" in capsys.readouterr().err


def test_a_program_without_an_enumeration_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed = write(tmp_path / "a", [{"program": "mp", "allowed": ["0"]}])
    seen = write(tmp_path / "o", [{"program": "unknown", "source": "", "runs": 1, "observed": {"0": 1}}])
    assert litmus.main([str(allowed), str(seen)]) == 64
    assert "no allowed outcomes for unknown" in capsys.readouterr().err


def test_swapped_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, seen = pair(tmp_path, {"1": 1})
    assert litmus.main([seen, allowed]) == 64
    assert "is this the right file?" in capsys.readouterr().err


GOOD = '{"program": "mp", "source": "F2", "runs": 10, "observed": {"1": 10}}'


@pytest.mark.parametrize("text", [
    "[" * 100_000, "[1]", "7", "{", GOOD.replace("10,", "true,"), GOOD.replace("10}", "-1}"), GOOD.replace("10}", '10, "2": -1}'),
    GOOD.replace('"F2"', "2"),
    GOOD.replace("{", '{"runs": 3, ', 1), GOOD.replace('{"1": 10}', '["1"]'), GOOD.replace("10}", "NaN}"), "\x80",
], ids=["deep", "list", "number", "cut", "bool", "negative", "one negative", "source", "key twice", "no counts", "not a number",
        "not UTF-8"])
def test_a_damaged_file_is_refused_with_a_sentence(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, seen = pair(tmp_path, {"1": 1})
    Path(seen).write_bytes(text.encode("latin-1"))
    assert litmus.main([allowed, seen]) == 64
    assert f"litmus: {seen}: " in capsys.readouterr().err


def test_a_pipe_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, _ = pair(tmp_path, {"1": 1})
    os.mkfifo(tmp_path / "pipe")
    assert litmus.main([allowed, str(tmp_path / "pipe")]) == 64
    assert "it is not a plain file" in capsys.readouterr().err


def test_the_recorded_page_is_that_of_its_outcomes() -> None:
    pages = sorted((places.KIT / "results").glob("*-litmus.md"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        rows = [litmus.Compared(**row) for row in json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))]
        gpu = text.splitlines()[0].removeprefix("# Litmus programs: what is allowed, and what ").removesuffix(" did")
        assert text == litmus.markdown(rows, gpu)
