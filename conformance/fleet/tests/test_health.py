"""Health checks: each contract as its consumer reads it, and a failing tool is never a failing GPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.fleet import health
from conformance.fleet.health import FAULT, GOOD, UNKNOWN, State
from conformance.fleet.tests.fake_runs import FakeRuns
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.machine import Driver, Gpu
from conformance.pdlkit.places import KIT
from conformance.pdlkit.tests.kit_runs import HANG_S, MARK, left_running

CONTRACTS = KIT / "fleet" / "contracts"
_SAMPLE = re.compile(r'^[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? -?[0-9.]+$')


def state(verdict: str, gpu: str = "cuda:0", age: float = 0.0) -> State:
    return State(gpu, "M", verdict, time.time() - age)


@pytest.mark.parametrize(("verdicts", "code"), [
    (["CONFORMS", "CONFORMS (waived: EDGE-33)"], GOOD), (["CONFORMS", "NOT_APPLICABLE"], GOOD), (["CONFORMS", "VIOLATES"], FAULT),
    (["NOT_APPLICABLE"], UNKNOWN),
    (["UNPROVEN", "VIOLATES"], FAULT), (["UNPROVEN (run ended with 70)"], UNKNOWN), (["INVALID"], UNKNOWN), ([], UNKNOWN)])
def test_only_a_violated_rule_is_a_fault(verdicts: list[str], code: int) -> None:
    states = [state(verdict, f"cuda:{i}") for i, verdict in enumerate(verdicts)]
    assert health.code_of(states) == code
    line = health.line_of(states)
    assert "\n" not in line and len(line) <= 80


def test_a_line_is_never_too_long() -> None:
    assert len(health.line_of([state("VIOLATES " + "x" * 200, "cuda:" + "9" * 60)] * 9)) == 80


def test_young_verdicts_and_gpus_at_work_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, judged = tmp_path / "cache" / "health.json", list[str]()

    def smoke(device: str, _harness: Path | None, _limit: float) -> State:
        judged.append(device)
        return state("CONFORMS", device)

    monkeypatch.setattr(health, "_smoke", smoke)
    health.check(["cuda:0", "cuda:1"], cache, None, 10, 3600, {"cuda:1"}, "580")
    assert judged == ["cuda:0"] and health.read_cache(cache)["cuda:1"].verdict.startswith("UNPROVEN")
    health.check(["cuda:0", "cuda:1"], cache, None, 10, 3600, set(), "580")
    assert judged == ["cuda:0", "cuda:1"]
    health.check(["cuda:0", "cuda:1"], cache, None, 10, 0.0, set(), "580")
    assert len(judged) == 4
    health.check(["cuda:0"], cache, None, 0.5, 0.0, set(), "580")
    assert len(judged) == 4, "no time was left"


@pytest.mark.parametrize(("gpus", "apps", "code", "busy"), [
    ("0, GPU-a\n1, GPU-b\n2, GPU-c", "GPU-b\nGPU-c\nGPU-b", 0, {1, 2}), ("0, GPU-a", "", 0, set()), ("0, GPU-a", "GPU-x", 0, set()),
    ("0, GPU-a\nnone, GPU-b\n2, GPU-c, more", "GPU-a\nGPU-b\nGPU-c", 0, {0}), ("0, GPU-a", "GPU-a", 9, None)])
def test_gpus_at_work_are_known_by_their_uuids(
        gpus: str, apps: str, code: int, busy: set[int] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\ncase $1 in *gpu=*) echo '{gpus}';; *) echo '{apps}';; esac\nexit {code}\n")
    smi.chmod(0o755)
    monkeypatch.setattr(health, "toolkit_program", lambda _: smi)
    assert health.busy_gpus() == busy
    monkeypatch.setattr(health, "toolkit_program", lambda _: None)
    assert health.busy_gpus() is None


@pytest.mark.parametrize(("request_", "busy", "asked", "alone"), [
    ("cuda", set(), ["cuda:0", "cuda:1", "cuda:2"], set()), ("cuda", {1}, ["cuda:0", "cuda:1", "cuda:2"], {"cuda:1"}),
    ("cuda", None, ["cuda:0", "cuda:1", "cuda:2"], {"cuda:0", "cuda:1", "cuda:2"}), ("cuda:1", {1}, ["cuda:1"], set()),
    ("model", None, ["model"], set())])
def test_every_gpu_is_answered_for_and_those_at_work_are_left_alone(
        request_: str, busy: set[int] | None, asked: list[str], alone: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them if it cannot be said which have work; one that was named is checked."""
    monkeypatch.setattr(health, "ask_driver", lambda: Driver(None, 13000, (Gpu("M", 90, 132),) * 3))
    monkeypatch.setattr(health, "busy_gpus", lambda: busy)
    assert health._devices(request_) == (asked, alone)


def test_a_verdict_that_is_too_old_or_of_another_driver_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sick nvidia-smi leaves every GPU alone, and a check may run out of time: neither makes an old verdict good."""
    cache, ages = tmp_path / "health.json", {"cuda:0": 0.0, "cuda:1": 90 * 3600.0, "cuda:2": 90 * 3600.0, "cuda:3": 90 * 3600.0}
    verdicts = dict(zip(ages, ("CONFORMS", "CONFORMS", "VIOLATES", "NOT_APPLICABLE"), strict=True))

    def smoke(device: str, _harness: Path | None, _limit: float) -> State:
        return state(verdicts[device], device, ages[device])

    monkeypatch.setattr(health, "_smoke", smoke)
    health.check(list(ages), cache, None, 10, 3600, set(), "580")
    told = health.check(list(ages), cache, None, 10, 3600, set(ages), "580")
    assert [one.verdict for one in told] == ["CONFORMS", "UNPROVEN (judged 90 h ago)", "VIOLATES", "UNPROVEN (judged 90 h ago)"]
    assert health.line_of(told[:2]) == "PDL: cuda:1 of 2: UNPROVEN (judged 90 h ago)"
    assert [one.verdict for one in health.check(list(ages), cache, None, 10, 1e9, set(ages), "580")] == list(verdicts.values())
    other = health.check(list(ages), cache, None, 10, 1e9, set(ages), "590")
    assert {one.verdict for one in other} == {"UNPROVEN (never judged)"}


def test_a_gpu_that_is_no_longer_there_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "health.json"
    monkeypatch.setattr(health, "_smoke", lambda device, *_: state("CONFORMS", device))
    assert health.code_of(health.check(["cuda:0", "cuda:1"], cache, None, 10, 3600, set(), "580", True)) == GOOD
    for _ in range(2):
        told = health.check(["cuda:0"], cache, None, 10, 3600, set(), "580", True)
        assert health.line_of(told) == "PDL: cuda:1 of 2: UNPROVEN (no longer there)" and health.code_of(told) == UNKNOWN
    assert health.code_of(health.check(["cuda:0"], cache, None, 10, 3600, set(), "580")) == GOOD, "it alone was asked for"
    assert health.code_of(health.check(["cuda:0"], cache, None, 10, 3600, set(), "590", True)) == GOOD, "another driver, another start"


def test_a_line_counts_those_that_conform() -> None:
    assert health.line_of([state("CONFORMS"), state("NOT_APPLICABLE")]) == "PDL: 1 of 2 GPUs conform; 1 too old for PDL"
    assert health.line_of([state("NOT_APPLICABLE")]) == "PDL: cuda:0 of 1: NOT_APPLICABLE"


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "pdl-health/1", "gpus": {"cuda:0": {"x": 1}}}', "\0"])
def test_an_unreadable_cache_is_an_empty_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "c").write_text(text)
    assert health.read_cache(tmp_path / "c") == {}


def test_a_tool_that_fails_or_hangs_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sick = tmp_path / "harness"
    sick.write_text("#!/bin/sh\nexit 3\n")
    sick.chmod(0o755)
    arguments = ["--device", "cuda:0", "--cache", str(tmp_path / "c.json"), "--harness", str(sick), "--limit", "60"]
    assert health.main(arguments) == UNKNOWN
    sick.write_text("#!/bin/sh\nsleep 100\n")
    assert health.main([*arguments[:-1], "1.5"]) == UNKNOWN
    assert "UNPROVEN" in capsys.readouterr().out.splitlines()[-1]
    assert health.main(["--device", "cuda:0", "--cache", "/proc/none/c.json", "--harness", str(sick), "--limit", "0"]) == UNKNOWN


@pytest.mark.parametrize(("verdict", "code", "told"), [
    ("CONFORMS", 0, "CONFORMS"), ("VIOLATES", 1, "VIOLATES"), ("CONFORMS", None, "UNPROVEN (not done in "),
    ("VIOLATES", None, "UNPROVEN (not done in "),
    ("CONFORMS", 70, "UNPROVEN (run ended with 70, and the report in its folder says 0)")])
def test_a_run_counts_only_if_it_ended_as_its_report_says(
    verdict: str, code: int | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is ended has written a first draft of its report."""
    monkeypatch.setattr(health, "run_silent", FakeRuns({"cuda:0": (verdict, code)}))
    (found,) = health.check(["cuda:0"], tmp_path / "health.json", None, 600, 3600, set(), "580")
    assert found.verdict.startswith(told)


@pytest.mark.parametrize("verdict", ["CONFORMS", "VIOLATES", "UNPROVEN", "INVALID", "NOT_APPLICABLE", "VIOLATES (waived: EDGE-33)"])
def test_a_metric_of_each_verdict_says_which_one_holds(verdict: str) -> None:
    lines = [line for line in health.prometheus([state(verdict)], "580").splitlines() if line.startswith("pdl_conformance_verdict{")]
    said = {line.partition('verdict="')[2].partition('"')[0]: line[-1] for line in lines}
    assert said == {name: str(int(name == verdict.partition(" ")[0])) for name in (
        "CONFORMS", "VIOLATES", "UNPROVEN", "INVALID", "NOT_APPLICABLE")}


def test_a_run_that_could_not_be_started_says_nothing_of_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise SetupImpossible("no Python")

    monkeypatch.setattr(health, "run_silent", fails)
    found = health._smoke("cuda:0", None, 1.0)
    assert (found.gpu, found.verdict) == ("cuda:0", "UNPROVEN (run could not be started)") and health.code_of([found]) == UNKNOWN


def test_what_prometheus_reads(tmp_path: Path) -> None:
    odd = State("cuda:0", 'a "b"\\\n', "VIOLATES", 12.0, 7)
    for line in health.prometheus([odd, state("CONFORMS", "cuda:1")], "580").splitlines():
        assert line.startswith("# ") or _SAMPLE.fullmatch(line), line


def test_each_format_is_asked_for_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(health, "_devices", lambda _: (["cuda:0"], set()))
    monkeypatch.setattr(health, "check", lambda *_: [state("VIOLATES")])
    file = tmp_path / "pdl.prom"
    with pytest.raises(BadArguments, match="needs --textfile"):
        health.main(["--format", "prometheus"])
    assert health.main(["--format", "prometheus", "--textfile", str(file)]) == GOOD and not capsys.readouterr().out
    assert file.read_text().startswith("# HELP pdl_")
    file.unlink()
    for form in ([], ["--format", "npd"], ["--textfile", str(file)]):
        assert health.main(form) == FAULT and capsys.readouterr().out.startswith("PDL: ") and not file.exists()


@pytest.mark.skipif(shutil.which("prometheus-node-exporter") is None, reason="there is no prometheus-node-exporter here")
def test_the_textfile_collector_takes_it(tmp_path: Path) -> None:
    from urllib.request import urlopen

    (tmp_path / "pdl.prom").write_text(health.prometheus([state("CONFORMS"), state("UNPROVEN", "cuda:1")], "580.1"))
    port = 20000 + os.getpid() % 20000
    exporter = subprocess.Popen(["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                                 f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        text, end = "", time.monotonic() + 1200
        while not text and time.monotonic() < end:
            try:
                text = urlopen(f"http://127.0.0.1:{port}/metrics", timeout=600).read().decode()
            except OSError:
                time.sleep(0.1)
        assert 'pdl_conformance_verdict{driver="580.1",gpu="cuda:0",model="M",verdict="CONFORMS"} 1' in text
        assert "node_textfile_scrape_error 0" in text
    finally:
        exporter.kill()
        exporter.wait()


def _with_pdl(folder: Path, code: int) -> dict[str, str]:
    """A PATH on which `pdl` ends with this code and `scontrol` leaves a trace."""
    for name, text in (("pdl", f"echo 'PDL: cuda:0 of 8: VIOLATES'; exit {code}"), ("scontrol", f'echo "$@" >> "{folder}/drained"')):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "SLURMD_NODENAME": "n1"}


@pytest.mark.parametrize(("code", "drains"), [(0, False), (1, True), (2, False), (69, False), (70, False), (124, False)])
def test_slurm_drains_for_a_violated_rule_only(code: int, drains: bool, tmp_path: Path) -> None:
    environment = _with_pdl(tmp_path, code)
    assert subprocess.run([CONTRACTS / "slurm-health-check.sh"], env=environment).returncode == 0
    assert (tmp_path / "drained").is_file() == drains
    assert (subprocess.run([CONTRACTS / "slurm-prolog.sh"], env=environment).returncode != 0) == drains


def test_node_problem_detector_keeps_to_its_own_limits() -> None:
    """The documented contract: rules have a path, a time limit below the interval, and the output fits."""
    plugin = json.loads((CONTRACTS / "node-problem-detector.json").read_text())
    assert plugin["plugin"] == "custom" and plugin["pluginConfig"]["max_output_length"] == health.LINE
    kinds = {condition["type"] for condition in plugin["conditions"]}
    for rule in plugin["rules"]:
        assert rule["type"] == "permanent" and rule["condition"] in kinds and rule["path"].startswith("/")
        limit = float(rule["args"][rule["args"].index("--limit") + 1])
        assert limit < int(rule["timeout"].removesuffix("s"))


def test_a_check_that_is_killed_leaves_no_run_behind(tmp_path: Path) -> None:
    """A monitor ends a check that takes too long with SIGKILL; the GPU must not stay at work for it."""
    harness, note = tmp_path / "harness", tmp_path / "note"
    harness.write_text(f"#!/bin/sh\necho $$ > {note}.draft\nmv {note}.draft {note}\nexec sleep 3600\n")
    harness.chmod(0o755)
    argv = [sys.executable, str(KIT), "fleet", "health", "--device", "cuda:0", "--cache", str(tmp_path / "c.json"),
            "--harness", str(harness), "--limit", "3000"]
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), MARK: str(tmp_path)}
    owner, until = subprocess.Popen(argv, stdout=subprocess.DEVNULL, env=environment), time.monotonic() + HANG_S
    while not note.is_file():
        assert owner.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    owner.kill()
    owner.wait()
    while left_running(tmp_path):
        assert time.monotonic() < until, "the run outlived the check"
        time.sleep(0.02)
    assert not list((tmp_path / "tmp").rglob("report.json")), "the run went on until its own limit, and reported"
