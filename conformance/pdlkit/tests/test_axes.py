"""The covering array holds every pair and every core triple that may stand together, checked by counting, not by its own code."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pdlkit import places, report
from conformance.pdlkit.axes import Axes, Axis, Never, axes_header, coverage, covering_array
from conformance.pdlkit.rules import RulesError, load, parse


def legal(axes: Axes, row: tuple[int, ...]) -> bool:
    """Written again, over whole rows."""
    chosen = {axis.name: axis.values[value] for axis, value in zip(axes.axes, row, strict=True)}
    return not any(all(chosen[name] in values for name, values in never.when.items()) for never in axes.never)


def possible(axes: Axes, chosen: dict[int, int]) -> bool:
    """Whether a whole row holds these values: the axes are filled in order, and a part that a `never` forbids is given up."""
    named = {axes.axes[i].name: axes.axes[i].values[value] for i, value in chosen.items()}
    if any(all(named.get(name) in values for name, values in never.when.items()) for never in axes.never):
        return False
    left = next((i for i in range(len(axes.axes)) if i not in chosen), None)
    return left is None or any(possible(axes, {**chosen, left: value}) for value in range(len(axes.axes[left].values)))


def check_array(axes: Axes) -> None:
    rows = covering_array(axes)
    assert all(legal(axes, row) for row in rows)
    core = [i for i, axis in enumerate(axes.axes) if axis.core]
    for places_of in [*itertools.combinations(range(len(axes.axes)), 2), *itertools.combinations(core, 3)]:
        values = itertools.product(*(range(len(axes.axes[i].values)) for i in places_of))
        wanted = {part for part in values if possible(axes, dict(zip(places_of, part, strict=True)))}
        assert wanted == {tuple(row[i] for i in places_of) for row in rows}, places_of
    said = coverage(axes, rows)
    assert said.missing == () and said.pairs[0] == said.pairs[1] and said.triples[0] == said.triples[1]


def axes_of(sizes: list[int], core: list[bool], never: list[tuple[int, int, int, int]]) -> Axes:
    axes = tuple(Axis(f"a{i}", tuple(f"v{k}" for k in range(size)), core[i]) for i, size in enumerate(sizes))
    nevers = tuple(Never({f"a{a}": (f"v{x}",), f"a{b}": (f"v{y}",)}, "why") for a, x, b, y in never)
    return Axes(axes, nevers)


@given(st.lists(st.integers(2, 4), min_size=2, max_size=5), st.data())
@settings(max_examples=40, deadline=None)
def test_every_array_covers(sizes: list[int], data: st.DataObject) -> None:
    core = [data.draw(st.booleans()) for _ in sizes]
    never = []
    if data.draw(st.booleans()):
        a, b = sorted(data.draw(st.permutations(range(len(sizes))))[:2])
        never.append((a, data.draw(st.integers(0, sizes[a] - 1)), b, data.draw(st.integers(0, sizes[b] - 1))))
    check_array(axes_of(sizes, core, never))


def test_the_rule_book_s_array_covers() -> None:
    check_array(load(places.RULES).axes)


def test_parts_that_no_row_can_hold_are_not_wanted() -> None:
    axes = Axes((Axis("a", ("0", "1"), False), Axis("b", ("0", "1"), False), Axis("c", ("0", "1"), False)),
                (Never({"a": ("0",), "c": ("0",)}, "x"), Never({"b": ("0",), "c": ("1",)}, "y")))
    check_array(axes)
    said = coverage(axes, covering_array(axes))
    assert said.pairs[1] == 9 and any(text.startswith("a 0, b 0: ") for text in said.excluded), "a 0 needs c 1, and b 0 forbids it"
    assert "a 0, c 0: x" in said.excluded and "b 0, c 1: y" in said.excluded


def test_coverage_tells_what_is_missing() -> None:
    axes = axes_of([2, 2, 2], [True, True, True], [])
    said = coverage(axes, [(0, 0, 0), (1, 1, 1)])
    assert said.pairs == (6, 12) and said.triples == (2, 8)
    assert "a0 v0, a1 v1" in said.missing and "a0 v0, a1 v0, a2 v1" in said.missing and len(said.missing) == 12


def test_the_same_axes_give_the_same_rows() -> None:
    axes = load(places.RULES).axes
    assert axes_header(axes) == axes_header(axes) and covering_array(axes) == covering_array(axes)


SLIPS = [
    ('[[axis]]\nname = "a"\nvalues = ["x"]', "fewer than two"), ('[[axis]]\nname = "A b"\nvalues = ["x", "y"]', "C name"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n' * 2, "declared twice"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[never]]\nwhen = { b = ["x"], a = ["x"] }\nreason = "r"', "axis `b`"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[never]]\nwhen = { a = ["z"] }\nreason = "r"', "values of that axis"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[never]]\nwhen = { a = ["x", "z"] }\nreason = "r"', "values of that axis"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[axis]]\nname = "b"\nvalues = ["x", "y"]\n'
     '[[never]]\nwhen = { a = ["x"], b = ["x"] }\nreason = "r"\nwhy = "w"', "unknown key `why`"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[never]]\nwhen = { a = ["x"] }\nreason = "r"', "fewer than two axes"),
    ('[[axis]]\nname = "a"\nvalues = ["x", "y"]\n[[axis]]\nname = "b"\nvalues = ["x", "y"]\n'
     '[[never]]\nwhen = { a = ["x"], b = ["x", "y"] }\nreason = "r"', "forbids too much"),
]


@pytest.mark.parametrize(("text", "said"), SLIPS, ids=[said for _, said in SLIPS])
def test_slips_are_named(text: str, said: str) -> None:
    rule = ('\n[[rule]]\nid = "WAIT-01"\nclass = "derived"\nkind = "api"\ntext = "t"\nsource = "s"\nuntestable = "u"\n')
    with pytest.raises(RulesError, match=said):
        parse(('suite = "0.1.0"\n' + text + rule).encode())


def test_the_harness_is_given_every_row() -> None:
    """A row that is missing there would never run, and the harness would say that all of its rows did."""
    axes = load(places.RULES).axes
    made = axes_header(axes)
    table = made.partition("] = {\n")[2].partition("};")[0]
    assert [tuple(map(int, re.findall(r"[0-9]+", line))) for line in table.splitlines()] == list(axes.rows)
    assert f"#define KIT_AXIS_ROWS {len(axes.rows)}u\n" in made
    names = [f"AXIS_{axis.name.upper()}" for axis in axes.axes]
    assert f"enum {{ {', '.join(names)}, KIT_AXES }};" in made
    for axis in axes.axes:
        assert f"enum {{ {', '.join(f'{axis.name}_{value}'.upper() for value in axis.values)} }};" in made


def test_which_rows_a_run_says_that_it_ran() -> None:
    assert report._rows_that_ran("all of 9", 9) == set(range(9))
    assert report._rows_that_ran("all of 8", 9) == set(range(8))  # of a harness that has fewer
    assert report._rows_that_ran("all of", 9) == set() and report._rows_that_ran("all of 10", 9) == set(range(9))
    assert report._rows_that_ran("all but 3 7", 9) == {0, 1, 2, 4, 5, 6, 8}
