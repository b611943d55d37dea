"""What is derived from a report's own counts: each part by itself, where a whole report would hide one slip behind another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import sources
from conformance.pdlkit.places import RULES
from conformance.pdlkit.rules import load
from conformance.pdlkit.verdicts import bound95
from conformance.reports import recomputed
from conformance.reports.recomputed import judged_by, part_of, recomputed_problems
from conformance.reports.tests.made_reports import forbidden_trial, recorded, subset

BOOK = load(RULES)
OTHER = "0" * 16  # neither this rule book nor this code


def first(report: dict[str, Any], **wanted: Any) -> dict[str, Any]:
    """The first case with these values."""
    return next(test for test in report["tests"] if all(test[key] == value for key, value in wanted.items()))


def problems_of(test: dict[str, Any], on_gpu: bool = True) -> list[str]:
    """What is said of one case of a report of other code."""
    return list(recomputed._test_problems(test, recomputed._book_of(recorded()), False, on_gpu))


@pytest.mark.parametrize(("first_value", "second_value", "same"), [
    (1.0, 1.0 + 1e-13, True), (1.0, 1.0 + 1e-9, False), (1.0, 1.005, False), (1, 1.0, False), (0, False, False), (1, 1, True),
    (None, None, True), (None, 0, False), (["a"], ["a"], True), (["a"], ["b"], False)])
def test_numbers_are_the_same_up_to_their_last_digits_only(first_value: Any, second_value: Any, same: bool) -> None:
    assert recomputed._same(first_value, second_value) is same


@pytest.mark.parametrize("order", [1, -1])
def test_a_planted_bug_may_live_everywhere_if_a_case_says_why(order: int) -> None:
    report = recorded()
    tests = [test for test in report["tests"] if test["mutants"]][:2][::order]
    tests[0]["mutants"], tests[1]["mutants"] = ([{**test["mutants"][0], "tag": "odd"}] for test in tests)
    tests[0]["mutants"][0].update(status="KILLED", reason="of no weight")
    assert recomputed._book_of(report).tags["odd"].equivalent_candidate is None
    tests[1]["mutants"][0].update(status="EQUIVALENT_HERE", reason="the same code")
    assert recomputed._book_of(report).tags["odd"].equivalent_candidate == "the same code"


def test_this_kit_s_book_knows_which_planted_bug_may_live() -> None:
    may_live = next(tag for tag in BOOK.tags.values() if tag.equivalent_candidate)
    may_not = next(tag for tag in BOOK.tags.values() if not tag.equivalent_candidate)
    report = recorded()
    test = next(test for test in report["tests"] if len(test["mutants"]) > 1)
    report["tests"], variants = [test], test["mutants"]
    for variant, tag in zip(variants[:2], (may_live, may_not), strict=True):
        variant.update(tag=tag.tag, status="KILLED", reason=None)
    tags = recomputed._book_of(report).tags
    assert tags[may_live.tag].equivalent_candidate == may_live.equivalent_candidate and not tags[may_not.tag].equivalent_candidate


def test_a_case_keeps_all_that_was_planted_in_it_and_all_that_it_found() -> None:
    report = recorded()
    test = next(test for test in report["tests"] if test["broken_waits"] and test["mutants"])
    test.update(triage=[{"kind": "triage"}], controls=[{"kind": "control", "tag": "c"}], answers=["x"], forbidden=[forbidden_trial()])
    case = recomputed._case_of(test, ())
    assert case.broken_waits and not recomputed._case_of({**test, "broken_waits": []}, ()).broken_waits
    assert case.mutants == tuple(v["tag"] for v in test["mutants"]) and case.controls == tuple(v["tag"] for v in test["controls"])
    planted = [v for key in ("mutants", "controls", "broken_waits", "triage") for v in test[key]]
    log, result = recomputed._log_of(test), recomputed._result_of(test, case)
    assert log.variants == list(result.variants) == planted and log.forbidden == list(result.forbidden) == [forbidden_trial()]
    keys = {"trials", "outcomes", "resolution_ns", "schedules", "shapes", "sm_pairs", "sm_pairs_possible", "answers"}
    assert result.record == {key: test[key] for key in keys if key in test}


@pytest.mark.parametrize(("wanted", "on_gpu", "bounded"), [
    ({"kind": "visibility", "status": "PASS"}, True, True), ({"kind": "visibility", "status": "PASS"}, False, False),
    ({"kind": "api", "status": "PASS"}, True, False), ({"kind": "visibility", "status": "INCONCLUSIVE"}, True, False)])
def test_a_bound_is_of_passes_in_trials_on_a_gpu_alone(wanted: dict[str, Any], on_gpu: bool, bounded: bool) -> None:
    test = first(recorded(), **wanted)
    test["trials"]["exercised"] = test["trials"]["run"]
    right = bound95(test["trials"]["run"]) if bounded else None
    said = {value: [text for text in problems_of({**test, "bound95": value}, on_gpu) if "bound95" in text] for value in (right, 0.75)}
    assert said[right] == [] and len(said[0.75]) == 1


def test_a_failure_says_large_counts_as_people_write_them() -> None:
    test = first(recorded(), kind="visibility", status="PASS")
    test.update(status="FAIL", reason="stale 1,005 in 2,000 trials")
    test["outcomes"].update(stale=1005)
    assert not any("its reason counts" in text for text in problems_of(test))
    test["outcomes"].update(stale=1)
    assert any("its reason counts" in text for text in problems_of(test))


def test_an_answer_of_a_call_counts_no_overlapping_trials() -> None:
    test = first(recorded(), kind="api", status="PASS")
    test["outcomes"]["overlap"] = test["trials"]["run"] + 1
    assert not any("overlapped" in text for text in problems_of(test))


def test_no_more_trials_overlap_than_ran_however_many_were_planned() -> None:
    test = first(recorded(), kind="visibility", status="PASS")
    test["trials"].update(planned=3 * test["trials"]["run"])
    test["outcomes"].update(overlap=test["trials"]["run"] + 1)
    assert f"{test['name']}: more trials overlapped than were run" in problems_of(test)


@pytest.mark.parametrize("key", ["witnessed", "cut_short"])
def test_no_more_trials_were_witnessed_or_cut_short_than_ran_however_many_were_planned(key: str) -> None:
    test = first(recorded(), status="PASS", kind="visibility")
    test["trials"]["planned"] = test["trials"]["run"] + 1
    test["trials"][key] = test["trials"]["run"]
    assert not any("it counts more trials" in text for text in problems_of(test))
    test["trials"][key] += 1
    assert f"{test['name']}: it counts more trials {key.replace('_', ' ')} than run" in problems_of(test)


@pytest.mark.parametrize("other", ["rule", "window", "path"])
def test_a_case_that_says_another_s_name_is_seen(other: str) -> None:
    """Also where the report tells the other case, too."""
    test = first(recorded(), kind="visibility", status="PASS")
    said = f"{test['name']}: its name is not its rule, window and path"
    assert said not in problems_of(test) and said in problems_of({**test, other: "odd"})


# ---- the run ----


@pytest.mark.parametrize(("suite", "own"), [
    ({"rules_hash": BOOK.digest}, True), ({"sources": sources.digest()}, True), ({}, False), ({"sources": None}, False)])
def test_a_report_is_held_against_this_book_if_it_is_of_this_book_or_code(suite: dict[str, str | None], own: bool) -> None:
    report = recorded()
    report["suite"].update({"rules_hash": OTHER, "sources": OTHER, **suite})
    book, said = judged_by(report)
    assert said is own and (book.digest == BOOK.digest) is own


@pytest.mark.parametrize(("same_words", "told"), [(True, True), (False, False)])
def test_a_rule_s_sentences_are_compared_with_the_book_that_has_them(same_words: bool, told: bool) -> None:
    report = subset("WAIT-01")
    report["suite"].update(sources=sources.digest(), rules_hash=BOOK.digest if same_words else OTHER)
    report["rules"][0]["text"] = "something else"
    assert any(text.startswith("WAIT-01: its text is 'something else'") for text in recomputed_problems(report)) is told


def test_the_score_is_of_the_planted_bugs() -> None:
    report = subset("WAIT-01")
    report["mutation_score"]["killed"] += 1
    assert any(text.startswith("the mutation score: its killed is") for text in recomputed_problems(report))


def test_the_cases_that_were_asked_for_are_known_for_reports_of_this_code_alone() -> None:
    report = subset("WAIT-01")
    report["run"]["only"] = ["ATTR-05"]
    report["suite"].update(sources=OTHER, rules_hash=OTHER)
    assert not any("asked for" in text for text in recomputed_problems(report))


def test_the_launches_of_two_books_are_not_taken_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recomputed, "axes_entry", lambda facts: facts.book.digest)
    facts: list[Any] = [SimpleNamespace(book=SimpleNamespace(digest=name), results=[]) for name in ("a", "b")]
    assert [str(recomputed._axes(one)) for one in facts] == ["a", "b"]


def derived(report: dict[str, Any], own: bool = False) -> dict[str, Any]:
    book = BOOK if own else recomputed._book_of(report)
    return recomputed.derived(report, recomputed._facts(report, book, recomputed._results(report, book)), own)


def test_what_is_derived_names_no_folder() -> None:
    report = subset("WAIT-01")
    report["problems"] = ["the program /home/somebody/pdl/harness died"]
    assert derived(report)["reasons"] == ["the program harness died"]
    first(report, rule="WAIT-01", kind="visibility").update({"class": "measured", "status": "FAIL", "reason": "odd in /home/x/file.c"})
    report["problems"] = []
    assert any(text.endswith("odd in file.c") for text in derived(report)["findings"])


@pytest.mark.parametrize(("status", "crash"), [("FAIL", False), ("CRASH", True)])
def test_what_a_waiver_excuses_is_excused_of_its_capability_too(status: str, crash: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    report = subset("WAIT-01")
    seen = list[tuple[Any, ...]]()
    monkeypatch.setattr(recomputed, "judge_capabilities", lambda _results, *given: seen.append(given))
    monkeypatch.setattr(recomputed, "_axes", lambda _: {})
    test = first(report, status="PASS", proving=True)
    test["status"] = status
    cases = [{"name": test["name"], "status": status}]
    report["waived"] = [{"rule": "WAIT-01", "reason": "known", "expires": "2099-01-01", "cases": cases}]
    own = derived(report, True)
    assert seen == [((), ("WAIT-01",)) if crash else (("WAIT-01",), ())]
    assert {"contested", "paths", "axes", "capabilities"} <= set(own) and not {"contested", "paths", "axes"} & set(derived(report))


def test_a_family_of_which_nothing_ran_needs_no_process() -> None:
    report = subset("WAIT-01")
    for test in report["tests"]:
        test["trials"]["run"] = 0
    report["processes"] = []
    assert list(recomputed._build_problems(report)) == []


def test_the_last_planted_bug_s_kernel_is_of_the_program_too() -> None:
    report = subset("WAIT-01")
    variants = next(test for test in report["tests"] if len(test["mutants"]) > 1)["mutants"]
    kernel = next(kernel for test in report["tests"] for kernel in test.get("kernels", []))
    variants[-1]["kernels"] = [{**kernel, "binary_version": 50, "image": "base"}]
    assert len(list(recomputed._build_problems(report))) == 1
    variants[-1]["kernels"][0]["image"] = "ptx"  # which the driver compiled
    assert list(recomputed._build_problems(report)) == []


def test_a_part_of_a_report_holds_what_is_of_its_rules_and_nothing_of_several_runs() -> None:
    whole = {**recorded(), "machine": {"gpus": []}, "soak": {"rounds": 3}}
    whole["waived"] = [{"rule": rule, "reason": "known", "expires": "2099-01-01", "cases": []} for rule in ("WAIT-01", "ATTR-05")]
    part = part_of(whole, ["ATTR-05"])
    assert not {"machine", "soak"} & set(part) and whole["contested"] and part["contested"] == []
    assert {test["rule"] for test in part["tests"]} == {rule["id"] for rule in part["rules"]} == {"ATTR-05"}
    assert {process["family"] for process in part["processes"]} == {test["family"] for test in part["tests"]}
    assert part["run"]["only"] == ["ATTR-05"] and part["waived"] == []
