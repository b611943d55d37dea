"""Findings that a person has looked at and accepts, with a reason: in a file, or as a comment at the source line.

    [[suppress]]
    kernel = "legacy_.*"               # searched in the mangled and the demangled name
    rule = "read-before-wait"
    parameter = 2                      # optional
    because = "replaced next month; the predecessor never writes it"

    v = w[i];  // pdl-lint: allow(read-before-wait) w never changes

The comment stands on the line of the access, on the line above it, or at a call into which the access was inlined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from conformance.lint.declarations import pattern_of, read_toml, reason_of
from conformance.lint.findings import RULES, Finding
from conformance.pdlkit.exits import BadArguments

_COMMENT = re.compile(r"(?://|/\*)\s*pdl-lint:\s*allow\(([\w\s,-]+)\)\s*(.*?)\s*(?:\*/.*)?$")
_LARGEST_SOURCE = 1 << 24


@dataclass
class Suppression:
    source: str
    kernel: re.Pattern[str]
    rule: str
    because: str
    parameter: int | None = None
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding) -> bool:
        """Whether it accepts this finding; notes that it was of use."""
        fits = finding.id == self.rule and bool(self.kernel.search(finding.kernel) or self.kernel.search(finding.demangled))
        if not fits or (self.parameter is not None and self.parameter not in finding.parameters):
            return False
        self.used.add(finding.kernel)
        return True


def load(path: Path) -> list[Suppression]:
    """The suppressions of one file; BadArguments with the place of what cannot be understood."""
    content = read_toml(path)
    rows = content.pop("suppress", [])
    if content or not isinstance(rows, list):
        raise BadArguments(f"{path}: only [[suppress]] tables are known, not {', '.join(content) or 'this'}")
    return [_suppression(f"{path}, suppression {number}", row) for number, row in enumerate(rows, 1)]


def _suppression(place: str, row: dict[str, object]) -> Suppression:
    unknown = set(row) - {"kernel", "rule", "parameter", "because"}
    if unknown:
        raise BadArguments(f"{place}: unknown key {', '.join(sorted(unknown))}")
    rule, parameter = row.get("rule"), row.get("parameter")
    if rule not in RULES:
        raise BadArguments(f"{place}: there is no rule `{rule}`; --list-rules lists them")
    if parameter is not None and (not isinstance(parameter, int) or isinstance(parameter, bool) or parameter < 1):
        raise BadArguments(f"{place}: `parameter` has to be a number from 1")
    return Suppression(place, pattern_of(place, "kernel", row.get("kernel")), str(rule),
                       reason_of(place, row, "why the finding is accepted"), parameter)


def allowed_in_source(finding: Finding) -> str | None:
    """The reason in a comment at one of the finding's lines; None if there is none, or it names another rule."""
    for file, line in finding.place.lines if finding.place else ():
        comments = _comments(file)
        for number in (line, line - 1):
            rules, because = comments.get(number, (frozenset(), ""))
            if finding.id in rules and because:
                return f"{because} ({Path(file).name}:{number})"
    return None


@lru_cache(maxsize=256)
def _comments(file: str) -> dict[int, tuple[frozenset[str], str]]:
    """Line -> the rules that a comment there allows, and why; nothing if the source is not on this machine."""
    try:
        path = Path(file)
        if not path.is_file() or path.stat().st_size > _LARGEST_SOURCE:
            return {}
        lines = path.read_text(errors="replace").splitlines()
    except (OSError, ValueError):
        return {}
    found = {}
    for number, text in enumerate(lines, 1):
        match = _COMMENT.search(text)
        if match:
            found[number] = (frozenset(part.strip() for part in match[1].split(",")), match[2])
    return found
