"""Finds programs of the CUDA Toolkit: nvcc, ptxas, nvdisasm, compute-sanitizer and the others, all in the same places."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from conformance.pdlkit import packages

ROOTS = ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT")  # variables that name a toolkit's folder


def _folders() -> Iterator[Path]:
    """Where programs may lie: what the environment names, PATH, the usual folders, then what was fetched as a package."""
    compiler = os.environ.get("CUDACXX")
    if compiler:
        yield Path(shutil.which(compiler) or compiler).resolve().parent
    yield from (Path(os.environ[name], "bin") for name in ROOTS if os.environ.get(name))
    yield from map(Path, os.get_exec_path())
    linked = shutil.which("nvcc")  # PATH may hold a link to nvcc alone
    if linked:
        yield Path(linked).resolve().parent
    yield Path("/usr/local/cuda/bin")
    yield from sorted(Path("/usr/local").glob("cuda-*/bin"), reverse=True)
    yield from sorted(Path("/opt").glob("cuda*/bin"), reverse=True)
    fetched = packages.toolkit_root()
    if fetched:
        yield fetched / "bin"


def toolkit_programs(name: str) -> Iterator[Path]:
    """Every program of this name, first come first."""
    return (folder / name for folder in _folders() if os.access(folder / name, os.X_OK) and (folder / name).is_file())


def toolkit_program(name: str) -> Path | None:
    """The program of this name that the kit uses."""
    return next(toolkit_programs(name), None)
