"""python3 -m pdlkit.lint.tests.run_random_graphs --count N [--first SEED], from the folder conformance."""

from __future__ import annotations

import argparse
import sys
import time

from pdlkit.lint.tests.random_graphs import disagreements


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    started = time.perf_counter()
    wrong = disagreements(range(arguments.first, arguments.first + arguments.count))
    print(f"{arguments.count} graphs, {len(wrong)} differences, {time.perf_counter() - started:.0f} s; seeds: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
