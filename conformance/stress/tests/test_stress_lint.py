"""Both builds of a module that waits are linted, and what differs is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.stress import lint_compare

NVCC = find_nvcc()
pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")
WAIT = 'asm volatile("griddepcontrol.wait;" ::: "memory");'
GOOD = f'extern "C" __global__ void k(int *p) {{ {WAIT} p[threadIdx.x]++; }}\n'
LATE = f'extern "C" __global__ void k(int *p) {{ int x = *(volatile int *)p; {WAIT} p[threadIdx.x] = x; }}\n'


def cubin(folder: Path, name: str, text: str) -> Path:
    assert NVCC
    (folder / f"{name}.cu").write_text(text)
    subprocess.run([NVCC.path, "-arch=sm_90", "-cubin", f"{name}.cu", "-o", f"{name}.cubin"], cwd=folder, check=True)
    return folder / f"{name}.cubin"


def test_what_appears_and_what_is_hidden_is_said(tmp_path: Path) -> None:
    good, late = cubin(tmp_path, "good", GOOD), cubin(tmp_path, "late", LATE)
    place = tmp_path / "pairs"
    place.mkdir()
    lint_compare.keep(place, good, good, ["k"])
    lint_compare.keep(place, late, late, ["k"])
    same = lint_compare.compare(place)
    assert same.modules == 2 and same.changes == [] and same.problem is None
    lint_compare.keep(place, good, late, ["k"])
    assert any("rewriting brings `read-before-wait`" in line for line in lint_compare.compare(place).changes)
    lint_compare.keep(place, late, good, ["k"])
    assert any("rewriting hides `read-before-wait`" in line for line in lint_compare.compare(place).changes)


def test_what_cannot_be_linted_is_a_problem_and_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = cubin(tmp_path, "good", GOOD)
    lint_compare.keep(tmp_path, good, good, ["k"])
    monkeypatch.setattr(lint_compare, "KIT", tmp_path)
    assert "were not linted" in (lint_compare.compare(tmp_path).problem or "")


def wrapped(folder: Path, **environment: str) -> str:
    assert NVCC
    (folder / "a.cu").write_text(GOOD)
    done = subprocess.run([KIT / "stress" / "ptx" / "pdl-stress-nvcc", NVCC.path, "-arch=sm_90", "-c", "a.cu", "-o", "a.o"], cwd=folder,
                          env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_wrapper_keeps_a_pair_for_a_module_that_waits(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    place.mkdir()
    wrapped(tmp_path, PDL_STRESS_PAIRS=str(place))
    found = lint_compare.compare(place)
    assert (found.modules, found.kernels, found.changes, found.problem) == (1, 1, [], None)


def test_the_wrapper_lints_by_itself_and_can_be_told_not_to(tmp_path: Path) -> None:
    """A stand-in for lint that fails, so that its being called is seen."""
    code = ("import sys; from pathlib import Path; from conformance.stress import lint_compare; from conformance.stress.ptx import nvcc_wrapper; "
            "lint_compare.KIT = Path('/nowhere'); sys.exit(nvcc_wrapper.main(sys.argv[1:]))")
    assert NVCC
    (tmp_path / "a.cu").write_text(GOOD)
    argv = [sys.executable, "-c", code, str(NVCC.path), "-arch=sm_90", "-c", "a.cu", "-o", "a.o"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert "were not linted" in subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True, env=here).stderr
    quiet = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True, env={**here, "PDL_STRESS_LINT": "0"})
    assert "linted" not in quiet.stderr
