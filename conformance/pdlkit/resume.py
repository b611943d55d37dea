"""Keeps every finished family of a run in its folder, so that an interrupted run can go on with the others.

A retry never turns a FAIL green: a family that was interrupted after a FAIL or a casualty cannot be run again under
the same name, and such a run is refused. So is one whose files were damaged: each line carries a check, and each kept family
says how far records.jsonl had come, so that a line which was changed or lost is found.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import machine, sources
from conformance.pdlkit.checked_lines import Damaged, Lines, Writer, read_lines
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable
from conformance.pdlkit.records import CaseLog, Record
from conformance.pdlkit.supervise import Outcome, other_device

FILE = "families.jsonl"
RECORDS = "records.jsonl"
_BAD_ENDS = ("FAIL", "HANG")


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
    _refuse_hidden_faults(folder, kept, marks)
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


def _refuse_hidden_faults(folder: Path, kept: Kept, marks: list[str]) -> None:
    if not (folder / RECORDS).exists() and not any(marks):
        return
    lines = _checked(folder, RECORDS)
    if not all(map(lines.holds, marks)):
        raise _refused(folder, f"lines are missing from {RECORDS}")
    for record in lines.records:
        status = record.get("status")
        what = {"casualty": status, "case": status, "forbidden": "FAIL", "wrong": "FAIL"}.get(record.get("record", ""))
        bad = record.get("record") == "casualty" or what in _BAD_ENDS
        if bad and record.get("family") not in kept.families:
            raise _refused(folder, f"{record.get('case')} was {what} before the run was interrupted, and a second try would hide it")
