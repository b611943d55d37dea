"""`python3 conformance lint FILE...`: a static check of machine code for missing, late and partial waits."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """The command; the package is loaded only when it is called."""
    from conformance.lint.command import main as run

    return run(argv)
