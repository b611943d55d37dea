"""What a trace prints and what it writes for scripts: every line and every key, from a program that was made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.trace.inside.findings import Inside
from conformance.trace.presence import Presence
from conformance.trace.records import ASKED_OVERLAP
from conformance.trace.report import TOP, WIDTH, as_json, inside_table, table
from conformance.trace.summary import Summary, summarise
from conformance.trace.tests.traced_by_hand import Made

PRESENCE = Presence(1.01, 3, 100.0, 101.0)
SPREADS = ({"min": 0.0, "p5": 0.0, "p50": 4.0, "p95": 4.0, "max": 4.0, "sum": 4.0},
           {"min": 0.0, "p5": 0.0, "p50": 2.0, "p95": 2.0, "max": 2.0, "sum": 2.0})


def summary(others: int = 0) -> Summary:
    """A pair that overlaps once and once does not, in a program of which records were lost, and so many others."""
    made = Made()
    for at, flags in ((0, 0), (26_000, ASKED_OVERLAP), (100_000, 0), (132_000, 0)):
        made.kernel("b" if flags or at == 132_000 else "a", at, at + 30_000, flags=flags)
        made.process.activities[-1] = replace(made.process.activities[-1], end=at + 30_000)
    for number in range(others):
        made.kernel(f"k{number}", 200_000 + 10_000 * number, 209_000 + 10_000 * number)
    made.process.ended = False
    timeline, pairs = made.found()
    pairs = [pair for pair in pairs if others or (pair.primary.name, pair.dependent.name) == ("a", "b")]
    for pair in pairs:
        pair.dependent.range = "layer"
    return summarise([timeline], pairs, None)


def test_json_has_every_number_of_a_pair() -> None:
    told = as_json(summary(), PRESENCE, ["x"], {"exit": 3})
    (pair,) = told["pairs"]
    plain = {"primary": "a", "dependent": "b", "where": "stream", "launches": 2, "steps": 1, "overlapping": 1,
             "asked": {"attribute": 1, "no": 1}, "between": {}, "ranges": ["layer"], "recoverable_us_per_step": 2.25,
             "by_launching_ahead_us_per_step": 0.0}
    assert {key: pair[key] for key in plain} == plain and (pair["overlap_us"], pair["gap_us"]) == SPREADS
    assert list(pair["places"].values()) == [2] and pair["why_not"][0].keys() == {"reason", "ids", "launches", "text", "remedy"}
    assert (told["command"], told["exit"], told["processes"], told["kernels"], told["recoverable_us_per_step"]) == (["x"], 3, 1, 4, 2.25)
    assert told["steps"] == {"name": "run of the program", "count": 1, "median_us": 162.0}
    assert told["time"][0] == {"name": "all", "kernels": 4, "sum_us": 120.0, "union_us": 116.0}
    assert told["presence"] == {"ratio": 1.01, "stretches": 3, "plain_us": 100.0, "traced_us": 101.0}
    assert "ended without warning" in told["notes"][0]
    assert told["critical_path"] == {"kernels": 2, "span_us": 62.0, "kernels_us": 60.0, "gaps_us": 2.0}


def test_the_table_has_a_line_for_all_of_it_and_says_what_it_leaves_out() -> None:
    text = table(summary(), PRESENCE)
    for said in ("1 times; 162.0 us each", "2.25 us per step (1 %)", "presence     own cost: +1.0 %", "note         process 1:", "a > b",
                 "asked: attribute 1, no 1", "overlap in 50 %: p5 0.00, p50 4.00, p95 4.00 us; gap p50 2.00, p95 2.00 us",
                 "not-asked (1 of 2)", "             in layer"):
        assert said in text, text
    assert "more" not in text
    many = summary(40)
    assert f"and {len(many.groups) - TOP} more pairs in the JSON" in table(many, None) and max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("refused", [2, 18])
def test_what_was_not_recorded_inside_is_named_with_its_reason(refused: int) -> None:
    inside = Inside(launches=5, notes=["7 of 12 records were taken"],
                    refused={f"k{number:02}": "it calls what cannot be seen" for number in range(refused)})
    text = "\n".join(inside_table(inside))
    assert "inside       5 launches" in text and "note         7 of 12" in text
    assert text.count("not recorded: k") == min(refused, TOP) and ("more kernels" in text) == (refused > TOP)
    assert "not recorded: k00: it calls what cannot be seen" in text
