"""How much CPU time a program takes, which other load changes less than the time that passes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence


def cpu_ms(argv: Sequence[str]) -> float:
    """CPU time of one compile, with all its child processes."""
    process = subprocess.Popen(list(argv), stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(argv)} failed")
    return 1000.0 * (usage.ru_utime + usage.ru_stime)
