"""Known defects of a driver: which failures of a run do not decide its verdict, for how long, and why.

A waiver never changes what a case said. It is read from a TOML file that the caller names:

    [[waiver]]
    rule = "EDGE-33"
    device = "NVIDIA H*"           # shell pattern of the device's name
    driver = "580.159.04"          # a version, or bounds such as ">=580, <590"; "*" for any
    reason = "every edge gets the data of the first one"
    expires = 2027-06-30
    crash = true                   # only if the defect ends the process; else leave it out
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, read_text
from conformance.pdlkit.rules import RuleBook
from conformance.pdlkit.verdicts import JUDGING_CLASSES, CaseResult

_KEYS = ("rule", "device", "driver", "reason", "expires")
_BOUND = re.compile(r"(>=|<=|>|<|==)?\s*([0-9]+(?:\.[0-9]+)*)")
_WAIVED_STATUSES = ("FAIL", "HANG")
_CRASHED = ("CRASH",)


def _version(text: str) -> tuple[int, ...]:
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@dataclass(frozen=True)
class DriverRange:
    """Bounds that a driver's version has to keep; no bounds: any driver."""

    text: str
    bounds: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def read(cls, text: str) -> DriverRange:
        """The range of this text; ValueError if it cannot mean one."""
        if text.strip() == "*":
            return cls(text, ())
        bounds = []
        for part in text.split(","):
            match = _BOUND.fullmatch(part.strip())
            if match is None:
                raise ValueError(part.strip())
            bounds.append((match[1] or "==", _version(match[2])))
        return cls(text, tuple(bounds))

    def holds(self, driver: str | None) -> bool:
        """Whether this driver lies in the range; an unknown driver lies only in `*`."""
        if not self.bounds:
            return True
        if driver is None or not re.fullmatch(r"[0-9]+(\.[0-9]+)*", driver):
            return False
        now = _version(driver)
        compare = {">=": now.__ge__, "<=": now.__le__, ">": now.__gt__, "<": now.__lt__, "==": now.__eq__}
        return all(compare[sign](bound) is True for sign, bound in self.bounds)


@dataclass(frozen=True)
class Waiver:
    """One known defect."""

    rule: str
    device: str
    driver: DriverRange
    reason: str
    expires: date
    crash: bool = False  # the defect ends the process: its CRASH is waived, and nothing else

    def words(self) -> str:
        """The waiver in a few words."""
        return f"the waiver of {self.rule} for {self.device}, driver {self.driver.text}"


@dataclass(frozen=True)
class Applied:
    """What the waivers did in one run."""

    rules: tuple[str, ...]  # whose failures do not decide the verdict
    crashes: tuple[str, ...]  # ... and whose crashes
    entries: tuple[dict[str, Any], ...]  # of report.json
    notes: tuple[str, ...]  # waivers that were given and did nothing, and why


NOTHING = Applied((), (), (), ())


def _read_one(file: str, index: int, data: Any, book: RuleBook) -> Waiver:
    where = f"--waive {file}: [[waiver]] number {index + 1}"
    if not isinstance(data, dict):
        raise BadArguments(f"{where} must be a table")
    for key in data:
        if key not in (*_KEYS, "crash"):
            raise BadArguments(f"{where}: unknown key `{key}`; remove it or use one of {', '.join(_KEYS)}")
    for key in _KEYS:
        if key not in data:
            raise BadArguments(f"{where}: `{key}` is missing; add it")
        if key != "expires" and not (isinstance(data[key], str) and data[key].strip()):
            raise BadArguments(f"{where}: `{key}` must be a text that is not empty")
    if not isinstance(data.get("crash", False), bool):
        raise BadArguments(f"{where}: `crash` must be true or false")
    expires = data["expires"]
    if isinstance(expires, datetime) or not isinstance(expires, date):
        raise BadArguments(f"{where}: `expires` must be a date such as 2027-06-30, without quotes")
    rule = book.rule(data["rule"])
    if rule is None:
        raise BadArguments(f"{where}: there is no rule {data['rule']}; `list` names them")
    if rule.rule_class not in JUDGING_CLASSES:
        raise BadArguments(f"{where}: {rule.id} is measured and decides no verdict; remove the waiver")
    try:
        driver = DriverRange.read(data["driver"])
    except ValueError as part:
        raise BadArguments(f"{where}: `driver` holds `{part}`; write a version, bounds such as `>=580, <590`, or `*`") from None
    return Waiver(rule.id, data["device"], driver, data["reason"].strip(), expires, data.get("crash", False))


def load(path: Path, book: RuleBook) -> list[Waiver]:
    """The waivers of a file; BadArguments names the first slip."""
    try:
        data = tomllib.loads(read_text(path))
    except Unreadable as reason:
        raise BadArguments(f"--waive {path}: {reason}") from None
    except (RecursionError, tomllib.TOMLDecodeError) as error:
        raise BadArguments(f"--waive {path}: invalid TOML: {error}") from None
    unknown = sorted(set(data) - {"waiver"})
    if unknown:
        raise BadArguments(f"--waive {path}: unknown key `{unknown[0]}`; a file of waivers holds [[waiver]] tables only")
    entries = data.get("waiver", [])
    if not isinstance(entries, list):
        raise BadArguments(f"--waive {path}: write [[waiver]], with two brackets")
    return [_read_one(str(path), index, entry, book) for index, entry in enumerate(entries)]


def _idle(waiver: Waiver, device: str | None, driver: str | None, failed: Mapping[tuple[str, bool], list[CaseResult]],
          today: date) -> str | None:
    """Why this waiver does nothing here; None if it waives something."""
    if waiver.expires < today:
        return f"{waiver.words()} expired on {waiver.expires} and was not applied"
    if device is None or not fnmatch.fnmatchcase(device, waiver.device):
        return f"{waiver.words()} was not applied: this device is {device or 'unknown'}"
    if not waiver.driver.holds(driver):
        return f"{waiver.words()} was not applied: this driver is {driver or 'unknown'}"
    if (waiver.rule, waiver.crash) not in failed:
        return f"{waiver.words()} matched no failure: remove it if the defect is gone"
    return None


def apply(waivers: Iterable[Waiver], results: Iterable[CaseResult], device: str | None, driver: str | None, today: date) -> Applied:
    """Which rules' failures these waivers take out of the verdict."""
    failed: dict[tuple[str, bool], list[CaseResult]] = {}
    for result in results:
        if result.status in (*_WAIVED_STATUSES, *_CRASHED) and result.case.rule_class in JUDGING_CLASSES:
            failed.setdefault((result.case.rule, result.status in _CRASHED), []).append(result)
    entries: list[dict[str, Any]] = []
    applied: list[str] = []
    crashes: list[str] = []
    notes: list[str] = []
    for waiver in waivers:
        why = _idle(waiver, device, driver, failed, today)
        if why is not None:
            notes.append(why)
            continue
        (crashes if waiver.crash else applied).append(waiver.rule)
        entries.append({
            "rule": waiver.rule, "reason": waiver.reason, "expires": waiver.expires.isoformat(),
            "cases": [{"name": r.case.name, "status": r.status} for r in failed[waiver.rule, waiver.crash]],
        })
    return Applied(tuple(dict.fromkeys(applied)), tuple(dict.fromkeys(crashes)), tuple(entries), tuple(notes))
