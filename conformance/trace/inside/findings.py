"""From the blocks' times: how long they stand in the wait, how late the trigger is, and which of the two would gain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from conformance.trace.inside.records import Launch, Recorded

# A clock that steps by tens of nanoseconds and a store after each reading: what is shorter is not told from nothing.
_SHORTEST_NS = 100
RAN_ON = "recording ran on H200s; on other GPUs it is checked by disassembly and on a stand-in only"


@dataclass(frozen=True)
class Step:
    """One launch after its primary; ns."""

    lead: int      # from the primary's release of its dependents to its end
    arrival: int   # from that release to the dependent's first block
    prologue: int  # of a typical block: from its start to its wait, without what recording the start took
    standing: int  # of a typical block: from the begin to the end of its wait
    parked: int    # the same, summed over all blocks
    response: int  # from the primary's end to the end of the first wait

    @property
    def late(self) -> int:
        """By how much the trigger came too late to hide the dependent's start and its prologue."""
        return max(0, self.arrival + self.prologue - self.lead)


@dataclass
class Finding:
    """One pair of kernels."""

    primary: str
    dependent: str
    asked: bool  # for overlap, by the launch or the edge
    triggers: bool
    waits: bool
    steps: list[Step]

    def typical(self, name: str) -> float:
        """The median over all launches, in us."""
        return float(median(getattr(step, name) for step in self.steps)) / 1000

    @property
    def gain_us(self) -> float:
        """What an earlier trigger could hide, at most: no more than what the dependent does ahead of its wait and its start."""
        return self.typical("late") if self.asked and self.waits else 0.0

    def sentence(self) -> str:
        """Which of the two would gain."""
        if not self.asked:
            return "overlap is not asked for, so neither trigger nor wait matters yet"
        if not self.waits:
            return "the dependent has no wait in the code that ran, so nothing says what it may do early"
        standing, late = self.typical("standing"), self.gain_us
        if late * 1000 >= _SHORTEST_NS:
            how = "an earlier trigger" if self.triggers else "a trigger (the primary has none)"
            return f"{how} could hide up to {late:.2f} us more: the trigger leads by {self.typical('lead'):.2f} us, " \
                   f"start and prologue take {self.typical('arrival') + self.typical('prologue'):.2f}"
        if standing * 1000 >= _SHORTEST_NS:
            parked = self.typical("parked")
            return "the prologue is hidden already; only work moved ahead of the wait would gain, " \
                   f"up to {standing:.2f} us; a later trigger would free the primary of {parked:.1f} us of parked blocks"
        return "the trigger comes just in time: the prologue is hidden and blocks hardly stand in the wait"

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        numbers = {f"{name}_us": round(self.typical(name), 3)
                   for name in ("lead", "arrival", "prologue", "standing", "parked", "response", "late")}
        return {"primary": self.primary, "dependent": self.dependent, "launches": len(self.steps), "asked": self.asked,
                "triggers": self.triggers, "waits": self.waits, **numbers, "text": self.sentence()}


@dataclass
class Inside:
    """All that --inside adds to a trace."""

    findings: list[Finding] = field(default_factory=list)
    launched: int = 0  # of the kernels that record, in the traced run before
    launches: int = 0
    partial: int = 0
    warps: int = 0    # that began a record
    dropped: int = 0  # of those, warps whose record a later one took
    spilled: set[str] = field(default_factory=set)  # kernels that record without registers above their own
    shown: list[tuple[Launch, Launch | None]] = field(default_factory=list)  # the newest, each with its primary, for a timeline
    refused: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=lambda: [RAN_ON])

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        pairs = [one.as_json() for one in self.findings]
        return {"launches_in_the_traced_run": self.launched, "launches": self.launches, "launches_kept_in_part": self.partial,
                "warps": self.warps, "warps_dropped": self.dropped, "without_more_registers": sorted(self.spilled),
                "pairs": pairs, "not_recorded": self.refused, "notes": self.notes}


def _step(primary: Launch, dependent: Launch) -> Step:
    waiting = [block for block in dependent.blocks.values() if block.wait_begun and block.wait_ended]
    spent = [block.wait_ended - block.wait_begun for block in waiting]
    prologue = median(block.wait_begun - (block.entered or block.start) for block in waiting) if waiting else 0
    return Step(primary.end - primary.released, max(0, dependent.start - primary.released), int(prologue),
                int(median(spent)) if spent else 0, sum(spent), dependent.wait_ended - primary.end if waiting else 0)


def _primary_of(dependent: Launch, earlier: Sequence[Launch], names: set[str]) -> Launch | None:
    """The launch that it waited for: of those that may be its primary and ended before its wait did, the last to end."""
    until = dependent.wait_ended or dependent.end
    found = [launch for launch in earlier if launch.name in names and launch.start < dependent.start and launch.end <= until]
    return max(found, key=lambda launch: launch.end) if found else None


_MOST_SHOWN = 100_000
_LOOK_BACK = 256  # launches; kernels of other streams may lie between a dependent and its primary


def find(recorded: Iterable[Recorded], asked: Mapping[tuple[str, str], bool], refused: Mapping[str, str],
         launched: Mapping[str, int] | None = None) -> Inside:
    """`asked`: the pairs of kernels that a trace saw in a row, and whether the dependent asks for overlap; `launched`: how often
    the trace saw each kernel."""
    primaries: dict[str, set[str]] = defaultdict(set)
    for primary, dependent in asked:
        primaries[dependent].add(primary)
    inside = Inside(refused=dict(refused))
    steps: dict[tuple[str, str], list[tuple[Launch, Launch]]] = defaultdict(list)
    for one in recorded:
        inside.refused.update(one.refused)
        inside.notes += one.troubles
        inside.launches += len(one.launches)
        inside.partial += one.partial
        inside.warps, inside.dropped = inside.warps + one.warps, inside.dropped + one.dropped
        inside.spilled |= one.spilled
        for number, launch in enumerate(one.launches):
            before = _primary_of(launch, one.launches[max(0, number - _LOOK_BACK) : number], primaries[launch.name])
            inside.shown.append((launch, before))
            if before is not None:
                steps[before.name, launch.name].append((before, launch))
        inside.shown = inside.shown[-_MOST_SHOWN:]
    for (primary, dependent), both in steps.items():
        inside.findings.append(Finding(primary, dependent, asked[primary, dependent], any(first.triggers for first, _ in both),
                                       any(last.waits for _, last in both), [_step(first, last) for first, last in both]))
    inside.findings.sort(key=lambda one: -one.gain_us * len(one.steps))
    inside.launched = sum(count for name, count in (launched or {}).items() if name not in inside.refused)
    inside.notes += _lost(inside)
    return inside


def _lost(inside: Inside) -> list[str]:
    """What of the launches is not there. The run before may have launched more or less: this is no exact count."""
    found = []
    if inside.dropped:
        found.append(f"{inside.dropped:,} of {inside.warps:,} warps' records were taken by later ones: the newest launches are kept")
    if inside.partial:
        found.append(f"of {inside.partial:,} launches only a part of the records is there; they are left out")
    gone = inside.launched - inside.launches - inside.partial
    if gone > 0:
        found.append(f"the traced run launched these kernels {inside.launched:,} times; about {gone:,} launches left no record")
    return found
