"""Finds what the kit is built with, and says in one sentence what is missing and where to put it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.pdlkit import packages
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolkit import ROOTS, toolkit_program

OLDEST_TOOLKIT = (12, 3)
OLDEST_CMAKE = (3, 25)
ASK_S = 60.0


def ask(argv: Sequence[str], stdin: str | None = None) -> tuple[int, str]:
    """Run a tool that only answers a question: (exit code, both outputs); 127 if it cannot be started."""
    try:
        done = subprocess.run(
            list(argv), input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=ASK_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout


def version_in(text: str, pattern: str) -> tuple[int, ...] | None:
    """The dotted number that follows the pattern."""
    match = re.search(pattern + r"\D*?([0-9]+(?:\.[0-9]+)+)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def dotted(version: tuple[int, ...] | None) -> str | None:
    """12.3 for (12, 3)."""
    return ".".join(map(str, version)) if version else None


@dataclass(frozen=True)
class Tool:
    """A program that was found, with its version."""

    name: str
    path: Path
    version: tuple[int, ...] | None

    def words(self) -> str:
        """Name and version."""
        return f"{self.name} {dotted(self.version) or '(version unknown)'}"


def _tool(name: str, path: str | Path, pattern: str) -> Tool:
    code, text = _version_told(str(path), os.stat(path).st_mtime_ns)
    return Tool(name, Path(path), version_in(text, pattern) if code == 0 else None)


@cache
def _version_told(path: str, _changed: int) -> tuple[int, str]:
    """What the tool says of its version. It is asked once: some are scripts that start slowly."""
    return ask([path, "--version"])


def find_cmake() -> Tool | None:
    """CMake on PATH."""
    path = shutil.which("cmake")
    return _tool("cmake", path, "cmake version") if path else None


def find_ninja() -> Tool | None:
    """Ninja on PATH, or fetched earlier; make does as well."""
    path = shutil.which("ninja") or shutil.which("ninja-build") or packages.ninja_program()
    return _tool("ninja", path, "") if path else None


def find_c_compiler() -> Tool | None:
    """The C compiler CMake will take: CC, else cc, gcc or clang."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        path = shutil.which(name)
        if path:
            code, text = ask([path, "--version"])
            family = "clang" if "clang" in text else "gcc"
            return Tool(family, Path(path), version_in(text.splitlines()[0], r"\s") if code == 0 and text else None)
    return None


def _cxx_names() -> list[str]:
    return [*filter(None, map(os.environ.get, ("CXX", "CUDAHOSTCXX"))), "c++", "g++", "clang++"]


def find_nvcc() -> Tool | None:
    """nvcc: the program that CUDACXX names, whatever it is called; else the first that a toolkit has."""
    named = os.environ.get("CUDACXX")
    path: str | Path | None = shutil.which(named) if named else None
    path = path or toolkit_program("nvcc")
    return _tool("nvcc", path, r"release [0-9.]+, V") if path else None


def cuda_headers(nvcc: Tool | None) -> Path | None:
    """The folder that holds cuda_runtime_api.h."""
    roots = [nvcc.path.resolve().parents[1]] if nvcc else []
    roots += [Path(os.environ[name]) for name in ROOTS if os.environ.get(name)]
    folders = [folder for root in roots for folder in (root / "include", *root.glob("targets/*/include"))]
    folders += [Path("/usr/local/cuda/include"), Path("/usr/include")]
    return next((folder for folder in folders if (folder / "cuda_runtime_api.h").is_file()), None)


def find_xxhash(compiler: Tool | None) -> str | None:
    """How xxhash.h is found: the variable's folder, "system", or the folder it was fetched to; None if it is not."""
    named = os.environ.get("XXHASH_INCLUDE_DIR")
    if named:
        return named if Path(named, "xxhash.h").is_file() else None
    if compiler is None:
        return None
    code, _ = ask([str(compiler.path), "-E", "-x", "c", "-o", os.devnull, "-"], "#include <xxhash.h>\n")
    if code == 0:
        return "system"
    fetched = packages.xxhash_folder()
    return str(fetched) if fetched else None


@dataclass(frozen=True)
class Toolchain:
    """Everything a build needs, found."""

    cmake: Tool
    ninja: Tool | None
    compiler: Tool
    nvcc: Tool | None
    headers: Path
    xxhash: str


_APT = "Debian and Ubuntu: apt-get install "


def missing_basics(for_gpu: bool) -> list[str]:
    """One sentence per thing that is missing and that only the machine's owner can install."""
    found: list[str] = []
    cmake = find_cmake()
    if cmake is None:
        found.append(f"CMake {dotted(OLDEST_CMAKE)} or newer is not on PATH ({_APT}cmake, or pip install cmake)")
    elif cmake.version and cmake.version[:2] < OLDEST_CMAKE:
        found.append(f"CMake {dotted(cmake.version)} is too old; put {dotted(OLDEST_CMAKE)} or newer first on PATH")
    if find_c_compiler() is None:
        found.append(f"there is no C compiler on PATH ({_APT}g++, or set CC and CXX)")
    elif for_gpu and not any(map(shutil.which, _cxx_names())):
        found.append(f"there is no C++ compiler on PATH, without which nvcc compiles nothing ({_APT}g++, or set CXX)")
    return found


def missing_parts(for_gpu: bool) -> list[str]:
    """One sentence per thing that is missing and that `require` can fetch as a package, given a network."""
    found: list[str] = []
    compiler, nvcc = find_c_compiler(), find_nvcc()
    if find_ninja() is None and shutil.which("make") is None:
        found.append(f"neither ninja nor make is on PATH ({_APT}ninja-build)")
    if for_gpu and nvcc is None:
        found.append(
            "nvcc is not there; install a CUDA Toolkit of version 12.3 or newer that the driver supports, then put its "
            "bin folder on PATH or set CUDA_HOME to its folder"
        )
    elif for_gpu and nvcc and nvcc.version and nvcc.version[:2] < OLDEST_TOOLKIT:
        found.append(f"CUDA Toolkit {dotted(nvcc.version)} is too old; set CUDA_HOME to one of version 12.3 or newer")
    if not for_gpu and cuda_headers(nvcc) is None:
        found.append(
            "cuda_runtime_api.h is not there (the model needs the CUDA Toolkit's headers, not a GPU); install a CUDA "
            "Toolkit of version 12.3 or newer and set CUDA_HOME to its folder"
        )
    if compiler is not None and find_xxhash(compiler) is None:
        named = os.environ.get("XXHASH_INCLUDE_DIR")
        where = f"XXHASH_INCLUDE_DIR is set, but {named} holds no xxhash.h" if named else "xxhash.h is not there"
        found.append(
            f"{where}; install it ({_APT}libxxhash-dev), or download that one file from the xxHash project and set "
            "XXHASH_INCLUDE_DIR to the folder that holds it"
        )
    return found


def missing(for_gpu: bool) -> list[str]:
    """One sentence per thing that is missing for a build."""
    return missing_basics(for_gpu) + missing_parts(for_gpu)


def _fetch(for_gpu: bool, driver_cuda: int | None) -> None:
    """Get what can be had as packages, below build/; SetupImpossible joins the sentences of all that cannot."""
    nvcc, compiler, sentences = find_nvcc(), find_c_compiler(), []
    wanted: list[Callable[[], object]] = []
    if nvcc is None and (for_gpu or cuda_headers(None) is None):
        wanted.append(lambda: packages.make_toolkit(driver_cuda))
    if find_ninja() is None and shutil.which("make") is None:
        wanted.append(packages.make_ninja)
    if find_xxhash(compiler) is None and not os.environ.get("XXHASH_INCLUDE_DIR"):
        wanted.append(packages.make_xxhash)
    for make in wanted:
        try:
            make()
        except SetupImpossible as reason:
            sentences.append(str(reason))
    if sentences:
        raise SetupImpossible("; ".join(sentences))


def require(for_gpu: bool, driver_cuda: int | None = None) -> Toolchain:
    """The toolchain, fetching what can be fetched; SetupImpossible names everything that is missing at once.

    driver_cuda is what the driver can run, such as 12040; None if nothing will be run on a driver.
    """
    basics = missing_basics(for_gpu)
    gaps = basics + missing_parts(for_gpu)
    if gaps and not basics:
        _fetch(for_gpu, driver_cuda)
        gaps = missing(for_gpu)
    if gaps:
        raise SetupImpossible("; ".join(gaps))
    cmake, compiler, nvcc = find_cmake(), find_c_compiler(), find_nvcc()
    headers, xxhash = cuda_headers(nvcc), find_xxhash(compiler)
    assert cmake and compiler and headers and xxhash
    return Toolchain(cmake, find_ninja(), compiler, nvcc, headers, xxhash)
