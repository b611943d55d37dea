"""The axes of a launch, and a covering array over them: every pair of values of any two axes, every triple of the core ones.

rules.toml states the axes and which values never stand together, with the reason. The array is made greedily and without chance:
the same axes give the same rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Row = tuple[int, ...]  # one value per axis, by its place
Part = tuple[tuple[int, int], ...]  # (axis, value) of two or three axes


@dataclass(frozen=True)
class Axis:
    """One feature of a launch and the values it takes."""

    name: str
    values: tuple[str, ...]
    core: bool  # triples of core axes are covered, too


@dataclass(frozen=True)
class Never:
    """Values that never stand together, and why."""

    when: Mapping[str, tuple[str, ...]]
    reason: str


@dataclass(frozen=True)
class Axes:
    """All of them."""

    axes: tuple[Axis, ...]
    never: tuple[Never, ...]

    def allows(self, part: Part) -> bool:
        """Whether no `never` forbids these values."""
        return self.forbidden_by(part) is None

    @cached_property
    def _never_by_place(self) -> list[tuple[Never, list[tuple[int, frozenset[int]]]]]:
        """Each `never` with its names as places: what is asked thousands of times compares numbers."""
        places = {axis.name: (i, axis.values) for i, axis in enumerate(self.axes)}
        return [(never, [(places[name][0], frozenset(map(places[name][1].index, values))) for name, values in never.when.items()])
                for never in self.never]

    def forbidden_by(self, part: Part) -> Never | None:
        """The first `never` that these values satisfy."""
        chosen = dict(part)
        for never, when in self._never_by_place:
            if all(chosen.get(axis) in values for axis, values in when):
                return never
        return None

    def parts(self, size: int) -> list[Part]:
        """Every pair of values (size 2), or every triple of core ones (size 3), allowed or not."""
        places = [i for i, axis in enumerate(self.axes) if size == 2 or axis.core]
        return [tuple(zip(chosen, values, strict=True))
                for chosen in itertools.combinations(places, size)
                for values in itertools.product(*(range(len(self.axes[i].values)) for i in chosen))]

    def can_stand(self, part: Part) -> bool:
        """Whether some whole row holds these values: a part may be allowed by itself and have no row."""
        return self.allows(part) and self._complete(dict(part), 0)

    @cached_property
    def _never_of_axis(self) -> list[list[list[tuple[int, frozenset[int]]]]]:
        """By axis, each `never` that names it."""
        return [[when for _, when in self._never_by_place if any(place == axis for place, _ in when)] for axis in range(len(self.axes))]

    def _complete(self, row: dict[int, int], axis: int) -> bool:
        """Whether the axes from this one on have values with which the row, allowed so far, stays so."""
        if axis == len(self.axes):
            return True
        if axis in row:
            return self._complete(row, axis + 1)
        for value in range(len(self.axes[axis].values)):
            row[axis] = value
            if not any(all(row.get(place) in values for place, values in when) for when in self._never_of_axis[axis]) \
                    and self._complete(row, axis + 1):
                del row[axis]
                return True
        del row[axis]
        return False

    @cached_property
    def wanted(self) -> frozenset[Part]:
        """What the rows have to hold."""
        return frozenset(part for size in (2, 3) for part in self.parts(size) if self.can_stand(part))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The covering array of these axes."""
        return tuple(covering_array(self))


def parts_of(row: Row, axes: Axes) -> set[Part]:
    """All pairs and core triples that this row holds."""
    core = [i for i, axis in enumerate(axes.axes) if axis.core]
    pairs = itertools.combinations(range(len(row)), 2)
    triples = itertools.combinations(core, 3)
    return {tuple((i, row[i]) for i in chosen) for chosen in itertools.chain(pairs, triples)}


def _gain(axes: Axes, row: Mapping[int, int], axis: int, value: int, open_parts: set[Part]) -> int:
    """How many open parts this value completes with those chosen."""
    own = (axis, value)
    others = [chosen for chosen in row.items() if chosen[0] != axis]
    found = sum(tuple(sorted((own, other))) in open_parts for other in others)
    if axes.axes[axis].core:
        core = [other for other in others if axes.axes[other[0]].core]
        found += sum(tuple(sorted((own, *two))) in open_parts for two in itertools.combinations(core, 2))
    return found


def _row_with(axes: Axes, seed: Part, open_parts: set[Part]) -> Row:
    """A row that holds the seed and, axis by axis, as much else as it can."""
    row = dict(seed)
    for axis in range(len(axes.axes)):
        if axis in row:
            continue
        values = sorted(range(len(axes.axes[axis].values)), key=lambda v: -_gain(axes, row, axis, v, open_parts))
        row[axis] = next(v for v in values if axes.can_stand(tuple({**row, axis: v}.items())))
    return tuple(row[i] for i in range(len(axes.axes)))


def covering_array(axes: Axes) -> list[Row]:
    """Rows that together hold everything wanted."""
    open_parts = set(axes.wanted)
    rows: list[Row] = []
    while open_parts:
        row = _row_with(axes, max(open_parts, key=lambda part: (len(part), [-v for pair in part for v in pair])), open_parts)
        rows.append(row)
        open_parts -= parts_of(row, axes)
    return rows


@dataclass(frozen=True)
class Coverage:
    """How many of the wanted pairs and triples of values occurred in the rows that were run."""

    pairs: tuple[int, int]  # covered, wanted
    triples: tuple[int, int]
    missing: tuple[str, ...]  # wanted and not covered
    excluded: tuple[str, ...]  # not wanted, and why


def part_text(axes: Axes, part: Part) -> str:
    """grid x, trigger late."""
    return ", ".join(f"{axes.axes[axis].name} {axes.axes[axis].values[value]}" for axis, value in part)


def coverage(axes: Axes, rows: Iterable[Row]) -> Coverage:
    """What these rows cover, computed from nothing but the axes and the rows."""
    held: set[Part] = set().union(*(parts_of(row, axes) for row in rows))
    counts: list[tuple[int, int]] = []
    missing: list[str] = []
    excluded: list[str] = []
    for size in (2, 3):
        parts = axes.parts(size)
        wanted = [part for part in parts if part in axes.wanted]
        counts.append((sum(part in held for part in wanted), len(wanted)))
        missing += [part_text(axes, part) for part in wanted if part not in held]
        for part in parts:
            never = axes.forbidden_by(part)
            if size == 2 and part not in axes.wanted:
                excluded.append(f"{part_text(axes, part)}: {never.reason if never else 'no launch holds both'}")
    return Coverage(counts[0], counts[1], tuple(missing), tuple(excluded))


def _enum(name: str, values: Sequence[str]) -> str:
    return f"enum {{ {', '.join(f'{name.upper()}_{value.upper()}' for value in values)} }};\n"


def axes_header(axes: Axes) -> str:
    """The text of axes.h."""
    rows = axes.rows
    lines = "".join("    { " + ", ".join(map(str, row)) + " },\n" for row in rows)
    return (
        "/* Made from rules.toml by generate_cases.py; edit that file instead. */\n"
        "#ifndef KIT_AXES_H\n#define KIT_AXES_H\n\n"
        + "enum { " + ", ".join(f"AXIS_{axis.name.upper()}" for axis in axes.axes) + ", KIT_AXES };\n"
        + "".join(_enum(axis.name, axis.values) for axis in axes.axes)
        + f"\n#define KIT_AXIS_ROWS {max(1, len(rows))}u\n"
        + f"static const unsigned char kit_axis_rows[KIT_AXIS_ROWS][KIT_AXES ? KIT_AXES : 1] = {{\n{lines or '    { 0 },' }}};\n\n#endif\n"
    )
