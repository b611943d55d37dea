"""Stands in for fatbinary: PTX that is embedded for the driver's compiler is rewritten, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.stress.ptx.ptxas_wrapper import clean_environment, rewrite_file

REAL = "PDL_STRESS_FATBINARY"
_PTX = re.compile(r"(.*\bkind=ptx\b.*\bfile=)([^,]+\.ptx)(.*)", re.S)


def main(argv: list[str]) -> int:
    """As fatbinary, with rewritten PTX."""
    real = os.environ.get(REAL)
    if not real:
        raise SetupImpossible(f"{REAL} does not name the real fatbinary; `stress nvcc` sets it")
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        changed = []
        for index, word in enumerate(argv):
            match = _PTX.fullmatch(word)
            if match and Path(match[2]).is_file():
                target = Path(folder, f"{index}.ptx")
                rewrite_file(Path(match[2]), target)
                word = f"{match[1]}{target}{match[3]}"
            changed.append(word)
        return subprocess.run([real, *changed], env=clean_environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
