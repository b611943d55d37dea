"""Findings by the hundred thousand: a library has more of them than fit into memory as objects, and people read them in groups.

The findings of a kernel are kept packed. Grouping them (Told) needs no unpacking: a group is its first finding and a count.
"""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from conformance.lint.findings import HINT, Finding, Step
from conformance.lint.results import Place

_Names = tuple[str, str, str, str, str | None]  # of its kernel: mangled, demangled, file, architecture, image


@dataclass(slots=True)
class Told:
    """Findings of one kernel that one sentence tells: same rule, same subject, same condition."""

    first: Finding
    count: int = 1
    lined: bool = False  # at least one of them knows its line in the source


def about(finding: Finding) -> str:
    """What the sentence speaks of."""
    return finding.subject if finding.place else finding.message


def tell(findings: Iterable[Finding]) -> list[Told]:
    """The groups, in the order of their first findings."""
    groups: dict[tuple[object, ...], Told] = {}
    for finding in findings:
        key = (finding.kernel, finding.id, about(finding), finding.condition, finding.suppressed is None, finding.known, finding.file,
               finding.arch, finding.demangled)
        group = groups.get(key)
        if group is None:
            group = groups[key] = Told(finding, 0)
        group.count += 1
        group.lined |= finding.place is not None and bool(finding.place.lines)
    return list(groups.values())


class Grouped(Sequence[Finding]):
    """Findings of one kernel whose groups are known."""

    told: list[Told]


class Packed(Grouped):
    """The findings of one kernel; each pass over them makes new objects, so changing one of those changes nothing here."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.told = tell(findings)
        self._names = _names(findings[0]) if findings else ("", "", "", "", None)
        self._length = len(findings)
        self._bytes = zlib.compress(marshal.dumps([row_of(finding) for finding in findings]), 1) if findings else b""

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Finding]:
        rows = marshal.loads(zlib.decompress(self._bytes)) if self._bytes else []  # noqa: S302 - written above, by this process
        return (finding_of(row, self._names) for row in rows)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        return list(self)[index]


def told_of(findings: Sequence[Finding]) -> list[Told]:
    """The groups of a kernel's findings, known already or not."""
    return findings.told if isinstance(findings, Grouped) else tell(findings)


def shown(told: Iterable[Told], hints: bool) -> list[Told]:
    """Hints only on demand."""
    return [group for group in told if hints or group.first.severity != HINT]


def _names(finding: Finding) -> _Names:
    return finding.kernel, finding.demangled, finding.file, finding.arch, finding.image


def row_of(finding: Finding) -> tuple[Any, ...]:
    """All of a finding but the names of its kernel."""
    place = None if finding.place is None else _place_row(finding.place)
    return (finding.id, finding.message, place, finding.subject, finding.parameters, finding.condition, finding.cause,
            [(step.what, _place_row(step.place)) for step in finding.path], finding.imprecise, finding.suppressed, finding.known,
            finding.ordinal)


def finding_of(row: Sequence[Any], names: _Names) -> Finding:
    """The same back again; any LookupError, TypeError or ValueError: the row is of another version."""
    rule, message, place, subject, parameters, condition, cause, path, imprecise, suppressed, known, ordinal = row
    kernel, demangled, file, arch, image = names
    steps = [Step(what, _place_of(step)) for what, step in path]
    return Finding(rule, kernel, demangled, file, arch, message, None if place is None else _place_of(place), subject, parameters, image,
                   condition, cause, steps, imprecise, suppressed, known, ordinal)


def _place_row(place: Place) -> tuple[Any, ...]:
    return place.section, place.offset, place.instruction, place.lines


def _place_of(row: Sequence[Any]) -> Place:
    section, offset, instruction, lines = row
    return Place(section, offset, instruction, tuple((file, line) for file, line in lines))
