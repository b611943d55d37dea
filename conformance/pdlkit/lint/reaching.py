"""Questions about the graph of all paths: does a wait lie ahead?"""

from __future__ import annotations

from collections.abc import Iterable

from pdlkit.lint.opcodes import Kind
from pdlkit.lint.program import Program
from pdlkit.lint.states import Access, Edges, Node


def waits_before_barrier(start: Node, all_edges: dict[Node, Edges], known: dict[Node, bool], past: bool = False) -> bool:
    """Whether some thread that gets here surely waits before it reaches a block-wide barrier or its end.

    At a branch that threads leave in different ways one way suffices; at one that the whole block leaves alike,
    each way has to lead to a wait. Ways back in a loop are left out. `past`: barriers are passed.
    """
    if start in known:
        return known[start]
    open_nodes: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(start, False)]
    while stack:
        node, done = stack.pop()
        if node in known:
            continue
        edges = all_edges.get(node)
        if edges is None or edges.traps:
            known[node] = False
            continue
        early = _first_event(edges.events, past)
        if early is not None:
            known[node] = early
            continue
        if not done:
            open_nodes.add(node)
            stack.append((node, True))
            stack += [(t, False) for t in edges.targets if t not in known and t not in open_nodes]
            continue
        open_nodes.discard(node)
        answers = [known[t] for t in edges.targets if t in known and not (t in all_edges and all_edges[t].traps)]
        known[node] = bool(answers) and (any(answers) if edges.varies else all(answers))
    return known[start]


def mark_reaching(program: Program, all_edges: dict[Node, Edges], accesses: Iterable[Access]) -> None:
    """Which recorded accesses can be followed by a wait of the same thread."""
    before: dict[Node, set[Node]] = {}
    work: list[Node] = []
    for node, edges in all_edges.items():
        for target in edges.targets:
            before.setdefault(target, set()).add(node)
        if any(event == "wait" for event, _ in edges.events):
            work.append(node)
    reaching = set(work)
    while work:
        for node in before.get(work.pop(), ()):
            if node not in reaching:
                reaching.add(node)
                work.append(node)
    blocks = {(n[1], n[2]) for n in reaching}
    waiting = {(n[1], n[2]) for n, e in all_edges.items() if any(k == "wait" for k, _ in e.events)}
    later = {(n[1], n[2]) for n in all_edges if any(t in reaching for t in all_edges[n].targets)}
    for access in accesses:
        flow = program.flow(access.section)
        assert flow is not None
        number = next(i for i, b in enumerate(flow.blocks) if b.start <= access.index < b.end)
        here = (access.section, number)
        block = flow.blocks[number]
        behind = any(flow.kinds[i] is Kind.WAIT for i in range(access.index, block.end))
        access.reaches_wait = here in later or (here in waiting and behind) or (here in blocks and behind)


def _first_event(events: list[tuple[str, int]], past: bool) -> bool | None:
    """Whether the first event that decides is a wait; None if none decides."""
    for event, varies in events:
        if event == "barrier" and not past:
            return False
        if event == "wait" and varies:
            return True
    return None
