"""Runs that end as a test says, for what starts a `run` per GPU and reads its report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from conformance.pdlkit import places
from conformance.pdlkit.many_gpus import EXITS, word
from conformance.pdlkit.read_report import read_report


@cache
def _recorded() -> dict[str, Any]:
    report = read_report(places.KIT / "results" / "h200-580.159.04-13.0.88-quick.json")
    return {**report, "tests": report["tests"][:4], "processes": report["processes"][:2], "rules": report["rules"][:4]}


def hash_of(device: str) -> str:
    """Stands in for the hash of a GPU's UUID."""
    return device.encode().hex()


def report(verdict: str, device: str = "cuda:0") -> dict[str, Any]:
    """A whole report of this GPU."""
    made = _recorded()
    return {**made, "verdict": verdict, "exit": EXITS[word(verdict)], "device": {**made["device"], "uuid_hash": hash_of(device)}}


@dataclass
class FakeRuns:
    """Stands in for run_silent: leaves the report of a run in its folder, and says how the run ended."""

    ends: dict[str, tuple[str, int | None]] = field(default_factory=dict)  # device to the verdict in its report, and its exit code
    limits: list[float | None] = field(default_factory=list)

    def __call__(self, argv: Sequence[str], limit: float | None, patience: float = 0.0) -> int | None:
        """As run_silent: None if the run had to be ended."""
        given = dict(zip(argv, argv[1:], strict=False))
        verdict, code = self.ends.get(given["--device"], ("CONFORMS", 0))
        self.limits.append(limit)
        folder = Path(given["--output"])
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(json.dumps(report(verdict, given["--device"])))
        return code
