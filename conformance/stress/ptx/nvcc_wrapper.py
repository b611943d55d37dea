"""Stands in for nvcc: the same compiler out of a shadow of its toolkit, whose ptxas and fatbinary rewrite.

nvcc puts the folder it was called from first on its search path and takes ptxas from there, so a folder of links in
which only two tools are ours is enough; nothing of the toolkit is changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import BUILD, KIT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.stress import lint_compare
from conformance.stress.ptx import fatbinary_wrapper, ptxas_wrapper

LINT = "PDL_STRESS_LINT"  # 0: do not lint the two builds
STAND_INS = {"ptxas": ptxas_wrapper.REAL, "fatbinary": fatbinary_wrapper.REAL}


def work_folder() -> Path:
    """A folder of ours that can be written and be named in LD_PRELOAD: below build/, or else below the user's temporary folder."""
    for place in (BUILD / "stress", Path(tempfile.gettempdir(), f"pdl-stress-{os.getuid()}")):
        if set(" :") & set(str(place)):  # the loader takes both for the end of a name
            continue
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(place, os.W_OK):
            return place
    raise SetupImpossible("neither build/ nor the temporary folder can be written and has a path without spaces and colons")


def _script(part: str, variable: str, real: Path) -> str:
    return (f"#!/bin/sh\n{variable}='{real}'\nexport {variable}\nunset LD_PRELOAD\n"
            f"exec '{sys.executable}' '{KIT}' stress {part} \"$@\"\n")


def _link(target: Path, source: Path) -> None:
    try:
        target.symlink_to(source)
    except FileExistsError:
        pass


def shadow(nvcc: Path) -> Path:
    """The stand-in compiler for this nvcc; made once, safe if several builds make it at the same time."""
    home = nvcc.parent.resolve()
    if not (home / "ptxas").exists():  # a launcher script or a link elsewhere: follow it to the toolkit
        home = nvcc.resolve().parent
    if not (home / "ptxas").exists():
        raise SetupImpossible(f"there is no ptxas beside {nvcc}; name the nvcc inside the CUDA Toolkit's bin folder")
    key = hashlib.sha256(f"{home}|{sys.executable}|{Path(__file__).resolve()}".encode()).hexdigest()[:12]
    top = work_folder() / f"toolkit-{key}"
    bin_folder = top / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    for entry in home.parent.iterdir():
        if entry.name != home.name:
            _link(top / entry.name, entry)
    for entry in home.iterdir():
        if entry.name not in STAND_INS:
            _link(bin_folder / entry.name, entry)
    for part, variable in STAND_INS.items():
        _put(bin_folder / part, _script(part, variable, home / part))
    return bin_folder / "nvcc"


def _put(target: Path, text: str) -> None:
    if target.is_file() and target.read_text() == text:
        return
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(target)


def _is_compiler(word: str) -> bool:
    return "nvcc" in Path(word).name and shutil.which(word) is not None


def ptxas_script(named: str | None = None) -> Path:
    """A stand-alone ptxas stand-in, for tools that are told where their assembler is; `named` is the one behind it."""
    real = Path(named or ptxas_wrapper.real_ptxas())
    key = hashlib.sha256(f"{real}|{sys.executable}".encode()).hexdigest()[:12]
    target = work_folder() / f"assembler-{key}" / "ptxas"
    target.parent.mkdir(parents=True, exist_ok=True)
    _put(target, _script("ptxas", ptxas_wrapper.REAL, real))
    return target


def _compile(command: list[str]) -> int:
    """Run the compiler; lint both builds of each module that waits, and say what rewriting changed."""
    if lint_compare.folder() is not None or os.environ.get(LINT) == "0":
        return subprocess.run(command, check=False).returncode
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as place:
        code = subprocess.run(command, env={**os.environ, lint_compare.PAIRS: place}, check=False).returncode
        found = lint_compare.compare(Path(place))
    for line in [*found.changes, *filter(None, [found.problem])]:
        print(f"stress: {line}", file=sys.stderr)
    return code


def main(argv: list[str]) -> int:
    """`stress nvcc [NVCC] ARGS...`, as a launcher in front of nvcc or in its place."""
    if argv and argv[0] == "--print-ptxas":
        print(ptxas_script())
        return 0
    if argv and _is_compiler(argv[0]):
        compiler, rest = Path(shutil.which(argv[0]) or argv[0]), argv[1:]
    elif argv and not argv[0].startswith("-") and "clang" in Path(argv[0]).name:
        return _compile([argv[0], f"--ptxas-path={ptxas_script()}", *argv[1:]])
    else:
        found = find_nvcc()
        if found is None:
            raise SetupImpossible("nvcc is not there; put the CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
        compiler, rest = found.path, argv
    return _compile([str(shadow(compiler)), *rest])
