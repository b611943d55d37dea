"""Finds CUPTI, whose activity records time kernels without serialising them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolkit import toolkit_programs

VARIABLE = "PDL_TRACE_CUPTI"
_ASK = ("import importlib.util as u; s = u.find_spec('nvidia'); "
        "print('\\n'.join(s.submodule_search_locations) if s and s.submodule_search_locations else '')")
_ASK_S = 600.0  # against a hang
_FOLDERS = ("lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path.name.partition(".so")[2]))) or (0,)


def _in_folder(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("libcupti.so*"), key=_version, reverse=True)


def _of_python(command: list[str]) -> Iterator[Path]:
    """What the interpreter of this command has among its packages: PyTorch brings its own, and one process takes one."""
    interpreter = shutil.which(command[0]) if command else None
    if interpreter is None or not re.match(r"python|torchrun|pytest", Path(interpreter).name):
        interpreter = shutil.which("python3")
    if interpreter is None:
        return
    program = interpreter if "python" in Path(interpreter).name else str(Path(interpreter).with_name("python3"))
    try:
        done = run_tool([program, "-c", _ASK], timeout=_ASK_S)
    except (SetupImpossible, subprocess.TimeoutExpired):
        return
    for root in filter(None, os.fsdecode(done.stdout).splitlines()):
        for folder in sorted(Path(root).glob("*/lib"), reverse=True):
            yield from _in_folder(folder)


def _of_toolkits() -> Iterator[Path]:
    roots = [program.resolve().parent.parent for program in toolkit_programs("nvcc")]
    roots += [*sorted(Path("/usr/local").glob("cuda*"), reverse=True), Path("/usr")]
    for root in dict.fromkeys(roots):
        for name in _FOLDERS:
            yield from _in_folder(root / name)


def find_cupti(command: list[str]) -> Path:
    """The library; SetupImpossible with what to install if there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise SetupImpossible(f"{VARIABLE} names {named}, which is not there")
        return Path(named)
    found = next(iter([*_of_python(command), *_of_toolkits()]), None)
    if found is None:
        raise SetupImpossible("libcupti.so is not there, from which the times come; install the CUDA Toolkit's CUPTI (or the PyPI "
                              f"package nvidia-cuda-cupti), name the file in {VARIABLE}, or do without times: --no-times")
    return found
