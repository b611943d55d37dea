"""What somebody found out about each kind of finding: classified.toml beside the records, and how it is matched with them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments

FILE = "classified.toml"
STATES = ("harmful if", "harmless", "false")
PROOFS = ("proved", "by others", "unproved", "refuted")


@dataclass
class Case:
    """One judgement. `rule` and `family` are searched as regular expressions, whole; `packages` as well, and may be left out."""

    title: str
    rule: str
    family: str
    state: str
    because: str
    proof: str
    packages: str = ".*"
    subject: str = ".*"  # of at least one of the group's subjects
    page: str = ""
    users: str = ""  # what users can do today
    matched: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # (package, group of findings)

    def covers(self, package: str, group: dict[str, Any]) -> bool:
        """Whether this judgement is about that group of findings."""
        return (re.fullmatch(self.packages, package) is not None and re.fullmatch(self.rule, group["rule"]) is not None
                and re.fullmatch(self.family, group["family"]) is not None
                and any(re.fullmatch(self.subject, subject) for subject in group["subjects"]))


def cases(folder: Path) -> list[Case]:
    """All judgements, in the order of the file; BadArguments names one that cannot be used."""
    found = []
    for row in tomllib.loads((folder / FILE).read_text(encoding="utf-8")).get("case", []):
        try:
            case = Case(**row)
            for pattern in (case.rule, case.family, case.packages, case.subject):
                re.compile(pattern)
        except (TypeError, re.error) as error:
            raise BadArguments(f"{FILE}: the case `{row.get('title', 'without a title')}` is wrong: {error}") from None
        if case.state not in STATES or case.proof not in PROOFS:
            raise BadArguments(f"{FILE}: `{case.title}` needs a state of {', '.join(STATES)} and a proof of {', '.join(PROOFS)}")
        found.append(case)
    return found


def match(all_cases: Iterable[Case], records: Iterable[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Gives each group of findings to the first case that covers it; the groups that no case covers are returned."""
    known = list(all_cases)
    rest: list[tuple[str, dict[str, Any]]] = []
    for record in records:
        for group in record["findings"]:
            case = next((c for c in known if c.covers(record["name"], group)), None)
            (rest if case is None else case.matched).append((record["name"], group))
    return rest
