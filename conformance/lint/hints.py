"""Hints: nothing here is wrong by itself."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.lint.results import KernelResult, Place


def hints_of(result: KernelResult, overlapping: bool) -> Iterator[tuple[str, str, Place | None]]:
    """(rule, message, where) of each hint of a kernel; overlapping: it was named so."""
    hints = result.hints
    if result.waits and not result.triggers:
        yield "never-triggers", "waits, and never triggers", None
    if result.triggers and not result.waits and not overlapping:
        yield "trigger-without-wait", "triggers, and never waits", None
    if hints.wait_in_loop is not None:
        yield "wait-in-loop", "the wait stands in a loop", hints.wait_in_loop
    if hints.wait_at_once is not None:
        yield "wait-at-once", "waits before it has done anything", hints.wait_at_once
    if hints.read_only is not None:
        count, first = hints.read_only
        yield "read-only-load", f"{count} read-only load{'s' if count > 1 else ''} below the wait", first
    if hints.store_after_trigger is not None and not result.waits:  # else it is what the README tells people to write
        yield "store-after-trigger", "global memory is written after the trigger", hints.store_after_trigger
    if hints.fence_then_trigger is not None:
        yield "fence-then-trigger", "a fence, then the trigger: the trigger publishes nothing", hints.fence_then_trigger
