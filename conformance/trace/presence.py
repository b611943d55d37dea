"""What the trace itself cost: the same program with the library but without times, against the traced run.

The host notes its launches and synchronisations in both. Stretches from the first launch after a synchronisation to the end
of the next one are compared where they hold the same work, so that loading and set-up do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from conformance.trace.records import Process

_SYNCHRONISING = "synchronize"
_WORTH_TELLING = 1.05


@dataclass(frozen=True)
class Presence:
    """Times of the plain and of the traced run; None where the two had no stretch of work in common."""

    ratio: float | None
    compared: int  # stretches
    plain_us: float  # median of the commonest stretch
    traced_us: float

    @property
    def sentence(self) -> str:
        """For people."""
        if self.ratio is None:
            return "own cost unknown: the plain and the traced run had no stretch between synchronisations in common"
        text = f"own cost: {100 * (self.ratio - 1):+.1f} % of time between synchronisations ({self.compared:,} stretches compared)"
        if self.ratio > _WORTH_TELLING:
            text += "; overlap and gaps may be other without it"
        return text

    def as_json(self) -> dict[str, float | int | None]:
        """All of it."""
        return {"ratio": self.ratio, "stretches": self.compared, "plain_us": self.plain_us, "traced_us": self.traced_us}


def stretches(process: Process) -> dict[tuple[int, int], list[float]]:
    """By the numbers of launches and of graph launches in them: their times in us."""
    found: dict[tuple[int, int], list[float]] = defaultdict(list)
    began, launches, graphs = 0, 0, 0
    for event in sorted(process.events, key=lambda event: event.number):
        if not event.took_effect:
            continue
        if event.operation in ("launch", "graph"):
            began = began or event.begin
            launches += event.operation == "launch"
            graphs += event.operation == "graph"
        elif event.operation == _SYNCHRONISING and began:
            found[launches, graphs].append((event.end - began) / 1000)
            began, launches, graphs = 0, 0, 0
    return found


def compare(plain: Iterable[Process], traced: Iterable[Process]) -> Presence:
    """Processes in the order in which they began; stretches weighted by their time in the plain run."""
    before: dict[tuple[int, int], list[float]] = defaultdict(list)
    after: dict[tuple[int, int], list[float]] = defaultdict(list)
    for processes, into in ((plain, before), (traced, after)):
        for process in processes:
            for key, values in stretches(process).items():
                into[key] += values
    common = [key for key in before if key in after]
    if not common:
        return Presence(None, 0, 0.0, 0.0)
    weight = {key: median(before[key]) * len(before[key]) for key in common}
    total = sum(median(after[key]) * len(before[key]) for key in common)
    main = max(common, key=lambda key: weight[key])
    return Presence(round(total / sum(weight.values()), 4), sum(len(before[key]) for key in common),
                    round(median(before[main]), 1), round(median(after[main]), 1))
