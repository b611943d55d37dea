"""What the promises of a study rest on in this very program: which pairs may overlap now, which kernels were left, how many streams."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.trace.records import Graph, Process
from conformance.trace.report import clipped, short_name

UNVERIFIED = ("it cannot be rewritten", "the image that it was loaded from was not seen", "the driver refused a rewritten image")
_MAY_WAIT = "it may wait for other kernels"
_NAMED = 4


@dataclass
class Cases:
    """Of one program, as its run with an empty prologue showed them."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # kernels in a row, of which the second may start early now
    streams: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # stream -> kernels that ran in it
    changed: int = 0
    left: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """For scripts."""
        return {"pairs": [{"primary": a, "dependent": b, "launches": count} for (a, b), count in self.pairs.most_common()],
                "streams": len(self.streams), "unverified": sorted(self.unverified), "may_wait_for_others": sorted(self.waiting)}

    @property
    def unverified(self) -> list[str]:
        """Kernels into which no wait could be put, or of which it is not known."""
        return [name for name, why in self.left.items() if why.startswith(UNVERIFIED)]

    @property
    def waiting(self) -> list[str]:
        """Kernels that were left because of their names."""
        return [name for name, why in self.left.items() if why.startswith(_MAY_WAIT)]

    def preserved_if(self) -> str:
        """On what the results depend."""
        pairs = [f"{clipped(short_name(a), 30)} > {clipped(short_name(b), 30)} ({count:,})"
                 for (a, b), count in self.pairs.most_common(_NAMED)]
        more = f" and {len(self.pairs) - _NAMED} more pairs" if len(self.pairs) > _NAMED else ""
        text = f"preserved if the {self.changed} changed kernels depend on nothing but what their stream or graph puts ahead of them; " \
               "each waits for all of that at its entry, in every image that was loaded"
        text += f". They may start early in these pairs (launches): {', '.join(pairs)}{more}" if pairs else ". None follows another kernel"
        return text + (f". No wait was verified in {_names(self.unverified)}: launched as before" if self.unverified else "")

    def may_not_end_when(self) -> str:
        """What could keep it from ending."""
        several = len(self.streams) > 1
        text = f"not guaranteed when a parked block holds room that a kernel of another of its {len(self.streams)} streams needs: " \
               f"{'; '.join(_names(sorted(kernels)) for kernels in list(self.streams.values())[:_NAMED])}" if several else \
               "its kernels ran in one stream, so none waits for one of another stream; not guaranteed when another process or device " \
               "has to run for one to end"
        text += f". Left as they are because they may wait for others: {_names(self.waiting)}" if self.waiting else ""
        return text + ". A kernel that spins on a flag or launches children is not recognised (--exempt leaves it out)"


def _names(names: Sequence[str]) -> str:
    told = ", ".join(clipped(short_name(name), 30) for name in names[:_NAMED])
    return f"{told} and {len(names) - _NAMED} more" if len(names) > _NAMED else told


def _in_streams(process: Process) -> Iterator[tuple[str, str | None, str]]:
    """Stream, the kernel that was launched just before in it (None after other work), and the kernel."""
    before: dict[int, str | None] = {}
    for event in sorted(process.events, key=lambda event: event.number):
        if not event.took_effect or event.operation == "synchronize":
            continue
        known = process.kernels.get(event.kernel) if event.operation == "launch" else None
        if known is not None:
            yield f"{process.pid}:{event.stream}", before.get(event.stream), known.name
        before[event.stream] = known.name if known is not None else None


def _in_graph(process: Process, graph: Graph) -> Iterator[tuple[str, str]]:
    names = {node.index: process.kernels[node.kernel].name for node in graph.nodes
             if node.kernel is not None and node.kernel in process.kernels}
    return ((names[edge.source], names[edge.target]) for edge in graph.edges if edge.source in names and edge.target in names)


def cases(processes: Sequence[Process], changed: Collection[str], left: Mapping[str, str]) -> Cases:
    """From what one run noted."""
    found = Cases(changed=len(changed), left=left)
    for process in processes:
        for stream, primary, name in _in_streams(process):
            found.streams[stream].add(name)
            if primary is not None and name in changed:
                found.pairs[primary, name] += 1
        replays = Counter(event.detail for event in process.events if event.operation == "graph" and event.took_effect)
        for graph in process.graphs.values():
            for pair in _in_graph(process, graph):
                found.pairs[pair] += replays[graph.number] * (pair[1] in changed)
    found.pairs = +found.pairs  # without those that never ran
    return found
