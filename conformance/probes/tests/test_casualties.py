"""Faults made on purpose: a program that hangs or crashes is seen as that, and what comes after it is measured."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.pdlkit import toolchain
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.pdlkit.supervise import PLANTED_CASUALTIES
from conformance.probes import casualties
from conformance.probes.casualties import AFTER, Casualty, once, plan_of, table

PROGRAM = """#!{python}
import json, sys, time
def say(**record):
    print(json.dumps(record), flush=True)
say(record="start")
for word, case in zip(sys.argv, sys.argv[1:]):
    if word == "--case":
        say(record="begin", case=case, deadline_s=1)
        say(record="progress", case=case, part="fault", done=1, planned=2)
        if case == "endless":
            time.sleep(3600)
        if case == "sticky":
            say(record="error", case=case, part="fault", call="sync", error="cudaErrorIllegalAddress")
            sys.exit(71)
        say(record="case", case=case, status="PASS", trials=dict(planned=1, run=1, exercised=1), outcomes=dict())
        say(record="end", case=case)
say(record="done")
"""
GOOD = Casualty("endless", "HANG", "HANG", "fault, 1 of 2", 2.0, 4.0, "PASS", 0)


@pytest.mark.parametrize(("fault", "expected"), [("endless", "HANG"), ("sticky", "CRASH")])
def test_a_fault_is_seen_with_its_heartbeat_and_the_next_case_runs(fault: str, expected: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    mark = f"test-{os.getpid()}"
    plan = replace(plan_of(program, "cuda", fault, mark), device="fake")  # no GPU here, so none is probed
    assert plan.families == {"fault": [fault, AFTER]}
    found = once(plan, fault, expected, mark)
    assert (found.status, found.after, found.heartbeat, found.orphans) == (expected, "PASS", "fault, 1 of 2", 0)
    assert found.limit_s == (1.0 if expected == "HANG" else 0.0) and found.next_s >= 0


def test_every_fault_that_can_be_made_is_made() -> None:
    """On the model those that `run` can plant, on a GPU those of the program."""
    program = Path(casualties.__file__).with_suffix(".cu").read_text(encoding="utf-8")
    assert set(casualties.MODEL_FAULTS) == set(PLANTED_CASUALTIES)
    assert {name for name in re.findall(r'strcmp\(\w+, "(\w+)"\)', program) if name != AFTER} == set(casualties.GPU_FAULTS)
    assert set((casualties.MODEL_FAULTS | casualties.GPU_FAULTS).values()) == {"HANG", "CRASH"}


def test_what_is_not_as_it_should_be_counts() -> None:
    assert GOOD.good(True)
    for change in ({"status": "CRASH"}, {"next_s": 10.5}, {"next_s": -1.0}, {"after": "NOT_RUN"}, {"orphans": 1}, {"heartbeat": ""}):
        assert not replace(GOOD, **change).good(True), change
    assert replace(GOOD, heartbeat="").good(False)
    assert "endless        2     1 HANG" in table([GOOD, replace(GOOD, orphans=1)], True)


@pytest.mark.parametrize("argv", [["--times", "0"], ["--at-once", "0"], ["--times", "3", "--at-once", "-1"]])
def test_nothing_is_measured_no_times(argv: list[str]) -> None:
    with pytest.raises(BadArguments, match="take 1 or more"):
        casualties.main(argv)


@pytest.mark.parametrize(("found", "good", "code"), [([GOOD], 1, OK), ([GOOD, replace(GOOD, orphans=1)], 1, FAILED)])
def test_each_fault_has_to_be_seen(
    found: list[Casualty], good: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = list[tuple[object, ...]]()
    monkeypatch.setattr(casualties, "build", lambda *_: SimpleNamespace(harness=Path("made")))
    monkeypatch.setattr(toolchain, "require", lambda for_gpu: None)
    monkeypatch.setattr(casualties, "measure", lambda *what: asked.append(what) or found)  # type: ignore[func-returns-value]
    assert casualties.main(["--times", "2", "--output", str(tmp_path / "out.json")]) == code
    assert asked == [(Path("made"), "model", 2, 1)] and f"{good} of {len(found)} seen" in capsys.readouterr().out
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["good"] == good and len(report["casualties"]) == len(found)
