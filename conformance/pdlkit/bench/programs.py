"""Builds and runs the two programs behind bench."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from pdlkit.build import locked
from pdlkit.exits import NOT_APPLICABLE, KitExit, SetupImpossible
from pdlkit.places import BUILD, KIT, ROOT
from pdlkit.toolchain import require

SOURCES = {"pdl-launch-gap": KIT / "bench" / "launch_gap.cu", "pdl-launch-cost": KIT / "bench" / "launch_cost.cu"}
_GENCODE = ("-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_90,code=compute_90")
_LONGEST_S = 600


class NoGpu(KitExit):
    """Nothing can be measured here."""

    code = NOT_APPLICABLE


def build(say: Callable[[str], None]) -> Path:
    """Compile both programs below build/bench, unless they are newer than what they are made of."""
    folder = BUILD / "bench"
    with locked(folder):
        tools = require(for_gpu=True)
        assert tools.nvcc is not None
        for name, source in SOURCES.items():
            program = folder / name
            made_of = (source, ROOT / "pdl.h", ROOT / "pdl_device.cuh")
            if program.is_file() and program.stat().st_mtime > max(path.stat().st_mtime for path in made_of):
                continue
            say(f"compiling {source.name}")
            argv = [str(tools.nvcc.path), "-O3", *_GENCODE, f"-I{ROOT}", str(source), "-o", str(program)]
            done = subprocess.run(argv, capture_output=True, text=True)
            if done.returncode != 0:
                raise SetupImpossible(f"{source.name} does not compile: {done.stderr.strip()[-500:]}")
    return folder


def run(program: Path, *arguments: str) -> list[str]:
    """The program's lines; NoGpu if it found none, SetupImpossible with its own words if it failed."""
    try:
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=_LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupImpossible(f"{program.name} could not be run to its end: {error}") from None
    if done.returncode == NOT_APPLICABLE:
        raise NoGpu("there is no GPU here that can overlap kernels, so there is nothing to measure")
    if done.returncode != 0:
        raise SetupImpossible(f"{program.name} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout.splitlines()
