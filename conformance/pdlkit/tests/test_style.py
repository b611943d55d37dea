"""The tree is clean for ruff and mypy --strict, and the examples are laid out as .clang-format says."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.places import BUILD, ROOT

SCRIPTS = ("examples/gains.py", "examples/19_pytorch_extension/run.py")  # outside of the package
MYPY_OPTIONS = ("--cache-dir", str(BUILD / "test" / "mypy"), "--no-error-summary")  # kept: without it mypy takes most of a minute
LEAST_CLANG_FORMAT = 15  # the first that knows InsertBraces


def _tool(name: str) -> list[str]:
    """How to call the tool in this interpreter's environment; its script there may name the folder in which it was first made."""
    if importlib.util.find_spec(name) is None:
        pytest.fail(f"{name} is not in this environment; `python3 conformance test` makes one that has it")
    return [sys.executable, "-m", name]


def _complaints(argv: list[str], where: Path = ROOT) -> list[str]:
    """Lines that name a file of the tree and a fault in it."""
    done = subprocess.run(argv, cwd=where, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.count(":") >= 2 and ": note:" not in line]
    assert lines or done.returncode == 0, done.stdout + done.stderr
    return lines


def test_ruff() -> None:
    found = _complaints([*_tool("ruff"), "check", "--no-cache", "--output-format", "concise", "."])
    assert not found, "\n".join(found)


def test_mypy() -> None:
    assert not (found := _complaints([*_tool("mypy"), *MYPY_OPTIONS])), "\n".join(found)
    assert not (found := _complaints([*_tool("mypy"), "--strict", *MYPY_OPTIONS, *SCRIPTS])), "\n".join(found)


def test_a_fault_is_noticed(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import os\ndef f(x):\n    return x\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert _complaints([*_tool("ruff"), "check", "--no-cache", "--output-format", "concise", "bad.py"], tmp_path)
    assert _complaints([*_tool("mypy"), "--strict", *MYPY_OPTIONS, "bad.py"], tmp_path)


def test_layout_of_the_examples() -> None:
    program = shutil.which("clang-format", path=f"{Path(sys.executable).parent}:{Path('/usr/bin')}")
    if program is None:
        pytest.skip("clang-format is not here, so the layout of the examples was not checked")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if (number := re.search(r"version (\d+)", version)) and int(number[1]) < LEAST_CLANG_FORMAT:
        pytest.skip(f"clang-format {number[1]} cannot read .clang-format: the layout was not checked; take {LEAST_CLANG_FORMAT} or later")
    files = [path for pattern in ("*.cu", "*.h", "*/*.c", "*/*.cu", "*/*.h") for path in (ROOT / "examples").glob(pattern)]
    done = subprocess.run([program, "--dry-run", "--Werror", *map(str, files)], capture_output=True, text=True)
    assert len(files) > 20 and done.returncode == 0, done.stderr
