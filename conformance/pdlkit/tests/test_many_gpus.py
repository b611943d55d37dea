"""Several GPUs in one machine: judged side by side, pooled where they may be, and a sick one stops no other."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import many_gpus, run
from conformance.pdlkit.exits import BAD_ARGUMENTS
from conformance.pdlkit.many_gpus import Worker, run_all, worst
from conformance.pdlkit.places import ROOT, SCHEMA
from conformance.pdlkit.report import identified
from conformance.pdlkit.tests.kit_runs import FAKE
from conformance.pdlkit.verdicts import bound95

CASE = "WAIT-05.rewait.widened.captured"
ARGUMENTS = ["--profile", "smoke", "--only", "WAIT-05", "--harness", str(FAKE)]


def worker(index: int, device: str = "cuda", **behaviour: Any) -> Worker:
    return Worker(f"gpu-{index}", device, {"PYTHONPATH": str(ROOT), "FAKE_HARNESS": json.dumps(behaviour), "FAKE_PROBE": "0"})


def judged(folder: Path, *gpus: Worker) -> dict[str, Any]:
    return run_all(gpus, ARGUMENTS, folder, 0x5eed)


def test_each_gpu_has_a_report_and_trials_are_pooled(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = judged(tmp_path, worker(0), worker(1))
    said = capfd.readouterr().err.splitlines()
    assert all(any(line.startswith(f"gpu-{i}: running 2 cases") for line in said) for i in (0, 1)), said
    rows = report["machine"]["gpus"]
    assert report["verdict"] == "CONFORMS" and [row["gpu"] for row in rows] == ["gpu-0", "gpu-1"]
    one = json.loads((tmp_path / "gpu-0" / "report.json").read_text())
    exercised = {rule["id"]: rule["exercised"] for rule in one["rules"] if rule["status"] == "PASS"}
    pool = report["machine"]["pooled"][0]
    assert pool["gpus"] == 2 and pool["rules"]["WAIT-05"]["exercised"] == 2 * exercised["WAIT-05"]
    seeds = {json.loads((tmp_path / row["report"]).read_text())["run"]["seed"] for row in rows}
    assert len(seeds) == 2, "the same schedules twice would prove less"
    assert report == identified(report) and report["run"]["id"] != one["run"]["id"], "what was added belongs to the digest"


def test_what_one_gpu_adds() -> None:
    of, rule = Worker("gpu-0", "cuda:0"), {"id": "A", "kind": "visibility", "status": "PASS", "exercised": 5}
    assert of.counted() is None
    of.lost = "its run ended"
    assert of.row() == {"gpu": "gpu-0", "name": None, "uuid_hash": None, "verdict": "INVALID", "exit": 70, "report": None,
                        "reasons": ["its run ended"], "waived": []}
    of.report = {"device": {"name": "G", "uuid_hash": "h"}, "driver": {"version": "580"}, "verdict": "UNPROVEN", "exit": 2,
                 "reasons": ["r"], "rules": [
                     rule, {**rule, "id": "B", "kind": "start", "exercised": None}, {**rule, "id": "C", "kind": "api"},
                     {**rule, "id": "D", "kind": "progress"}, {**rule, "id": "E", "status": "FAIL"}]}
    assert of.counted() == ("G", "580", {"A": 5, "B": 0})
    assert of.row() == {"gpu": "gpu-0", "name": "G", "uuid_hash": "h", "verdict": "UNPROVEN", "exit": 2, "report": "gpu-0/report.json",
                        "reasons": ["r"], "waived": []}
    other = ("G", "590", {"A": 1})
    assert many_gpus.pooled([("G", "580", {"A": 5, "B": 0}), other, ("G", "580", {"A": 2})]) == [
        {"model": "G", "driver": "580", "gpus": 2, "rules": {"A": {"exercised": 7, "bound95": bound95(7)}}},
        {"model": "G", "driver": "590", "gpus": 1, "rules": {"A": {"exercised": 1, "bound95": bound95(1)}}}]


def told(index: int, uuid: str, environment: dict[str, str] | None = None, verdict: str = "CONFORMS",
         reasons: Sequence[str] = ()) -> Worker:
    of = Worker(f"gpu-{index}", f"cuda:{index}", environment or {})
    of.report = {"device": {"name": "G", "uuid_hash": uuid}, "driver": {"version": "580"}, "verdict": verdict, "exit": 0,
                 "reasons": list(reasons), "rules": [], "run": {"id": "r"}}
    return of


def test_one_gpu_is_not_judged_twice() -> None:
    report = many_gpus.machine_report([told(0, "a"), told(1, "a")])
    rows = report["machine"]["gpus"]
    assert (report["verdict"], report["exit"], rows[0]["verdict"], rows[1]["verdict"]) == ("INVALID", 70, "CONFORMS", "INVALID")
    assert rows[1]["reasons"] == ["it judged the GPU that gpu-0 judged"] and report["reasons"] == [f"gpu-1: {rows[1]['reasons'][0]}"]
    failed = many_gpus.machine_report([told(0, "a"), told(1, "a", verdict="VIOLATES", reasons=["it failed"])])["machine"]["gpus"][1]
    assert failed["reasons"] == [*rows[1]["reasons"], "it failed"], "what it found stays"
    assert many_gpus.machine_report([told(0, "a"), told(1, "b")])["verdict"] == "CONFORMS"
    slices = [told(i, "a", {"CUDA_VISIBLE_DEVICES": f"MIG-{i}"}) for i in range(2)]
    assert many_gpus.machine_report(slices)["verdict"] == "CONFORMS"


def test_a_gpu_without_a_report_gives_its_own_reasons() -> None:
    lost = Worker("gpu-1", "cuda:1")
    lost.lost = "its run ended with 139"
    report = many_gpus.machine_report([told(0, "a"), lost])
    assert (report["verdict"], report["reasons"]) == ("INVALID", ["gpu-1: its run ended with 139"])
    unproven = told(0, "a", verdict="UNPROVEN")
    assert unproven.report is not None
    unproven.report["reasons"] = ["a case was not run"]
    report = many_gpus.machine_report([unproven, lost])
    assert (report["verdict"], report["reasons"]) == ("INVALID", ["gpu-0: a case was not run", "gpu-1: its run ended with 139"])


def test_trials_under_two_versions_of_one_branch_are_not_pooled() -> None:
    versions = ("580.159.04", "580.159", "580.95.05")
    pools = many_gpus.pooled(("G", version, {"A": 1}) for version in (*versions, "580.159.04"))
    assert {pool["driver"]: pool["gpus"] for pool in pools} == {"580.159.04": 2, "580.159": 1, "580.95.05": 1}


def test_the_machine_report_keeps_to_the_schema(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    report = judged(tmp_path, worker(0), worker(1))
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    del report["machine"]["gpus"][0]["verdict"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, json.loads(SCHEMA.read_text()))


def test_one_sick_gpu_stops_no_other(tmp_path: Path) -> None:
    report = judged(tmp_path, worker(0, **{CASE: "segv"}), worker(1), Worker("gpu-2", "cuda:bad"))
    rows = {row["gpu"]: row for row in report["machine"]["gpus"]}
    assert rows["gpu-1"]["verdict"] == "CONFORMS" and rows["gpu-0"]["verdict"] == "UNPROVEN"
    assert rows["gpu-2"]["report"] is None and str(BAD_ARGUMENTS) in rows["gpu-2"]["reasons"][0]
    assert (report["verdict"], report["exit"]) == ("INVALID", 70)


def test_the_report_of_an_earlier_run_does_not_count(tmp_path: Path) -> None:
    """A run that ends before it begins leaves what lies in its folder."""
    assert judged(tmp_path, worker(0), worker(1))["verdict"] == "CONFORMS"
    report = judged(tmp_path, Worker("gpu-0", "cuda:bad"), worker(1))
    row = report["machine"]["gpus"][0]
    assert (report["verdict"], row["verdict"], row["report"]) == ("INVALID", "INVALID", None)
    assert row["reasons"] == ["its run ended with 64, and the report in its folder says 0"]


def test_what_was_waived_on_any_gpu_is_told(tmp_path: Path) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waiver]]\nrule = "WAIT-05"\ndevice = "*"\ndriver = "*"\nreason = "known"\nexpires = 2099-01-01\n')
    gpus = [worker(0), worker(1, **{CASE: "fail"})]
    report = run_all(gpus, [*ARGUMENTS, "--waive", str(waivers)], tmp_path / "out", 0x5eed)
    assert report["exit"] == 0 and [row["waived"] for row in report["machine"]["gpus"]] == [[], ["WAIT-05"]]
    assert [entry["rule"] for entry in report["waived"]] == ["WAIT-05"], "the GPU that a waiver helped decides"
    said = many_gpus.block(report).splitlines()
    assert said[0].startswith("MACHINE  CONFORMS (waived: WAIT-05)") and "CONFORMS (waived: WAIT-05)" in said[2]


def test_the_gpu_that_violates_decides_and_its_tests_are_shown(tmp_path: Path) -> None:
    report = judged(tmp_path, worker(0), worker(1, **{CASE: "fail"}))
    assert report["exit"] == 1 and {test["name"]: test["status"] for test in report["tests"]}[CASE] == "FAIL"
    assert "gpu-1" in many_gpus.block(report)


def test_a_signal_reaches_every_run_and_each_still_reports(tmp_path: Path) -> None:
    def later() -> None:
        end = time.monotonic() + 1200
        while time.monotonic() < end and not all((tmp_path / f"gpu-{i}" / "records.jsonl").is_file() for i in (0, 1)):
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=later, daemon=True).start()
    hang: dict[str, Any] = {"deadline_s": 1000, CASE: "hang"}
    report = judged(tmp_path, worker(0, **hang), worker(1, **hang))
    assert [row["verdict"] for row in report["machine"]["gpus"]] == ["UNPROVEN", "UNPROVEN"]


@pytest.mark.parametrize(("verdicts", "machine"), [
    (["CONFORMS", "NOT_APPLICABLE"], "CONFORMS"), (["NOT_APPLICABLE"], "NOT_APPLICABLE"), (["INVALID", "VIOLATES"], "VIOLATES"),
    (["UNPROVEN", "CONFORMS (waived: EDGE-33)"], "UNPROVEN"), ([], "UNPROVEN"),
    (["CONFORMS", "VIOLATES (waived: EDGE-33)"], "VIOLATES"), (["CONFORMS (model, no GPU)", "UNPROVEN (no longer there)"], "UNPROVEN")])
def test_the_worst_decides(verdicts: list[str], machine: str) -> None:
    assert worst(verdicts) == machine


def test_mig_slices_are_workers_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = tmp_path / "nvidia-smi"
    listing.write_text("#!/bin/sh\ncat <<'E'\nGPU 0: NVIDIA H100 (UUID: GPU-1)\n  MIG 1g.10gb     Device  0: (UUID: MIG-aa-1)\n"
                       "  MIG 1g.10gb     Device  1: (UUID: MIG-aa-2)\nE\n")
    listing.chmod(0o755)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(many_gpus, "toolkit_program", lambda _: listing)
    slices = [dict(worker.environment) for worker in many_gpus.workers(1)]
    assert slices == [{"CUDA_VISIBLE_DEVICES": "MIG-aa-1"}, {"CUDA_VISIBLE_DEVICES": "MIG-aa-2"}]
    with listing.open("a") as file:
        file.write("echo 'GPU 1: NVIDIA H100 (UUID: GPU-2)'\n")
    beside = [(worker.label, worker.device, dict(worker.environment)) for worker in many_gpus.workers(1)]
    assert beside[2] == ("gpu-1", "cuda:0", {"CUDA_VISIBLE_DEVICES": "GPU-2"}) and len(beside) == 3, "a GPU without slices is judged, too"
    with listing.open("a") as file:
        file.write("echo 'GPU 10: NVIDIA H100 (UUID: GPU-3)\n  MIG 1g.10gb     Device 10: (UUID: MIG-bb-1)'\n")
        file.write("echo 'GPU 127: NVIDIA H100 (UUID: GPU-4)'\n")
    named = [worker.environment["CUDA_VISIBLE_DEVICES"] for worker in many_gpus.workers(1)]
    assert named == ["MIG-aa-1", "MIG-aa-2", "MIG-bb-1", "GPU-2", "GPU-4"], "whatever its number"
    monkeypatch.setattr(many_gpus, "toolkit_program", lambda _: None)
    for count in (0, 3, 10, 16):
        assert [w.device for w in many_gpus.workers(count)] == [f"cuda:{ordinal}" for ordinal in range(count)]


@pytest.mark.parametrize("code", [0, 1, 2, 70, 77])
def test_what_was_asked_for_is_asked_of_every_gpu(code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An option that got lost would have one GPU judged as many were not asked to: a planted fault is one that has to be seen."""
    given = list[list[str]]()

    def keeps_arguments(gpus: object, arguments: list[str], folder: Path, seed: int) -> dict[str, object]:
        given.append(arguments)
        return {"exit": code, "folder": str(folder), "seed": seed}

    monkeypatch.setattr(many_gpus, "run_all", keeps_arguments)
    options = argparse.Namespace(profile="soak", only=["WAIT-01", "*.stream"], time="8m", harness=Path("h"), plant="hang", waive=Path("w"),
                                 json=True)
    assert run._run_many([], options, 1, tmp_path) == code
    assert json.loads((tmp_path / "report.json").read_text()) == {"exit": code, "folder": str(tmp_path), "seed": 1}
    assert given == [["--profile", "soak", "--only", "WAIT-01", "--only", "*.stream", "--for", "8m", "--harness", "h", "--plant", "hang",
                      "--waive", "w"]]


def test_only_trials_of_rules_that_passed_are_pooled() -> None:
    """The bound of a pool says that nothing was seen in trials that had the power to show it."""
    rules: list[dict[str, Any]] = [
        {"id": status, "kind": "visibility", "status": status, "exercised": 9}
        for status in ("PASS", "FAIL", "INCONCLUSIVE", "HANG", "CRASH", "DEVICE_LOST", "KIT_ERROR", "NOT_RUN")]
    rules += [{"id": "api", "kind": "api", "status": "PASS", "exercised": 9},
              {"id": "none", "kind": "start", "status": "PASS", "exercised": None}]
    judged_gpu = Worker("gpu-0", "cuda:0", report={"device": {"name": "GPU"}, "driver": {"version": "1"}, "rules": rules})
    assert judged_gpu.counted() == ("GPU", "1", {"PASS": 9, "none": 0})
