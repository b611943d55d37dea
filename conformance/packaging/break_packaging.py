"""Breaks the packaging in a copy of the tree, one fault at a time, and shows that a test of this folder notices each.

    python3 conformance dev break-packaging --work FOLDER [--cuda ROOT]

Exit codes: 0 every fault was noticed and the unbroken copy passes, 1 otherwise.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CMAKE, INSTALL, PC = "CMakeLists.txt", "cmake/install.cmake", "cmake/pdl.pc.in"
AFTER_PROJECT = "project(pdl LANGUAGES NONE)\n"


@dataclass(frozen=True)
class Fault:
    """Replaces one text in one file; `test` must fail then."""

    what: str
    test: str
    file: str
    old: str
    new: str


def _added(what: str, test: str, line: str) -> Fault:
    return Fault(what, test, CMAKE, AFTER_PROJECT, f"{AFTER_PROJECT}{line}\n")


FAULTS = (
    _added("CTest for everybody", "add_subdirectory", "include(CTest)"),
    _added("a toolkit is demanded", "add_subdirectory", "find_package(CUDAToolkit REQUIRED)"),
    _added("a language is enabled", "find_package", "enable_language(CXX)"),
    _added("a cache variable of CMake's", "fetch_content", 'set(CMAKE_CXX_STANDARD 17 CACHE STRING "")'),
    _added("a warning", "find_package", "message(WARNING tests)"),
    _added("another target", "add_subdirectory", "add_custom_target(docs)"),
    _added("a variable in the parent", "fetch_content", "set(headers pdl.h PARENT_SCOPE)"),
    _added("xxHash is looked for", "add_subdirectory", "find_path(XXHASH_INCLUDE_DIR xxhash.h)"),
    Fault("the parent gets our version", "add_subdirectory", CMAKE,
          "project(pdl LANGUAGES NONE)", "project(pdl VERSION 0.1.0 LANGUAGES NONE)"),
    Fault("install rules below a parent", "fetch_content", CMAKE, "pdl.pc\" ${PROJECT_IS_TOP_LEVEL})", "pdl.pc\" ON)"),
    Fault("tests below a parent", "fetch_content", CMAKE, "xxHash)\" ${PROJECT_IS_TOP_LEVEL})", "xxHash)\" ON)"),
    Fault("a header is not installed", "find_package", INSTALL, "pdl.h pdl_device.cuh", "pdl.h"),
    Fault("the package has an architecture", "install", INSTALL, " ARCH_INDEPENDENT", ""),
    Fault("any version fits", "install", INSTALL,
          "pdlConfigVersion.cmake\" VERSION ${pdl_VERSION}", "pdlConfigVersion.cmake\" VERSION 0.99.0"),
    Fault("an older minor version fits before 1.0", "install", INSTALL, "SameMinorVersion", "SameMajorVersion"),
    Fault("the build folder cannot be used as a prefix", "install", INSTALL, "export(EXPORT", "# export(EXPORT"),
    Fault("pdl.pc knows its first place", "pkg_config", PC, "${pcfiledir}/@pdl_prefix_from_pc@", "@CMAKE_INSTALL_PREFIX@"),
    Fault("pdl.pc links something", "pkg_config", PC, "Cflags:", "Libs: -lcudart\nCflags:"),
    Fault("pdl.pc has another version", "pkg_config", PC, "@pdl_VERSION@", "9.9.9"),
    Fault("a warning in C++", "vendored", "pdl.h", "#define PDL_ZERO {}", "#define PDL_ZERO {0}"),
    Fault("a constant changed its value", "api", "pdl.h", "PDL_OVERLAP_IF_POSSIBLE = 1", "PDL_OVERLAP_IF_POSSIBLE = 3"),
    Fault("a member moved", "api", "pdl.h", "    int cc; ", "    char pad;\n    int cc; "),
    Fault("a parameter's type changed", "api", "pdl.h", "pdl_event_create(cudaEvent_t *event)", "pdl_event_create(void *event)"),
    Fault("a device function is gone", "api", "pdl_device.cuh", "void pdl_trigger(void)", "void pdl_release(void)"),
    Fault("a heavy include", "include_cost", "pdl.h",
          "#include <stddef.h>", "#ifdef __cplusplus\n#include <string>\n#endif\n#include <stddef.h>"),
)


def copy_tree(folder: Path) -> None:
    """What the packaging tests use. conformance/ is copied, too, so that a leak of it would show."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("pdl.h", "pdl_device.cuh", CMAKE):
        shutil.copy(ROOT / name, folder)
    for name in ("cmake", "conformance"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "results"))


def command(test: str, tree: Path, work: Path, cuda: Path) -> list[str]:
    """The test's command line, as CTest calls it."""
    python = [sys.executable, "-B"]
    if test in ("api", "include_cost"):
        more = ["--compilers", "g++", "--levels=-O2"] if test == "include_cost" else []
        return [*python, str(HERE / f"{test}.py"), "--headers", str(tree), "--cuda", str(cuda), *more]
    return [*python, str(HERE / "consume.py"), test, "--source", str(tree), "--work", str(work), "--cuda", str(cuda)]


def ends(test: str, tree: Path, work: Path, cuda: Path) -> tuple[int, str]:
    done = subprocess.run(command(test, tree, work, cuda), capture_output=True, text=True, check=False)
    return done.returncode, ((done.stdout + done.stderr).strip().splitlines() or ["nothing was said"])[-1]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Show that the packaging tests notice faults.")
    parser.add_argument("--work", type=Path, required=True, help="a scratch folder")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    options = parser.parse_args(argv)
    tree, work = options.work.resolve() / "tree", options.work.resolve() / "work"
    wrong = 0
    copy_tree(tree)
    for test in dict.fromkeys(fault.test for fault in FAULTS):
        code, said = ends(test, tree, work, options.cuda)
        wrong += code != 0
        print(f"{'passes' if code == 0 else 'FAILS unbroken: ' + said}: {test}", flush=True)
    for fault in FAULTS:
        copy_tree(tree)
        text = (tree / fault.file).read_text(encoding="utf-8")
        if fault.old not in text:
            print(f"CANNOT BE PLANTED: {fault.what}")
            wrong += 1
            continue
        (tree / fault.file).write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        code, said = ends(fault.test, tree, work, options.cuda)
        wrong += code != 1
        print(f"{'noticed' if code == 1 else 'NOT NOTICED'}: {fault.what} ({fault.test}): {said[:90]}", flush=True)
    return 1 if wrong else 0
