"""Whether a process that a test started, or that its program started, still runs."""

from __future__ import annotations

from pathlib import Path


def alive(pid: int) -> bool:
    """A process that has ended and that nobody has waited for counts as ended."""
    try:
        return Path("/proc", str(pid), "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:  # it is gone, perhaps between the opening of the file and its reading
        return False
