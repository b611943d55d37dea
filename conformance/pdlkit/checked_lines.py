"""JSON lines that tell when they were damaged: each line carries a check over itself and all lines before it.

A line that was changed, lost, repeated or put elsewhere no longer fits, and is named and never counted. Only a last line without
its end is taken for what it is: a process was killed while it wrote. What was cut off behind a whole line cannot be seen in the
file itself; whoever keeps a mark (see `mark`) elsewhere can compare.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.read_report import Unreadable, parse_json, read_text

Record = dict[str, Any]
_DIGITS = 16
_LINE = re.compile(r'(\{.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


class Damaged(Exception):
    """The file is not what was written; the message names the line."""


def _check(before: str, body: str) -> str:
    return hashlib.sha256(f"{before}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


@dataclass(frozen=True)
class Lines:
    """The whole lines of a file."""

    records: list[Record]
    checks: list[str]  # of each line
    cut: bool  # there is a last line without its end, which is left out

    def holds(self, mark: str) -> bool:
        """Whether the file still has the line at which the mark was taken."""
        return mark in ("", *self.checks)


def read_lines(path: Path) -> Lines:
    """Every line, checked. Damaged names the first one that is not as it was written; Unreadable: there is no such file."""
    text = read_text(path)
    *whole, rest = text.split("\n")
    records, checks, before = [], list[str](), ""
    for number, line in enumerate(whole, 1):
        found = _LINE.fullmatch(line)
        if found is None or _check(before, found[1]) != found[2]:
            raise Damaged(f"line {number} of {path.name} is damaged, or lines before it are missing or in another order")
        try:
            record = parse_json(found[1] + "}")
        except Unreadable as reason:
            raise Damaged(f"line {number} of {path.name}: {reason}") from None
        records.append(record)
        checks.append(found[2])
        before = found[2]
    return Lines(records, checks, bool(rest))


class Writer:
    """Appends records to a file, one line each, from several threads."""

    def __init__(self, path: Path, append: bool = False) -> None:
        """Start the file anew, or go on with it, leaving out a last line that was cut."""
        lines = read_lines(path) if append and path.exists() else Lines([], [], False)
        if lines.cut:
            data = path.read_bytes()
            os.truncate(path, data.rindex(b"\n") + 1 if b"\n" in data else 0)
        self.mark = lines.checks[-1] if lines.checks else ""  # of the last line
        self._file = open(path, "a" if append else "w", buffering=1, encoding="utf-8", errors="backslashreplace")
        self._lock = threading.Lock()

    def write(self, record: Record) -> None:
        """Add one line; on disk (as far as this process goes) when this returns."""
        body = json.dumps(record, allow_nan=False)[:-1]
        with self._lock:
            check = _check(self.mark, body)
            self._file.write(f'{body}, "check": "{check}"}}\n')
            self.mark = check

    def close(self) -> None:
        """Close the file."""
        self._file.close()
