"""Runs the model's harness directly, one process per family, and judges what it says as `run` does."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit import places, toolchain
from conformance.pdlkit.build import build
from conformance.pdlkit.exits import BadArguments, InvalidRun
from conformance.pdlkit.records import CaseLog, Session
from conformance.pdlkit.rules import Case, RuleBook, RulesError, load
from conformance.pdlkit.supervise import DEVICE_FAILED, LOST
from conformance.pdlkit.verdicts import CaseResult, judge_case

CHILD_S = 300.0
BROKEN = ("FAIL", "HANG", "CRASH")  # what becomes of a case when the device broke its rule; CRASH: it was lost


@dataclass(frozen=True)
class Device:
    """A device of the model by its name, "" for the one that conforms."""

    name: str
    rule: str
    conforming: bool
    text: str = ""

    @property
    def option(self) -> str:
        """The device as --device takes it."""
        return f"model:{self.name}" if self.name else "model"


CONFORMING = Device("", "", True)


def load_book() -> RuleBook:
    """The project's rules."""
    try:
        return load(places.RULES)
    except RulesError as error:
        raise InvalidRun(str(error)) from None


def harness_at(given: Path | None) -> Path:
    """The executable to run: the given one, or what the build of the model makes."""
    if given is None:
        return build("model", toolchain.require(False), print).harness
    if not given.is_file():
        raise BadArguments(f"--harness {given}: there is no such file")
    return given.resolve()


def devices(harness: Path) -> list[Device]:
    """Every named device, conforming variants first."""
    done = subprocess.run([harness, "--list"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=CHILD_S)
    if done.returncode != 0:
        raise InvalidRun(f"the model's harness cannot list its devices: it exited with {done.returncode}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    listed = [Device(r["name"], r["rule"], r["conforming"], r.get("text", "")) for r in records if r["record"] == "device"]
    if twice := [name for name, count in Counter(device.name for device in listed).items() if count > 1]:
        raise InvalidRun(f"variants.c names two devices alike, so that only the first is ever run: {', '.join(twice)}")
    return listed


def capable(book: RuleBook) -> list[Case]:
    """The cases that the model can run."""
    return [case for case in book.cases if not case.gpu_only]


def by_family(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The cases of each family, in the book's order."""
    families: dict[str, list[Case]] = {}
    for case in cases:
        families.setdefault(case.family, []).append(case)
    return families


def _child(argv: Sequence[str], session: Session) -> int:
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=CHILD_S)
    for line in done.stdout.splitlines():
        session.take(line)
    return done.returncode


def run_family(
    harness: Path, book: RuleBook, device: Device, profile: str, seed: int, cases: Sequence[Case]
) -> list[CaseResult]:
    """These cases of one family. A hang or a lost device ends its process; another one goes on with the cases after it, as in a run."""
    left = [case.name for case in cases]
    whole = len(left) == sum(case.family == cases[0].family for case in capable(book))
    logs: dict[str, CaseLog] = {}
    while left:
        argv = [str(harness), "--family", cases[0].family, "--device", device.option, "--profile", profile, "--seed", f"{seed:016x}"]
        if not whole:
            argv += [word for name in left for word in ("--case", name)]
        session = Session(cases[0].family, [case.name for case in book.cases if case.family == cases[0].family])
        code = _child(argv, session)
        logs |= {name: log for name, log in session.logs.items() if log.began}
        broke_off = bool(session.last_ended and (session.last_ended.verdict or {}).get("status") == "HANG")
        if code == DEVICE_FAILED and session.last_ended is not None:
            broke_off = True
            if session.current is not None and session.current.verdict is not None:
                session.current.casualty, session.current.casualty_reason = "CRASH", LOST
        one_case = len(left) == 1 and not whole  # then the code is that case's
        if session.problems or (not session.done and not broke_off) or (code != 0 and not broke_off and not one_case):
            _blame(logs, left, [*session.problems, f"the process ended with {code}, closed: {session.done}"])
        if not broke_off:
            break
        left = [name for name in left if name not in logs]
        whole = False
    return [judge_case(case, logs.get(case.name), book.tags, on_model=True) for case in cases]


def _blame(logs: dict[str, CaseLog], asked: Sequence[str], problems: Sequence[str]) -> None:
    """What belongs to no case is held against the last one that began: it makes that one a KIT_ERROR."""
    began = [name for name in asked if name in logs]
    name = began[-1] if began else asked[0]
    logs.setdefault(name, CaseLog(name, began=True)).problems.extend(problems)
