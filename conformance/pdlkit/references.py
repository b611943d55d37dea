"""The ids that the tree cites (bugs, measured facts, ambiguities, clauses, claims), read from references.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.places import KIT

REFERENCES = KIT / "references.md"
ID = re.compile(r"PDL-[A-Z]{2,4}-\d{2}|AMB-\d{2}|FE-\d{2}|F\d{1,2}b?|B\d{2}")
_ROW = re.compile(rf"\| (?P<id>{ID.pattern}) \| (?P<cells>.*) \|")


@dataclass(frozen=True)
class Reference:
    """One entry: its id, where it stands, and what each column says."""

    id: str
    line: int
    columns: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """All columns that say something, as one line to search in."""
        return " ".join(said for _, said in self.columns)


def load(path: Path = REFERENCES) -> dict[str, Reference]:
    """Every entry by its id; ValueError if one stands there twice."""
    found = dict[str, Reference]()
    header: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("| id |"):
            header = [cell.strip() for cell in line.strip("|").split("|")][1:]
        if (row := _ROW.fullmatch(line)) is None:
            continue
        if row["id"] in found:
            raise ValueError(f"{path.name} has {row['id']} twice, in lines {found[row['id']].line} and {number}")
        cells = [cell.strip() for cell in row["cells"].split(" | ")]
        found[row["id"]] = Reference(row["id"], number, tuple((name, cell) for name, cell in zip(header, cells, strict=True) if cell))
    return found
