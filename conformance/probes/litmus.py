"""Compares what litmus programs may do with what a GPU did.

python3 conformance dev litmus ALLOWED OBSERVED [--gpu NAME] [--json FILE]
ALLOWED is the output of pdl-litmus (the model's enumeration), OBSERVED that of pdl-litmus-gpu. Prints a Markdown table;
exit 0 if nothing was seen outside of what is allowed, 1 if something was, 64 for bad arguments or files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK
from conformance.pdlkit.places import escaped
from conformance.pdlkit.read_report import Unreadable, parse_json, read_text


@dataclass(frozen=True)
class Compared:
    """One program: outcomes are strings of register values in order."""

    program: str
    source: str
    runs: int
    allowed: list[str]
    observed: dict[str, int]
    outside: list[str]
    unseen: list[str]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# What a line of each file holds, by key, and how a value is checked.
ALLOWED: dict[str, Callable[[Any], bool]] = {
    "program": lambda value: isinstance(value, str),
    "allowed": lambda value: isinstance(value, list) and all(isinstance(outcome, str) for outcome in value),
}
OBSERVED: dict[str, Callable[[Any], bool]] = {
    "program": lambda value: isinstance(value, str), "source": lambda value: isinstance(value, str), "runs": _is_count,
    "observed": lambda value: isinstance(value, dict) and all(map(_is_count, value.values())),
}


def read_lines(path: Path, keys: Mapping[str, Callable[[Any], bool]]) -> dict[str, dict[str, Any]]:
    """JSON lines by program; a line that does not hold these keys, or speaks of a program again, is refused by its number."""
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = parse_json(line)
        except Unreadable as reason:
            raise Unreadable(f"line {number}: {reason}") from None
        wrong = [key for key, right in keys.items() if not isinstance(row, dict) or key not in row or not right(row[key])]
        if wrong:
            raise Unreadable(f"line {number}: no `{wrong[0]}`, or one of another type; is this the right file?")
        if row["program"] in rows:
            raise Unreadable(f"line {number}: a second one of {row['program']}, which would hide the first; compare each run by itself")
        rows[row["program"]] = row
    return rows


def compare(allowed: dict[str, dict[str, Any]], observed: dict[str, dict[str, Any]]) -> list[Compared]:
    """Program by program, in the order of the enumeration; a program that was not run is left out."""
    missing = sorted(set(observed) - set(allowed))
    if missing:
        raise Unreadable(f"no allowed outcomes for {', '.join(missing)}: enumerate them with pdl-litmus")
    result = []
    for name, row in allowed.items():
        seen = observed.get(name)
        if seen is None:
            continue
        may: list[str] = row["allowed"]
        did: dict[str, int] = seen["observed"]
        result.append(Compared(name, seen["source"], seen["runs"], may, did, [o for o in did if o not in may],
                               [o for o in may if o not in did]))
    return result


def markdown(rows: list[Compared], gpu: str) -> str:
    """The table for people: one row per program."""
    seen = sum(len(row.allowed) - len(row.unseen) for row in rows)
    lines = [
        f"# Litmus programs: what is allowed, and what {gpu} did",
        "",
        f"{len(rows)} programs; {seen} of {sum(len(row.allowed) for row in rows)} allowed outcomes were seen, "
        f"{sum(len(row.outside) for row in rows)} that are not allowed. An outcome is the registers in order.",
        "",
        "| program | source | runs | allowed | seen (times) | not seen | not allowed |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        did = ", ".join(f"{outcome} ({count:,})" for outcome, count in sorted(row.observed.items()))
        lines.append(f"| {row.program} | {row.source} | {row.runs:,} | {', '.join(row.allowed)} | {did} | "
                     f"{', '.join(row.unseen) or '-'} | {', '.join(row.outside) or '-'} |")
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="compare allowed and observed outcomes of litmus programs")
    parser.add_argument("allowed", type=Path)
    parser.add_argument("observed", type=Path)
    parser.add_argument("--gpu", default="the GPU", help="its name, for the heading")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the comparison here")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    file = options.allowed
    try:
        allowed = read_lines(file, ALLOWED)
        file = options.observed
        rows = compare(allowed, read_lines(file, OBSERVED))
    except Unreadable as reason:
        print(f"litmus: {escaped(str(file))}: {reason}", file=sys.stderr)
        return BAD_ARGUMENTS
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    print(markdown(rows, options.gpu), end="")
    return FAILED if any(row.outside for row in rows) else OK
