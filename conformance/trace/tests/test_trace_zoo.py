"""Every program of the zoo on the stand-in driver: the reason is named, and it is gone once its cause is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.trace.zoo.command import PROGRAMS, Program, build_zoo, run_one


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_the_reason_is_named_and_gone_once_its_cause_is(stand_in: Path, tmp_path: Path, program: Program) -> None:
    modules = (stand_in / "new.module", stand_in / "old.module")
    outcome = run_one(program, build_zoo(), modules, stand_in / "libcuda.so.1", tmp_path, {"LD_LIBRARY_PATH": str(stand_in)})
    assert outcome.broken.first_reason == program.reason, outcome
    assert outcome.right, outcome


def test_at_least_twelve_reasons_are_shown() -> None:
    assert len({program.reason for program in PROGRAMS}) >= 12
