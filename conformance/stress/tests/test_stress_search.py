"""Bisection against programs that exist only as a rule: which pairs race."""

from __future__ import annotations

import random

import pytest

from conformance.stress.plan import ONE_BY_ONE, Plan, separating_sets
from conformance.stress.search import Fails, Found, Race, search, settle


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


@pytest.mark.parametrize("count", [2, 3, 5, ONE_BY_ONE, ONE_BY_ONE + 1, 64, 65])
def test_every_ordered_pair_is_separated(count: int) -> None:
    kernels = names(count)
    sets = separating_sets(kernels, 9)
    assert all(any(a in held and b not in held for held in sets) for a in kernels for b in kernels if a != b)
    assert len(sets) == (count if count <= ONE_BY_ONE else 2 * (count - 1).bit_length())


ORDER = ["a", "b", "c", "d"]  # by first launch, and round again


@pytest.mark.parametrize(("primaries", "dependent", "shown", "named"), [
    ("a,b", "c", "ab", "b"), ("a,b", "c", "a", "a"), ("a,b", "c", "", "b"), ("c,d", "b", "cd", "d"), ("c,d", "b", "c", "c"),
    ("a,b with c", "d", "abc", "b with c"), ("a", "c", "", "a")])
def test_of_several_primaries_the_nearest_that_shows_it_alone_is_named(primaries: str, dependent: str, shown: str, named: str) -> None:
    races = [Race(primary, (dependent,)) for primary in primaries.split(",")]
    kept, others = settle(races, ORDER, Plan(), lambda plan: bool(plan.hold & set(shown)))
    assert kept == [Race(named, (dependent,))] and set(others) == set(races) - set(kept)


def test_each_dependent_gets_a_race_of_its_own() -> None:
    races = [Race("a", ("c",)), Race("b", ("c",)), Race("b", ("d",))]
    assert settle(races, ORDER, Plan(), lambda plan: True) == (races[1:], races[:1])


@pytest.mark.parametrize(("primary", "dependent", "triggers"), [
    ("a", "c", "ab"), ("d", "b", "da"), ("b", "b", "b"), ("a with c", "d", "abc")])
def test_a_race_is_tried_again_with_no_trigger_forced_before_it(primary: str, dependent: str, triggers: str) -> None:
    """Then all that was launched before it has ended when it starts, and cannot be the cause."""
    race, unknown, asked = Race(primary, (dependent,)), Race("never launched", (dependent,)), list[Plan]()

    def fails(plan: Plan) -> bool:
        asked.append(plan)
        return True

    kept, _ = settle([race, unknown], ORDER, Plan(3), fails)
    assert kept == [race] and asked == [Plan(3, hold=frozenset(primary.split(" with ")), triggers=frozenset(triggers),
                                             protect=frozenset(ORDER) - {dependent})]


def test_a_dependent_that_was_never_launched_is_not_tried_again() -> None:
    races = [Race("a", ("x",)), Race("b", ("x",))]
    assert settle(races, ORDER, Plan(), lambda plan: pytest.fail("it was tried"))[0][0] in races


def test_what_fails_beside_a_known_primary_is_searched_without_it() -> None:
    """The first plan blames a; the second holds a as well, and fails without it, too."""
    fails = program({("a", "b"), ("c", "d")})
    found = search([Plan(hold=frozenset("a")), Plan(hold=frozenset("ac"))], ORDER, fails)
    assert found.races == [Race("a", ("b",)), Race("c", ("d",))] and not found.unexplained


def test_primaries_that_act_together_are_named_together_and_only_they_are_held() -> None:
    def fails(plan: Plan) -> bool:
        return {"a", "c"} <= plan.hold and not {"b", "d"} & plan.hold and "d" not in plan.protect

    found = search([Plan(hold=frozenset("ac"))], ORDER, fails)
    assert found.races == [Race("a with c", ("d",))]


@pytest.mark.parametrize("fails", [program({("a", "b")}), lambda plan: "a" in plan.hold], ids=["a race", "what no wait cures"])
def test_a_failure_that_is_told_already_costs_no_run_and_no_second_sentence(fails: Fails) -> None:
    def told(*plans: Plan) -> tuple[Found, int]:
        asked = list[Plan]()

        def asks(plan: Plan) -> bool:
            asked.append(plan)
            return fails(plan)

        return search(plans, ORDER, asks), len(asked)

    first = Plan(1, hold=frozenset("a"))
    assert told(first) == told(first, Plan(2, hold=frozenset("a")))
