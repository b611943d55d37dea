"""Survivors whose reason is known: changes that alter nothing that counts. living.toml lists them, each with its reason."""

from __future__ import annotations

import tomllib
from pathlib import Path

from conformance.mutation.draw import Change

FILE = Path(__file__).with_name("living.toml")


class Explained:
    """The list; an entry without `new` speaks for every change of its line."""

    def __init__(self, path: Path = FILE) -> None:
        self.entries: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.is_file() else []

    def reason(self, change: Change) -> str | None:
        """Why this change may survive; None if nobody said."""
        made = (change.file, change.old.strip(), change.new.strip())
        said = ((entry["why"], (entry["file"], entry["old"].strip(), entry.get("new", change.new).strip())) for entry in self.entries)
        return next((why for why, known in said if known == made), None)

    def stale(self, root: Path) -> list[str]:
        """Entries whose line is no longer in its file."""
        return [f"{entry['file']}: {entry['old']}" for entry in self.entries
                if entry["old"].strip() not in {line.strip() for line in (root / entry["file"]).read_text(encoding="utf-8").splitlines()}]
