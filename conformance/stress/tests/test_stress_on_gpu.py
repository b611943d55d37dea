"""What is recorded on a GPU: the counts of launches that were reached, and what makes a part good; with programs that need no GPU."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.stress.injection import library
from conformance.stress.on_gpu import record
from conformance.stress.program import Calibration, Launches
from conformance.stress.zoo.command import sources_hash

CHAIN: list[str] = []  # stands in for the chains of kernels


@pytest.fixture(scope="module", autouse=True)
def _chain(fake_races: str) -> None:
    CHAIN[:] = ["/bin/sh", str(Path(__file__).with_name("fake_chain.sh")), fake_races]


def seen(**changed: object) -> Calibration:
    kernels = {"a": Launches("a", True, eager=3), "b": Launches("b", False, "its first instruction is a branch", captured=2),
               "loaded": Launches("loaded", False, "never launched")}
    return Calibration(kernels, **changed)  # type: ignore[arg-type]


def place(folder: Path, limit_s: float = 600.0) -> record.Place:
    return record.Place(folder, sys.executable, limit_s, record.Programs(folder))


def whole(steps: record.Steps) -> record.Part:
    found: record.Part = {}
    for step in steps:
        found |= step
    return found


def fake_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA programs become fake_chain.sh, which needs no injection library."""
    def compiled(here: record.Place, source: Path) -> str:
        script = here.folder / source.stem
        if not script.exists():
            script.write_text(f"#!/bin/sh\nexec {' '.join(CHAIN)} \"$@\"\n")
            script.chmod(0o755)
        return str(script)

    monkeypatch.setattr(record.Place, "compiled", compiled)


def test_launches_that_were_not_reached_are_named_with_the_reason() -> None:
    found = record.reached(seen())
    assert found["launches"] == 5 and found["launches_of_rewritten_kernels"] == 3 and found["kernels"] == 2
    assert found["not_reached"] == {"b": {"launches": 2, "why": "its first instruction is a branch"}}


@pytest.mark.parametrize(("program", "calibration", "good"), [
    ("print('77')", seen(), True), ("import os; print(open(os.environ['PDL_STRESS_PLAN']).read().split()[2])", seen(), False),
    ("print('77')", Calibration(), False), ("print('77')", seen(unknown_launches=1), False)])
def test_a_part_is_good_if_the_bits_are_the_same_and_every_launch_is_accounted_for(
        program: str, calibration: Calibration, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "environment", lambda eager_loading: {})
    monkeypatch.setattr(record, "read_calibration", lambda path: calibration)
    assert whole(record._under_plans(place(tmp_path), [sys.executable, "-c", program]))["good"] is good


def test_kernels_that_wait_for_others_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "environment", lambda eager_loading: {})
    found = whole(record._under_plans(place(tmp_path), [*CHAIN, "right"]))
    plans = sorted((path.read_text() for path in tmp_path.glob("plan*/plan")), key=len)
    assert found["left_alone_when_held"] == ["ncclDevKernel_AllReduce"]
    assert "* 3 15000 5000 7\nncclDevKernel_AllReduce 0 0 0 1\n" in plans[-1] and found["same_bits_in_all"] is True


def test_a_part_that_fails_says_why_and_stops_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = record.Record(tmp_path / "record.json", {"name": "none"}, 1)

    def measured(program: str, limit_s: float = 600.0) -> dict[str, object]:
        def part(here: record.Place) -> record.Steps:
            yield {"before": 1}
            yield {"out": here.output([sys.executable, "-c", program])}

        kept.measure("cub", part, place(tmp_path, limit_s))
        found: dict[str, object] = json.loads((tmp_path / "record.json").read_text())["parts"]["cub"]
        assert found["good"] is False and found["before"] == 1 and kept.good == {"cub": False} and "LOOK" in capsys.readouterr().out
        return found

    assert "no such luck" in str(measured("import sys; sys.exit('no such luck')")["error"])
    assert "ended with 69: no device" in str(measured("print('no device'); raise SystemExit(69)")["error"])
    late = measured("import sys, time; print('half way', file=sys.stderr, flush=True); time.sleep(600)", 3.0)
    assert "did not end in 3 s; it had said: half way" in str(late["error"])


def test_no_program_is_started_when_the_time_of_its_part_is_over(tmp_path: Path) -> None:
    with pytest.raises(record.Failed, match="the time of this part was over"):
        replace(place(tmp_path), until=0.0).output([sys.executable, "-c", "raise SystemExit(5)"])


@pytest.mark.parametrize("name", ["gpus", "mps", "nccl"])
def test_a_right_program_is_left_in_peace_and_its_race_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_programs(monkeypatch)
    (tmp_path / "nvidia-cuda-mps-control").write_text("#!/bin/sh\n")
    (tmp_path / "nvidia-cuda-mps-control").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("WANTED", {"mps": "CUDA_MPS_PIPE_DIRECTORY", "nccl": "NCCL_NVLS_ENABLE"}.get(name, ""))
    found = whole(record.PARTS[name](place(tmp_path)))
    assert found["good"] is True, found
    race, right = found["race"], found.get("clean") or found["stressed"]
    assert isinstance(race, dict) and race["labels"] and race["code"] == 1
    assert isinstance(right, dict) and right.get("different", 0) == 0 == right.get("code", 0)


def test_the_second_lane_uses_the_second_gpu_and_earlier_parts_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def part(here: record.Place) -> record.Steps:
        yield {"visible": here.output([sys.executable, "-c", "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES', 'all'))"]).strip(),
               "good": True}

    file = tmp_path / "record.json"
    device = {"name": "stand-in", "cc": 90}
    file.write_text(json.dumps({"device": device, "gpus": 1, "sources": "old", "parts": {"clean": {"good": True}}}))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(record, "query", lambda: {"devices": [device, device]})
    monkeypatch.setattr(record, "COMPILED", {})
    monkeypatch.setattr(record, "PARTS", {"gpus": part, "find": part, "clean": part})
    monkeypatch.setattr(sys, "argv", ["record", "--output", str(file), "--only", "gpus", "--beside", "find"])
    assert record.main() == 0
    parts = json.loads(file.read_text())["parts"]
    assert parts["gpus"]["visible"] == "all" and parts["find"]["visible"] == "1"
    assert parts["clean"] == {"sources": "old", "gpus": 1, "good": True}
    assert parts["gpus"]["sources"] == sources_hash(*record.HERE.iterdir())
