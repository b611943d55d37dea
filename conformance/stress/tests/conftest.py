"""The program that races by rule (fake_races.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fake_races(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Compiled: a search starts it some hundred times, and Python would take longer to start than all else that the tests do."""
    program = tmp_path_factory.mktemp("fake") / "fake_races"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, Path(__file__).with_name("fake_races.c")], check=True)
    return str(program)
