"""Verdicts of cases and runs, table by table."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.pdlkit.places import KIT
from conformance.pdlkit.records import CaseLog
from conformance.pdlkit.rules import Case, Tag
from conformance.pdlkit.verdicts import CASE_VERDICTS, EXERCISED_PERCENT, KILLS_FLOOR, CaseResult, bound95, judge_case, judge_run, worst

TAGS = {
    "nowait": Tag("nowait", "kernel", "t", ()),
    "same": Tag("same", "kernel", "t", (), equivalent_candidate="never seen"),
    "attron": Tag("attron", "control", "t", ()),
}


def case(rule_class: str = "documented", proving: bool = True, kind: str = "visibility", **more: Any) -> Case:
    fields: dict[str, Any] = {
        "rule": "WAIT-01", "rule_class": rule_class, "kind": kind, "core": True, "family": "wait", "pair": "store",
        "window": "widened" if proving else "natural", "path": "stream", "proving": proving, "broken_waits": False,
        "gpu_only": False, "min_cc": 90, "min_toolkit": 12030, "trials": (1, 2, 3, 4), "mutants": (), "controls": (),
    }
    return Case(**{**fields, **more})


def record(status: str = "PASS", planned: int = 64, run: int = 64, exercised: int = 64, **outcomes: int) -> dict[str, Any]:
    wrong = sum(count for name, count in outcomes.items() if name != "early_start")
    return {"record": "case", "status": status, "reason": None, "outcomes": {"fresh": run - wrong, **outcomes},
            "trials": {"planned": planned, "run": run, "exercised": exercised, "witnessed": 0}}


def variant(tag: str, status: str = "KILLED", kind: str = "mutant", **more: Any) -> dict[str, Any]:
    return {"record": "variant", "kind": kind, "tag": tag, "status": status, "kills": 20 if status == "KILLED" else 0,
            "trials": 64, **more}


def log(verdict: dict[str, Any] | None, *variants: dict[str, Any], ended: bool = True, **more: Any) -> CaseLog:
    return CaseLog("c", began=True, ended=ended, verdict=verdict, variants=list(variants), **more)


# status of the case, class of the rule, proving: the run's verdict when this is the run's only other case
# beside one proven case of a documented rule.
EXPECTED: dict[str, Any] = {
    "PASS": lambda rule_class, proving: "CONFORMS",
    "NOT_SUPPORTED": lambda rule_class, proving: "CONFORMS",
    "FAIL": lambda rule_class, proving: "CONFORMS" if rule_class == "measured" else "VIOLATES",
    "HANG": lambda rule_class, proving: "CONFORMS" if rule_class == "measured" else "VIOLATES",
    "INCONCLUSIVE": lambda rule_class, proving: "UNPROVEN" if proving else "CONFORMS",
    "CRASH": lambda rule_class, proving: "UNPROVEN",
    "DEVICE_LOST": lambda rule_class, proving: "UNPROVEN",
    "NOT_RUN": lambda rule_class, proving: "UNPROVEN",
    "KIT_ERROR": lambda rule_class, proving: "INVALID",
}
EXITS = {"CONFORMS": 0, "VIOLATES": 1, "UNPROVEN": 2, "INVALID": 70, "NOT_APPLICABLE": 77}
SHAPES = [("documented", True), ("documented", False), ("derived", True), ("derived", False), ("measured", False)]


@pytest.mark.parametrize("status", CASE_VERDICTS)
@pytest.mark.parametrize(("rule_class", "proving"), SHAPES)
def test_one_status_beside_a_proven_case(status: str, rule_class: str, proving: bool) -> None:
    proven = CaseResult(case(), "PASS", None)
    verdict = judge_run([proven, CaseResult(case(rule_class, proving), status, "why")])
    assert verdict.verdict == EXPECTED[status](rule_class, proving)
    assert verdict.exit == EXITS[verdict.verdict]
    assert bool(verdict.reasons) == (verdict.verdict != "CONFORMS")


def test_every_pair_of_statuses_takes_the_worse_verdict() -> None:
    order = ["INVALID", "VIOLATES", "UNPROVEN", "CONFORMS"]
    proven = CaseResult(case(), "PASS", None)
    for (one, shape_one), (two, shape_two) in itertools.product(itertools.product(CASE_VERDICTS, SHAPES), repeat=2):
        singles = [EXPECTED[one](*shape_one), EXPECTED[two](*shape_two)]
        both = judge_run([proven, CaseResult(case(*shape_one), one, "a"), CaseResult(case(*shape_two), two, "b")])
        assert both.verdict == min(singles, key=order.index), (one, shape_one, two, shape_two)


def test_a_failing_measured_rule_is_a_finding() -> None:
    verdict = judge_run([CaseResult(case(), "PASS", None), CaseResult(case("measured", False), "FAIL", "odd")])
    assert verdict.verdict == "CONFORMS" and len(verdict.findings) == 1 and "odd" in verdict.findings[0]


@pytest.mark.parametrize(("statuses", "expected"), [
    ((), "NOT_APPLICABLE"),
    (("NOT_SUPPORTED", "NOT_SUPPORTED"), "NOT_APPLICABLE"),
    (("NOT_SUPPORTED", "PASS"), "CONFORMS"),
    (("NOT_SUPPORTED", "NOT_RUN"), "UNPROVEN"),
])
def test_nothing_could_run(statuses: tuple[str, ...], expected: str) -> None:
    assert judge_run([CaseResult(case(), status, "old") for status in statuses]).verdict == expected


def test_a_run_of_observers_only_proves_nothing() -> None:
    verdict = judge_run([CaseResult(case(proving=False), "PASS", None)])
    assert verdict.verdict == "UNPROVEN" and "nothing was proven" in verdict.reasons[0]


def test_problems_of_the_kit_and_interposers_count() -> None:
    proven = [CaseResult(case(), "PASS", None)]
    assert judge_run(proven, ["odd record"]).verdict == "INVALID"
    assert judge_run(proven, [], ["LD_PRELOAD"]).verdict == "UNPROVEN"
    failed = [CaseResult(case(), "FAIL", None)]
    assert judge_run(failed, [], ["LD_PRELOAD"]).verdict == "VIOLATES"


POWER: dict[str, Any] = {"mutants": ("nowait",), "controls": ("attron",), "broken_waits": True}
KILLED = (variant("nowait"), variant("attron", kind="control"), variant("early-8000", kind="broken_wait", must_die=True))

CASES: list[tuple[str, Case, CaseLog | None, str]] = [
    ("all is well", case(**POWER), log(record(), *KILLED), "PASS"),
    ("observing needs no power", case(proving=False), log(record("INCONCLUSIVE")), "INCONCLUSIVE"),
    ("no child", case(), None, "NOT_RUN"),
    ("never began", case(), CaseLog("c"), "NOT_RUN"),
    ("began only", case(), log(None, ended=False), "CRASH"),
    ("verdict, not closed", case(), log(record(), ended=False), "CRASH"),
    ("closed, no verdict", case(), log(None), "CRASH"),
    ("hang told by the harness", case(), log({"status": "HANG", "reason": "base"}), "HANG"),
    ("hang seen by the watchdog", case(), log(None, ended=False, casualty="HANG"), "HANG"),
    ("lost device", case(), log(None, ended=False, casualty="DEVICE_LOST"), "DEVICE_LOST"),
    ("not supported", case(**POWER), log({"status": "NOT_SUPPORTED", "reason": "old"}), "NOT_SUPPORTED"),
    ("failed", case(**POWER), log(record("FAIL", poison=3), *KILLED), "FAIL"),
    ("inconclusive with a survivor", case(**POWER), log(record("INCONCLUSIVE"), variant("nowait", "SURVIVED")), "INCONCLUSIVE"),
    ("contradiction beats verdict", case(**POWER), log(record(), *KILLED, problems=["two verdicts"]), "KIT_ERROR"),
    ("contradiction beats hang", case(), log(None, ended=False, casualty="HANG", problems=["odd"]), "KIT_ERROR"),
    ("PASS with poison", case(), log(record(poison=1)), "KIT_ERROR"),
    ("PASS with stale words of a start rule", case(kind="start"), log(record(stale=1)), "KIT_ERROR"),
    ("PASS with an early start", case(kind="start"), log(record(early_start=1)), "KIT_ERROR"),
    ("an early start does not matter for visibility", case(), log(record(early_start=1)), "PASS"),
    ("PASS with a forbidden record", case(), log(record(), forbidden=[{}]), "KIT_ERROR"),
    ("FAIL without forbidden outcome", case(), log(record("FAIL")), "KIT_ERROR"),
    ("FAIL of an api rule counts calls, not words", case(kind="api"), log(record("FAIL")), "FAIL"),
    ("wrong words that the documents permit", case("measured", False, allowed=("wrong",)), log(record("INCONCLUSIVE", poison=9)),
     "INCONCLUSIVE"),
    ("an early start beside permitted wrong words", case("measured", False, "start", allowed=("wrong",)),
     log(record("INCONCLUSIVE", poison=9, early_start=1)), "KIT_ERROR"),
    ("FAIL of what the documents permit", case("measured", False, "start", allowed=("wrong",)), log(record("FAIL", stale=1)),
     "KIT_ERROR"),
    ("more exercised than run", case(), log(record(run=63)), "KIT_ERROR"),
    ("more run than planned", case(), log(record(planned=63)), "KIT_ERROR"),
    ("PASS with nothing exercised", case(), log(record(exercised=0)), "KIT_ERROR"),
    ("an api rule that asked", case(kind="api"), log(record(planned=3, run=3, exercised=3)), "PASS"),
    ("an api rule that asked nothing", case(kind="api"), log(record(planned=0, run=0, exercised=0)), "KIT_ERROR"),
    ("PASS at the floor", case(), log(record(planned=80, run=80, exercised=64)), "PASS"),
    ("PASS below the floor", case(), log(record(planned=81, run=81, exercised=64)), "KIT_ERROR"),
    ("PASS of a run that was cut short", case(), log(record(planned=100)), "KIT_ERROR"),
    ("PASS of a case that only observes", case(proving=False), log(record()), "KIT_ERROR"),
    ("a trial without an outcome", case(), log({**record(), "outcomes": {"fresh": 63}}), "KIT_ERROR"),
    ("an outcome without a trial", case(), log({**record(), "outcomes": {"fresh": 65}}), "KIT_ERROR"),
    ("not supported, beside a forbidden trial", case(), log({"status": "NOT_SUPPORTED", "reason": "old"}, forbidden=[{}]), "KIT_ERROR"),
    ("PASS after a call that failed", case(), log(record(), error="cudaMalloc gave cudaErrorMemoryAllocation in part base"), "KIT_ERROR"),
    ("a deadlock tells the call that found it", case(), log({"status": "HANG", "reason": "base"}, error="a call"), "HANG"),
    ("crashed after a forbidden trial", case(), log(None, ended=False, forbidden=[{}], casualty="CRASH"), "FAIL"),
    ("interrupted after a forbidden trial", case(), log(None, ended=False, forbidden=[{}], casualty="NOT_RUN"), "FAIL"),
    ("no end after a forbidden trial", case(), log(None, ended=False, forbidden=[{}]), "FAIL"),
    ("PASS, mutant never run", case(**POWER), log(record(), *KILLED[1:]), "KIT_ERROR"),
    ("PASS, control never run", case(**POWER), log(record(), KILLED[0], KILLED[2]), "KIT_ERROR"),
    ("PASS, no broken wait", case(**POWER), log(record(), *KILLED[:2]), "KIT_ERROR"),
    ("PASS, mutant survived", case(**POWER), log(record(), variant("nowait", "SURVIVED"), *KILLED[1:]), "KIT_ERROR"),
    ("PASS, every broken wait survived", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", "SURVIVED", "broken_wait")), "KIT_ERROR"),
    ("PASS, the largest broken wait survived", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", kind="broken_wait"),
         variant("early-8000", "SURVIVED", "broken_wait", must_die=True)), "KIT_ERROR"),
    ("a small broken wait may survive", case(**POWER),
     log(record(), *KILLED, variant("early-32", "SURVIVED", "broken_wait", must_die=False)), "PASS"),
    ("broken waits need hardware", case(**POWER),
     log(record(), *KILLED[:2], variant("early-8000", "NOT_APPLICABLE", "broken_wait", must_die=True)), "PASS"),
    ("PASS, the largest broken wait survived, and no rule says that it must die", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", kind="broken_wait", x_ns=500),
         variant("early-8000", "SURVIVED", "broken_wait", x_ns=8000)), "KIT_ERROR"),
    ("a broken wait KILLED by one kill", case(**POWER),
     log(record(), *KILLED[:2], {**variant("early-8000", kind="broken_wait", must_die=True), "kills": 1}), "KIT_ERROR"),
    ("KILLED by eleven kills", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 11}), "KIT_ERROR"),
    ("a candidate equivalent KILLED by one kill", case(mutants=("same",)), log(record(), {**variant("same"), "kills": 1}), "PASS"),
    ("more kills than trials", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 65}), "KIT_ERROR"),
    ("KILLED twice", case(mutants=("nowait",)), log(record(), variant("nowait"), variant("nowait")), "KIT_ERROR"),
    ("SURVIVED, then KILLED", case(mutants=("nowait",)), log(record(), variant("nowait", "SURVIVED"), variant("nowait")), "KIT_ERROR"),
    ("a mutant that the book does not list here", case(), log(record(), variant("nowait")), "KIT_ERROR"),
    ("KILLED with no kill", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 0}), "KIT_ERROR"),
    ("equivalent, as the book allows", case(mutants=("same",)), log(record(), variant("same", "EQUIVALENT_HERE")), "PASS"),
    ("equivalent, which the book does not allow", case(mutants=("nowait",)),
     log(record(), variant("nowait", "EQUIVALENT_HERE")), "KIT_ERROR"),
    ("another rule's record", case(), log({**record(), "rule": "WAIT-02"}), "KIT_ERROR"),
    ("an observing case called proving", case(proving=False), log({**record("INCONCLUSIVE"), "proving": True}), "KIT_ERROR"),
]


@pytest.mark.parametrize(("what", "of", "said", "expected"), CASES, ids=[row[0] for row in CASES])
def test_the_verdict_of_a_case(what: str, of: Case, said: CaseLog | None, expected: str) -> None:
    result = judge_case(of, said, TAGS)
    assert result.status == expected, result.reason
    assert expected != "KIT_ERROR" or result.reason


def test_the_floors_are_the_harness_s() -> None:
    text = (KIT / "harness" / "judge.h").read_text()
    assert re.search(rf"#define JUDGE_KILLS {KILLS_FLOOR}u\b", text)
    assert re.search(rf"#define JUDGE_FLOOR_PERCENT {EXERCISED_PERCENT}u\b", text)


@given(st.integers(1, 10**9))
def test_the_bound_is_what_it_says(n: int) -> None:
    bound = bound95(n)
    assert bound is not None and 0 < bound < 1
    assert (1 - bound) ** n == pytest.approx(0.05, rel=1e-3)


def test_no_trial_no_bound() -> None:
    assert bound95(0) is None


@given(st.lists(st.sampled_from(CASE_VERDICTS), min_size=1))
def test_the_worst_case_speaks_for_the_rule(statuses: list[str]) -> None:
    assert worst(statuses) == min(statuses, key=CASE_VERDICTS.index)
    assert worst(statuses) == worst(reversed(statuses))
