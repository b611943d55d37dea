"""python3 conformance bench: what PDL is worth on this GPU."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    from conformance.bench.command import main as run

    return run(argv)
