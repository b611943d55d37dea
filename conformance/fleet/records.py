"""The files of one fleet folder: a plan, and append-only records that survive the death of the node that wrote them.

    FOLDER/plan.json                       what was submitted
    FOLDER/records/TASK-ATTEMPT.jsonl      one file per attempt of a task, never changed by another
    FOLDER/reports/TASK-ATTEMPT/...        the reports of `run`

Each line carries a checksum of itself. A line that is cut off or damaged is counted as damaged and as nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, read_json

SCHEMA = "pdl-fleet/1"


def sealed(record: Mapping[str, Any]) -> str:
    """The record as a line that carries its own checksum."""
    text = json.dumps(record, separators=(",", ":"), sort_keys=True)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {text}\n"


def opened(line: str) -> dict[str, Any] | None:
    """The record in a line, or None if the line is damaged."""
    mark, _, text = line.rstrip("\n").partition(" ")
    if hashlib.sha256(text.encode()).hexdigest()[:16] != mark:
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


@dataclass(frozen=True)
class Plan:
    """What `fleet submit` asked for. `tasks` counts nodes: each task judges all GPUs of one node."""

    tasks: int
    device: str
    profile: str
    seconds: int | None
    sbatch: tuple[str, ...]
    harness: str | None

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """The plan of this folder."""
        try:
            data = read_json(folder / "plan.json")
            if data.pop("schema") != SCHEMA:
                raise ValueError("another schema")
            return cls(**{**data, "sbatch": tuple(data["sbatch"])})
        except Unreadable as reason:
            raise BadArguments(f"{folder}: plan.json: {reason}; name a folder that `fleet submit` made") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadArguments(f"{folder / 'plan.json'} is not a plan of `fleet submit`: {error}; "
                               "name a folder that `fleet submit` made") from None

    def write(self, folder: Path) -> None:
        """Make the folder with this plan; a folder that holds anything else is refused."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadArguments(f"{folder} exists and is not empty; name a new folder, or leave out --tasks to go on with this one")
        for name in ("records", "reports"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        draft = folder / f"plan.json.{os.getpid()}"
        draft.write_text(json.dumps({"schema": SCHEMA, **self.__dict__}, indent=1) + "\n", encoding="utf-8")
        draft.replace(folder / "plan.json")


def claim_file(folder: Path, node: str) -> Path:
    """Holds the task that judges this node, so that no other does."""
    return folder / "records" / f"node-{re.sub(r'[^A-Za-z0-9_.-]', '_', node)}.claim"


class Writer:
    """Appends the records of one attempt; each line reaches the file system before the next one is written."""

    def __init__(self, folder: Path, task: int, attempt: str) -> None:
        self._path = folder / "records" / f"{task}-{attempt}.jsonl"
        self._file = open(self._path, "x", encoding="utf-8")  # an attempt never writes into another's file
        self._task, self._attempt = task, attempt

    def write(self, kind: str, **fields: Any) -> None:
        """One record."""
        self._file.write(sealed({"record": kind, "task": self._task, "attempt": self._attempt, **fields}))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """No more records."""
        self._file.close()


@dataclass
class Attempt:
    """What one attempt of a task left behind."""

    task: int
    name: str
    node: str = ""
    gpus: list[dict[str, Any]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # devices whose run left no report, and why
    damaged: int = 0  # lines
    told: int | None = None  # GPUs that it says it judged, lost ones too
    ended: bool = False
    duplicate: bool = False  # this node had been judged already by another task
    job: str = ""

    @property
    def whole(self) -> bool:
        """It judged every GPU of its node, and nothing of that was lost since."""
        counted = self.told in (None, len(self.gpus))
        return self.ended and not self.duplicate and not self.lost and not self.damaged and counted


@dataclass
class Fleet:
    """Everything a folder holds, read once. `gpus` has each GPU once: the last judgement of it, and VIOLATES where there was one."""

    plan: Plan
    attempts: list[Attempt]
    gpus: list[dict[str, Any]]
    damaged_lines: int

    def done(self) -> set[int]:
        """Tasks with a complete attempt."""
        return {a.task for a in self.attempts if a.whole}

    def lost(self) -> list[str]:
        """GPUs of tasks that are not done whose run left no report."""
        done = self.done()
        return [f"{text} on {a.node or 'no node'}" for a in self.attempts if a.task not in done for text in a.lost]

    def judged_nodes(self) -> list[str]:
        """Nodes whose GPUs have all been judged."""
        return sorted({a.node for a in self.attempts if a.whole})


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        yield from file


def _attempt(path: Path, lines: Iterable[str]) -> Attempt:
    task, _, name = path.stem.partition("-")
    attempt = Attempt(int(task) if task.isdigit() else -1, name)
    for line in lines:
        record = opened(line)
        if record is None:
            attempt.damaged += 1
        elif record["record"] == "begin":
            attempt.node, attempt.job = str(record["node"]), str(record.get("job", ""))
        elif record["record"] == "gpu":
            attempt.gpus.append(record)
        elif record["record"] == "lost":
            attempt.lost.append(f"{record['device']}: {record['why']}")
        elif record["record"] == "end":
            attempt.ended, attempt.duplicate, attempt.told = True, bool(record.get("duplicate")), record.get("devices")
    return attempt


def read(folder: Path) -> Fleet:
    """The whole folder. A GPU judged by several attempts counts once, with its last judgement; a violation is never judged away."""
    plan = Plan.read(folder)
    attempts = [_attempt(path, _lines(path)) for path in sorted((folder / "records").glob("*.jsonl"))]
    last: dict[str, dict[str, Any]] = {}
    for gpu in sorted((gpu for attempt in attempts for gpu in attempt.gpus), key=lambda gpu: str(gpu["finished"])):
        before = last.get(str(gpu["gpu"]))
        if before is None or not str(before["verdict"]).startswith("VIOLATES") or str(gpu["verdict"]).startswith("VIOLATES"):
            last[str(gpu["gpu"])] = gpu
    return Fleet(plan, attempts, list(last.values()), sum(attempt.damaged for attempt in attempts))
