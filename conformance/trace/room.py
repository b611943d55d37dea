"""Whether a dependent's blocks find room beside their primary: the rules of `pdl_overlap_estimate` in pdl.h, in Python.

A trace has the numbers of a launch, not the handles that pdl.h asks for. test_trace_room.py holds the two to one answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from conformance.trace.records import Device, Shape

BLOCK_SLOTS, THREADS, REGISTERS, SHARED, CARVEOUT = "block slots", "threads", "registers", "shared memory", "carve-out"
_LIMITS = (BLOCK_SLOTS, THREADS, REGISTERS, SHARED)
_SPLITS_KIB = (8, 16, 32, 64, 100, 132, 164, 196, 228)
_REGISTER_STEP = 8
_MOST_SHARED = 1 << 32  # an absurd request, so that no sum overflows where the same is computed in C
_Four = tuple[int, int, int, int]


@dataclass(frozen=True)
class Blocks:
    """One launch."""

    grid: Shape
    block: Shape
    registers: int
    static_shared: int
    dynamic_shared: int
    carveout: int = -1  # percent; -1: left to the driver


@dataclass(frozen=True)
class Room:
    """The estimate."""

    limit: str | None  # what stands in the way; None: nothing known
    primary_blocks: int  # on the least loaded multiprocessor when the primary's last block has started
    dependent_blocks: int  # that fit beside them
    waves: int  # rounds in which the primary's blocks run


@dataclass(frozen=True)
class _Side:
    block: _Four
    alone: int
    least: int
    split: int
    most: int


def _fit(sm: _Four, other: _Four, others: int, block: _Four) -> tuple[int, str | None]:
    best, limit = 1 << 62, None
    for total, taken, needed, name in zip(sm, other, block, _LIMITS, strict=True):
        if needed and max(0, total - others * taken) // needed < best:
            best, limit = max(0, total - others * taken) // needed, name
    return best, limit


def _split(shared: int, wanted: int) -> int:
    """The split that has this much shared memory: there are few, and the next larger one is taken."""
    return min(next((kib * 1024 for kib in _SPLITS_KIB if kib * 1024 >= wanted), shared), shared)


def _measured(device: Device, launch: Blocks) -> _Side | None:
    threads = -(-launch.block[0] * launch.block[1] * launch.block[2] // device.warp) * device.warp
    shared = launch.static_shared + min(launch.dynamic_shared, _MOST_SHARED)
    registers = -(-launch.registers // _REGISTER_STEP) * _REGISTER_STEP
    block = (1, threads, threads * registers, shared + device.reserved_shared)
    sm = (device.block_slots, device.threads, device.registers, device.shared)
    alone, _ = _fit(sm, sm, 0, block)
    one, every = _split(device.shared, block[3]), _split(device.shared, block[3] * alone)
    least, most = every, device.shared
    split = _split(device.shared, every + 1 if shared else 4096 * min(alone, 8))
    if launch.carveout >= 0:
        asked = device.shared * launch.carveout // 100
        least = max(min(_split(device.shared, asked), every), one)
        asked = _split(device.shared, asked * block[3] // shared if shared else asked)
        most = split if shared == 0 and asked < split else max(asked, one)
        split = most
    alone, _ = _fit((sm[0], sm[1], sm[2], split), sm, 0, block)
    return _Side(block, alone, least, split, most) if alone else None


def resident(device: Device, launch: Blocks) -> int:
    """Blocks of a launch that fit on one multiprocessor; 0 if none does or the device is not described."""
    side = _measured(device, launch) if device.sms and device.shared else None
    return side.alone if side else 0


@lru_cache(maxsize=4096)
def estimate(device: Device, primary: Blocks, dependent: Blocks) -> Room | None:
    """None if the device is not described, or one of the two fits nowhere."""
    if not device.sms or not device.shared:
        return None
    first, second = _measured(device, primary), _measured(device, dependent)
    if first is None or second is None:
        return None
    blocks = primary.grid[0] * primary.grid[1] * primary.grid[2]
    wave = device.sms * first.alone
    last = (blocks - 1) % wave + 1
    there = last // device.sms if blocks <= wave else first.alone - min(first.alone, wave - last)
    sm = (device.block_slots, device.threads, device.registers, device.shared)
    fit, limit = _fit(sm, first.block, there, second.block)
    if fit:
        limit = None
    if fit and there:  # an idle multiprocessor takes any split
        fit, _ = _fit((sm[0], sm[1], sm[2], first.split), first.block, there, second.block)
        if not second.least <= first.split <= second.most:
            fit = 0
        limit = None if fit else CARVEOUT
    return Room(limit, there, fit, (blocks - 1) // wave + 1)
