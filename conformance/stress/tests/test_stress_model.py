"""The whole command on programs that run on the model: real races, real waits, real names, no GPU."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_c_compiler, find_nvcc
from conformance.stress import main

NVCC, CC = find_nvcc(), find_c_compiler()
pytestmark = pytest.mark.skipif(NVCC is None or CC is None, reason="the model needs a C compiler and CUDA's headers")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert NVCC and CC
    target = tmp_path_factory.mktemp("model") / "model_programs"
    model = [path for path in sorted((KIT / "model").glob("*.c")) if path.name != "litmus.c"]
    home = NVCC.path.resolve().parent.parent
    done = subprocess.run([CC.path, "-std=gnu11", "-O0", f"-I{KIT / 'model'}", f"-I{home / 'include'}",
                           f"-I{home / 'targets' / 'x86_64-linux' / 'include'}", KIT / "stress" / "tests" / "model_programs.c", *model,
                           "-o", target, "-lpthread"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def stress(capsys: pytest.CaptureFixture[str], programs: Path, name: str, seed: int, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["--compare-outputs", "--seed", "5", "--seeds", "1", "--plain-runs", "2", "--confirm", "1", "--json",
                 "--", str(programs), name, "12", str(seed), *more])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name,expected", [
    ("missing", [("produce", ["consume"])]),
    ("late", [("produce", ["late"])]),
    ("overwrite", [("produce", ["overwrite"])]),
    ("two-sites", [("first_site", ["second_site"]), ("produce", ["first_site"])]),
])
def test_a_planted_race_is_found_and_named(capsys: pytest.CaptureFixture[str], programs: Path, name: str,
                                           expected: list[tuple[str, list[str]]], seed: int) -> None:
    code, report = stress(capsys, programs, name, seed)
    assert code == 1
    assert sorted((race["primary"], race["dependents"]) for race in report["races"]) == expected


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", ["missing-twin", "two-sites-twin", "overwrite-twin"])
def test_a_corrected_program_is_left_in_peace(capsys: pytest.CaptureFixture[str], programs: Path, name: str, seed: int) -> None:
    code, report = stress(capsys, programs, name, seed)
    assert code == 0 and report["races"] == [] and report["stressed_runs"] >= 3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_race_that_shows_by_itself_is_not_taken_for_what_is_right(capsys: pytest.CaptureFixture[str], programs: Path, seed: int) -> None:
    code, report = stress(capsys, programs, "missing", seed, "early")
    assert code == 1 and report["natural"] and report["races"] == [{"primary": "produce", "dependents": ["consume"]}]
    code, report = stress(capsys, programs, "missing-twin", seed, "early")
    assert code == 0 and not report["natural"]
