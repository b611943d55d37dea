"""What a study says once its runs are there: which variant gains, whether results differ, and all of it in both forms. Nothing is run."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from conformance.trace.whatif import command
from conformance.trace.whatif.cases import Cases
from conformance.trace.whatif.command import Ran, Study, as_json
from conformance.trace.whatif.search import Found, TriggerAt
from conformance.trace.whatif.variants import Known, Noted

GIVEN = argparse.Namespace(compare_outputs=False, compare_files=[], command=["x"], exempt=None)


def ran(time: float, code: int | None = 0, output: bytes = b"", files: tuple[bytes, ...] = ()) -> Ran:
    return Ran(code, time / 1e6, output, list(files), Noted([]), {(1, 0): [time] * 5})


def study(step: Any = (1, 0), **times: list[float]) -> Study:
    runs = {name: [ran(time) for time in series] for name, series in times.items()}
    return Study(step, runs, ["k", "l"], {"m": "it waits already"}, Cases())


MEASURED = {"original": [100.0, 100.0], "empty": [110.0, 110.0], "pdl": [90.0, 90.0], "trigger": [80.0, 80.0], "searched": [95.0, 95.0]}


@pytest.mark.parametrize("step", [(1, 0), None])
def test_each_variant_is_held_against_the_original_and_against_what_rewriting_costs(step: Any) -> None:
    found = study(step, **MEASURED)
    gains = {name: tuple(round(of(name).estimate, 3) for of in (found.gain, found.gain_over_empty)) for name in MEASURED}
    assert gains == {
        "original": (0.0, 0.091), "empty": (-0.1, 0.0), "pdl": (0.1, 0.182), "trigger": (0.2, 0.273), "searched": (0.05, 0.136)}
    assert found.best == "trigger" and study(step, **{**MEASURED, "empty": [10.0, 10.0]}).best == "trigger", "empty is none with PDL"


def test_the_widest_interval_says_how_far_a_study_is_from_its_end() -> None:
    assert study(**MEASURED).reach() == pytest.approx(0.0, abs=1e-9)
    wide, wider = (study(**{**MEASURED, "pdl": [90.0, other]}).reach() for other in (91.0, 99.0))
    assert 0 < wide < wider


@pytest.mark.parametrize(("other", "outputs", "differs"), [
    ({}, True, False), ({"code": 1}, False, True), ({"code": None}, False, True), ({"output": b"y"}, True, True),
    ({"output": b"y"}, False, False), ({"files": (b"1", b"3")}, False, True)])
def test_a_result_that_differs_in_any_run_is_told(other: dict[str, Any], outputs: bool, differs: bool) -> None:
    same: dict[str, Any] = {"output": b"x", "files": (b"1", b"2")}
    runs = {name: [ran(1.0, **same), ran(1.0, **same)] for name in ("original", "empty", "pdl")}
    runs["pdl"][1] = ran(1.0, **{**same, **other})
    given = argparse.Namespace(**{**vars(GIVEN), "compare_outputs": outputs, "compare_files": ["f", "g"]})
    found = Study((1, 0), runs, ["k"], {}, Cases())
    assert found.differing(given) == ["pdl"] * differs
    said = command._assurances(found, given)[0]
    assert said.startswith("results DIFFER in: pdl; " if differs else "results are the same in every run; ")
    assert command._assurances(found, GIVEN)[0].startswith("results were not compared")
    assert as_json(found, given)["differing"] == ["pdl"] * differs


def test_both_forms_hold_every_variant_and_every_kernel_that_was_left() -> None:
    found = study(**MEASURED)
    found.searched = Found({"k": TriggerAt.BEFORE}, 7, [("l", TriggerAt.AFTER)])
    told = as_json(found, GIVEN)
    assert {name: one["us_per_step"] for name, one in told["variants"].items()} == MEASURED
    assert (told["step"], told["rounds"], told["by"], told["gain"]) == ("between synchronisations: 1 launch", 2, "trigger",
                                                                         found.gain("trigger").as_json())
    assert told["changed"] == ["k", "l"] and told["left"] == [{"kernel": "m", "why": "it waits already"}] and told["pairs"] is None
    assert told["searched"] == {"tried": 7, "places": {"k": "before the wait"}, "ruled_out": [{"kernel": "l", "place": "after the wait"}]}
    text = command._table(found, GIVEN)
    for said in ("as it is ", "rewritten, nothing added", "with PDL, wait first", "left as they are: 1", "left         m: it waits already",
                 "trigger      before the wait: k", "ruled out    trigger after the wait in l"):
        assert said in text, text
    assert text.count("  gain ") == len(MEASURED) - 1


def test_of_the_kernels_that_ran_those_are_chosen_that_nothing_speaks_against() -> None:
    noted = Noted([])
    for name, launches, waits in (("z", 3, 0), ("a", 3, 0), ("never", 0, 0), ("waits", 3, 1), ("_Z5nochoiv", 3, 0)):
        noted.kernels[name] = Known(name, images=1, rewritten=1, launches=launches, waits=waits)
    chosen, left = command._choose(noted, "^nocho$")
    assert chosen == ["a", "z"] and set(left) == {"waits", "_Z5nochoiv"} and left["_Z5nochoiv"] == "exempted by name"
    assert command._choose(noted, None)[0] == ["_Z5nochoiv", "a", "z"]
