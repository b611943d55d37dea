"""Bisection against programs that exist only as a rule: which pairs race."""

from __future__ import annotations

import random

import pytest

from conformance.stress.plan import ONE_BY_ONE, Plan, separating_sets
from conformance.stress.search import Fails, Found, Race, search


def program(pairs: set[tuple[str, str]]) -> Fails:
    """A run goes wrong if some primary is held while its dependent is neither held nor protected."""
    def fails(plan: Plan) -> bool:
        return any(a in plan.hold and b not in plan.hold - {a} and b not in plan.protect for a, b in pairs)
    return fails


def names(count: int) -> list[str]:
    return [f"k{number:03d}" for number in range(count)]


def found_in(pairs: set[tuple[str, str]], kernels: list[str], seed: int = 1) -> Found:
    fails = program(pairs)
    failing = [plan for held in separating_sets(kernels, seed) if fails(plan := Plan(seed, held))]
    return search(failing, kernels, fails)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 33, 200])
@pytest.mark.parametrize("seed", range(5))
def test_a_single_race_is_named(count: int, seed: int) -> None:
    kernels = names(count)
    a, b = random.Random(seed * 1000 + count).sample(kernels, 2)
    assert found_in({(a, b)}, kernels, seed).races == [Race(a, (b,))]


@pytest.mark.parametrize("seed", range(20))
def test_two_races_at_once_are_both_named(seed: int) -> None:
    kernels = names(12)
    a, b, c, d = random.Random(seed).sample(kernels, 4)
    for pairs in ({(a, b), (c, d)}, {(a, b), (b, c)}, {(a, b), (a, c)}, {(a, c), (b, c)}):
        found = found_in(pairs, kernels, seed)
        assert found.races == sorted((Race(p, (q,)) for p, q in pairs), key=lambda race: (race.primary, race.dependents))
        assert not found.unexplained


def test_a_kernel_that_races_with_itself_is_named() -> None:
    assert found_in({("k001", "k001")}, names(3)).races == [Race("k001", ("k001",))]


def test_nothing_is_named_in_a_correct_program() -> None:
    found = found_in(set(), names(9))
    assert not found.races and not found.unexplained


def test_what_no_wait_cures_is_not_blamed_on_a_kernel() -> None:
    def fails(plan: Plan) -> bool:
        return "k001" in plan.hold
    kernels = names(4)
    failing = [plan for held in separating_sets(kernels, 3) if fails(plan := Plan(3, held))]
    found = search(failing, kernels, fails)
    assert not found.races and "does not cure" in found.unexplained[0] and found.uncured[0].protect == set(kernels)


def test_two_dependents_that_act_together_are_named_together() -> None:
    def fails(plan: Plan) -> bool:
        return "k000" in plan.hold and not {"k001", "k002"} & (plan.protect | plan.hold)
    kernels = names(5)
    failing = [plan for held in [frozenset({"k000"})] if fails(plan := Plan(0, held))]
    assert search(failing, kernels, fails).races == [Race("k000", ("k001", "k002"))]


@pytest.mark.parametrize("count", [2, 3, 5, 64, 65])
def test_every_ordered_pair_is_separated(count: int) -> None:
    kernels = names(count)
    sets = separating_sets(kernels, 9)
    assert all(any(a in held and b not in held for held in sets) for a in kernels for b in kernels if a != b)
    assert len(sets) == (count if count <= ONE_BY_ONE else 2 * (count - 1).bit_length())
