"""What is kept of open branches (ways.c), checked by a program in C against all that can be the case."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.lint import analyser
from conformance.lint.tests.conftest import ROOT
from conformance.pdlkit.toolchain import find_c_compiler

_HANG_S = 3600  # a limit against hangs only


def test_ways(tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    sources = [ROOT / "conformance/lint/tests/ways_test.c", *(path for path in analyser.c_files() if path.name != "main.c")]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(analyser.SOURCES)]
    subprocess.run([str(compiler.path), *flags, "-o", str(tmp_path / "ways"), *map(str, sources)], check=True, capture_output=True)
    done = subprocess.run([str(tmp_path / "ways")], capture_output=True, text=True, timeout=_HANG_S)
    assert (done.returncode, done.stdout) == (0, "")
