"""Readers of reports: a report that is damaged, hostile or none at all ends in a sentence, whatever it is and whoever reads it."""

from __future__ import annotations

import contextlib
import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.pdlkit import ambiguities, graph_tables, places, schema
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, checked_report, parse_json, read_json, read_report, report_of

QUICK = places.KIT / "results" / "h200-580.159.04-13.0.88-quick.json"
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.just(10**400), st.text(max_size=4), st.just([]), st.just({}),
                   st.just([[]]), st.just({"a": 1}), st.floats(allow_nan=False))


@cache
def _good() -> dict[str, Any]:
    report = read_report(QUICK)
    report["tests"] = report["tests"][:4]
    report["processes"] = report["processes"][:2]
    report["rules"] = report["rules"][:4]
    return report


@cache
def _schema() -> Any:
    return json.loads(places.SCHEMA.read_text())


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(_schema())


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, entry in inner for found in _places(entry, (*path, key)))]


def _changed(at: int, value: Any, how: str) -> Any:
    """The good report with one place changed, removed or one key added."""
    report = copy.deepcopy(_good())
    every = _places(report)[1:]
    *path, last = every[at % len(every)]
    holder = report
    for key in path:
        holder = holder[key]
    if how == "remove":
        del holder[last]
    elif how == "add" and isinstance(holder, dict):
        holder["odd"] = value
    else:
        holder[last] = value
    return report


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(at=st.integers(0, 10**6), value=VALUES, how=st.sampled_from(["change", "change", "remove", "add"]))
def test_the_validator_agrees_with_jsonschema(at: int, value: Any, how: str) -> None:
    report = _changed(at, value, how)
    own = schema.problem(report, _schema())
    assert (own is None) == _validator().is_valid(report), own


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**6), value=VALUES, how=st.sampled_from(["change", "remove", "add"]))
@pytest.mark.parametrize("reader", [ambiguities.main, graph_tables.main])
def test_no_reader_fails_on_a_changed_report(reader: Any, at: int, value: Any, how: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(_changed(at, value, how)))
    with contextlib.suppress(BadArguments):
        assert reader([str(tmp_path / "report.json")]) == 0


@pytest.mark.parametrize(("text", "words"), [
    ("[" * 100000, "nested too deeply"), ('{"a":' * 100000, "nested too deeply"), ("", "invalid JSON"), ("{", "invalid JSON"),
    ("[NaN]", "NaN is not a number"), ("1e999", "1e999 is not a number"), ("9" * 5000, "invalid JSON"), ('{"a": 1, "a": 2}', "twice"),
    ('"\x00"', "invalid JSON"),
], ids=lambda text: text[:12].encode("unicode_escape").decode())
def test_a_text_that_is_not_json_is_told(text: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        parse_json(text)


def test_a_file_that_is_not_plain_text_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe{}")
    (tmp_path / "loop").symlink_to("loop")
    for name, words in (("pipe", "not a plain file"), ("folder", "not a plain file"), ("bytes", "not text"), ("absent", "No such file"),
                        ("loop", "symbolic links")):
        with pytest.raises(Unreadable, match=words):
            read_json(tmp_path / name)
    with pytest.raises(Unreadable, match="not a plain file"):
        read_json(Path("/dev/zero"))
    with pytest.raises(Unreadable, match="too many"):
        os.truncate(tmp_path / "bytes", 1 << 40)
        read_json(tmp_path / "bytes")


@pytest.mark.parametrize("value", [None, 5, [], "text", {}, {"schema": 5}, {"schema": "pdl-report/1"}, {"schema": "pdl-bench-2"}])
def test_what_is_no_report_is_told(value: Any, tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        checked_report(value)
    path = tmp_path / "a\nb.json"
    path.write_text(json.dumps(value))
    with pytest.raises(BadArguments, match="name a report.json that `run` wrote") as caught:
        read_report(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lost", ["tests", "rules", "reasons", "verdict", "exit"])
def test_a_report_that_lost_a_part_is_none(lost: str) -> None:
    assert checked_report(_good()) == _good()
    with pytest.raises(Unreadable, match="damaged"):
        checked_report({key: value for key, value in _good().items() if key != lost})


def test_the_recorded_reports_are_valid() -> None:
    found = [path for path in QUICK.parent.glob("*.json") if str(json.loads(path.read_text())).startswith("{'schema': 'pdl-report/")]
    assert found and all(read_report(path) for path in found)


@pytest.mark.parametrize(("code", "said"), [
    (1, None), (0, "ended with 0, and the report in its folder says 1"), (-9, "ended with -9, and the report in its folder says 1"),
    (None, "was ended, and the report in its folder says 1")])
def test_a_report_counts_if_its_run_ended_as_it_says(code: int | None, said: str | None, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(_good()))
    assert report_of(tmp_path, code) == (_good() if said is None else said)
    (tmp_path / "report.json").unlink()
    assert report_of(tmp_path, 1) == "ended with 1 and left no report"
