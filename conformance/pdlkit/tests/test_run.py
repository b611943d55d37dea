"""`run` from end to end, with a harness that misbehaves in every way that can be thought of."""

from __future__ import annotations

import argparse
import io
import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import device_choice, evidence, machine, places, run
from conformance.pdlkit.build import Built
from conformance.pdlkit.checked_lines import read_lines
from conformance.pdlkit.children import Ending
from conformance.pdlkit.display import wants_colours
from conformance.pdlkit.exits import INVALID
from conformance.pdlkit.report import RunFacts, pooled
from conformance.pdlkit.rules import load
from conformance.pdlkit.tests.kit_runs import FAKE, conformance, interrupt_fake, left_running, run_fake
from conformance.pdlkit.verdicts import CaseResult, RunVerdict

SEED_ENV = "FAKE_HARNESS"
QUICK: dict[str, Any] = {"deadline_s": 0.2}
CAPTURED, STREAM = "WAIT-05.rewait.widened.captured", "WAIT-05.rewait.widened.stream"


def test_a_conforming_model(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "WAIT-0[15]", "--only", "EDGE-1?", "--only", "MEM-01*")
    assert ran.code == 0
    assert "CONFORMS (model, no GPU)" in ran.out
    assert set(ran.statuses().values()) == {"PASS", "INCONCLUSIVE"}
    assert all(test["bound95"] is None for test in ran.report["tests"])


def test_a_conforming_gpu_prints_bounds_and_texts(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, device="cuda")
    assert ran.code == 0 and "VERDICT  CONFORMS  " in ran.out and "model" not in ran.out.splitlines()[0]
    assert "judged by  CUDA Programming Guide 2.3, " in ran.out and "; PTX ISA" in ran.out
    wait = next(rule for rule in ran.report["rules"] if rule["id"] == "WAIT-05")
    assert wait["exercised"] == 128 and wait["bound95"] == pytest.approx(1 - 0.05 ** (1 / 128))
    assert wait["resolution_ns"] == 250
    assert "WAIT-01 in the natural window" in ran.out


# behaviour of WAIT-05, its status, the run's exit code, a word of the reason
MISBEHAVIOURS = [
    ("fail", "FAIL", 1, "FAIL of a derived rule"),
    ("hang", "HANG", 1, "gave no sign by its deadline"),
    ("hang-grandchild", "HANG", 1, "last sign: base, 3 of 64"),
    ("segv", "CRASH", 2, "SIGSEGV"),
    ("sticky", "CRASH", 2, "cudaErrorIllegalAddress"),
    ("silent-exit", "CRASH", 2, "no completion record"),
    ("verdict-then-crash", "CRASH", 2, "did not close the case"),
    ("unreached", "NOT_RUN", 2, "without reaching it"),
    ("survivor", "INCONCLUSIVE", 2, "INCONCLUSIVE"),
    ("two-verdicts", "KIT_ERROR", 70, "two verdicts"),
    ("bad-json", "KIT_ERROR", 70, "no JSON"),
    ("pass-with-forbidden", "KIT_ERROR", 70, "beside 5 forbidden"),
    ("pass-without-mutants", "KIT_ERROR", 70, "was never run"),
    ("pass-not-exercised", "KIT_ERROR", 70, "without one exercised trial"),
    ("internal", "KIT_ERROR", 70, "gave up on itself"),
    ("fail-then-crash", "FAIL", 1, "CRASH, its child gave no completion record"),
    ("fail-then-hang", "FAIL", 1, "HANG, it gave no sign"),
    ("not-a-number", "KIT_ERROR", 70, "no JSON"),
    ("odd-extras", "KIT_ERROR", 70, "is no count"),
    ("truncated", "CRASH", 2, "no completion record"),
    ("not-supported", "NOT_SUPPORTED", 0, ""),
]


@pytest.mark.parametrize(("how", "status", "code", "word"), MISBEHAVIOURS, ids=[row[0] for row in MISBEHAVIOURS])
def test_one_bad_case_costs_itself_and_nothing_else(how: str, status: str, code: int, word: str, tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {**QUICK, CAPTURED: how}, "--only", "WAIT-05", "--only", "WAIT-10")
    statuses = ran.statuses()
    assert statuses.pop(CAPTURED) == status
    assert set(statuses.values()) == {"PASS"}, "the cases after it must run"
    assert ran.code == code == ran.report["exit"]
    assert word in ran.out
    assert left_running(tmp_path) == []


def test_a_lost_device_ends_the_run(tmp_path: Path) -> None:
    # The probe must succeed before the run and fail after the crash, so the device is lost while it runs.
    script = tmp_path / "harness"
    script.write_text(f"#!/bin/sh\nif [ -e {tmp_path}/lost ]; then export FAKE_PROBE=69; fi\n"
                      f"case \"$*\" in *--family*) touch {tmp_path}/lost;; esac\nexec {FAKE} \"$@\"\n")
    script.chmod(0o755)
    ran = conformance("run", "--harness", str(script), "--device", "cuda", "--output", str(tmp_path / "out"),
                      folder=tmp_path / "out", env={SEED_ENV: json.dumps({CAPTURED: "segv"})})
    statuses = ran.statuses()
    assert statuses[CAPTURED] == "DEVICE_LOST"
    assert statuses[STREAM] == statuses["FWD-03.fill.widened.stream"] == "NOT_RUN"
    assert ran.code == 2 and "the device was lost" in ran.out


def test_a_crash_on_a_device_that_still_works_goes_on(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {CAPTURED: "segv"}, "--only", "WAIT-05", device="cuda")
    assert ran.statuses() == {CAPTURED: "CRASH", STREAM: "PASS"}


@pytest.mark.parametrize(("probe", "code", "verdict"), [(77, 77, "NOT_APPLICABLE"), (69, 70, "INVALID"), (1, 70, "INVALID")])
def test_a_device_that_cannot_be_used(probe: int, code: int, verdict: str, tmp_path: Path) -> None:
    if probe == 77 and machine.nvidia_hardware():
        code, verdict = 70, "INVALID"  # hardware that cannot be seen
    ran = run_fake(tmp_path, {}, device="cuda", probe=probe)
    assert (ran.code, ran.report["verdict"]) == (code, verdict)
    assert f"probe says {probe}" in ran.out


def test_hardware_that_the_harness_does_not_see_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_choice, "ask_probe", lambda *_: (Ending(77, None, False, False, True, 0.0, 0, (), "no device"), []))
    for signs, broken in ((["/dev/nvidia0"], True), ([], False)):
        monkeypatch.setattr(device_choice, "nvidia_hardware", lambda signs=signs: signs)
        choice = device_choice.choose("cuda", 90, FAKE)
        assert (choice.broken is not None, choice.absent is not None) == (broken, not broken)
        assert not broken or "NVIDIA hardware is here (/dev/nvidia0), and the harness's probe" in str(choice.broken)


def test_everything_unsupported_is_not_applicable(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"*": "not-supported"}, "--only", "WAIT-0[15]", "--only", "MEM-01")
    assert ran.code == 77 and "too old" in ran.out


def test_a_child_that_never_starts(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"startup": "die"}, "--only", "WAIT-05")
    assert set(ran.statuses().values()) == {"NOT_RUN"} and ran.code == 2
    assert "before any case began" in ran.out


def test_an_exit_code_that_contradicts_the_records(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"exit": 3}, "--only", "WAIT-05")
    assert ran.code == 70 and "exited with 3" in ran.out


def test_a_child_that_dies_behind_its_closing_record(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"behind": "crash"}, "--only", "WAIT-05", "--only", "WAIT-10")
    assert ran.code == 2 and list(ran.statuses().values()).count("CRASH") == 1 and "right after this case" in ran.out


@pytest.mark.parametrize(("start", "word"), [
    ({"seed": "0000000000000001"}, "another seed: 0000000000000001 instead of 0000000000005eed"), ({"profile": "full"}, "another profile"),
    ({"rules_hash": "0"}, "another rules_hash")])
def test_a_child_that_ran_something_else_is_invalid(start: dict[str, str], word: str, tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"start": start}, "--only", "WAIT-05")
    assert ran.code == 70 and word in ran.out


@pytest.mark.parametrize("key", ["driver", "device"])
def test_children_that_met_different_devices_are_invalid(key: str, tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"start launch": {key: {"name": "other"}}}, "--only", "WAIT-05", "--only", "ATTR-05", device="cuda")
    assert ran.code == 70 and f"it met another {key}" in ran.out


def test_a_child_that_never_said_on_what_it_ran_is_invalid(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"startup": "mute"}, "--only", "WAIT-05")
    assert ran.code == 70 and "never said on what device" in ran.out


def test_a_normal_child_that_leaves_a_grandchild(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {CAPTURED: "leave-grandchild"}, "--only", "WAIT-05")
    assert ran.code == 0 and left_running(tmp_path) == []
    assert sum(process["leftovers"] for process in ran.report["processes"]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_had(number: int, tmp_path: Path) -> None:
    ran = interrupt_fake(tmp_path, CAPTURED, number, "--only", "ATTR-05", "--only", "WAIT-05")
    assert ran.code == 2
    statuses = ran.statuses()
    assert statuses[CAPTURED] == "NOT_RUN" and statuses["ATTR-05.zero.widened.stream"] == "PASS"
    assert left_running(tmp_path) == []


def test_json_is_alone_on_stdout(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {CAPTURED: "fail"}, "--only", "WAIT-0[15]", "--json")
    assert json.loads(ran.out) == ran.report and ran.code == 1


def test_records_are_kept_beside_the_report(tmp_path: Path) -> None:
    run_fake(tmp_path, {}, "--only", "WAIT-05")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    kinds = [record["record"] for record in records]
    assert kinds[0] == "start" and kinds[-1] == "done" and "progress" not in kinds
    assert sum(kind == "case" for kind in kinds) == 2


@pytest.mark.parametrize(("plant", "status"), [("hang", "HANG"), ("crash", "CRASH")])
def test_a_planted_casualty_goes_to_one_child_only(plant: str, status: str, tmp_path: Path) -> None:
    script = tmp_path / "harness"
    how = {"hang": "hang", "crash": "segv"}[plant]
    bad = json.dumps({**QUICK, CAPTURED: how})
    script.write_text(f"#!/bin/sh\ncase \"$*\" in *--plant*) export FAKE_HARNESS='{bad}';; esac\nexec {FAKE} \"$@\"\n")
    script.chmod(0o755)
    ran = conformance("run", "--harness", str(script), "--device", "model", "--only", "WAIT-05", "--plant", plant,
                      "--output", str(tmp_path / "out"), folder=tmp_path / "out", env={SEED_ENV: json.dumps(QUICK)})
    assert ran.statuses() == {CAPTURED: status, STREAM: "PASS"}


@pytest.mark.parametrize(("arguments", "word"), [
    (["run", "--seed", "xyz"], "hexadecimal"),
    (["run", "--seed", "12345678901234567"], "hexadecimal"),
    (["run", "--device", "gpu"], "say auto"),
    (["run", "--device", "model:Bad Name"], "say auto"),
    (["run", "--device", "cuda:x"], "say auto"),
    (["run", "--profile", "huge"], "invalid choice"),
    (["run", "--only", "NO-SUCH*"], "no rule and no case"),
    (["run", "--only", "WAIT-01", "--only", "NO-SUCH*"], "no rule and no case"),
    (["run", "--prof", "quick"], "unrecognized"),
    (["run", "--harness", "/nowhere/at/all"], "no such executable"),
    (["run", "extra"], "unrecognized"),
    (["run", "--plant", "nonsense"], "say broken-wait"),
    (["list", "NO-99"], "there is no rule"),
    (["list", "--cases", "--mutants"], "not allowed"),
    (["doctor", "--fix"], "unrecognized"),
    (["frobnicate"], "there is no command"),
    ([], "usage"),
])
def test_bad_arguments_end_with_64_and_a_sentence(arguments: list[str], word: str, tmp_path: Path) -> None:
    ran = conformance(*arguments, folder=tmp_path)
    assert ran.code == 64 and word in ran.err and not ran.out


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["list", "--help"], ["doctor", "--help"], ["test", "--help"]])
def test_help_is_there(arguments: list[str], tmp_path: Path) -> None:
    ran = conformance(*arguments, folder=tmp_path)
    assert ran.code == 0 and "usage" in ran.out and not ran.err


@pytest.mark.parametrize(("answer", "told", "wrong"), [
    ({"left_out": "no kernel was proven or killed"}, "left out: no kernel", []),
    ({"compared": 3, "disagreements": ["k differs"]}, "3 kernels compared", ["static check: k differs"]),
    ({"compared": 0, "disagreements": []}, "0 kernels compared",
     ["static check: no kernel that ran is in the harness's machine code"]),
    ("lint cannot run here: broken", "failed", ["static check: lint cannot run here: broken"])])
def test_the_static_check_says_what_it_did_and_costs_no_report(
    answer: Any, told: str, wrong: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence.LintBeside, "compare", lambda _self, _report: answer)
    said, found = run._static_check(FAKE, object.__new__(evidence.LintBeside))
    assert said and said.startswith(told) and found == wrong


class _Lint(evidence.LintBeside):
    """Says whether it was ended."""

    def __init__(self, harness: Path) -> None:
        self.harness, self.ended = harness, False

    def end(self) -> None:
        self.ended = True


@pytest.mark.parametrize(("on_model", "plant", "code", "lints"), [
    (False, None, True, True), (False, None, False, False), (True, None, True, False), (False, "hang", True, False)])
def test_lint_is_at_work_beside_a_gpu_and_ends_with_the_run(
    on_model: bool, plant: str | None, code: bool, lints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LintBeside", _Lint)
    harness = Path(__file__).parent / "corpus" / "tiny.fatbin" if code else FAKE
    choice: Any = SimpleNamespace(on_model=on_model)
    built = Built(harness, None, {})
    with pytest.raises(KeyError), run._lint_beside(built, choice, plant) as lint:
        assert isinstance(lint, _Lint) == lints and isinstance(lint, str) == (not on_model and plant is None and not code)
        if isinstance(lint, _Lint):
            assert lint.harness == harness and not lint.ended
        raise KeyError
    assert not isinstance(lint, _Lint) or lint.ended
    with run._lint_beside(None, choice, None) as nothing:
        assert nothing is None


def test_what_the_static_check_finds_makes_the_run_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the report that was written before it was asked says that it is not the last word."""
    drafts = list[Any]()

    def found(draft: Path, _: Any) -> tuple[str, list[str]]:
        drafts.append(json.loads(draft.read_text()))
        return "1 kernels compared", ["static check: k differs"]

    monkeypatch.setattr(run, "_static_check", found)
    monkeypatch.setenv(SEED_ENV, "{}")
    code = run.main(["--harness", str(FAKE), "--device", "model", "--only", "WAIT-05", "--seed", "5", "--output", str(tmp_path / "out")])
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (code, report["verdict"], report["exit"]) == (70, "INVALID", 70) and report["reasons"][0] == "static check: k differs"
    assert report["static_check"] == "1 kernels compared" and report["problems"] == ["static check: k differs"]
    assert (drafts[0]["verdict"], drafts[0]["static_check"]) == ("CONFORMS", "not finished")


def test_a_model_that_there_is_not_is_bad_arguments(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, device="model:odd", probe=64)
    assert ran.code == 64 and "no such device of the model" in ran.err


def test_a_seed_that_nobody_gives_is_a_fresh_one() -> None:
    assert len({run.parse_seed(None) for _ in range(8)}) == 8


def test_lint_is_not_asked_about_a_harness_without_machine_code(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "WAIT-05", device="cuda")
    assert ran.report["static_check"] == "left out: the harness holds no machine code"


def test_a_planted_fault_that_nobody_saw_is_invalid(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "WAIT-05", "--plant", "broken-wait:500")
    assert ran.code == 70 and "was not seen" in ran.out


def test_a_failure_says_how_often_and_what_triage_changed(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {CAPTURED: "fail"}, "--only", "WAIT-05")
    assert "poison 5 in 64 trials" in ran.out
    assert f"triage   {CAPTURED}: attroff 0 of 64 wrong" in ran.out


def test_an_observing_case_alone_may_end_with_77(tmp_path: Path) -> None:
    name = "WAIT-01.store.natural.stream"
    assert run_fake(tmp_path, {"exit": 77}, "--only", name).statuses() == {name: "INCONCLUSIVE"}
    assert run_fake(tmp_path, {"exit": 1}, "--only", name).statuses() == {name: "KIT_ERROR"}


def test_only_takes_rules_and_cases_by_glob(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "mem-01", "--only", "*.fill.*.stream")
    assert len(ran.statuses()) == 9
    assert {name.split(".")[0] for name in ran.statuses()} == {"MEM-01", "FWD-03"}


@pytest.mark.parametrize("text", ["0xABC", "abc", "0000000000000abc"])
def test_seeds_are_read_with_and_without_prefix(text: str, tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {}, "--only", "WAIT-05", "--seed", text)
    assert ran.report["run"]["seed"] == "0x0000000000000abc"


def test_something_in_the_launch_path_keeps_a_gpu_from_conforming(tmp_path: Path) -> None:
    env = {"CUDA_LAUNCH_BLOCKING": "1"}
    ran = run_fake(tmp_path, {}, "--only", "WAIT-0[15]", device="cuda", env=env)
    assert ran.code == 2 and ran.report["host"]["interposers"] == ["CUDA_LAUNCH_BLOCKING"]
    assert run_fake(tmp_path, {}, "--only", "WAIT-0[15]", device="model", env=env).code == 0


def test_colours_only_on_a_terminal(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {CAPTURED: "fail"}, "--only", "WAIT-0[15]")
    assert "\033" not in ran.out + ran.err


@pytest.mark.parametrize(("terminal", "environment", "expected"), [
    (True, {}, True), (False, {}, False),
    (True, {"NO_COLOR": "1"}, False), (True, {"NO_COLOR": ""}, True), (True, {"TERM": "dumb"}, False)])
def test_no_colour_for_those_who_want_none(terminal: bool, environment: dict[str, str], expected: bool) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    assert wants_colours(Stream(), environment) is expected


def test_auto_without_hardware_is_the_model_and_says_so(tmp_path: Path) -> None:
    from conformance.pdlkit.machine import nvidia_hardware

    ran = run_fake(tmp_path, {}, "--only", "WAIT-05", device="auto")
    on_model = ran.report["device"]["kind"] == "model"
    assert on_model == (not nvidia_hardware())
    assert ("no NVIDIA hardware here" in ran.err) == on_model


def test_every_record_but_progress_is_kept(tmp_path: Path) -> None:
    """A run that goes on after an interruption looks there for what it must not try again."""
    log = run._RecordLog(tmp_path / "records.jsonl", append=False)
    kinds = ("start", "begin", "progress", "error", "forbidden", "wrong", "variant", "case", "casualty", "end", "done")
    for kind in kinds:
        log.write("wait", {"record": kind})
    log.close()
    kept = [record["record"] for record in read_lines(tmp_path / "records.jsonl").records]
    assert kept == [kind for kind in kinds if kind != "progress"]


@pytest.mark.parametrize("where", ["inconsistencies", "_static_check"])
def test_a_report_that_contradicts_itself_or_lint_is_invalid(where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the cases said: what is found in the finished report takes the verdict away."""
    monkeypatch.setattr(run, "_static_check", lambda report, facts: ("7 kernels compared", ["they disagree"] * (where == "_static_check")))
    monkeypatch.setattr(run, "inconsistencies", lambda report: ["counts differ"] * (where == "inconsistencies"))
    facts = RunFacts(
        book=load(places.RULES), device="cuda:0", profile="smoke", seed=1, argv=[], only=[], started="", wall_s=0.0, results=[],
        verdict=RunVerdict("UNPROVEN", ("not asked",)), start={}, toolchain={}, host={}, interposers=[], problems=[], processes=[],
        code=None)
    assert run._finish(facts, tmp_path, argparse.Namespace(json=True), None) == INVALID
    report = json.loads((tmp_path / "report.json").read_text())
    said = "counts differ" if where == "inconsistencies" else "they disagree"
    assert report["verdict"] == "INVALID" and report["reasons"] == [said, "not asked"] and report["problems"] == [said]


def test_a_case_for_a_gpu_only_that_was_not_run_on_one_stays_so() -> None:
    """On the model it cannot run; on a GPU it was lost, and what was lost proves nothing."""
    book = load(places.RULES)
    only = next(case for case in book.cases if case.gpu_only)
    assert [run._judge(book, [only], {}, on_model)[0].status for on_model in (True, False)] == ["NOT_SUPPORTED", "NOT_RUN"]


def test_a_pool_with_a_failure_has_no_bound() -> None:
    cases = [case for case in load(places.RULES).cases if case.kind == "visibility" and case.rule_class != "measured" and case.proving][:2]
    counted = {"trials": {"exercised": 100}, "shapes": 50}

    def bounds(status: str) -> list[object]:
        results = [CaseResult(cases[0], "PASS", None, counted), CaseResult(cases[1], status, None, counted)]
        facts: Any = SimpleNamespace(results=results, on_model=False)
        said = pooled(facts)
        return [said["bound95"] is None, said["shape_bound95"] is None]

    assert [bounds(status) for status in ("PASS", "NOT_SUPPORTED")] == [[False, False]] * 2
    assert [bounds(status) for status in ("FAIL", "HANG", "INCONCLUSIVE", "CRASH")] == [[True, True]] * 4


def test_a_gpu_is_old_enough_if_one_case_can_run_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases for newer GPUs only must not make an older one NOT_APPLICABLE."""
    class Asked(Exception):
        pass

    def asked(request: str, oldest_cc: int, harness: Path | None) -> device_choice.Choice:
        raise Asked(oldest_cc)

    monkeypatch.setattr(run, "select", lambda book, only: [SimpleNamespace(min_cc=cc) for cc in (100, 90, 120)])
    monkeypatch.setattr(run, "choose", asked)
    with pytest.raises(Asked) as told:
        run.main(["--device", "cuda"])
    assert told.value.args == (90,)
