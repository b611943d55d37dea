"""Hints: nothing here is wrong by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdlkit.lint.findings import Finding
from pdlkit.lint.flow import Flow
from pdlkit.lint.opcodes import ACCESSES, Kind, is_readonly

if TYPE_CHECKING:
    from pdlkit.lint.judge import Judge

_QUIET = 24  # a wait among the first so many instructions, with only constants and indices before it
_STORES = frozenset({Kind.STORE, Kind.GENERIC_STORE, Kind.ATOMIC, Kind.GENERIC_ATOMIC, Kind.ASYNC_STORE})


def _reachable(flow: Flow, start: int, first: int) -> list[int]:
    """Indices of notable instructions that can run after the one before `first` in block `start`."""
    seen: set[int] = set()
    found = [i for i in flow.notable_in(flow.blocks[start]) if i >= first]
    work = flow.blocks[start].successors()
    while work:
        number = work.pop()
        if number in seen:
            continue
        seen.add(number)
        found += flow.notable_in(flow.blocks[number])
        work += flow.blocks[number].successors()
    return found


def _block_of(flow: Flow, index: int) -> int:
    return next(n for n, b in enumerate(flow.blocks) if b.start <= index < b.end)


def hints_of(judge: Judge, waits: bool) -> list[Finding]:
    """Adds the hints of a kernel through judge.add, looking at the kernel's own section."""
    flow = judge.program.flow(judge.kernel)
    if flow is None:
        return []
    before = len(judge.findings)
    wait_places = [i for i in flow.notable if flow.kinds[i] is Kind.WAIT]
    triggers = [i for i in flow.notable if flow.kinds[i] is Kind.TRIGGER]
    trigger_anywhere = bool(triggers) or judge.program.closure_has(judge.kernel, Kind.TRIGGER)
    if waits and not trigger_anywhere:
        judge.add("never-triggers", "waits, and never triggers")
    if trigger_anywhere and not waits and not judge.overlapping:
        judge.add("trigger-without-wait", "triggers, and never waits")
    if wait_places:
        _wait_hints(judge, flow, wait_places)
    if triggers:
        _trigger_hints(judge, flow, triggers)
    added = judge.findings[before:]
    del judge.findings[before:]
    return added


def _wait_hints(judge: Judge, flow: Flow, waits: list[int]) -> None:
    flow.mark_loops()
    for index in waits:
        if flow.blocks[_block_of(flow, index)].in_loop:
            judge.add("wait-in-loop", "the wait stands in a loop", judge.kernel, index)
            break
    first = min(waits)
    ahead = [i for i in flow.notable if i < first]
    if first < _QUIET and not ahead and _block_of(flow, first) == 0:
        judge.add("wait-at-once", "waits before it has done anything", judge.kernel, first)
    behind = [i for i in _reachable(flow, _block_of(flow, first), first) if is_readonly(flow.function.opcodes[i])]
    if behind:
        judge.add("read-only-load", f"{len(behind)} read-only load{'s' if len(behind) > 1 else ''} below the wait",
                  judge.kernel, min(behind))


def _trigger_hints(judge: Judge, flow: Flow, triggers: list[int]) -> None:
    first = min(triggers)
    after = _reachable(flow, _block_of(flow, first), first + 1)
    stores = [i for i in after if flow.kinds[i] in _STORES]
    if stores:
        judge.add("store-after-trigger", "global memory is written after the trigger", judge.kernel, min(stores))
    for index in triggers:
        ahead = [i for i in flow.notable if i < index][-6:]
        fences = [i for i in ahead if flow.kinds[i] is Kind.FENCE]
        if fences and not any(flow.kinds[i] in ACCESSES for i in ahead if i > fences[-1]):
            judge.add("fence-then-trigger", "a fence, then the trigger: the trigger publishes nothing", judge.kernel, index)
            break
