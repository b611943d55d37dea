"""Programs of the CUDA Toolkit that a tool calls: nvdisasm, cuobjdump, ptxas. From the toolkit, else from pinned PyPI packages."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolchain import find_nvcc
from conformance.pdlkit.toolkit import toolkit_program
from conformance.pdlkit.venv import complete_venv, ensure_venv, pins

PACKAGES = {"nvdisasm": "disassemblers", "cuobjdump": "disassemblers", "ptxas": "toolkit"}  # program -> set of requirements


class ToolFailed(Exception):
    """A program of the toolkit could not read its input; the message is its own."""


def _installed(name: str) -> Path | None:
    override = os.environ.get("PDL_" + name.upper())
    return Path(override) if override else toolkit_program(name) or _beside(name)


def _beside(name: str) -> Path | None:
    """The program out of NVIDIA's package in this very Python, where `pip install pdl-conformance` puts it."""
    folders = (Path(entry, "nvidia") for entry in sys.path if entry)
    found = (path for folder in folders if folder.is_dir() for path in sorted(folder.glob(f"*/bin/{name}")))
    return next((path for path in found if os.access(path, os.X_OK)), None)


def programs_at_hand() -> bool:
    """Whether nvdisasm and cuobjdump are here without fetching anything."""
    wanted = ("nvdisasm", "cuobjdump")
    return all(_installed(name) for name in wanted) or complete_venv(PACKAGES[wanted[0]]) is not None


@cache
def tool(name: str) -> Path:
    """The program's path; SetupImpossible with what to do if there is none."""
    found = _installed(name)
    if found is not None:
        return found
    venv = ensure_venv(PACKAGES[name]).parent.parent
    found = next(iter(sorted(venv.glob(f"lib/python*/site-packages/nvidia/**/bin/{name}"))), None)
    if found is None:
        raise SetupImpossible(f"{name} is neither in the CUDA Toolkit nor in {', '.join(pins(PACKAGES[name]))}; set PDL_{name.upper()}")
    found.chmod(found.stat().st_mode | 0o111)
    return found


def call(command: list[str], cwd: Path | None = None) -> str:
    """Standard output of a program as text; otherwise as output_of."""
    return output_of(command, cwd).decode(errors="replace")


def output_of(command: list[str], cwd: Path | None = None, timeout: float = 900) -> bytes:
    """Standard output of a program; ToolFailed with its last lines if it fails, SetupImpossible if it cannot start."""
    try:
        done = run_tool(command, cwd=cwd, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{Path(command[0]).name} did not end in {timeout:.0f} s") from None
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines()
        said = " / ".join(lines[-2:]) or f"exit code {done.returncode}"
        raise ToolFailed(f"{Path(command[0]).name}: {said}")
    return done.stdout


def compile_for_this_gpu(source: Path, program: Path, *options: str) -> None:
    """A CUDA program as machine code for this machine's GPU; SetupImpossible if nvcc is not there or refuses it."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise SetupImpossible("nvcc is not there; put the CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
    try:
        output_of([str(nvcc.path), "-std=c++17", "-arch=native", *options, str(source), "-o", str(program)])
    except ToolFailed as error:
        raise SetupImpossible(f"{source.name} does not compile: {error}") from None
