"""The litmus programs' allowed outcomes are the committed ones, nothing else is ever seen, and broken devices change them.

Usage: python3 conformance dev check-litmus --litmus PDL_LITMUS [--update]
"""

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "litmus_outcomes.json"
# Devices whose fault a litmus program of one-thread blocks can show.
SHOWN = (
    "wait-at-trigger wait-before-flush wait-stale-lines second-wait-hangs wait-needs-trigger one-trigger-launches "
    "exit-not-trigger plain-overlaps value-zero-overlaps event-at-launch copy-does-not-wait capture-loses-order "
    "edge-becomes-launch-completion full-becomes-programmatic"
).split()


def outcomes(litmus: Path, *options: str) -> dict[str, dict[str, Any]]:
    done = subprocess.run([str(litmus), *options], capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        raise SystemExit(f"pdl-litmus {' '.join(options)} ends with {done.returncode}: {done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["program"]: line for line in lines}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litmus", type=Path, required=True)
    parser.add_argument("--update", action="store_true", help="write the table instead of comparing with it")
    given = parser.parse_args(argv)
    found = outcomes(given.litmus.resolve(), "--seeds", "300")
    table = {n: {k: line[k] for k in ("source", "path", "registers", "allowed")} for n, line in found.items()}
    if given.update:
        text = ",\n".join(f'  "{name}": {json.dumps(row)}' for name, row in table.items())
        TABLE.write_text("{\n" + text + "\n}\n")
        return 0
    bad = 0
    committed = json.loads(TABLE.read_text())
    for name in committed.keys() | table.keys():
        if committed.get(name) != table.get(name):
            print(f"{name}: {table.get(name)}, committed is {committed.get(name)}")
            bad = 1
    for device in SHOWN:
        theirs = outcomes(given.litmus.resolve(), "--device", device)
        if all(set(theirs[n]["allowed"]) <= set(row["allowed"]) for n, row in table.items()):
            print(f"{device}: no program has an outcome that the conforming device does not allow")
            bad = 1
    return bad
