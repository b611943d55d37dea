"""What `dev driver-only` hides is hidden from the installed package, and a status that differs is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.packaging import driver_only
from conformance.packaging.driver_only import compared, main, without_toolkit
from conformance.pdlkit.exits import BadArguments

PYTHON = Path(sys.executable)


def test_folders_and_single_programs_are_hidden_for_the_command_alone(tmp_path: Path) -> None:
    toolkit, shared = tmp_path / "toolkit", tmp_path / "shared"
    for folder in (toolkit, shared):
        folder.mkdir()
        (folder / "nvcc").write_text("#!/bin/sh\n")
        (folder / "nvcc").chmod(0o755)
    hidden = [toolkit, shared / "nvcc"]
    look = f"test ! -e {toolkit}/nvcc && test ! -x {shared}/nvcc -o ! -f {shared}/nvcc && echo hidden"
    done = without_toolkit(hidden, ["/bin/sh", "-c", look], PYTHON)
    if done.returncode != 0 and subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    assert done.stdout == "hidden\n"
    assert all((folder / "nvcc").is_file() and (folder / "nvcc").stat().st_size for folder in (toolkit, shared))


def test_the_environment_leads_to_no_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/lib64:/driver/lib")
    monkeypatch.setattr(driver_only, "_HIDE", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    monkeypatch.setattr(driver_only, "_UNSHARE", ["env"])
    said = without_toolkit([tmp_path], ["/usr/bin/env"], PYTHON).stdout.splitlines()
    assert "LD_LIBRARY_PATH=/driver/lib" in said and not any(str(tmp_path) in line for line in said)


def test_each_other_status_is_named() -> None:
    recorded = {"verdict": "CONFORMS", "tests": [{"name": "A", "status": "PASS"}, {"name": "B", "status": "PASS"}]}
    here = {"verdict": "UNPROVEN", "tests": [{"name": "A", "status": "PASS"}, {"name": "B", "status": "CRASH"}]}
    assert list(compared(recorded, here)) == [
        "recorded CONFORMS, here UNPROVEN",
        "1 of 2 cases have the recorded status",
        "  B: recorded PASS, here CRASH",
    ]


def test_an_older_report_is_never_taken_for_the_new_one(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="exists; name a new folder"):
        main([str(tmp_path / "x.whl"), "--like", "any.json", "--output", str(tmp_path)])
