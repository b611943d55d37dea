"""`python3 conformance stress -- COMMAND...`: run a program with the window of every PDL pair widened, and name the culprit."""

from __future__ import annotations

_PARTS = {
    "rewrite": "conformance.stress.rewrite_command",
    "roundtrip": "conformance.stress.ptx.roundtrip_command",
    "same": "conformance.stress.same_command",
    "zoo": "conformance.stress.zoo.command",
}


def main(argv: list[str]) -> int:
    """Dispatch to a part; anything else is the detector itself."""
    import importlib

    part = _PARTS.get(argv[0]) if argv else None
    if part:
        return int(importlib.import_module(part).main(argv[1:]))
    return int(importlib.import_module("conformance.stress.command").main(argv))
