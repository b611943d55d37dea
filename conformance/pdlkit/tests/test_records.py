"""Whatever a child writes, every line becomes a record or a problem, and what is kept can be judged and reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pdlkit import places, report
from conformance.pdlkit.display import verdict_block
from conformance.pdlkit.other_drivers import other_drivers
from conformance.pdlkit.records import VARIANT_STATUSES, Session
from conformance.pdlkit.rules import load
from conformance.pdlkit.verdicts import RunVerdict, judge_case, judge_run

BOOK = load(places.RULES)
CASE = next(case for case in BOOK.cases if case.rule == "WAIT-10" and case.path == "stream")
GOOD: list[dict[str, Any]] = [
    {"record": "start", "device": {"name": "GPU", "cc": 90, "sms": 4}, "driver": 13000, "runtime": 13000},
    {"record": "begin", "case": CASE.name, "deadline_s": 5},
    {"record": "variant", "case": CASE.name, "kind": "mutant", "tag": "notrig-nowait", "status": "EQUIVALENT_HERE", "kills": 0,
     "trials": 64, "x_ns": None},
    {"record": "case", "case": CASE.name, "status": "PASS", "reason": None, "trials": {"planned": 64, "run": 64, "exercised": 64},
     "outcomes": {"fresh": 64}, "schedules": 60, "shapes": 4, "sm_pairs": 10, "sm_pairs_possible": 16, "resolution_ns": None,
     "kernels": []},
    {"record": "end", "case": CASE.name},
    {"record": "done"},
]
ODD = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**400), st.floats(), st.text(max_size=5),
                st.lists(st.integers(), max_size=2),
                st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))


@pytest.fixture(autouse=True, scope="module")
def _one_suite() -> Iterator[None]:
    """Asking git, hashing the sources and reading the recorded results once is enough for many reports."""
    facts = report.suite_facts(BOOK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "suite_facts", lambda book: facts)
        patch.setattr(report, "other_drivers", cache(other_drivers))
        yield


def report_of(lines: list[str]) -> tuple[str, dict[str, Any]]:
    """The case's verdict and the whole report from these lines of a child."""
    session = Session(CASE.family, [CASE.name])
    for line in lines:
        session.take(line)
    result = judge_case(CASE, session.logs[CASE.name], BOOK.tags)
    facts = report.RunFacts(
        book=BOOK, device="cuda", profile="smoke", seed=1, argv=[], only=[], started="", wall_s=0.0, results=[result],
        verdict=judge_run([result], session.problems) if result.status != "KIT_ERROR" else RunVerdict("INVALID"),
        start=session.start or {}, toolchain={}, host={}, interposers=[], problems=session.problems, processes=[], code=None)
    made = report.build_report(facts)
    assert verdict_block(made, "report.json", False)
    return result.status, made


def test_the_good_lines_pass() -> None:
    status, made = report_of([json.dumps(record) for record in GOOD])
    assert status == "PASS" and made["verdict"] == "CONFORMS"


PLACES = [(index, key) for index, record in enumerate(GOOD) for key in record if key != "record"]


@settings(deadline=None)
@given(st.sampled_from(PLACES), ODD)
def test_one_odd_value_never_ends_the_run_without_a_report(place: tuple[int, str], value: Any) -> None:
    index, key = place
    records = [dict(record) for record in GOOD]
    records[index][key] = value
    _, made = report_of([json.dumps(record) for record in records])
    json.dumps(made, allow_nan=False)


@settings(deadline=None)
@given(st.sampled_from(["trials", "outcomes"]), st.sampled_from(["planned", "run", "exercised", "witnessed", "fresh", "stale"]), ODD)
def test_one_odd_count_never_passes_as_another(table: str, key: str, value: Any) -> None:
    records = [dict(record) for record in GOOD]
    records[3][table] = {**GOOD[3][table], key: value}
    status, made = report_of([json.dumps(record) for record in records])
    json.dumps(made, allow_nan=False)
    unchanged = value == GOOD[3][table].get(key, 0) and not isinstance(value, bool | float)
    if table == "outcomes" and key in ("fresh", "stale") and not unchanged:
        assert status == "KIT_ERROR"
    if table == "trials" and key in ("planned", "run", "exercised") and status == "PASS":
        assert isinstance(value, int) and (unchanged or key == "planned" or value >= 52)


@settings(deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(1, 30))
def test_a_line_that_is_cut_never_passes(index: int, cut: int) -> None:
    lines = [json.dumps(record) for record in GOOD]
    lines[index] = lines[index][:-cut]
    _, made = report_of(lines)
    assert made["verdict"] != "CONFORMS"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_what_is_no_number_is_no_json(number: str) -> None:
    lines = [json.dumps(record) for record in GOOD]
    lines.insert(2, f'{{"record": "forbidden", "case": "{CASE.name}", "state": {{"early": {number}}}}}')
    status, made = report_of(lines)
    assert status == "KIT_ERROR" and "no JSON" in made["tests"][0]["reason"]


def test_a_count_beyond_every_device_is_none() -> None:
    records, many = [dict(record) for record in GOOD], 10**400
    records[3].update(trials={"planned": many, "run": many, "exercised": many}, outcomes={"fresh": many})
    assert report_of([json.dumps(record) for record in records])[0] == "KIT_ERROR"


def lines_with(index: int, **changed: Any) -> list[str]:
    """The good lines, one of them with other fields; None takes a field away where it was."""
    records = [dict(record) for record in GOOD]
    records[index] = {key: value for key, value in {**records[index], **changed}.items() if value != "gone"}
    return [json.dumps(record) for record in records]


BENT: list[tuple[int, dict[str, Any], str]] = [
    (3, {"status": "GOOD"}, "its verdict is 'GOOD', which is none of PASS, FAIL, INCONCLUSIVE, NOT_SUPPORTED, HANG"),
    *[(3, {"trials": {**GOOD[3]["trials"], key: bad}}, "its trials lack a count of planned, run or exercised")
      for key in ("planned", "run", "exercised") for bad in (-1, 1.5, True, None, 1 << 64)],
    (3, {"trials": None}, "its trials lack a count of planned, run or exercised"),
    (3, {"trials": {**GOOD[3]["trials"], "witnessed": -1}}, "its trials are no table of counts"),
    (3, {"outcomes": {"fresh": True}}, "its outcomes are no table of counts"),
    (3, {"outcomes": None}, "its outcomes are no table of counts"),
    *[(3, {key: "many"}, f"its {key} is no count") for key in ("schedules", "shapes", "sm_pairs", "sm_pairs_possible", "resolution_ns")],
    *[(3, {key: {}}, f"its {key} is no list") for key in ("kernels", "answers", "survived_x")],
    (3, {"kernels": [1]}, "a row of its kernels says too little"),
    (3, {"answers": [{"what": "a"}]}, "a row of its answers says too little"),
    (3, {"answers": [{"what": "a", "answer": 1}]}, "a row of its answers says too little"),
    (3, {"reason": 1}, "its reason is no text"),
    (3, {"status": "NOT_SUPPORTED", "reason": 1}, "its reason is no text"),
    (2, {"kind": "odd"}, "a variant is of kind 'odd', which is none of mutant, control, broken_wait, triage"),
    (2, {"tag": None}, "a variant has no tag"),
    *[(2, {"kind": kind, "status": "DEAD"}, "variant notrig-nowait is 'DEAD', which is no status of a variant")
      for kind in ("mutant", "control", "broken_wait")],
    (2, {"x_ns": -1}, "variant notrig-nowait has an x_ns that is no count"),
    (2, {"kills": None}, "variant notrig-nowait lacks its count of kills or trials"),
    (2, {"trials": "gone"}, "variant notrig-nowait lacks its count of kills or trials"),
    (4, {"case": "other"}, "a end record of 'other' came outside that case"),
    *[(index, {"case": "gone"}, f"a {GOOD[index]['record']} record of None came outside that case") for index in (2, 3, 4)],
]


@pytest.mark.parametrize(("index", "changed", "said"), BENT)
def test_what_is_wrong_with_a_record_is_said(index: int, changed: dict[str, Any], said: str) -> None:
    session = Session(CASE.family, [CASE.name])
    for line in lines_with(index, **changed):
        session.take(line)
    assert said in [*session.problems, *session.logs[CASE.name].problems]


@pytest.mark.parametrize("changed", [
    *({"status": status} for status in VARIANT_STATUSES), {"kind": "triage", "status": "gone"}, {"x_ns": 250, "share": 0.25},
])
def test_what_a_variant_may_say(changed: dict[str, Any]) -> None:
    session = Session(CASE.family, [CASE.name])
    for line in lines_with(2, **changed):
        assert session.take(line) == json.loads(line)
    log = session.logs[CASE.name]
    assert not session.problems and not log.problems
    assert log.variants == [{key: value for key, value in {**GOOD[2], **changed}.items() if value != "gone"}]


def test_the_statuses_of_a_variant_are_the_harness_s() -> None:
    names = ", ".join(f'"{status}"' for status in VARIANT_STATUSES)
    assert f"variant_status_name[VARIANT_STATUS_COUNT] = {{ {names} }};" in (places.KIT / "harness" / "judge.c").read_text()


@pytest.mark.parametrize("changed", [
    {"status": "NOT_SUPPORTED", "trials": "gone", "outcomes": "gone"}, {"status": "HANG", "trials": "gone", "outcomes": "gone"},
    {"kernels": [{}], "answers": [{"what": "a", "answer": "b"}], "survived_x": [32], "resolution_ns": 32}, {"reason": "why"},
])
def test_what_may_be_left_out_or_said(changed: dict[str, Any]) -> None:
    session = Session(CASE.family, [CASE.name])
    for line in lines_with(3, **changed):
        assert session.take(line) == json.loads(line)
    log = session.logs[CASE.name]
    assert not session.problems and not log.problems and log.complete and log.began and session.done
    assert session.last_ended is log and session.current is None and session.start == GOOD[0]


def test_what_a_child_said_is_kept() -> None:
    session = Session("f", ["a", "b"])
    for record in [{"record": "begin", "case": "a"}, {"record": "progress", "case": "a", "part": "base", "done": 3, "planned": 9},
                   *[{"record": "forbidden", "case": "a", "slot": slot} for slot in range(20)],
                   *[{"record": "wrong", "case": "a", "what": what, "answer": "3"} for what in ("nodes", "edges")],
                   {"record": "error", "case": "a", "call": "cudaX()", "error": "cudaErrorY", "part": "base"}]:
        assert session.take(json.dumps(record)) == record
    log = session.logs["a"]
    assert log.last_sign == "base, 3 of 9" and log.error == "cudaX() gave cudaErrorY in part base" and session.current is log
    assert log.wrong == "nodes: 3"
    assert [record["slot"] for record in log.forbidden] == list(range(16)) and not log.problems and not log.complete


MIXED: list[tuple[list[dict[str, Any]], str, str | None]] = [
    ([{"record": "begin", "case": "c"}], "family f: case 'c' was not asked for", None),
    ([{"record": "begin", "case": "a"}, {"record": "begin", "case": "a"}], "it began twice", "a"),
    ([{"record": "begin", "case": "a"}, {"record": "end", "case": "a"}, {"record": "begin", "case": "a"}], "it began twice", "a"),
    ([{"record": "begin", "case": "a"}, {"record": "end", "case": "b"}], "a end record of 'b' came outside that case", "b"),
    ([{"record": "begin", "case": "a"}, {"record": "end", "case": "a"}, {"record": "progress", "case": "a"}],
     "a progress record of 'a' came outside that case", "a"),
    ([{"record": "error", "case": "c"}], "a error record of 'c' came outside that case", None),
    ([{"record": "start"}, {"record": "start"}], "family f: a second start record", None),
    ([{"record": "begin", "case": "a"}, {"record": "odd"}], "there is no record of kind 'odd'", "a"),
    ([{"record": "odd"}], "family f: there is no record of kind 'odd'", None),
    ([{"record": "done"}, {"record": "begin", "case": "a"}], "family f: a begin record came after the closing one", None),
    ([{"record": 5}], "family f: a line is no record: '{\"record\": 5}'", None),
    ([{"record": "begin", "case": "a"}, *[{"record": "case", "case": "a", "status": status} for status in ("HANG", "NOT_SUPPORTED")]],
     "it has two verdicts, HANG and NOT_SUPPORTED", "a"),
    ([{"record": "begin", "case": "a"},
      *[{"record": "case", "case": "a", "status": status, "trials": dict.fromkeys(("planned", "run", "exercised"), 1), "outcomes": {}}
        for status in ("FAIL", "PASS")]], "it has two verdicts, FAIL and PASS", "a"),
]


@pytest.mark.parametrize(("records", "said", "case"), MIXED)
def test_records_that_do_not_fit_together(records: list[dict[str, Any]], said: str, case: str | None) -> None:
    session = Session("f", ["a", "b"])
    for record in records:
        session.take(json.dumps(record))
    assert (session.logs[case].problems if case else session.problems) == [said]
    others = [log.problems for name, log in session.logs.items() if name != case] + ([session.problems] if case else [])
    assert not any(others)


@pytest.mark.parametrize("late", [
    {"record": "forbidden", "slot": 3}, {"record": "wrong", "what": "nodes", "answer": "3"}, {"record": "wrong"},
    {"record": "error", "call": "cudaX()", "error": "cudaErrorY", "part": "base"}])
def test_what_is_held_against_a_case_after_its_pass_counts(late: dict[str, Any]) -> None:
    lines = [json.dumps(record) for record in (*GOOD[:4], {**late, "case": CASE.name}, *GOOD[4:])]
    status, made = report_of(lines)
    assert status == "KIT_ERROR" and "it says PASS" in made["tests"][0]["reason"]


@pytest.mark.parametrize("drop", range(1, 5))
def test_a_line_that_is_missing_never_passes(drop: int) -> None:
    _, made = report_of([json.dumps(record) for index, record in enumerate(GOOD) if index != drop])
    assert made["verdict"] != "CONFORMS"


@pytest.mark.parametrize("twice", range(len(GOOD)))
def test_a_line_that_comes_twice_is_never_taken(twice: int) -> None:
    lines = [json.dumps(record) for record in GOOD]
    _, made = report_of([*lines[:twice + 1], *lines[twice:]])
    assert made["verdict"] == "INVALID"


def test_a_case_that_was_not_asked_for_ends_the_one_before_it() -> None:
    """What comes after its beginning may be of either."""
    session = Session("f", ["a"])
    for record in [{"record": "begin", "case": "a"}, {"record": "begin", "case": "c"}, {"record": "end", "case": "a"}]:
        session.take(json.dumps(record))
    log = session.logs["a"]
    assert log.problems == ["a end record of 'a' came outside that case"] and not log.ended


def test_an_inconclusive_case_needs_its_counts() -> None:
    session = Session("f", ["a"])
    session.take(json.dumps({"record": "begin", "case": "a"}))
    session.take(json.dumps({"record": "case", "case": "a", "status": "INCONCLUSIVE"}))
    log = session.logs["a"]
    assert log.problems == ["its trials lack a count of planned, run or exercised"] and log.verdict is None


def test_a_line_that_is_nested_too_deep_is_no_record() -> None:
    session = Session("wait", [CASE.name])
    assert session.take('{"record": ' + "[" * 200_000) is None and len(session.problems) == 1 and "no JSON" in session.problems[0]
