"""Random graphs against enumeration. The full count: python3 -m conformance.lint.tests.run_random_graphs --count 100000."""

from __future__ import annotations

from conformance.lint.tests.random_graphs import disagreements, found_by_lint, random_graph, truth


def test_lint_and_enumeration_agree() -> None:
    assert disagreements(range(3000)) == []


def test_graphs_are_worth_asking_about() -> None:
    """Both answers occur often: graphs with an early read, and reads that only a path condition makes safe."""
    graphs = [random_graph(seed) for seed in range(400)]
    early = sum(bool(truth(g)) for g in graphs)
    partly = sum(bool(truth(g)) and len(truth(g)) < sum(b.events.count("read") for b in g) for g in graphs)
    assert 40 < early and partly > 40


def test_a_dropped_wait_is_noticed() -> None:
    """The check can fail: without its waits a graph is judged differently."""
    graphs = [random_graph(seed) for seed in range(200)]
    before = found_by_lint(graphs)
    for block in (b for graph in graphs for b in graph):
        block.events = ["read"] * len(block.events)
    assert sum(old != new for old, new in zip(before, found_by_lint(graphs), strict=True)) > 20
