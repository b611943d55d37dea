"""What the injection library calls for PTX that a program hands to the driver: rewrite IN, write OUT, note it in the log."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.pdlkit.exits import OK, SetupImpossible
from conformance.stress import lint_compare
from conformance.stress.ptx.ptxas_wrapper import clean_environment, log, real_ptxas, rewrite_file
from conformance.stress.ptx.rewriter import Outcome


def _keep_pair(source: str, target: str, outcome: Outcome) -> None:
    """Both texts through the toolkit's assembler, standing in for the driver's, so that they can be linted."""
    place = lint_compare.folder()
    waiting = [name for name in outcome.waiting if name in outcome.rewritten]
    arch = re.search(r"^\s*\.target\s+(sm_\w+)", outcome.text, re.M)
    if place is None or not waiting or arch is None:
        return
    try:
        ptxas = real_ptxas()
    except SetupImpossible:
        return
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        made = [Path(folder, "plain.cubin"), Path(folder, "stressed.cubin")]
        codes = [subprocess.run([ptxas, f"-arch={arch[1]}", name, "-o", str(cubin)], env=clean_environment(), capture_output=True,
                                check=False).returncode for name, cubin in zip((source, target), made)]
        if codes == [0, 0]:
            lint_compare.keep(place, made[0], made[1], waiting)


def main(argv: list[str]) -> int:
    """0 if OUT holds a rewritten module; 1 keeps the program's own."""
    source, target = argv
    outcome = rewrite_file(Path(source), Path(target))
    log(outcome, "PTX handed to the driver")
    _keep_pair(source, target, outcome)
    sys.stderr.flush()
    return OK if outcome.rewritten else 1
