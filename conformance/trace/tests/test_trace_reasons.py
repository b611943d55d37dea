"""The decision procedure: each reason from the facts that make it, and not without them."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.pdlkit.places import RULES
from conformance.trace import reasons, room
from conformance.trace.reasons import ATTRIBUTE, BLOCK_START_EDGE, EVENT, NOT_ASKED, PROGRAMMATIC_EDGE, UNKNOWN, Facts, why_not
from conformance.trace.zoo.command import PROGRAMS

# A pair that asked, has room, triggers and was launched in time, and still did not overlap.
CLEAR = Facts(asked=ATTRIBUTE, cc=90, dependent_ptx=90, primary_ptx=90, primary_triggers=True, dependent_waits_first=False,
              room=room.Room(None, 1, 8, 1), late_us=-20.0, primary_us=30.0)
IN_GRAPH = replace(CLEAR, path="graph", asked=PROGRAMMATIC_EDGE, late_us=None)

CASES = [
    ("not-asked", replace(CLEAR, asked=NOT_ASKED), {"asked": ATTRIBUTE}),
    ("not-asked", replace(IN_GRAPH, asked=NOT_ASKED), {"asked": PROGRAMMATIC_EDGE}),
    ("killed", replace(CLEAR, asked=NOT_ASKED, killed=True), {"asked": ATTRIBUTE}),
    ("graph-boundary", replace(CLEAR, path="boundary", asked=NOT_ASKED), {"path": "stream", "asked": ATTRIBUTE}),
    ("host-bound", replace(CLEAR, late_us=12.0), {"late_us": -1.0}),
    ("no-device-half", replace(CLEAR, dependent_ptx=80, asked=NOT_ASKED), {"asked": ATTRIBUTE}),
    ("no-device-half", replace(CLEAR, primary_triggers=None, primary_ptx=80), {"primary_ptx": 90}),
    ("carve-out", replace(CLEAR, room=room.Room(room.CARVEOUT, 1, 0, 1)), {"room": CLEAR.room}),
    ("no-room", replace(CLEAR, room=room.Room(room.THREADS, 2, 0, 1)), {"room": CLEAR.room}),
    ("no-room", replace(CLEAR, room=room.Room(room.REGISTERS, 2, 0, 1)), {"room": None}),
    ("no-room", replace(CLEAR, room=room.Room(room.SHARED, 1, 0, 1)), {"room": CLEAR.room}),
    ("no-room", replace(CLEAR, room=room.Room(room.BLOCK_SLOTS, 32, 0, 1)), {"room": CLEAR.room}),
    ("never-triggers", replace(CLEAR, primary_triggers=False), {"primary_triggers": True}),
    ("between", replace(CLEAR, between=("memset",)), {"between": ()}),
    ("between", replace(CLEAR, between=("copy",)), {"between": ("event", "wait_event")}),
    ("between", replace(CLEAR, between=("host",)), {"between": ("event",)}),
    ("between", replace(CLEAR, between=("event", "timed_event")), {"between": ("event",)}),
    ("between", replace(IN_GRAPH, between=("empty",)), {"between": ()}),
    ("first-launch", replace(CLEAR, dependent_first=True, late_us=5.0), {"dependent_first": False, "late_us": -5.0}),
    ("cooperative", replace(CLEAR, dependent_cooperative=True), {"dependent_cooperative": False}),
    ("launch-blocking", replace(CLEAR, launch_blocking=True, late_us=3.0), {"launch_blocking": False, "late_us": -3.0}),
    ("tool", replace(CLEAR, serialiser="compute-sanitizer"), {"serialiser": ""}),
    ("device", replace(CLEAR, cc=80), {"cc": 90}),
    ("several-edges", replace(IN_GRAPH, incoming=2), {"incoming": 1}),
    ("event-across-streams", replace(CLEAR, asked=EVENT), {"asked": ATTRIBUTE}),
    ("traced", replace(IN_GRAPH, head_of_graph=True), {"head_of_graph": False}),
    ("too-short", replace(CLEAR, primary_us=1.0), {"primary_us": 30.0}),
    ("asked-unknown", replace(CLEAR, asked=UNKNOWN), {"asked": ATTRIBUTE}),
]


@pytest.mark.parametrize(("code", "facts", "without"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_a_reason_follows_from_its_facts_and_goes_with_them(code: str, facts: Facts, without: dict[str, object]) -> None:
    assert why_not(facts)[0].code == code
    rest = why_not(replace(facts, **without))  # type: ignore[arg-type]
    assert [reason.code for reason in rest] == ["unexplained"]


@pytest.mark.parametrize(("facts", "code"), [
    (replace(CLEAR, cc=89), "device"), (replace(CLEAR, late_us=0.0), "host-bound"), (replace(IN_GRAPH, late_us=5.0), "unexplained"),
    (replace(CLEAR, path="boundary", asked=UNKNOWN), "graph-boundary"), (replace(CLEAR, between=("empty",)), "unexplained"),
    (replace(IN_GRAPH, asked=BLOCK_START_EDGE, primary_triggers=False), "unexplained"),  # it waits for no trigger
    (replace(CLEAR, primary_us=2.5), "too-short"), (replace(CLEAR, primary_us=2.6), "unexplained"),
    (replace(IN_GRAPH, primary_us=1.5), "too-short"), (replace(IN_GRAPH, primary_us=1.6), "unexplained"),
    (replace(IN_GRAPH, asked=BLOCK_START_EDGE, overlapped=True, dependent_waits=False), "no-wait")])
def test_a_reason_holds_up_to_its_limit_and_no_further(facts: Facts, code: str) -> None:
    assert [reason.code for reason in why_not(facts)] == [code]


@pytest.mark.parametrize(("between", "remedy"), [
    (("timed_event",), "record it with"), (("timed_event", "memset"), "move it"), (("copy",), "move it")])
def test_another_flag_of_an_event_helps_where_nothing_else_stands_between(between: tuple[str, ...], remedy: str) -> None:
    assert why_not(replace(CLEAR, between=between))[0].remedy.startswith(remedy)


def _sources() -> dict[str, set[str]]:
    """The ids of each reason, as reasons.py makes them."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(Path(reasons.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Reason":
            found.setdefault(ast.literal_eval(node.args[0]), set()).update(ast.literal_eval(node.args[1]))
    return found


def _page() -> str:
    return (Path(reasons.__file__).parent / "README.md").read_text(encoding="utf-8").partition("## Why not")[2].partition("\n## ")[0]


def test_the_page_gives_the_sources_of_each_reason() -> None:
    sources, seen = _sources(), set[str]()
    assert {code for code, _, _ in CASES} <= set(sources)
    for first, third in re.findall(r"^\| (`.+?) \|.*\| (.*?) \|$", _page(), re.M):
        codes = re.findall(r"`([a-z-]+)`", first)
        assert set(third.split(", ")) == set[str]().union(*(sources[code] for code in codes)), first
        seen.update(codes)
    assert seen == set(sources)


def test_the_page_names_the_reasons_without_a_program() -> None:
    said = re.search(r"a program for each reason but ([^.]*)\.", _page())
    assert said and set(re.findall(r"`([a-z-]+)`", said[1])) == set(_sources()) - {program.reason for program in PROGRAMS}


def test_nothing_is_made_up_where_nothing_is_known() -> None:
    assert [reason.code for reason in why_not(Facts(asked=ATTRIBUTE))] == ["unexplained"]


def test_a_pair_that_overlaps_needs_no_reason_unless_it_gains_nothing() -> None:
    assert why_not(replace(CLEAR, overlapped=True)) == []
    assert [reason.code for reason in why_not(replace(CLEAR, overlapped=True, dependent_waits_first=True))] == ["waits-first"]
    crowded = replace(CLEAR, overlapped=True, room=room.Room(room.THREADS, 2, 0, 1))
    assert [reason.code for reason in why_not(crowded)] == ["no-room"]  # it began as the primary's first blocks left


def test_a_dependent_that_overlaps_without_a_wait_is_called_a_danger() -> None:
    found = why_not(replace(CLEAR, overlapped=True, dependent_waits=False))
    assert [reason.code for reason in found] == ["no-wait"] and "DANGER" in found[0].text
    assert why_not(replace(CLEAR, overlapped=True, dependent_waits=True)) == []
    assert why_not(replace(CLEAR, asked=NOT_ASKED, overlapped=True, dependent_waits=False)) == []  # another stream's kernel


def test_several_reasons_come_in_the_order_in_which_they_have_to_go() -> None:
    facts = replace(CLEAR, late_us=9.0, asked=NOT_ASKED, between=("memset",), primary_triggers=False)
    assert [reason.code for reason in why_not(facts)] == ["host-bound", "not-asked", "between"]
    assert [reason.code for reason in why_not(replace(facts, late_us=-9.0, asked=ATTRIBUTE))] == ["between", "never-triggers"]


def test_an_untimed_event_and_a_finished_wait_do_not_stand_in_the_way_in_a_stream() -> None:
    assert why_not(replace(CLEAR, between=("event", "wait_event")))[0].code == "unexplained"


def test_every_reason_names_facts_or_rules_of_this_project() -> None:
    rules = set(re.findall(r'^id = "([A-Z]+-[0-9]+[a-z]?)"', RULES.read_text(encoding="utf-8"), re.MULTILINE))
    for _, facts, _ in CASES:
        for reason in why_not(facts):
            assert reason.ids and all(identity in rules or re.fullmatch(r"F\d+b?", identity) for identity in reason.ids), reason
            assert reason.remedy and reason.text


def test_the_harmless_words_are_words_of_the_list() -> None:
    assert set(reasons._HARMLESS_IN_STREAMS) <= set(reasons.HOLDING)
