"""The page of a run: written by the command `report` in a process of its own, so that nothing about it can cost a run its verdict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conformance.pdlkit import places

NAME = "report.html"
_LIMIT_S = 120.0  # against a hang; 3,000 cases take a few seconds


def write_page(report: Path) -> Path | None:
    """The HTML page beside the report, or None where it could not be written."""
    page = report.with_name(NAME)
    command = [sys.executable, str(places.KIT), "report", str(report), "--html", str(page)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return page if done.returncode == 0 and page.is_file() else None
