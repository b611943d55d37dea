"""Lint on the examples notices what it is there for (that they are clean is examples.lint.* of CTest); the kernel that 15
compiles at run time is linted here, too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import require

EXAMPLES = ROOT / "examples"


def _lint(text: str, folder: Path) -> tuple[int, str]:
    tools = require(for_gpu=True)
    assert tools.nvcc is not None
    source, image = folder / "kernel.cu", folder / "kernel.cubin"
    source.write_text(text)
    compile_it = [str(tools.nvcc.path), "-O3", "-arch=sm_90", "-cubin", f"-I{ROOT}", f"-I{EXAMPLES}", str(source), "-o", str(image)]
    subprocess.run(compile_it, check=True)
    argv = [sys.executable, str(KIT), "lint", "--overlapping", "^(?!.*(hold|join))", str(image)]
    done = subprocess.run(argv, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["01_two_kernels", "10_reduction", "18_warp_roles_tma"])
def test_an_example_without_its_wait_is_found(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / f"{name}.cu").read_text()
    without, count = re.subn(r"pdl_wait\(\);", "", text, count=1)
    assert count == 1
    code, said = _lint(without, tmp_path)
    assert code == 1, said


def test_weights_are_errors_until_they_are_declared(tmp_path: Path) -> None:
    text = (EXAMPLES / "09_two_layers.cu").read_text()
    code, said = _lint(text, tmp_path)
    assert code == 1 and "before the wait" in said


def test_kernel_of_the_c_host_is_clean(tmp_path: Path) -> None:
    text = (EXAMPLES / "15_c_host_nvrtc" / "main.c").read_text()
    kernel = "\n".join(part.replace('\\"', '"') for part in re.findall(r'^\s*"((?:[^"\\]|\\.)*?)\\n";?$', text, re.M))
    assert "pdl_wait();" in kernel and '#include "pdl_device.cuh"' in kernel
    assert _lint(kernel, tmp_path)[0] == 0
    assert _lint(kernel.replace("pdl_wait();", ""), tmp_path)[0] == 1
