"""Which kernels can record their times without running differently: the occupancy must stay the same for every launch."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.trace.records import Device
from conformance.trace.room import Blocks, resident
from conformance.trace.timeline import Run, Timeline

RECORD = 128  # PLAN_RECORD of rewrite.h
LEFT_OUT = {"waits": 512, "triggers": 1024, "exits": 2048}  # PLAN_NO_..._TIMES
_ADDED, _AT_ENTRY = 6, 20  # registers: above the kernel's own; of the code at entry


def registers_with_record(had: int) -> int:
    """What a kernel of so many registers gets when it records; the rewriter computes the same."""
    return (max(had, _AT_ENTRY) + 1) // 2 * 2 + _ADDED


def _blocks(run: Run, registers: int) -> Blocks:
    return Blocks(run.grid, run.block, registers, run.kernel.static_shared or 0, run.dynamic_shared, run.carveout)


def why_not(device: Device | None, run: Run) -> str:
    """Why this launch would run differently; empty if it would not."""
    had = run.kernel.registers
    if device is None or had is None:
        return "the driver did not say how many registers it or the device has"
    before, after = resident(device, _blocks(run, had)), resident(device, _blocks(run, registers_with_record(had)))
    if not before:
        return "what the device has room for is not known"
    if before != after:
        return f"with the registers for recording {after} instead of {before} of its blocks fit on a multiprocessor"
    return ""


def choose(timelines: Iterable[Timeline]) -> tuple[set[str], dict[str, str]]:
    """The kernels that are to record, and those that are not with the reason."""
    names, refused = set[str](), dict[str, str]()
    seen: dict[tuple[object, ...], str] = {}
    for timeline in timelines:
        for run in timeline.runs:
            key = (run.name, run.block, run.dynamic_shared, run.carveout, run.device, run.kernel.registers)
            if key not in seen:
                seen[key] = why_not(timeline.process.devices.get(run.device), run)
            names.add(run.name)
            if seen[key]:
                refused.setdefault(run.name, seen[key])
    return names - refused.keys(), refused


def text(names: Iterable[str], without: Iterable[str] = ()) -> str:
    """The plan file; `without`: kinds of places that are not recorded."""
    flags = RECORD + sum(LEFT_OUT[kind] for kind in set(without))
    return "* 0 0 0 0\n" + "".join(f"{name} {flags} 0 0 0\n" for name in sorted(names))
