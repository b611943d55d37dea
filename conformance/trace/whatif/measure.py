"""Time of each variant, from interleaved runs, and the gain with its interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev

from conformance.trace.presence import stretches
from conformance.trace.records import Process

Key = tuple[int, int]
# Two-sided 95 % of Student's t for 1, 2, ... degrees of freedom; from the last on it hardly changes.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)


@dataclass(frozen=True)
class Interval:
    """A ratio or share with its 95 % interval."""

    estimate: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """For scripts."""
        return {"estimate": round(self.estimate, 5), "low": round(self.low, 5), "high": round(self.high, 5)}

    def words(self) -> str:
        """As a percentage. A loss of ten times the original's time is told as that: the runs were too few or too uneven."""
        low = f"{100 * self.low:+.1f}" if self.low > -10 else "below -1000"
        return f"{100 * max(self.estimate, -10):+.1f} % (95 % interval {low} to {100 * self.high:+.1f} %)"


def times(processes: Sequence[Process]) -> dict[Key, list[float]]:
    """Stretches of work between synchronisations, by what is in them (us)."""
    found: dict[Key, list[float]] = defaultdict(list)
    for process in processes:
        for key, values in stretches(process).items():
            found[key] += values
    return found


_RECURS = 5


def step_of(runs: Sequence[Mapping[Key, Sequence[float]]]) -> Key | None:
    """What counts as a step: the kind of stretch that takes most time, of those that recur in all runs. One that does not recur is set-up
    (a runtime that loads, a compiler, a first use), which may take longer than all steps; it counts only if nothing recurs."""
    if not runs:
        return None
    least = {key: min(len(run.get(key, ())) for run in runs) for key in runs[0]}
    for often in (_RECURS, 1):
        time_of = {key: median(runs[0][key]) * least[key] for key in least if least[key] >= often}
        if time_of:
            return max(time_of, key=lambda key: time_of[key])
    return None


def typical(run: Mapping[Key, Sequence[float]], key: Key) -> float:
    """The median stretch of a run; its first fifth warms up."""
    values = list(run[key])
    return median(values[len(values) // 5:])


def gain(before: Sequence[float], after: Sequence[float]) -> Interval:
    """The share of time saved, from runs in pairs; on logarithms, so that a gain and its reverse are the same size."""
    ratios = [math.log(b / a) for a, b in zip(before, after, strict=True)]
    middle = mean(ratios)
    if len(ratios) < 2:
        return Interval(1 - math.exp(middle), -math.inf, math.inf)
    reach = _T[min(len(ratios) - 2, len(_T) - 1)] * stdev(ratios) / math.sqrt(len(ratios))
    return Interval(1 - math.exp(middle), 1 - math.exp(middle + reach), 1 - math.exp(middle - reach))
