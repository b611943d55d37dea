"""What is recorded on a GPU: the counts of launches that were reached, and what makes a part good; with programs that need no GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.stress.injection import library
from conformance.stress.on_gpu import record
from conformance.stress.program import Calibration, Launches


def seen(**changed: object) -> Calibration:
    kernels = {"a": Launches("a", True, eager=3), "b": Launches("b", False, "its first instruction is a branch", captured=2),
               "loaded": Launches("loaded", False, "never launched")}
    return Calibration(kernels, **changed)  # type: ignore[arg-type]


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
    place = record.Place(tmp_path, sys.executable, 60.0)
    assert record._under_plans(place, [sys.executable, "-c", program])["good"] is good


def test_a_part_that_fails_says_why_and_stops_no_other(tmp_path: Path) -> None:
    place = record.Place(tmp_path, sys.executable, 60.0)
    found = record._measured(lambda p: {"out": p.output([sys.executable, "-c", "import sys; sys.exit('no such luck')"])}, place)
    assert found["good"] is False and "no such luck" in str(found["error"]) and "LOOK" in record._row("cub", found)
    quiet = record._measured(lambda p: {"out": p.output([sys.executable, "-c", "print('no device'); raise SystemExit(69)"])}, place)
    assert "ended with 69: no device" in str(quiet["error"])
    late = record._measured(lambda p: {"out": p.output([sys.executable, "-c", "while True: pass"])}, record.Place(tmp_path, "", 0.5))
    assert "did not end" in str(late["error"])
