"""`python3 conformance stress -- COMMAND...`: run a program with the window of every PDL pair widened, and name the culprit."""

from __future__ import annotations

_PARTS = {
    "rewrite": "pdlkit.stress.rewrite_command",
    "ptxas": "pdlkit.stress.ptxas_wrapper",
    "fatbinary": "pdlkit.stress.fatbinary_wrapper",
    "nvcc": "pdlkit.stress.nvcc_wrapper",
    "jit": "pdlkit.stress.jit_command",
    "roundtrip": "pdlkit.stress.roundtrip_command",
    "same": "pdlkit.stress.same_command",
    "zoo": "pdlkit.stress.zoo_command",
}


def main(argv: list[str]) -> int:
    """Dispatch to a part; anything else is the detector itself."""
    import importlib

    part = _PARTS.get(argv[0]) if argv else None
    if part:
        return int(importlib.import_module(part).main(argv[1:]))
    return int(importlib.import_module("pdlkit.stress.command").main(argv))
