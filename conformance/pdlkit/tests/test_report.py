"""report.json: valid against its schema whatever happened, adds up, and names nobody."""

from __future__ import annotations

import copy
import getpass
import json
import re
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from conformance.pdlkit import places, schema
from conformance.pdlkit.axes import coverage
from conformance.pdlkit.machine_code import METHOD
from conformance.pdlkit.report import (
    RunFacts,
    axes_entry,
    build_report,
    identified,
    inconsistencies,
    mutation_score,
    pooled,
    rule_entry,
    scrub,
    suite_facts,
    without_folders,
    write_report,
)
from conformance.pdlkit.report import test_entry as case_entry
from conformance.pdlkit.rules import load
from conformance.pdlkit.tests.kit_runs import run_fake
from conformance.pdlkit.verdicts import CaseResult, RunVerdict, bound95, judge_capabilities
from conformance.pdlkit.waivers import Applied

SCHEMA = json.loads(places.SCHEMA.read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CAPTURED = "WAIT-05.rewait.widened.captured"

SITUATIONS: dict[str, dict[str, Any]] = {
    "conforms": {}, "violates": {"WAIT-05": "fail"}, "crash": {"MEM-01": "segv"}, "sticky": {CAPTURED: "sticky"},
    "invalid": {"ATTR-03": "two-verdicts"}, "bad json": {"TRIG-01": "bad-json"}, "never": {"startup": "die"},
    "hang": {"deadline_s": 0.1, CAPTURED: "hang"}, "not applicable": {"*": "not-supported"},
    "survivor": {"WAIT-01": "survivor"},
}


def errors(report: dict[str, Any]) -> list[str]:
    return [f"{list(error.path)}: {error.message}" for error in VALIDATOR.iter_errors(report)]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("situation", "device"), [*((name, "cuda") for name in SITUATIONS),
                                                   *((name, "model") for name in ("violates", "invalid", "never", "survivor"))])
def test_every_report_is_valid_and_adds_up(situation: str, device: str, tmp_path: Path) -> None:
    rules = ["WAIT-0[15]", "MEM-01", "ATTR-03", "TRIG-01"] if situation != "conforms" else []  # a child per family
    only = [f"--only={rule}" for rule in rules]
    report = run_fake(tmp_path, SITUATIONS[situation], *only, device=device).report
    assert schema.problem(report, SCHEMA) is None
    assert inconsistencies(report) == []
    text = json.dumps(report)
    assert str(tmp_path) not in text and str(places.ROOT) not in text
    assert socket.gethostname() not in re.findall(r"[\w.-]+", text)
    assert f"/{getpass.getuser()}" not in text


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of few cases: jsonschema takes seconds for one of all cases; test_read_report compares it with what they are checked by."""
    report = run_fake(tmp_path_factory.mktemp("good"), {}, "--only=WAIT-0[15]", device="cuda").report
    assert errors(report) == [] and inconsistencies(report) == []
    return report


def _at(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(test for test in report["tests"] if test["name"] == name)


BREAKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no verdict": lambda r: r.pop("verdict"),
    "odd verdict": lambda r: r.update(verdict="OK"),
    "exit that does not fit": lambda r: r.update(exit=1),
    "extra key": lambda r: r.update(hostname="box"),
    "path in argv": lambda r: r["run"].update(argv=["--output", "/home/me"]),
    "short seed": lambda r: r["run"].update(seed="0x1"),
    "status": lambda r: r["tests"][0].update(status="OK"),
    "negative count": lambda r: r["tests"][0]["trials"].update(run=-1),
    "pass without exercise": lambda r: _at(r, CAPTURED)["trials"].update(exercised=0),
    "bound on a failure": lambda r: _at(r, CAPTURED).update(status="FAIL"),
    "bound on the model": lambda r: r["device"].update(kind="model"),
    "mutant without status": lambda r: _at(r, CAPTURED)["mutants"][0].update(status=None),
    "case name": lambda r: r["tests"][0].update(name="wait"),
    "window": lambda r: r["tests"][0].update(window="broad"),
    "hash": lambda r: r["tests"][0].update(code_hash="abc"),
    "interposer as path": lambda r: r["host"].update(interposers=["LD_PRELOAD=/x.so"]),
}


@pytest.mark.parametrize("name", BREAKS)
def test_the_schema_refuses(name: str, good: dict[str, Any]) -> None:
    report = copy.deepcopy(good)
    BREAKS[name](report)
    assert errors(report) != []


SUMS: dict[str, Callable[[dict[str, Any]], object]] = {
    "exercised": lambda r: _at(r, CAPTURED)["trials"].update(exercised=65),
    "run": lambda r: _at(r, CAPTURED)["trials"].update(run=65),
    "score": lambda r: r["mutation_score"].update(killed=0),
    "survivor not named": lambda r: _at(r, CAPTURED)["mutants"].append({"status": "SURVIVED"}),
    "twice": lambda r: r["tests"].append(r["tests"][0]),
    "rule's cases": lambda r: r["rules"][0].update(cases=7),
}


@pytest.mark.parametrize("name", SUMS)
def test_counts_that_do_not_add_up_are_found(name: str, good: dict[str, Any]) -> None:
    report = copy.deepcopy(good)
    SUMS[name](report)
    assert inconsistencies(report) != []


@pytest.mark.parametrize(("text", "expected"), [
    ("--output=/home/me/out", "--output=out"), ("/a/b/c", "c"), ("../x/y", "y"), ("cuda:0", "cuda:0"), ("WAIT-*", "WAIT-*"),
])
def test_arguments_lose_their_folders(text: str, expected: str) -> None:
    assert scrub(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("cannot open /home/me/lib.so: gone", "cannot open lib.so: gone"), ("12/34 trials", "12/34 trials"),
    ("'/opt/x/y'", "'y'"), (None, None),
])
def test_sentences_lose_absolute_folders(text: str | None, expected: str | None) -> None:
    assert without_folders(text) == expected


def test_a_run_of_everything_says_so(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"startup": "die"}, device="model").report["run"]
    assert ran["only"] == [] and ran["plant"] is None


def test_the_report_says_what_was_asked_for(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "WAIT-05", "--only", "EDGE-1?", "--plant", "broken-wait:500").report["run"]
    assert ran["only"] == ["WAIT-05", "EDGE-1?"] and ran["plant"] == "broken-wait:500"


@pytest.mark.parametrize(("device", "kind"), [("cuda", "gpu"), ("cuda:0", "gpu"), ("model", "model"), ("model:shared", "model")])
def test_the_report_says_what_was_judged(device: str, kind: str, tmp_path: Path) -> None:
    assert run_fake(tmp_path, {}, "--only=WAIT-05", device=device).report["device"]["kind"] == kind


def test_kinds_are_those_of_the_rule_book(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only=WAIT-05", "--only=FWD-03", "--only=EDGE-36", device="cuda").report
    book = load(places.RULES)
    cases = {case.name: case.kind for case in book.cases}
    rules = {rule.id: rule.kind for rule in book.rules}
    assert {test["kind"] for test in ran["tests"]} == {"visibility", "progress", "api"}
    assert all(test["kind"] == cases[test["name"]] for test in ran["tests"])
    assert all(entry["kind"] == rules[entry["id"]] for entry in ran["rules"])


def test_a_changed_kit_is_dirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=kit", "-c", "user.email=kit@localhost", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    book = load(places.RULES)
    monkeypatch.setattr("conformance.pdlkit.report.ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert suite_facts(book)["dirty"] is None and suite_facts(book)["git"] is None  # as it was unpacked, without its history
    git("init", "--quiet")
    (tmp_path / "kept").write_text("one")
    git("add", "kept")
    git("commit", "--quiet", "--message", "one")
    assert suite_facts(book)["dirty"] is False and suite_facts(book)["git"] == git("rev-parse", "HEAD")
    (tmp_path / "new").write_text("of nobody")
    assert suite_facts(book)["dirty"] is False
    (tmp_path / "kept").write_text("two")
    assert suite_facts(book)["dirty"] is True


def test_same_records_same_tests(tmp_path: Path) -> None:
    one, two = (run_fake(tmp_path / name, {}, "--only=WAIT-05", "--only=EDGE-10").report for name in ("one", "two"))
    for report in (one, two):
        for test in report["tests"]:
            test.pop("wall_s")
    assert one["tests"] == two["tests"] and one["rules"] == two["rules"]


def test_reports_written_side_by_side_are_whole_and_overwrite_no_file_of_others(tmp_path: Path) -> None:
    (tmp_path / "report.json.draft").write_text("mine")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_report({"number": number, "text": "x" * 100_000}, tmp_path), range(64)))
    assert json.loads((tmp_path / "report.json").read_text())["number"] in range(64)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.json.draft"]
    assert (tmp_path / "report.json.draft").read_text() == "mine"


@pytest.mark.parametrize("status", ["FAIL", "HANG", "CRASH", "DEVICE_LOST", "NOT_RUN", "KIT_ERROR"])
def test_a_rule_is_as_bad_as_an_observing_case_of_it(status: str) -> None:
    book = load(places.RULES)
    rule = next(r for r in book.rules if {case.proving for case in r.cases} == {True, False})
    one = {proving: next(case for case in rule.cases if case.proving is proving) for proving in (True, False)}

    def said(observed: str) -> object:
        facts: Any = SimpleNamespace(results=[CaseResult(one[True], "PASS", None), CaseResult(one[False], observed, None)], on_model=False)
        entry = rule_entry(facts, rule)
        return entry and entry["status"]

    assert said(status) == status and said("INCONCLUSIVE") == said("PASS") == "PASS"


def test_only_cases_that_passed_count_for_their_rule() -> None:
    book = load(places.RULES)
    rule = next(r for r in book.rules if r.kind == "visibility" and sum(case.proving for case in r.cases) > 1)
    one, other = [case for case in rule.cases if case.proving][:2]
    record = {"trials": {"planned": 64, "run": 64, "exercised": 60, "witnessed": 50}, "outcomes": {"fresh": 64}, "shapes": 7,
              "schedules": 9}
    results = [CaseResult(one, "PASS", None, record), CaseResult(other, "INCONCLUSIVE", None, record)]
    facts: Any = SimpleNamespace(results=results, on_model=False)
    entry = rule_entry(facts, rule)
    assert entry and (entry["exercised"], entry["shapes"], entry["schedules"]) == (60, 7, 9)
    assert (entry["sm_pairs"], entry["sm_pairs_possible"]) == (0, 0), "none were noted"
    pairs: list[dict[str, Any]] = [{**record, "sm_pairs": said, "sm_pairs_possible": said and 16} for said in (12, None)]
    facts.results = [CaseResult(case, "PASS", None, said) for case, said in zip((one, other), pairs, strict=True)]
    assert (entry := rule_entry(facts, rule)) and (entry["sm_pairs"], entry["sm_pairs_possible"]) == (12, 16)


def test_a_case_of_a_report_has_all_that_its_record_says() -> None:
    case = load(places.RULES).cases[0]
    keys = ("survived_x", "schedules", "shapes", "answers", "sm_pairs", "sm_pairs_possible", "plan_hash", "expected_hash", "kernels")
    said = {key: [key] for key in keys}
    facts: Any = SimpleNamespace(evidence={}, code=None, on_model=False)
    entry = case_entry(facts, CaseResult(case, "PASS", None, {**said, "more": 1}))
    assert {key: entry[key] for key in said} == said and "more" not in entry


def test_a_planted_bug_keeps_what_was_said_of_the_kernels_that_pdl_h_would_refuse() -> None:
    case = load(places.RULES).cases[0]
    refused = {"name": "second", "can_overlap": False, "reason": "why"}
    variant = {"kind": "mutant", "tag": "a", "status": "KILLED", "kills": 9, "trials": 9}
    facts: Any = SimpleNamespace(evidence={}, code=None, on_model=False)
    kernels = [{"name": "first", "can_overlap": True, "reason": None}, refused, {"name": "older"}]
    entry = case_entry(facts, CaseResult(case, "PASS", None, {}, ({**variant, "kernels": kernels}, {**variant, "kernels": kernels[:1]})))
    assert entry["mutants"][0]["kernels"] == [refused] and "kernels" not in entry["mutants"][1]


def test_a_bound_is_over_the_exercised_trials_not_over_those_that_ran() -> None:
    book = load(places.RULES)
    rule = next(r for r in book.rules if r.kind == "visibility" and r.rule_class == "documented" and any(case.proving for case in r.cases))
    case = next(case for case in rule.cases if case.proving)
    record = {"trials": {"planned": 2000, "run": 1000, "exercised": 100, "witnessed": 500}, "outcomes": {"fresh": 1000, "overlap": 90},
              "shapes": 50}
    facts: Any = SimpleNamespace(book=book, results=[CaseResult(case, "PASS", None, record)], on_model=False, evidence={}, code=None)
    for facts.on_model, bound, shapes in ((False, bound95(100), 3 / 50), (True, None, None)):
        entries = (case_entry(facts, facts.results[0]), rule_entry(facts, rule), pooled(facts))
        assert [entry and entry["bound95"] for entry in entries] == [bound] * 3
        assert [entry and entry["shape_bound95"] for entry in entries[1:]] == [shapes] * 2


@pytest.mark.parametrize(("answer", "lost"), [
    ("all of {n}", set()), ("all but 3 7", {3, 7}), ("all but 0", {0}), ("all of {n_less_2}", {-2, -1})])
def test_rows_that_did_not_run_are_not_covered(answer: str, lost: set[int]) -> None:
    book = load(places.RULES)
    rows = book.axes.rows
    record = {"answers": [{"what": "rows of the covering array that ran", "answer": answer.format(n=len(rows), n_less_2=len(rows) - 2)},
                          {"what": "other", "answer": "all of 9"}]}
    facts: Any = SimpleNamespace(book=book, results=[CaseResult(book.cases[0], "PASS", None, record)])
    entry, expected = axes_entry(facts), coverage(book.axes, [
        row for number, row in enumerate(rows) if not {number, number - len(rows)} & lost])
    assert (entry["ran"], entry["rows"]) == (len(rows) - len(lost), len(rows))
    assert (entry["pairs"], entry["triples"], entry["missing"]) == (list(expected.pairs), list(expected.triples), list(expected.missing))


def test_a_rule_that_is_not_proven_has_no_bound() -> None:
    one, other = [case for case in load(places.RULES).cases if case.rule == "WAIT-01" and case.proving][:2]
    said = {"trials": {"exercised": 100}, "shapes": 9}
    both = [CaseResult(one, "PASS", None, said), CaseResult(other, "INCONCLUSIVE", "not-exercised", said)]
    rule: Any = SimpleNamespace(id="WAIT-01", rule_class="documented", kind="visibility", core=True, text="t", source="s")
    facts: Any = SimpleNamespace(results=both, on_model=False)
    entry: Any = rule_entry(facts, rule)
    assert (entry["status"], entry["bound95"], entry["shape_bound95"]) == ("INCONCLUSIVE", None, None)
    facts.results = both[:1]
    proven: Any = rule_entry(facts, rule)
    assert proven["shape_bound95"] == 3 / 9


@pytest.mark.parametrize("status", ["FAIL", "HANG", "CRASH", "DEVICE_LOST", "NOT_RUN", "KIT_ERROR", "INCONCLUSIVE"])
def test_visibility_that_is_not_proven_has_no_pooled_bound(status: str) -> None:
    one, other = [case for case in load(places.RULES).cases if case.rule == "WAIT-01" and case.proving][:2]
    said = {"trials": {"exercised": 100}, "shapes": 9}
    facts: Any = SimpleNamespace(results=[CaseResult(one, "PASS", None, said), CaseResult(other, status, "why", said)], on_model=False)
    assert (pooled(facts)["bound95"], pooled(facts)["shape_bound95"]) == (None, None)
    facts.results[1] = CaseResult(other, "NOT_SUPPORTED", "old", {})
    assert (pooled(facts)["bound95"], pooled(facts)["shape_bound95"]) == (bound95(100), 3 / 9)


def test_answers_have_no_bound() -> None:
    """Nothing was drawn, so nothing follows for what was not asked."""
    book = load(places.RULES)
    rule = next(r for r in book.rules if r.kind == "api" and r.rule_class == "documented" and r.cases[0].proving)
    result = CaseResult(rule.cases[0], "PASS", None, {"trials": {"planned": 9, "run": 9, "exercised": 9}, "shapes": 5})
    facts: Any = SimpleNamespace(book=book, results=[result], on_model=False, evidence={}, code=None)
    entry = rule_entry(facts, rule)
    assert entry and (case_entry(facts, result)["bound95"], entry["bound95"], entry["shape_bound95"]) == (None, None, None)


def test_a_rule_counts_the_planted_bugs_of_all_its_proving_cases() -> None:
    cases = [case for case in load(places.RULES).cases if case.rule == "WAIT-01"]
    proving, observing = [case for case in cases if case.proving][:2], next(case for case in cases if not case.proving)
    said = [("mutant", "KILLED"), ("mutant", "SURVIVED"), ("mutant", "EQUIVALENT_HERE"), ("control", "KILLED"), ("control", "SURVIVED"),
            ("broken_wait", "KILLED"), ("broken_wait", "SURVIVED"), ("broken_wait", "NOT_APPLICABLE"), ("triage", None)]
    variants = tuple({"kind": kind, "status": status} for kind, status in said)
    results = [CaseResult(case, status, None, variants=variants)
               for case, status in ((proving[0], "PASS"), (proving[1], "FAIL"), (observing, "PASS"))]
    rule: Any = SimpleNamespace(id="WAIT-01", rule_class="documented", kind="visibility", core=True, text="t", source="s")
    facts: Any = SimpleNamespace(results=results, on_model=False)
    entry: Any = rule_entry(facts, rule)
    assert (entry["killed"], entry["applicable"], entry["broken_waits_killed"]) == (4, 8, 2)
    assert (entry["cases"], entry["proving"], entry["status"]) == (3, 2, "FAIL")


@pytest.mark.parametrize(("kind", "rule_class", "proving", "pools"), [
    ("visibility", "documented", True, True), ("visibility", "derived", True, True), ("visibility", "measured", True, False),
    ("visibility", "documented", False, False), ("start", "documented", True, False), ("progress", "documented", True, False),
    ("api", "documented", True, False),
])
def test_only_what_visibility_rules_prove_is_pooled(kind: str, rule_class: str, proving: bool, pools: bool) -> None:
    said = {"trials": {"exercised": 100}, "shapes": 9}
    beside = SimpleNamespace(kind="visibility", rule_class="documented", proving=True)
    other = SimpleNamespace(kind=kind, rule_class=rule_class, proving=proving)
    for status, bad in (("PASS", False), ("FAIL", True), ("INCONCLUSIVE", True), ("NOT_SUPPORTED", False)):
        results = [CaseResult(case, result, None, said) for case, result in ((beside, "PASS"), (other, status))]  # type: ignore[arg-type]
        facts: Any = SimpleNamespace(results=results, on_model=False)
        entry, counted = pooled(facts), 2 if pools and status == "PASS" else 1
        assert (entry["exercised"], entry["shapes"]) == (100 * counted, 9 * counted)
        bounds = (None, None) if pools and bad else (bound95(100 * counted), min(1.0, 3 / (9 * counted)))
        assert (entry["bound95"], entry["shape_bound95"]) == bounds


def test_the_score_names_each_planted_bug_that_it_does_not_count() -> None:
    said = ["KILLED", "KILLED", "SURVIVED", "EQUIVALENT_HERE", "NOT_APPLICABLE"]
    variants = [{"kind": "mutant", "tag": f"m{number}", "status": status} for number, status in enumerate(said)]
    others = [{"kind": kind, "tag": "x", "status": status} for kind in ("control", "broken_wait", "triage") for status in said]
    results: Any = [SimpleNamespace(case=SimpleNamespace(name="C"), variants=(*variants, *others))]
    assert mutation_score(results) == {
        "killed": 2, "applicable": 3, "survived": ["C: m2"], "equivalent": ["C: m3"], "not_applicable": ["C: m4"]}


def test_the_report_holds_all_that_the_run_found() -> None:
    """None of it is left out, wherever the run was made."""
    book = load(places.RULES)
    failed, crashed = (next(case for case in book.cases if case.rule == rule and case.proving) for rule in ("WAIT-01", "MEM-01"))
    passed = next(case for case in book.cases if case.capability == crashed.capability and case.proving and case.rule == "ATTR-05")
    results = [CaseResult(failed, "FAIL", "x", forbidden=({"batch": 1}, {"batch": 2})), CaseResult(crashed, "CRASH", "y"),
               CaseResult(passed, "PASS", None)]
    applied = Applied((failed.rule,), (crashed.rule,), ({"rule": failed.rule}, {"rule": crashed.rule}), ("one did nothing",))
    verdict = RunVerdict("UNPROVEN", ("reason 1", "reason 2"), ("finding 1", "finding 2"), (failed.rule,))
    facts = RunFacts(
        book=book, device="cuda:1", profile="smoke", seed=5, argv=["--only=x"], only=["x"], started="s", wall_s=1.0, results=results,
        verdict=verdict, start={}, toolchain={}, host={}, interposers=["LD_PRELOAD"], problems=["problem 1", "problem 2"],
        processes=[{"family": "wait"}], code=None, plant="hang", waivers=applied)
    report = build_report(facts)
    assert {key: report[key] for key in ("reasons", "findings", "problems", "waivers_idle", "verdict", "exit", "processes", "waived")} == {
        "reasons": ["reason 1", "reason 2"], "findings": ["finding 1", "finding 2"], "problems": ["problem 1", "problem 2"],
        "waivers_idle": ["one did nothing"], "verdict": "UNPROVEN", "exit": 2, "processes": [{"family": "wait"}],
        "waived": [{"rule": failed.rule}, {"rule": crashed.rule}]}
    assert report["host"]["interposers"] == ["LD_PRELOAD"] and report["run"]["plant"] == "hang" and report["run"]["only"] == ["x"]
    assert report["capabilities"] == judge_capabilities(results, [failed.rule], [crashed.rule])
    assert {entry["verdict"] for entry in report["capabilities"]} == {"CONFORMS"}
    assert [test["reason"] for test in report["tests"]] == ["x", "y", None]
    assert report["tests"][0]["forbidden"] == [{"batch": 1}, {"batch": 2}]
    assert [test["status"] for test in report["tests"]] == ["FAIL", "CRASH", "PASS"] and report == identified(report)
    assert identified(dict(reversed(report.items())))["run"]["id"] == report["run"]["id"], "in whatever order it is written"
    assert "code" not in report["toolchain"] and report["tests"][0]["code_hash"] is None
    judged: Any = SimpleNamespace(architectures=lambda: ["sm_90a"], unreadable=2, code_hash=lambda kernels: f"sha256:{len(kernels)}")
    told = build_report(replace(facts, code=judged))
    assert told["toolchain"]["code"] == {"method": METHOD, "architectures": ["sm_90a"], "unreadable_images": 2}
    assert [test["code_hash"] for test in told["tests"]] == ["sha256:0"] * 3
    for part in ("seed", "plant", "device", "started"):
        other = copy.deepcopy(report)
        other["run"][part] = "another"
        assert identified(other)["run"]["id"] != report["run"]["id"], part


@pytest.mark.parametrize(("change", "found"), [
    ({}, 0), ({"score": {"killed": 1}}, 2), ({"score": {"killed": 3}}, 2), ({"score": {"survived": ["a"]}}, 1),
    ({"score": {"equivalent": []}}, 1),
    ({"score": {"not_applicable": []}}, 1), ({"score": {"not_applicable": ["c", "d", "e"]}}, 1), ({"rules": [{"cases": 1}]}, 1),
    ({"rules": [{"cases": 3}]}, 1), ({"name": "a"}, 1), ({"trials": (5, 4, 9)}, 1), ({"trials": (4, 5, 4)}, 1), ({"trials": (4, 4, 4)}, 0),
])
def test_sums_that_are_off_by_anything_are_found(change: dict[str, Any], found: int) -> None:
    mutants = [{"status": status} for status in ("KILLED", "SURVIVED", "EQUIVALENT_HERE", "NOT_APPLICABLE")]
    exercised, run, planned = change.get("trials", (3, 4, 5))
    tests = [{"name": name, "status": "PASS", "mutants": mutants, "trials": {"exercised": exercised, "run": run, "planned": planned}}
             for name in ("a", change.get("name", "b"))]
    if "trials" in change:
        tests[0] = {**tests[0], "trials": {"exercised": 3, "run": 4, "planned": 5}}
    score = {"killed": 2, "survived": ["a", "b"], "equivalent": ["a", "b"], "not_applicable": ["a", "b"], **change.get("score", {})}
    rules = change.get("rules", [{"cases": 1}, {"cases": 1}])
    assert len(inconsistencies({"tests": tests, "rules": rules, "mutation_score": score})) == found


def test_a_rule_resolves_what_its_worst_case_does() -> None:
    one, other = [case for case in load(places.RULES).cases if case.rule == "WAIT-01" and case.proving][:2]
    said = {"trials": {"exercised": 100}, "shapes": 9}
    results = [CaseResult(case, "PASS", None, {**said, "resolution_ns": ns}) for case, ns in ((one, 500), (other, 2000))]
    rule: Any = SimpleNamespace(id="WAIT-01", rule_class="documented", kind="visibility", core=True, text="t", source="s")
    facts: Any = SimpleNamespace(results=results, on_model=False)
    entry: Any = rule_entry(facts, rule)
    assert entry["resolution_ns"] == 2000
