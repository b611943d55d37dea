"""Reads files that a person names or that could have been damaged; what cannot be used is told in a sentence."""

from __future__ import annotations

import json
import math
import os
import stat
from functools import cache
from pathlib import Path
from typing import Any

from conformance.pdlkit import schema
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import SCHEMA, escaped

LARGEST = 256 << 20  # bytes; the largest report is below one hundredth of it


class Unreadable(Exception):
    """The file cannot be used; the message says why, without its name."""


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a number")
    return value


def parse_json(text: str) -> Any:
    """The value of a JSON text, strictly: no NaN, no number too large, no key twice. Unreadable if that is not what it is."""
    def whole(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands there twice")
        return found

    try:
        return json.loads(text, parse_constant=_number, parse_float=_number, object_pairs_hook=whole)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"it is invalid JSON: {escaped(str(error))[:120]}") from None


def read_plain(path: Path) -> bytes:
    """The bytes of a plain file. Unreadable for anything else, such as a pipe that would never end."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer would block
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a plain file")
        if status.st_size > LARGEST:
            raise Unreadable(f"it has {status.st_size} bytes, too many for such a file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(LARGEST)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    finally:
        os.close(handle)


def read_text(path: Path) -> str:
    """The text of a plain file; Unreadable for anything else."""
    try:
        return read_plain(path).decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("it is not text in UTF-8") from None


def read_json(path: Path) -> Any:
    """The value in a JSON file; Unreadable if there is none."""
    return parse_json(read_text(path))


@cache
def _schema() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return data


def checked_report(value: Any) -> dict[str, Any]:
    """The value, if it is a whole and valid report; Unreadable with the first thing that is wrong."""
    if not isinstance(value, dict) or not str(value.get("schema", "")).startswith("pdl-report/"):
        raise Unreadable("it is not a report of this kit")
    wrong = schema.problem(value, _schema())
    if wrong is not None:
        raise Unreadable(f"it is damaged, or of another version of the kit: {wrong}")
    return value


def read_report(path: Path) -> dict[str, Any]:
    """The report in this file, or in this folder; BadArguments with a sentence if there is none."""
    file = path / "report.json" if path.is_dir() else path
    try:
        return checked_report(read_json(file))
    except Unreadable as reason:
        raise BadArguments(f"{escaped(str(file))}: {reason}; name a report.json that `run` wrote") from None


def report_of(folder: Path, code: int | None) -> dict[str, Any] | str:
    """The report of a `run` that wrote to this folder and ended with this exit code (None: it was ended); or what is wrong with it,
    as words that follow "the run". A run that was killed, or that ended before it began, can leave a report that is not its last
    word: its own first draft, or one of an earlier run.
    """
    ended = "was ended" if code is None else f"ended with {code}"
    try:
        report = read_report(folder)
    except BadArguments:
        return f"{ended} and left no report"
    return report if report["exit"] == code else f"{ended}, and the report in its folder says {report['exit']}"
