"""python3 conformance dev random-graphs [--count N] [--first SEED] [--record]"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from conformance.lint.tests.random_graphs import disagreements

RECORD = Path(__file__).resolve().with_name("random_graphs.md")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    started = time.perf_counter()
    wrong = disagreements(range(arguments.first, arguments.first + arguments.count))
    print(f"{arguments.count} graphs, {len(wrong)} differences, {time.perf_counter() - started:.0f} s; seeds: {wrong[:20]}")
    if arguments.record:
        RECORD.write_text(
            "# Lint against the enumeration of all threads and launches\n\n"
            "Written by `python3 conformance dev random-graphs --record`, never by hand.\n\n"
            f"{arguments.count} random control-flow graphs, seeds {arguments.first} to {arguments.first + arguments.count - 1}: "
            f"{len(wrong)} differences{': ' + str(wrong[:100]) if wrong else ''}.\n")
    return 1 if wrong else 0
