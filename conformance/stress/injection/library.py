"""Makes the injection library and the environment in which a program runs with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from conformance.pdlkit.places import KIT
from conformance.pdlkit.private_folder import private_folder
from conformance.rewrite import library as rewriter

SOURCES = KIT / "stress" / "injection"


def library() -> Path:
    """The library, compiled if need be."""
    return rewriter.injection_library("libpdlstress.so", sorted(SOURCES.glob("*.c")), "the injection library")


def work_folder() -> Path:
    """Where sessions and the zoo keep what they make."""
    return private_folder("stress")


def has_triton(command: list[str]) -> bool:
    """Whether the command is a Python that has Triton: it then loads lazily, because PyTorch has thousands of kernels."""
    interpreter = shutil.which(command[0])
    if interpreter is None or "python" not in Path(interpreter).name:
        return False
    ask = "import importlib.util as u, sys; sys.exit(u.find_spec('triton') is None)"
    try:
        return subprocess.run([interpreter, "-c", ask], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def environment(eager_loading: bool = True) -> dict[str, str]:
    """For rewritten runs. The caller adds PDL_STRESS_PLAN and PDL_STRESS_RECORDS."""
    found = plain_environment()
    before = found.get("LD_PRELOAD")
    found["LD_PRELOAD"] = f"{library()}:{before}" if before else str(library())
    if eager_loading:  # the first launch of a lazily loaded kernel never overlaps
        found.setdefault("CUDA_MODULE_LOADING", "EAGER")
    return found


def plain_environment() -> dict[str, str]:
    """For plain runs: the user's environment, without the variable that hides overlap."""
    found = dict(os.environ)
    found.pop("CUDA_LAUNCH_BLOCKING", None)
    return found
