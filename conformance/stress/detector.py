"""The detector: plain runs, calibration, stressed runs, bisection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.stress.options import matches
from conformance.stress.oracle import Copies, Observed, stable_copies
from conformance.stress.plan import BUILT_HOLD_NS, GRAPH_HOLD_NS, ONE_BY_ONE, Plan, separating_sets
from conformance.stress.program import Calibration, Program, read_calibration
from conformance.stress.search import Found, Race, search, settle

NOTHING_FOUND, RACE_FOUND, INCONCLUSIVE = 0, 1, 2
# Kernels of these libraries wait for kernels that run beside them, on this GPU or another one: held, or started early, they starve.
WAIT_FOR_OTHERS = r"(?i)nccl|nvshmem"
NO_ORDER = "the order is missing on the host (an event, an edge, another stream), not a wait in a kernel"
TIMING = "and neither does running one kernel after the other: time-dependent, inconclusive (autotuning and time-outs look like this)"
NOW, LATENT, PLACE = "race now", "latent", "relies on the trigger's place"
MEANING = {
    NOW: "its own triggers and waits allow it: holding the primary after its own trigger is enough to show it",
    LATENT: "wrong by the documents, and seen as soon as the primary triggers, which it does not do today",
    PLACE: "right as long as the primary triggers where it does: the dependent reads without a wait what is written before that",
}
MOST_EAGER_HOLD_NS = 1_000_000
SURE = 10  # ordered runs that must agree before a program that is flaky by itself is taken for racy


@dataclass(frozen=True)
class Effort:
    """How much is run and on which kernels."""

    seed: int
    seeds: int = 2
    plain_runs: int = 3
    repeats: int = 1       # runs per stressed plan
    confirm: int = 2       # runs per question of the bisection
    hold_ns: int | None = None
    only: str | None = None
    exempt: str | None = None
    protect: str | None = None
    more: int = 0
    strict: bool = False  # a race that relies on the trigger's place counts as a finding


@dataclass
class Result:
    """Everything the command prints."""

    code: int = INCONCLUSIVE
    sentence: str = ""
    races: list[Race] = field(default_factory=list)
    perhaps_the_same: list[Race] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    not_rewritten: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)  # of a race, by its sentence: one of the three kinds
    waiting: list[str] = field(default_factory=list)
    passed_on: list[str] = field(default_factory=list)    # images that could not be rewritten as a whole, and why
    kernels: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # by first launch
    holds_ns: dict[str, int] = field(default_factory=dict)
    gap_us: int = 0
    plain_s: float = 0.0
    foreseen_s: float = 0.0  # of one stressed run, at most
    stressed_s: float = 0.0
    runs: int = 0
    failed_runs: int = 0
    stressed_runs: int = 0
    seed: int = 0
    notes: list[str] = field(default_factory=list)
    copies: int = 0                                         # to the host in a plain run, where they judge
    stable_copies: int = 0
    left_alone: list[str] = field(default_factory=list)     # kernels that wait for others running beside them
    hangs: list[str] = field(default_factory=list)          # stressed runs that did not end in time; never taken for a race
    natural: bool = False                                   # the plain runs themselves go wrong


def hold_lengths(found: Calibration, fixed: int | None) -> dict[str, int]:
    """A kernel that is launched eagerly is held for longer than the launch gap; in a graph some microseconds are enough."""
    eager = min(MOST_EAGER_HOLD_NS, 2000 * found.gap_us + GRAPH_HOLD_NS)
    lengths = {}
    for kernel in found.kernels.values():
        length = max(eager if kernel.eager else GRAPH_HOLD_NS, BUILT_HOLD_NS if kernel.built else 0)
        lengths[kernel.name] = length if fixed is None else fixed
    return lengths


class Detector:
    """One session."""

    def __init__(self, program: Program, effort: Effort, say: Callable[[str], None]) -> None:
        self.program, self.effort, self.say = program, effort, say
        self.result = Result(seed=effort.seed)
        self.reference: Observed | None = None
        self.base = Plan(effort.seed)
        self.trouble: str | None = None  # what is wrong with the plain runs
        self.changed: str | None = None  # what rewriting alone changes
        self.primaries: list[str] = []
        self.rewritten_s = 0.0
        self.own_triggers: frozenset[str] = frozenset()
        self.stable: Copies = Counter()  # copies to the host that the plain runs agree on

    def run(self) -> Result:
        """The whole session; the result is complete however it ends."""
        self._plain()
        if self._calibrate() and self._reference():
            failing = self._stress()
            self._conclude(failing)
        self.result.runs = self.program.runs
        return self.result

    def _complaint(self, run: Observed) -> str | None:
        from pathlib import Path

        oracle = self.program.oracle
        return oracle.complaint(run, self.reference, Path.cwd(), self.program.plain_environment) \
            or oracle.changed_copy(run, self.reference, self.stable)

    def _end(self, sentence: str) -> bool:
        self.result.sentence = sentence
        return False

    def _plain(self) -> None:
        """The reference, and whether the program agrees with itself."""
        seconds, runs = [], []
        for number in range(self.effort.plain_runs):
            run = self.program.plain()
            seconds.append(run.seconds)
            runs.append(run)
            why = self._complaint(run)
            if why:
                detail = run.stderr.decode(errors="replace").strip().splitlines()
                self.trouble = (f"the program is flaky without any stress: plain run {number + 1}: {why}" if number else
                                f"the program is wrong without any stress: {why}" + (f" ({detail[-1]})" if detail else ""))
                break
            self.reference = self.reference or run
        self.result.plain_s = min(seconds)
        self.stable, self.result.copies = stable_copies(runs), runs[0].copies.total()
        self.result.stable_copies = self.stable.total()
        judged = f"; {self.result.stable_copies} of {self.result.copies} copies to the host are the same each time and judge" \
            if self.program.oracle.digests else ""
        self.say(self.trouble or f"plain: {len(seconds)} runs agree, {self.result.plain_s:.2f} s{judged}")

    def _calibrate(self) -> bool:
        """Which kernels there are, which can be held, and for how long."""
        records = self.program.folder / "calibration.jsonl"
        records.unlink(missing_ok=True)  # with --keep, of an earlier session: records are appended
        run = self.program.rewritten(Plan(off=True, calibrate=True), records)
        self.changed = None if self.trouble else self._complaint(run)
        found, result = read_calibration(records), self.result
        result.waiting = sorted(kernel.name for kernel in found.kernels.values() if kernel.waits)
        result.passed_on = sorted(set(found.passed))
        result.left_alone = sorted(kernel.name for kernel in found.kernels.values()
                                   if kernel.cooperative or matches(WAIT_FOR_OTHERS, kernel.name))
        self.own_triggers = frozenset(kernel.name for kernel in found.kernels.values() if kernel.triggers)
        result.not_rewritten = {
            kernel.name: kernel.why or "it was not seen when it was loaded"
            for kernel in found.kernels.values() if not kernel.rewritten and not matches(self.effort.exempt, kernel.name)}
        result.order = list(found.kernels)
        result.kernels = sorted(name for name, kernel in found.kernels.items() if kernel.rewritten)
        self.rewritten_s = run.seconds
        result.holds_ns, result.gap_us = hold_lengths(found, self.effort.hold_ns), found.gap_us
        self.program.kernels = result.order
        if not result.kernels:
            return self._end(self.trouble or ("no kernel could be rewritten" if found.kernels else "no kernel launch was seen"))
        self._choose(found)
        if not self.primaries:
            return self._end(self.trouble or ("--only names no kernel that can be held" if self.effort.only else
                                              "every kernel is exempt, or waits for others: none can be held") + "; nothing was stressed")
        if self.trouble and not any(kernel.before_attribute for kernel in found.kernels.values()):
            return self._end(self.trouble)
        return True

    def _reference(self) -> bool:
        """Runs in which every kernel waits at its entry and none triggers early; here a racy program gives the right result.

        A program that is wrong or flaky by itself but right in many such runs already races in its plain runs.
        """
        exempt = self._exempt()
        ordered = Plan(self.effort.seed, protect=frozenset(self.result.order) - exempt, exempt=exempt, triggers=frozenset())
        run = self.program.rewritten(ordered)
        if not self.trouble and self._settles(ordered, run):
            self.reference, self.result.natural = run, True
            self.say("natural: copies that differ among the plain runs are always the same when every kernel waits first")
            return True
        if not self.trouble and self._complaint(run) is None:
            return True
        self.reference = None
        agree = self._complaint(run) is None
        self.reference = run
        for _ in range(SURE if self.trouble else 1):
            agree = agree and self._complaint(self.program.rewritten(ordered)) is None
        if not agree or self.changed:
            return self._end(self.trouble or "rewriting alone, with nothing held, changes the result"
                             + (f": {self.changed}" if self.changed else ", and not always in the same way"))
        self.result.natural = True
        self.say("natural: the plain runs go wrong by themselves; they are judged by runs in which every kernel waits first")
        return True

    def _settles(self, ordered: Plan, first: Observed) -> bool:
        """Whether copies that differ among the plain runs are the same in every run in which each kernel waits first.

        Their race shows without any stress. Copies that differ even then (times, addresses, random numbers) accuse nobody.
        """
        if self.stable.total() == self.result.copies or not self.program.oracle.digests:
            return False
        runs = [first] + [self.program.rewritten(ordered) for _ in range(2)]
        if not stable_copies(runs) - self.stable:
            return False
        runs += [self.program.rewritten(ordered) for _ in range(SURE)]
        settled = stable_copies(runs) - self.stable
        self.stable += settled
        return bool(settled)

    def _exempt(self) -> frozenset[str]:
        """Kernels that are left as they are: because the user said so, or because they would starve."""
        return frozenset(self.result.left_alone) | frozenset(
            name for name in self.result.order if matches(self.effort.exempt, name))

    def _choose(self, found: Calibration) -> None:
        """The primaries: kernels that are followed by a launch that asks for overlap; all kernels if there is no such launch."""
        effort, result, exempt = self.effort, self.result, self._exempt()
        self.primaries = [name for name in result.kernels if name not in exempt and found.kernel(name).before_attribute]
        if not self.primaries:
            result.notes.append("no launch was seen that asks for overlap; so every kernel is held")
            self.primaries = [name for name in result.kernels if name not in exempt]
        if effort.only:
            self.primaries = [name for name in result.kernels if matches(effort.only, name) and name not in exempt]
        self.base = Plan(effort.seed, exempt=exempt, lengths=result.holds_ns, more=effort.more,
                         protect=frozenset(name for name in result.order if matches(effort.protect, name)))
        self.say(f"calibration: {len(result.kernels)} kernels rewritten, {len(self.primaries)} of them may be overlapped, "
                 f"launch gap {result.gap_us} us")
        self._foresee(found)

    def _foresee(self, found: Calibration) -> None:
        """What a stressed run will cost at most: rewriting as it was measured, and each launch of a held kernel its whole hold."""
        launches = {name: kernel.eager + (kernel.captured + kernel.built) * max(1, found.graph_launches)
                    for name, kernel in found.kernels.items()}
        added = max((launches[name] * self.result.holds_ns[name] for name in self.primaries), default=0) / 1e9
        self.result.foreseen_s = self.rewritten_s + added * (1 if len(self.primaries) <= ONE_BY_ONE else len(self.primaries) / 2)
        self.say(f"foreseen: {len(self._plans())} stressed runs of at most {self.result.foreseen_s:.2f} s "
                 f"({self.result.foreseen_s / max(self.result.plain_s, 1e-9):.1f}x); rewriting alone {self.rewritten_s:.2f} s")

    def _plans(self) -> list[Plan]:
        plans = []
        for number in range(self.effort.seeds):
            seed = (self.effort.seed + number * 0x9E3779B97F4A7C15) % (1 << 64)
            base = replace(self.base, seed=seed)
            sets = [frozenset(self.primaries)] if self.effort.only else separating_sets(self.primaries, seed)
            plans += [replace(base, hold=held) for held in sets]
            if not self.effort.only and len(self.primaries) > 1:
                plans.append(replace(base, hold=frozenset(self.primaries), mixed=True))
        return plans

    def _fails(self, plan: Plan, times: int) -> bool:
        for _ in range(times):
            run = self.program.rewritten(plan)
            self.result.stressed_runs += 1
            self.result.stressed_s = max(self.result.stressed_s, run.seconds)
            if run.code is None:
                self.result.hangs.append(f"holding {', '.join(sorted(plan.hold)) or 'nothing'}: it did not end in "
                                         f"{self.program.timeout:.0f} s")
                return False
            why = self._complaint(run)
            if why:
                self.result.failed_runs += 1
                if len(self.result.failures) < 16:
                    self.result.failures.append(why)
                return True
        return False

    def _stress(self) -> list[Plan]:
        failing = []
        for plan in self._plans():
            bad = self._fails(plan, self.effort.repeats)
            held = "random delays in all" if plan.mixed else f"{len(plan.hold)} held"
            self.say(f"stressed: seed {plan.seed:016x}, {held}: {'WRONG: ' + self.result.failures[-1] if bad else 'right'}")
            failing += [plan] if bad else []
        return failing

    def _label(self, race: Race, plan: Plan) -> str:
        """The kind of a race: the weakest plan that still shows it decides."""
        if self.result.natural:
            return NOW
        primaries = frozenset(race.primary.split(" with "))
        bystanders = frozenset(self.result.order) - frozenset(race.dependents)
        calm = replace(plan, hold=primaries, protect=bystanders - primaries, mixed=False)
        if primaries & self.own_triggers and self._fails(replace(calm, own=True), self.effort.confirm):
            return NOW
        if not primaries & self.own_triggers:
            return LATENT
        return PLACE

    def _uncured(self, plan: Plan) -> str:
        """Why no wait cures it: an order is missing on the host if running kernel after kernel is right, else it depends on time."""
        run = self.program.rewritten(plan, one_by_one=True)
        return NO_ORDER if run.code is not None and self._complaint(run) is None else TIMING

    def _conclude(self, failing: list[Plan]) -> None:
        result = self.result
        if not failing and self.trouble:
            result.sentence = self.trouble
            return
        if not failing and result.natural:
            result.code = RACE_FOUND
            result.sentence = "the plain runs are not as runs in which every kernel waits first; no kernel could be named as the cause"
            return
        if not failing:
            judged = self.program.oracle.judges(self.reference, self.stable)
            result.code = NOTHING_FOUND if judged and not result.not_rewritten and not result.hangs else INCONCLUSIVE
            held = f"nothing found in {result.stressed_runs} stressed runs"
            held += "" if judged else ", and nothing but the exit code judged them: no copy to the host was seen that is the same in " \
                "each plain run; name what judges, such as --compare-outputs, --check or --expr 'code == 0'"
            held += f"; {len(result.hangs)} of them did not end in time, which is no race: " \
                "kernels that wait for kernels running beside them starve when others are held" if result.hangs else ""
            result.sentence = held + (f"; {len(result.not_rewritten)} kernels could not be rewritten and were not stressed"
                                      if result.not_rewritten else "")
            return
        result.code = RACE_FOUND
        self.say("bisecting")
        exact = [plan for plan in failing if not plan.mixed] or failing
        found: Found = search(exact, sorted(self.result.order), lambda plan: self._fails(plan, self.effort.confirm))
        result.races, result.perhaps_the_same = settle(found.races, result.order, exact[0],
                                                       lambda plan: self._fails(plan, self.effort.confirm))
        uncured = [self._uncured(plan) for plan in found.uncured]
        result.unexplained = [f"{said}: {why}" for said, why in zip(found.unexplained, uncured, strict=True)]
        for race in result.races:
            result.labels[sentence(race)] = self._label(race, exact[0])
        if not found.races and not found.unexplained:
            result.unexplained.append("a run went wrong, but no run of the bisection did; try more --confirm runs")
        if self.trouble and not result.races:
            result.code, result.sentence = INCONCLUSIVE, self.trouble
            return
        result.seed = exact[0].seed
        if not result.races and uncured and set(uncured) == {TIMING}:
            result.code = INCONCLUSIVE
        if not self.effort.strict and result.labels and not result.unexplained and not result.natural \
                and set(result.labels.values()) == {PLACE}:
            result.code = NOTHING_FOUND
        result.sentence = "; ".join([sentence(race) for race in result.races] + result.unexplained)


def sentence(race: Race) -> str:
    """The finding."""
    dependents = " together with ".join(race.dependents)
    return f"kernel {dependents} reads before, or without, its wait, what kernel {race.primary} writes"
