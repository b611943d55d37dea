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
from conformance.pdlkit.verdicts import (
    CASE_VERDICTS,
    EXERCISED_PERCENT,
    KILLS_FLOOR,
    CaseResult,
    bound95,
    forbidden_count,
    judge_capabilities,
    judge_case,
    judge_run,
    shape_bound95,
    worst,
)

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


def record(status: str = "PASS", /, planned: int = 64, run: int = 64, exercised: int = 64, **outcomes: int) -> dict[str, Any]:
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
@pytest.mark.parametrize("core", [True, False])
def test_one_status_beside_a_proven_case(status: str, rule_class: str, proving: bool, core: bool) -> None:
    proven = CaseResult(case(), "PASS", None)
    verdict = judge_run([proven, CaseResult(case(rule_class, proving, core=core), status, "why")])
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
TWO: dict[str, dict[str, Any]] = {kind: {f"{kind}s": ("nowait", "attron")} for kind in ("mutant", "control")}
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
    ("its child died after it, whatever its power", case(**POWER), log(record(), casualty="CRASH"), "CRASH"),
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
    ("FAIL beside a forbidden trial, without a forbidden outcome", case(), log(record("FAIL"), forbidden=[{}]), "KIT_ERROR"),
    ("FAIL of an api rule counts calls, not words", case(kind="api"), log(record("FAIL")), "FAIL"),
    ("wrong words that the documents permit", case("measured", False, allowed=("wrong",)), log(record("INCONCLUSIVE", poison=9)),
     "INCONCLUSIVE"),
    ("an early start beside permitted wrong words", case("measured", False, "start", allowed=("wrong",)),
     log(record("INCONCLUSIVE", poison=9, early_start=1)), "KIT_ERROR"),
    ("FAIL of what the documents permit", case("measured", False, "start", allowed=("wrong",)), log(record("FAIL", stale=1)),
     "KIT_ERROR"),
    ("an early start that the documents permit", case("measured", False, "start", allowed=("early_start",)),
     log(record("INCONCLUSIVE", early_start=1)), "INCONCLUSIVE"),
    ("a wrong word beside a permitted early start", case("measured", False, "start", allowed=("early_start",)),
     log(record("INCONCLUSIVE", early_start=1, torn=1)), "KIT_ERROR"),
    ("more exercised than run", case(), log(record(run=63)), "KIT_ERROR"),
    ("more run than planned", case(), log(record(planned=63)), "KIT_ERROR"),
    ("PASS with nothing exercised", case(), log(record(exercised=0)), "KIT_ERROR"),
    ("an api rule that asked", case(kind="api"), log(record(planned=3, run=3, exercised=3)), "PASS"),
    ("an api rule that asked nothing", case(kind="api"), log(record(planned=0, run=0, exercised=0)), "KIT_ERROR"),
    ("PASS at the floor", case(), log(record(planned=80, run=80, exercised=64)), "PASS"),
    ("PASS below the floor", case(), log(record(planned=81, run=81, exercised=64)), "KIT_ERROR"),
    *((f"PASS of kind {kind} below the floor", case(kind=kind), log(record(planned=81, run=81, exercised=64)), "KIT_ERROR")
      for kind in ("start", "progress")),
    ("PASS of a run that was cut short", case(), log(record(planned=100)), "KIT_ERROR"),
    ("PASS of a case that only observes", case(proving=False), log(record()), "KIT_ERROR"),
    ("a trial without an outcome", case(), log({**record(), "outcomes": {"fresh": 63}}), "KIT_ERROR"),
    ("an outcome without a trial", case(), log({**record(), "outcomes": {"fresh": 65}}), "KIT_ERROR"),
    ("not supported, beside a forbidden trial", case(), log({"status": "NOT_SUPPORTED", "reason": "old"}, forbidden=[{}]), "KIT_ERROR"),
    ("PASS after a call that failed", case(), log(record(), error="cudaMalloc gave cudaErrorMemoryAllocation in part base"), "KIT_ERROR"),
    ("a deadlock tells the call that found it", case(), log({"status": "HANG", "reason": "base"}, error="a call"), "HANG"),
    ("crashed after a forbidden trial", case(), log(None, ended=False, forbidden=[{}], casualty="CRASH"), "FAIL"),
    ("interrupted after a forbidden trial", case(), log(None, ended=False, forbidden=[{}], casualty="NOT_RUN"), "FAIL"),
    *((f"{casualty} after a wrong answer", case(), log(None, ended=False, wrong="nodes: 3", casualty=casualty), "FAIL")
      for casualty in ("CRASH", "NOT_RUN", "DEVICE_LOST", "HANG")),
    ("PASS beside a wrong answer", case(), log(record(), wrong="nodes: 3"), "KIT_ERROR"),
    *((f"{casualty} after a forbidden trial", case(), log(None, ended=False, forbidden=[{}], casualty=casualty), "FAIL")
      for casualty in ("DEVICE_LOST", "HANG")),
    ("no end after a forbidden trial", case(), log(None, ended=False, forbidden=[{}]), "FAIL"),
    ("PASS, mutant never run", case(**POWER), log(record(), *KILLED[1:]), "KIT_ERROR"),
    ("PASS, control never run", case(**POWER), log(record(), KILLED[0], KILLED[2]), "KIT_ERROR"),
    *((f"PASS, the last of two {kind}s never run", case(**two), log(record(), variant("nowait", kind=kind)), "KIT_ERROR")
      for kind, two in TWO.items()),
    ("PASS, no broken wait", case(**POWER), log(record(), *KILLED[:2]), "KIT_ERROR"),
    ("PASS, mutant survived", case(**POWER), log(record(), variant("nowait", "SURVIVED"), *KILLED[1:]), "KIT_ERROR"),
    ("PASS, every broken wait survived", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", "SURVIVED", "broken_wait")), "KIT_ERROR"),
    ("PASS, the largest broken wait survived", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", kind="broken_wait"),
         variant("early-8000", "SURVIVED", "broken_wait", must_die=True)), "KIT_ERROR"),
    ("a small broken wait may survive", case(**POWER),
     log(record(), *KILLED, variant("early-32", "SURVIVED", "broken_wait", must_die=False)), "PASS"),
    ("PASS, a broken wait that a GPU did not run", case(**POWER),
     log(record(), *KILLED, variant("early-4000", "NOT_APPLICABLE", "broken_wait")), "KIT_ERROR"),
    *((f"PASS, a {kind} that was not run", case(**POWER), log(record(), variant(tag, "NOT_APPLICABLE", kind), *others), "KIT_ERROR")
      for kind, tag, others in (("mutant", "nowait", KILLED[1:]), ("control", "attron", (KILLED[0], KILLED[2])))),
    ("PASS, the largest broken wait survived, and no rule says that it must die", case(**POWER),
     log(record(), *KILLED[:2], variant("early-500", kind="broken_wait", x_ns=500),
         variant("early-8000", "SURVIVED", "broken_wait", x_ns=8000)), "KIT_ERROR"),
    ("PASS, a broken wait without a delay survived, which must die", case(**POWER),
     log(record(), *KILLED, variant("at-trigger", "SURVIVED", "broken_wait", must_die=True, x_ns=None)), "KIT_ERROR"),
    *((f"{kind} SURVIVED, then KILLED", case(**POWER), log(record(), variant(tag, "SURVIVED", kind), *KILLED), "KIT_ERROR")
      for kind, tag in (("control", "attron"), ("broken_wait", "early-8000"))),
    *((f"PASS, mutant survived with {kills} kills", case(mutants=("nowait",)),
       log(record(), {**variant("nowait", "SURVIVED"), "kills": kills}), "KIT_ERROR") for kills in (1, 11)),
    ("a broken wait KILLED by one kill", case(**POWER),
     log(record(), *KILLED[:2], {**variant("early-8000", kind="broken_wait", must_die=True), "kills": 1}), "KIT_ERROR"),
    ("KILLED by eleven kills", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 11}), "KIT_ERROR"),
    ("a control KILLED by one kill", case(controls=("attron",)),
     log(record(), {**variant("attron", kind="control"), "kills": 1}), "KIT_ERROR"),
    ("a candidate equivalent KILLED by one kill", case(mutants=("same",)), log(record(), {**variant("same"), "kills": 1}), "PASS"),
    ("more kills than trials", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 65}), "KIT_ERROR"),
    *((f"more kills of a {kind} than trials", case(**POWER),
       log(record(), *(said for said in KILLED if said["kind"] != kind), {**variant(tag, kind=kind), "kills": 65}), "KIT_ERROR")
      for kind, tag in (("control", "attron"), ("broken_wait", "early-8000"), ("triage", "other-sms"))),
    ("a mutant told as a control, too", case(**POWER), log(record(), *KILLED, variant("nowait", kind="control")), "KIT_ERROR"),
    ("KILLED twice", case(mutants=("nowait",)), log(record(), variant("nowait"), variant("nowait")), "KIT_ERROR"),
    ("SURVIVED, then KILLED", case(mutants=("nowait",)), log(record(), variant("nowait", "SURVIVED"), variant("nowait")), "KIT_ERROR"),
    ("a mutant that the book does not list here", case(), log(record(), variant("nowait")), "KIT_ERROR"),
    ("KILLED with no kill", case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 0}), "KIT_ERROR"),
    ("equivalent, as the book allows", case(mutants=("same",)), log(record(), variant("same", "EQUIVALENT_HERE")), "PASS"),
    ("equivalent, which the book does not allow", case(mutants=("nowait",)),
     log(record(), variant("nowait", "EQUIVALENT_HERE")), "KIT_ERROR"),
    ("INCONCLUSIVE counts add up, too", case(proving=False), log(record("INCONCLUSIVE", exercised=65)), "KIT_ERROR"),
    ("INCONCLUSIVE variants are variants, too", case(mutants=("nowait",)), log(record("INCONCLUSIVE"), {**variant("nowait"), "kills": 0}),
     "KIT_ERROR"),
    *((f"{status} beside a wrong answer", case(), log({**record(), "status": status}, wrong="nodes: 3"), "KIT_ERROR")
      for status in ("INCONCLUSIVE", "NOT_SUPPORTED", "HANG")),
    *((f"{status} after a call that failed", case(), log({**record(poison=poison), "status": status}, error="a call"), "KIT_ERROR")
      for status, poison in (("INCONCLUSIVE", 0), ("NOT_SUPPORTED", 0), ("FAIL", 3))),
    ("another rule's record", case(), log({**record(), "rule": "WAIT-02"}), "KIT_ERROR"),
    ("an observing case called proving", case(proving=False), log({**record("INCONCLUSIVE"), "proving": True}), "KIT_ERROR"),
]


def test_only_broken_waits_need_hardware() -> None:
    """The model has broken devices instead; its mutants and controls run."""
    absent = log(record(), *KILLED[:2], variant("early-8000", "NOT_APPLICABLE", "broken_wait", must_die=True))
    assert judge_case(case(**POWER), absent, TAGS, on_model=True).status == "PASS"
    assert judge_case(case(**POWER), absent, TAGS).status == "KIT_ERROR"
    mutant = log(record(), variant("nowait", "NOT_APPLICABLE"))
    assert judge_case(case(mutants=("nowait",)), mutant, TAGS, on_model=True).status == "KIT_ERROR"


@pytest.mark.parametrize(("what", "of", "said", "expected"), CASES, ids=[row[0] for row in CASES])
def test_the_verdict_of_a_case(what: str, of: Case, said: CaseLog | None, expected: str) -> None:
    result = judge_case(of, said, TAGS)
    assert result.status == expected, result.reason
    assert expected != "KIT_ERROR" or result.reason


@pytest.mark.parametrize("word", ["stale", "poison", "misplaced", "torn", "foreign"])
@pytest.mark.parametrize("kind", ["visibility", "start", "progress"])
def test_every_wrong_word_counts(kind: str, word: str) -> None:
    passed = judge_case(case(kind=kind), log(record(**{word: 2})), TAGS)
    assert passed.status == "KIT_ERROR" and passed.reason == "it says PASS beside 2 forbidden outcomes"
    failed = judge_case(case(kind=kind), log(record("FAIL", **{word: 2})), TAGS)
    assert failed.status == "FAIL" and failed.reason == f"{word} 2 in 64 trials"
    permitted = judge_case(case("measured", False, kind, allowed=("wrong",)), log(record("INCONCLUSIVE", **{word: 2})), TAGS)
    assert permitted.status == "INCONCLUSIVE"
    assert forbidden_count(case(kind="api"), {"outcomes": {word: 2}}) == 0


@pytest.mark.parametrize("key", ["rule", "class", "kind", "window", "path", "proving"])
def test_a_record_is_of_the_case_that_was_asked_for(key: str) -> None:
    mine = {"rule": "WAIT-01", "class": "documented", "kind": "visibility", "window": "widened", "path": "stream", "proving": True}
    assert judge_case(case(), log({**record(), **mine}), TAGS).status == "PASS"
    other = judge_case(case(), log({**record(), **mine, key: "another"}), TAGS)
    assert other.status == "KIT_ERROR" and other.reason == f"its record says {key} 'another', the rule book says {mine[key]!r}"


def test_a_record_that_denies_proving_contradicts_the_rule_book() -> None:
    assert judge_case(case(), log({**record(), "proving": False}), TAGS).status == "KIT_ERROR"


REASONS = [
    (case(), log(record("INCONCLUSIVE") | {"reason": "why"}), "why"),
    (case(), log(record("FAIL", poison=1) | {"reason": "told"}), "told"),
    (case(), log(record("FAIL", poison=1, torn=1200)), "poison 1, torn 1,200 in 64 trials"),
    (case(kind="api"), log(record("FAIL")), "wrong in 64 trials"),
    (case(), None, "no child was started for it"),
    (case(), log(None, ended=False), "there is no completion record"),
    (case(), log(None, ended=False, casualty="HANG", casualty_reason="slept"), "slept"),
    (case(), log(None, ended=False, casualty="CRASH", casualty_reason="died", forbidden=[{}, {}]),
     "2 forbidden trials were recorded before this: CRASH, died"),
    (case(), log(record(), problems=["one", "two"]), "one; two"),
    (case(), log(record(), forbidden=[{}]), "it says PASS beside 1 forbidden outcomes"),
    (case(), log(None, ended=False, casualty="CRASH", casualty_reason="died", wrong="nodes: 3"), "nodes: 3; after this: CRASH, died"),
    (case(), log(record(), wrong="nodes: 3"), "it says PASS beside a wrong answer: nodes: 3"),
    (case(), log(record(exercised=0)), "it says PASS without one exercised trial"),
    (case(), log(record(planned=100)), "it says PASS with 64 of 100 trials exercised; the floor is 80 %"),
    (case(), log(record(planned=10_000, run=10_000, exercised=7_999)),
     "it says PASS with 7,999 of 10,000 trials exercised; the floor is 80 %"),
    (case(), log(record(planned=10_000, run=10_000, exercised=8_000)), None),
    (case(), log(record("INCONCLUSIVE", exercised=0) | {"reason": "too few"}), "too few"),
    (case(kind="api"), log(record(planned=100, run=64, exercised=3) | {"outcomes": {}}), None),  # calls have no words
    (case(mutants=("nowait",)), log(record()), "it says PASS, but its mutant nowait was never run"),
    (case(mutants=("nowait",)), log(record(), {**variant("nowait"), "kills": 64}), None),
    (case(mutants=("same",)), log(record(), {**variant("same"), "kills": 0}), "mutant same is called KILLED with 0 kills"),
    (case(), log(record(), variant("attron", kind="control")), "it ran control attron, which the rule book does not list for it"),
    (case(controls=("attron",)), log(record(), variant("attron", "SURVIVED", "control")), "it says PASS, but control attron survived"),
    (case(broken_waits=True), log(record(), variant("early-8000", "SURVIVED", "broken_wait", x_ns=8000)),
     "it says PASS, but every broken wait survived; it says PASS, but the broken wait early-8000, which must die, survived"),
]


@pytest.mark.parametrize(("of", "said", "reason"), REASONS, ids=[str(row[2])[:40] for row in REASONS])
def test_the_reason_of_a_verdict(of: Case, said: CaseLog | None, reason: str) -> None:
    assert judge_case(of, said, TAGS).reason == reason


def test_what_a_case_said_is_kept() -> None:
    said = log(record("FAIL", poison=3), variant("nowait"), forbidden=[{"slot": 1}], wall_s=2.5)
    result = judge_case(case(mutants=("nowait",)), said, TAGS)
    assert (result.record, result.variants, result.forbidden, result.wall_s) == (said.verdict, tuple(said.variants), ({"slot": 1},), 2.5)
    assert (result.exercised, result.trials("planned"), result.trials("none")) == (64, 64, 0)
    nothing = judge_case(case(), None, TAGS)
    assert (nothing.record, nothing.variants, nothing.forbidden, nothing.wall_s, nothing.exercised) == ({}, (), (), 0.0, 0)


def test_triage_is_never_judged() -> None:
    triage = {**variant("attribute-off", "SURVIVED", "triage"), "kills": 1}
    del triage["status"]
    assert judge_case(case(), log(record("FAIL", poison=1), triage), TAGS).status == "FAIL"
    twice = judge_case(case(), log(record("FAIL", poison=1), triage, triage), TAGS)
    assert twice.status == "KIT_ERROR" and twice.reason == "triage attribute-off was recorded twice"


def test_the_reasons_of_a_run() -> None:
    proven = CaseResult(case(), "PASS", None)
    assert judge_run([proven, CaseResult(case(), "KIT_ERROR", "odd")], ["a problem"]).reasons == ("a problem", f"{case().name}: odd")
    assert judge_run([proven, CaseResult(case("derived"), "FAIL", "odd")]).reasons == (f"{case().name}: FAIL of a derived rule, odd",)
    assert judge_run([proven, CaseResult(case(), "HANG", None)]).reasons == (f"{case().name}: HANG of a documented rule",)
    assert judge_run([proven, CaseResult(case(), "NOT_RUN", "late")]).reasons == (f"{case().name}: NOT_RUN, late",)
    assert judge_run([proven, CaseResult(case(), "CRASH", None)]).reasons == (f"{case().name}: CRASH",)
    assert judge_run([proven], [], ["X"]).reasons == ("X stands between the kit and the device, so a pass would prove nothing",)
    missing = [CaseResult(case(), "NOT_SUPPORTED", why) for why in ("old", None, "old")]
    assert judge_run(missing).reasons == ("old", "no reason given")
    observed = case("measured", False)
    measured = judge_run([proven, CaseResult(observed, "HANG", None)])
    assert measured.verdict == "CONFORMS" and measured.findings == (f"{observed.name} (measured): HANG",)
    waived = judge_run([proven, CaseResult(observed, "FAIL", None), CaseResult(case(rule="MEM-01"), "FAIL", None),
                        CaseResult(case(), "NOT_RUN", None)], (), (), ["MEM-01"])
    assert (waived.verdict, waived.findings, waived.waived) == ("UNPROVEN", (f"{observed.name} (measured): FAIL",), ("MEM-01",))
    for other in ("KIT_ERROR", "FAIL"):
        both = judge_run([proven, CaseResult(observed, "FAIL", "odd"), CaseResult(case(), other, None)])
        assert both.findings == (f"{observed.name} (measured): FAIL, odd",)


def test_a_capability_counts_its_rules() -> None:
    def result(rule: str, status: str, proving: bool = True) -> CaseResult:
        return CaseResult(case(proving=proving, rule=rule), status, None)

    results = [result("A-01", "PASS"), result("A-01", "FAIL"), result("A-02", "PASS"), result("A-03", "INCONCLUSIVE"),
               result("A-03", "PASS"), result("A-04", "NOT_SUPPORTED"), result("A-05", "INCONCLUSIVE", False)]
    (said,) = judge_capabilities(results)
    assert said == {"capability": case().capability, "verdict": "VIOLATES", "failing": ["A-01"], "unproven": ["A-03"], "holding": 1}
    assert judge_capabilities([]) == []
    for open_status in ("INCONCLUSIVE", "NOT_RUN", "DEVICE_LOST", "CRASH", "KIT_ERROR"):
        (left,) = judge_capabilities([result("A-01", "PASS"), result("A-02", open_status)])
        assert (left["unproven"], left["holding"]) == (["A-02"], 1), open_status
    (seen,) = judge_capabilities([result("A-01", "PASS"), result("A-02", "PASS"), result("A-02", "FAIL", False)])
    assert (seen["verdict"], seen["failing"], seen["holding"]) == ("VIOLATES", ["A-02"], 1), "a case that only observes fails as well"
    (hung,) = judge_capabilities([result("A-01", "HANG"), result("A-01", "CRASH")])
    assert (hung["failing"], hung["unproven"], hung["holding"]) == (["A-01"], [], 0)


@pytest.mark.parametrize(("shapes", "bound"), [(-1, None), (0, None), (1, 1.0), (3, 1.0), (4, 0.75), (300, 0.01)])
def test_the_bound_of_shapes(shapes: int, bound: float | None) -> None:
    assert shape_bound95(shapes) == bound


def test_the_floors_are_the_harness_s() -> None:
    text = (KIT / "harness" / "judge.h").read_text()
    assert re.search(rf"#define JUDGE_KILLS {KILLS_FLOOR}u\b", text)
    assert re.search(rf"#define JUDGE_FLOOR_PERCENT {EXERCISED_PERCENT}u\b", text)


@given(st.integers(1, 10**9))
def test_the_bound_is_what_it_says(n: int) -> None:
    bound = bound95(n)
    assert bound is not None and 0 < bound < 1
    assert (1 - bound) ** n == pytest.approx(0.05, rel=1e-3)


def test_what_is_worse() -> None:
    """A rule with a case that proved nothing, or never ran, has not passed."""
    order = ["KIT_ERROR", "DEVICE_LOST", "CRASH", "HANG", "FAIL", "NOT_RUN", "INCONCLUSIVE", "PASS", "NOT_SUPPORTED"]
    assert all(worst([better, worse]) == worse for worse, better in itertools.combinations(order, 2))


def test_nothing_said_is_not_run() -> None:
    assert worst([]) == "NOT_RUN"


def test_no_trial_no_bound() -> None:
    assert bound95(0) is None


@given(st.lists(st.sampled_from(CASE_VERDICTS), min_size=1))
def test_the_worst_case_speaks_for_the_rule(statuses: list[str]) -> None:
    assert worst(statuses) == min(statuses, key=CASE_VERDICTS.index)
    assert worst(statuses) == worst(reversed(statuses))


def test_a_capability_takes_a_waived_crash_for_no_waived_failure() -> None:
    def said(waived: list[str], crashes: list[str], status: str) -> str:
        results = [CaseResult(case(rule="ATTR-01"), "PASS", None), CaseResult(case(), status, "why")]
        return str(judge_capabilities(results, waived, crashes)[0]["verdict"])

    assert said(["WAIT-01"], [], "FAIL") == said([], ["WAIT-01"], "CRASH") == "CONFORMS"
    assert (said([], ["WAIT-01"], "FAIL"), said(["WAIT-01"], [], "CRASH")) == ("VIOLATES", "UNPROVEN")


@pytest.mark.parametrize(("status", "verdict"), [("CRASH", "CONFORMS"), ("DEVICE_LOST", "UNPROVEN"), ("NOT_RUN", "UNPROVEN"),
                                                 ("KIT_ERROR", "INVALID"), ("FAIL", "VIOLATES"), ("HANG", "VIOLATES")])
def test_a_waived_crash_waives_nothing_else(status: str, verdict: str) -> None:
    """A GPU that never comes back is no known defect of a call."""
    passed = CaseResult(case(rule="ATTR-01"), "PASS", None)
    assert judge_run([passed, CaseResult(case(), status, "why")], waived_crashes=["WAIT-01"]).verdict == verdict


def test_a_waived_crash_waives_no_crash_of_another_rule_and_is_named_beside_it() -> None:
    crashed, other = CaseResult(case(), "CRASH", "why"), CaseResult(case(rule="MEM-01"), "CRASH", "why")
    for worse, verdict in ((other, "UNPROVEN"), (CaseResult(other.case, "FAIL", None), "VIOLATES")):
        said = judge_run([CaseResult(case(rule="ATTR-01"), "PASS", None), crashed, worse], waived_crashes=["WAIT-01"])
        assert (said.verdict, said.waived) == (verdict, ("WAIT-01",)) and "MEM-01" in said.reasons[0]
