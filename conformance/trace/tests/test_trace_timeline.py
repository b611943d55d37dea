"""Which run of the device belongs to which call of the host, what of neither is left over, and on whose clock a time is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.trace.records import IN_CAPTURE, NOT_SAMPLED, HostEvent, Process, Range, read_process
from conformance.trace.tests.traced_by_hand import Made
from conformance.trace.timeline import Timeline


def starts(timeline: Timeline) -> list[list[int]]:
    """Of every call the starts of its runs."""
    return [[run.start for run in item.runs] for item in timeline.items]


def left_over(timeline: Timeline) -> tuple[int, int]:
    """Runs without a launch, and launches without a run."""
    return timeline.unmatched, timeline.untimed


def test_a_run_that_no_launch_fits_is_left_over_and_does_not_shift_the_others() -> None:
    made = Made()
    made.ran("by the device", 0, 5)
    made.kernel("a", 10, 20)
    made.kernel("b", 30, 40)
    made.ran("by the device", 50, 60)
    assert starts(made.joined()) == [[10], [30]] and left_over(made.joined()) == (2, 0)


@pytest.mark.parametrize("other", ["name", "grid", "block"])
def test_a_launch_that_no_run_fits_has_no_time_and_does_not_shift_the_others(other: str) -> None:
    made = Made()
    for name, start in (("a", 10), ("b", 30)):
        made.kernel(name, start, start + 10)
    lost = made.process.activities[0]
    made.process.activities[0] = replace(lost, name="other") if other == "name" else replace(lost, **{other: (2, 1, 1)})  # type: ignore
    assert starts(made.joined()) == [[], [30]] and left_over(made.joined()) == (1, 1)


def test_a_kernel_whose_name_the_driver_did_not_say_takes_the_one_of_the_run() -> None:
    made = Made()
    made.kernel("a", 10, 20)
    made.process.kernels[0] = replace(made.process.kernels[0], name="")
    assert [run.name for run in made.joined().runs] == ["a"]


def test_runs_of_a_stream_are_in_the_order_of_their_launches_and_not_of_their_starts() -> None:
    made = Made()
    for start in (50, 10):  # the second ran beside its primary's launch overhead: correlations tell
        made.kernel("a", start, start + 10)
    assert starts(made.joined()) == [[50], [10]]


def test_only_launches_that_were_timed_wait_for_a_run() -> None:
    made = Made()
    made.kernel("a", 10, 20)
    made.call("launch", kernel=0, grid=(1, 1, 1), block=(32, 1, 1), flags=NOT_SAMPLED)
    made.graph(0, {0: ("kernel", "a")}, [], {})
    made.call("graph", 0, 0, flags=NOT_SAMPLED)
    made.graph_launch(0, {0: (30, 40)})
    assert starts(made.joined()) == [[10], [], [], [30]] and left_over(made.joined()) == (0, 0)


@pytest.mark.parametrize(("code", "flags", "kept"), [(0, 0, True), (1, 0, False), (0, IN_CAPTURE, False)])
def test_a_call_that_gave_the_device_nothing_to_do_is_left_out(code: int, flags: int, kept: bool) -> None:
    made = Made()
    made.call("memset", code=code, flags=flags)
    assert bool(made.joined().items) is kept


def test_launches_of_a_graph_take_its_runs_in_the_order_of_their_correlations() -> None:
    made = Made()
    made.graph(0, {0: ("kernel", "a"), 1: ("kernel", "b")}, [(0, 1)], {})
    made.graph_launch(0, {1: (200, 300), 0: (100, 110)}, correlation=9)  # told backwards
    made.graph_launch(0, {0: (10, 20), 1: (30, 40)}, correlation=5)
    made.call("graph", 0, 0)
    made.ran("a", 500, 510, graph=99)
    timeline = made.joined()
    assert starts(timeline) == [[10, 30], [100, 200], []] and left_over(timeline) == (1, 1)
    assert [run.node for run in timeline.items[1].runs] == [0, 1]


def test_every_kernel_of_a_graph_s_launch_that_nobody_made_is_left_over() -> None:
    made = Made()
    made.graph(0, {0: ("kernel", "a"), 1: ("kernel", "b")}, [(0, 1)], {})
    made.graph_launch(0, {0: (10, 20), 1: (30, 40)})
    made.process.events.clear()
    assert left_over(made.joined()) == (2, 0)


def test_a_clone_of_a_node_says_what_the_node_was_added_with() -> None:
    made = Made()
    made.graph(0, {0: ("kernel", "a")}, [], {})
    graph = made.process.graphs[0]
    graph.nodes[0] = replace(graph.nodes[0], flags=1, carveout=30)
    made.graph_launch(0, {0: (10, 20)})
    made.process.clones.update({500: 501, 501: graph.nodes[0].cupti_id})
    made.process.activities[0] = replace(made.process.activities[0], node_id=500)
    (run,) = made.joined().runs
    assert (run.node, run.flags, run.carveout, run.graph, run.graph_launch) == (0, 1, 30, 0, 0)


def test_a_launch_counts_from_its_return_by_the_reading_of_both_clocks_next_to_it() -> None:
    made = Made()
    made.process.clocks = [(1_000, 7_000), (5_000, 12_000)]
    made.kernel("a", 0, 10, begin=100, launched=1_100)
    made.kernel("b", 20, 30, begin=100, launched=4_900)
    assert [run.launched for run in made.joined().runs] == [7_100, 11_900]


def test_ranges_that_end_on_another_thread_surround_those_of_the_thread() -> None:
    made = Made()
    made.process.ranges = [Range("start", 10, 2, 7, "epoch"), Range("push", 20, 1, 0, "layer"), Range("pop", 40, 1, 0, ""),
                           Range("end", 50, 3, 7, "")]
    for start, begin in ((0, 30), (20, 45), (40, 60)):
        made.kernel("a", start, start + 10, begin=begin)
    assert [run.range for run in made.joined().runs] == ["epoch / layer", "epoch", ""]


# ---- records ----


def read(path: Path, *records: object) -> Process:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_process(path)


def test_each_place_of_a_launch_is_read_as_what_it_is(tmp_path: Path) -> None:
    process = read(tmp_path / "p", ["launch", 1, 2, 3, 4, 5, 6, 7, [8, 1, 1], [9, 1, 1], 10, 11, 12, 13])
    assert process.events == [HostEvent("launch", 1, 2, 3, 4, 5, 6, 13, 7, (8, 1, 1), (9, 1, 1), 10, 11, 12)]


def test_what_a_process_says_of_itself_adds_up(tmp_path: Path) -> None:
    device = {"device": 0, "name": "x", "cc_major": 9, "cc_minor": 3}
    process = read(tmp_path / "p", device, {"dropped": 2}, {"dropped": 3}, {"subscribe": 1}, ["clone", 4, 9], ["clock", 5, 6],
                   {"image": "1234"}, {"image": "5678"}, {"times": "refused", "code": 7})
    assert (process.images, process.times, process.times_code) == (["1234", "5678"], "refused", 7)
    assert (process.devices[0].cc, process.dropped, process.subscribed, process.clones, process.clocks) == (93, 5, False, {9: 4}, [(5, 6)])
