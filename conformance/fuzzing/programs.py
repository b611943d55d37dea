"""The fuzzed C code as programs: each target with libFuzzer where clang has it, else with by_mutation.c, always with sanitizers.

The sanitizers are linked statically, so a program made on one machine runs on another that has neither compiler nor CUDA.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import cuda_headers, find_c_compiler, find_nvcc
from conformance.rewrite import library
from conformance.rewrite.tests import damaged

HERE = Path(__file__).parent
ANALYSIS, HEADERS, MODEL = KIT / "lint" / "analysis", KIT / "headers", KIT / "model"
FLAGS = ("-std=gnu11", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all")
Parts = list[str | Path]


def _rewriter() -> Parts:
    extra, _ = library.compression()
    return [f"-I{library.HERE}", *library.CORE, *extra]


def _analysis() -> Parts:
    return [f"-I{ANALYSIS}", *(path for path in sorted(ANALYSIS.glob("**/*.c")) if path.name != "main.c")]


def _on_the_model() -> Parts:
    cuda = cuda_headers(find_nvcc())
    if cuda is None:
        raise SetupImpossible("CUDA's headers are not there; put the CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
    model = (path for path in sorted(MODEL.glob("*.c")) if path.name != "litmus.c")
    return [f"-I{cuda}", f"-I{ROOT}", f"-I{MODEL}", f"-I{HEADERS}", *model, HEADERS / "kernels.c", "-lpthread"]


def _numbers() -> dict[str, bytes]:
    return {"zero": bytes(112), "ones": b"\1\0\0\0" * 28}


def _listings() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((HERE / "corpus").iterdir())}


@dataclass(frozen=True)
class Target:
    """One program: its file, what else it is made of, inputs to begin with."""

    source: Path
    parts: Callable[[], Parts]
    seeds: Callable[[], dict[str, bytes]]


TARGETS = {
    "rewriter": Target(HERE / "rewriter.c", _rewriter, damaged.seeds),
    "lint-analysis": Target(HERE / "lint_analysis.c", _analysis, _listings),
    "graph-check": Target(HERE / "graph_check.c", _on_the_model, _numbers),
    "arguments": Target(HERE / "arguments.c", _on_the_model, _numbers),
}
IN_ONE_PROCESS = ("rewriter", "arguments")  # the others start processes or draw graphs, in which libFuzzer sees nothing


def build(name: str, folder: Path, by_mutation: bool = False) -> Path:
    """The program of this target, named for how its inputs are chosen, and beside it a folder with inputs to begin with."""
    target, clang = TARGETS[name], shutil.which("clang")
    guided = clang is not None and name in IN_ONE_PROCESS and not by_mutation
    compiler = clang if guided and clang else str(library.compiler().path)
    static = [] if guided or _is_clang(compiler) else ["-static-libasan", "-static-libubsan"]
    how: Parts = ["-fsanitize=fuzzer,address,undefined"] if guided else ["-fsanitize=address,undefined", *static, HERE / "by_mutation.c"]
    program = folder / f"{name}.{'libfuzzer' if guided else 'mutation'}"
    seeds = folder / f"{name}.seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for file, data in target.seeds().items():
        (seeds / file).write_bytes(data)
    command = [compiler, *FLAGS, *how, target.source, *target.parts(), "-o", program]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupImpossible(f"the fuzzer of {name} does not build with {compiler}: {done.stderr.strip()[-2000:]}")
    return program


def _is_clang(compiler: str) -> bool:
    found = find_c_compiler()
    return found is not None and str(found.path) == compiler and "clang" in found.words().lower()


def built(folder: Path) -> dict[str, Path]:
    """The programs in this folder, by target."""
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".libfuzzer", ".mutation")}
