"""The public record: recorded reports, grouped by GPU, driver and toolkit, and what each says of each rule."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, read_plain
from conformance.pdlkit.report import SCHEMA_NAME
from conformance.pdlkit.verdicts import CASE_VERDICTS
from conformance.reports.complete import read_complete
from conformance.reports.recomputed import recomputed_problems
from conformance.reports.submission import digest_problems, read_strictly

_BAD = ("FAIL", "HANG", "CRASH", "DEVICE_LOST", "KIT_ERROR")
UNKNOWN = "unknown"
# Compute capabilities with programmatic dependent launch, and what carries them; one without a result is shown as unknown.
GENERATIONS = {
    90: ("H100", "H200", "GH200"),
    100: ("B200", "GB200"),
    103: ("B300", "GB300"),
    110: ("Thor",),
    120: ("RTX 5090", "RTX PRO 6000"),
    121: ("GB10",),
}


@dataclass(frozen=True)
class Recorded:
    """One report of the record."""

    name: str
    report: Mapping[str, Any]
    sha256: str


@dataclass
class Configuration:
    """One GPU with one driver and one toolkit."""

    gpu: str
    cc: int
    driver: str
    toolkit: str
    reports: list[Recorded] = field(default_factory=list)

    @property
    def id(self) -> str:
        """A name that can stand in an address."""
        return re.sub(r"[^a-z0-9.]+", "-", f"{self.gpu} {self.driver} {self.toolkit}".lower().removeprefix("nvidia ")).strip("-")

    def answer(self, rule: str) -> Answer | None:
        """What this configuration says of a rule: a failure in any report, else the report with the most exercised trials."""
        rows = [Answer(recorded, row) for recorded in self.reports for row in recorded.report["rules"] if row["id"] == rule]
        bad = [row for row in rows if row.status in _BAD]
        if bad:
            return min(bad, key=lambda row: CASE_VERDICTS.index(row.status))
        return max(rows, key=lambda row: (row.status == "PASS", row.row["exercised"], row.row["cases"])) if rows else None


@dataclass(frozen=True)
class Answer:
    """A rule's row in one report."""

    recorded: Recorded
    row: Mapping[str, Any]

    @property
    def status(self) -> str:
        """Its verdict."""
        return str(self.row["status"])


def _toolkit(report: Mapping[str, Any]) -> str:
    number = report["driver"].get("toolkit") or 0
    return str(report["toolchain"].get("nvcc") or (f"{number // 1000}.{number % 1000 // 10}" if number else "unknown"))


def _is_report(path: Path) -> bool:
    try:
        data = read_strictly(read_plain(path))
    except (Unreadable, ValueError, RecursionError) as error:
        raise BadArguments(f"{path}: {error}") from None
    return isinstance(data, dict) and data.get("schema") == SCHEMA_NAME


def _read(path: Path) -> Recorded:
    report = read_complete(path)
    wrong = [*digest_problems(report), *recomputed_problems(report)]
    if wrong:
        raise BadArguments(f"{path} has no place in the record: {wrong[0]}; `submit {path}` says everything")
    return Recorded(path.name, report, hashlib.sha256(path.read_bytes()).hexdigest())


def configurations(folder: Path) -> list[Configuration]:
    """Every configuration that the folder's reports are of; a damaged or inconsistent report is told, never left out."""
    found: dict[tuple[str, int, str, str], Configuration] = {}
    for path in sorted(folder.glob("*.json")):
        if not _is_report(path):
            continue
        recorded = _read(path)
        device, driver = recorded.report["device"], recorded.report["driver"]
        key = (
            str(device.get("name", "unknown")),
            int(device.get("cc", 0)),
            str(driver.get("version") or "unknown"),
            _toolkit(recorded.report),
        )
        found.setdefault(key, Configuration(*key)).reports.append(recorded)
    return list(found.values())
