"""Every program of the zoo on the stand-in driver: the reason is named, and it is gone once its cause is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.trace.tests import fake_cubin
from conformance.trace.zoo.command import PROGRAMS, Program, build_zoo, run_one

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stand-in")
    subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1,-Bsymbolic", "-o", folder / "libcuda.so.1",
                    HERE / "stand_in.c"], check=True)
    fake_cubin.module(folder, "new", 90)
    fake_cubin.module(folder, "old", 80)
    return folder


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_the_reason_is_named_and_gone_once_its_cause_is(place: Path, tmp_path: Path, program: Program) -> None:
    modules = (place / "new.module", place / "old.module")
    outcome = run_one(program, build_zoo(), modules, place / "libcuda.so.1", tmp_path, {"LD_LIBRARY_PATH": str(place)})
    assert outcome.broken.first_reason == program.reason, outcome
    assert outcome.right, outcome


def test_at_least_twelve_reasons_are_shown() -> None:
    assert len({program.reason for program in PROGRAMS}) >= 12
