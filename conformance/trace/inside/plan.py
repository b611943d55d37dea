"""Which kernels can record their times without running differently: the occupancy must stay the same for every launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.trace.records import Device
from conformance.trace.room import Blocks, resident
from conformance.trace.timeline import Run, Timeline

RECORD = 128  # PLAN_RECORD of rewrite.h
LEFT_OUT = {"waits": 512, "triggers": 1024, "exits": 2048}  # PLAN_NO_..._TIMES
SPILL = 4096  # PLAN_SPILL
_ADDED, _AT_ENTRY = 6, 20  # registers: above the kernel's own; of the code at entry


def registers_with_record(had: int, spilled: bool = False) -> int:
    """What a kernel of so many registers gets when it records; the rewriter computes the same."""
    used = max(had, _AT_ENTRY)
    return used if spilled else (used + 1) // 2 * 2 + _ADDED


def _blocks(run: Run, registers: int) -> Blocks:
    return Blocks(run.grid, run.block, registers, run.kernel.static_shared or 0, run.dynamic_shared, run.carveout)


def flags_for(device: Device | None, run: Run) -> int | str:
    """How a kernel can record so that as many of its blocks fit as before; else why it cannot."""
    had = run.kernel.registers
    if device is None or had is None:
        return "the driver did not say how many registers it or the device has"
    before = resident(device, _blocks(run, had))
    if not before:
        return "what the device has room for is not known"
    if resident(device, _blocks(run, registers_with_record(had))) == before:
        return RECORD
    after = resident(device, _blocks(run, registers_with_record(had, spilled=True)))
    return RECORD | SPILL if after == before else \
        f"with the registers for recording {after} instead of {before} of its blocks fit on a multiprocessor"


def choose(timelines: Iterable[Timeline]) -> tuple[dict[str, int], dict[str, str]]:
    """The kernels that are to record, each with its flags, and those that are not with the reason."""
    chosen, refused = dict[str, int](), dict[str, str]()
    seen: dict[tuple[object, ...], int | str] = {}
    for timeline in timelines:
        for run in timeline.runs:
            key = (run.name, run.block, run.dynamic_shared, run.carveout, run.device, run.kernel.registers)
            if key not in seen:
                found = seen[key] = flags_for(timeline.process.devices.get(run.device), run)
                if isinstance(found, int):
                    chosen[run.name] = chosen.get(run.name, 0) | found
                else:
                    refused.setdefault(run.name, found)
    return {name: flags for name, flags in chosen.items() if name not in refused}, refused


def text(kernels: Mapping[str, int], without: Iterable[str] = ()) -> str:
    """The plan file, from flags by kernel; `without`: kinds of places that are not recorded."""
    more = sum(LEFT_OUT[kind] for kind in set(without))
    return "* 0 0 0 0\n" + "".join(f"{name} {flags | more} 0 0 0\n" for name, flags in sorted(kernels.items()))
