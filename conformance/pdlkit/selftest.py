"""The command `test`: set-up, then every test that needs no GPU, through CTest."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from conformance.pdlkit import places, toolchain
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import configure
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.private_folder import locked
from conformance.pdlkit.venv import ensure_venv

PACKAGES = ("pytest==8.3.3", "hypothesis==6.115.3", "jsonschema==4.23.0")
_OWN_TESTS = "pdlkit."  # the room whose tests always exist


def _say(text: str) -> None:
    print(text, flush=True)


def test_python() -> Path:
    """An interpreter with the test packages: a venv with pinned ones, else this one if it happens to have them."""
    try:
        return ensure_venv(PACKAGES)
    except SetupImpossible as reason:
        names = [package.partition("==")[0] for package in PACKAGES]
        if all(importlib.util.find_spec(name) for name in names):
            _say(f"using this Python's own {', '.join(names)}, whatever their versions: {reason}")
            return Path(sys.executable)
        raise


def _step(argv: Sequence[str], what: str) -> None:
    """A step that must succeed; its output is shown as it comes."""
    _say(f"== {what}")
    if subprocess.run(list(argv), cwd=places.ROOT, stdin=subprocess.DEVNULL).returncode != 0:
        raise SetupImpossible(f"{what} failed; its own words stand above")


def _registered(ctest: str, folder: Path) -> list[str]:
    """The tests CTest knows in this build."""
    done = subprocess.run(
        [ctest, "--test-dir", str(folder), "--show-only=json-v1"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetupImpossible(f"CTest cannot list the tests: {done.stderr.strip()}")
    return [test["name"] for test in json.loads(done.stdout)["tests"]]


def main(argv: list[str]) -> int:
    """The command `test`; 0 if nothing failed, else 1; 69 if it could not be set up."""
    parser = Parser("test", "set-up and every test that needs no GPU", epilog="What is skipped is listed, never counted.")
    parser.add_argument("--only", metavar="REGEX", help="only tests whose CTest name matches")
    parser.add_argument("--jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)), help="at once (all cores)")
    options = parser.parse_args(argv)
    tools = toolchain.require(for_gpu=True)
    python = test_python()
    folder = places.BUILD / "test"
    with locked(folder, "running the tests"):
        _say(f"== configure ({tools.compiler.words()}, {tools.nvcc.words() if tools.nvcc else 'no nvcc'})")
        configure("test", tools, None, [f"-DPDL_TEST_PYTHON={python}"])
        jobs = str(max(1, options.jobs))
        _step([str(tools.cmake.path), "--build", str(folder), "--parallel", jobs], "build")
        return _run_tests(tools, folder, jobs, options.only)


def _run_tests(tools: toolchain.Toolchain, folder: Path, jobs: str, only: str | None) -> int:
    ctest = str(tools.cmake.path.with_name("ctest"))
    if not any(name.startswith(_OWN_TESTS) for name in _registered(ctest, folder)):
        raise SetupImpossible("the build registered none of the kit's own Python tests; conformance/CMakeLists.txt lost them")
    command = [ctest, "--test-dir", str(folder), "--output-on-failure", "--no-tests=error", "--parallel", jobs,
               "--output-junit", str(folder / "junit.xml")]
    if only:
        command += ["--tests-regex", only]
    record = folder / "junit.xml"
    record.unlink(missing_ok=True)
    _say("== test")
    code = subprocess.run(command, cwd=places.ROOT, stdin=subprocess.DEVNULL).returncode
    if record.is_file():
        _say(closing_line(record))
    return OK if code == 0 else FAILED


def closing_line(junit: Path) -> str:
    """The counts of one CTest run; CTest's own percentage takes a skipped test for a passed one."""
    counts = Counter(case.get("status") for case in ElementTree.parse(junit).iter("testcase"))
    passed, failed = counts.pop("run", 0), counts.pop("fail", 0)
    return f"{passed} passed, {failed} failed, {sum(counts.values())} skipped"
