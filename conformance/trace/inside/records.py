"""What kernels recorded of their warps: the ring of records that the library wrote, put together by launch and block."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median

_RECORD = struct.Struct("<QQIIIIQQQQ")  # struct warp_record of rewrite.h
_KERNEL_BITS = 12


@dataclass
class Block:
    """One block: its first warp's start, its last warp's exit; ns of the device's clock, 0 for what never happened."""

    start: int
    wait_begun: int
    wait_ended: int
    trigger: int  # of the first warp that triggers: it counts for the block
    exit: int
    multiprocessor: int
    entered: int = 0  # when the first warp was through the code that records its start
    warps: int = 1
    warps_expected: int = 1
    seen: int = 1  # a bit for each warp
    unfinished: bool = False  # a warp without an exit


@dataclass
class Launch:
    """One launch of a kernel, or one replay of a graph's node, as far as its records were kept. Its times are asked for again and
    again, once all blocks are there."""

    name: str
    grid: int
    blocks_expected: int
    blocks: dict[int, Block] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether no record of it was taken by a later launch."""
        return len(self.blocks) == self.blocks_expected and all(
            block.warps == block.warps_expected and not block.unfinished for block in self.blocks.values())

    @cached_property
    def start(self) -> int:
        return min(block.start for block in self.blocks.values())

    @cached_property
    def end(self) -> int:
        return max(block.exit for block in self.blocks.values())

    @cached_property
    def waits(self) -> bool:
        return any(block.wait_ended for block in self.blocks.values())

    @cached_property
    def triggers(self) -> bool:
        return any(block.trigger for block in self.blocks.values())

    @cached_property
    def typical_wait(self) -> tuple[int, int]:
        """Begin and end of a typical block's wait; 0 if it does not wait."""
        waiting = [block for block in self.blocks.values() if block.wait_begun and block.wait_ended]
        if not waiting:
            return 0, 0
        return int(median(block.wait_begun for block in waiting)), int(median(block.wait_ended for block in waiting))

    @cached_property
    def released(self) -> int:
        """When its dependents may start: the last block's trigger, or its exit where it does not trigger."""
        return max(block.trigger or block.exit for block in self.blocks.values())

    @cached_property
    def wait_ended(self) -> int:
        """When its first wait ended; 0 if it does not wait."""
        return min((block.wait_ended for block in self.blocks.values() if block.wait_ended), default=0)


@dataclass
class Recorded:
    """What one process recorded."""

    launches: list[Launch] = field(default_factory=list)  # complete ones, by start
    partial: int = 0  # launches of which only a part was kept
    warps: int = 0    # that began a record
    dropped: int = 0  # of those, warps whose record was taken by a later one
    refused: dict[str, str] = field(default_factory=dict)  # kernel -> why it could not be made to record
    registers: dict[str, tuple[int, int]] = field(default_factory=dict)  # kernel -> before, now
    troubles: list[str] = field(default_factory=list)


def _earlier(one: int, other: int) -> int:
    return min(one, other) if one and other else one or other


def _add(launch: Launch, row: tuple[int, ...]) -> bool:
    """False if the launch has a record of this warp already."""
    start, _, number, held, _, place, begun, ended, trigger, ended_warp = row
    warps, seen, entered = place >> 16 & 0xFF, 1 << (place >> 24), start + (held >> _KERNEL_BITS)
    block = launch.blocks.get(number)
    if block is None:
        launch.blocks[number] = Block(start, begun, ended, trigger, ended_warp, place & 0xFFFF, entered, 1, warps, seen, not ended_warp)
        return True
    if block.seen & seen:
        return False
    block.seen |= seen
    block.start, block.entered = min(block.start, start), min(block.entered, entered)
    block.wait_begun, block.trigger = _earlier(block.wait_begun, begun), _earlier(block.trigger, trigger)
    block.wait_ended, block.exit = max(block.wait_ended, ended), max(block.exit, ended_warp)
    block.warps += 1
    block.unfinished = block.unfinished or not ended_warp
    return True


def launches_of(rows: Iterable[tuple[int, ...]], names: dict[int, str]) -> Iterator[Launch]:
    """The launches in a ring, whose rows are in the order in which warps began, or against it. A node of a graph has the same number in
    each replay. Replays of one graph follow each other, so a warp's second record begins the next one. This needs a whole launch at the
    beginning: what is left of one would be filled up with records of the next, and so on."""
    open_ones: dict[tuple[int, int], Launch] = {}
    for row in rows:
        number = row[3] & (1 << _KERNEL_BITS) - 1
        if row[0] == 0 or number not in names:
            continue
        key = (number, row[1])
        launch = open_ones.get(key)
        if launch is None or not _add(launch, row):
            if launch is not None:
                yield launch
            open_ones[key] = launch = Launch(names[number], row[1], row[4])
            _add(launch, row)
    yield from open_ones.values()


def _ring(path: Path, recorded: Recorded) -> Iterable[tuple[int, ...]]:
    """The rows in the order in which warps began; the newest first where the oldest were lost, because those of the newest launches
    are all there. Ahead of the first stands how many have begun."""
    data = path.read_bytes() if path.is_file() else b""
    rows: list[tuple[int, ...]] = list(_RECORD.iter_unpack(data[_RECORD.size : len(data) // _RECORD.size * _RECORD.size]))
    if not rows:
        return ()
    recorded.warps = int.from_bytes(data[:8], "little")
    recorded.dropped = max(0, recorded.warps - len(rows))
    if not recorded.dropped:
        return rows
    oldest = recorded.warps % len(rows)
    return reversed(rows[oldest:] + rows[:oldest])


def _note(recorded: Recorded, names: dict[int, str], entry: dict[str, object]) -> None:
    name = str(entry.get("name", ""))
    if entry["inside"] == "number":
        names[int(str(entry["number"]))] = name
    elif entry["inside"] == "kernel":
        before, now = entry["registers"] if isinstance(entry["registers"], list) else (0, 0)
        recorded.registers[name] = (before, now)
        if entry["why"] or entry["rewritten"] != entry["images"] or not entry["images"]:
            recorded.refused[name] = str(entry["why"]) or (
                "there was no memory to record to where it was loaded: in another context, or after the records' own had ended"
                if entry["images"] else "the image that it was loaded from was not seen")
    elif entry["inside"] == "refused":
        recorded.troubles.append(f"the driver refused a rewritten image with error {entry['code']}; it was given the original")
    elif entry["inside"] == "lost":
        recorded.troubles.append(str(entry["why"]))


def read_process(path: Path) -> Recorded:
    """Of one process, by its file of JSON lines; the ring lies next to it."""
    recorded, names, pid = Recorded(), dict[int, str](), path.name.split("-")[1]
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith('{"inside":'):
                _note(recorded, names, json.loads(line))
    by_kernel: dict[bool, list[Launch]] = defaultdict(list)
    for launch in launches_of(_ring(path.with_name(f"inside-{pid}.records"), recorded), names):
        by_kernel[launch.complete].append(launch)
    recorded.launches, recorded.partial = sorted(by_kernel[True], key=lambda launch: launch.start), len(by_kernel[False])
    return recorded
