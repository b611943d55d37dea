"""The command `test`: set-up, then every test that needs no GPU, through CTest."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit import ctest, cuda_programs, places, toolchain
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import configure
from conformance.pdlkit.children import run_shown
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.private_folder import locked, make_private
from conformance.pdlkit.venv import ensure_venv

PACKAGES = "test"  # set of requirements
_NEEDED = ("pytest", "hypothesis", "jsonschema")
_KEPT = places.KIT / "pdlkit" / "tests" / "kept_nvdisasm.sh"
_OWN_TESTS = "pdlkit."  # the room whose tests always exist


def _say(text: str) -> None:
    print(text, flush=True)


def test_python() -> Path:
    """An interpreter with the test packages: a venv with pinned ones, else this one if it happens to have them."""
    try:
        return ensure_venv(PACKAGES)
    except SetupImpossible as reason:
        if all(importlib.util.find_spec(name) for name in _NEEDED):
            _say(f"using this Python's own {', '.join(_NEEDED)}, whatever their versions: {reason}")
            return Path(sys.executable)
        raise


def _step(argv: Sequence[str], what: str) -> None:
    """A step that must succeed; its output is shown as it comes."""
    _say(f"== {what}")
    if run_shown(argv, places.ROOT) != 0:
        raise SetupImpossible(f"{what} failed; its own words stand above")


def _registered(ctest: str, folder: Path) -> list[str]:
    """The tests CTest knows in this build."""
    done = subprocess.run(
        [ctest, "--test-dir", str(folder), "--show-only=json-v1"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupImpossible(f"CTest cannot list the tests: {done.stderr.strip()}")
    names = [str(test["name"]) for test in json.loads(done.stdout)["tests"]]
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise SetupImpossible(f"two tests are called {twice}, so one would hide the other; give one of them another name")
    return names


def main(argv: list[str]) -> int:
    """The command `test`; 0 if nothing failed, else 1; 69 if it could not be set up."""
    parser = Parser("test", "set-up and every test that needs no GPU", epilog="What is skipped is listed, never counted.")
    parser.add_argument("--only", metavar="REGEX", help="only tests whose CTest name matches")
    parser.add_argument("--jobs", type=int, metavar="N", help="at once (one for each core to build, one more to test)")
    parser.add_argument("--keep-times", action="store_true", help="keep how long the tests took as their usual times")
    options = parser.parse_args(argv)
    if options.keep_times and options.only:
        parser.error("--keep-times needs the times of all tests; leave out --only")
    tools = toolchain.require(for_gpu=True)
    python = test_python()
    folder = places.BUILD / "test"
    with locked(folder, "running the tests"):
        _say(f"== configure ({tools.compiler.words()}, {tools.nvcc.words() if tools.nvcc else 'no nvcc'})")
        configure("test", tools, None, [f"-DPDL_TEST_PYTHON={python}"])
        cores = len(os.sched_getaffinity(0))
        _step([str(tools.cmake.path), "--build", str(folder), "--parallel", str(max(1, options.jobs or cores))], "build")
        return _run_tests(tools, folder, max(1, options.jobs or cores + 1), options.only, options.keep_times)


def _environment(folder: Path) -> dict[str, str]:
    """Of the tests. They start Python a thousand times: where its bytecode is not to be kept in the tree, it is kept in the build."""
    environment = dict(os.environ)
    if environment.pop("PYTHONDONTWRITEBYTECODE", None):
        environment.setdefault("PYTHONPYCACHEPREFIX", str(folder / "pycache"))
    try:
        environment["PDL_NVDISASM"] = str(_keeping(cuda_programs.tool("nvdisasm"), folder / "listings"))
    except SetupImpossible as reason:
        _say(f"tests that read machine code will say so: {reason}")
    return environment


def _keeping(program: Path, folder: Path) -> Path:
    """A program called nvdisasm that keeps what this one says, in this run of the tests."""
    shutil.rmtree(folder, ignore_errors=True)
    kept = make_private(folder) / "nvdisasm"
    kept.write_text(f"#!/bin/sh\nKEPT_NVDISASM={shlex.quote(str(program))}\nKEPT_LISTINGS={shlex.quote(str(folder))}\n"
                    f". {shlex.quote(str(_KEPT))}\n", encoding="utf-8")
    kept.chmod(0o700)
    return kept


def _run_tests(tools: toolchain.Toolchain, folder: Path, jobs: int, only: str | None, keep_times: bool) -> int:
    """One test more than there are cores, because many of them wait: for a limit, for a process that starts, for a file."""
    program = str(tools.cmake.path.with_name("ctest"))
    names = _registered(program, folder)
    if not any(name.startswith(_OWN_TESTS) for name in names):
        raise SetupImpossible("the build registered none of the kit's own Python tests; conformance/CMakeLists.txt lost them")
    record = folder / "junit.xml"
    command = [program, "--test-dir", str(folder), "--output-on-failure", "--no-tests=error", "--parallel", str(jobs), "--timeout",
               str(ctest.HANG_S), "--output-junit", str(record)]
    if only:
        command += ["--tests-regex", only]
        names = [name for name in names if re.search(only, name)]
    record.unlink(missing_ok=True)
    _say(f"== test ({len(names)} tests, {jobs} at once)")
    code = ctest.run_ctest(command, folder, names, _say, _environment(folder))
    if keep_times and code == 0:
        ctest.keep_typical(folder, names)
    if record.is_file():
        for line in ctest.summary(record):
            _say(line)
    return OK if code == 0 else FAILED
