"""What a session ends with: each way a program can behave, without a process, and the one exit code that it deserves."""

from __future__ import annotations

import array
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from conformance.stress import same_command
from conformance.stress.detector import INCONCLUSIVE, NOTHING_FOUND, RACE_FOUND, SURE, Detector, Effort, Result
from conformance.stress.injection import library
from conformance.stress.oracle import Copy, Observed, Oracle
from conformance.stress.plan import AFTER_TRIGGER, EMPTY, Plan
from conformance.stress.ptx.hold_code import HOLD, PROTECT, TRIGGER
from conformance.stress.search import Race

RIGHT, WRONG, HANGS = "right", "wrong", None
Answer = str | None
Rule = Callable[[Plan, bool], Answer]  # what a rewritten run prints; the second argument: one kernel after the other
KERNELS = ("a", "b", "c")


class Program:
    """A program that exists only as a rule, with kernels of these names."""

    def __init__(self, folder: Path, rule: Rule, plain: Iterable[Answer] = (), kernels: Iterable[str] = KERNELS,
                 oracle: Oracle | None = None, stored: bool = False, **told: Any) -> None:
        self.folder, self.rule, self.names, self.told, self.stored = folder, rule, list(kernels), told, stored
        self.oracle = oracle or Oracle(compare_stdout=True)
        self.plain_answers, self.timeout, self.plain_environment, self.runs = list(plain), 1.0, dict[str, str](), 0
        self.kernels: list[str] = []

    def _ended(self, answer: Answer) -> Observed:
        self.runs += 1
        copies = Counter([Copy(16, (str(answer),) * 16)]) if self.stored else Counter[Copy]()
        return Observed(None if answer is HANGS else 0, (answer or "").encode(), b"", 0.1, copies=copies)

    def plain(self) -> Observed:
        return self._ended(self.plain_answers.pop(0) if self.plain_answers else RIGHT)

    def rewritten(self, plan: Plan, records: Path | None = None, one_by_one: bool = False) -> Observed:
        if records:
            lines = [{"record": "kernel", "name": name, "rewritten": True, "waits": 1, **self.told.get(name, {})} for name in self.names]
            lines += [{"record": "launches", "name": name, "eager": 1, "before_attribute": 1, **self.told.get(name, {})}
                      for name in self.names]
            with records.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines))
        return self._ended(self.rule(plan, one_by_one))


def races(*pairs: tuple[str, str]) -> Rule:
    """Wrong while a primary is held and its dependent neither held nor protected; holding after its own trigger hides it."""
    return lambda plan, _: WRONG if any(a in plan.hold and b not in plan.hold | plan.protect and not plan.own for a, b in pairs) else RIGHT


def on(name: str, answer: Answer, one_by_one: Answer = RIGHT) -> Rule:
    """This answer whenever the kernel is held, whatever waits."""
    return lambda plan, alone: RIGHT if name not in plan.hold else one_by_one if alone else answer


def both(*rules: Rule) -> Rule:
    """The first answer that is not right."""
    return lambda plan, alone: next((said for rule in rules if (said := rule(plan, alone)) != RIGHT), RIGHT)


def session(program: Program, **effort: Any) -> Result:
    return Detector(program, Effort(7, **{"seeds": 1, **effort}), lambda _: None).run()  # type: ignore[arg-type]


OWN = {"a": {"triggers": 1}}
ALONE = {name: {"before_attribute": 0} for name in KERNELS}  # no launch that may overlap
FLAKY = (RIGHT, WRONG)
CASES: list[tuple[str, dict[str, Any], dict[str, Any], int, str]] = [
    ("right", {"rule": races()}, {}, NOTHING_FOUND, "nothing found in"),
    ("latent", {"rule": races(("a", "b"))}, {}, RACE_FOUND, "kernel b reads before"),
    ("by the trigger's place", {"rule": races(("a", "b")), **OWN}, {}, NOTHING_FOUND, "kernel b reads before"),
    ("by its place, strictly", {"rule": races(("a", "b")), **OWN}, {"strict": True}, RACE_FOUND, "kernel b reads before"),
    ("by its place and latent", {"rule": races(("a", "b"), ("b", "c")), **OWN}, {}, RACE_FOUND, "kernel c reads before"),
    ("in the last seed only", {"rule": lambda plan, _: WRONG if plan.hold == {"a"} and plan.seed != 7 and "b" not in plan.protect
                               else RIGHT}, {"seeds": 2}, RACE_FOUND, "kernel b reads before"),
    ("in its second run only", {"rule": races(("a", "b"))}, {"repeats": 2}, RACE_FOUND, "kernel b reads before"),
    ("nothing judges", {"rule": races(), "oracle": Oracle()}, {}, INCONCLUSIVE, "nothing but the exit code judged"),
    ("a kernel left out", {"rule": races(), "c": {"rewritten": False}}, {}, INCONCLUSIVE, "1 kernels could not be rewritten"),
    ("one that is exempt", {"rule": races(), "c": {"rewritten": False}}, {"exempt": "c"}, NOTHING_FOUND, "nothing found in"),
    ("a hang", {"rule": on("b", HANGS)}, {}, INCONCLUSIVE, "which is no race"),
    ("no order on the host", {"rule": on("b", WRONG)}, {}, RACE_FOUND, "the order is missing on the host"),
    ("a matter of time", {"rule": on("b", WRONG, WRONG)}, {}, INCONCLUSIVE, "time-dependent"),
    ("one by one it hangs", {"rule": on("b", WRONG, HANGS)}, {}, INCONCLUSIVE, "time-dependent"),
    ("a matter of time, and a race", {"rule": both(on("b", WRONG, WRONG), races(("a", "c")))}, {}, RACE_FOUND, "kernel c reads before"),
    ("by the trigger's place, and no order", {"rule": both(races(("a", "b")), on("c", WRONG)), **OWN}, {}, RACE_FOUND,
     "missing on the host"),
    ("a matter of time, and no order", {"rule": both(on("b", WRONG, WRONG), on("c", WRONG))}, {}, RACE_FOUND, "missing on the host"),
    ("with delays of their own only", {"rule": lambda plan, _: WRONG if plan.mixed and "b" not in plan.protect else RIGHT}, {},
     RACE_FOUND, "kernel b reads before"),
    ("of two kernels with delays of their own only", {
        "rule": lambda plan, _: WRONG if plan.mixed and "b" not in plan.protect else RIGHT, "kernels": ("a", "b")}, {}, RACE_FOUND,
     "kernel b reads before"),
    ("rewriting alone is wrong", {"rule": lambda *_: WRONG}, {}, INCONCLUSIVE, "rewriting alone"),
    ("code that does nothing is wrong", {"rule": lambda plan, _: WRONG if plan.off else RIGHT}, {}, NOTHING_FOUND, "nothing found"),
    ("no kernel", {"rule": races(), "kernels": ()}, {}, INCONCLUSIVE, "no kernel launch was seen"),
    ("no kernel that can be rewritten", {"rule": races(), "kernels": ("c",), "c": {"rewritten": False}}, {}, INCONCLUSIVE,
     "no kernel could be"),
    ("none of that name", {"rule": races(("a", "b"))}, {"only": "typo"}, INCONCLUSIVE, "nothing was stressed"),
    ("all exempt", {"rule": races(("a", "b"))}, {"exempt": "."}, INCONCLUSIVE, "nothing was stressed"),
    ("flaky, and nothing is seen under stress", {"rule": races(), "plain": FLAKY}, {}, INCONCLUSIVE, "plain run 2"),
    ("flaky, and what no wait cures", {"rule": on("b", WRONG), "plain": FLAKY}, {}, INCONCLUSIVE, "plain run 2"),
    ("flaky, and by the trigger's place", {"rule": races(("a", "b")), "plain": FLAKY, **OWN}, {}, RACE_FOUND, "kernel b reads before"),
    ("flaky, and a race under stress", {"rule": races(("a", "b")), "plain": FLAKY}, {}, RACE_FOUND, "kernel b reads before"),
    ("flaky without overlap", {"rule": races(("a", "b")), "plain": FLAKY, **ALONE}, {}, INCONCLUSIVE, "plain run 2"),
    ("flaky in the third run", {"rule": races(), "plain": (RIGHT, RIGHT, WRONG), **ALONE}, {}, INCONCLUSIVE, "plain run 3"),
    ("what nothing may overlap", {"rule": races(("c", "b")), "b": {"before_attribute": 0},
                                  "c": {"before_attribute": 0, "attribute": 1}}, {}, NOTHING_FOUND, "nothing found"),
    ("no launch asks for overlap", {"rule": races(("a", "b")), **ALONE}, {}, RACE_FOUND, "kernel b reads before"),
    ("a kernel that waits for others", {"rule": on("ncclKernel", WRONG), "kernels": ("a", "ncclKernel")}, {}, NOTHING_FOUND,
     "nothing found"),
    ("one that is cooperative", {"rule": on("b", WRONG), "b": {"cooperative": 1}}, {}, NOTHING_FOUND, "nothing found"),
    ("one that is cooperative, by name", {"rule": on("b", WRONG), "b": {"cooperative": 1}}, {"only": "b"}, INCONCLUSIVE,
     "nothing was stressed"),
    ("a plain run that hangs", {"rule": lambda *_: HANGS, "plain": [HANGS]}, {}, INCONCLUSIVE, "wrong without any stress: it did not end"),
]


@pytest.mark.parametrize(("program", "effort", "code", "said"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_session_ends_with_the_code_that_it_deserves(program: dict[str, Any], effort: dict[str, Any], code: int, said: str,
                                                       tmp_path: Path) -> None:
    result = session(Program(tmp_path, **program), **effort)
    assert said in result.sentence and result.code == code


def test_flaky_programs_are_accused_only_if_every_ordered_run_agrees(tmp_path: Path) -> None:
    for odd in range(SURE + 2):
        ordered = 0

        def rule(plan: Plan, alone: bool, odd: int = odd) -> Answer:
            nonlocal ordered
            if plan.triggers is None or len(plan.protect) < len(KERNELS):
                return races(("a", "b"))(plan, alone)
            ordered += 1
            return WRONG if ordered == odd + 1 else RIGHT

        result = session(Program(tmp_path, rule, FLAKY))
        assert (result.code, result.natural) == ((INCONCLUSIVE, False) if odd <= SURE else (RACE_FOUND, True)), odd


def test_ordered_runs_that_differ_from_each_other_accuse_nobody(tmp_path: Path) -> None:
    """The plain runs agree; where every kernel waits first, no two runs do."""
    ordered = iter(range(99))
    result = session(Program(tmp_path, lambda plan, _: f"other {next(ordered)}" if plan.triggers is not None else RIGHT))
    assert (result.code, result.natural) == (INCONCLUSIVE, False) and "not always in the same way" in result.sentence


def test_a_failure_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    seen = list[Plan]()

    def once(plan: Plan, _: bool) -> Answer:
        seen.append(plan)
        return WRONG if plan.hold and sum(bool(other.hold) for other in seen) == 1 else RIGHT

    result = session(Program(tmp_path, once))
    assert result.code == RACE_FOUND and result.failed_runs == 1 and result.failures == ["its output differs from the plain run's"]
    assert [race.dependents for race in result.races] == [KERNELS], "which of them it was is not known"


@pytest.mark.parametrize(("confirm", "named"), [(1, False), (2, False), (3, True)])
def test_each_question_of_the_bisection_is_asked_as_often_as_wanted(confirm: int, named: bool, tmp_path: Path) -> None:
    """With kernels protected the race shows in the third run of a plan only."""
    asked = Counter[tuple[frozenset[str], frozenset[str]]]()

    def rule(plan: Plan, alone: bool) -> Answer:
        asked[plan.hold, plan.protect] += 1
        shows = not plan.protect or asked[plan.hold, plan.protect] == 3
        return races(("a", "b"))(plan, alone) if shows else RIGHT

    assert (Race("a", ("b",)) in session(Program(tmp_path, rule), confirm=confirm).races) is named


def test_the_kind_of_a_race_is_told(tmp_path: Path) -> None:
    def by_itself(plan: Plan, _: bool) -> Answer:
        return WRONG if "a" in plan.hold and "b" not in plan.hold | plan.protect else RIGHT

    for rule, plain, own, kind in ((races(("a", "b")), (), False, "latent"), (races(("a", "b")), (), True, "relies on the trigger's place"),
                                   (by_itself, (), True, "race now"), (races(("a", "b")), FLAKY, True, "race now")):
        program = Program(tmp_path, rule, plain, a={"triggers": int(own)})
        assert list(session(program).labels.values()) == [kind]


def test_an_earlier_session_in_the_same_folder_adds_nothing(tmp_path: Path) -> None:
    session(Program(tmp_path, races(), kernels=("a", "b", "old"), old={"rewritten": False}))
    result = session(Program(tmp_path, races(), kernels=("a", "b")))
    assert result.order == ["a", "b"] and result.code == NOTHING_FOUND


def test_images_that_were_passed_on_are_named_once(tmp_path: Path) -> None:
    class Passing(Program):
        def rewritten(self, plan: Plan, records: Path | None = None, one_by_one: bool = False) -> Observed:
            if records:
                entries = [{"record": "passed", "image": name, "architecture": 90, "why": "odd"} for name in ("y", "x", "y")]
                records.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
            return super().rewritten(plan, records, one_by_one)

    assert session(Passing(tmp_path, races())).passed_on == ["x for sm_90: odd", "y for sm_90: odd"]


def test_the_codes_are_those_of_the_manual() -> None:
    assert (NOTHING_FOUND, RACE_FOUND, INCONCLUSIVE) == (0, 1, 2)


def test_every_kernel_is_held_by_some_plan_and_each_plan_is_run_as_often_as_asked(tmp_path: Path) -> None:
    held = Counter[str]()

    def rule(plan: Plan, _: bool) -> Answer:
        held.update(plan.hold)
        return RIGHT

    result = session(Program(tmp_path, rule), repeats=3, seeds=2)
    plans = 2 * (len(KERNELS) + 1)  # one kernel each, and all with delays of their own, for both seeds
    assert result.stressed_runs == 3 * plans and held == Counter(dict.fromkeys(KERNELS, 3 * 2 * 2))
    assert result.plain_s == 0.1 and result.runs == 3 + 1 + 1 + 3 * plans
    assert result.foreseen_s == pytest.approx(0.1 + max(result.holds_ns.values()) / 1e9), "rewriting alone, and one launch that is held"


def test_copies_that_waiting_settles_accuse_and_others_do_not(tmp_path: Path) -> None:
    """The plain runs differ in what they copy. Where every kernel waits, the copies are always the same, or they are not."""
    digests = Oracle(digests=True)
    settled = session(Program(tmp_path, lambda *_: RIGHT, ("1", "2", "3"), oracle=digests, stored=True))
    assert settled.natural and settled.code == RACE_FOUND and settled.copies == 1
    for odd in range(12):  # one ordered run that differs is enough to accuse nobody
        runs = 0

        def rule(plan: Plan, _: bool, odd: int = odd) -> Answer:
            nonlocal runs
            runs += plan.triggers is not None
            return "other" if plan.triggers is not None and runs == odd + 1 else RIGHT

        loose = session(Program(tmp_path, rule, ("1", "2", "3"), oracle=digests, stored=True))
        assert not loose.natural and loose.code == INCONCLUSIVE, odd


def ran(stdout: bytes = b"", code: int | None = 0, **files: bytes | None) -> Observed:
    return Observed(code, stdout, b"", 0.1, dict(files))


FILES, NEAR = Oracle(files=("f", "g")), Oracle(files=("f", "g"), tolerance=1e-3)
FLOATS, DOUBLES = (Oracle(files=("f",), tolerance=1e-3, dtype=dtype) for dtype in ("float32", "float64"))


def floats(*values: float) -> bytes:
    return array.array("f", values).tobytes()


@pytest.mark.parametrize(("oracle", "run", "plain", "right"), [
    (Oracle(), ran(), None, True), (Oracle(), ran(code=1), None, False), (Oracle(), ran(code=None), None, False),
    (Oracle(), ran(code=-6), ran(), False), (Oracle(), ran(code=None), ran(), False), (Oracle(), ran(code=3), ran(code=3), True),
    (Oracle(), ran(), ran(code=3), False), (Oracle(), ran(code=4), ran(code=3), False), (Oracle(), ran(b"x"), ran(b"y"), True),
    (Oracle(compare_stdout=True), ran(b"x"), ran(b"x"), True), (Oracle(compare_stdout=True), ran(b"x"), ran(), False),
    (Oracle(compare_stdout=True), ran(), ran(b"x"), False), (Oracle(compare_stdout=True), ran(b"xy"), ran(b"xz"), False),
    *((Oracle(expression=text), ran(code=1), None, text == "code") for text in ("code", "0", "None", "''", "nonsense", "1/0")),
    *((Oracle(check=f"sh -c 'exit {code}'"), ran(code=1), None, code == 0) for code in (0, 1, 2, 139)),
    (Oracle(check="sh -c 'kill -9 $$'"), ran(), None, False), (Oracle(check="sh -c 'exit 1'", expression="True"), ran(), ran(), False),
    (Oracle(check="true", expression="False"), ran(), ran(), False), (Oracle(check="true", compare_stdout=True), ran(b"x"), ran(), False),
    (FILES, ran(f=b"1", g=b"2"), ran(f=b"1", g=b"2"), True), (FILES, ran(f=b"1", g=b"2"), ran(f=b"1", g=b"3"), False),
    (FILES, ran(f=b"1", g=None), ran(f=b"1", g=b"2"), False), (FILES, ran(f=b"1", g=b"2"), ran(f=b"1", g=None), False),
    (FILES, ran(f=b"1", g=None), ran(f=b"1", g=None), True), (FILES, ran(f=b"1.0", g=b""), ran(f=b"1.00", g=b""), False),
    (NEAR, ran(f=b"1.0 2", g=b""), ran(f=b"1.0005 2", g=b""), True), (NEAR, ran(f=b"1.0 2", g=b""), ran(f=b"1.05 2", g=b""), False),
    (NEAR, ran(f=b"1 2", g=b""), ran(f=b"1 2 3", g=b""), False), (NEAR, ran(f=b"1 2", g=b""), ran(f=b"1 two", g=b""), False),
    (NEAR, ran(f=b"10", g=b""), ran(f=b"10.0105", g=b""), False), (NEAR, ran(f=b"0", g=b""), ran(f=b"0.0011", g=b""), False),
    (NEAR, ran(f=b"0", g=b""), ran(f=b"0.0009", g=b""), True),
    (NEAR, ran(f=b"1000", g=b""), ran(f=b"1000.9", g=b""), True), (NEAR, ran(f=b"1 nan", g=b""), ran(f=b"1 2", g=b""), False),
    (NEAR, ran(f=b"1 2", g=b""), ran(f=b"1 nan", g=b""), False), (NEAR, ran(f=b"NaN", g=b""), ran(f=b"nan", g=b""), True),
    (FLOATS, ran(f=floats(1, 2)), ran(f=floats(1, 2.001)), True), (FLOATS, ran(f=floats(1, 2)), ran(f=floats(1, 3)), False),
    (FLOATS, ran(f=floats(1, 2)), ran(f=floats(1, 2, 3)), False), (FLOATS, ran(f=floats(1, 2)), ran(f=floats(1)), False),
    (FLOATS, ran(f=b"123456"), ran(f=b"123457"), False), (DOUBLES, ran(f=floats(1, 2)), ran(f=floats(1, 3)), False),
])
def test_a_run_is_right_or_wrong(oracle: Oracle, run: Observed, plain: Observed | None, right: bool, tmp_path: Path) -> None:
    assert (oracle.complaint(run, plain, tmp_path, dict(os.environ)) is None) is right


def test_nothing_printed_judges_nothing() -> None:
    assert not Oracle(compare_stdout=True).judges(None, Counter()) and not Oracle(compare_stdout=True).judges(ran(), Counter())
    copies = Counter([Copy(4, ("x",) * 16)])
    assert Oracle(digests=True).judges(ran(), copies) and not Oracle().judges(ran(), copies)


# Plans ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "flags"), [
    ({}, (TRIGGER | HOLD, TRIGGER | PROTECT, 0, TRIGGER)), ({"own": True}, (AFTER_TRIGGER, PROTECT, 0, 0)), ({"plain": True}, (0, 0, 0, 0)),
    ({"off": True}, (EMPTY, EMPTY, 0, EMPTY)), ({"triggers": frozenset()}, (TRIGGER | HOLD, PROTECT, 0, 0)),
    ({"triggers": frozenset("d")}, (TRIGGER | HOLD, PROTECT, 0, TRIGGER)),
    ({"mixed": True}, (TRIGGER | HOLD, TRIGGER | PROTECT, 0, TRIGGER)),
])
def test_each_kernel_gets_what_its_plan_says(more: dict[str, Any], flags: tuple[int, ...], tmp_path: Path) -> None:
    plan = Plan(1, hold=frozenset("a"), protect=frozenset("b"), exempt=frozenset("c"), lengths={"a": 1000}, **more)
    assert tuple(plan.settings(name).flags for name in "abcd") == flags
    held = plan.settings("a")
    if held.flags & HOLD:
        assert (held.least_ns, held.span_ns) == ((0, 1000) if plan.mixed else (750, 250))
    plan.write(tmp_path / "plan", "ab")
    default = EMPTY if plan.off else 0 if plan.own or plan.plain else TRIGGER
    assert (tmp_path / "plan").read_text().splitlines()[0] == f"* {default} 0 0 1"


# `stress same` --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("found", "code"), [
    ({}, 0), ({"different": ["1 is not 2"]}, 1), ({"errors": ["rewritten: exit code 1"]}, 2), ({"kernels": 0}, 2), ({"lines": 0}, 2),
    ({"different": ["1 is not 2"], "errors": ["plain: exit code 1"], "kernels": 0}, 1), ({"not_rewritten": 3, "left": {"k": "why"}}, 0),
])
def test_the_same_is_the_same_if_something_was_compared(found: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    said = same_command.Same(**{"kernels": 2, "lines": 9, **found})
    monkeypatch.setattr(same_command, "compare", lambda *_: said)
    assert same_command.main(["--", "true"]) == same_command.main(["--json", "--", "true"]) == code
    assert all(text in capsys.readouterr().err for text in found.get("different", []))


@pytest.mark.parametrize(("shards", "different", "errors"), [
    ([(["a"], ["a"], [])] * 2, 0, 0), ([(["a"], ["a"], []), (["a", "b"], ["a", "c"], [])], 1, 0),
    ([(["a"], ["x"], []), (["a"], ["a"], [])], 1, 0),
    ([(["a"], [], [])], 1, 0), ([(["a"], ["a", "b"], [])], 1, 0), ([(["a"], ["a"], ["odd"]), (["a"], ["a"], ["odd", "more"])], 0, 3),
])
def test_every_line_of_every_part_is_compared(shards: list[tuple[list[str], list[str], list[str]]], different: int, errors: int,
                                              tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def shard(words: list[str], _folder: Path, _timeout: float) -> tuple[list[str], list[str], list[str], Path]:
        asked.append(words)
        return (*shards[int(words[1])], tmp_path / words[1])

    monkeypatch.setattr(same_command, "_shard", shard)
    for number in range(len(shards)):
        (tmp_path / str(number)).mkdir()
        lines = [{"record": "kernel", "name": f"k{number}", "rewritten": True}, {"record": "kernel", "name": "left", "rewritten": False}]
        (tmp_path / str(number) / "records.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = same_command.compare(["x", "{shard}", "{shards}"], len(shards), tmp_path, 1.0)
    assert sorted(asked) == [["x", str(number), str(len(shards))] for number in range(len(shards))]
    assert (len(found.different), len(found.errors), found.kernels, found.not_rewritten) == (different, errors, len(shards), 1)
    assert found.lines == sum(len(plain) for plain, _, _ in shards)


@pytest.mark.parametrize(("ended", "lines", "why"), [
    ((None, b"a\n", b"late"), [], "it did not end in time"), ((0, b"a\nb\n", b"noise\n"), ["a", "b"], None),
    ((3, b"a\n", b"one\ntwo\n"), ["a"], "exit code 3: two"), ((-9, b"", b""), [], "exit code -9: ")])
def test_how_each_side_ended_is_told(ended: tuple[int | None, bytes, bytes], lines: list[str], why: str | None, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_command, "ended", lambda *_: ended)
    assert same_command._run(["x"], {}, 1.0) == (lines, why)
    asked = list[dict[str, str]]()

    def ran(command: list[str], environment: dict[str, str], timeout: float) -> tuple[list[str], str | None]:
        asked.append(environment)
        return [str(len(asked))], why and f"{why} {len(asked)}"

    monkeypatch.setattr(same_command, "_run", ran)
    monkeypatch.setattr(library, "environment", lambda eager_loading: {"WITH": "1"})
    monkeypatch.setattr(library, "plain_environment", lambda: {"WITH": "0"})
    plain, other, errors, folder = same_command._shard(["x"], tmp_path / "shard", 1.0)
    assert (plain, other, folder) == (["1"], ["2"], tmp_path / "shard")
    assert errors == ([f"plain: {why} 1", f"rewritten: {why} 2"] if why else [])
    assert [one["WITH"] for one in asked] == ["0", "1"] and asked[1]["PDL_STRESS_RECORDS"] == str(folder / "records.jsonl")
    expected = tmp_path / "expected"
    Plan(calibrate=True).write(expected, ())
    assert Path(asked[1]["PDL_STRESS_PLAN"]).read_text() == expected.read_text()
