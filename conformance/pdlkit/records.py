"""Checks the harness's JSON lines as they arrive and keeps, per case, what they said.

A record that contradicts another one, or itself, never decides a verdict: it is a problem of the kit and is kept
as such beside the case.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KEPT_FORBIDDEN = 16
CASE_STATUSES = ("PASS", "FAIL", "INCONCLUSIVE", "NOT_SUPPORTED", "HANG")
VARIANT_KINDS = ("mutant", "control", "broken_wait", "triage")
VARIANT_STATUSES = ("KILLED", "SURVIVED", "EQUIVALENT_HERE", "NOT_APPLICABLE")
Record = dict[str, Any]


@dataclass
class CaseLog:
    """Everything a child said about one case."""

    name: str
    began: bool = False
    ended: bool = False
    verdict: Record | None = None
    variants: list[Record] = field(default_factory=list)
    forbidden: list[Record] = field(default_factory=list)
    wrong: str | None = None  # the first wrong answer of a case that asks
    problems: list[str] = field(default_factory=list)  # contradictions: each one is a KIT_ERROR
    casualty: str | None = None  # HANG, CRASH, DEVICE_LOST or NOT_RUN, given by the supervisor
    casualty_reason: str | None = None
    last_sign: str | None = None  # the last progress text before a casualty
    error: str | None = None  # the call that failed and its error, when the harness could still tell
    wall_s: float = 0.0

    @property
    def complete(self) -> bool:
        """The child gave a verdict on this case and closed it."""
        return self.verdict is not None and self.ended


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def _number(text: str) -> float:
    """A number of a record; what is none (NaN, Infinity, 1e999) would spoil every table that it reaches."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def read_line(text: str) -> Any:
    """One line of JSON, strictly; ValueError if it is none."""
    return json.loads(text, parse_constant=_number, parse_float=_number)


def _extras_problem(record: Record) -> str | None:
    """What is wrong with the fields of a case record that may be left out, if anything."""
    for key in ("schedules", "shapes", "sm_pairs", "sm_pairs_possible", "resolution_ns"):
        if not (record.get(key) is None or _is_count(record[key])):
            return f"its {key} is no count"
    for key in ("kernels", "answers", "survived_x"):
        if not isinstance(record.get(key, []), list):
            return f"its {key} is no list"
    for key, fields in (("kernels", ()), ("answers", ("what", "answer"))):
        if not all(isinstance(row, Mapping) and all(isinstance(row.get(f), str) for f in fields) for row in record.get(key, [])):
            return f"a row of its {key} says too little"
    if not isinstance(record.get("reason"), str | None):
        return "its reason is no text"
    return None


def _shape_problem(record: Record) -> str | None:
    """What is wrong with a case or variant record by itself, if anything."""
    kind = record.get("record")
    if kind == "case":
        if record.get("status") not in CASE_STATUSES:
            return f"its verdict is {record.get('status')!r}, which is none of {', '.join(CASE_STATUSES)}"
        if record["status"] in ("NOT_SUPPORTED", "HANG"):
            return _extras_problem(record)  # there was nothing to count
        trials, outcomes = record.get("trials"), record.get("outcomes")
        if not isinstance(trials, Mapping) or not all(_is_count(trials.get(k)) for k in ("planned", "run", "exercised")):
            return "its trials lack a count of planned, run or exercised"
        if not all(_is_count(count) for count in trials.values()):
            return "its trials are no table of counts"
        if not isinstance(outcomes, Mapping) or not all(_is_count(n) for n in outcomes.values()):
            return "its outcomes are no table of counts"
        return _extras_problem(record)
    if kind == "variant":
        if record.get("kind") not in VARIANT_KINDS:
            return f"a variant is of kind {record.get('kind')!r}, which is none of {', '.join(VARIANT_KINDS)}"
        if not isinstance(record.get("tag"), str):
            return "a variant has no tag"
        if record.get("kind") != "triage" and record.get("status") not in VARIANT_STATUSES:
            return f"variant {record.get('tag')} is {record.get('status')!r}, which is no status of a variant"
        if not (record.get("x_ns") is None or _is_count(record["x_ns"])):
            return f"variant {record.get('tag')} has an x_ns that is no count"
        if not all(_is_count(record.get(key)) for key in ("kills", "trials")):
            return f"variant {record.get('tag')} lacks its count of kills or trials"
    return None


class Session:
    """The records of one child: which case it is in, what it said, whether it closed."""

    def __init__(self, family: str, expected: list[str]) -> None:
        self.family = family
        self.logs = {name: CaseLog(name) for name in expected}
        self.start: Record | None = None
        self.done = False
        self.current: CaseLog | None = None
        self.last_ended: CaseLog | None = None
        self.problems: list[str] = []  # contradictions that belong to no case

    def blame(self, text: str) -> None:
        """Hold a contradiction against the case the child is in, or against the child."""
        if self.current:
            self.current.problems.append(text)
        else:
            self.problems.append(f"family {self.family}: {text}")

    def take(self, line: str) -> Record | None:
        """Read one line; returns the record if it could be used."""
        try:
            record = read_line(line)
        except (ValueError, RecursionError):
            self.blame(f"a line is no JSON: {line[:80]!r}")
            return None
        if not isinstance(record, dict) or not isinstance(record.get("record"), str):
            self.blame(f"a line is no record: {line[:80]!r}")
            return None
        if self.done:
            self.blame(f"a {record['record']} record came after the closing one")
            return None
        handler = getattr(self, "_on_" + record["record"], None)
        if handler is None:
            self.blame(f"there is no record of kind {record['record']!r}")
            return None
        handler(record)
        return record

    def _on_start(self, record: Record) -> None:
        if self.start is not None:
            self.blame("a second start record")
        self.start = record

    def _on_begin(self, record: Record) -> None:
        log = self.logs.get(str(record.get("case")))
        self.current = None  # a case that was left open has no completion record, and the supervisor says so
        if log is None:
            self.problems.append(f"family {self.family}: case {record.get('case')!r} was not asked for")
            return
        if log.began:
            log.problems.append("it began twice")
        log.began, self.current = True, log

    def _mine(self, record: Record) -> CaseLog | None:
        if self.current is None or record.get("case") != self.current.name:
            text = f"a {record['record']} record of {record.get('case')!r} came outside that case"
            other = self.logs.get(str(record.get("case")))
            (other.problems if other else self.problems).append(text)
            return None
        problem = _shape_problem(record)
        if problem:
            self.current.problems.append(problem)
            return None
        return self.current

    def _on_progress(self, record: Record) -> None:
        log = self._mine(record)
        if log:
            log.last_sign = f"{record.get('part')}, {record.get('done')} of {record.get('planned')}"

    def _on_error(self, record: Record) -> None:
        log = self._mine(record)
        if log:
            log.error = f"{record.get('call')} gave {record.get('error')} in part {record.get('part')}"

    def _on_forbidden(self, record: Record) -> None:
        log = self._mine(record)
        if log and len(log.forbidden) < KEPT_FORBIDDEN:
            log.forbidden.append(record)

    def _on_wrong(self, record: Record) -> None:
        log = self._mine(record)
        if log:
            log.wrong = log.wrong or f"{record.get('what')}: {record.get('answer')}"

    def _on_variant(self, record: Record) -> None:
        log = self._mine(record)
        if log:
            log.variants.append(record)

    def _on_case(self, record: Record) -> None:
        log = self._mine(record)
        if log is None:
            return
        if log.verdict is not None:
            log.problems.append(f"it has two verdicts, {log.verdict['status']} and {record['status']}")
        else:
            log.verdict = record

    def _on_end(self, record: Record) -> None:
        log = self._mine(record)
        if log is None:
            return
        log.ended, self.last_ended, self.current = True, log, None

    def _on_done(self, record: Record) -> None:
        self.done, self.current = True, None
