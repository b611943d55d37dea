"""Soaks: rounds of their own, both bounds over all of them, going on after an interruption, and never hiding a round that failed."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import soak
from conformance.pdlkit.exits import BadArguments, InvalidRun
from conformance.pdlkit.places import ROOT, RULES
from conformance.pdlkit.read_report import read_report
from conformance.pdlkit.report import UNCHECKED, identified, write_report
from conformance.pdlkit.rules import load
from conformance.pdlkit.soak import (
    DEEP_TURNS,
    STATE,
    Total,
    _begin,
    _command,
    _finish,
    _finished,
    _run_round,
    deep_rounds,
    parse_time,
    round_asks,
    round_seed,
)
from conformance.pdlkit.tests.kit_runs import FAKE, HANG_S, MARK, left_running, run_fake

CAPTURED = "WAIT-05.rewait.widened.captured"
ONLY = ("--only=WAIT-05", "--only=MEM-01", "--profile", "soak")


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("8m", 480), ("10h", 36000), ("1.5h", 5400), ("2d", 172800)])
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "h", "0s", "-1h", "10 h", "10h30m", "infs"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(BadArguments, match="--for"):
        parse_time(text)


def report(verdict: str, *waived: str, exercised: int = 1000, shapes: int = 100, clean: bool = True, wall_s: float = 2.0) -> dict[str, Any]:
    return {"verdict": verdict, "run": {"wall_s": wall_s}, "waived": [{"rule": rule} for rule in waived],
            "pooled": {"exercised": exercised, "shapes": shapes, "bound95": 0.1 if clean else None}}


def test_rounds_add_up() -> None:
    total = Total()
    for number in (1, 2, 3):
        total.add(number, report("CONFORMS"))
    entry = total.entry(60)
    assert (entry["rounds"], entry["exercised"], entry["shapes"], entry["wall_s"]) == (3, 3000, 300, 6.0)
    assert entry["bound95"] == pytest.approx(3 / 3000, rel=0.01) and entry["shape_bound95"] == 0.01


@pytest.mark.parametrize(("seconds", "goes_on"), [(6.0, False), (7.0, False), (7.1, True), (100.0, True)])
def test_no_round_begins_when_the_time_is_nearly_up(seconds: float, goes_on: bool) -> None:
    total = Total()
    assert total.has_time(0.1)
    for wall_s in (4.0, 2.0):
        total.add(1, report("CONFORMS", wall_s=wall_s))
    assert total.has_time(seconds) is goes_on


@pytest.mark.parametrize(("verdicts", "worst", "number"), [
    (("CONFORMS", "VIOLATES", "CONFORMS"), "VIOLATES", 2), (("VIOLATES", "INVALID"), "INVALID", 2),
    (("CONFORMS", "NOT_APPLICABLE"), "NOT_APPLICABLE", 2), (("UNPROVEN", "CONFORMS"), "UNPROVEN", 1),
    (("CONFORMS", "CONFORMS"), "CONFORMS", 1), (("VIOLATES", "UNPROVEN"), "VIOLATES", 1),
])
def test_the_worst_round_speaks(verdicts: tuple[str, ...], worst: str, number: int) -> None:
    total = Total()
    for i, verdict in enumerate(verdicts, 1):
        total.add(i, report(verdict))
    assert (total.verdict, total.worst) == (worst, number)


def test_a_waiver_that_helped_any_round_is_told() -> None:
    total = Total()
    for i, waived in enumerate(((), ("EDGE-33",), ("SAME-04", "EDGE-33")), 1):
        total.add(i, report("CONFORMS", *waived))
    assert total.worst == 2 and total.entry(1)["waived"] == ["EDGE-33", "SAME-04"]
    total.add(4, report("VIOLATES"))
    assert total.worst == 4


def test_the_verdict_of_a_soak_names_what_was_waived(tmp_path: Path) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waiver]]\nrule = "WAIT-05"\ndevice = "*"\ndriver = "*"\nreason = "known"\nexpires = 2099-01-01\n')
    ran = run_fake(tmp_path / "soak", {CAPTURED: "fail"}, *ONLY, "--for", "0.01s", "--waive", str(waivers), device="cuda")
    assert ran.code == 0 and "VERDICT  CONFORMS (waived: WAIT-05)" in ran.out
    assert (ran.report["verdict"], ran.report["soak"]["waived"]) == ("CONFORMS", ["WAIT-05"])


def test_a_round_that_did_not_come_to_its_end_goes_on(tmp_path: Path) -> None:
    """It was killed while lint was asked, or after its report was written: what lies in its folder is no last word."""
    run_fake(tmp_path, {}, *ONLY, "--for", "0.01s", device="cuda")
    place = tmp_path / "rounds" / "0001"
    whole = read_report(place)
    assert _finished(place) == whole
    for verdict, code in (("VIOLATES", 1), ("CONFORMS", 0)):
        said = identified({**whole, "verdict": verdict, "exit": code})
        write_report(said, place)
        assert _finished(place) == said
        write_report(identified({**said, "static_check": UNCHECKED}), place)
        assert _finished(place) is None, "lint has the last word, whatever the trials say"
    again = run_fake(tmp_path, {}, *ONLY, "--for", "0.01s", device="cuda")
    assert again.code == 0 and read_report(place)["static_check"] == whole["static_check"]
    with pytest.raises(InvalidRun, match="round 0001 ended with 70, and the report in its folder says 0"):
        _run_round([sys.executable, "-c", "raise SystemExit(70)"], place)
    assert _finished(place) is None
    write_report(whole, place)
    assert _run_round([sys.executable, "-c", "raise SystemExit(130)"], place) is None and _finished(place) is None


@pytest.mark.parametrize("verdict", ["VIOLATES", "UNPROVEN", "CONFORMS"])  # CONFORMS: the rule that failed is waived
def test_no_bound_beside_a_round_that_was_not_clean(verdict: str) -> None:
    total = Total()
    total.add(1, report("CONFORMS"))
    total.add(2, report(verdict, clean=False))
    total.add(3, report("CONFORMS"))  # a clean round after it does not bring the bound back
    assert total.entry(1)["bound95"] is None and total.entry(1)["shape_bound95"] is None


def test_every_round_draws_anew() -> None:
    seeds = [round_seed(1, number) for number in range(1, 200)]
    assert len(set(seeds)) == len(seeds) and seeds == [round_seed(1, number) for number in range(1, 200)]
    assert round_seed(1, 1) != round_seed(2, 1)


def test_a_turn_asks_everything_once_and_every_visibility_case_deeply() -> None:
    book = load(RULES)
    deep = deep_rounds(book)
    length = 1 + DEEP_TURNS * len(deep)
    rounds = [round_asks(number, deep, []) for number in range(1, length + 2)]
    assert rounds[0] == rounds[length] == ("quick", []) and {profile for profile, _ in rounds[1:length]} == {"full"}
    visible = {case.name: case.path for case in book.cases if case.proving and case.kind == "visibility"}
    paths = [{visible[case] for case in cases} for _, cases in rounds[1:length]]
    assert paths == [{"captured", "built"}, {"stream"}, {"captured", "built"}, {"captured", "built"}] * DEEP_TURNS
    assert len(visible) > 50 and sorted(visible) == sorted(deep[0] + deep[1])


def test_a_choice_of_cases_holds_in_every_round() -> None:
    assert all(round_asks(number, [["a"]], ["WAIT-*"]) == ("quick", ["WAIT-*"]) for number in range(1, 9))


def test_a_round_is_asked_what_its_number_says(tmp_path: Path) -> None:
    options = argparse.Namespace(only=["WAIT-*"], waive=tmp_path / "waivers.toml", harness=None)
    argv = _command(options, "cuda:1", 0x5EED, tmp_path, ("full", ["a", "b"]))
    assert argv[2:] == ["run", "--device", "cuda:1", "--profile", "full", "--seed", "0000000000005eed", "--output", str(tmp_path),
                        "--only", "a", "--only", "b", "--waive", str((tmp_path / "waivers.toml").resolve())]
    (tmp_path / "families.jsonl").touch()
    assert _command(options, "cuda:1", 0x5EED, tmp_path, ("full", ["a"]))[2:5] == ["run", "--resume", str(tmp_path)]


def test_an_interrupted_soak_does_not_conform(tmp_path: Path) -> None:
    options, total = argparse.Namespace(json=False), Total()
    assert _finish(options, tmp_path, total, 60, interrupted=True) == 2  # no round ended
    run_fake(tmp_path, {}, *ONLY, "--for", "0.01s")
    total.add(1, report("CONFORMS"))
    assert _finish(options, tmp_path, total, 60, interrupted=True) == 2
    said = json.loads((tmp_path / "report.json").read_text())
    assert (said["verdict"], said["exit"]) == ("UNPROVEN", 2) and "interrupted" in said["reasons"][0]


def test_a_round_that_is_interrupted_ends_the_soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No later round stands for it: what it saw before its end is nowhere but in its own folder."""
    begun, ended = list[str](), list[tuple[int, bool]]()

    def run_round(_argv: list[str], folder: Path) -> dict[str, Any] | None:
        begun.append(folder.name)
        return report("CONFORMS") if folder.name != "0002" else None

    def finish(_options: argparse.Namespace, _folder: Path, total: Total, _seconds: float, interrupted: bool) -> int:
        ended.append((total.rounds, interrupted))
        return 2

    monkeypatch.setattr(soak, "_run_round", run_round)
    monkeypatch.setattr(soak, "_finish", finish)
    options = argparse.Namespace(time="20s", only=[], waive=None, harness=None)
    assert soak.soak(options, load(RULES), "model", 1, tmp_path, lambda _text: None) == 2
    assert (begun, ended) == (["0001", "0002"], [(1, True)])


def test_a_soak_of_one_round_and_on(tmp_path: Path) -> None:
    first = run_fake(tmp_path, {}, *ONLY, "--for", "0.01s", device="cuda")
    assert first.code == 0, first.err
    one = first.report["soak"]
    assert one["rounds"] == 1 and one["bound95"] is not None and "worst verdict CONFORMS" in first.err
    longer = run_fake(tmp_path, {}, *ONLY, "--for", f"{2 * one['wall_s'] + 0.2}s", device="cuda")
    assert longer.report["soak"]["rounds"] > 1
    assert longer.report["soak"]["exercised"] == longer.report["soak"]["rounds"] * one["exercised"]
    seeds = {json.loads(path.read_text())["run"]["seed"] for path in tmp_path.glob("rounds/*/report.json")}
    assert len(seeds) == longer.report["soak"]["rounds"]


def test_a_round_that_failed_stays_failed(tmp_path: Path) -> None:
    first = run_fake(tmp_path, {"WAIT-05": "fail"}, *ONLY, "--for", "0.01s")
    before = first.report
    assert first.code == 1
    again = run_fake(tmp_path, {}, *ONLY, "--for", f"{2 * before['soak']['wall_s'] + 0.2}s")
    assert again.code == 1 and again.report["verdict"] == "VIOLATES" and again.report["soak"]["worst_round"] == 1
    assert again.report["soak"]["rounds"] > 1
    assert again.report["reasons"] == before["reasons"] and again.report["tests"] == before["tests"]


def test_a_soak_that_has_ended_is_not_green_again(tmp_path: Path) -> None:
    """The same command each night would judge nothing from the second night on."""
    assert run_fake(tmp_path, {}, *ONLY, "--for", "0.01s").code == 0
    again = run_fake(tmp_path, {"*": "segv"}, *ONLY, "--for", "0.01s")
    assert again.code == 64 and "nothing was run" in again.err


def test_another_question_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    run_fake(tmp_path, {}, *ONLY, "--for", "0.01s")
    other = run_fake(tmp_path, {}, "--only=WAIT-05", "--profile", "soak", "--for", "0.01s")
    assert other.code == 64 and "a soak lies there of device model" in other.err and "its only differs" in other.err
    reseeded = run_fake(tmp_path, {}, *ONLY, "--for", "0.01s", "--seed", "1")
    assert reseeded.code == 64 and "its seed differs" in reseeded.err


@pytest.mark.parametrize("what", ["device", "sources", "harness", "waivers", "driver"])
def test_rounds_of_other_code_or_another_device_are_not_pooled(what: str, tmp_path: Path) -> None:
    run_fake(tmp_path, {}, *ONLY, "--for", "0.01s")
    state = json.loads((tmp_path / "soak.json").read_text())
    assert what in state
    (tmp_path / "soak.json").write_text(json.dumps({**state, what: "another"}))
    other = run_fake(tmp_path, {}, *ONLY, "--for", "0.01s")
    assert other.code == 64 and f"its {what} differs from this one's" in other.err


@pytest.mark.parametrize("what", ["sources", "harness", "waivers", "driver"])
def test_a_soak_that_does_not_say_what_it_was_is_another_one(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.pdlkit.machine.driver_version", lambda: "580")
    options = argparse.Namespace(only=[], harness=FAKE, waive=FAKE)
    assert _begin(tmp_path, options, 5, "cuda") == _begin(tmp_path, options, None, "cuda") == _begin(tmp_path, options, 5, "cuda") == 5
    state = json.loads((tmp_path / STATE).read_text())
    del state[what]
    (tmp_path / STATE).write_text(json.dumps(state))
    with pytest.raises(BadArguments, match=f"its {what} differs"):
        _begin(tmp_path, options, None, "cuda")


@pytest.mark.parametrize("arguments", [("--for", "1h"), ("--for", "1h", "--profile", "quick"),
                                       ("--for", "soon", "--profile", "soak"), ("--for", "1h", "--profile", "soak", "--plant", "hang")])
def test_arguments_that_do_not_go_together(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert run_fake(tmp_path, {}, *arguments).code == 64


def test_a_soak_that_is_killed_leaves_no_round_running(tmp_path: Path) -> None:
    fake = json.dumps({"deadline_s": 100_000, "WAIT-05": "hang-grandchild"})
    argv = [sys.executable, "conformance", "run", "--harness", str(FAKE), "--device", "model", "--output", str(tmp_path), *ONLY,
            "--for", "1h"]
    process = subprocess.Popen(argv, cwd=ROOT, env={**os.environ, MARK: str(tmp_path), "FAKE_HARNESS": fake}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    records, until = tmp_path / "rounds" / "0001" / "records.jsonl", time.monotonic() + HANG_S
    while not (records.is_file() and '"begin", "case": "WAIT-05' in records.read_text()):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    process.kill()
    process.wait()
    while left_running(tmp_path):
        assert time.monotonic() < until, "the round outlived the soak"
        time.sleep(0.05)
