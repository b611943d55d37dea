"""Outliers: exact tails, what is planted is found, and chance alone is named at the stated rate."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from conformance.fleet import outliers, simulate
from conformance.fleet.records import read
from conformance.fleet.report import build


@pytest.mark.parametrize(("k", "n", "p"), [(0, 10, 0.3), (7, 10, 0.3), (3, 10, 0.3), (10, 10, 0.3), (1, 1000, 1e-5), (995, 1000, 0.999)])
def test_the_binomial_tail_is_exact(k: int, n: int, p: float) -> None:
    """Against the sum of all terms, which is what the tail means."""
    terms = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    tail = sum(terms[k:]) if k > n * p else sum(terms[: k + 1])
    assert outliers.binomial_two_sided(k, n, p) == pytest.approx(min(1.0, 2 * tail), rel=1e-9)


def test_impossible_and_certain_rates() -> None:
    assert outliers.binomial_two_sided(1, 5, 0.0) == 0.0 and outliers.binomial_two_sided(0, 5, 0.0) == 1.0
    assert outliers.binomial_two_sided(5, 5, 1.0) == 1.0 and outliers.binomial_two_sided(0, 0, 0.5) == 1.0


def gpu(name: str, overlaps: int, seconds: float = 1.0, model: str = "M", trials: int = 10_000) -> dict[str, Any]:
    return {"gpu": name, "node": name, "model": model, "driver": "1", "rules": {"R": [trials, trials, overlaps]},
            "families": {"f": seconds}}


def test_two_gpus_are_compared_exactly() -> None:
    same, _ = outliers.find([gpu("a", 5000), gpu("b", 5040)])
    differ, _ = outliers.find([gpu("a", 5000), gpu("b", 5900)])
    assert same == [] and {o.gpu for o in differ} == {"a", "b"}, "with two GPUs nobody can say which one is odd"
    never, _ = outliers.find([gpu("a", 0), gpu("b", 0), gpu("c", 40)])
    assert [o.gpu for o in never][:1] == ["c"]


def test_models_and_drivers_are_never_compared_with_each_other() -> None:
    assert outliers.find([*(gpu(f"a{i}", 5000) for i in range(9)), *(gpu(f"b{i}", 100, 9.0, "N") for i in range(9))])[0] == []


def test_natural_spread_between_gpus_is_no_outlier() -> None:
    """Rates that differ by more than counting explains, as clocks make them: the spread is estimated."""
    dice = random.Random(3)
    fleet = [gpu(f"g{i}", round(10_000 * (0.5 + 0.03 * dice.gauss(0, 1)))) for i in range(200)]
    assert outliers.find(fleet)[0] == []
    found, _ = outliers.find([*fleet, gpu("odd", round(10_000 * (0.5 + 0.03 * 9)))])
    assert found[0].gpu == "odd" and len(found) <= 2, "5 % of the named may be chance"


def test_times_need_peers_and_name_the_slow_one() -> None:
    dice = random.Random(4)
    few = [gpu(f"g{i}", 5000, 1 + 0.01 * dice.random()) for i in range(6)]
    assert outliers.find([*few, gpu("slow", 5000, 9.0)])[0] == []
    many = [gpu(f"g{i}", 5000, math.exp(0.02 * dice.gauss(0, 1))) for i in range(100)]
    found, _ = outliers.find([*many, gpu("slow", 5000, math.exp(0.02 * 8))])
    assert [(o.gpu, o.measure) for o in found] == [("slow", "seconds in family f")]
    assert found[0].value == pytest.approx(math.exp(0.16)) and found[0].peers == pytest.approx(1.0, abs=0.02) and found[0].errors > 5
    quick, _ = outliers.find([*many, gpu("quick", 5000, math.exp(-0.02 * 8))])
    assert [(o.gpu, o.node, o.model, o.driver) for o in quick] == [("quick", "quick", "M", "1")] and quick[0].errors < -5


@pytest.mark.parametrize("seed", range(3))
def test_planted_outliers_are_found_and_lost_nodes_are_named(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    simulate.write(folder, 2000, 12, 3, 6.0, seed)
    truth, report = json.loads((folder / "truth.json").read_text()), build(read(folder))
    found = {entry["gpu"] for entry in report["outliers"]}
    assert set(truth["outliers"]) <= found and len(found - set(truth["outliers"])) <= 4
    assert report["tasks_not_done"] == truth["lost"] and report["verdict"] == "UNPROVEN" and report["damaged_lines"] == 3


def test_chance_alone_names_hardly_anybody(tmp_path: Path) -> None:
    """Where nothing is planted, a report names anybody at all in about one of twenty fleets."""
    named = 0
    for seed in range(12):
        folder = tmp_path / str(seed)
        simulate.write(folder, 240, 0, 0, 6.0, seed)
        named += bool(build(read(folder))["outliers"])
    assert named <= 4
