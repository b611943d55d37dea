"""What a report says of several runs: each slip, alone, is told by a sentence of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.pdlkit.verdicts import bound95, shape_bound95
from conformance.reports.several_runs import several_problems

EXITS = {"VIOLATES": 1, "INVALID": 70, "UNPROVEN": 2, "CONFORMS": 0, "NOT_APPLICABLE": 77}


def machine(verdict: str, *verdicts: str) -> dict[str, Any]:
    """A report of this verdict on GPUs of these; each but an INVALID one left a report."""
    gpus = [{"gpu": f"gpu-{i}", "verdict": said, "exit": EXITS[said.partition(" ")[0]], "report": None if said == "INVALID" else "r"}
            for i, said in enumerate(verdicts)]
    pool = {"model": "G", "gpus": sum(gpu["report"] is not None for gpu in gpus), "rules": {"A": {"exercised": 10, "bound95": bound95(10)}}}
    return {"verdict": verdict, "exit": EXITS[verdict.partition(" ")[0]], "device": {"name": "G"},
            "rules": [{"id": "A", "status": "PASS", "exercised": 5}], "machine": {"gpus": gpus, "pooled": [pool]}}


def soak() -> dict[str, Any]:
    """A soak of three rounds, of which the second was the worst."""
    return {"run": {"wall_s": 2.0}, "pooled": {"exercised": 50, "shapes": 40}, "waived": [{"rule": "A"}], "soak": {
        "rounds": 3, "worst_round": 2, "wall_s": 6.0, "exercised": 100, "shapes": 90, "bound95": bound95(100),
        "shape_bound95": shape_bound95(90), "waived": ["B", "A"]}}


@pytest.mark.parametrize(("verdicts", "right"), [
    (("CONFORMS", "CONFORMS"), "CONFORMS"), (("CONFORMS", "VIOLATES"), "VIOLATES"), (("VIOLATES", "CONFORMS"), "VIOLATES"),
    (("CONFORMS", "INVALID"), "INVALID"), (("INVALID", "VIOLATES"), "VIOLATES"), (("NOT_APPLICABLE", "CONFORMS"), "CONFORMS"),
    (("CONFORMS", "UNPROVEN"), "UNPROVEN"), (("NOT_APPLICABLE", "NOT_APPLICABLE"), "NOT_APPLICABLE"),
    (("CONFORMS (waived: B)", "CONFORMS"), "CONFORMS"),
])
def test_the_worst_gpu_decides_wherever_it_stands(verdicts: tuple[str, ...], right: str) -> None:
    for told, code in EXITS.items():
        said = list(several_problems(machine(told, *verdicts)))
        assert said == ([] if told == right else [f"machine: its GPUs make it {right}, and the report says {told}, {code}"])
    for slip in ({"exit": 3}, {"verdict": "ODD"}):
        assert [text.startswith("machine: its GPUs make it") for text in several_problems({**machine(right, *verdicts), **slip})] == [True]


def _pool(report: dict[str, Any]) -> Any:
    return report["machine"]["pooled"][0]


MACHINE_SLIPS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda r: r["machine"]["gpus"][1].update(exit=0), "gpu-1 is VIOLATES, which does not exit with 0"),
    (lambda r: r["machine"]["gpus"][1].update(verdict="ODD"), "gpu-1 is ODD, which does not exit with 1"),
    (lambda r: _pool(r).update(gpus=3), "its pools hold another number of GPUs than left a report"),
    (lambda r: _pool(r).update(gpus=1), "its pools hold another number of GPUs than left a report"),
    *((lambda r, n=n: _pool(r)["rules"]["A"].update(bound95=bound95(n)), "the bound of A does not follow from its 10 trials")
      for n in (9, 11, 0)),
    (lambda r: r["rules"][0].update(exercised=11), "A has fewer trials in all than on the GPU that decides"),
]


@pytest.mark.parametrize(("slip", "told"), MACHINE_SLIPS)
def test_a_slip_about_the_machine_is_told(slip: Callable[[dict[str, Any]], Any], told: str) -> None:
    report = machine("VIOLATES", "VIOLATES", "VIOLATES", "INVALID")
    assert list(several_problems(report)) == []
    slip(report)
    assert list(several_problems(report)) == [f"machine: {told}"]


def test_a_pool_of_another_model_and_a_rule_that_failed_are_no_slip() -> None:
    for change in ({"device": {"name": "H"}}, {"rules": [{"id": "A", "status": "FAIL", "exercised": 11}]}):
        assert list(several_problems({**machine("CONFORMS", "CONFORMS"), **change})) == []


SOAK_SLIPS: list[tuple[dict[str, Any], str]] = [
    ({"worst_round": 0}, "round 0 is the worst of 3"), ({"worst_round": 4}, "round 4 is the worst of 3"),
    ({"exercised": 49, "bound95": bound95(49)}, "all rounds have fewer trials or shapes than the worst one"),
    ({"shapes": 39, "shape_bound95": shape_bound95(39)}, "all rounds have fewer trials or shapes than the worst one"),
    ({"wall_s": 1.8}, "all rounds took less time than the worst one"),
    ({"bound95": bound95(101)}, "bound95 does not follow from its trials and shapes"),
    ({"bound95": bound95(99)}, "bound95 does not follow from its trials and shapes"),
    ({"shape_bound95": shape_bound95(91)}, "shape_bound95 does not follow from its trials and shapes"),
    ({"shape_bound95": shape_bound95(89)}, "shape_bound95 does not follow from its trials and shapes"),
    ({"bound95": None}, "one bound without the other"), ({"shape_bound95": None}, "one bound without the other"),
    ({"waived": ["B"]}, "a rule was waived in the worst round, and not in the soak"),
    ({"waived": []}, "a rule was waived in the worst round, and not in the soak"),
]


@pytest.mark.parametrize(("slip", "told"), SOAK_SLIPS, ids=[str(slip) for slip, _ in SOAK_SLIPS])
def test_a_slip_about_a_soak_is_told(slip: dict[str, Any], told: str) -> None:
    report = soak()
    report["soak"].update(slip)
    assert list(several_problems(report)) == [f"soak: {told}"]
    # Also where the soak was one of a machine's GPUs.
    assert list(several_problems({**machine("CONFORMS", "CONFORMS"), **report})) == [f"soak: {told}"]


@pytest.mark.parametrize("right", [{}, {"worst_round": 1}, {"worst_round": 3}, {"wall_s": 1.95}, {"exercised": 50, "bound95": bound95(50)},
                                   {"bound95": None, "shape_bound95": None}])
def test_a_soak_without_a_slip_is_none(right: dict[str, Any]) -> None:
    report = soak()
    report["soak"].update(right)
    assert list(several_problems(report)) == []
    del report["soak"]["waived"]  # as earlier versions wrote it
    assert list(several_problems(report)) == []
