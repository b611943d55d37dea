"""Bisection: finds the kernels that race by holding one primary and protecting all but some dependents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from conformance.stress.plan import Plan

Fails = Callable[[Plan], bool]


@dataclass(frozen=True)
class Race:
    """Held, `primary` makes the run go wrong as long as `dependents` are not protected (one name, or several together)."""

    primary: str
    dependents: tuple[str, ...]


@dataclass
class Found:
    """The outcome of a search."""

    races: list[Race]
    unexplained: list[str]  # sentences about failures that no single primary or no wait explains
    uncured: list[Plan] = field(default_factory=list)  # the plans that these sentences are about


def culprits(names: list[str], guilty: Callable[[list[str]], bool]) -> list[tuple[str, ...]]:
    """The smallest groups of names for which `guilty` holds, by halving. A group is guilty if it contains a guilty one.

    If a group is guilty but neither half is, several of its members act together: names that are not needed are removed one by one.
    """
    if len(names) == 1:
        return [(names[0],)]
    middle = len(names) // 2
    found = []
    for half in (names[:middle], names[middle:]):
        if guilty(half):
            found += culprits(half, guilty)
    return found or [_together(names, guilty)]


def _together(names: list[str], guilty: Callable[[list[str]], bool]) -> tuple[str, ...]:
    kept = list(names)
    for name in names:
        fewer = [other for other in kept if other != name]
        if fewer and guilty(fewer):
            kept = fewer
    return tuple(kept)


def search(failing: Iterable[Plan], kernels: list[str], fails: Fails) -> Found:
    """All races that the failing plans show: first which primaries must be held, then, for each, which dependents must not be protected."""
    found = Found([], [])
    blamed: set[str] = set()
    everybody = frozenset(kernels)
    for plan in failing:
        suspects = sorted(plan.hold - blamed)
        if blamed & plan.hold and not (suspects and fails(replace(plan, hold=frozenset(suspects)))):
            continue  # a primary that is already known explains this failure
        if not fails(replace(plan, hold=frozenset(suspects), protect=everybody)):
            for group in _primaries(plan, suspects, fails):
                blamed.update(group)
                found.races += _dependents(plan, group, kernels, fails)
        else:
            blamed.update(suspects)
            found.unexplained.append(
                "a wait at the entry of every kernel does not cure what holding " + ", ".join(suspects) + " breaks")
            found.uncured.append(replace(plan, hold=frozenset(suspects), protect=everybody))
    found.races = sorted(set(found.races), key=lambda race: (race.primary, race.dependents))
    return found


def _primaries(plan: Plan, suspects: list[str], fails: Fails) -> list[tuple[str, ...]]:
    return culprits(suspects, lambda part: fails(replace(plan, hold=frozenset(part))))


def _dependents(plan: Plan, group: tuple[str, ...], kernels: list[str], fails: Fails) -> list[Race]:
    everybody = frozenset(kernels)
    held = replace(plan, hold=frozenset(group))

    def guilty(part: list[str]) -> bool:
        return fails(replace(held, protect=everybody - frozenset(part)))

    primary = " with ".join(group)
    return [Race(primary, dependents) for dependents in culprits(sorted(kernels), guilty)]


def settle(races: list[Race], order: list[str], plan: Plan, fails: Fails) -> tuple[list[Race], list[Race]]:
    """For each dependent the race that is to be named, and the others, which may be the same bug seen again.

    With A held, a B that waits for A stores late, and a C that reads B's words without a wait goes wrong: C is then found
    for A and for B. And where C reads A's words, it may go wrong by B's trigger alone. So, nearest first, each primary is
    tried again without a forced trigger before it; then everything launched before it has ended when it starts.
    """
    place = {name: number for number, name in enumerate(order)}

    def steps(race: Race) -> int:
        first = race.primary.split(" with ")[0]
        return (place.get(race.dependents[0], 0) - place.get(first, 0)) % max(len(order), 1)

    kept, others = [], []
    for dependents in dict.fromkeys(race.dependents for race in races):
        near = sorted((race for race in races if race.dependents == dependents), key=steps)
        chosen = near[0] if len(near) == 1 else next((race for race in near if _alone(race, order, plan, fails)), near[0])
        kept.append(chosen)
        others += [race for race in near if race is not chosen]
    return kept, others


def _alone(race: Race, order: list[str], plan: Plan, fails: Fails) -> bool:
    """Whether the race shows with forced triggers only in the primary and in what is launched between it and its dependent."""
    held = race.primary.split(" with ")
    if held[0] not in order or race.dependents[0] not in order:
        return False
    first, last = order.index(held[0]), order.index(race.dependents[0])
    between = order[first:last] if first <= last else order[first:] + order[:last]
    return fails(replace(plan, hold=frozenset(held), triggers=frozenset([*held, *between]),
                         protect=frozenset(order) - frozenset(race.dependents)))
