"""Every program of the zoo on the stand-in driver: the reason is named, and it is gone once its cause is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.trace.tests.traced_by_hand import Made
from conformance.trace.zoo import command
from conformance.trace.zoo.command import PROGRAMS, Outcome, Program, Seen, _seen, build_zoo, run_one


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_the_reason_is_named_and_gone_once_its_cause_is(stand_in: Path, tmp_path: Path, program: Program) -> None:
    modules = (stand_in / "new.module", stand_in / "old.module")
    outcome = run_one(program, build_zoo(), modules, stand_in / "libcuda.so.1", tmp_path, {"LD_LIBRARY_PATH": str(stand_in)})
    assert outcome.broken.first_reason == program.reason, outcome
    assert outcome.right, outcome


def test_at_least_twelve_reasons_are_shown() -> None:
    assert len({program.reason for program in PROGRAMS}) >= 12


GOOD = Outcome("p", "not-asked", Seen(10, 0, "not-asked", 0.0), Seen(10, 6, "", 5.0))


@pytest.mark.parametrize(("broken", "fixed", "expected", "right"), [
    ({}, {}, "not-asked", True), ({"first_reason": "between"}, {}, "not-asked", False), ({"first_reason": ""}, {}, "not-asked", False),
    ({}, {"first_reason": "not-asked"}, "not-asked", False), ({}, {"first_reason": "between"}, "not-asked", True),
    ({}, {"overlapping": 5}, "not-asked", False), ({}, {"overlap_us": 0.0}, "not-asked", False),
    ({"overlap_us": 2.4}, {}, "not-asked", True),
    ({"overlap_us": 2.5}, {}, "not-asked", False), ({"pairs": 0}, {}, "not-asked", False), ({}, {"pairs": 0}, "not-asked", False),
    ({"first_reason": "waits-first", "overlap_us": 9.0}, {}, "waits-first", True)])
def test_a_program_is_right_if_its_reason_is_named_goes_and_overlap_comes(broken: dict[str, Any], fixed: dict[str, Any], expected: str,
                                                                          right: bool) -> None:
    """Of a kernel that waits first, the overlap is there without being of use."""
    assert replace(GOOD, expected=expected, broken=replace(GOOD.broken, **broken), fixed=replace(GOOD.fixed, **fixed)).right is right


@pytest.mark.parametrize(("wrong", "code"), [(None, 0), ("not-asked", 1), ("threads", 1)])
def test_one_program_that_is_wrong_is_enough(wrong: str | None, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    def ran(program: Program, *_: object) -> Outcome:
        return replace(GOOD, program=program.name, broken=replace(GOOD.broken, first_reason="" if program.name == wrong else "not-asked"))

    for name, value in (("run_one", ran), ("build_zoo", lambda: tmp_path), ("find_cupti", lambda _: tmp_path)):
        monkeypatch.setattr(command, name, value)
    kernels = ["--kernels", "a", "b", "--only", "not-asked", "--only", "threads"]
    assert command.main(kernels) == code and capsys.readouterr().out.count("WRONG") == code
    assert command.main([*kernels, "--json"]) == code
    assert [row["right"] for row in json.loads(capsys.readouterr().out)] == [name != wrong for name in ("not-asked", "threads")]
    with pytest.raises(BadArguments, match="no program typo"):
        command.main(["--only", "typo"])


def test_of_a_run_the_pairs_of_the_two_kernels_count() -> None:
    made = Made()
    for number, name in enumerate(("other", "first", "second", "first_b", "second_b")):
        made.kernel(name, 10_000 * number, 10_000 * number + 9_000)
    seen = _seen(made.pairs())
    assert (seen.pairs, seen.overlapping, seen.first_reason, seen.overlap_us) == (2, 0, "not-asked", 0.0)
    assert _seen([]) == Seen(0, 0, "", 0.0)
