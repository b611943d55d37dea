"""Where each kernel's trigger gains most: nowhere, ahead of the wait at its entry, or after that wait. One kernel at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import median


class TriggerAt(Enum):
    """Of the trigger that is put into a kernel."""

    NOWHERE = "nowhere"
    BEFORE = "before the wait"
    AFTER = "after the wait"


Places = Mapping[str, TriggerAt]
# Runs the program with these places, as often as there are rounds: the time of a step in each, or None if it did not end as it should.
Runner = Callable[[Places], "list[float] | None"]

_LEAST_GAIN = 0.01  # of the time of a step; less is not told from noise by a few runs


@dataclass
class Found:
    """The places that were chosen, and what was tried on the way."""

    places: dict[str, TriggerAt]
    tried: int = 0
    failed: list[tuple[str, TriggerAt]] = field(default_factory=list)  # the program did not end, or ended otherwise


def _better(new: Sequence[float], old: Sequence[float]) -> bool:
    """Faster by more than noise: by the medians, and in nearly every single run."""
    slower = sum(a >= b for a in new for b in old)
    return median(new) < median(old) * (1 - _LEAST_GAIN) and slower * 10 <= len(new) * len(old)


def search(kernels: Sequence[str], run: Runner, most: int) -> Found:
    """Begins with the best place for all, then tries the other places for each of the first `most` kernels."""
    found = Found({})
    best: list[float] | None = None
    for place in TriggerAt:
        everywhere = dict.fromkeys(kernels, place)
        times = run(everywhere)
        found.tried += 1
        if times is None:
            found.failed.append(("all kernels", place))
        elif best is None or _better(times, best):
            found.places, best = everywhere, times
    for kernel in kernels[:most] if best is not None and len(kernels) > 1 else ():
        for place in [place for place in TriggerAt if place is not found.places[kernel]]:
            places = {**found.places, kernel: place}
            times = run(places)
            found.tried += 1
            if times is None:
                found.failed.append((kernel, place))
            elif best is not None and _better(times, best):
                found.places, best = places, times
    return found
