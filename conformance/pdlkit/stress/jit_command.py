"""What the injection library calls for PTX that a program hands to the driver: rewrite IN, write OUT, note it in the log."""

from __future__ import annotations

import sys
from pathlib import Path

from pdlkit.exits import OK
from pdlkit.stress.ptxas_wrapper import log, rewrite_file


def main(argv: list[str]) -> int:
    """0 if OUT holds a rewritten module; 1 keeps the program's own."""
    source, target = argv
    outcome = rewrite_file(Path(source), Path(target))
    log(outcome, "PTX handed to the driver")
    sys.stderr.flush()
    return OK if outcome.rewritten else 1
