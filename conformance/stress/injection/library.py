"""Makes the injection library and the environment in which a program runs with it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.pdlkit.compiled import compile_to
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_c_compiler
from conformance.stress import lint_compare
from conformance.stress.options import Options
from conformance.stress.ptx import nvcc_wrapper, ptxas_wrapper

SOURCES = KIT / "stress" / "injection"
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-fvisibility=hidden", "-fPIC", "-shared"]


def library() -> Path:
    """The library, compiled if this source has not been before."""
    sources = sorted(SOURCES.glob("*.c"))
    text = b"".join(path.read_bytes() for path in [*sources, SOURCES / "injection.h"])
    target = nvcc_wrapper.work_folder() / f"libpdlstress-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if target.is_file():
        return target
    compiler = find_c_compiler()
    if compiler is None:
        raise SetupImpossible("there is no C compiler on PATH for the injection library (Debian and Ubuntu: apt-get install gcc)")
    return compile_to(target, compiler, [*FLAGS, *sources, "-ldl", "-lpthread"], "the injection library")


def tritons_ptxas(command: list[str]) -> str | None:
    """The assembler Triton would take: the user's setting, else the one inside its package."""
    named = os.environ.get("TRITON_PTXAS_PATH")
    if named:
        return named
    interpreter = shutil.which(command[0])
    if interpreter is None or "python" not in Path(interpreter).name:
        return None
    ask = ("import importlib.util as u; s = u.find_spec('triton'); "
           "print(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')")
    try:
        done = subprocess.run([interpreter, "-c", ask], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    inside = Path(done.stdout.strip() or "/nowhere", "backends", "nvidia", "bin", "ptxas")
    return str(inside) if inside.is_file() else None


def _has_ptxas() -> bool:
    try:
        return bool(ptxas_wrapper.real_ptxas())
    except SetupImpossible:
        return False


def environment(folder: Path, command: list[str], options: Options, eager_loading: bool = True) -> dict[str, str]:
    """For rewritten runs. The caller adds PDL_STRESS_PLAN and PDL_STRESS_RECORDS."""
    found = dict(os.environ)
    found.pop("CUDA_LAUNCH_BLOCKING", None)  # it hides every missing wait
    before = found.get("LD_PRELOAD")
    found["LD_PRELOAD"] = f"{library()}:{before}" if before else str(library())
    found.update(options.environment())
    found |= {
        "PDL_STRESS_FOLDER": str(folder),
        "PDL_STRESS_PYTHON": sys.executable,
        "PDL_STRESS_PACKAGE": str(KIT),
        ptxas_wrapper.LOG: str(folder / "build.jsonl"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
    }
    pairs = folder / "pairs"
    pairs.mkdir(parents=True, exist_ok=True)
    found[lint_compare.PAIRS] = str(pairs)
    if eager_loading:  # the first launch of a lazily loaded kernel never overlaps
        found.setdefault("CUDA_MODULE_LOADING", "EAGER")
    inner = tritons_ptxas(command)
    if inner and not _has_ptxas():  # the toolkit's own comes first for NVRTC, whose PTX may be too new for Triton's
        found[ptxas_wrapper.REAL] = inner
    try:
        script = str(nvcc_wrapper.ptxas_script(inner))
        found |= {"TRITON_PTXAS_PATH": script, "TRITON_PTXAS_BLACKWELL_PATH": script}
    except SetupImpossible:
        pass  # no assembler here: Triton and NVRTC's machine code stay as they are, and the report names their kernels
    return found


def plain_environment() -> dict[str, str]:
    """For plain runs: the user's own, without what hides overlap."""
    found = dict(os.environ)
    found.pop("CUDA_LAUNCH_BLOCKING", None)
    return found
