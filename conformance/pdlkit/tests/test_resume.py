"""An interrupted run goes on where it stopped, hides nothing, and mixes nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from conformance.pdlkit import resume
from conformance.pdlkit.checked_lines import Writer, read_lines
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.records import CaseLog, Record
from conformance.pdlkit.supervise import Outcome
from conformance.pdlkit.tests.kit_runs import FAKE, Ran, conformance, interrupt_fake, run_fake

H100: dict[str, object] = {"name": "H100", "uuid_hash": "1", "tick_ns": 32}
START: dict[str, object] = {"record": "start", "device": H100, "driver": 13000, "runtime": 13000}
STUCK, ASIDE = "WAIT-05.rewait.widened.captured", "WAIT-05.rewait.widened.stream"
DONE = "ATTR-05.zero.widened.stream"
CASES = ("--only", "ATTR-05", "--only", "WAIT-05")


def go_on(folder: Path, *arguments: str, behaviour: dict[str, str] | None = None) -> Ran:
    return conformance("run", "--harness", str(FAKE), "--resume", str(folder), *arguments, folder=folder,
                       env={"FAKE_HARNESS": json.dumps(behaviour or {}), "FAKE_PROBE": "0"})


def rewrite(path: Path, old: str, new: str) -> None:
    """Change a text in every line as a kit of another version would have written it: with a check that fits."""
    lines = [line.rpartition(', "check": ')[0] + "}" for line in path.read_text().splitlines()]
    writer = Writer(path)
    for line in lines:
        writer.write(json.loads(line.replace(old, new)))
    writer.close()


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    assert interrupt_fake(folder, STUCK, signal.SIGINT, *CASES).code == 2
    return folder


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A copy of an interrupted run, because starting one takes long."""
    return Path(shutil.copytree(stopped_once, tmp_path / "run"))


@pytest.mark.parametrize(("other", "problems"), [
    ({}, []), ({"device": {**H100, "tick_ns": 64}}, []),
    ({"device": {**H100, "uuid_hash": "2"}}, ["device"]), ({"driver": 13010}, ["driver"]), ({"runtime": 12080}, ["runtime"]),
])
def test_kept_families_of_another_device_do_not_count(other: dict[str, object], problems: list[str], tmp_path: Path) -> None:
    resume.begin(tmp_path, resume.Identity("model", "smoke", f"{1:016x}", [], None), FAKE)
    for family, start in (("wait", START), ("launch", {**START, **other}), ("mem", START)):
        resume.keep(tmp_path, family, Outcome(start=start), [], 1.0, "")
    outcome = Outcome()
    resume.take_over(tmp_path, FAKE, outcome)
    assert len(outcome.problems) == len(problems)
    assert all(text.startswith(f"family launch: it met another {what}: ") for text, what in zip(outcome.problems, problems, strict=True))


def test_a_resumed_run_has_lasted_as_long_as_it_had_before(tmp_path: Path) -> None:
    resume.begin(tmp_path, resume.Identity("model", "smoke", f"{1:016x}", [], None), FAKE)
    for family, wall_s in (("wait", 1.0), ("launch", 3.0), ("mem", 2.0)):  # told since the start, of each family when it ended
        resume.keep(tmp_path, family, Outcome(start=START), [], wall_s, "")
    assert resume.take_over(tmp_path, FAKE, Outcome()).wall_s == 3.0


def test_a_resumed_run_runs_the_rest_only_and_judges_both_parts(stopped: Path) -> None:
    ran = go_on(stopped, behaviour={DONE: "fail"})  # were that family run again, it would fail
    assert ran.code == 0, ran.err
    assert set(ran.statuses().values()) == {"PASS"} and {STUCK, ASIDE, DONE} <= set(ran.statuses())
    assert [process["family"] for process in ran.report["processes"]] == ["launch", "wait"]
    assert ran.report["run"]["seed"] == "0x0000000000005eed" and ran.report["run"]["only"] == ["ATTR-05", "WAIT-05"]


def test_a_fail_before_the_interruption_stays_one(tmp_path: Path) -> None:
    interrupt_fake(tmp_path, STUCK, signal.SIGINT, *CASES, behaviour={DONE: "fail"})
    ran = go_on(tmp_path)
    assert ran.code == 1 and ran.statuses()[DONE] == "FAIL"


@pytest.mark.parametrize(("how", "status", "code"), [("fail", "FAIL", 1), ("segv", "CRASH", 2)])
def test_a_fault_in_the_unfinished_family_stays_and_the_rest_is_run(how: str, status: str, code: int, tmp_path: Path) -> None:
    interrupt_fake(tmp_path, ASIDE, signal.SIGINT, *CASES, behaviour={STUCK: how})
    ran = go_on(tmp_path)
    assert ran.code == code and ran.statuses() == {**dict.fromkeys(ran.statuses(), "PASS"), STUCK: status} and ASIDE in ran.statuses()
    again = go_on(tmp_path, behaviour={"*": "fail"})  # nothing is left to run
    assert again.code == code and again.statuses() == ran.statuses()


def told(case: str, status: str) -> list[Record]:
    """What a child says of a case from its begin to its end."""
    trials = {"planned": 1, "run": 1, "exercised": 1}
    return [{"record": "begin", "case": case}, {"record": "case", "case": case, "status": status, "trials": trials, "outcomes": {}},
            {"record": "end", "case": case}]


def interrupted_with(folder: Path, records: list[Record]) -> resume.Kept:
    lines = Writer(folder / resume.RECORDS)
    resume.begin(folder, resume.Identity("model", "smoke", "1", [], None), FAKE)
    for record in records:
        lines.write({**record, "family": "wait"})
    lines.close()
    return resume.take_over(folder, FAKE, Outcome(start=START))


def test_faults_of_each_part_of_an_unfinished_family_are_kept(tmp_path: Path) -> None:
    start: Record = {"record": "start", **START}
    hangs: list[Record] = [{"record": "begin", "case": "c"}, {"record": "casualty", "case": "c", "status": "HANG"}]
    records = [start, *told("a", "FAIL"), *told("b", "PASS"), *hangs, start, *told("d", "FAIL"), {"record": "begin", "case": "b"}]
    kept = interrupted_with(tmp_path, records)
    faults = {name: log.casualty or (log.verdict or {})["status"] for name, log in kept.faults["wait"].items()}
    assert faults == {"a": "FAIL", "c": "HANG", "d": "FAIL"} and not kept.families


def test_another_device_in_an_unfinished_family_is_a_problem(tmp_path: Path) -> None:
    outcome = Outcome(start=START)
    interrupted_with(tmp_path, [{"record": "start", **START, "driver": 1}, *told("a", "FAIL")])
    resume.take_over(tmp_path, FAKE, outcome)
    assert len(outcome.problems) == 1 and "another driver" in outcome.problems[0] and outcome.logs["a"].complete
    first = Outcome()  # no family was kept: what had failed tells which device it was
    resume.take_over(tmp_path, FAKE, first)
    assert first.start is not None and first.start["driver"] == 1 and not first.problems


@pytest.mark.parametrize("records", [
    told("a", "FAIL")[:2], [*told("a", "PASS")[:1], {"record": "wrong", "case": "a", "what": "nodes", "answer": "3"}],
    [{"record": "casualty", "case": "a", "status": "CRASH"}], [*told("a", "FAIL")[:1], *told("a", "FAIL")[2:], *told("a", "FAIL")[1:2]],
    [*told("a", "FAIL"), {"record": "casualty", "case": "a", "status": "KIT_ERROR"}],
], ids=["not closed", "no verdict", "never began", "closed before", "the kit's fault"])
def test_a_fault_that_is_not_told_whole_is_refused(records: list[Record], tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="a second try would hide it"):
        interrupted_with(tmp_path, [{"record": "start", **START}, *records])


def test_a_forbidden_trial_in_the_unfinished_case_is_not_tried_again(tmp_path: Path) -> None:
    assert interrupt_fake(tmp_path, STUCK, signal.SIGINT, *CASES, stuck_as="fail-then-hang").code == 1
    ran = go_on(tmp_path)
    assert ran.code == 64 and f"{STUCK} was FAIL" in ran.err


def test_a_wrong_answer_in_the_unfinished_case_is_not_tried_again(stopped: Path) -> None:
    writer = Writer(stopped / resume.RECORDS, append=True)
    writer.write({"record": "wrong", "family": "wait", "case": STUCK, "what": "nodes", "answer": "3"})
    writer.close()
    ran = go_on(stopped)
    assert ran.code == 64 and f"{STUCK} was FAIL" in ran.err


@pytest.mark.parametrize(("record", "status"), [("case", "FAIL"), ("case", "HANG"), ("casualty", "KIT_ERROR"), ("casualty", "DEVICE_LOST")])
def test_what_ended_badly_in_the_unfinished_family_is_not_tried_again(record: str, status: str, stopped: Path) -> None:
    writer = Writer(stopped / resume.RECORDS, append=True)
    writer.write({"record": record, "family": "wait", "case": STUCK, "status": status})
    writer.close()
    ran = go_on(stopped)
    assert ran.code == 64 and f"{STUCK} was {status}" in ran.err


def test_a_device_that_is_gone_when_the_run_goes_on_is_not_unsupported(stopped: Path) -> None:
    ran = go_on(stopped, behaviour={"startup": "no device"})
    assert ran.code == 2 and ran.statuses()[DONE] == "PASS" and ran.statuses()[STUCK] == ran.statuses()[ASIDE] == "NOT_RUN"


def test_lines_cut_by_a_kill_do_not_swallow_the_next(stopped: Path) -> None:
    for name in (resume.FILE, "records.jsonl"):
        (stopped / name).write_text((stopped / name).read_text() + '{"record": "begin", "family": {"x": 1}')
    assert go_on(stopped).code == 0
    assert go_on(stopped, behaviour={"*": "fail"}).code == 0  # nothing is left to run


def test_a_family_that_was_kept_twice_is_refused(stopped: Path) -> None:
    again = dict(read_lines(stopped / resume.FILE).records[1])
    writer = Writer(stopped / resume.FILE, append=True)
    writer.write(again)
    writer.close()
    ran = go_on(stopped)
    assert ran.code == 64 and "twice" in ran.err


def test_a_refused_run_keeps_its_report(stopped: Path) -> None:
    rewrite(stopped / resume.FILE, '"harness": "', '"harness": "0')
    assert go_on(stopped).code == 64 and (stopped / "report.json").is_file()


@pytest.mark.parametrize("part", ["harness", "sources"])
def test_other_code_is_refused(part: str, stopped: Path) -> None:
    rewrite(stopped / resume.FILE, f'"{part}": "', f'"{part}": "0')
    ran = go_on(stopped)
    assert ran.code == 64 and "code has changed" in ran.err


@pytest.mark.parametrize(("old", "new"), [
    ('"driver": ', '"driver": "580.65.06", "was": '), ('"interposers": [', '"interposers": ["LD_PRELOAD"'), ('"around": ', '"was": ')])
def test_another_driver_or_a_profiler_is_refused(old: str, new: str, stopped: Path) -> None:
    """Else the first part's answers would be those of the driver that the report names."""
    rewrite(stopped / resume.FILE, old, new)
    ran = go_on(stopped)
    assert ran.code == 64 and "the driver, or what stands between the kit and the device, has changed since" in ran.err


def test_what_stands_before_a_gpu_in_the_first_part_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else a part under a library that hides overlap could be gone on with without it, and its passes would count."""
    monkeypatch.setenv("LD_PRELOAD", "libhides.so")
    resume.begin(tmp_path, resume.Identity("cuda:0", "smoke", "1", [], None), FAKE)
    assert resume.take_over(tmp_path, FAKE, Outcome()).families == []
    monkeypatch.delenv("LD_PRELOAD")
    with pytest.raises(BadArguments, match="what stands between the kit and the device, has changed since"):
        resume.take_over(tmp_path, FAKE, Outcome())


def test_contradictions_of_the_first_part_stay(tmp_path: Path) -> None:
    """They belong to no case, so that nothing but this line has them; without it the run would not be INVALID any more."""
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), FAKE)
    resume.keep(tmp_path, "wait", Outcome(problems=["family wait: a line is no JSON"]), [], 1.0, "")
    both = Outcome(problems=["another one"])
    assert resume.take_over(tmp_path, FAKE, both).families == ["wait"]
    assert both.problems == ["another one", "family wait: a line is no JSON"]


@pytest.mark.parametrize("log", [
    CaseLog("a", began=True, casualty="HANG", casualty_reason="slept", last_sign="base, 3 of 9"),
    CaseLog("a", began=True, casualty="CRASH", casualty_reason="SIGSEGV", forbidden=[{"slot": 3}], wrong="nodes: 3", error="a call"),
    CaseLog("a", casualty="NOT_RUN", casualty_reason="why"), CaseLog("a", began=True, ended=True, problems=["odd"], wall_s=2.5)])
def test_what_a_kept_family_said_of_a_case_is_taken_over_whole(log: CaseLog, tmp_path: Path) -> None:
    """Also a case whose child died before it closed it: without its log it would look as if it had never been run."""
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), FAKE)
    resume.keep(tmp_path, "wait", Outcome(logs={"a": log, "b": CaseLog("b")}), ["a"], 1.0, "")
    both = Outcome()
    resume.take_over(tmp_path, FAKE, both)
    assert both.logs == {"a": log}


@pytest.mark.parametrize("families", [("wait", "launch", "wait"), ("launch", "wait", "wait"), ("launch", "wait", "edge", "wait")])
def test_a_family_that_was_kept_twice_is_refused_wherever_it_stands(families: tuple[str, ...], tmp_path: Path) -> None:
    """The later line would replace what the first one found."""
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), FAKE)
    for family in families:
        resume.keep(tmp_path, family, Outcome(), [], 1.0, "")
    with pytest.raises(BadArguments, match="holds the family wait twice"):
        resume.take_over(tmp_path, FAKE, Outcome())


@pytest.mark.parametrize("families", [("",), ("launch", ""), ("launch", "wait", "", "edge")])
def test_a_line_that_this_kit_would_not_write_is_named(families: tuple[str, ...], tmp_path: Path) -> None:
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), FAKE)
    for family in families:
        outcome = Outcome()
        if not family:
            vars(outcome)["problems"] = "no list"
        resume.keep(tmp_path, family, outcome, [], 1.0, "")
    with pytest.raises(BadArguments, match=f"line {families.index('') + 2} of {resume.FILE} is not one of this kit"):
        resume.take_over(tmp_path, FAKE, Outcome())


def test_a_new_run_keeps_nothing_of_the_one_before_it_in_the_folder(stopped: Path) -> None:
    """Else its own interruption would be mended with what another run found."""
    first = resume.Identity.of(stopped)
    resume.begin(stopped, resume.Identity(first.device, first.profile, "1", first.only, None), FAKE)
    assert resume.Identity.of(stopped).seed == "1" and resume.take_over(stopped, FAKE, Outcome()).families == []


def test_another_harness_of_the_same_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    harness = tmp_path / "a" / "harness", tmp_path / "b" / "harness"
    for number, path in enumerate(harness):
        path.write_bytes(bytes(1 << 20) + f"harness {number}".encode())
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), harness[0])
    resume.take_over(tmp_path, harness[0], Outcome())
    with pytest.raises(BadArguments, match="code has changed"):
        resume.take_over(tmp_path, harness[1], Outcome())


def test_a_problem_before_the_interruption_stays_one(stopped: Path) -> None:
    rewrite(stopped / resume.FILE, '"problems": [], "processes"', '"problems": ["two answers to one question"], "processes"')
    ran = go_on(stopped)
    assert ran.code == 70 and "two answers to one question" in ran.out


def test_another_seed_in_the_kept_records_makes_the_run_invalid(stopped: Path) -> None:
    rewrite(stopped / resume.FILE, '5eed", "only"', '5eee", "only"')
    ran = go_on(stopped)
    assert ran.code == 70 and "another seed: 0000000000005eed instead of 0000000000005eee" in ran.out


def test_another_device_makes_the_run_invalid(stopped: Path) -> None:
    rewrite(stopped / resume.FILE, '"driver": 13000', '"driver": 12090')
    ran = go_on(stopped)
    assert ran.code == 70 and "another driver: 12090, then 13000" in ran.out


@pytest.mark.parametrize(("old", "new"), [
    ('"logs": [', '"logs": [7, '), ('"logs": [{', '"logs": [{"odd": 1, '), ('"wall_s": ', '"wall_s": null, "was": '),
    ('"mark": ', '"was": '),
    ('"plant": null', '"plants": null'), ('"identity": {', '"identity": 7, "was": {'), ('"code": {', '"was": {'),
    ('"family": "launch"', '"family": ["launch"]'), ('"only": ["ATTR-05", "WAIT-05"]', '"only": 5'), ('"device": "cuda"', '"device": null'),
], ids=["no log", "odd log", "no time", "no mark", "no plant", "no identity", "no code", "odd family", "odd cases", "no device"])
def test_a_line_that_this_kit_would_not_write_is_refused(old: str, new: str, stopped: Path) -> None:
    rewrite(stopped / resume.FILE, old, new)
    ran = go_on(stopped)
    assert ran.code == 64 and "Traceback" not in ran.err and str(stopped) in ran.err


@pytest.mark.parametrize("name", [resume.FILE, resume.RECORDS])
@pytest.mark.parametrize("damage", ["byte", "line lost", "reordered", "not text", "pipe", "folder"])
def test_a_damaged_file_is_found_and_never_counted(damage: str, name: str, stopped: Path) -> None:
    path = stopped / name
    before = (stopped / "report.json").read_bytes()
    lines = path.read_bytes().splitlines(keepends=True)
    if damage in ("pipe", "folder"):
        path.unlink()
        os.mkfifo(path) if damage == "pipe" else path.mkdir()
    else:
        data = {"byte": lines[0].replace(b'"', b"'", 1), "line lost": b"", "reordered": lines[1] + lines[0], "not text": b"\xff\n"}[damage]
        path.write_bytes(data + b"".join(lines[2 if damage == "reordered" else 1:]))
    ran = go_on(stopped)
    assert ran.code == 64 and name in ran.err and "start a new run" in ran.err and "Traceback" not in ran.err
    assert (stopped / "report.json").read_bytes() == before


def test_records_that_lost_their_end_are_refused(stopped: Path) -> None:
    """The end could have held the fault after which the run must not go on."""
    path = stopped / resume.RECORDS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]))
    ran = go_on(stopped)
    assert ran.code == 64 and "lines are missing from records.jsonl" in ran.err
    path.unlink()
    assert go_on(stopped).code == 64


def test_every_kept_family_says_how_far_its_records_came(tmp_path: Path) -> None:
    """Records that end after the first family could have held the fault of the second."""
    lines = Writer(tmp_path / resume.RECORDS)
    resume.begin(tmp_path, resume.Identity("model", "smoke", "1", [], None), FAKE)
    kept = []
    for family in ("launch", "wait"):
        lines.write({"record": "case", "family": family, "case": family, "status": "PASS"})
        kept.append((tmp_path / resume.RECORDS).read_text())
        resume.keep(tmp_path, family, Outcome(), [], 1.0, lines.mark)
    lines.close()
    assert resume.take_over(tmp_path, FAKE, Outcome()).families == ["launch", "wait"]
    (tmp_path / resume.RECORDS).write_text(kept[0])
    with pytest.raises(BadArguments, match="lines are missing"):
        resume.take_over(tmp_path, FAKE, Outcome())


@pytest.mark.parametrize(("arguments", "word"), [(("--seed", "1"), "leave out --seed"), (("--only", "ATTR-05"), "leave out --only"),
                                                 (("--profile", "full"), "leave out --profile"),
                                                 (("--device", "model"), "leave out --device")])
def test_choices_of_its_own_are_refused(arguments: tuple[str, ...], word: str, stopped: Path) -> None:
    ran = go_on(stopped, *arguments)
    assert ran.code == 64 and word in ran.err


@pytest.mark.parametrize("text", [None, "", '{"identity": '])
def test_a_folder_without_a_run_is_named(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / resume.FILE).write_text(text)
    ran = go_on(tmp_path)
    assert ran.code == 64 and str(tmp_path) in ran.err


def test_a_line_cut_by_a_kill_costs_that_family_only(stopped: Path) -> None:
    kept = stopped / resume.FILE
    kept.write_text(kept.read_text()[:-20])
    ran = go_on(stopped)
    assert ran.code == 0 and [process["family"] for process in ran.report["processes"]] == ["launch", "wait"]


def test_a_finished_run_resumed_says_the_same(tmp_path: Path) -> None:
    run_fake(tmp_path, {}, *CASES, device="cuda")
    ran = go_on(tmp_path, behaviour={"*": "fail"})
    assert ran.code == 0 and set(ran.statuses().values()) == {"PASS"}
