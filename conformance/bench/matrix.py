"""The launch-gap matrix: cells from the records of pdl-launch-gap, each with its limit.

The limit of a cell is its main part and tail alone (a launch of them less an empty launch) plus the boundary of an empty
PDL chain of the same shape on the same path, in the better of two modes. No prologue: PDL can hide that wholly.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

MODES = ("plain", "attribute", "early", "waited", "late")
_ALWAYS = {"plain", "attribute", "early", "late"}  # records of before the mode "waited" can still be read


@dataclass(frozen=True)
class Cell:
    """One variant of one shape, microseconds per kernel."""

    axis: str
    value: float
    path: str
    mode: str
    shape: dict[str, int]
    us: float
    low95: float
    high95: float
    limit_us: float
    moved: float | None = None  # share of blocks on another multiprocessor than in the kernel before, where memory is moved

    @property
    def name(self) -> str:
        """How the guidance page and people refer to it."""
        return f"{self.path}.{self.mode}.{self.axis}={self.value:g}"

    @property
    def of_limit(self) -> float:
        return self.limit_us / self.us

    def as_json(self) -> dict[str, Any]:
        known = {key: value for key, value in asdict(self).items() if value is not None}
        return {"cell": self.name, **known, "of_limit": round(self.of_limit, 4)}


@dataclass(frozen=True)
class Matrix:
    """All cells of one device."""

    device: dict[str, Any]
    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        """ValueError unless the matrix is complete, so that its users need not check."""
        if not all(key in self.device for key in ("device", "sms", "driver_cuda", "repetitions")):
            raise ValueError("it does not say which device it is of")
        for cell in self.cells:
            if not all(isinstance(us, int | float) for us in (cell.us, cell.low95, cell.high95, cell.limit_us)) or not (
                    0 < cell.low95 <= cell.us <= cell.high95 < math.inf and 0 <= cell.limit_us < math.inf):
                raise ValueError(f"{cell.name} holds no time with its interval and limit")
        shapes = {(cell.path, cell.axis, cell.value) for cell in self.cells}
        for path in ("stream", "graph"):
            if not {(path, "base", 0), (path, "prologue_us", 0)} <= shapes:
                raise ValueError(f"cells of the base shape and of its prologue are missing in a {path}")
        if {(*shape, mode) for shape in shapes for mode in self.modes} != {(c.path, c.axis, c.value, c.mode) for c in self.cells}:
            raise ValueError("some shapes lack a mode, or have one that is not known")

    @property
    def modes(self) -> list[str]:
        """Those that were measured, in their order."""
        found = {cell.mode for cell in self.cells}
        return [mode for mode in MODES if mode in found]

    def select(self, path: str, axis: str, mode: str | None = None) -> list[Cell]:
        """The cells along one axis, in its order; the base shape is part of every axis it lies on."""
        found = [c for c in self.cells if c.path == path and c.axis == axis and (mode is None or c.mode == mode)]
        return sorted(found, key=lambda cell: cell.value)

    def plain_of(self, cell: Cell) -> Cell:
        """The same shape without PDL."""
        return next(c for c in self.cells if (c.path, c.axis, c.value, c.mode) == (cell.path, cell.axis, cell.value, "plain"))

    def losses(self) -> list[Cell]:
        """Cells in which PDL is slower than plain beyond both intervals."""
        return [c for c in self.cells if c.mode != "plain" and c.low95 > self.plain_of(c).high95]


_SHAPE = ("blocks", "threads", "shared", "carveout", "prologue_ns", "main_ns", "tail_ns", "depth", "apart", "words")
_BASE_AXES = {"blocks": "blocks", "threads": "threads", "shared_kib": "shared", "prologue_us": "prologue_ns",
              "main_us": "main_ns", "tail_us": "tail_ns", "depth": "depth"}
_SCALE = {"shared_kib": 1024, "prologue_us": 1000, "main_us": 1000, "tail_us": 1000}


def from_records(lines: Iterable[str]) -> Matrix:
    """Build the matrix; ValueError if the records are not whole."""
    device: dict[str, Any] = {}
    groups: dict[tuple[str, float, str], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        record = json.loads(line)
        if "device" in record:
            device = record
        else:
            groups[(record["axis"], record["value"], record["path"])].append(record)
    if not device or not groups:
        raise ValueError("the records hold no device or no cells")
    cells: list[Cell] = []
    for (axis, value, path), records in groups.items():
        cells += _cells_of(axis, value, path, records)
    return Matrix(device, tuple(cells + _base_on_axes(cells)))


def _cells_of(axis: str, value: float, path: str, records: list[dict[str, Any]]) -> list[Cell]:
    parts = {record["part"]: record["us"] for record in records if record["part"] in ("main", "nothing")}
    empty = min(record["us"] for record in records if record["part"] == "empty")
    limit = max(0.0, parts["main"] - parts["nothing"]) + empty
    found = [r for r in records if r["part"] == "cell"]
    if not _ALWAYS <= {r["mode"] for r in found} <= set(MODES):
        raise ValueError(f"the records of {axis}={value:g} are not whole")
    return [
        Cell(axis, value, path, r["mode"], {key: r[key] for key in _SHAPE}, r["us"], r["low95"], r["high95"],
             round(limit, 4), r.get("moved"))
        for r in found
    ]


def _base_on_axes(cells: list[Cell]) -> list[Cell]:
    base = [cell for cell in cells if cell.axis == "base"]
    there = {(cell.axis, cell.value) for cell in cells}
    found = []
    for axis, key in _BASE_AXES.items():
        for cell in base:
            value = cell.shape[key] / _SCALE.get(axis, 1)
            if (axis, value) not in there:
                found.append(Cell(axis, value, cell.path, cell.mode, cell.shape, cell.us, cell.low95, cell.high95,
                                  cell.limit_us))
    return found
