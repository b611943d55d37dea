"""Keeps every finished family of a run in its folder, so that an interrupted run can go on with the others.

A retry never turns a FAIL green: a family that was interrupted behind a FAIL or a casualty cannot be run again under
the same name, and such a run is refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from conformance.pdlkit import sources
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.records import CaseLog, Record
from conformance.pdlkit.supervise import Outcome

FILE = "families.jsonl"
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
        try:
            return Identity(**_lines(folder)[0]["identity"])
        except TypeError:
            raise BadArguments(f"--resume {folder}: the first line of {FILE} is damaged; start a new run") from None


@dataclass
class Kept:
    """The finished families of earlier parts."""

    families: list[str] = field(default_factory=list)
    wall_s: float = 0.0


def _lines(folder: Path) -> list[Record]:
    path = folder / FILE
    try:
        text = path.read_text()
    except OSError:
        raise BadArguments(f"--resume {folder}: no {FILE} there, so no run of this kit was begun in that folder") from None
    lines: list[Record] = []
    for line in text.splitlines():
        if record := _record(line):  # not one that a kill cut: its family is run again
            lines.append(record)
    if not lines or "identity" not in lines[0]:
        raise BadArguments(f"--resume {folder}: the first line of {FILE} is damaged; start a new run")
    return lines


def _code(harness: Path) -> dict[str, str]:
    return {"sources": sources.digest(), "harness": hashlib.sha256(harness.read_bytes()).hexdigest()[:16]}


def end_line(path: Path) -> None:
    """Close a last line that a kill cut, so that the next one stands alone."""
    if path.is_file() and not path.read_bytes().endswith(b"\n"):
        with open(path, "a") as file:
            file.write("\n")


def begin(folder: Path, identity: Identity, harness: Path) -> None:
    """Start the file of a new run."""
    (folder / FILE).write_text(json.dumps({"identity": asdict(identity), "code": _code(harness)}) + "\n")


def keep(folder: Path, family: str, outcome: Outcome, cases: list[str], wall_s: float) -> None:
    """Add a family that ran to its end."""
    line = {
        "family": family, "wall_s": wall_s, "start": outcome.start, "problems": outcome.problems,
        "processes": [process for process in outcome.processes if process["family"] == family],
        "logs": [asdict(outcome.logs[name]) for name in cases if name in outcome.logs],
    }
    end_line(folder / FILE)
    with open(folder / FILE, "a") as file:
        file.write(json.dumps(line) + "\n")


def take_over(folder: Path, harness: Path, outcome: Outcome) -> Kept:
    """Put what earlier parts found into the outcome; refuses if that would hide a fault or mix two kits."""
    first, *families = _lines(folder)
    if first.get("code") != _code(harness):
        raise BadArguments(f"--resume {folder}: the kit's code has changed since; start a new run")
    kept = Kept()
    for line in families:
        if line["family"] in kept.families:
            raise BadArguments(f"--resume {folder}: {FILE} holds the family {line['family']} twice; start a new run")
        kept.families.append(line["family"])
        kept.wall_s = max(kept.wall_s, line["wall_s"])
        outcome.start = outcome.start or line["start"]
        outcome.problems += [text for text in line["problems"] if text not in outcome.problems]
        outcome.processes += line["processes"]
        outcome.logs.update({log["name"]: CaseLog(**log) for log in line["logs"]})
    _refuse_hidden_faults(folder, kept)
    return kept


def _refuse_hidden_faults(folder: Path, kept: Kept) -> None:
    try:
        records = (folder / "records.jsonl").read_text().splitlines()
    except OSError:
        return
    for text in records:
        record = _record(text)
        what = {"casualty": record.get("status"), "case": record.get("status"), "forbidden": "FAIL"}.get(record.get("record", ""))
        bad = record.get("record") in ("casualty", "forbidden") or what in _BAD_ENDS
        if bad and record.get("family") not in kept.families:
            raise BadArguments(f"--resume {folder}: {record.get('case')} was {what} before the run was interrupted, and a "
                               "second try would hide it; start a new run")


def _record(text: str) -> Record:
    """A kept record; nothing of a line that was cut by a kill."""
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
