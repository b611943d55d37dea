"""Which kernels are taken for a pair, and what is said of one: what the launch asked for, what stood between, what could be won."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.trace import room
from conformance.trace.images import Code
from conformance.trace.pairs import Group, Knowledge, Pair, Spread, grouped
from conformance.trace.records import ASKED_COMPLETION_EVENT, ASKED_EVENT, ASKED_OVERLAP, Device
from conformance.trace.tests.traced_by_hand import Made

ARRIVAL_NS, COMPLETION_NS, BOUNDARY_NS = 1800, 700, 450  # as they were measured
CODE = Code(1, 1, 100, 50, 10, True)
H200 = Device("H200", 132, 90, 32, 2048, 65536, 228 * 1024, 32, 1024)


def two(start: int, end: int, flags: int = ASKED_OVERLAP, launched: int = 1) -> Pair:
    """A kernel of 30 us and one after it."""
    made = Made()
    made.kernel("a", 0, 30_000)
    made.kernel("b", start, end, flags=flags, launched=launched)
    return made.pair()


@pytest.mark.parametrize(("start", "end", "overlap", "gap"), [
    (10_000, 40_000, 20_000, 0), (10_000, 20_000, 10_000, 0), (30_000 - COMPLETION_NS, 40_000, 0, 0),
    (30_000 - COMPLETION_NS - 1, 40_000, COMPLETION_NS + 1, 0), (32_000, 40_000, 0, 2_000)])
def test_two_kernels_overlap_where_both_run_and_the_first_one_s_last_block_has_not_ended(start: int, end: int, overlap: int,
                                                                                         gap: int) -> None:
    pair = two(start, end)
    assert (pair.overlap_ns, pair.gap_ns, pair.facts.overlapped) == (overlap, gap, overlap > 0)


@pytest.mark.parametrize(("gap", "flags", "late", "recoverable", "by_graph"), [
    (100, 0, -1, BOUNDARY_NS + 100, 0), (10_000, 0, -1, 5 * BOUNDARY_NS, 0), (10_000, ASKED_OVERLAP, -1, 5 * BOUNDARY_NS, 0),
    (10_000, ASKED_OVERLAP, 0, 0, 10_000), (10_000, 0, 0, 0, 10_000)])
def test_what_could_be_won_is_the_boundary_or_what_a_slow_host_left(gap: int, flags: int, late: int, recoverable: int,
                                                                    by_graph: int) -> None:
    pair = two(30_000 + gap, 50_000, flags, 30_000 + late - ARRIVAL_NS)
    assert (pair.recoverable_ns, pair.by_graph_ns) == (recoverable, by_graph)


@pytest.mark.parametrize(("launched", "late"), [(29_000, 0.8), (28_200, 0.0), (20_000, -8.2)])
def test_a_launch_is_late_by_what_it_arrives_after_the_end_of_the_primary(launched: int, late: float) -> None:
    assert two(40_000, 50_000, launched=launched).facts.late_us == late


def test_nothing_is_recoverable_of_an_overlap_or_at_the_edge_of_a_graph() -> None:
    assert two(10_000, 40_000).recoverable_ns == 0
    made = Made()
    made.graph(0, {0: ("kernel", "a")}, [], {})
    made.graph_launch(0, {0: (0, 30_000)})
    made.kernel("b", 31_000, 40_000, flags=ASKED_OVERLAP)
    pair = made.pair()
    assert (pair.place, pair.facts.path, pair.facts.asked, pair.recoverable_ns) == ("end of graph 0", "boundary", "no", 0)


def test_what_stands_between_two_kernels_is_told_in_its_order() -> None:
    made = Made()
    made.kernel("a", 0, 30_000)
    for operation in ("memset", "synchronize", "event", "copy"):
        made.call(operation)
    made.kernel("b", 40_000, 50_000)
    assert made.pair().facts.between == ("memset", "event", "copy")


@pytest.mark.parametrize(("recorded", "flags", "asked"), [
    ("event", 0, "no"), ("timed_event", 0, "no"), (None, ASKED_EVENT, "event"), (None, ASKED_COMPLETION_EVENT, "completion edge")])
def test_a_kernel_of_another_stream_that_an_event_holds_back_is_the_primary(recorded: str | None, flags: int, asked: str) -> None:
    made = Made()
    made.kernel("short", 0, 5_000)
    made.kernel("a", 0, 30_000, stream=1, flags=flags, detail=0 if recorded else 3)
    if recorded:
        made.call(recorded, 1, 3)
    made.call("wait_event", 0, 3)
    made.call("memset")
    made.kernel("b", 40_000, 50_000)
    pair = made.pair()
    assert (pair.primary.name, pair.place, pair.facts.asked) == ("a", "streams", asked)
    assert pair.facts.between == (*([recorded] if recorded else []), "wait_event", "memset")


def test_the_primary_is_what_ended_last() -> None:
    made = Made()
    made.kernel("late start", 10_000, 15_000)
    made.kernel("a", 0, 30_000, stream=1)
    made.call("event", 1, 3)
    made.call("wait_event", 0, 3)
    made.kernel("b", 40_000, 50_000)
    assert made.pair().primary.name == "a"


@pytest.mark.parametrize(("start", "device"), [(35_000, 0), (0, 1)])
def test_what_started_later_or_ran_on_another_device_is_no_primary(start: int, device: int) -> None:
    made = Made()
    made.kernel("a", start, 50_000, device=device)
    made.kernel("b", 31_000, 60_000)
    assert made.pairs() == []


def test_what_each_side_is_made_of_is_said_of_that_side() -> None:
    made = Made()
    made.process.devices[0] = H200
    made.kernel("a", 0, 30_000, ptx=80)
    made.kernel("b", 31_000, 32_000, ptx=90, flags=ASKED_OVERLAP)
    codes = {"a": replace(CODE, waits=0), "b": replace(CODE, triggers=0)}
    facts = made.pair(Knowledge(codes)).facts
    assert (facts.primary_ptx, facts.dependent_ptx, facts.primary_us) == (80, 90, 30.0)
    assert (facts.primary_triggers, facts.dependent_waits, facts.dependent_waits_first) == (True, True, False)
    codes = {"a": replace(CODE, triggers=0), "b": replace(CODE, waits=0)}
    assert (made.pair(Knowledge(codes)).facts.primary_triggers, made.pair(Knowledge(codes)).facts.dependent_waits) == (False, False)
    facts = made.pair().facts
    assert (facts.primary_triggers, facts.dependent_waits, facts.dependent_waits_first) == (None, None, None)


def test_room_is_asked_for_the_dependent_beside_its_primary() -> None:
    made = Made()
    made.process.devices[0] = H200
    made.kernel("a", 0, 30_000)
    made.kernel("b", 31_000, 32_000)
    made.process.kernels[0] = replace(made.process.kernels[0], carveout=0)  # which the launch leaves as it is
    made.process.kernels[1] = replace(made.process.kernels[1], static_shared=48 * 1024)
    found = made.pair().facts.room
    assert found == room.estimate(H200, room.Blocks((1, 1, 1), (32, 1, 1), 32, 0, 0, 0),
                                  room.Blocks((1, 1, 1), (32, 1, 1), 32, 48 * 1024, 0))


@pytest.mark.parametrize(("carveout", "of_kernel", "asked"), [(-2, 50, 50), (-2, None, -1), (-1, 50, -1), (30, 50, 30), (0, 50, 0)])
def test_a_launch_that_says_its_carve_out_is_not_asked_for_its_kernel_s(monkeypatch: pytest.MonkeyPatch, carveout: int,
                                                                        of_kernel: int | None, asked: int) -> None:
    seen: list[room.Blocks] = []
    monkeypatch.setattr(room, "estimate", lambda _device, primary, dependent: seen.extend([primary, dependent]))
    made = Made()
    made.kernel("a", 0, 30_000)
    made.kernel("b", 31_000, 32_000, carveout=carveout)
    made.process.kernels[1] = replace(made.process.kernels[1], carveout=of_kernel)
    made.pairs()
    assert [blocks.carveout for blocks in seen] == [-1, asked]


@pytest.mark.parametrize("value", [None, "", "0", "1"])
def test_a_switch_of_the_environment_counts_where_it_is_set_and_not_0(value: str | None) -> None:
    for variable in ("CUDA_LAUNCH_BLOCKING", "PDL_DISABLE"):
        made = Made()
        made.process.environment = {} if value is None else {variable: value}
        made.kernel("a", 0, 30_000)
        made.kernel("b", 31_000, 32_000)
        facts = made.pair().facts
        assert [facts.launch_blocking, facts.killed] == [value == "1" and variable == name for name in
                                                         ("CUDA_LAUNCH_BLOCKING", "PDL_DISABLE")]


# ---- graphs ----

Said = tuple[str, str, tuple[str, ...], int]  # the place, what the edge asked for, what stands between, edges into the dependent


def said_of(nodes: dict[int, str], edges: list[tuple[int, ...]], parents: dict[int, int]) -> set[Said]:
    """What is told of a graph whose kernels run one after the other in the order of their numbers."""
    made = Made()
    made.graph(4, {index: (kind, f"k{index}") for index, kind in nodes.items()}, edges, parents)
    made.graph_launch(4, {index: (10_000 * index, 10_000 * index + 5_000) for index, kind in nodes.items() if kind == "kernel"})
    return {(p.place.removeprefix("graph 4: "), p.facts.asked, p.facts.between, p.facts.incoming) for p in made.pairs()}


K, G, M = "kernel", "graph", "memset"


@pytest.mark.parametrize(("nodes", "edges", "parents", "said"), [
    ({0: K, 1: K}, [(0, 1)], {}, {("0 to 1", "no", (), 1)}),
    ({0: K, 1: K}, [(0, 1, 1, 0, 1)], {}, {("0 to 1", "edge", (), 1)}),
    ({0: K, 1: K}, [(0, 1, 2, 0, 1)], {}, {("0 to 1", "block-start edge", (), 1)}),
    ({0: K, 1: K}, [(0, 1, 2, 0, 0)], {}, {("0 to 1", "completion edge", (), 1)}),
    ({0: K, 1: M, 2: K}, [(0, 1, 1, 0, 1), (1, 2, 0, 0, 0)], {}, {("0 to 2", "no", ("memset",), 1)}),
    ({0: K, 1: M, 2: M, 3: K}, [(0, 1, 1, 0, 1), (1, 2), (2, 3)], {}, {("0 to 3", "no", ("memset", "memset"), 1)}),
    ({0: K, 1: K, 2: K}, [(0, 2), (1, 2, 1, 0, 1)], {}, {("1 to 2", "edge", (), 2)}),
    ({0: K, 1: K, 2: K}, [(0, 2, 1, 0, 1), (1, 2)], {}, {("1 to 2", "no", (), 2)}),
    # Node 9 is a child graph: its first kernel follows what node 9 follows, and what follows node 9 follows its last kernel.
    ({0: K, 9: G, 1: K, 2: K, 3: K}, [(0, 9), (1, 2, 1, 0, 1), (9, 3)], {1: 9, 2: 9},
     {("0 to 1", "no", (), 1), ("1 to 2", "edge", (), 1), ("2 to 3", "no", (), 1)}),
    ({0: K, 9: G, 1: K, 2: M, 3: K}, [(0, 9), (1, 2), (9, 3)], {1: 9, 2: 9},
     {("0 to 1", "no", (), 1), ("1 to 3", "no", ("memset",), 1)}),
    ({0: K, 9: G, 3: K}, [(0, 9), (9, 3)], {}, {("0 to 3", "no", ("graph",), 1)}),
    # One child graph that ends with another.
    ({0: K, 8: G, 9: G, 1: K, 2: K, 3: K}, [(0, 8), (1, 9), (8, 3)], {1: 8, 9: 8, 2: 9},
     {("0 to 1", "no", (), 1), ("1 to 2", "no", (), 1), ("2 to 3", "no", (), 1)}),
])
def test_an_edge_of_a_graph_says_what_was_asked_for(nodes: dict[int, str], edges: list[tuple[int, ...]], parents: dict[int, int],
                                                    said: set[Said]) -> None:
    assert said_of(nodes, edges, parents) == said


def test_a_node_that_two_ways_lead_to_is_gone_through_once() -> None:
    steps = 24  # of diamonds in a row: a walk that went every way would take 2 ** 24 steps
    nodes = {0: K, **{index: M for index in range(1, 3 * steps + 1)}, 3 * steps + 1: K}
    edges: list[tuple[int, ...]] = [(0, 1)]
    for first in range(1, 3 * steps, 3):
        edges += [(first, first + 1), (first, first + 2), (first + 1, first + 3), (first + 2, first + 3)]
    assert len(said_of(nodes, edges, {})) == 1


def test_the_second_kernel_of_a_graph_that_is_traced_is_excused_and_no_other() -> None:
    made = Made()
    made.graph(0, {0: (K, "a"), 1: (K, "b"), 2: (K, "c")}, [(0, 1, 1, 0, 1), (1, 2, 1, 0, 1)], {})
    made.graph_launch(0, {0: (0, 10_000), 1: (11_000, 20_000), 2: (21_000, 30_000)})
    assert [pair.facts.head_of_graph for pair in made.pairs()] == [True, False]


def test_only_kernels_that_ran_count_as_edges_that_lead_on() -> None:
    made = Made()
    made.graph(0, {0: (K, "a"), 1: (K, "b"), 2: (K, "c")}, [(0, 2, 1, 0, 1), (1, 2, 1, 0, 1)], {})
    made.graph_launch(0, {0: (0, 10_000), 2: (21_000, 30_000)})  # b's record was lost
    pair = made.pair()
    assert (pair.primary.name, pair.facts.incoming) == ("a", 2)


def test_the_edge_of_two_graphs_is_a_boundary() -> None:
    made = Made()
    for number, name in ((0, "a"), (1, "b")):
        made.graph(number, {0: (K, name)}, [], {})
        made.graph_launch(number, {0: (20_000 * number, 20_000 * number + 10_000)})
    pair = made.pair()
    assert (pair.place, pair.facts.path) == ("start of graph 1", "boundary")


# ---- put together ----


@pytest.mark.parametrize(("values", "share", "value"), [
    ([], 0.5, 0.0), ([3.0], 1.0, 3.0), ([3.0, 1.0, 2.0], 0.5, 2.0), ([1.0, 2.0], 0.5, 2.0), ([4.0, 1.0, 2.0, 3.0], 0.25, 2.0),
    ([2.0, 1.0], 0.0, 1.0), ([2.0, 1.0], 1.0, 2.0)])
def test_a_percentile_is_one_of_the_values(values: list[float], share: float, value: float) -> None:
    assert Spread(values).at(share) == value


def test_a_distribution_is_told_with_its_sum() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert Spread(values).as_json() == {"min": 1.0, "p5": 6.0, "p50": 51.0, "p95": 96.0, "max": 100.0, "sum": 5050.0}
    group = Group("a", "b", "stream", [two(10_000, 40_000), two(32_000, 40_000)])
    assert (sorted(group.overlap_us.values), sorted(group.gap_us.values), group.overlapping) == ([0.0, 20.0], [0.0, 2.0], 1)


def test_runs_of_two_kernels_at_one_kind_of_place_are_one_group_and_the_one_worth_most_comes_first() -> None:
    made = Made()
    made.graph(0, {0: (K, "a"), 1: (K, "a"), 2: (K, "a"), 3: (K, "b")}, [(0, 1), (1, 2), (2, 3)], {})
    for launch in range(2):
        begin = 100_000 * launch
        made.graph_launch(0, {index: (begin + 10_000 * index, begin + 10_000 * index + 9_000) for index in range(4)})
    groups = grouped([pair for pair in made.pairs() if pair.facts.path == "graph"], 7)
    assert [(g.primary, g.dependent, g.where, len(g.pairs), g.steps) for g in groups] == [
        ("a", "a", "graph 0", 4, 2), ("a", "b", "graph 0", 2, 2)]
    assert groups[0].worth_us == pytest.approx(2 * (BOUNDARY_NS + 1_000) / 1000)


def test_a_pair_of_a_stream_is_counted_by_the_steps_of_the_program() -> None:
    assert [group.steps for group in grouped([two(31_000, 40_000)], 7)] == [7]


def test_the_reason_that_comes_first_most_often_leads() -> None:
    """All of the first reasons before what only stands behind others, however often."""
    asked, late = two(31_000, 40_000, 0), two(31_000, 40_000, 0, 31_000)
    group = Group("a", "b", "stream", [late, late, asked])
    assert [(reason.code, count) for reason, count in group.reasons()] == [("host-bound", 2), ("not-asked", 3)]
