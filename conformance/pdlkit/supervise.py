"""Runs families in child processes and turns the way each child ended into facts about its cases.

A child that hangs, crashes or poisons its context costs the case it was in; a fresh child goes on after it. On a
GPU a probe decides first whether the device survived. There the next family's child opens the device while this one's
runs, and is held before it gives the GPU any work. It begins when this one has said that it is done: then this one only closes the
device. After a casualty it is dropped, so that nothing of the casualty reaches it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.children import Ending, HeldChild, Kept, Stopper, run_child
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.records import CaseLog, Record, Session

START_S = 90.0  # from nothing to the first record: a CUDA context on a machine with many GPUs takes long
BETWEEN_CASES_S = 60.0
CASE_S = 60.0  # when a begin record names no deadline
LONGEST_CASE_S = 24 * 3600.0
GRACE_S = 3.0
SLOWEST = 10.0  # a case that shows progress may take so many times its limit: others may be using the GPU
EXIT_S = 30.0  # from the closing record to the end of the process
PROBE_S = 60.0
PROBE_TRIES = 2
DEVICE_FAILED = 71  # the harness's exit code: the context cannot be used any more
LOST = "its question was answered, but the device was lost to it: every later call fails"
PLANTED_CASUALTIES = ("hang", "crash", "no-record")
# What a child that was asked for one case may exit with beside 0 (77: CTest shows an observing case as skipped).
_CODES_OF = {"PASS": {0}, "FAIL": {1}, "INCONCLUSIVE": {2, 77}, "NOT_SUPPORTED": {77}, "HANG": {1}}

Sink = Callable[[str, Record], None]  # (family, record), from several threads


@dataclass(frozen=True)
class Plan:
    """What to run, and how."""

    harness: Path
    device: str  # cuda, cuda:N, model or model:NAME, as the harness takes it
    profile: str
    seed: int
    families: dict[str, list[str]]  # family to its cases, in order
    subset: bool  # the families are not whole, so every case is named
    plant: str | None = None
    parallel: int = 1
    environment: dict[str, str] | None = None
    rules_hash: str | None = None  # of the rules that the records are judged by

    @property
    def on_gpu(self) -> bool:
        """Whether real hardware can be lost."""
        return self.device.startswith("cuda")

    def argv(self, family: str, cases: Sequence[str], name_cases: bool) -> list[str]:
        """The harness's command line for these cases."""
        argv = [str(self.harness), "--family", family]
        if name_cases:
            for case in cases:
                argv += ["--case", case]
        return [*argv, "--device", self.device, "--profile", self.profile, "--seed", f"{self.seed:016x}"]


@dataclass
class Outcome:
    """Everything the children of one run said and did."""

    logs: dict[str, CaseLog] = field(default_factory=dict)
    start: Record | None = None
    problems: list[str] = field(default_factory=list)
    processes: list[Record] = field(default_factory=list)
    device_lost: bool = False
    interrupted: bool = False


def start_problems(start: Record | None, plan: Plan, earlier: Record | None) -> list[str]:
    """Why this child did not run what was planned, with these rules, on the device that an earlier one had."""
    if start is None:
        return ["it ran cases and never said on what device"]
    planned = {"profile": plan.profile, "seed": f"{plan.seed:016x}", "rules_hash": plan.rules_hash}
    found = [f"it was built for or ran with another {key}: {start.get(key, 'it says none')} instead of {want}"
             for key, want in planned.items() if want is not None and start.get(key) != want]
    return found + other_device(start, earlier or start)


def other_device(start: Record, earlier: Record) -> list[str]:
    """What this child found to be another device, driver or runtime than an earlier one."""
    return [f"it met another {key}: {earlier.get(key)}, then {start.get(key)}" for key in ("device", "driver", "runtime")
            if _untimed(start.get(key)) != _untimed(earlier.get(key))]


def _untimed(value: Any) -> Any:
    """A device without its clock's step, which every child measures."""
    return {k: v for k, v in value.items() if k != "tick_ns"} if isinstance(value, dict) else value


class _FamilyWatch:
    """The watchdog's view of one child: every record is a sign of life; a case's own limit counts from its last progress."""

    def __init__(self, session: Session, sink: Sink, on_start: Callable[[], None], on_done: Callable[[], None]) -> None:
        self.session, self._sink, self._on_start, self._on_done = session, sink, on_start, on_done
        self._deadline = time.monotonic() + START_S
        self._began, self._last_progress = 0.0, -math.inf
        self._limit = CASE_S

    def line(self, text: str) -> None:
        if not text.strip():
            return
        record = self.session.take(text)
        if record is None:
            return
        now, kind = time.monotonic(), record["record"]
        if kind == "begin":
            self._began, self._last_progress = now, -math.inf
            limit = record.get("deadline_s")
            self._limit = min(float(limit), LONGEST_CASE_S) if isinstance(limit, (int, float)) and limit > 0 else CASE_S  # noqa: UP038
            self._deadline = now + self._limit + GRACE_S
        elif kind == "progress":
            self._last_progress = now
            self._deadline = min(now, self._began + (SLOWEST - 1) * self._limit) + self._limit + GRACE_S
        elif kind == "end":
            log = self.session.last_ended
            if log is not None:
                log.wall_s = now - self._began
            self._deadline = now + BETWEEN_CASES_S
        elif kind == "done":
            self._deadline = now + EXIT_S
            if not record.get("endless"):
                self._on_done()
        elif kind == "start":
            self._deadline = now + BETWEEN_CASES_S
            self._on_start()
        self._sink(self.session.family, record)

    def deadline(self) -> float:
        return self._deadline

    def still_went_on(self) -> bool:
        """The case's last progress is younger than its limit: when its time was over, it was slow, and did not hang."""
        return time.monotonic() - self._last_progress < self._limit


class _ProbeWatch:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._deadline = time.monotonic() + PROBE_S

    def line(self, text: str) -> None:
        self.lines.append(text)

    def deadline(self) -> float:
        return self._deadline


def probe(harness: Path, device: str, stopper: Stopper, environment: dict[str, str] | None = None) -> tuple[Ending, list[str]]:
    """Ask a fresh process whether the device can be used."""
    watch = _ProbeWatch()
    ending = run_child([str(harness), "--probe", "--device", device], watch, stopper, environment)
    return ending, watch.lines


class Supervisor:
    """Runs a plan's families and gathers the outcome; `stop` ends it early and leaves no process.

    device_seen: an earlier part of the run had the device.
    """

    def __init__(self, plan: Plan, sink: Sink, finished: Callable[[str], None] = lambda family: None, device_seen: bool = False) -> None:
        self.plan, self._sink, self._finished, self._device_seen = plan, sink, finished, device_seen
        self.outcome = Outcome()
        self._stopper = Stopper()
        self._lock = threading.Lock()
        self._planted = False
        self._held: tuple[list[str], HeldChild] | None = None  # the next family's child, and what it was asked for
        self._without_device: dict[str, str] = {}  # cases whose child found no device, and what it said

    def stop(self) -> None:
        """Kill what runs and start nothing more."""
        self.outcome.interrupted = True
        self._stopper.stop()

    def run(self) -> Outcome:
        """Run every family; returns when all children are gone."""
        families = list(self.plan.families.items())
        with ThreadPoolExecutor(max_workers=max(1, self.plan.parallel)) as pool:
            futures: list[Future[None]] = [pool.submit(self._run_family, *entry) for entry in families]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self.stop()
                for future in futures:
                    future.cancel()
                raise
            finally:
                self._drop_held()
        self._stopper.close()
        self._settle_without_device()
        return self.outcome

    def _run_family(self, family: str, cases: list[str]) -> None:
        pending, name_cases, empty_starts = list(cases), self.plan.subset, 0
        while pending:
            if self._stopper.stopped:
                self._not_run(pending, "the device was lost" if self.outcome.device_lost else "the run was interrupted")
                return
            session = Session(family, pending)
            argv = self.plan.argv(family, pending, name_cases) + self._plant()
            watch = _FamilyWatch(session, self._sink, lambda: self._hold_next(family), self._begin_held)
            ending = run_child(argv, watch, self._stopper, self.plan.environment, self._release(argv))
            slow = ending.hung and watch.still_went_on()
            settled = self._settle(session, ending, len(pending) == 1 and name_cases, slow)
            pending = [case for case in pending if case not in settled]
            if session.done or ending.interrupted:
                if ending.hung or ending.signal is not None:
                    self._check_device(session, ending, [])
                why = "the run was interrupted" if ending.interrupted else "its child closed without reaching it"
                self._not_run(pending, why)
                if not ending.interrupted:
                    self._close(family)
                return
            if not settled:
                empty_starts += 1
                if empty_starts == 2 or ending.exit_code in (64, 69, 70, 77):
                    self._never_started(family, pending, ending)
                    return
            name_cases = True
            self._check_device(session, ending, pending)
        self._close(family)

    def _hold_next(self, family: str) -> None:
        """Have the next family's child open the device already: that takes it longer than most families' cases in smoke."""
        families = list(self.plan.families)
        after = families.index(family) + 1
        if after < len(families):
            self._hold(self.plan.argv(families[after], self.plan.families[families[after]], self.plan.subset) + self._plant())

    def _hold(self, argv: list[str]) -> None:
        if not self.plan.on_gpu or self.plan.parallel > 1 or self._held:
            return
        try:
            self._held = argv, HeldChild([*argv, "--held"], self.plan.environment)
        except SetupImpossible:
            pass  # it is started when it is its turn, and then the failure is said

    def _begin_held(self) -> None:
        """Let the held child begin: the one that runs has no work left on the GPU."""
        if self._held:
            self._held[1].begin()

    def _release(self, argv: list[str]) -> Kept | None:
        """The child that was held for this, if it waits or has begun."""
        if self._held is None or self._held[0] != argv:
            return None
        child, self._held = self._held[1], None
        return child.release()

    def _drop_held(self) -> None:
        if self._held:
            self._held[1].drop()
            self._held = None

    def _close(self, family: str) -> None:
        """Tell that this family needs no further child."""
        if not self.outcome.device_lost:
            with self._lock:
                self._finished(family)

    def _plant(self) -> list[str]:
        """A planted casualty goes to the first child only, so that the next case shows that the run goes on."""
        plant = self.plan.plant
        if plant is None:
            return []
        with self._lock:
            first, self._planted = not self._planted, True
        return ["--plant", plant] if first or plant not in PLANTED_CASUALTIES else []

    def _settle(self, session: Session, ending: Ending, single: bool, slow: bool) -> set[str]:
        """Keep what this child proved; give the case it died in its own status."""
        self._blame_ending(session, ending, single)
        settled = {name: log for name, log in session.logs.items() if log.began or log.problems}
        last = session.last_ended if session.current is None else None
        for log in settled.values():
            if log.casualty is None and log.began and not log.complete:
                self._casualty(log, ending, slow)
        died = ending.hung or ending.signal is not None or not ending.reaped
        if last is not None and last.casualty is None and died and not ending.interrupted:
            last.casualty, last.casualty_reason = "CRASH", f"right after this case its child {ending.words()}"
        with self._lock:
            problems = list(session.problems)
            if any(log.began for log in settled.values()):
                said = start_problems(session.start, self.plan, self.outcome.start)
                problems += [f"family {session.family}: {text}" for text in said]
            self.outcome.logs.update(settled)
            self.outcome.problems += problems
            self.outcome.start = self.outcome.start or session.start
            self.outcome.processes.append({
                "family": session.family, "exit": ending.exit_code, "signal": ending.signal, "hung": ending.hung,
                "reaped": ending.reaped, "leftovers": ending.leftovers, "wall_s": round(ending.wall_s, 3),
            })
        self._tell_casualties(session.family, settled.values(), bool(problems))
        return set(settled)

    def _tell_casualties(self, family: str, logs: Iterable[CaseLog], problems: bool) -> None:
        """Into the records, where a run that goes on after an interruption looks for what it must not try again."""
        told = {log.name: "KIT_ERROR" if log.problems else log.casualty for log in logs}
        if problems:
            told[f"the child of family {family}"] = "KIT_ERROR"
        for name, status in told.items():
            if status not in (None, "NOT_RUN"):
                self._sink(family, {"record": "casualty", "case": name, "status": status})

    def _blame_ending(self, session: Session, ending: Ending, single: bool) -> None:
        """Contradictions between what a child recorded and how it ended."""
        if session.done and ending.exit_code is not None:
            last = session.last_ended
            allowed = {0}
            if single and last is not None and last.verdict is not None:
                allowed |= _CODES_OF[last.verdict["status"]]
            if ending.exit_code not in allowed:
                (last.problems if last else session.problems).append(
                    f"its child closed its records and then exited with {ending.exit_code}")
        elif ending.exit_code == 70 and session.current is not None:
            session.current.problems.append(f"the harness gave up on itself: {_last_line(ending.stderr)}")

    def _casualty(self, log: CaseLog, ending: Ending, slow: bool) -> None:
        sign = f"; last sign: {log.last_sign}" if log.last_sign else ""
        if ending.interrupted:
            log.casualty, log.casualty_reason = "NOT_RUN", "the run was interrupted in it"
        elif slow:
            log.casualty = "NOT_RUN"
            log.casualty_reason = f"it went on, but was not done after {SLOWEST:.0f} times its limit: is the GPU shared?{sign}"
        elif ending.hung:
            log.casualty, log.casualty_reason = "HANG", f"it {ending.words()}{sign}"
        else:
            log.casualty = "CRASH"
            if log.verdict is not None and ending.exit_code == DEVICE_FAILED:
                log.casualty_reason = LOST + sign
                return
            what = "gave no completion record" if log.verdict is None else "gave a verdict but did not close the case"
            text = log.error or _last_line(ending.stderr)
            log.casualty_reason = f"its child {what} and {ending.words()}{sign}" + (f"; it said: {text}" if text else "")

    def _check_device(self, session: Session, ending: Ending, rest: list[str]) -> None:
        """After a casualty on a GPU: is the device still there? A lost device ends the run. Meanwhile the child for the rest of the
        family, or for the next one, opens it already."""
        if not self.plan.on_gpu or ending.interrupted:
            return
        self._drop_held()
        if rest:
            self._hold(self.plan.argv(session.family, rest, True) + self._plant())
        else:
            self._hold_next(session.family)
        for _ in range(PROBE_TRIES):
            answer, _lines = probe(self.plan.harness, self.plan.device, self._stopper, self.plan.environment)
            if answer.exit_code == 0 or answer.interrupted:
                return
        victim = session.current or session.last_ended
        if victim is not None:
            was = victim.casualty or "CRASH"
            victim.casualty = "DEVICE_LOST"
            victim.casualty_reason = f"{was} ({victim.casualty_reason}), and then a fresh process could not use the device"
        self.outcome.device_lost = True
        self._drop_held()
        self._stopper.stop()

    def _never_started(self, family: str, pending: list[str], ending: Ending) -> None:
        text = _last_line(ending.stderr) or "it said nothing"
        if ending.exit_code == 77:
            with self._lock:
                self._without_device |= dict.fromkeys(pending, text)
            return
        if ending.exit_code in (64, 69, 70):
            with self._lock:
                self.outcome.problems.append(f"family {family}: the harness {ending.words()} before any case: {text}")
        self._not_run(pending, f"its child {ending.words()} before any case began: {text}")

    def _settle_without_device(self) -> None:
        """No device for any child: there is none. For some only: it went away, and nothing is known of what they were to ask."""
        for case, text in self._without_device.items():
            if self._device_seen or self.outcome.start is not None:
                self._not_run([case], f"its child found no device, on which others had run: {text}")
            else:
                self._log(case).verdict, self._log(case).ended = {"status": "NOT_SUPPORTED", "reason": text}, True

    def _not_run(self, cases: Sequence[str], reason: str) -> None:
        for case in cases:
            log = self._log(case)
            log.casualty, log.casualty_reason = "NOT_RUN", reason

    def _log(self, case: str) -> CaseLog:
        with self._lock:
            return self.outcome.logs.setdefault(case, CaseLog(case))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""
