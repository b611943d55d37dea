"""`python3 conformance trace -- COMMAND`: what overlapped in a program, what did not, and why, per pair of kernels."""

from __future__ import annotations

import importlib

_PARTS = {"diff": "conformance.trace.diff", "annotate": "conformance.trace.annotate",
          "zoo": "conformance.trace.zoo.command"}


def main(argv: list[str]) -> int:
    """Dispatch to a part; anything else traces a command."""
    part = _PARTS.get(argv[0]) if argv else None
    if part:
        return int(importlib.import_module(part).main(argv[1:]))
    return int(importlib.import_module("conformance.trace.command").main(argv))
