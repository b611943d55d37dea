"""What a report tells of other drivers: the last whole run of each, never one of its own driver, and nothing from a damaged file."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.pdlkit.other_drivers import other_drivers


def record(
    folder: Path, name: str, driver: str, started: str, status: str, only: tuple[str, ...] = (), waived: tuple[str, ...] = (),
    kind: str = "gpu", nvcc: str = "13.0.88",
) -> None:
    """A recorded run, cut to what is read of it."""
    report = {
        "schema": "pdl-report/1", "device": {"kind": kind, "name": "NVIDIA H200"}, "driver": {"version": driver},
        "toolchain": {"nvcc": nvcc}, "run": {"started": started, "only": list(only)}, "verdict": "CONFORMS",
        "waived": [{"rule": rule} for rule in waived], "rules": [{"id": "WAIT-01", "status": status}],
    }
    (folder / f"{name}.json").write_text(json.dumps(report))


def test_the_last_whole_run_of_each_other_driver_is_told(tmp_path: Path) -> None:
    record(tmp_path, "old", "580.1", "2026-01-01", "FAIL")
    record(tmp_path, "new", "580.1", "2026-02-01", "PASS")
    record(tmp_path, "part", "580.1", "2026-03-01", "FAIL", ("WAIT-01",))
    record(tmp_path, "waived", "580.1", "2026-04-01", "FAIL", waived=("WAIT-01",))
    record(tmp_path, "own", "590.1", "2026-01-01", "FAIL")
    record(tmp_path, "model", "580.1", "2026-05-01", "FAIL", kind="model")
    (tmp_path / "damaged.json").write_text("{")
    (tmp_path / "other.json").write_text('{"schema": "litmus/1"}')
    (told,) = other_drivers("NVIDIA H200", "590.1", tmp_path)
    assert (told["driver"], told["started"], told["rules"]) == ("580.1", "2026-02-01", {"WAIT-01": "PASS"})
    assert len(other_drivers("NVIDIA B200", "590.1", tmp_path)) == 2
    assert other_drivers("NVIDIA H200", "590.1", tmp_path / "missing") == []


def test_each_toolkit_has_a_result_of_its_own(tmp_path: Path) -> None:
    record(tmp_path, "one", "580.1", "2026-01-01", "PASS")
    record(tmp_path, "two", "580.1", "2026-02-01", "FAIL", nvcc="13.1.80")
    assert [(told["toolkit"], told["rules"]["WAIT-01"]) for told in other_drivers("NVIDIA H200", "590.1", tmp_path)] == [
        ("13.0.88", "PASS"), ("13.1.80", "FAIL"),
    ]
