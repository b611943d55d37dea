"""bench.json: the matrix, what launches cost the host, and the examples' gains, as one record that the page is made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from conformance.bench.matrix import Cell, Matrix, from_records

SCHEMA = "pdl-bench-2"


@dataclass(frozen=True)
class Host:
    """What launches cost the host: records of the launchers, what is missing, and counts of instructions."""

    costs: Sequence[dict[str, Any]] = ()
    not_measured: Sequence[str] = ()
    instructions: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class Bench:
    """Everything that was measured on one machine."""

    matrix: Matrix
    host: Host = Host()
    examples: Sequence[dict[str, Any]] = ()

    def as_text(self) -> str:
        """JSON with a cell, a launcher and an example per line, so that two records can be compared by eye."""
        rows = {"cells": [cell.as_json() for cell in self.matrix.cells], "host_cost": self.host.costs,
                "not_measured": self.host.not_measured, "instructions": self.host.instructions, "examples": self.examples}
        parts = [f'"schema": {json.dumps(SCHEMA)}', f'"device": {json.dumps(self.matrix.device)}']
        for name, values in rows.items():
            lines = ",\n".join("  " + json.dumps(value) for value in values)
            parts.append(f'"{name}": [\n{lines}\n ]' if lines else f'"{name}": []')
        return "{\n " + ",\n ".join(parts) + "\n}\n"


def from_measurement(gap: Iterable[str], cost: Iterable[str], instructions: Iterable[str],
                     examples: Sequence[dict[str, Any]]) -> Bench:
    """From the lines that the programs printed; ValueError or KeyError if they are incomplete."""
    records = [json.loads(line) for line in cost]
    host = Host([record for record in records if "launcher" in record],
                [text for record in records for text in record.get("not_measured", ())],
                [json.loads(line) for line in instructions])
    return Bench(from_records(gap), host, [row for row in examples if row["status"] == "right"])


def from_text(text: str) -> Bench:
    """From a bench.json; ValueError, KeyError or TypeError if it is not one."""
    data = json.loads(text)
    if data["schema"] != SCHEMA:
        raise ValueError(f"its schema is {data['schema']}, not {SCHEMA}")
    names = [field.name for field in fields(Cell)]
    cells = tuple(Cell(**{name: row[name] for name in names if name != "moved" or name in row}) for row in data["cells"])
    host = Host(data["host_cost"], data["not_measured"], data["instructions"])
    return Bench(Matrix(data["device"], cells), host, data["examples"])


def compared(here: Matrix, there: Matrix) -> list[str]:
    """Two machines: the mean ratio per path and mode, then each cell that differs beyond both intervals."""
    theirs = {cell.name: cell for cell in there.cells}
    pairs = [(cell, theirs[cell.name]) for cell in here.cells if cell.name in theirs]
    if not pairs:
        raise ValueError("the two machines have no cell in common")
    lines = [f"here {here.device['device']}, there {there.device['device']}; {len(pairs)} cells in both"]
    groups: dict[str, list[float]] = {}
    for mine, its in pairs:
        groups.setdefault(f"{mine.path}, {mine.mode}", []).append(its.us / mine.us)
    for name, ratios in groups.items():
        ratios.sort()
        lines.append(f"{name}: there takes {ratios[len(ratios) // 2]:.3f} times as long (median of {len(ratios)} cells, "
                     f"{ratios[0]:.3f} to {ratios[-1]:.3f})")
    apart = [(mine, its) for mine, its in pairs if mine.low95 > its.high95 or its.low95 > mine.high95]
    lines.append(f"{len(apart)} cells differ beyond both intervals" + (":" if apart else ""))
    return lines + [f"{mine.name}: {mine.us:.3f} us here, {its.us:.3f} us there, {its.us / mine.us:.3f}x" for mine, its in apart]

