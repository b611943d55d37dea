"""`diff`: what is worse is called worse, noise is not, and a measured rule decides nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.reports import comparison, diff
from conformance.reports.comparison import Change, Comparison, compare
from conformance.reports.content import STATUSES
from conformance.reports.tests.made_reports import failed, recorded, with_cases


def first(report: dict[str, Any], **wanted: Any) -> dict[str, Any]:
    """The first case with these values."""
    return next(test for test in report["tests"] if all(test[key] == value for key, value in wanted.items()))


def test_a_report_is_the_same_as_itself() -> None:
    found = compare(recorded(), recorded())
    assert (found.verdict, found.changes, found.compared) == ("same", [], len(recorded()["tests"]))


@pytest.mark.parametrize("status", ["FAIL", "HANG", "CRASH", "DEVICE_LOST", "INCONCLUSIVE", "NOT_RUN", "NOT_SUPPORTED", "KIT_ERROR"])
@pytest.mark.parametrize("core", [True, False])
def test_a_pass_that_is_gone_is_worse_and_one_that_came_is_better(status: str, core: bool) -> None:
    old, new = recorded(), recorded()
    case = first(new, status="PASS", proving=True, core=core)
    case.update(status=status, bound95=None)
    assert compare(old, new).verdict == "worse"
    assert compare(new, old).verdict == "better"


BETTER_TO_WORSE = (("PASS",), ("INCONCLUSIVE", "NOT_SUPPORTED"), ("NOT_RUN",), ("CRASH",), ("FAIL", "HANG"), ("DEVICE_LOST", "KIT_ERROR"))


def test_every_step_down_is_worse_and_only_a_pass_is_better() -> None:
    rank = {status: place for place, statuses in enumerate(BETTER_TO_WORSE) for status in statuses}
    assert set(rank) == set(STATUSES)
    case = first(recorded(), status="PASS", proving=True)
    steps = {f"{before} to {after}": (before, after) for before in rank for after in rank if before != after}
    old, new = (
        {**recorded(), "tests": [{**case, "name": name, "status": step[side]} for name, step in steps.items()]} for side in (0, 1)
    )
    directions = {change.case: change.direction for change in compare(old, new).changes}
    assert directions == {
        name: "worse" if rank[after] > rank[before] else "better" if after == "PASS" else "changed"
        for name, (before, after) in steps.items()
    }


@pytest.mark.parametrize("status", ["HANG", "CRASH", "INCONCLUSIVE", "NOT_RUN", "NOT_SUPPORTED"])
def test_a_failure_that_is_no_longer_asked_is_not_better(status: str) -> None:
    old, new = recorded(), recorded()
    name = first(new, status="PASS", proving=True)["name"]
    first(old, name=name)["status"], first(new, name=name)["status"] = "FAIL", status
    assert compare(old, new).verdict == "same"


@pytest.mark.parametrize(("before", "after", "verdict"), [
    ("CONFORMS", "UNPROVEN", "worse"), ("CONFORMS", "INVALID", "worse"), ("UNPROVEN", "VIOLATES", "worse"),
    ("CONFORMS", "NOT_APPLICABLE", "worse"), ("NOT_APPLICABLE", "UNPROVEN", "worse"), ("VIOLATES", "INVALID", "worse"),
    ("VIOLATES", "UNPROVEN", "same"),
    ("VIOLATES", "CONFORMS", "same")])
def test_the_verdict_of_the_run_counts(before: str, after: str, verdict: str) -> None:
    """An interposer or a contradiction stands in no case; and a better run has a case that passes now."""
    assert compare({**recorded(), "verdict": before}, {**recorded(), "verdict": after}).verdict == verdict


@pytest.mark.parametrize("core", [True, False])
def test_a_pass_that_is_missing_is_worse_unless_less_was_asked(core: bool) -> None:
    old, new = recorded(), recorded()
    gone = first(new, status="PASS", proving=True, core=core)
    new["tests"] = [test for test in new["tests"] if test is not gone]
    found = compare(old, new)
    assert (found.verdict, [change.case for change in found.changes]) == ("worse", [gone["name"]])
    old["run"]["only"] = ["WAIT-01"]
    assert compare(old, new).verdict == "worse", "what the old run was asked for says nothing of the new one"
    new["run"]["only"] = ["WAIT-01"]
    assert compare(old, new).verdict == "same"


@pytest.mark.parametrize("status", ["FAIL", "HANG", "CRASH", "DEVICE_LOST", "KIT_ERROR"])
def test_what_is_asked_for_the_first_time_and_fails_is_worse(status: str) -> None:
    old, new = recorded(), recorded()
    added = first(new, status="PASS", proving=True)
    old["tests"] = [test for test in old["tests"] if test["name"] != added["name"]]
    assert compare(old, new).verdict == "same"
    added["status"] = status
    assert compare(old, new).verdict == "worse"


def test_a_resolution_that_is_gone_is_worse() -> None:
    old, new = recorded(), recorded()
    case = next(test for test in new["tests"] if test["resolution_ns"] is not None and test["status"] == "PASS")
    case["resolution_ns"] = None
    assert compare(old, new).verdict == "worse"


def test_worse_wins_over_better() -> None:
    old, new = recorded(), recorded()
    tests = [test for test in old["tests"] if test["status"] == "PASS" and test["proving"]]
    tests[0]["status"] = "FAIL"
    first(new, name=tests[1]["name"])["status"] = "FAIL"
    assert compare(old, new).verdict == "worse"


def test_a_measured_rule_decides_nothing() -> None:
    old, new = recorded(), recorded()
    case = first(new, status="FAIL")
    assert case["class"] == "measured"
    case["status"] = "INCONCLUSIVE"
    found = compare(old, new)
    assert found.verdict == "same" and [change.direction for change in found.changes] == ["changed"]


def rates(old_wrong: int, new_wrong: int, old_run: int, shapes: int | None, stale: int = 0, proving: bool = True, new_run: int = 0) -> str:
    """The verdict when both runs fail, and only the rate differs; so many wrong trials of the new one are stale, and no others."""
    reports = []
    for wrong, of_them, run in ((old_wrong, 0, old_run), (new_wrong, stale, new_run or old_run)):
        report = failed(with_cases(60))
        case = first(report, status="FAIL")
        case["trials"].update(run=run, exercised=run, planned=run)
        case["outcomes"].update(fresh=run - wrong, poison=wrong - of_them, stale=of_them, overlap=0)
        case.update(shapes=shapes, proving=proving)
        reports.append(report)
    return compare(*reports).verdict


@pytest.mark.parametrize(("count", "run", "shapes", "scaled"), [
    (1, 1000, 10, (1, 10)), (0, 1000, 10, (0, 10)), (1000, 1000, 10, (10, 10)), (500, 1000, 10, (5, 10)), (5, 8, None, (5, 8)),
    (5, 8, 8, (5, 8)), (5, 8, 9, (5, 8)), (5, 8, 0, (5, 8))])
def test_counts_are_of_distinct_shapes_and_a_single_event_stays_one(count: int, run: int, shapes: int | None,
                                                                    scaled: tuple[int, int]) -> None:
    assert comparison._scaled(count, run, shapes) == scaled


@pytest.mark.parametrize(("rule_class", "direction"), [("documented", "worse"), ("derived", "worse"), ("measured", "changed")])
def test_more_wrong_trials_are_worse_where_the_rule_judges(rule_class: str, direction: str) -> None:
    old, new = ({**first(recorded(), status="PASS", proving=True, kind="visibility"), "class": rule_class} for _ in range(2))
    assert [rate.more_is for rate in comparison._rates(old, new) if rate.what == "forbidden outcomes"] == [direction]


@pytest.mark.parametrize(("before", "after", "asked"), [
    ("3 of 10 trials", "5 of 10 trials", True), ("3 of 10 trials", "5 of 10 runs", False), ("5 of 3 trials", "1 of 3 trials", False),
    ("1 of 3 trials", "5 of 3 trials", False), ("0 of 0 trials", "1 of 3 trials", False), ("yes", "no", False)])
def test_an_answer_is_a_rate_where_both_count_the_same(before: str, after: str, asked: bool) -> None:
    old, new = ({**first(recorded(), status="PASS", kind="visibility"), "answers": [{"what": "it", "answer": answer}]}
                for answer in (before, after))
    assert [rate.what for rate in comparison._rates(old, new) if rate.what.startswith("answer")] == ["answer to: it"] * asked


def one_case(**change: Any) -> dict[str, Any]:
    """A case of ten trials, of which nothing is known but what is said here."""
    blank = {"trials": {"run": 10, "exercised": 10}, "outcomes": {}, "answers": [], "mutants": [], "controls": [], "broken_waits": []}
    return {**first(recorded(), status="PASS", kind="visibility"), "shapes": None, **blank, **change}


@pytest.mark.parametrize(("old", "new", "what", "counts", "more_is"), [
    ({"outcomes": {"stale": 8, "poison": 8}}, {"outcomes": {"stale": 1, "poison": 2}}, "forbidden outcomes", ((10, 10), (3, 10)), "worse"),
    ({"outcomes": {"overlap": 2}}, {"outcomes": {"overlap": 3}}, "overlap", ((2, 10), (3, 10)), "changed"),
    ({"outcomes": {"overlap": 2}}, {"outcomes": {}}, "overlap", None, None),
    ({"outcomes": {}}, {"outcomes": {"overlap": 2}}, "overlap", None, None),
    ({"trials": {"run": 10, "exercised": 4}}, {"trials": {"run": 9, "exercised": 7}}, "exercised trials", ((4, 10), (7, 9)), "changed"),
    ({"trials": {"run": 0, "exercised": 0}}, {}, "exercised trials", None, None),
    ({}, {"trials": {"run": 0, "exercised": 0}}, "exercised trials", None, None),
    ({"answers": [{"what": "it", "answer": "1 of 3"}]}, {"answers": [{"what": "it", "answer": "2 of 4"}]}, "answer to: it",
     ((1, 3), (2, 4)), "changed"),
])
def test_each_rate_is_of_its_own_side(old: dict[str, Any], new: dict[str, Any], what: str,
                                      counts: tuple[tuple[int, int], tuple[int, int]] | None, more_is: str | None) -> None:
    found = [(rate.old, rate.new, rate.more_is) for rate in comparison._rates(one_case(**old), one_case(**new)) if rate.what == what]
    assert found == ([(*counts, more_is)] if counts else [])


def test_what_a_planted_bug_showed_is_told_of_both_sides_where_both_ran_it() -> None:
    def planted(kills: int, trials: int, shapes: int) -> dict[str, Any]:
        return one_case(mutants=[{"kind": "mutant", "tag": "t", "kills": kills, "trials": trials}], shapes=shapes)

    def rate(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(rate.old, rate.new, rate.scaled) for rate in comparison._rates(old, new) if rate.what.endswith("showed")]

    assert rate(planted(4, 8, 2), planted(6, 16, 4)) == [((4, 8), (6, 16), ((1, 2), (2, 4)))]
    for old, new in ((planted(0, 0, 2), planted(6, 16, 4)), (planted(6, 16, 4), planted(0, 0, 2)), (planted(4, 8, 2), one_case())):
        assert rate(old, new) == []


def test_questions_of_chance_that_nobody_had_do_not_make_the_others_harder() -> None:
    counts = {**{str(number): 0 for number in range(9)}, "x": 7}
    rates = [comparison._rate("a", what, (0, 10, None), (count, 10, None), "worse") for what, count in counts.items()]
    assert [(change.what, change.old, change.new) for change in comparison._significant(rates)] == [
        ("x", "0 of 10 (0.00%)", "7 of 10 (70.00%)")]


def test_a_question_that_is_asked_twice_is_answered_twice() -> None:
    def asked(*answers: tuple[str, str]) -> dict[str, Any]:
        return {"answers": [{"what": what, "answer": answer} for what, answer in answers]}

    found = comparison._answers(asked(("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")), asked(("a", "5"), ("c", "6"), ("a", "7")))
    assert list(found) == [("a", "1", "5"), ("a", "3", "7")]


def test_an_answer_that_gained_a_count_is_another_answer() -> None:
    assert not comparison._same_words("n trials", "3 of 10 trials") and comparison._same_words("0 of 1 trials", "3 of 10 trials")


def test_an_answer_of_another_count_is_left_to_the_rates() -> None:
    old, new = (one_case(answers=[{"what": "it", "answer": answer}]) for answer in ("3 of 10 trials", "4 of 10 trials"))
    assert list(comparison._status(old, new)) == []


@pytest.mark.parametrize(("before", "after", "direction"), [
    ("SURVIVED", "KILLED", "better"), ("KILLED", "SURVIVED", "worse"), ("KILLED", "NOT_APPLICABLE", "changed"),
    ("NOT_APPLICABLE", "KILLED", "changed")])
def test_a_planted_bug_is_better_or_worse_off_only_where_it_survived(before: str, after: str, direction: str) -> None:
    old, new = (one_case(mutants=[{"kind": "mutant", "tag": "t", "status": status}]) for status in (before, after))
    assert [change.direction for change in comparison._status(old, new)] == [direction]


@pytest.mark.parametrize("side", ["old", "new"])
@pytest.mark.parametrize(("change", "direction"), [
    ({"status": "PASS"}, {"old": "worse"}), ({"status": "PASS", "proving": False}, {}), ({"status": "INCONCLUSIVE"}, {}),
    ({"status": "FAIL"}, {"new": "worse"}), ({"status": "FAIL", "class": "measured"}, {"new": "changed"})])
def test_what_only_one_report_tells_counts_where_it_proved_or_failed(side: str, change: dict[str, Any], direction: dict[str, str]) -> None:
    case = one_case(**change)
    found = comparison._one_sided({"a": case} if side == "old" else {}, {"a": case} if side == "new" else {}, False)
    assert [entry.direction for entry in found] == ([direction[side]] if side in direction else [])


def test_cases_of_another_rule_book_are_not_missed_and_each_side_s_own_are_named() -> None:
    old, new = with_cases(3), with_cases(3)
    lost, added = old["tests"][0], new["tests"][2]
    lost.update(status="PASS", proving=True)
    old["tests"], new["tests"] = old["tests"][:2], new["tests"][1:]
    found = compare(old, new)
    assert (found.only_old, found.only_new, found.compared) == ([lost["name"]], [added["name"]], 1)
    assert lost["name"] in [change.case for change in found.changes]
    new["suite"]["rules_hash"] = "another"
    assert lost["name"] not in [change.case for change in compare(old, new).changes]


@pytest.mark.parametrize(("part", "key", "what"), [
    ("device", "name", "GPU"), ("driver", "version", "driver"), ("toolchain", "nvcc", "toolkit"), ("run", "profile", "profile"),
    ("run", "device", "device"), ("suite", "rules_hash", "rule book"), ("suite", "sources", "judging code")])
def test_what_else_was_not_the_same_is_noted(part: str, key: str, what: str) -> None:
    old, new = with_cases(1), with_cases(1)
    old[part][key], new[part][key] = "a", None
    assert compare(old, new).notes == [f"{what}: a, then unknown"]


def timed(*walls: tuple[float | None, int]) -> list[dict[str, Any]]:
    return [one_case(name=str(number), wall_s=wall, trials={"run": run, "exercised": 0}) for number, (wall, run) in enumerate(walls)]


def test_time_is_told_per_trial_where_both_runs_had_some() -> None:
    def times(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, Any] | None:
        return comparison._times(list(zip(old, new, strict=True)))

    one = times(timed((1.0, 10)), timed((4.0, 20)))
    assert one and (one["cases"], one["median_ratio"], one["low"], one["high"]) == (1, pytest.approx(2.0), None, None)
    none = timed((0.0, 10), (None, 10), (1.0, 0))
    assert times(none, timed(*[(1.0, 10)] * 3)) is times(timed(*[(1.0, 10)] * 3), none) is times([], []) is None
    many = times(timed(*[(1.0, 10)] * 20), timed(*[(1.0 + 0.1 * number, 10) for number in range(20)]))
    assert many and 1.0 <= many["low"] < many["median_ratio"] < many["high"] < 3.0


def test_what_every_planted_bug_showed_is_compared() -> None:
    planted = {key: [{"kind": key[:-1], "tag": "t", "kills": 1, "trials": 2}] for key in ("mutants", "controls", "broken_waits")}
    case = {**first(recorded(), status="PASS", kind="visibility"), **planted}
    said = [rate.what for rate in comparison._rates(case, case) if rate.what.endswith("showed")]
    assert said == ["mutant t showed", "control t showed", "broken wait t showed"]


def test_a_rate_is_judged_by_its_counts() -> None:
    assert rates(10, 400, 1000, None) == "worse"
    assert rates(400, 10, 1000, None) == "better"
    assert rates(10, 16, 1000, None) == "same"
    assert rates(400, 520, 1000, None) == "worse"
    assert rates(400, 800, 1000, None, stale=400) == "worse"  # also where no class of them grew
    assert rates(400, 520, 1000, 20) == "same"  # of twenty shapes, that is chance
    assert rates(10, 400, 1000, None, proving=False) == "worse"  # a case that only observes fails like any other
    assert rates(50, 40, 10_000, None, new_run=100) == "worse"  # fewer wrong trials, of far fewer
    assert rates(40, 50, 100, None, new_run=10_000) == "better"


@pytest.mark.parametrize("planted", ["mutants", "controls"])
@pytest.mark.parametrize("before", ["KILLED", "EQUIVALENT_HERE", "NOT_APPLICABLE"])
def test_a_planted_bug_that_survives_is_worse(before: str, planted: str) -> None:
    old, new = recorded(), recorded()
    case = next(test for test in new["tests"] if test[planted] and test["status"] == "PASS")
    first(old, name=case["name"])[planted][0]["status"] = before
    case[planted][0]["status"] = "SURVIVED"
    assert compare(old, new).verdict == "worse"


@pytest.mark.parametrize("planted", ["mutants", "controls"])
@pytest.mark.parametrize("before", ["KILLED", "SURVIVED", "NOT_APPLICABLE"])
def test_a_planted_bug_that_was_not_run_again_is_neither_better_nor_worse(before: str, planted: str) -> None:
    old, new = recorded(), recorded()
    case = next(test for test in new["tests"] if test[planted] and test["status"] == "PASS")
    first(old, name=case["name"])[planted][0]["status"] = before
    del case[planted][0]
    assert (compare(old, new).verdict, compare(old, new).changes) == ("same", [])


def test_an_answer_that_changed_is_told_once_and_decides_nothing() -> None:
    old, new = recorded(), recorded()
    case = next(test for test in new["tests"] if len(test.get("answers", [])) > 2)
    case["answers"][2]["answer"] = "something else"
    found = compare(old, new)
    assert found.verdict == "same" and len(found.changes) == 1 and found.changes[0].new == "something else"


def test_exit_codes_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(recorded()))
    bad.write_text(json.dumps(failed(recorded())))
    assert diff.main([str(good), str(good)]) == 0
    assert diff.main([str(good), str(bad)]) == 1
    assert diff.main([str(bad), str(good)]) == 3
    capsys.readouterr()
    assert diff.main([str(good), str(bad), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "worse"


def test_nothing_in_common_is_bad_arguments(tmp_path: Path) -> None:
    one, two = with_cases(1), with_cases(1)
    two["tests"] = copy.deepcopy(recorded()["tests"][5:6])
    (tmp_path / "one").write_text(json.dumps(one))
    (tmp_path / "two").write_text(json.dumps(two))
    with pytest.raises(BadArguments, match="no case in common"):
        diff.main([str(tmp_path / "one"), str(tmp_path / "two")])


def test_every_change_is_printed_the_worst_first() -> None:
    changes = [Change(f"case-{number}", "verdict", "PASS", "FAIL", direction)
               for number, direction in enumerate(["changed", "better", "worse", "changed", "worse"])]
    said = list(diff.lines(Comparison("worse", changes, compared=5)))
    assert [line.split()[1] for line in said if "case-" in line] == ["case-2", "case-4", "case-1", "case-0", "case-3"]
    assert said[-1] == "WORSE  5 cases compared: 2 worse, 1 better, 2 changed"


def test_the_times_are_printed_where_their_bounds_are_known() -> None:
    times = {"median_ratio": 1.5, "low": 1.2, "high": 1.8, "cases": 7}
    assert " time     per trial, new over old: median 1.50 (95 %: 1.20 to 1.80) over 7 cases" in diff.lines(Comparison("same", times=times))
    for unknown in (None, {**times, "low": None}):
        assert not any("per trial" in line for line in diff.lines(Comparison("same", times=unknown)))


@pytest.mark.parametrize(("before", "after", "told"), [(0, 7, True), (7, 0, True), (0, 6, False), (0, 0, False), (7, 7, False)])
def test_a_rate_that_nothing_but_chance_explains_is_no_change(before: int, after: int, told: bool) -> None:
    """Of ten trials each: 0 and 7 wrong ones differ by chance once in 300 times, 0 and 6 once in 92."""
    rate = comparison._rate("a", "forbidden outcomes", (before, 10, None), (after, 10, None), "worse")
    directions = [change.direction for change in comparison._significant([rate])]
    assert directions == ["worse" if after > before else "better"] * told


@pytest.mark.parametrize("many", [0, 1, 8, 9, 12])
def test_cases_that_one_report_lacks_are_named_and_counted(many: int) -> None:
    names = [f"case-{number}" for number in range(many)]
    both = [list(diff.lines(found)) for found in (Comparison("same", only_old=names), Comparison("same", only_new=names))]
    for said, which in zip(both, ("old", "new"), strict=True):
        more = f" and {many - 8} more" if many > 8 else ""
        assert said[:-1] == ([f" only in the {which} report: {', '.join(names[:8])}{more}"] if many else [])
    assert diff.parser().prog.endswith("diff")
