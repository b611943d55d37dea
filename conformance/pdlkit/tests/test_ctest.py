"""The command `test` while it runs and at its end: what did not run is not counted as passed, and nothing is silent for long."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import ctest, selftest
from conformance.pdlkit.ctest import Course, run_ctest, summary
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible

PROJECT = """cmake_minimum_required(VERSION 3.21)
project(x LANGUAGES NONE)
enable_testing()
add_test(NAME good COMMAND ${CMAKE_COMMAND} -E echo "never shown")
add_test(NAME bad.one COMMAND ${CMAKE_COMMAND} -E cat no-such-file)
add_test(NAME left.out COMMAND sh -c "echo 'SKIPPED [1] a/test_x.py:3: needs a GPU'; exit 77")
add_test(NAME slow COMMAND sleep 2)
add_test(NAME waits COMMAND sleep 3600)
set_tests_properties(left.out PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(waits PROPERTIES TIMEOUT 1)
"""


@pytest.mark.parametrize(("states", "line"), [
    (["run", "run", "fail"], "2 passed, 1 failed, 0 skipped"),
    (["run", "notrun", "disabled"], "1 passed, 0 failed, 2 skipped"),
    ([], "0 passed, 0 failed, 0 skipped"),
])
def test_each_state_has_its_own_count(states: list[str], line: str, tmp_path: Path) -> None:
    cases = "".join(f'<testcase name="t{number}" status="{state}"/>' for number, state in enumerate(states))
    (tmp_path / "junit.xml").write_text(f"<testsuite>{cases}</testsuite>")
    assert summary(tmp_path / "junit.xml")[-1] == line


def test_a_run_of_ctest_is_told_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cmake, program = shutil.which("cmake"), shutil.which("ctest")
    if cmake is None or program is None:
        pytest.skip("needs CMake")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    subprocess.run([cmake, "-S", tmp_path, "-B", tmp_path], check=True, capture_output=True)
    monkeypatch.setattr(ctest, "QUIET_S", 0.2)
    said = list[str]()
    names = ["good", "bad.one", "left.out", "slow", "waits"]
    code = run_ctest([program, "--test-dir", str(tmp_path), "--output-on-failure", "--parallel", "2", "--output-junit", "junit.xml"],
                     tmp_path, names, said.append)
    assert code != 0 and any("no-such-file" in line for line in said) and not any("never shown" in line for line in said)
    assert any("of 5 tests" in line and "running: " in line for line in said)
    assert json.loads((tmp_path / "seconds.json").read_text()).keys() == set(names)
    *_, counts = lines = summary(tmp_path / "junit.xml")
    assert counts == "2 passed, 2 failed, 1 skipped" and lines[0].startswith("slowest: slow 2 s")
    assert "skipped: left.out: needs a GPU" in lines and {"failed: bad.one", "failed: waits"} <= set(lines)


@pytest.mark.parametrize(("line", "quiet"), [
    ("      Start  3: a.b", True), ("1/9 Test  #3: a.b ......   Passed    0.52 sec", True),
    ("1/9 Test #3: a.b ...***Failed    0.52 sec", False),
    ("1/9 Test #3: a.b .......***Skipped   0.52 sec", False), ("1/9 Test #3: a.b ...***Timeout  60.02 sec", False),
    ("1/9 Test #3: a.b .....***Exception: SegFault  0.30 sec", False), ("anything else", False),
])
def test_lines_of_ctest_are_told_apart(line: str, quiet: bool) -> None:
    course = Course({}, 1)
    assert course.read(line) is quiet
    assert ("a.b" in course.seconds) == ("sec" in line) and course.bad == any(word in line for word in ("Failed", "Timeout", "Exception"))


def test_the_estimate_follows_what_tests_took_before() -> None:
    course = Course({"short": 1.0, "long": 99.0}, 2, started=time.monotonic() - 10)
    assert course.left_s() is None
    course.read("1/2 Test  #1: short ......   Passed    10.0 sec")
    left = course.left_s()
    assert left is not None and 980 < left < 1000 and "about 16 min left" in course.words() or "about 17 min left" in course.words()


def test_the_longest_test_starts_first_in_a_fresh_build_too(tmp_path: Path) -> None:
    cmake, program = shutil.which("cmake"), shutil.which("ctest")
    if cmake is None or program is None:
        pytest.skip("needs CMake")
    names = ["a.short", "b.short", "c.short", "z.long"]
    tests = "".join(f"add_test(NAME {name} COMMAND ${{CMAKE_COMMAND}} -E echo {name})\n" for name in names)
    (tmp_path / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES NONE)\nenable_testing()\n{tests}")
    subprocess.run([cmake, "-S", tmp_path, "-B", tmp_path], check=True, capture_output=True)
    typical = tmp_path / "typical.json"
    typical.write_text(json.dumps({"z.long": 60, "b.short": 2, "gone": 5}))
    said = list[str]()
    command = [program, "--test-dir", str(tmp_path), "--parallel", "2"]
    assert run_ctest([*command, "--verbose"], tmp_path, names, said.append, typical=typical) == 0
    started = [line.split()[1] for line in said if line.startswith("test ")]
    assert [names[int(number) - 1] for number in started[:2]] == ["z.long", "b.short"]


def test_usual_times_are_those_of_the_long_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctest, "TYPICAL", tmp_path / "typical.json")
    (tmp_path / "seconds.json").write_text(json.dumps({"long": 61.4, "short": 0.2, "gone": 9.0}))
    ctest.keep_typical(tmp_path, ["long", "short"])
    assert json.loads((tmp_path / "typical.json").read_text()) == {"long": 61}


def test_a_choice_of_no_test_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("ctest")
    if program is None:
        pytest.skip("CTest is not here")
    (tmp_path / "CTestTestfile.cmake").write_text(f"add_test(pdlkit.a {sys.executable} -c pass)\n")
    monkeypatch.setattr(selftest, "_environment", lambda folder: dict(os.environ))
    tools: Any = SimpleNamespace(cmake=SimpleNamespace(path=Path(program).with_name("cmake")))
    assert selftest._run_tests(tools, tmp_path, 1, "kit.a", keep_times=False) == OK
    assert selftest._run_tests(tools, tmp_path, 1, "no such", keep_times=False) == FAILED


def test_two_tests_of_one_name_are_refused(tmp_path: Path) -> None:
    program = tmp_path / "ctest"
    program.write_text("#!/bin/sh\necho '{\"tests\": [{\"name\": \"a.b\"}, {\"name\": \"c\"}, {\"name\": \"a.b\"}]}'\n")
    program.chmod(0o700)
    with pytest.raises(SetupImpossible, match="two tests are called a.b"):
        selftest._registered(str(program), tmp_path)


def test_a_listing_is_made_once_for_each_image_and_options(tmp_path: Path) -> None:
    program, image, asked = tmp_path / "program", tmp_path / "an image", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho >>"{asked}"\necho "$1"\ncat -- "$2" || exit 3\n')
    program.chmod(0o700)
    image.write_text("one")
    kept = selftest._keeping(program, tmp_path / "listings")

    def ask(*arguments: str) -> tuple[int, str, int]:
        done = subprocess.run([kept, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout, len(asked.read_text())

    assert ask("-c", str(image)) == ask("-c", str(image)) == (0, "-c\none", 1)
    assert ask("-g", str(image)) == (0, "-g\none", 2)
    image.write_text("two")
    assert ask("-c", str(image)) == (0, "-c\ntwo", 3)
    assert [ask("-c", "absent"), ask("-c", "absent")] == [(3, "-c\n", 4), (3, "-c\n", 5)], "what failed is asked again"


@pytest.mark.parametrize(("code", "expected"), [(0, OK), (8, FAILED), (1, FAILED), (-9, FAILED)])
def test_only_zero_of_ctest_is_a_pass(code: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 is what CTest says when a test failed: taken for a pass, it would turn the whole suite green."""
    monkeypatch.setattr(selftest, "_registered", lambda program, folder: ["pdlkit.a"])
    monkeypatch.setattr(selftest, "_environment", lambda folder: {})
    monkeypatch.setattr(ctest, "run_ctest", lambda *_: code)
    tools: Any = SimpleNamespace(cmake=SimpleNamespace(path=tmp_path / "cmake"))
    assert selftest._run_tests(tools, tmp_path, 1, None, keep_times=False) == expected
