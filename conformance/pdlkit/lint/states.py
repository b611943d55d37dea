"""What the analysis keeps of a path, and what it gathers on the way.

How far a path is:
    FRESH     nobody is known to have waited
    AHEAD     siblings will wait, but only behind a further block-wide barrier: only what they signal then makes it safe
    SIBLING   this thread passed by a wait that other threads of its block execute; a block-wide barrier makes it safe
    CLUSTER   the same, but threads of another block of the cluster wait; a cluster barrier makes it safe
    SIGNALLED as SIBLING, then released by an object in shared memory (mbarrier): safe if a waiter signalled it
    WAITED    only followed when it matters what waiters signal
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pdlkit.lint.opcodes import Kind
from pdlkit.lint.values import VARIES_BY_BLOCK, Root

FRESH, AHEAD, CLUSTER, SIBLING, SIGNALLED, WAITED = 0, 1, 2, 3, 4, 5

Context = tuple[tuple[str, int], ...]  # (section, block to return to), innermost last
Node = tuple[Context, str, int]


@dataclass
class Access:
    """One instruction that some path reaches without a wait."""

    section: str
    index: int
    kind: Kind
    states: set[int] = field(default_factory=set)
    roots: frozenset[Root] = frozenset()
    contexts: set[Context] = field(default_factory=set)
    reaches_wait: bool = False


@dataclass
class Edges:
    """How one node can be left, gathered on the first pass."""

    targets: set[Node] = field(default_factory=set)
    varies: int = 0
    events: list[tuple[str, int]] = field(default_factory=list)  # ("wait", varies) or ("barrier", 0), in order
    traps: bool = False  # ends the whole grid, so nobody asks what its threads would have done


@dataclass
class Result:
    accesses: dict[tuple[str, int], Access] = field(default_factory=dict)
    prefetches: set[tuple[str, int]] = field(default_factory=set)
    unknown: set[tuple[str, int]] = field(default_factory=set)
    unresolved_calls: set[tuple[str, int, str]] = field(default_factory=set)
    exits: set[tuple[str, int]] = field(default_factory=set)  # exits without a wait
    waits: set[tuple[str, int]] = field(default_factory=set)
    simplified: bool = False  # too many paths: conditions were not kept apart


def passed_by(wait: int, varies: int) -> int:
    if wait in (WAITED, SIBLING, SIGNALLED) or not varies:
        return wait
    return CLUSTER if varies & VARIES_BY_BLOCK else SIBLING  # a block all of whose threads pass by has no waiter of its own
