"""At which pairs of kernels the gain is: the original and the best variant, each traced once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from conformance.trace import command, session
from conformance.trace.cupti import find_cupti
from conformance.trace.pairs import Pair
from conformance.trace.whatif import variants
from conformance.trace.whatif.variants import Variant

Names = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """One pair of kernels in both runs; shares of its launches, and microseconds for each."""

    primary: str
    dependent: str
    launches: int
    overlapping_before: float
    overlapping_after: float
    saved_us: float  # from the primary's end to the dependent's end, before less after


def _by_name(pairs: Iterable[Pair]) -> dict[Names, list[Pair]]:
    found: dict[Names, list[Pair]] = defaultdict(list)
    for pair in pairs:
        found[pair.primary.name, pair.dependent.name].append(pair)
    return found


def _behind_us(pairs: Sequence[Pair]) -> float:
    """What a dependent adds after its primary: all that overlaps counts for nothing."""
    return mean(max(0, pair.dependent.end - pair.primary.end) for pair in pairs) / 1000


def compare(before: Iterable[Pair], after: Iterable[Pair]) -> list[Place]:
    """Pairs that both have; what was saved most in all comes first."""
    old, new = _by_name(before), _by_name(after)
    found = []
    for names in old.keys() & new.keys():
        a, b = old[names], new[names]
        shares = [sum(pair.facts.overlapped for pair in pairs) / len(pairs) for pairs in (a, b)]
        found.append(Place(*names, len(a), shares[0], shares[1], round(_behind_us(a) - _behind_us(b), 4)))
    return sorted(found, key=lambda place: (-place.saved_us * place.launches, place.primary, place.dependent))


def traced(words: Sequence[str], best: Variant, folder: Path, timeout: float) -> list[Place]:
    """Both runs."""
    cupti = find_cupti(list(words))
    pairs = []
    for variant in (variants.original(), best):
        place = folder / f"traced-{variant.name}"
        session.run(list(words), place, variants.environment(variant, place, cupti), True, timeout)
        pairs.append(command.pairs_of(command.timelines_of(place), place)[0])
    return compare(pairs[0], pairs[1])
