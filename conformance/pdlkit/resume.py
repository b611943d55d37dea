"""Keeps every finished family of a run in its folder, so that an interrupted run can go on with the others.

A retry never turns a FAIL green: in a family that was interrupted, a case that had failed, crashed or hung keeps what was found,
and only the others are run. Where a case was interrupted after a forbidden outcome, or the kit itself failed, the run is refused. So is
one whose files were damaged: each line carries a check, and each kept family says how far records.jsonl had come, so that a line which
was changed or lost is found.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import machine, sources
from conformance.pdlkit.checked_lines import Damaged, Lines, Writer, read_lines
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable
from conformance.pdlkit.records import CaseLog, Record, Session
from conformance.pdlkit.supervise import Outcome, other_device

FILE = "families.jsonl"
RECORDS = "records.jsonl"
_BAD_ENDS = ("FAIL", "HANG")
_KEPT_CASUALTIES = ("CRASH", "HANG")


@dataclass(frozen=True)
class Identity:
    """What must be the same in both parts of a run. `device` is as the harness takes it."""

    device: str
    profile: str
    seed: str
    only: list[str]
    plant: str | None

    @staticmethod
    def of(folder: Path) -> Identity:
        """That of the interrupted run in this folder."""
        said = _kept_lines(folder)[0].get("identity")
        if isinstance(said, dict) and said.keys() == {"device", "profile", "seed", "only", "plant"}:
            texts = [said["device"], said["profile"], said["seed"], said["plant"] or ""]
            if isinstance(said["only"], list) and all(isinstance(text, str) for text in [*texts, *said["only"]]):
                return Identity(**said)
        raise _refused(folder, f"the first line of {FILE} does not say what was run")


@dataclass
class Kept:
    """The finished families of earlier parts."""

    families: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    faults: dict[str, dict[str, CaseLog]] = field(default_factory=dict)  # of families that were interrupted: case to what was found


def _refused(folder: Path, why: str) -> BadArguments:
    return BadArguments(f"--resume {folder}: {why}; start a new run")


def _checked(folder: Path, name: str) -> Lines:
    try:
        return read_lines(folder / name)
    except (Damaged, Unreadable) as reason:
        text = str(reason) if isinstance(reason, Damaged) else f"{name}: {reason}"
        raise _refused(folder, text) from None


def _kept_lines(folder: Path) -> list[Record]:
    if not (folder / FILE).exists():
        raise BadArguments(f"--resume {folder}: no {FILE} there, so no run of this kit was begun in that folder")
    lines = _checked(folder, FILE).records
    if not lines:
        raise _refused(folder, f"{FILE} has no whole line")
    return lines


def _code(harness: Path) -> dict[str, str]:
    return {"sources": sources.digest(), "harness": hashlib.sha256(harness.read_bytes()).hexdigest()[:16]}


def _around(device: str) -> dict[str, Any]:
    """What a GPU is judged through; a part under another driver or a profiler is no part of this run."""
    return {} if device.startswith("model") else {"driver": machine.driver_version(), "interposers": sorted(machine.interposers())}


def _write(folder: Path, line: Record, append: bool) -> None:
    writer = Writer(folder / FILE, append)
    try:
        writer.write(line)
    finally:
        writer.close()


def begin(folder: Path, identity: Identity, harness: Path) -> None:
    """Start the file of a new run."""
    _write(folder, {"identity": asdict(identity), "code": _code(harness), "around": _around(identity.device)}, append=False)


def keep(folder: Path, family: str, outcome: Outcome, cases: list[str], wall_s: float, mark: str) -> None:
    """Add a family that ran to its end; `mark` is how far records.jsonl had come then."""
    _write(folder, {
        "family": family, "wall_s": wall_s, "mark": mark, "start": outcome.start, "problems": outcome.problems,
        "processes": [process for process in outcome.processes if process["family"] == family],
        "logs": [asdict(outcome.logs[name]) for name in cases if name in outcome.logs],
    }, append=True)


def take_over(folder: Path, harness: Path, outcome: Outcome) -> Kept:
    """Put what earlier parts found into the outcome; refuses if that would hide a fault or mix two kits."""
    first, *families = _kept_lines(folder)
    if first.get("code") != _code(harness):
        raise _refused(folder, "the kit's code has changed since")
    if first.get("around") != _around(Identity.of(folder).device):
        raise _refused(folder, "the driver, or what stands between the kit and the device, has changed since")
    kept, marks = Kept(), list[str]()
    for number, line in enumerate(families, 2):
        if line.get("family") in kept.families:
            raise _refused(folder, f"{FILE} holds the family {line['family']} twice")
        try:
            _take_family(line, kept, outcome)
            marks.append(line["mark"])
        except (KeyError, TypeError, AttributeError):
            raise _refused(folder, f"line {number} of {FILE} is not one of this kit") from None
    _take_faults(folder, kept, marks, outcome)
    return kept


_TYPES: dict[str, Any] = {"family": str, "wall_s": int | float, "mark": str, "start": dict | None, "problems": list, "processes": list,
                          "logs": list}


def _take_family(line: dict[str, Any], kept: Kept, outcome: Outcome) -> None:
    """Add one kept family; TypeError or KeyError if the line is not what `keep` writes."""
    if not all(isinstance(line[key], kind) for key, kind in _TYPES.items()):
        raise TypeError
    logs = {log["name"]: CaseLog(**log) for log in line["logs"]}
    kept.families.append(line["family"])
    kept.wall_s = max(kept.wall_s, line["wall_s"])
    if line["start"] is not None and outcome.start is not None:
        outcome.problems += [f"family {line['family']}: {text}" for text in other_device(line["start"], outcome.start)]
    outcome.start = outcome.start or line["start"]
    outcome.problems += [text for text in line["problems"] if text not in outcome.problems]
    outcome.processes += line["processes"]
    outcome.logs.update(logs)


def _take_faults(folder: Path, kept: Kept, marks: list[str], outcome: Outcome) -> None:
    """Keep what had failed in families that were interrupted, or refuse where a second try would hide it."""
    if not (folder / RECORDS).exists() and not any(marks):
        return
    lines = _checked(folder, RECORDS)
    if not all(map(lines.holds, marks)):
        raise _refused(folder, f"lines are missing from {RECORDS}")
    unfinished: dict[str, list[Record]] = {}
    for record in lines.records:
        if record.get("family") not in kept.families:
            unfinished.setdefault(str(record.get("family")), []).append(record)
    for family, records in unfinished.items():
        faults = _faults(folder, family, records)
        if not faults:
            continue
        kept.faults[family] = faults
        outcome.logs.update(faults)
        for start in (record for record in records if record.get("record") == "start"):
            outcome.start = outcome.start or start
            outcome.problems += [f"family {family}: {text}" for text in other_device(start, outcome.start)]


def _faults(folder: Path, family: str, records: list[Record]) -> dict[str, CaseLog]:
    """The cases that came to a bad end, each as its child told it."""
    names = sorted({str(record["case"]) for record in records if "case" in record})
    session, found, open_faults = Session(family, names), dict[str, CaseLog](), dict[str, str]()
    for record in records:
        name, kind, status = str(record.get("case")), record.get("record"), str(record.get("status"))
        if kind == "start":
            session = Session(family, names)  # the child of another part, or the one after a casualty
        if kind == "casualty" and status not in _KEPT_CASUALTIES:
            raise _hidden(folder, name, status)
        if kind == "casualty":
            _take_casualty(session.logs.get(name), status, found)
        else:
            session.take(json.dumps({key: value for key, value in record.items() if key not in ("family", "check")}))
        if kind in ("forbidden", "wrong"):
            open_faults[name] = "FAIL"
        elif kind == "casualty" or (kind == "case" and status in _BAD_ENDS):
            open_faults[name] = status
        log = session.logs.get(name)
        if name in open_faults and log is not None and log.complete and not log.problems:
            found.setdefault(name, log)
    for name, status in open_faults.items():
        if name not in found:
            raise _hidden(folder, name, status)
    return found


def _hidden(folder: Path, case: str, status: str) -> BadArguments:
    return _refused(folder, f"{case} was {status} before the run was interrupted, and a second try would hide it")


def _take_casualty(log: CaseLog | None, status: str, found: dict[str, CaseLog]) -> None:
    """A crash or a hang stays one."""
    if log is not None and log.began:
        log.casualty, log.casualty_reason = status, "before the run was interrupted"
        found.setdefault(log.name, log)
