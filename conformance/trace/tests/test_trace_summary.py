"""What is told before the pairs: steps, the chain that a step waits for, what could be won per step, and what the trace itself cost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.trace import launches, presence
from conformance.trace.reasons import BLOCK_START_EDGE, COMPLETION_EDGE, EVENT, PROGRAMMATIC_EDGE
from conformance.trace.records import IN_CAPTURE, Process, Range
from conformance.trace.summary import Critical, Summary, summarise
from conformance.trace.tests.traced_by_hand import Made


def of(*made: Made, step: str | None = None, chosen: slice | None = None) -> Summary:
    return summarise([one.joined() for one in made], [], step, chosen)


def graphs(gap: int, *numbers: int, lead: int = 0) -> Made:
    """A kernel of so many ns, and launches of graphs of two kernels of 1 us with a gap."""
    made = Made()
    if lead:
        made.kernel("lead", 0, lead)
    for launch, number in enumerate(numbers):
        begin = 100_000 * (launch + 1)
        if number not in made.process.graphs:
            made.graph(number, {0: ("kernel", "a"), 1: ("kernel", "b")}, [(0, 1)], {})
        made.graph_launch(number, {0: (begin, begin + 1_000), 1: (begin + 1_000 + gap, begin + 2_000 + gap)})
    return made


def test_time_that_kernels_share_is_counted_once_also_inside_a_longer_one() -> None:
    made = Made()
    for start, end in ((0, 10_000), (1_000, 2_000), (9_000, 12_000), (20_000, 21_000)):
        made.kernel("a", start, end)
    assert [(load.name, load.sum_us, load.union_us) for load in of(made).loads] == [("all", 15.0, 13.0), ("stream 0", 15.0, 13.0)]
    assert [load.name for load in of(made, Made()).loads] == ["all", "process 1, stream 0"]


@pytest.mark.parametrize(("lead", "name", "count"), [(0, "launch of graph 5", 3), (3_000, "launch of graph 5", 3),
                                                     (5_000, "run of the program", 1)])
def test_a_step_is_a_launch_of_the_graph_that_takes_most_of_the_time(lead: int, name: str, count: int) -> None:
    """Three launches of graph 5 take 6 us, one of graph 4 takes 2."""
    found = of(graphs(500, 4, 5, 5, 5, lead=lead)).steps
    assert (found.name, found.count) == (name, count)


def test_what_could_be_won_is_of_one_step_and_of_the_steps_that_were_chosen() -> None:
    timeline, pairs = graphs(1_000, 5, 5, 5, 5).found()
    whole, some = summarise([timeline], pairs, None), summarise([timeline], pairs, None, slice(1, 3))
    assert whole.recoverable_us == some.recoverable_us == pytest.approx(1.45)
    assert [(group.where, len(group.pairs)) for group in whole.groups] == [("graph 5", 4), ("start of graph 5", 3)]
    assert [(group.where, len(group.pairs)) for group in some.groups] == [("graph 5", 2), ("start of graph 5", 1)]


def test_the_pairs_of_a_step_that_was_asked_for_are_those_in_it() -> None:
    made = Made()
    made.process.ranges = [Range("push", 10, 1, 0, "layer"), Range("pop", 40, 1, 0, "")]
    for start, begin in ((0, 20), (20_000, 30), (40_000, 60), (60_000, 70)):
        made.kernel("a", start, start + 10_000, begin=begin)
    timeline, pairs = made.found()
    assert [len(group.pairs) for wanted in (None, "layer") for group in summarise([timeline], pairs, wanted).groups] == [3, 1]


def test_the_median_step_is_told_and_what_could_be_won_elsewhere_is_left_out() -> None:
    made = graphs(1_000, 5, 5, 5)
    slow = made.process.activities[-1]
    made.process.activities[-1] = replace(slow, start=350_000, end=360_000)
    for start in (400_000, 402_000):
        made.kernel("tail", start, start + 1_000)
    timeline, pairs = made.found()
    found = summarise([timeline], pairs, None)
    assert (found.steps.count, found.step_us) == (3, 3.0)
    assert found.recoverable_us == pytest.approx((1.45 + 1.45 + 2.25) / 3)  # the tail's 1.45 is of no step


def test_a_step_is_a_range_whichever_call_began_it() -> None:
    """Ranges of a thread nest; those that have a number end where their number does, on any thread."""
    made = Made()
    made.process.ranges = [Range("start", 10, 1, 7, "layer"), Range("push", 12, 1, 0, "other"), Range("pop", 14, 1, 0, ""),
                           Range("end", 40, 2, 7, ""), Range("end", 41, 2, 7, ""), Range("push", 50, 1, 0, "layer"),
                           Range("pop", 60, 1, 0, ""), Range("pop", 61, 1, 0, "")]
    for start, begin in ((0, 5), (20_000, 30), (40_000, 45), (60_000, 55)):
        made.kernel("a", start, start + 10_000, begin=begin)
    found = of(made, step="^layer$")
    assert (found.steps.count, found.step_us) == (2, 10.0)


def test_the_chain_goes_back_from_what_ended_last() -> None:
    made = Made()
    made.kernel("a", 0, 10_000)
    made.kernel("b", 12_000, 20_000)
    made.kernel("long", 11_000, 30_000, stream=1)
    made.kernel("c", 21_000, 25_000)
    timeline, pairs = made.found()
    assert summarise([timeline], pairs, None).critical == Critical(1, 19.0, 19.0, 0.0)
    made.process.activities[2] = replace(made.process.activities[2], end=24_000)
    timeline, pairs = made.found()
    assert summarise([timeline], pairs, None).critical == Critical(3, 25.0, 22.0, 3.0)


@pytest.mark.parametrize(("change", "said"), [
    ({"times": "refused"}, "no times of the device (CUPTI: refused)"), ({"times": "off"}, None), ({}, None),
    ({"subscribed": False}, "another tool holds CUPTI's callbacks"), ({"dropped": 1234}, "CUPTI dropped 1,234 records"),
    ({"ended": False}, "it ended without warning"), ({"damaged": 1}, "it ended without warning")])
def test_what_makes_the_numbers_less_worth_is_noted(change: dict[str, object], said: str | None) -> None:
    made = Made()
    made.process = replace(made.process, **change)  # type: ignore[arg-type]
    notes = of(made).notes
    assert [said in note for note in notes] == [True] if said else notes == []


@pytest.mark.parametrize(("times", "notes"), [("CUPTI", ["1 launches have no time"]), ("off", [])])
def test_launches_without_a_time_are_noted_where_times_were_asked_for(times: str, notes: list[str]) -> None:
    made = Made()
    made.process.times = times
    made.kernel("a", 0, 1)
    made.process.activities.clear()
    assert of(made).notes == [f"process 1: {note}" for note in notes]


def test_runs_that_nobody_launched_are_noted() -> None:
    made = Made()
    made.ran("a", 0, 1)
    assert [note.partition("(")[0] for note in of(made).notes] == ["process 1: 1 kernels ran that no launch was seen of "]


# ---- what the trace itself cost ----


def worked(*stretches: tuple[int, int, int]) -> Process:
    """So many launches and launches of graphs, and how long they took with the synchronisation after them, in us."""
    made, now = Made(), 1_000
    for plain, whole, long in stretches:
        for number in range(plain + whole):
            made.call("launch" if number < plain else "graph", begin=now + number, launched=now + number)
        made.call("launch", begin=now - 500, launched=now - 500, flags=IN_CAPTURE)
        now += 1000 * long
        made.call("synchronize", begin=now - 300, launched=now)
        now += 50_000
    return made.process


def test_a_stretch_goes_from_its_first_launch_to_the_end_of_its_synchronisation() -> None:
    assert presence.stretches(worked((2, 1, 40), (3, 0, 70), (2, 1, 50))) == {(2, 1): [40.0, 50.0], (3, 0): [70.0]}


def test_the_cost_of_the_trace_is_what_the_same_work_took_longer_under_it() -> None:
    plain, traced = worked((2, 0, 100), (2, 0, 100), (0, 1, 50), (7, 0, 10)), worked((2, 0, 110), (0, 1, 60), (0, 1, 60), (9, 0, 10))
    found = presence.compare([plain], [traced])
    assert found == presence.Presence(1.12, 3, 100.0, 110.0)  # 2 * 110 + 60 for 2 * 100 + 50
    assert presence.compare([plain], [worked((9, 9, 10))]).ratio is None


@pytest.mark.parametrize(("ratio", "said"), [
    (1.04, "own cost: +4.0 % of time between synchronisations (3 stretches compared)"),
    (1.06, "own cost: +6.0 % of time between synchronisations (3 stretches compared); overlap and gaps may be other without it")])
def test_a_cost_that_may_change_what_is_seen_is_said_to(ratio: float, said: str) -> None:
    assert presence.Presence(ratio, 3, 100.0, 104.0).sentence == said


# ---- the file for lint ----


@pytest.mark.parametrize(("asked", "overlap"), [
    (EVENT, True), (PROGRAMMATIC_EDGE, "edge"), (BLOCK_START_EDGE, "edge"), (COMPLETION_EDGE, "edge"), ("no", False), ("attribute", True)])
def test_lint_hears_how_a_kernel_was_launched_and_behind_which(asked: str, overlap: bool | str) -> None:
    made = Made()
    for start in range(0, 50_000, 10_000):
        made.kernel("a" if start < 10_000 else "b", start, start + 9_000)
    timeline, pairs = made.found()
    for pair in pairs:
        pair.facts = replace(pair.facts, asked=asked)
    rows = [json.loads(line) for line in launches.lines([timeline], pairs, {"a": "1234"})]
    assert rows == [{"kernel": "a", "image": "1234", "overlap": False, "behind": [], "launches": 1},
                    {"kernel": "b", "image": "", "overlap": overlap, "behind": ["a", "b"], "launches": 4}]
