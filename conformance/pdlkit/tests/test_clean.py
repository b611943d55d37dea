"""The Python code is clean by ruff and by mypy --strict, both pinned with hashes among the test packages."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from conformance.pdlkit.places import ROOT

CLEAN = ("conformance/pdlkit", "conformance/__main__.py", "conformance/packaging/fresh_machines.py")  # add a room when it is clean


@pytest.mark.parametrize("command", [["ruff", "check", *CLEAN], ["mypy", "--no-incremental", *CLEAN]], ids=["ruff", "mypy"])
def test_the_code_is_clean(command: list[str]) -> None:
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"this Python has no {command[0]}; `test` fetches it")
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
