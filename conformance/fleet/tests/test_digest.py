"""A GPU's report, shortened: what is pooled was proven, what failed is named, and no GPU is taken for another one."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.fleet.digest import shortened
from conformance.fleet.tests.fake_runs import hash_of, report
from conformance.pdlkit.verdicts import CASE_VERDICTS

FINISHED = "2026-01-02T03:04:05.0Z"


def with_case(**changes: Any) -> dict[str, Any]:
    """A report with one case, changed like this."""
    made = report("CONFORMS")
    case = {**made["tests"][0], "rule": "R", "name": "R.case", "trials": {"run": 100, "exercised": 90}, "outcomes": {"overlap": 7}}
    return {**made, "tests": [{**case, **changes}]}


@pytest.mark.parametrize("status", CASE_VERDICTS)
@pytest.mark.parametrize("proving", [True, False])
def test_only_what_a_passing_case_proves_is_exercised(status: str, proving: bool) -> None:
    proven = 90 if proving and status == "PASS" else 0
    assert shortened(with_case(status=status, proving=proving), "n", 0, FINISHED)["rules"] == {"R": [100, proven, 7]}


@pytest.mark.parametrize("status", CASE_VERDICTS)
def test_what_the_gpu_did_wrong_is_named(status: str) -> None:
    named = ["R.case"] if status in ("FAIL", "HANG", "CRASH", "DEVICE_LOST") else []
    assert shortened(with_case(status=status), "n", 0, FINISHED)["failed"] == named


def test_a_gpu_is_named_by_its_hash_else_by_its_place() -> None:
    made = report("CONFORMS", "cuda:1")
    assert shortened(made, "n", 1, FINISHED)["gpu"] == hash_of("cuda:1")
    made["device"] = {**made["device"], "uuid_hash": ""}
    assert [shortened(made, node, ordinal, FINISHED)["gpu"] for node, ordinal in (("n", 0), ("n", 1), ("m", 1))] == ["n:0", "n:1", "m:1"]


def test_what_the_run_said_of_the_gpu_is_taken_over() -> None:
    made = {**report("VIOLATES"), "reasons": ["x" * 300, *"abcdefgh"]}
    told = shortened(made, "n", 0, FINISHED)
    assert (told["verdict"], told["exit"], told["finished"]) == ("VIOLATES", 1, FINISHED)
    assert (told["node"], told["ordinal"], told["model"], told["driver"]) == ("n", 0, made["device"]["name"], made["driver"]["version"])
    assert told["reasons"] == ["x" * 200, *"abcdefg"] and told["run"] == made["run"]["id"]
