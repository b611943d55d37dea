"""`python3 conformance whatif -- COMMAND`: what PDL would give a program, measured before a line of it is changed."""

from __future__ import annotations

import importlib


def main(argv: list[str]) -> int:
    """The command, imported only when it is called."""
    return int(importlib.import_module("conformance.trace.whatif.command").main(argv))
