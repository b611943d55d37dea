"""What `run` decides before and after its children: the plan, the verdict, what an earlier part adds. No process is started."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import json
import signal
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import evidence, machine, many_gpus, places, resume, run, soak, waivers
from conformance.pdlkit.build import Built
from conformance.pdlkit.device_choice import Choice
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.records import CaseLog
from conformance.pdlkit.report import identified
from conformance.pdlkit.rules import load
from conformance.pdlkit.supervise import Outcome, Plan
from conformance.pdlkit.tests.test_verdicts import case, log, record, variant
from conformance.pdlkit.verdicts import CaseResult

BOOK = load(places.RULES)
PROVEN, FAILED = CaseResult(case(), "PASS", None), CaseResult(case(rule="MEM-01"), "FAIL", "x")
FINDING, CRASHED = CaseResult(case("measured", False), "FAIL", "odd"), CaseResult(case(rule="MEM-02"), "CRASH", "x")
GPU, BROKEN, ABSENT = Choice("cuda:0"), Choice("cuda:0", broken="it is sick"), Choice("cuda:0", absent="there is none")
WAIVED = dataclasses.replace(waivers.NOTHING, rules=("MEM-01",), crashes=("MEM-02",))


@pytest.mark.parametrize(("results", "more", "verdict"), [
    ([PROVEN], {}, "CONFORMS"), ([PROVEN, FAILED], {}, "VIOLATES"), ([PROVEN, CRASHED], {}, "UNPROVEN"),
    ([PROVEN], {"problems": ["odd"]}, "INVALID"), ([PROVEN, FAILED], {"problems": ["odd"]}, "INVALID"),
    ([PROVEN], {"interposed": {"LD_PRELOAD": "x.so"}}, "UNPROVEN"), ([PROVEN, FAILED], {"interposed": {"LD_PRELOAD": "x.so"}}, "VIOLATES"),
    ([PROVEN], {"choice": BROKEN}, "INVALID"), ([PROVEN], {"choice": ABSENT}, "NOT_APPLICABLE"),
    *(([PROVEN], {"plant": plant}, "INVALID") for plant in ("hang", "crash", "no-record", "broken-wait", "broken-wait:500")),
    ([PROVEN, FAILED], {"plant": "broken-wait"}, "VIOLATES"), ([PROVEN, CRASHED], {"plant": "crash"}, "UNPROVEN"),
    ([PROVEN, FAILED], {"applied": WAIVED}, "CONFORMS"), ([PROVEN, CRASHED], {"applied": WAIVED}, "CONFORMS"),
    ([PROVEN, FAILED], {"applied": WAIVED, "plant": "broken-wait"}, "INVALID"), ([PROVEN, FINDING], {}, "CONFORMS"),
])
def test_the_verdict_of_a_run(results: list[CaseResult], more: dict[str, Any], verdict: str) -> None:
    given = {"choice": GPU, "interposed": {}, "plant": None, "applied": waivers.NOTHING, "problems": [], **more}
    outcome = Outcome(problems=given.pop("problems"))
    said = run._verdict(results, outcome, **given)
    assert said.verdict == verdict and bool(said.reasons) == (verdict != "CONFORMS")
    assert bool(said.findings) == (FINDING in results)


def test_a_device_that_cannot_be_used_ran_nothing_and_one_that_is_not_there_supports_nothing() -> None:
    cases = list(BOOK.cases[:3])
    for choice, status, reason in ((BROKEN, "NOT_RUN", "it is sick"), (ABSENT, "NOT_SUPPORTED", "there is none")):
        assert [(r.case, r.status, r.reason) for r in run._nothing_ran(cases, choice)] == [(one, status, reason) for one in cases]


def test_on_the_model_only_what_was_not_run_there_is_not_supported() -> None:
    only, other = (next(one for one in BOOK.cases if one.gpu_only is gpu_only) for gpu_only in (True, False))
    began = {one.name: CaseLog(one.name, began=True) for one in (only, other)}
    for logs, on_model, statuses in (({}, True, ["NOT_SUPPORTED", "NOT_RUN"]), ({}, False, ["NOT_RUN"] * 2), (began, True, ["CRASH"] * 2)):
        assert [result.status for result in run._judge(BOOK, [only, other], logs, on_model)] == statuses


@pytest.mark.parametrize(("device", "only", "plant"), [("cuda:1", [], None), ("model", ["WAIT-*"], "hang"), ("model:shared", ["x"], None)])
def test_the_plan_is_what_was_asked_for(device: str, only: list[str], plant: str | None) -> None:
    options = argparse.Namespace(profile="full", only=only, plant=plant)
    cases = list(BOOK.cases)
    plan = run._plan(options, Choice(device), Built(Path("h"), None, {}), BOOK, cases, 5)
    assert (plan.harness, plan.device, plan.profile, plan.seed, plan.rules_hash) == (Path("h"), device, "full", 5, BOOK.digest)
    assert (plan.subset, plan.plant) == (bool(only), plant)
    assert {name for names in plan.families.values() for name in names} == {one.name for one in cases}
    assert all(BOOK.case(name).family == family for family, names in plan.families.items() for name in names)  # type: ignore[union-attr]
    assert plan.parallel <= (1 if device.startswith("cuda") else 2), "one process at a time on a GPU: what it measures is its own"


def _start(**more: Any) -> dict[str, Any]:
    return {"profile": "quick", "seed": f"{5:016x}", "rules_hash": "r", "device": {"name": "G"}, "driver": 1, "runtime": 2, **more}


@pytest.mark.parametrize(("earlier", "later", "problems"), [
    (_start(), _start(), 0), (_start(seed="0" * 16), _start(), 1), (_start(profile="full"), _start(), 1),
    (_start(rules_hash="o"), _start(), 1),
    (_start(), _start(device={"name": "H"}), 1), (_start(), _start(driver=3), 1), (_start(), _start(runtime=3), 1),
    (_start(driver=3), None, 0), (None, _start(), 0), (_start(seed="0" * 16), None, 1),
])
def test_both_parts_of_a_resumed_run_count(earlier: dict[str, Any] | None, later: dict[str, Any] | None, problems: int) -> None:
    plan = Plan(Path("h"), "cuda", "quick", 5, {}, False, rules_hash="r")
    first = Outcome({"a": CaseLog("a"), "b": CaseLog("b")}, earlier, ["first"], [{"family": "a"}])
    second = Outcome({"b": CaseLog("b", began=True)}, later, ["second"], [{"family": "b"}])
    both = run._with_earlier(second, first, plan)
    assert both.problems[0] == "first" and both.problems[-1] == "second" and len(both.problems) == 2 + problems
    assert [one["family"] for one in both.processes] == ["a", "b"] and both.start == (later or earlier)
    assert set(both.logs) == {"a", "b"} and both.logs["b"].began


def test_an_interrupted_run_is_taken_over_whole(tmp_path: Path) -> None:
    (tmp_path / "harness").write_bytes(b"x")
    identity = resume.Identity("model", "full", "5eed", ["WAIT-*"], "hang")
    resume.begin(tmp_path, identity, tmp_path / "harness")
    nothing: dict[str, Any] = {"device": None, "profile": None, "seed": None, "only": [], "plant": None, "output": None}
    options = argparse.Namespace(resume=tmp_path, **nothing)
    run._go_on(options)
    assert vars(options) == {"resume": tmp_path, "output": tmp_path, "device": "model", "profile": "full", "seed": "5eed",
                             "only": ["WAIT-*"], "plant": "hang"}
    other = {"device": "cuda", "profile": "quick", "seed": "1", "only": ["MEM-*"], "plant": "crash", "output": Path("o")}
    for name, value in other.items():
        with pytest.raises(BadArguments, match=f"leave out --{name}"):
            run._go_on(argparse.Namespace(resume=tmp_path, **{**nothing, name: value}))
    run._go_on(argparse.Namespace(resume=tmp_path, **{**nothing, "device": "model", "profile": "full"}))  # the same is no choice of its own


@pytest.mark.parametrize(("choice", "resumed", "several"), [
    (Choice("cuda"), None, True), (Choice("cuda:0"), None, False), (Choice("model"), None, False), (Choice("cuda"), Path("d"), False),
    (Choice("cuda", broken="sick"), None, False), (Choice("cuda", absent="none"), None, False),
])
def test_all_gpus_are_judged_unless_one_is_named(choice: Choice, resumed: Path | None, several: bool,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ask_driver", lambda: argparse.Namespace(gpus=[1, 2]))
    monkeypatch.setattr(many_gpus, "workers", lambda count: ["w"] * count)
    assert len(run._gpus(argparse.Namespace(resume=resumed), choice)) == (2 if several else 0)


def test_cases_are_chosen_by_any_pattern_and_each_pattern_has_to_match() -> None:
    everything = list(BOOK.cases)
    assert run.select(BOOK, []) == everything
    one, rule = everything[0], everything[-1].rule
    assert run.select(BOOK, [one.name, rule.lower()]) == [c for c in everything if c == one or c.rule == rule]
    for patterns in (["NO-SUCH"], [one.name, "NO-SUCH"], ["NO-SUCH", one.name]):
        with pytest.raises(BadArguments, match="NO-SUCH"):
            run.select(BOOK, patterns)


def test_the_report_says_what_the_exit_code_says(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    facts: Any = argparse.Namespace(evidence={}, verdict=None)
    for code in (0, 1, 2, 70, 77):
        monkeypatch.setattr(run, "build_report", lambda _, code=code: {"exit": code, "run": {}})
        monkeypatch.setattr(run, "inconsistencies", lambda _: [])
        assert run._finish(facts, tmp_path, argparse.Namespace(json=True), None) == code
        told = json.loads((tmp_path / "report.json").read_text())
        assert told == json.loads(capsys.readouterr().out) == identified(told) and (told["exit"], told["static_check"]) == (code, None)


def test_a_broken_wait_that_was_not_run_passes_on_the_model_only() -> None:
    one = next(case for case in BOOK.cases if case.broken_waits and not case.gpu_only)
    planted = [variant(tag, kind=kind) for kind, tags in (("mutant", one.mutants), ("control", one.controls)) for tag in tags]
    said = log(record(), *planted, variant("early-8000", "NOT_APPLICABLE", "broken_wait"))
    judged = [run._judge(BOOK, [one], {one.name: said}, on_model)[0] for on_model in (True, False)]
    assert [result.status for result in judged] == ["PASS", "KIT_ERROR"], judged


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_a_run_the_second_ends_it_and_then_all_is_as_before(number: signal.Signals) -> None:
    outcome = Outcome()
    supervisor: Any = SimpleNamespace(outcome=outcome, stop=lambda: setattr(outcome, "interrupted", True))
    before = signal.getsignal(number)
    with run._stopping(supervisor):
        signal.raise_signal(number)
        assert outcome.interrupted
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("on_model", [False, True])
def test_what_the_children_said_reaches_the_report_whole(on_model: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A problem, an interposer, a waiver or a plant that got lost on the way could turn a red run green."""
    failed = next(case for case in BOOK.cases if case.rule == "MEM-01" and case.proving)
    outcome = Outcome({failed.name: log(record("FAIL", poison=9))}, _start(), ["odd"], [{"family": "a"}])
    gathered = list[object]()
    monkeypatch.setattr(run, "_execute", lambda *_: (outcome, 2.5))
    monkeypatch.setattr(run, "MachineCode", lambda harness: f"the code of {harness}")
    monkeypatch.setattr(machine, "interposers", lambda: {"LD_PRELOAD": "x.so"})
    monkeypatch.setattr(machine, "driver_version", lambda: "580.1")
    monkeypatch.setattr(machine, "kernel_module", lambda: "open")
    monkeypatch.setattr(evidence, "gather", lambda results, *given: gathered.append((len(results), *given)))
    waiver = waivers.Waiver("MEM-01", "G", waivers.DriverRange.read("580.1"), "known", date.max)
    options = argparse.Namespace(profile="quick", only=["MEM-01"], plant="crash", waivers=[waiver])
    choice, built = Choice("model" if on_model else "cuda:0"), Built(Path("h"), None, {"nvcc": "13"})
    facts = run._facts(options, ["run"], BOOK, [failed], 5, choice, built, tmp_path, "then")
    code, driver = (None, {}) if on_model else ("the code of h", {"version": "580.1", "kernel_module": "open"})
    assert (facts.code, facts.driver, facts.interposers) == (code, driver, [] if on_model else ["LD_PRELOAD"])
    assert (facts.device, facts.profile, facts.seed, facts.argv, facts.only) == (choice.device, "quick", 5, ["run"], ["MEM-01"])
    assert (facts.problems, facts.processes, facts.start) == (outcome.problems, outcome.processes, outcome.start)
    assert (facts.plant, facts.started, facts.wall_s, facts.toolchain) == ("crash", "then", 2.5, {"nvcc": "13"})
    assert gathered == [(1, code, tmp_path, 5)] and [result.case for result in facts.results] == [failed]
    assert facts.waivers.rules == (() if on_model else ("MEM-01",)), "the model has no driver that the waiver names"
    assert facts.verdict.verdict == "INVALID" and facts.verdict.reasons[0] == "odd"


@pytest.mark.parametrize(("device", "status"), [("model", "NOT_SUPPORTED"), ("model:late-copies", "NOT_SUPPORTED"), ("cuda", "NOT_RUN"),
                                                ("cuda:1", "NOT_RUN")])
def test_only_a_run_on_the_model_is_excused_from_what_needs_a_gpu(device: str, status: str, monkeypatch: pytest.MonkeyPatch,
                                                                  tmp_path: Path) -> None:
    only = next(case for case in BOOK.cases if case.gpu_only)
    monkeypatch.setattr(run, "_execute", lambda *_: (Outcome(), 1.0))
    monkeypatch.setattr(run, "MachineCode", lambda _harness: None)
    for name in ("interposers", "driver_version", "kernel_module"):
        monkeypatch.setattr(machine, name, dict)
    options = argparse.Namespace(profile="quick", only=[], plant=None, waivers=[])
    facts = run._facts(options, ["run"], BOOK, [only], 5, Choice(device), Built(Path("h"), None, {}), tmp_path, "then")
    assert [result.status for result in facts.results] == [status]


def _facts(monkeypatch: pytest.MonkeyPatch, folder: Path, choice: Choice, built: Built | None, plant: str | None = None) -> Any:
    monkeypatch.setattr(run, "_execute", lambda *_: (Outcome(), 1.0))
    monkeypatch.setattr(run, "_judge", lambda *_: [PROVEN])
    options = argparse.Namespace(profile="quick", only=[], plant=plant, waivers=[])
    return run._facts(options, ["run"], BOOK, [PROVEN.case], 5, choice, built, folder, "then")


def test_a_planted_fault_that_nobody_saw_makes_the_run_invalid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = [_facts(monkeypatch, tmp_path, Choice("model"), Built(Path("h"), None, {}), plant).verdict.verdict for plant in (None, "crash")]
    assert said == ["CONFORMS", "INVALID"]


def test_a_run_without_a_device_leaves_nothing_of_an_earlier_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else what was found on another device would lie beside its report."""
    (tmp_path / "report.json").write_text("{}")
    assert _facts(monkeypatch, tmp_path, ABSENT, None).verdict.verdict == "NOT_APPLICABLE" and not (tmp_path / "report.json").exists()


@pytest.mark.parametrize(("code", "refused"), [(0, False), (64, True)])
def test_a_name_that_the_model_does_not_know_is_refused_before_anything_runs(code: int, refused: bool, monkeypatch: pytest.MonkeyPatch,
                                                                             tmp_path: Path) -> None:
    asked, built, choice = list[object](), Built(Path("h"), None, {}), Choice("model:odd")

    @contextmanager
    def beside(*given: object) -> Any:
        asked.append(given)
        yield None

    monkeypatch.setattr(run, "_obtain", lambda *_: built)
    monkeypatch.setattr(run, "ask_probe", lambda *_: (SimpleNamespace(exit_code=code), ""))
    monkeypatch.setattr(run, "_lint_beside", beside)
    monkeypatch.setattr(run, "_facts", lambda *_: None)
    monkeypatch.setattr(run, "_finish", lambda *_: 5)

    def ran() -> int:
        return run._run(argparse.Namespace(plant="hang"), [], BOOK, [], 5, choice, tmp_path)

    if refused:
        with pytest.raises(BadArguments, match="no such device"):
            ran()
    else:
        assert ran() == 5
    assert asked == ([] if refused else [(built, choice, "hang")]), "lint is not asked of a run with a planted fault"


@pytest.mark.parametrize(("page", "said"), [("p.html", "p.html"), (None, "could not be written; `report` says why")])
def test_the_page_is_named_where_there_is_one(page: str | None, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(run, "build_report", lambda _: {"exit": 0, "run": {}})
    monkeypatch.setattr(run, "inconsistencies", lambda _: [])
    monkeypatch.setattr(run, "verdict_block", lambda *_: "block")
    monkeypatch.setattr(evidence, "sentences", lambda *_: [])
    monkeypatch.setattr(run, "write_page", lambda path: path.with_name(page) if page else None)
    facts: Any = argparse.Namespace(evidence={}, verdict=None)
    run._finish(facts, tmp_path, argparse.Namespace(json=False), None)
    block, line = capsys.readouterr().out.splitlines()
    assert block == "block" and line.startswith("page ") and line.endswith(said)


@pytest.mark.parametrize(("arguments", "choice", "gpus", "asked"), [
    ([], GPU, 1, ("one", False)), (["--resume", "{}"], Choice("cuda"), 1, ("one", True)), ([], Choice("cuda"), 2, ("many", False)),
    ([], ABSENT, 0, ("one", False)), ([], BROKEN, 0, ("one", False)),
    (["--profile=soak", "--for=1m"], GPU, 1, ("soak", None)), (["--profile=soak", "--for=1m", "--seed=5"], GPU, 1, ("soak", 5)),
    (["--profile=soak", "--for=1m"], ABSENT, 0, ("one", False)), (["--profile=soak", "--for=1m"], BROKEN, 0, ("one", False)),
    (["--profile=soak", "--for=1m"], Choice("cuda"), 2, ("many", False)),
])
def test_which_kind_of_run_is_asked_for(arguments: list[str], choice: Choice, gpus: int, asked: tuple[str, object],
                                        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A device that cannot be used is told by an ordinary run; a soak that goes on keeps the seed that it began with."""
    told = dict[str, object]()

    @contextmanager
    def held(folder: Path, again: bool = False) -> Any:
        told.update(folder=folder, again=again)
        yield

    def ends_as(kind: str, seed: Any = None) -> Any:
        return lambda *given: told.update(kind=kind, seed=given[seed] if seed is not None else None) or 0

    (tmp_path / soak.STATE).touch()
    monkeypatch.setattr(run, "_held", held)
    monkeypatch.setattr(run, "choose", lambda *_: choice)
    monkeypatch.setattr(run, "_gpus", lambda *_: ["w"] * gpus)
    monkeypatch.setattr(run, "_go_on", lambda options: setattr(options, "output", options.resume))
    monkeypatch.setattr(run, "_run_many", ends_as("many"))
    monkeypatch.setattr(run, "_run", ends_as("one"))
    monkeypatch.setattr(soak, "soak", ends_as("soak", 3))
    resumed = [word.format(tmp_path) for word in arguments]
    run.main([*resumed, *([] if "--resume" in arguments else ["--output", str(tmp_path)])])
    assert (told["kind"], told["seed"] if asked[0] == "soak" else told["again"]) == asked and told["folder"] == tmp_path


def test_a_soak_that_begins_draws_a_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seeds = list[object]()

    def began(options: object, book: object, device: str, seed: object, *_: object) -> int:
        seeds.append(seed)
        return 0

    monkeypatch.setattr(run, "choose", lambda *_: GPU)
    monkeypatch.setattr(soak, "soak", began)
    run.main(["--profile=soak", "--for=1m", "--output", str(tmp_path)])
    assert isinstance(seeds[0], int)


def test_waivers_are_read_from_the_file_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = list[argparse.Namespace]()

    def ran(given: argparse.Namespace, *_: object) -> int:
        options.append(given)
        return 0

    monkeypatch.setattr(run, "choose", lambda *_: GPU)
    monkeypatch.setattr(run, "_run", ran)
    for more in ([], ["--waive", str(places.KIT / "waivers.toml")]):
        run.main(["--output", str(tmp_path), *more])
    assert [bool(given.waivers) for given in options] == [False, True]


def test_a_run_that_goes_on_runs_the_other_families_and_counts_what_its_first_part_took(monkeypatch: pytest.MonkeyPatch,
                                                                                        tmp_path: Path) -> None:
    done, open_case = (next(case for case in BOOK.cases if case.family == family) for family in ("wait", "memory"))
    told, earlier_s = list[Any](), 3600.0

    class Stub:
        def __init__(self, plan: Plan, sink: object, finished: Any, device_seen: bool) -> None:
            self.outcome, self._finished = Outcome(), finished
            told.append((plan.families, device_seen))

        def run(self) -> Outcome:
            self._finished(open_case.family)
            return self.outcome

    def take_over(folder: Path, harness: Path, earlier: Outcome) -> resume.Kept:
        earlier.start = _start(rules_hash=BOOK.digest)
        return resume.Kept([done.family], earlier_s)

    monkeypatch.setattr(run, "Supervisor", Stub)
    monkeypatch.setattr(resume, "take_over", take_over)
    monkeypatch.setattr(resume, "keep", lambda folder, family, outcome, cases, wall_s, mark: told.append((family, cases, wall_s)))
    options = argparse.Namespace(profile="quick", only=["x"], plant=None, resume=tmp_path)
    outcome, wall_s = run._execute(options, GPU, Built(Path("h"), None, {}), BOOK, [done, open_case], 5, tmp_path)
    assert told[0] == ({open_case.family: [open_case.name]}, True) and told[1][:2] == (open_case.family, [open_case.name])
    assert earlier_s <= told[1][2] <= wall_s < 2 * earlier_s and outcome.start == _start(rules_hash=BOOK.digest) and not outcome.problems


def test_a_folder_is_held_by_one_run_and_taken_only_if_it_is_the_kits(tmp_path: Path) -> None:
    with run._held(tmp_path), pytest.raises(BadArguments, match="another run writes there"), run._held(tmp_path, again=True):
        pass
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").touch()
    with pytest.raises(BadArguments), run._held(other):
        pass
    with run._held(other, again=True):
        pass


@pytest.mark.parametrize(("number", "name", "told"), [
    (errno.ENOSPC, "report.json", True), (errno.EACCES, "images/a", True), (errno.ENOSPC, None, True), (errno.EIO, "report.json", False),
    (errno.ENOSPC, "/elsewhere", False)])
def test_what_cannot_be_written_into_the_folder_is_told_in_words(number: int, name: str | None, told: bool, tmp_path: Path) -> None:
    with pytest.raises(SetupImpossible if told else OSError), run._held(tmp_path):
        raise OSError(number, "why", *([str(tmp_path / name)] if name else []))


ASKED = {"harness": "#!/bin/sh\n", "text": ""}


@pytest.mark.parametrize(("arguments", "said"), [
    ("--profile=full --for=1h", "--for needs --profile soak"), ("--for=1h", "--for needs"),
    ("--profile=soak --for=1h --plant=hang", "neither"),
    ("--profile=soak --for=1h --resume={}", "neither"), ("--plant=hangs", "--plant hangs"), ("--plant=broken-wait:1234567", "--plant"),
    ("--plant=broken-wait:", "--plant"), ("--harness={}", "no such executable file"), ("--harness={}/text", "no such executable file"),
    ("", None), ("--profile=soak --for=1h", None), ("--plant=broken-wait:999999", None), ("--harness={}/harness", None)])
def test_what_cannot_be_meant_is_refused(arguments: str, said: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in ASKED.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755 if text else 0o644)
    monkeypatch.setattr(run, "_go_on", lambda options: None)
    options = run.parser().parse_args(arguments.format(tmp_path).split())
    if said is None:
        checked = run._checked(options)
        assert (checked.device, checked.profile) == ("auto", "soak" if "soak" in arguments else "quick")
    else:
        with pytest.raises(BadArguments, match=said):
            run._checked(options)


@pytest.mark.parametrize("text", ["xyz", "", "0x", "12345678901234567", "-1", "5 "])
def test_a_seed_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadArguments, match="hexadecimal"):
        run.parse_seed(text)
