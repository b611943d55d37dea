"""The worker of a node: every GPU is judged, counted and told, and a run that was ended by force is lost whatever it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.fleet import worker
from conformance.fleet.records import Attempt, Fleet, Plan, read
from conformance.fleet.tests.fake_runs import FakeRuns, hash_of
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.machine import Driver, Gpu


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    made = FakeRuns()
    monkeypatch.setattr(worker, "run_silent", made)
    return made


def judged(folder: Path, patch: pytest.MonkeyPatch, gpus: int, *, task: int = 0, node: str = "n0", device: str = "cuda") -> Fleet:
    """What the folder holds after one task on a node of so many GPUs."""
    if not folder.exists():
        Plan(3, device, "quick", 600, (), None).write(folder)
    patch.setattr(worker, "ask_driver", lambda: Driver(None, 13000, (Gpu("M", 90, 132),) * gpus))
    patch.setenv("SLURMD_NODENAME", node)
    patch.setenv("SLURM_JOB_ID", "1234")
    assert worker.main([str(folder), "--task", str(task), "--attempt", "0"]) == 0
    return read(folder)


def attempt_of(fleet: Fleet, task: int) -> Attempt:
    (attempt,) = (attempt for attempt in fleet.attempts if attempt.task == task)
    return attempt


@pytest.mark.parametrize("gpus", [1, 2, 10])
def test_every_gpu_of_a_node_is_judged_and_counted(gpus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: FakeRuns) -> None:
    fleet = judged(tmp_path / "fleet", monkeypatch, gpus)
    names = [(hash_of(f"cuda:{ordinal}"), ordinal, "n0") for ordinal in range(gpus)]
    assert [(gpu["gpu"], gpu["ordinal"], gpu["node"]) for gpu in fleet.gpus] == names
    assert attempt_of(fleet, 0).told == gpus and fleet.done() == {0} and fleet.judged_nodes() == ["n0"]
    assert runs.limits == [600 / gpus] * gpus
    assert attempt_of(fleet, 0).job == "1234"
    (reports,) = (tmp_path / "fleet" / "reports").iterdir()
    assert sorted(path.name for path in reports.iterdir()) == sorted(f"cuda-{ordinal}" for ordinal in range(gpus)), "no colon in a name"


def test_a_gpu_line_that_is_lost_afterwards_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: FakeRuns) -> None:
    runs.ends["cuda:1"] = ("VIOLATES", 1)
    folder = tmp_path / "fleet"
    assert [gpu["verdict"] for gpu in judged(folder, monkeypatch, 2).gpus] == ["CONFORMS", "VIOLATES"]
    (path,) = (folder / "records").glob("*.jsonl")
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "VIOLATES" not in line))
    assert read(folder).done() == set()


@pytest.mark.parametrize(("verdict", "code", "why"), [
    ("CONFORMS", None, "the run was ended, and the report in its folder says 0"),
    ("CONFORMS", -9, "the run ended with -9, and the report in its folder says 0"),
    ("UNPROVEN", 0, "the run ended with 0, and the report in its folder says 2")])
def test_a_run_that_did_not_end_as_its_report_says_is_lost(
    verdict: str, code: int | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: FakeRuns
) -> None:
    """A run writes a first draft of its report before lint was asked."""
    runs.ends["cuda:0"] = (verdict, code)
    fleet = judged(tmp_path / "fleet", monkeypatch, 2)
    assert [gpu["gpu"] for gpu in fleet.gpus] == [hash_of("cuda:1")] and fleet.done() == set()
    assert fleet.lost() == [f"cuda:0: {why} on n0"]


@pytest.mark.parametrize(("device", "gpus", "asked"), [("cuda", 0, ["cuda"]), ("auto", 2, ["cuda:0", "cuda:1"]), ("model", 2, ["model"])])
def test_a_node_without_a_gpu_and_a_named_device_are_judged_too(
    device: str, gpus: int, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: FakeRuns
) -> None:
    fleet = judged(tmp_path / "fleet", monkeypatch, gpus, device=device)
    assert [gpu["gpu"] for gpu in fleet.gpus] == [*map(hash_of, asked)] and fleet.done() == {0}


def test_a_node_is_judged_by_one_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: FakeRuns) -> None:
    folder = tmp_path / "fleet"
    judged(folder, monkeypatch, 2, task=0)
    fleet = judged(folder, monkeypatch, 2, task=1)
    assert attempt_of(fleet, 1).duplicate and not attempt_of(fleet, 1).gpus and fleet.done() == {0}
    assert judged(folder, monkeypatch, 2, task=2, node="n2").done() == {0, 2}


def test_an_attempt_that_is_no_number_is_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="--attempt"):
        worker.main([str(tmp_path), "--task", "0", "--attempt", "../x"])


@pytest.mark.parametrize("harness", ["/shared/harness", None])
def test_the_harness_of_the_plan_is_run(harness: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def runs(argv: list[str], *_: object) -> None:
        asked.append(argv)

    monkeypatch.setattr(worker, "run_silent", runs)
    worker.judge(Plan(1, "model", "quick", None, (), harness), "model", tmp_path / "out", None)
    assert asked[0][2:] == ["run", "--device", "model", "--profile", "quick", "--output", str(tmp_path / "out"),
                            *(["--harness", harness] if harness else [])]
