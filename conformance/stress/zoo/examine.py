"""One planted bug on this GPU: how often it shows by itself and under stress, which pair is named, and whether its twin stays right."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace

from conformance.stress.detector import LATENT, MOST_EAGER_HOLD_NS, NOW, PLACE
from conformance.stress.plan import BUILT_HOLD_NS, GRAPH_HOLD_NS, Plan, separating_sets
from conformance.stress.search import Race, search, settle
from conformance.stress.zoo.server import Entry, Server

ENOUGH = 0.99
PACE_RUNS = 10
IN_GRAPHS = {"graph": GRAPH_HOLD_NS, "two streams": GRAPH_HOLD_NS, "graph by hand": BUILT_HOLD_NS}


@dataclass(frozen=True)
class Amount:
    """How much is run."""

    runs: int       # per bug and plan
    twin_runs: int
    confirm: int    # per question of the bisection
    seed: int
    hold_ns: int | None = None


@dataclass
class Line:
    """One bug in the table."""

    name: str
    bug: str
    shape: str
    path: str
    expected: list[str]
    hold_ns: int = 0
    runs: int = 0
    natural: int = 0          # wrong runs as nvcc or Triton builds the program
    rewritten: int = 0        # wrong runs once rewritten, with neither trigger nor hold
    shown: int = 0            # runs that at least one plan of a default session makes go wrong
    best_plan: int = 0        # wrong runs under the best single plan
    by_plan: dict[str, int] = field(default_factory=dict)
    twin_runs: int = 0
    twin_wrong: int = 0
    header: int | None = None       # wrong runs compiled with PDL_STRESS and without any library; None: no such build
    header_twin: int | None = None  # the same of the twin, of as many runs
    hold_0_same: bool = False  # the twin with forced triggers and a hold of 0 computes what its plain build does
    named: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    also: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    label: str = LATENT       # the kind that its finding has to be
    candidate: str = ""       # why this bug need not be able to show on every driver; "" for all others
    error: str | None = None
    seconds: float = 0.0

    def right(self) -> bool:
        """Whether exactly the expected pairs are named, with the expected kind; "|" separates pairs of which either one is right."""
        left = list(self.named)
        for expected in self.expected:
            found = next((name for name in expected.split("|") if name in left), None)
            if found is None:
                return False
            left.remove(found)
        return not left and all(label == self.label for label in self.labels.values())

    def good(self) -> bool:
        """Shown, named rightly, and the twin never wrong."""
        return (self.error is None and self.runs > 0 and self.shown >= ENOUGH * self.runs and self.twin_runs > 0
                and self.twin_wrong == 0 and not self.header_twin and self.hold_0_same and self.right())

    def impossible_here(self) -> bool:
        """A candidate that no plan shows; it counts neither as found nor as missed."""
        return bool(self.candidate) and self.error is None and self.shown == 0 and self.twin_wrong == 0 and self.hold_0_same

    def report(self) -> dict[str, object]:
        """For the result file."""
        return {**asdict(self), "good": self.good(), "impossible_here": self.impossible_here()}


def plans(kernels: list[str], seed: int, hold_ns: int) -> list[Plan]:
    """The plans of one seed of a default session of `stress`."""
    base = Plan(seed, lengths=dict.fromkeys(kernels, hold_ns))
    found = [replace(base, hold=held) for held in separating_sets(kernels, seed)]
    return [*found, replace(base, hold=frozenset(kernels), mixed=True)]


def _label(plan: Plan) -> str:
    return "random delays in all" if plan.mixed else "+".join(sorted(plan.hold))


class Examiner:
    """One bug and its twin, on a plain and on a stressed build."""

    def __init__(self, plain: Server, stressed: Server, entry: Entry, amount: Amount, header: Server | None = None) -> None:
        self.plain, self.stressed, self.entry, self.amount, self.header = plain, stressed, entry, amount, header
        self.line = Line(entry.name, entry.bug, entry.shape, entry.path, entry.races, label=entry.label, candidate=entry.candidate)

    def examine(self) -> Line:
        """Measure everything that its line in the table holds."""
        began = time.monotonic()
        line, entry, amount = self.line, self.entry, self.amount
        line.natural = self.plain.run(entry, "bug", amount.runs).wrong
        self.stressed.use(Plan(off=True), entry.kernels("bug"))
        line.rewritten = self.stressed.run(entry, "bug", amount.runs).wrong
        line.hold_ns = self._hold()
        failing = self._show()
        self._name(failing)
        self._twin()
        if self.header:
            line.header = self.header.run(entry, "bug", amount.runs).wrong
            line.header_twin = self.header.run(entry, "twin", amount.runs).wrong
        line.seconds = time.monotonic() - began
        return line

    def _hold(self) -> int:
        """As the command chooses it: by the launch gap where launches are eager. A whole run is never shorter than a gap."""
        if self.amount.hold_ns is not None:
            return self.amount.hold_ns
        if self.entry.path in IN_GRAPHS:
            return IN_GRAPHS[self.entry.path]
        us = self.stressed.run(self.entry, "twin", PACE_RUNS).us
        return min(MOST_EAGER_HOLD_NS, int(2000 * us) + GRAPH_HOLD_NS)

    def _show(self) -> list[Plan]:
        line, kernels = self.line, self.entry.kernels("bug")
        shown, failing = [False] * self.amount.runs, []
        for plan in plans(kernels, self.amount.seed, line.hold_ns):
            self.stressed.use(plan, kernels)
            runs = self.stressed.run(self.entry, "bug", self.amount.runs)
            shown = [before or mark == "X" for before, mark in zip(shown, runs.marks, strict=False)]
            line.by_plan[_label(plan)] = runs.wrong
            failing += [plan] if runs.wrong else []
        line.runs, line.shown = self.amount.runs, sum(shown)
        line.best_plan = max(line.by_plan.values())
        return failing

    def _name(self, failing: list[Plan]) -> None:
        line, kernels = self.line, self.entry.kernels("bug")

        def fails(plan: Plan) -> bool:
            self.stressed.use(plan, kernels)
            return self.stressed.run(self.entry, "bug", self.amount.confirm).wrong > 0

        exact = [plan for plan in failing if not plan.mixed] or failing
        found = search(exact, sorted(kernels), fails)
        near, others = settle(found.races, kernels, exact[0], fails) if exact else ([], [])
        line.named = sorted(f"{race.primary}>{'+'.join(race.dependents)}" for race in near)
        line.also = sorted(f"{race.primary}>{'+'.join(race.dependents)}" for race in others)
        line.unexplained = found.unexplained
        line.labels = {f"{race.primary}>{'+'.join(race.dependents)}": self._label(race, exact[0], kernels) for race in near}

    def _label(self, race: Race, plan: Plan, kernels: list[str]) -> str:
        """As the detector does it. A hold after a kernel's own trigger is part of its code, so the program is loaded once more for it."""
        primaries = frozenset(race.primary.split(" with "))
        if not primaries & self.stressed.own_triggers():
            return LATENT
        bystanders = frozenset(kernels) - frozenset(race.dependents) - primaries
        baked = self.stressed.with_plan(replace(plan, hold=primaries, protect=bystanders, own=True, mixed=False), kernels)
        try:
            return NOW if baked.run(self.entry, "bug", self.amount.confirm).wrong else PLACE
        finally:
            baked.close()

    def _twin(self) -> None:
        line, kernels = self.line, self.entry.kernels("twin")
        plain = self.plain.run(self.entry, "twin", 1)
        self.stressed.use(Plan(self.amount.seed), kernels)
        same = self.stressed.run(self.entry, "twin", PACE_RUNS)
        line.hold_0_same = plain.wrong == same.wrong == 0 and plain.expected == same.expected
        chosen = plans(kernels, self.amount.seed, line.hold_ns)
        for number, plan in enumerate(chosen):
            share = self.amount.twin_runs * (number + 1) // len(chosen) - self.amount.twin_runs * number // len(chosen)
            self.stressed.use(plan, kernels)
            runs = self.stressed.run(self.entry, "twin", share)
            line.twin_runs += len(runs.marks)
            line.twin_wrong += runs.wrong


def cost(plain: Server, stressed: Server, seed: int, hold_ns: int | None) -> dict[str, dict[str, float]]:
    """A chain of 1,000 launch-bound graph kernels, with PDL and without: microseconds per replay.

    As a session does it, only kernels that the next launch may overlap are held.
    """
    found = {}
    for kind, kernel in (("pdl", "chain"), ("plain", "chain_plain")):
        bare = float(plain.ask(f"cost {kind} 1000")["us"])  # type: ignore[arg-type]
        held = frozenset([kernel]) if kind == "pdl" else frozenset()
        times = {"plain_us": bare}
        for name, plan in (("rewritten_us", Plan(off=True)),
                           ("stressed_us", Plan(seed, hold=held, lengths={kernel: hold_ns or GRAPH_HOLD_NS})),
                           ("random_us", Plan(seed, hold=held, lengths={kernel: hold_ns or GRAPH_HOLD_NS}, mixed=True))):
            stressed.use(plan, [kernel])
            times[name] = float(stressed.ask(f"cost {kind} 1000")["us"])  # type: ignore[arg-type]
        found[kind] = {**times, "ratio": max(times["stressed_us"], times["random_us"]) / bare if bare else 0.0}
    return found
