"""What the sweep and the table of broken devices call a problem, without running the model."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance.model import devices, on_model, sweep
from conformance.model.on_model import Device
from conformance.pdlkit import places
from conformance.pdlkit.exits import FAILED, OK, InvalidRun
from conformance.pdlkit.rules import Case, RuleBook, load
from conformance.pdlkit.verdicts import CaseResult

BOOK = load(places.RULES)
CASE = next(case for case in on_model.capable(BOOK) if case.kind == "visibility" and not case.allowed and not case.serial)


def small_book(*rules: str) -> RuleBook:
    """The project's book with these rules only."""
    return dataclasses.replace(BOOK, rules=tuple(rule for rule in BOOK.rules if rule.id in rules))


def test_the_model_can_run_what_is_not_for_a_gpu_only() -> None:
    names = {case.name for case in on_model.capable(BOOK)}
    assert names and all((case.name in names) != case.gpu_only for case in BOOK.cases)


@pytest.mark.parametrize(("allowed", "serial", "outcomes", "problems"), [
    ((), None, {"overlap": 1}, 0),
    ((), None, {"fresh": 9}, 1),
    (("wrong",), None, {"overlap": 1}, 1),
    (("wrong",), None, {"overlap": 1, "torn": 1}, 0),
    (("wrong", "early_start"), None, {"overlap": 1, "torn": 1}, 1),
    ((), "in order", {"fresh": 9}, 0),
    ((), "in order", {"overlap": 1}, 1),
    (("wrong",), "in order", {"stale": 1}, 1),
])
def test_what_has_to_be_reached(allowed: tuple[str, ...], serial: str | None, outcomes: dict[str, int], problems: int) -> None:
    case = dataclasses.replace(CASE, allowed=allowed, serial=serial)
    assert len(sweep.reach_problems(case, Counter(outcomes))) == problems


@pytest.mark.parametrize(("window", "seeds", "problems"), [
    ("widened", 1, 1), ("widened", sweep.RARE_SEEDS, 1), ("natural", sweep.RARE_SEEDS - 1, 0), ("natural", sweep.RARE_SEEDS, 1),
])
def test_only_few_seeds_of_a_natural_window_need_not_show_everything(
    window: str, seeds: int, problems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = dataclasses.replace(CASE, window=window)
    monkeypatch.setattr(on_model, "capable", lambda book: [case])
    monkeypatch.setattr(on_model, "run_family", lambda *asked: [CaseResult(case, "PASS", None)])
    seen = sweep.sweep_conforming(Path(), BOOK, range(seeds), lambda text: None)
    assert seen.problems == [f"{case.name}: overlap was never reached"] * problems and seen.statuses == {"PASS": seeds}


def test_each_family_is_asked_with_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, str, int, str]]()

    def run(harness: Path, book: RuleBook, device: Device, profile: str, seed: int, cases: list[Case]) -> list[CaseResult]:
        asked.append((device.name, profile, seed, cases[0].family))
        return []

    monkeypatch.setattr(on_model, "run_family", run)
    book = small_book(CASE.rule)
    families = on_model.by_family(on_model.capable(book))
    sweep.sweep_conforming(Path("harness"), book, range(3, 5), print)
    assert sorted(asked) == sorted(("", sweep.PROFILE, seed, family) for seed in (3, 4) for family in families)


@pytest.mark.parametrize(("proving", "status", "problems"), [
    (True, "PASS", 0), (True, "INCONCLUSIVE", 1), (False, "INCONCLUSIVE", 0), (False, "FAIL", 1), (True, "HANG", 1),
    (False, "KIT_ERROR", 1), (False, "NOT_SUPPORTED", 1), (True, "CRASH", 1), (False, "NOT_RUN", 1),
])
def test_which_verdicts_are_problems(proving: bool, status: str, problems: int) -> None:
    seen = sweep.Seen()
    seen.add(1, CaseResult(dataclasses.replace(CASE, proving=proving), status, None))
    assert len(seen.problems) == problems


def test_what_all_seeds_showed_is_added_up() -> None:
    seen = sweep.Seen()
    told = {"mutant": "KILLED", "control": "KILLED", "broken_wait": "SURVIVED"}
    variants = tuple({"kind": kind, "status": status} for kind, status in told.items())
    for _ in range(2):
        seen.add(1, CaseResult(CASE, "PASS", None, {"outcomes": {"fresh": 3, "overlap": 1}}, variants))
    assert seen.outcomes == {CASE.name: {"fresh": 6, "overlap": 2}} and seen.mutants == {"KILLED": 4} and seen.statuses == {"PASS": 2}


FAKE = '''#!{python}
import json, sys
def say(**record): print(json.dumps(record))
cases = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--case"] or {names!r}
say(record="start")
for name in cases:
    say(record="begin", case=name)
    status = "HANG" if name == {hung!r} else "NOT_SUPPORTED"
    say(record="case", case=name, status=status, reason="base")
    say(record="end", case=name)
    if status == "HANG":
        sys.exit(1)
print({more!r}, end="")
if {closes!r}:
    say(record="done")
sys.exit({code})
'''


def run_fake(folder: Path, cases: list[Case], hung: str = "", closes: bool = True, code: int = 0, more: str = "") -> list[str]:
    """The verdicts of a harness that calls one case a HANG, does not support the others, says this and ends with this code."""
    harness = folder / "harness"
    names = [case.name for case in cases]
    harness.write_text(FAKE.format(python=sys.executable, names=names, hung=hung, closes=closes, code=code, more=more))
    harness.chmod(0o755)
    return [r.status for r in on_model.run_family(harness, BOOK, on_model.CONFORMING, "smoke", 1, cases)]


def family() -> list[Case]:
    return [case for case in on_model.capable(BOOK) if case.family == CASE.family][:4]


def test_another_process_goes_on_behind_a_hang(tmp_path: Path) -> None:
    cases = family()
    assert run_fake(tmp_path, cases, cases[1].name) == ["NOT_SUPPORTED", "HANG", "NOT_SUPPORTED", "NOT_SUPPORTED"]


def test_a_process_that_does_not_close_is_the_kit_s_error(tmp_path: Path) -> None:
    assert run_fake(tmp_path, family(), closes=False)[-1] == "KIT_ERROR"


def test_what_a_process_says_outside_of_its_cases_is_held_against_the_last(tmp_path: Path) -> None:
    assert run_fake(tmp_path, family(), more="no record\n") == [*["NOT_SUPPORTED"] * 3, "KIT_ERROR"]


def test_a_process_that_ends_with_an_error_is_the_kit_s_error(tmp_path: Path) -> None:
    assert run_fake(tmp_path, family(), code=70)[-1] == "KIT_ERROR"
    assert run_fake(tmp_path, family()[:1], code=77) == ["NOT_SUPPORTED"], "of one case the code is its verdict's"


@pytest.mark.parametrize(("proving", "status", "caught"), [
    (True, "FAIL", True), (True, "HANG", True), (False, "FAIL", True), (False, "CRASH", True), (True, "CRASH", True), (True, "PASS", False),
    (True, "INCONCLUSIVE", False), (True, "KIT_ERROR", False), (True, "NOT_RUN", False), (True, "NOT_SUPPORTED", False),
])
def test_only_what_its_own_rule_calls_wrong_catches_a_device(
    proving: bool, status: str, caught: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is merely not proven escapes."""
    monkeypatch.setattr(on_model, "run_family", lambda harness, book, device, profile, seed, cases: [
        CaseResult(dataclasses.replace(case, proving=proving), status, None) for case in cases])
    why = sweep.escapes(Path(), BOOK, Device("sleepy", "WAIT-01", False), 1)
    assert (why is None) == caught and (caught or str(why).startswith("model:sleepy, seed 1: WAIT-01 is "))


@pytest.mark.parametrize("through_run", [False, True])
def test_each_device_is_asked_with_each_seed_and_its_problem_told_once(through_run: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [Device("sleepy", "WAIT-01", False), Device("other", "WAIT-02", False)]
    monkeypatch.setattr(sweep, "escapes_run", lambda harness, device, seed: f"run {device.name} {seed}")
    monkeypatch.setattr(sweep, "escapes", lambda harness, book, device, seed: None if seed == 4 else device.name)
    said = sweep.sweep_devices(Path(), BOOK, broken, range(3, 6), through_run, print)
    every = [f"run {device.name} {seed}" for device in broken for seed in (3, 4, 5)]
    assert said == (every if through_run else ["sleepy", "other"])


def test_a_device_without_a_case_escapes() -> None:
    rule = next(rule.id for rule in BOOK.rules if rule.untestable)
    assert "no case that the model can run" in str(sweep.escapes(Path(), BOOK, Device("sleepy", rule, False), 1))


@pytest.mark.parametrize("code", [0, 1, 2, 70, 77])
def test_a_run_catches_a_device_if_it_says_that_the_device_violates_a_rule(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda argv, **_: subprocess.CompletedProcess(argv, code))
    why = sweep.escapes_run(Path("harness"), Device("sleepy", "WAIT-01", False), 10)
    assert why == (None if code == 1 else f"model:sleepy, seed a: `run --only WAIT-01` exits with {code}")


def list_fake(folder: Path, *names: str) -> list[str]:
    """The devices that a harness with these lists."""
    harness = folder / "harness"
    record = {"record": "device", "rule": "ATTR-01", "conforming": False}
    harness.write_text(f"#!{sys.executable}\nimport json\nfor name in {names!r}: print(json.dumps({record!r} | {{'name': name}}))\n")
    harness.chmod(0o755)
    return [device.name for device in on_model.devices(harness)]


@pytest.mark.parametrize("words", [[], ["--seeds", "0"], ["--device-seeds", "0"], ["--seeds", "3", "--device-seeds", "2", "--first", "a"]])
@pytest.mark.parametrize(("wrong", "escaped"), [([], []), (["a case"], []), ([], ["a device"]), (["a case"] * 30, ["a device"] * 30)])
def test_a_problem_of_either_part_decides(
        wrong: list[str], escaped: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = dict[str, range]()
    kept, said, record = list[object](), list[str](), tmp_path / "record"

    def conforming(_harness: Path, _book: RuleBook, seeds: range, _say: object) -> sweep.Seen:
        asked["conforming"] = seeds
        return sweep.Seen(Counter(PASS=9), problems=wrong)

    def broken(_harness: Path, _book: RuleBook, _broken: list[Device], seeds: range, _through: bool, _say: object) -> list[str]:
        asked["broken"] = seeds
        return escaped

    for name, stand_in in (("sweep_conforming", conforming), ("sweep_devices", broken), ("conforming_part", lambda *_: {}),
                           ("broken_part", lambda *_: {}), ("_broken", lambda *_: []), ("keep", lambda *parts: kept.append(parts))):
        monkeypatch.setattr(sweep, name, stand_in)
    monkeypatch.setattr(on_model, "harness_at", lambda _: tmp_path)
    code = sweep.sweep(sweep.parser().parse_args([*words, "--record", str(record)]), said.append)
    seeds = {"": (range(1, 1001), range(1, 51)), "0": (range(0), range(1, 51)), "3": (range(10, 13), range(10, 12))}
    first, second = (range(1, 1001), range(0)) if words[:1] == ["--device-seeds"] else seeds[words[1] if words else ""]
    assert asked == {name: part for name, part in (("conforming", first), ("broken", second)) if part}
    problems = (wrong if first else []) + (escaped if second else [])
    assert code == (FAILED if problems else OK) and bool(kept) == (not problems)
    told = [line for line in said if line in ("a case", "a device")]
    assert told == problems[:sweep.SHOWN] and ("and 20 more" in said) == (len(problems) == 60)


def test_no_two_devices_have_one_name(tmp_path: Path) -> None:
    assert list_fake(tmp_path, "one", "other") == ["one", "other"]
    with pytest.raises(InvalidRun, match="alike.*: one$"):
        list_fake(tmp_path, "one", "other", "one")


def test_the_table_says_who_notices_and_why_nobody_does() -> None:
    book = small_book("WAIT-01", "ATTR-01", "WAIT-02")
    broken = [Device("sleepy", "WAIT-01", False, "never wakes"), Device("other", "ATTR-05", False, "x")]
    found = {"WAIT-01": {"sleepy": ["store"], "other": ["overwrite"]}}
    rows = devices.page(book, broken, found).splitlines()
    assert "| sleepy | WAIT-01 | never wakes |" in rows
    assert "| WAIT-01 | documented | **sleepy**, other | WAIT-01.store, WAIT-01.overwrite |" in rows
    assert any(row.startswith("| ATTR-01 | documented | sizes and ids") and row.endswith("| - |") for row in rows)
    assert any(row.startswith("| WAIT-02 | documented | no case: ") for row in rows)


def test_a_rule_without_a_device_or_a_reason_is_a_problem() -> None:
    broken = [Device("sleepy", "WAIT-01", False)]
    hit = {"WAIT-01": {"sleepy": ["store"]}}
    assert not devices.problems(small_book("WAIT-01", "ATTR-01"), broken, hit)
    assert len(devices.problems(small_book("WAIT-01"), broken, {})) == 2  # the rule, and the device that escapes it
    assert len(devices.problems(small_book("WAIT-01"), [Device("sleepy", "ATTR-03", False)], hit)) == 1  # noticed, not by its own rule
    stale = {**hit, "ATTR-01": {"sleepy": ["layout"]}}
    assert len(devices.problems(small_book("WAIT-01", "ATTR-01"), broken, stale)) == 1


def test_only_a_rule_whose_cases_are_all_for_a_gpu_needs_no_device() -> None:
    rule = next(rule for rule in BOOK.rules if rule.id == "WAIT-01")
    on_gpu = [tuple(dataclasses.replace(case, gpu_only=place < most) for place, case in enumerate(rule.cases))
              for most in (0, 1, len(rule.cases) - 1, len(rule.cases))]
    said = [devices.reason(dataclasses.replace(rule, cases=cases)) for cases in on_gpu]
    assert said == [None, None, None, "its kernels exist on a GPU only"]


@pytest.mark.parametrize(("rule_class", "kind", "allowed", "needs_none"), [
    ("measured", "api", ("", ""), True), ("measured", "visibility", ("wrong", "wrong"), True),
    ("measured", "visibility", ("wrong", ""), False), ("documented", "api", ("", ""), False),
    ("documented", "visibility", ("wrong", "wrong"), False),
])
def test_what_is_only_measured_needs_no_device(rule_class: str, kind: str, allowed: tuple[str, str], needs_none: bool) -> None:
    rule = next(rule for rule in BOOK.rules if rule.id == "WAIT-01")
    cases = tuple(dataclasses.replace(case, allowed=(word,) if word else (), gpu_only=False) for case, word in
                  zip(rule.cases[:2], allowed, strict=True))
    beyond = dataclasses.replace(rule.cases[0], allowed=(), gpu_only=True)
    said = devices.reason(dataclasses.replace(rule, rule_class=rule_class, kind=kind, cases=(*cases, beyond)))
    assert (said == "measured: it calls no answer wrong") == needs_none and (said is None) != needs_none


@pytest.mark.parametrize("sample", [[], ["--sample", "2"]])
def test_a_page_that_says_something_else_is_stale(sample: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book, broken = small_book("WAIT-01"), [Device("sleepy", "WAIT-01", False, "never wakes")]
    found = {"WAIT-01": {"sleepy": ["store"]}}
    monkeypatch.setattr(on_model, "load_book", lambda: book)
    monkeypatch.setattr(on_model, "devices", lambda harness: broken)
    monkeypatch.setattr(devices, "notice", lambda harness, book, jobs: found)
    monkeypatch.setattr(devices, "TABLE", tmp_path / "devices.md")
    argv = ["--harness", sys.executable, "--check", *sample]
    text = devices.page(book, broken, found)
    devices.TABLE.write_text(text)
    assert devices.main(argv) == 0
    devices.TABLE.write_text(text.replace("never wakes", "wakes"))
    assert devices.main(argv) == 1


@pytest.mark.parametrize(("sample", "every"), [([], 1), (["--sample", "1"], 1), (["--sample", "20"], 20)])
def test_a_sample_is_one_of_so_many_runs(sample: list[str], every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def jobs(_book: RuleBook, _broken: list[Device], number: int) -> list[devices.Job]:
        asked.append(number)
        return []

    monkeypatch.setattr(on_model, "load_book", small_book)
    monkeypatch.setattr(on_model, "devices", lambda harness: [])
    monkeypatch.setattr(devices, "all_jobs", jobs)
    monkeypatch.setattr(devices, "notice", lambda harness, book, jobs: {})
    monkeypatch.setattr(devices, "TABLE", tmp_path / "devices.md")
    devices.main(["--harness", sys.executable, "--check", *sample])
    assert asked == [every]


def test_a_sample_compares_what_it_ran_with_what_the_page_says() -> None:
    one = devices.GENERAL[0]
    broken = [Device(one, "WAIT-01", False), Device("two", "ATTR-03", False)]
    found = {"WAIT-01": {one: ["store"]}, "ATTR-03": {"two": ["plain"]}}
    said = devices.stated(devices.page(BOOK, broken, found), broken)
    assert said == found
    jobs = devices.all_jobs(BOOK, broken)
    assert devices.disagreements(BOOK, jobs, found, said) == []
    assert devices.disagreements(BOOK, jobs, {"ATTR-03": {"two": ["plain"]}}, said) == [
        f"the table says that {one} violates WAIT-01, and no case of it notices"]
    more = {**found, "WAIT-05": {one: ["rewait"]}}
    assert devices.disagreements(BOOK, jobs, more, said) == [f"WAIT-05.rewait notices {one}, and the table does not say so"]
    others = [job for job in jobs if job[1][0].family != "launch" and job[1][0].family != "wait"]
    assert others and devices.disagreements(BOOK, others, {}, said) == [], "what did not run says nothing"
    both = {"COMP-04": {one: ["fan_in"]}}
    edges = [job for job in jobs if job[1][0].family == "edge"]
    assert edges and devices.disagreements(BOOK, edges, {}, both) == [], "nor do its cases in one family, if others have the same pair"


def test_general_devices_run_everything_and_all_others_their_own_rule() -> None:
    every = on_model.capable(BOOK)
    many = [Device(name, "WAIT-01", False) for name in ("one", "two", devices.GENERAL[0])]
    jobs = devices.all_jobs(BOOK, many)
    ran = {device.name: [case for one, cases in jobs if one is device for case in cases] for device in many}
    own = [case for case in every if case.rule == "WAIT-01"]
    assert ran["one"] == ran["two"] == own
    assert sorted(case.name for case in ran[devices.GENERAL[0]]) == sorted(case.name for case in [*own, *every])
    assert devices.all_jobs(BOOK, many, 3) == jobs[::3]
