"""Who is started after whom, what each ending does to which case, and when a device is asked again: with children made of records."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import supervise
from conformance.pdlkit.children import Ending, Stopper
from conformance.pdlkit.places import KIT
from conformance.pdlkit.records import Session
from conformance.pdlkit.supervise import DEVICE_FAILED, Outcome, Plan, Supervisor, probe, start_problems

START = {"record": "start", "device": {"name": "GPU", "tick_ns": 32}, "driver": 13000, "runtime": 13000, "profile": "quick",
         "seed": "0000000000005eed", "rules_hash": "r"}
CLEAN = Ending(exit_code=0, signal=None, hung=False, interrupted=False, reaped=True, wall_s=1.23456, leftovers=0, stuck=(), stderr="")


def ending(**changed: Any) -> Ending:
    return Ending(**{**CLEAN.__dict__, **changed})


KILLED = ending(exit_code=None, signal=11)
HUNG = ending(exit_code=None, hung=True, stuck=("futex",))  # as run_child tells one: the signal is its own


def case_lines(name: str, status: str = "PASS", close: bool = True) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"record": "begin", "case": name, "deadline_s": 5},
        {"record": "case", "case": name, "status": status, "reason": None, "trials": {"planned": 1, "run": 1, "exercised": 1},
         "outcomes": {"fresh": 1}},
    ]
    return [*lines, {"record": "end", "case": name}] if close else lines


class Children:
    """Answers run_child(): one script per start; each probe ends as the next of `probes` says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *scripts: tuple[list[dict[str, Any]], Ending],
                 probes: Sequence[int | Ending] = ()) -> None:
        self.scripts, self.probes = list(scripts), list(probes)
        self.started: list[list[str]] = []
        self.given: list[Any] = []  # children that ran already
        self.probed = 0
        monkeypatch.setattr(supervise, "run_child", self._run)

    def _run(self, argv: list[str], watch: Any, stopper: Stopper, environment: dict[str, str] | None = None, kept: Any = None) -> Ending:
        if "--probe" in argv:
            assert argv == ["harness", "--probe", "--device", "cuda:1"]
            self.probed += 1
            watch.line("probed")
            end = self.probes.pop(0)
            return end if isinstance(end, Ending) else ending(exit_code=end)
        self.started.append(argv)
        self.given.append(kept)
        lines, end = self.scripts.pop(0)
        for line in lines:
            watch.line(json.dumps(line))
        time.sleep(0.0)  # a test may let time pass here
        return end


def plan_of(**changed: Any) -> Plan:
    fields: dict[str, Any] = {"harness": Path("harness"), "device": "cuda:1", "profile": "quick", "seed": 0x5EED,
                              "families": {"f": ["a", "b"]}, "subset": False, "rules_hash": "r"}
    return Plan(**{**fields, **changed})


def outcome_of(plan: Plan) -> tuple[Outcome, list[str], list[str]]:
    """The outcome, what the sink heard, and the families that finished."""
    heard, finished = list[str](), list[str]()
    supervisor = Supervisor(plan, lambda family, record: heard.append(f"{family}:{record['record']}"), finished.append)
    return supervisor.run(), heard, finished


def words(outcome: Outcome) -> dict[str, tuple[str | None, str | None]]:
    return {name: (log.casualty, log.casualty_reason) for name, log in outcome.logs.items()}


IN_A = [START, case_lines("a")[0]]  # where the child ends
REST = [START, *case_lines("b"), {"record": "done"}]
GOOD = [START, *case_lines("a"), *case_lines("b"), {"record": "done"}]


def test_a_family_that_runs_through(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (GOOD, CLEAN))
    outcome, heard, finished = outcome_of(plan_of())
    assert children.started == [["harness", "--family", "f", "--device", "cuda:1", "--profile", "quick", "--seed", "0000000000005eed"]]
    assert words(outcome) == {"a": (None, None), "b": (None, None)} and all(log.complete for log in outcome.logs.values())
    assert heard == [f"f:{line['record']}" for line in GOOD] and finished == ["f"]
    assert outcome.start == START and not outcome.problems and not outcome.device_lost and children.probed == 0
    assert outcome.processes == [{"family": "f", "exit": 0, "signal": None, "hung": False, "reaped": True, "leftovers": 0, "wall_s": 1.235}]


@pytest.mark.parametrize(("asked", "workers"), [({}, 1), ({"parallel": 1}, 1), ({"parallel": 3}, 3), ({"parallel": 0}, 1)])
def test_how_many_children_run_at_once(asked: dict[str, int], workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()

    class Pool(ThreadPoolExecutor):
        def __init__(self, max_workers: int) -> None:
            made.append(max_workers)
            super().__init__(max_workers)

    monkeypatch.setattr(supervise, "ThreadPoolExecutor", Pool)
    Children(monkeypatch, (GOOD, CLEAN))
    outcome_of(plan_of(**asked))
    assert made == [workers]


def test_a_subset_names_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (GOOD, CLEAN))
    outcome_of(plan_of(subset=True))
    assert children.started[0][3:7] == ["--case", "a", "--case", "b"]


@pytest.mark.parametrize(("end", "status", "reason"), [
    (KILLED, "CRASH", "its child gave no completion record and died of SIGSEGV; last sign: base, 3 of 9; it said: late"),
    (HUNG, "HANG", "it gave no sign by its deadline and was killed, asleep in futex; last sign: base, 3 of 9"),
    (ending(exit_code=3), "CRASH", "its child gave no completion record and exited with 3; last sign: base, 3 of 9; it said: late"),
])
def test_a_casualty_costs_its_case_alone(end: Ending, status: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sign = {"record": "progress", "case": "a", "part": "base", "done": 3, "planned": 9}
    monkeypatch.setattr(supervise._FamilyWatch, "still_went_on", lambda self: False)  # that sign is old
    end = ending(**{**end.__dict__, "stderr": "early\nlate\n\n"})
    children = Children(monkeypatch, ([START, case_lines("a")[0], sign], end), (REST, CLEAN), probes=[0])
    outcome, heard, finished = outcome_of(plan_of())
    assert words(outcome) == {"a": (status, reason), "b": (None, None)}
    assert children.started[1][3:5] == ["--case", "b"] and children.probed == 1 and finished == ["f"]
    assert heard.count("f:casualty") == 1 and not outcome.problems


def test_a_casualty_of_the_last_case_is_kept_and_ends_its_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on reads it from the records, and does not try the case again."""
    Children(monkeypatch, (IN_A, KILLED), probes=[0])
    heard, finished = list[dict[str, Any]](), list[str]()
    Supervisor(plan_of(families={"f": ["a"]}), lambda _, record: heard.append(record), finished.append).run()
    assert heard[-1] == {"record": "casualty", "case": "a", "status": "CRASH"} and finished == ["f"]


NOISE: dict[str, Any] = {"record": "noise"}
CASUALTIES: list[tuple[Any, Ending, list[dict[str, str]]]] = [
    ([START, *case_lines("a")], KILLED, [{"case": "a", "status": "CRASH"}]),  # right after it
    ([START, NOISE, *case_lines("a"), case_lines("b")[0]], KILLED,
     [{"case": "b", "status": "CRASH"}, {"case": "the child of family f", "status": "KIT_ERROR"}]),
    ([START, case_lines("a")[0], NOISE, *case_lines("a")[1:], {"record": "done"}], CLEAN, [{"case": "a", "status": "KIT_ERROR"}]),
    ([*IN_A, NOISE], KILLED, [{"case": "a", "status": "KIT_ERROR"}]),  # however it ended
    ([{**START, "seed": "1"}, *case_lines("a"), {"record": "done"}], CLEAN, [{"case": "the child of family f", "status": "KIT_ERROR"}]),
]


@pytest.mark.parametrize(("lines", "end", "told"), CASUALTIES)
def test_what_must_not_be_tried_again_is_told(lines: Any, end: Ending, told: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, (lines, end), (REST, CLEAN), probes=[0])
    heard = list[dict[str, Any]]()
    Supervisor(plan_of(), lambda _, record: heard.append(record)).run()
    assert [record for record in heard if record["record"] == "casualty"] == [{"record": "casualty", **entry} for entry in told]


def test_a_verdict_that_is_not_closed_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, *case_lines("a", close=False)], KILLED), probes=[0])
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert words(outcome)["a"] == ("CRASH", "its child gave a verdict but did not close the case and died of SIGSEGV")


def test_a_device_that_is_lost_to_a_question_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, *case_lines("a", close=False)], ending(exit_code=supervise.DEVICE_FAILED)), probes=[0])
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert words(outcome)["a"] == ("CRASH", "its question was answered, but the device was lost to it: every later call fails")
    Children(monkeypatch, (IN_A, ending(exit_code=supervise.DEVICE_FAILED)), probes=[0])
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert words(outcome)["a"] == ("CRASH", f"its child gave no completion record and exited with {DEVICE_FAILED}")


@pytest.mark.parametrize("end", [KILLED, HUNG, ending(reaped=False, exit_code=None), ending(hung=True, exit_code=0)])
def test_a_death_right_after_a_case_is_that_case_s(end: Ending, monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, *case_lines("a")], end), (REST, CLEAN), probes=[0])
    outcome, _, _ = outcome_of(plan_of())
    assert words(outcome)["a"] == ("CRASH", f"right after this case its child {end.words()}") and words(outcome)["b"] == (None, None)


@pytest.mark.parametrize("end", [KILLED, HUNG])
def test_a_death_behind_the_closing_record_asks_the_device(end: Ending, monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (GOOD, end), probes=[0])
    outcome, _, finished = outcome_of(plan_of())
    assert words(outcome)["b"][0] == "CRASH" and words(outcome)["a"] == (None, None) and children.probed == 1 and finished == ["f"]


def test_a_device_is_asked_twice_and_then_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (IN_A, KILLED), probes=[1, 1])
    outcome, _, finished = outcome_of(plan_of(families={"f": ["a", "b"], "g": ["c"]}))
    assert children.probed == 2 and outcome.device_lost and finished == [] and len(children.started) == 1
    status, reason = words(outcome)["a"]
    assert status == "DEVICE_LOST" and reason is not None and reason.startswith("CRASH (its child gave no completion record")
    assert words(outcome)["b"] == words(outcome)["c"] == ("NOT_RUN", "the device was lost")
    Children(monkeypatch, (IN_A, KILLED), probes=[1, 1])
    outcome, _, finished = outcome_of(plan_of(families={"f": ["a"]}))
    assert outcome.device_lost and finished == []  # nothing is pending, and yet the family is not done
    children = Children(monkeypatch, (IN_A, KILLED), (REST, CLEAN), probes=[1, 0])
    outcome, _, finished = outcome_of(plan_of())
    assert children.probed == 2 and not outcome.device_lost and finished == ["f"]
    Children(monkeypatch, ([START, *case_lines("a"), case_lines("b")[0]], KILLED), probes=[1, 1])  # in a case that came after another one
    outcome, _, _ = outcome_of(plan_of())
    assert words(outcome)["a"] == (None, None) and words(outcome)["b"][0] == "DEVICE_LOST"
    Children(monkeypatch, (IN_A, KILLED), (REST, CLEAN), probes=[77, 77])  # no device is there: it went away, and is not alive
    assert outcome_of(plan_of())[0].device_lost


@pytest.mark.parametrize("codes", [(1, 1), (69, 69), (70, 71), (64, 77), (HUNG, HUNG), (KILLED, KILLED)])
def test_a_device_lost_right_after_a_case_is_lost_to_it(codes: tuple[int | Ending, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a probe that ends with 0 has found the device."""
    Children(monkeypatch, ([START, *case_lines("a")], KILLED), probes=codes)
    outcome, _, finished = outcome_of(plan_of())
    assert outcome.device_lost and words(outcome)["b"] == ("NOT_RUN", "the device was lost") and finished == []
    assert words(outcome)["a"] == (
        "DEVICE_LOST", "CRASH (right after this case its child died of SIGSEGV), and then a fresh process could not use the device")


def test_what_is_held_against_a_case_before_it_began_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next child, which runs it as if nothing had been, would make it a PASS."""
    early = {"record": "wrong", "case": "b", "what": "nodes", "answer": "3"}
    Children(monkeypatch, ([*IN_A, early], KILLED), (REST, CLEAN), probes=[0])
    outcome, *_ = outcome_of(plan_of())
    assert outcome.logs["b"].problems == ["a wrong record of 'b' came outside that case"]


def test_the_model_cannot_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (IN_A, KILLED), (REST, CLEAN))
    outcome_of(plan_of(device="model"))
    assert children.probed == 0


MAY_EXIT = {"PASS": {0}, "FAIL": {0, 1}, "HANG": {0, 1}, "INCONCLUSIVE": {0, 2, 77}, "NOT_SUPPORTED": {0, 77}}


@pytest.mark.parametrize("code", [0, 1, 2, 3, 64, 69, 70, DEVICE_FAILED, 77])
@pytest.mark.parametrize("status", MAY_EXIT)
def test_one_named_case_may_say_its_status_again(code: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, *case_lines("a", status), {"record": "done"}], ending(exit_code=code)))
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}, subset=True))
    problems = [] if code in MAY_EXIT[status] else [f"its child closed its records and then exited with {code}"]
    assert outcome.logs["a"].problems == problems


def test_a_whole_family_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [START, *case_lines("a", "FAIL"), {"record": "done"}]
    Children(monkeypatch, (lines, ending(exit_code=1)), (lines, ending(exit_code=1)))
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert outcome.logs["a"].problems == ["its child closed its records and then exited with 1"]
    nothing: list[dict[str, Any]] = [START, {"record": "done"}]
    Children(monkeypatch, (nothing, ending(exit_code=5)))
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert outcome.problems == ["its child closed its records and then exited with 5"]
    assert words(outcome)["a"] == ("NOT_RUN", "its child closed without reaching it")


@pytest.mark.parametrize("lines", [IN_A, [START, *case_lines("a", close=False)]], ids=["in a case", "after its verdict"])
def test_a_harness_that_gives_up_on_itself_is_a_problem(lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, (lines, ending(exit_code=70, stderr="why\n")), probes=[0])
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert outcome.logs["a"].problems == ["the harness gave up on itself: why"] and words(outcome)["a"][0] == "CRASH"


@pytest.mark.parametrize(("code", "starts", "problem"), [(64, 1, True), (69, 1, True), (70, 1, True), (3, 2, False), (0, 2, False)])
def test_a_child_that_begins_no_case(code: int, starts: int, problem: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    silent: list[dict[str, Any]] = []
    children = Children(monkeypatch, (silent, ending(exit_code=code)), (silent, ending(exit_code=code)), probes=[0, 0])
    outcome, _, finished = outcome_of(plan_of())
    assert len(children.started) == starts and finished == []
    said = f"its child exited with {code} before any case began: it said nothing"
    assert words(outcome) == {"a": ("NOT_RUN", said), "b": ("NOT_RUN", said)}
    assert outcome.problems == ([f"family f: the harness exited with {code} before any case: it said nothing"] if problem else [])


def test_a_child_that_cannot_run_here_is_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([], ending(exit_code=77, stderr="no GPU")))
    outcome, _, _ = outcome_of(plan_of())
    assert not outcome.problems
    assert [(log.verdict, log.ended) for log in outcome.logs.values()] == [({"status": "NOT_SUPPORTED", "reason": "no GPU"}, True)] * 2


@pytest.mark.parametrize("first", [True, False])
def test_a_device_that_is_there_for_some_children_only_proves_nothing(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fell off the bus, or was taken away: that is no lack of support."""
    gone: Any = ([], ending(exit_code=77, stderr="cudaErrorNoDevice"))
    there = ([START, *case_lines("a"), {"record": "done"}], CLEAN)
    Children(monkeypatch, *((gone, there) if first else (there, gone)))
    outcome, _, finished = outcome_of(plan_of(families={"g": ["b"], "f": ["a"]} if first else {"f": ["a"], "g": ["b"]}))
    assert words(outcome) == {"a": (None, None), "b": ("NOT_RUN", "its child found no device, on which others had run: cudaErrorNoDevice")}
    assert outcome.logs["b"].verdict is None and finished == ["f"]


def test_a_device_that_an_earlier_part_of_the_run_had_is_not_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a resumed run whose device went away would take what it passed before for all that the device supports."""
    Children(monkeypatch, ([], ending(exit_code=77, stderr="cudaErrorNoDevice")))
    outcome = Supervisor(plan_of(families={"f": ["a"]}), lambda family, record: None, device_seen=True).run()
    assert words(outcome) == {"a": ("NOT_RUN", "its child found no device, on which others had run: cudaErrorNoDevice")}


def test_an_interruption_is_no_casualty(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = ending(exit_code=None, signal=9, interrupted=True)
    children = Children(monkeypatch, ([START, *case_lines("a"), case_lines("b")[0]], stopped))
    outcome, heard, finished = outcome_of(plan_of(families={"f": ["a", "b", "c"]}))
    said = "the run was interrupted"
    assert words(outcome) == {"a": (None, None), "b": ("NOT_RUN", f"{said} in it"), "c": ("NOT_RUN", said)}
    assert "f:casualty" not in heard and finished == [] and children.probed == 0
    Children(monkeypatch, ([START, *case_lines("a")], stopped))  # between two cases
    assert words(outcome_of(plan_of())[0]) == {"a": (None, None), "b": ("NOT_RUN", said)}


def test_a_stop_starts_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch)
    supervisor = Supervisor(plan_of(), lambda family, record: None)
    supervisor.stop()
    outcome = supervisor.run()
    assert outcome.interrupted and not children.started
    assert words(outcome) == {"a": ("NOT_RUN", "the run was interrupted"), "b": ("NOT_RUN", "the run was interrupted")}


@pytest.mark.parametrize(("plant", "times"), [("crash", 1), ("hang", 1), ("no-record", 1), ("broken-wait", 2)])
def test_what_is_planted_in_which_child(plant: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    children = Children(monkeypatch, (IN_A, KILLED), (REST, CLEAN), probes=[0])
    outcome_of(plan_of(plant=plant))
    assert [argv[-2:] == ["--plant", plant] for argv in children.started] == [True, times == 2]


CHANGED = [("profile", "full", "it was built for or ran with another profile: full instead of quick"),
           ("seed", "1", "it was built for or ran with another seed: 1 instead of 0000000000005eed"),
           ("rules_hash", "x", "it was built for or ran with another rules_hash: x instead of r"),
           ("device", {"name": "other"}, "it met another device: {'name': 'GPU', 'tick_ns': 32}, then {'name': 'other'}"),
           ("device", {"name": "GPU", "tick_ns": 32, "uuid_hash": "2"},
            "it met another device: {'name': 'GPU', 'tick_ns': 32}, then {'name': 'GPU', 'tick_ns': 32, 'uuid_hash': '2'}"),
           ("device", {"name": "GPU", "tick_ns": 32, "sms": 66},
            "it met another device: {'name': 'GPU', 'tick_ns': 32}, then {'name': 'GPU', 'tick_ns': 32, 'sms': 66}"),
           ("driver", 1, "it met another driver: 13000, then 1"), ("runtime", 1, "it met another runtime: 13000, then 1")]


@pytest.mark.parametrize(("key", "value", "said"), CHANGED)
def test_a_child_that_ran_something_else(key: str, value: Any, said: str) -> None:
    assert start_problems({**START, key: value}, plan_of(), START) == [said]
    assert start_problems(START, plan_of(), START) == start_problems(START, plan_of(), None) == []
    assert start_problems({**START, "device": {"name": "GPU", "tick_ns": 1024}}, plan_of(), START) == []
    assert start_problems(None, plan_of(), START) == ["it ran cases and never said on what device"]
    for key in ("profile", "seed", "rules_hash"):
        silent = {name: value for name, value in START.items() if name != key}
        assert [key in text and "it says none" in text for text in start_problems(silent, plan_of(), silent)] == [True]
    assert start_problems({**START, "rules_hash": "x"}, plan_of(rules_hash=None), None) == []
    for key in ("device", "driver", "runtime"):  # what an earlier child did not say is another one, too
        silent = {name: value for name, value in START.items() if name != key}
        assert [f"another {key}: None, then" in text for text in start_problems(START, plan_of(), silent)] == [True]
    assert len(start_problems({**START, "profile": "full", "driver": 1}, plan_of(), START)) == 2


def test_the_exit_code_of_a_lost_context_is_the_harness_s() -> None:
    assert f"#define EXIT_DEVICE_FAILED {DEVICE_FAILED}\n" in (KIT / "harness" / "main.c").read_text()


def test_the_second_child_is_compared_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, (IN_A, KILLED), ([{**START, "driver": 1}, *case_lines("b"), {"record": "done"}], CLEAN), probes=[0])
    outcome, _, _ = outcome_of(plan_of())
    assert outcome.problems == ["family f: it met another driver: 13000, then 1"] and outcome.start == START


def test_a_contradiction_outside_any_case_is_the_run_s(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, START, *case_lines("a"), {"record": "done"}], CLEAN))
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a"]}))
    assert outcome.problems == ["family f: a second start record"]


@pytest.mark.parametrize(("line", "seconds"), [
    (None, supervise.START_S), (START, supervise.BETWEEN_CASES_S),
    ({"record": "begin", "case": "a", "deadline_s": 5}, 5 + supervise.GRACE_S),
    ({"record": "begin", "case": "a", "deadline_s": 0.5}, 0.5 + supervise.GRACE_S),
    ({"record": "begin", "case": "a"}, supervise.CASE_S + supervise.GRACE_S),
    ({"record": "begin", "case": "a", "deadline_s": 0}, supervise.CASE_S + supervise.GRACE_S),
    ({"record": "begin", "case": "a", "deadline_s": "5"}, supervise.CASE_S + supervise.GRACE_S),
    ({"record": "begin", "case": "a", "deadline_s": 1e9}, supervise.LONGEST_CASE_S + supervise.GRACE_S),
    ({"record": "done"}, supervise.EXIT_S),
])
def test_how_long_a_child_may_be_silent(line: dict[str, Any] | None, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    session = Session("f", ["a"])
    watch = supervise._FamilyWatch(session, lambda family, record: None, lambda: None, lambda: None)
    now[0] = 110.0
    for text in ([json.dumps(line)] if line else ["", "  "]):
        watch.line(text)
    assert watch.deadline() == (110.0 if line else 100.0) + seconds


def test_progress_moves_a_deadline_and_a_case_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    session = Session("f", ["a"])
    watch = supervise._FamilyWatch(session, lambda family, record: None, lambda: None, lambda: None)
    begin, verdict, end = case_lines("a")
    watch.line(json.dumps(begin))
    now[0] = 104.0
    watch.line(json.dumps({"record": "progress", "case": "a", "part": "base", "done": 1, "planned": 2}))
    watch.line("not a record")
    assert watch.deadline() == 104.0 + 5 + supervise.GRACE_S
    watch.line(json.dumps(verdict))
    now[0] = 106.0
    watch.line(json.dumps(end))
    assert watch.deadline() == 106.0 + supervise.BETWEEN_CASES_S and session.logs["a"].wall_s == 6.0


def test_progress_is_believed_for_ten_times_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    watch = supervise._FamilyWatch(Session("f", ["a"]), lambda family, record: None, lambda: None, lambda: None)
    watch.line(json.dumps(case_lines("a")[0]))
    for second in range(1, 200):
        now[0] = 100.0 + second
        watch.line(json.dumps({"record": "progress", "case": "a", "part": "base", "done": second, "planned": 200}))
    assert watch.deadline() == 100.0 + 10 * 5 + supervise.GRACE_S


@pytest.mark.parametrize("verdict", [[], case_lines("a")[1:2]], ids=["without its verdict", "with its verdict"])
@pytest.mark.parametrize(("age", "status"), [(4.9, "NOT_RUN"), (5.0, "HANG")])
def test_a_case_that_goes_on_is_slow_and_does_not_hang(age: float, status: str, verdict: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was ended at ten times its limit, 5 s. The last sign of progress was so old."""
    now = [100.0]

    def pass_time(_: float) -> None:
        now[0] += age

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", pass_time)
    sign = {"record": "progress", "case": "a", "part": "trials", "done": 3, "planned": 9}
    Children(monkeypatch, ([START, case_lines("a")[0], sign, *verdict], HUNG), (REST, CLEAN), probes=[0])
    outcome, heard, _ = outcome_of(plan_of())
    assert words(outcome)["a"][0] == status and words(outcome)["b"] == (None, None)
    if status == "NOT_RUN":
        assert words(outcome)["a"][1] == ("it went on, but was not done after 10 times its limit: is the GPU shared?; "
                                          "last sign: trials, 3 of 9")
        assert "f:casualty" not in heard  # a run that goes on later may try it again


def test_a_case_without_progress_hangs_however_early_the_machine_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1.0)
    watch = supervise._FamilyWatch(Session("f", ["a"]), lambda family, record: None, lambda: None, lambda: None)
    assert not watch.still_went_on()
    watch.line(json.dumps(case_lines("a")[0]))
    assert not watch.still_went_on()


def test_a_probe_asks_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def answer(argv: list[str], watch: Any, stopper: Stopper, environment: dict[str, str] | None) -> Ending:
        asked.append(argv)
        before = watch.deadline()
        watch.line("one")
        assert watch.deadline() == before and environment == {"A": "1"}
        return CLEAN

    monkeypatch.setattr(supervise, "run_child", answer)
    assert probe(Path("harness"), "cuda:2", Stopper(), {"A": "1"}) == (CLEAN, ["one"])
    assert asked == [["harness", "--probe", "--device", "cuda:2"]]


def test_a_fault_of_the_sink_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, (GOOD, CLEAN), (GOOD, CLEAN))

    def full(family: str, record: dict[str, Any]) -> None:
        raise OSError("no space left")

    supervisor = Supervisor(plan_of(families={"f": ["a", "b"], "g": ["c"]}), full)
    with pytest.raises(OSError, match="no space"):
        supervisor.run()
    assert supervisor.outcome.interrupted


class Held:
    """Stands in for children that are started early: each says what became of it."""

    said: list[str]

    def __init__(self, monkeypatch: pytest.MonkeyPatch, gone: bool = False) -> None:
        self.said = []
        monkeypatch.setattr(supervise, "HeldChild", lambda argv, environment: self._start(argv, gone))

    def _start(self, argv: list[str], gone: bool) -> Any:
        family = argv[2]
        assert argv[-1] == "--held"
        self.said.append(f"hold {family}")

        def release() -> str | None:
            self.said.append(f"release {family}")
            return None if gone else family

        return SimpleNamespace(begin=lambda: self.said.append(f"begin {family}"), release=release,
                               drop=lambda: self.said.append(f"drop {family}"))


THREE = {name: ["a", "b"] for name in ("f", "g", "h")}


@pytest.mark.parametrize("gone", [False, True])
def test_the_next_child_is_held_while_one_runs(gone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    held, children = Held(monkeypatch, gone), Children(monkeypatch, (GOOD, CLEAN), (GOOD, CLEAN), (GOOD, CLEAN))
    outcome, _, finished = outcome_of(plan_of(families=THREE))
    assert finished == ["f", "g", "h"] and not outcome.problems
    assert held.said == ["hold g", "begin g", "release g", "hold h", "begin h", "release h"]
    started_anew: list[str | None] = [None, None, None]
    assert children.given == (started_anew if gone else [None, "g", "h"])


@pytest.mark.parametrize("changed", [{"device": "model"}, {"parallel": 2}])
def test_no_child_is_held_elsewhere(changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    Children(monkeypatch, (GOOD, CLEAN), (GOOD, CLEAN), (GOOD, CLEAN))
    outcome_of(plan_of(families=THREE, **changed))
    assert held.said == []


@pytest.mark.parametrize("end", [KILLED, HUNG])
def test_a_held_child_does_not_outlast_a_casualty(end: Ending, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    children = Children(monkeypatch, (IN_A, end), (REST, CLEAN), (GOOD, CLEAN), probes=[0])
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}))
    assert held.said == ["hold g", "drop g", "hold f", "release f", "hold g", "begin g", "release g"]
    assert children.given == [None, "f", "g"] and children.started[1][3:5] == ["--case", "b"]


def test_what_opens_the_device_beside_a_probe_ends_with_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    children = Children(monkeypatch, (IN_A, KILLED), probes=[1, 1])
    outcome, _, _ = outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}))
    assert outcome.device_lost and held.said == ["hold g", "drop g", "hold f", "drop f"] and children.given == [None]


def test_a_held_child_ends_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    Children(monkeypatch, ([START, *case_lines("a")], ending(interrupted=True)))
    supervisor = Supervisor(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}), lambda family, record: supervisor.stop())
    supervisor.run()
    assert held.said == ["hold g", "drop g"]


def test_a_planted_casualty_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def hold(argv: list[str], _environment: dict[str, str] | None) -> Any:
        asked.append(argv)
        return SimpleNamespace(begin=lambda: None, release=lambda: None, drop=lambda: None)

    monkeypatch.setattr(supervise, "HeldChild", hold)
    Children(monkeypatch, (GOOD, CLEAN), (GOOD, CLEAN))
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}, plant="crash"))
    assert len(asked) == 1 and "--plant" not in asked[0]


def test_only_one_child_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    Children(monkeypatch, ([START, *GOOD], CLEAN), (GOOD, CLEAN))
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}))
    assert held.said == ["hold g", "begin g", "release g"]


def test_no_child_begins_while_another_ones_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    Children(monkeypatch, ([*GOOD[:-1], {"record": "done", "endless": True}], CLEAN), (GOOD, CLEAN))
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}))
    assert held.said == ["hold g", "release g"]


def test_a_child_that_began_does_not_outlast_a_casualty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before it said that it was done, and then did not end."""
    held = Held(monkeypatch)
    children = Children(monkeypatch, (GOOD, HUNG), (GOOD, CLEAN), probes=[0])
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}))
    assert held.said == ["hold g", "begin g", "drop g", "hold g", "release g"] and children.given == [None, "g"]


def test_a_held_child_has_the_plant_that_every_child_has(monkeypatch: pytest.MonkeyPatch) -> None:
    held, children = Held(monkeypatch), Children(monkeypatch, (GOOD, CLEAN), (GOOD, CLEAN))
    outcome_of(plan_of(families={"f": ["a", "b"], "g": ["a", "b"]}, plant="wrong-word"))
    assert held.said == ["hold g", "begin g", "release g"] and children.given == [None, "g"] and "--plant" in children.started[1]


def test_a_held_child_is_released_for_what_it_was_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    supervisor = Supervisor(plan_of(families={"f": ["a"], "g": ["a", "b"]}), lambda family, record: None)
    supervisor._hold_next("f")
    whole = supervisor.plan.argv("g", ["a", "b"], False)
    assert supervisor._release(supervisor.plan.argv("g", ["b"], True)) is None and held.said == ["hold g"]
    assert supervisor._release(whole) is not None and supervisor._release(whole) is None


def test_a_hang_after_a_case_without_its_verdict_stays_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([*IN_A, {"record": "end", "case": "a"}], HUNG), (REST, CLEAN), probes=[0])
    outcome, _, _ = outcome_of(plan_of())
    assert words(outcome)["a"][0] == "HANG"


def test_a_later_child_without_problems_hides_none_of_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    Children(monkeypatch, ([START, START, *case_lines("a"), {"record": "done"}], CLEAN),
             ([START, *case_lines("b"), {"record": "done"}], CLEAN))
    outcome, _, _ = outcome_of(plan_of(device="model", families={"f": ["a"], "g": ["b"]}))
    assert outcome.problems == ["family f: a second start record"]
