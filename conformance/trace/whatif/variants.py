"""The variants of a program that are compared, the library that makes them, and what it noted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from conformance.pdlkit.places import KIT
from conformance.rewrite import library as rewriter
from conformance.trace import session
from conformance.trace.records import (
    ASKED_COMPLETION_EVENT,
    ASKED_COOPERATIVE,
    ASKED_EVENT,
    ASKED_OVERLAP,
    ASKED_UPDATABLE,
    Process,
    read_folder,
)
from conformance.trace.whatif.search import Places, TriggerAt

TRIGGER, WAIT, EMPTY, TRIGGER_AFTER_WAIT = 1, 4, 64, 256  # PLAN_... of rewrite.h
_FLAGS = {TriggerAt.NOWHERE: WAIT, TriggerAt.BEFORE: WAIT | TRIGGER, TriggerAt.AFTER: WAIT | TRIGGER_AFTER_WAIT}
_OWN = KIT / "trace" / "whatif" / "injection"
# Kernels that wait for other devices or for kernels of other streams: parked blocks could keep away what they wait for.
_COMMUNICATES = re.compile(r"nccl|nvshmem|all_?reduce|all_?gather|reduce_?scatter|one_?shot|two_?shot|barrier|symm_?mem", re.IGNORECASE)
_REASON_FLAGS = (
    (ASKED_COOPERATIVE, "it is launched cooperatively"), (ASKED_EVENT, "its launch records a programmatic event"),
    (ASKED_COMPLETION_EVENT, "its launch records a launch-completion event"), (ASKED_UPDATABLE, "its node can be updated by the device"),
)


def library() -> Path:
    """The library, compiled if need be."""
    sources = [*sorted(session.SOURCES.glob("*.c")), *sorted(_OWN.glob("*.c"))]
    return rewriter.injection_library("libpdlwhatif.so", sources, "the library of whatif")


@dataclass
class Known:
    """A kernel, as the rewriter and the launches showed it."""

    name: str
    images: int = 0
    rewritten: int = 0
    waits: int = 0
    triggers: int = 0
    why: str = ""
    launches: int = 0
    flags: int = 0  # of all its launches together
    overlapping: int = 0  # launches that already ask


@dataclass
class Noted:
    """What one run noted."""

    processes: list[Process]
    kernels: dict[str, Known] = field(default_factory=dict)
    refused: int = 0


def read(folder: Path) -> Noted:
    """The records of one run."""
    noted = Noted(list(read_folder(folder)))
    for path in sorted(folder.glob("process-*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith('{"code":'):
                    entry = json.loads(line)
                    known = noted.kernels.setdefault(entry["code"], Known(entry["code"]))
                    known.images, known.rewritten = max(known.images, entry["images"]), max(known.rewritten, entry["rewritten"])
                    known.waits, known.triggers, known.why = entry["waits"], entry["triggers"], entry["why"]
                elif line.startswith('{"refused":'):
                    noted.refused += 1
    for process in noted.processes:
        for event in process.events:
            if event.operation == "launch" and event.code == 0 and event.kernel in process.kernels:
                _count(noted, process.kernels[event.kernel].name, event.flags)
        for graph in process.graphs.values():
            for node in graph.nodes:
                if node.kind == "kernel" and node.kernel in process.kernels:
                    _count(noted, process.kernels[node.kernel].name, node.flags)
    return noted


def _count(noted: Noted, name: str, flags: int) -> None:
    known = noted.kernels.setdefault(name, Known(name))
    known.launches += 1
    known.flags |= flags
    known.overlapping += bool(flags & ASKED_OVERLAP)


def why_left(known: Known, refused: int) -> str:
    """Why a kernel is left as it is; empty if it is not."""
    if _COMMUNICATES.search(known.name):
        return "it may wait for other kernels or devices, and parked blocks could keep those away"
    for flag, why in _REASON_FLAGS:
        if known.flags & flag:
            return why
    if known.waits:
        return "it waits already; a wait ahead of its own would only take its prologue away"
    if known.overlapping:
        return "it asks for overlap already"
    if refused:
        return "the driver refused a rewritten image, and it is not known which kernels stood in it"
    if not known.images:
        return "the image that it was loaded from was not seen"
    if known.rewritten < known.images or known.why:
        return f"it cannot be rewritten: {known.why or 'not in every image'}"
    return ""


@dataclass(frozen=True)
class Variant:
    """One way to run the program."""

    name: str
    plan: str | None  # None: nothing is rewritten


def original() -> Variant:
    """As it is."""
    return Variant("original", None)


def empty() -> Variant:
    """Rewritten with an empty prologue, to see what rewriting alone costs."""
    return Variant("empty", f"* {EMPTY} 0 0 0\n")


def with_waits(names: Iterable[str], trigger: bool) -> Variant:
    """These kernels wait at entry and are launched to overlap; with trigger they also trigger there, ahead of the wait."""
    return placed("trigger" if trigger else "pdl", dict.fromkeys(names, TriggerAt.BEFORE if trigger else TriggerAt.NOWHERE))


def placed(name: str, places: Places) -> Variant:
    """These kernels wait at entry and are launched to overlap, each with its trigger at its place."""
    lines = "".join(f"{kernel} {_FLAGS[place]} 0 0 0\n" for kernel, place in sorted(places.items()))
    return Variant(name, f"* 0 0 0 0\n{lines}")


def environment(variant: Variant, folder: Path, cupti: Path | None = None) -> dict[str, str]:
    """In which the variant runs; with CUPTI its kernels are timed one by one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = session.environment(folder, cupti, None, preloaded=library())
    found.pop("PDL_STRESS_PLAN", None)
    if variant.plan is not None:
        plan = folder / "plan"
        plan.write_text(variant.plan, encoding="utf-8")
        found["PDL_STRESS_PLAN"] = str(plan)
    return found
