"""Builds and runs what bench measures with: a program for the gap between kernels, a library for the cost of a launch."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.pdlkit.exits import NOT_APPLICABLE, KitExit, SetupImpossible
from conformance.pdlkit.places import BUILD, KIT, ROOT
from conformance.pdlkit.private_folder import locked
from conformance.pdlkit.toolchain import require
from conformance.pdlkit.venv import ensure_venv, pins

GAP, COST = "pdl-launch-gap", "libpdl-launch-cost.so"
_SOURCES = {GAP: ("launch_gap.cu",), COST: ("launch_cost.cu", "launch_peers.cuh")}
_OPTIONS = ("-O3", "-std=c++17", "-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_90,code=compute_90")
_LIBRARY = ("-shared", "-Xcompiler", "-fPIC")
_LONGEST_S = 600


class NoGpu(KitExit):
    """Nothing can be measured here."""

    code = NOT_APPLICABLE


def peer_headers() -> Path:
    """The folder of CUTLASS's headers, fetched by pip on first use, because its launchers are to be measured, too."""
    venv = ensure_venv("cutlass").parent.parent
    headers = next(iter(venv.glob("lib/python*/site-packages/cutlass_library/source/include")), None)
    if headers is None:
        raise SetupImpossible(f"{', '.join(pins('cutlass'))} holds no headers; without --peers its launchers are left out")
    return headers


def build(say: Callable[[str], None], peers: bool = False, folder: Path = BUILD / "bench") -> Path:
    """Compile both into the folder, unless they are newer than what they are made of."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "building the programs of bench"):
        tools = require(for_gpu=True)
        assert tools.nvcc is not None
        include = [f"-I{ROOT}"] + ([f"-I{peer_headers()}"] if peers else [])
        for name, sources in _SOURCES.items():
            result = folder / name
            files = [KIT / "bench" / source for source in sources]
            made_of = (*files, ROOT / "pdl.h", ROOT / "pdl_device.cuh")
            if not peers and result.is_file() and result.stat().st_mtime > max(path.stat().st_mtime for path in made_of):
                continue
            say(f"compiling {sources[0]}")
            library = _LIBRARY if name == COST else ()
            argv = [str(tools.nvcc.path), *_OPTIONS, *library, *include, str(files[0]), "-o", str(result)]
            done = subprocess.run(argv, capture_output=True, text=True)
            if done.returncode != 0:
                raise SetupImpossible(f"{sources[0]} does not compile: {done.stderr.strip()[-500:]}")
    return folder


def count_instructions(folder: Path = BUILD / "bench") -> list[str]:
    """JSON lines: how many instructions pdl.h puts around a launch; none where they cannot be counted."""
    try:
        tools = require(for_gpu=False)
    except SetupImpossible:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "pdl-count-instructions"
    include = [f"-I{ROOT}", "-isystem", str(tools.headers)]
    source = KIT / "bench" / "count_instructions.c"
    argv = [str(tools.compiler.path), "-std=gnu11", "-O2", *include, str(source), "-o", str(program)]
    if subprocess.run(argv, capture_output=True).returncode != 0:
        return []
    done = subprocess.run([str(program)], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def _run(argv: Sequence[str], what: str) -> list[str]:
    """Its lines; NoGpu if it found none, SetupImpossible with its own words if it failed."""
    kit = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(list(argv), capture_output=True, text=True, timeout=_LONGEST_S,
                              env=os.environ | {"PYTHONPATH": kit})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupImpossible(f"{what} could not be run to its end: {error}") from None
    if done.returncode == NOT_APPLICABLE:
        raise NoGpu("there is no GPU here that can overlap kernels, so there is nothing to measure")
    if done.returncode != 0:
        raise SetupImpossible(f"{what} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout.splitlines()


def run_gap(folder: Path, repetitions: int) -> list[str]:
    """JSON lines of pdl-launch-gap."""
    return _run([str(folder / GAP), str(repetitions)], GAP)


def run_cost(folder: Path, rounds: int) -> list[str]:
    """JSON lines of the launchers, by this interpreter, so that its Triton is found."""
    return _run([sys.executable, "-m", "conformance.bench.launch_cost", str(folder / COST), str(rounds)], "the launchers")
