"""Runs the program with kernels that record their times, and puts together what they recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.places import KIT
from conformance.rewrite import library as rewriter
from conformance.trace import session
from conformance.trace.inside import plan
from conformance.trace.inside.findings import Inside, find
from conformance.trace.inside.records import read_process
from conformance.trace.pairs import Pair
from conformance.trace.timeline import Timeline

_OWN = KIT / "trace" / "inside" / "injection"
NOT_ASKED = "no"


def library() -> Path:
    """The library, compiled if need be."""
    return rewriter.injection_library("libpdlinside.so", [*sorted(session.SOURCES.glob("*.c")), *sorted(_OWN.glob("*.c"))],
                                      "the library of trace --inside")


def asked_of(pairs: Sequence[Pair]) -> dict[tuple[str, str], bool]:
    """The pairs of kernels in a row, and whether any of their launches asks for overlap."""
    found: dict[tuple[str, str], bool] = {}
    for pair in pairs:
        key = (pair.primary.name, pair.dependent.name)
        found[key] = found.get(key, False) or pair.facts.asked != NOT_ASKED
    return found


def inside(command: list[str], folder: Path, rank: str | None, timelines: Sequence[Timeline], pairs: Sequence[Pair],
           timeout: float | None, without: Sequence[str] = (), on_stack: bool = False) -> Inside:
    """One more run. The trace says which kernels there are, and whether recording would change how they run."""
    kernels, refused = plan.choose(timelines)
    if on_stack:
        kernels = {name: flags | plan.SPILL for name, flags in kernels.items()}
    if not kernels:
        return find([], {}, refused)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "plan"
    file.write_text(plan.text(kernels, without), encoding="utf-8")
    variables = session.environment(folder, None, rank, preloaded=library()) | {"PDL_STRESS_PLAN": str(file)}
    ran = session.run(command, folder, variables, True, timeout)
    found = find([read_process(path) for path in sorted(folder.glob("process-*.jsonl"))], asked_of(pairs), refused,
                 Counter(run.name for timeline in timelines for run in timeline.runs))
    if ran.code != 0:
        found.notes.append("the program with recording kernels was ended after its time" if ran.code is None
                           else f"the program with recording kernels ended with code {ran.code}")
    if without:
        incomplete = "; without exits no launch is complete" if "exits" in without else ""
        found.notes.append(f"recorded without {', '.join(without)}{incomplete}")
    if not found.launches:
        found.notes.append("no kernel recorded anything")
    return found
