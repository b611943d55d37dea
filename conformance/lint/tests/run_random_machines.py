"""python3 conformance dev random-machines [--count N] [--first SEED] [--record]"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from conformance.lint.tests.random_machines import disagreements

RECORD = Path(__file__).resolve().with_name("random_machines.md")
_STEP = 2000


def main(argv: list[str] | None = None) -> int:
    """Compare; 1 if there are differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    started, wrong, end = time.perf_counter(), list[int](), arguments.first + arguments.count
    for first in range(arguments.first, end, _STEP):
        wrong += disagreements(range(first, min(first + _STEP, end)))
        print(f"{first + _STEP - arguments.first} machines, {len(wrong)} differences", flush=True)
    print(f"{time.perf_counter() - started:.0f} s; seeds: {wrong[:20]}")
    if arguments.record:
        RECORD.write_text(
            "# Lint against random machines\n\nWritten by `python3 conformance dev random-machines --record`, never by hand.\n\n"
            f"{arguments.count} random blocks of four warps with block, cluster and named barriers, whole and split, guards and loops, "
            f"seeds {arguments.first} to {end - 1}: {len(wrong)} differences{': ' + str(wrong[:100]) if wrong else ''}.\n")
    return 1 if wrong else 0
