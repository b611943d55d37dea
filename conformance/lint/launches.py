"""Launch logs, as `trace` and `stress` write them: which kernels a program launched with overlap, and what they overlapped.

One JSON object a line: {"kernel", "image", "overlap": true, false or "edge", "behind": [kernel, ...], "launches"}.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, parse_json, read_text

_SHOWN = 3  # kernels that a launch was queued after


@dataclass
class _Seen:
    launches: int = 0
    after: set[str] = field(default_factory=set)


@dataclass
class Launches:
    """The kernels that were launched with overlap, by mangled name."""

    overlapping: dict[str, _Seen] = field(default_factory=dict)

    def why_overlapping(self, kernel: str) -> str | None:
        """A few words for a finding; None if the log does not say that this kernel overlaps."""
        seen = self.overlapping.get(kernel)
        if seen is None:
            return None
        after = sorted(seen.after)
        names = ", ".join(after[:_SHOWN]) + (", ..." if after[_SHOWN:] else "")
        times = f"{seen.launches} time{'s' if seen.launches != 1 else ''}" if seen.launches else "at least once"
        return f"the launch log says that it was launched with overlap {times}" + (f" after {names}" if names else "")


def load(paths: Iterable[Path]) -> Launches:
    """All logs together; BadArguments with the line that is none."""
    found = Launches()
    for path in paths:
        try:
            lines = read_text(path).splitlines()
        except Unreadable as reason:
            raise BadArguments(f"{path}: {reason}") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                _add(found, f"{path}, line {number}", line)
    return found


def _add(found: Launches, place: str, line: str) -> None:
    try:
        row: Any = parse_json(line)
    except Unreadable as reason:
        raise BadArguments(f"{place}: {reason}") from None
    if not isinstance(row, dict) or not isinstance(row.get("kernel"), str):
        raise BadArguments(f'{place}: a launch is an object with "kernel" and "overlap"')
    if row.get("overlap") not in (True, False, "edge"):
        raise BadArguments(f'{place}: "overlap" has to be true, false or "edge"')
    if row["overlap"] is False:
        return
    seen = found.overlapping.setdefault(row["kernel"], _Seen())
    launches, after = row.get("launches", 0), row.get("behind", [])
    seen.launches += launches if isinstance(launches, int) else 0
    seen.after.update(str(name) for name in after if isinstance(after, list))
