"""Compares what litmus programs may do with what a GPU did.

python3 conformance dev litmus ALLOWED OBSERVED [--gpu NAME] [--json FILE]
ALLOWED is the output of pdl-litmus (the model's enumeration), OBSERVED that of pdl-litmus-gpu. Prints a Markdown table;
exit 0 if nothing was seen outside of what is allowed, 1 if something was, 64 for bad arguments or files.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


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


def read_lines(path: Path, key: str) -> dict[str, dict[str, Any]]:
    """JSON lines by program; a line without `key` is refused by name."""
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        if key not in row or "program" not in row:
            raise ValueError(f"{path.name}, line {number}: no `{key}` or no `program`; is this the right file?")
        rows[row["program"]] = row
    return rows


def compare(allowed: dict[str, dict[str, Any]], observed: dict[str, dict[str, Any]]) -> list[Compared]:
    """Program by program, in the order of the enumeration; a program that was not run is left out."""
    missing = sorted(set(observed) - set(allowed))
    if missing:
        raise ValueError(f"no allowed outcomes for {', '.join(missing)}: enumerate them with pdl-litmus")
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
        return 64 if stop.code else 0
    try:
        rows = compare(read_lines(options.allowed, "allowed"), read_lines(options.observed, "observed"))
    except (OSError, ValueError) as error:
        print(f"litmus: {error}", file=sys.stderr)
        return 64
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    print(markdown(rows, options.gpu), end="")
    return 1 if any(row.outside for row in rows) else 0
