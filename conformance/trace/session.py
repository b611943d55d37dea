"""Runs a program under the tracing library, and reads what it wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from conformance.pdlkit.children import Kept
from conformance.pdlkit.compiled import Recipe, compiled, preloadable
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.private_folder import private_folder
from conformance.pdlkit.toolchain import find_c_compiler
from conformance.rewrite.library import INJECTION, INTERPOSING
from conformance.trace.cupti import VARIABLE

SOURCES = KIT / "trace" / "injection"
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-fvisibility=hidden", "-fPIC", "-shared"]


def library() -> Path:
    """The tracing library, compiled if need be."""
    compiler = find_c_compiler()
    if compiler is None:
        raise SetupImpossible("there is no C compiler on PATH for the tracing library (Debian and Ubuntu: apt-get install gcc)")
    sources = [*sorted(SOURCES.glob("*.c")), *INTERPOSING]
    headers = [path for folder in (SOURCES, INJECTION) for path in sorted(folder.glob("*.h"))]
    recipe = Recipe("libpdltrace.so", [*sources, *headers], [*FLAGS, "-I", INJECTION, *sources, "-ldl", "-lpthread"],
                    "the tracing library")
    return preloadable(compiled(recipe, compiler))


@dataclass(frozen=True)
class Ran:
    """One run of the program."""

    folder: Path
    code: int | None  # None: it was ended after its time
    wall_s: float


def new_folder() -> Path:
    """A folder that only this user can read."""
    return Path(tempfile.mkdtemp(prefix="session-", dir=private_folder("trace")))


def environment(folder: Path, cupti: Path | None, rank: str | None, sample: int = 1, preloaded: Path | None = None) -> dict[str, str]:
    """In which the program runs; without CUPTI launches are noted, but not timed. `preloaded`: a library that does more than trace."""
    found = dict(os.environ)
    before, path = found.get("LD_PRELOAD"), str(preloaded or library())
    found["LD_PRELOAD"] = f"{path}:{before}" if before else path
    found["PDL_TRACE_FOLDER"] = str(folder)
    found["PDL_TRACE_TIMES"] = "1" if cupti else "0"
    if cupti:
        found[VARIABLE] = str(cupti)
    found["PDL_TRACE_SAMPLE"] = str(sample)
    if rank is not None:
        found["PDL_TRACE_RANK"] = rank
    found.setdefault("NVTX_INJECTION64_PATH", path)
    return found


def run(command: list[str], folder: Path, variables: dict[str, str], quiet: bool, timeout: float | None) -> Ran:
    """Run the program with our standard streams; `quiet` discards its output."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return Ran(folder, *ended(command, variables, subprocess.DEVNULL if quiet else None, timeout))


def ended(command: list[str], variables: dict[str, str], output: int | IO[bytes] | None, timeout: float | None) -> tuple[int | None, float]:
    """The exit code of the program (None if it had to be ended after its time), and how long it ran. All that it started ends with it,
    and it ends with us."""
    try:
        kept = Kept(command, environment=variables, stdin=None, stdout=output, stderr=None)
    except SetupImpossible as reason:
        raise BadArguments(str(reason)) from None
    began = time.monotonic()  # the program has been started; what keeps it took longer to start
    try:
        return kept.process.wait(timeout), time.monotonic() - began
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - began
    finally:
        kept.stop()


def remove(folder: Path) -> None:
    """A session's folder, which this command made."""
    shutil.rmtree(folder, ignore_errors=True)
