"""Bisection: from "some run went wrong" to the kernels that race, by holding one primary and protecting all but some dependents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pdlkit.stress.plan import Plan

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


def culprits(names: list[str], guilty: Callable[[list[str]], bool]) -> list[tuple[str, ...]]:
    """The smallest groups of names for which `guilty` holds, by halving. A group is guilty if it contains a guilty one.

    If a group is guilty but neither half is, its members act together: the group is thinned out one by one.
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
    """All races behind the failing plans: first who must be held, then, for each of them, who must not be protected."""
    found = Found([], [])
    blamed: set[str] = set()
    everybody = frozenset(kernels)
    for plan in failing:
        suspects = sorted(plan.hold - blamed)
        if blamed & plan.hold and not (suspects and fails(replace(plan, hold=frozenset(suspects)))):
            continue  # what went wrong here is explained by a primary that is already known
        if not fails(replace(plan, hold=frozenset(suspects), protect=everybody)):
            for group in culprits(suspects, lambda part: fails(replace(plan, hold=frozenset(part)))):
                blamed.update(group)
                found.races += _dependents(plan, group, kernels, fails)
        else:
            blamed.update(suspects)
            found.unexplained.append(
                "a wait at the entry of every kernel does not cure what holding " + ", ".join(suspects) + " breaks: "
                "the order is missing on the host (an event, an edge, another stream), not a wait in a kernel")
    found.races = sorted(set(found.races), key=lambda race: (race.primary, race.dependents))
    return found


def _dependents(plan: Plan, group: tuple[str, ...], kernels: list[str], fails: Fails) -> list[Race]:
    everybody = frozenset(kernels)
    held = replace(plan, hold=frozenset(group))

    def guilty(part: list[str]) -> bool:
        return fails(replace(held, protect=everybody - frozenset(part)))

    primary = " with ".join(group)
    return [Race(primary, dependents) for dependents in culprits(sorted(kernels), guilty)]


def nearest(races: list[Race], order: list[str]) -> tuple[list[Race], list[Race]]:
    """For each dependent the race with the primary launched last before it, and the others.

    With A held, a B that waits for A stores late, and a C that reads B's words without a wait goes wrong: C is then found
    for A and for B. The nearer one is named; the other may be the same fault, and says so.
    """
    place = {name: number for number, name in enumerate(order)}

    def distance(race: Race) -> int:
        first = race.primary.split(" with ")[0]
        return (place.get(race.dependents[0], 0) - place.get(first, 0) - 1) % max(len(order), 1)

    named: dict[tuple[str, ...], Race] = {}
    for race in sorted(races, key=distance):
        named.setdefault(race.dependents, race)
    kept = [race for race in races if named[race.dependents] is race]
    return kept, [race for race in races if race not in kept]
