"""What the analysis says of each kernel of an image: its JSON, read into types."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

# Where a part of an address comes from: ("param", offset), ("symbol", name), ("window", "local" | "shared" | "constant"),
# ("bank", n), or ("via", origin): loaded through an address with that origin
Origin = tuple[Any, ...]

READS = frozenset({"LOAD", "ASYNC_LOAD", "TEXTURE", "GENERIC_LOAD"})


_TOOLKIT_HEADER = re.compile(r"/(targets/[^/]+|cuda(-[\d.]+)?|cuda_(runtime|nvcc|cccl)|cu\d\d)/include/|"
                             r"/include/(crt|cccl|cub|thrust|cuda|cooperative_groups)/")


@dataclass(frozen=True, slots=True)
class Place:
    """One instruction."""

    section: str
    offset: int
    instruction: str
    lines: tuple[tuple[str, int], ...] = ()  # in the source, innermost first: the others are where it was inlined

    @property
    def source(self) -> tuple[str, int] | None:
        """The innermost line outside the toolkit's headers, else the innermost; None without line information."""
        return self.lines[self.headers] if self.lines else None

    @property
    def headers(self) -> int:
        """How many lines lead through the toolkit's headers, ahead of the first one that does not."""
        return next((i for i, (file, _) in enumerate(self.lines) if not _TOOLKIT_HEADER.search(file)), 0)

    @property
    def inlined_at(self) -> tuple[tuple[str, int], ...]:
        """The lines into which that one was inlined."""
        return self.lines[self.headers + 1 :]


@dataclass(frozen=True, slots=True)
class Access:
    """An instruction that some path reaches without a wait."""

    place: Place
    kind: str  # as in analysis/analysis.h, without KIND_
    readonly: bool
    states: frozenset[str]  # how far those paths are: enum progress in analysis/analysis.h
    origins: frozenset[Origin]
    callers: tuple[str, ...]  # sections from which its function was called
    reaches_wait: bool
    used: Place | None  # after a wait, where what it loaded is used first
    passed: Place | None  # the branch, or guarded wait, at which a path to here went past the wait
    decided: frozenset[str]  # as states, if the deciding parameters say that the kernel waits; empty: not reached then


@dataclass(frozen=True, slots=True)
class Deciders:
    """Parameters that alone decide whether the kernel waits at all."""

    offsets: tuple[int, ...]  # of the bytes that are asked, in the parameters
    place: Place  # of the first branch that asks


@dataclass(frozen=True, slots=True)
class Hints:
    """Places that are worth a hint."""

    wait_in_loop: Place | None = None
    wait_at_once: Place | None = None
    read_only: tuple[int, Place] | None = None  # how many, and the first
    store_after_trigger: Place | None = None
    fence_then_trigger: Place | None = None


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One kernel. Accesses and the like are in the order of their places."""

    kernel: str
    waits: bool = False
    triggers: bool = False
    imprecise: bool = False  # too many paths: some were merged, so a finding may be about a path that cannot be taken
    accesses: tuple[Access, ...] = ()
    prefetches: tuple[Place, ...] = ()
    unknown: tuple[tuple[Place, str], ...] = ()  # with their opcodes
    unresolved: tuple[tuple[Place, str], ...] = ()  # calls before the wait, with what is called
    exit: Place | None = None  # the first without a wait
    end: Place | None = None  # the same, where no thread of the block waits
    early_triggers: tuple[Place, ...] = ()  # that a thread can reach before it has waited
    wait_places: tuple[Place, ...] = ()  # in the kernel's own code
    deciders: Deciders | None = None
    touched: int = 0  # instructions that can touch global memory
    unseen: tuple[tuple[Place, str], ...] = ()  # calls into code that is not in this file
    hints: Hints = field(default_factory=Hints)
    code: tuple[tuple[str, str], ...] = ()  # (opcode, kind) of all instructions, if asked for


def kernel_of(row: dict[str, Any]) -> KernelResult | None:
    """From one line of the program; None if the image has no code of this kernel. Any LookupError, TypeError or ValueError:
    the line is none of the program's."""
    if not row["present"]:
        return None
    origin_sets = [frozenset(map(_origin, origins)) for origins in row["origin_sets"]]
    return KernelResult(
        str(row["kernel"]), bool(row["waits"]), bool(row["triggers"]), bool(row["imprecise"]),
        tuple(sorted((_access(a, origin_sets) for a in row["accesses"]), key=lambda a: _order(a.place))),
        tuple(sorted(map(_place, row["prefetches"]), key=_order)), _named(row["unknown"], "opcode"),
        _named(row["unresolved"], "what"), _perhaps(row["exit"]), _perhaps(row["end"]),
        tuple(map(_place, row["early_triggers"])), tuple(map(_place, row["wait_places"])), _deciders(row["deciders"]), int(row["touched"]),
        _named(row["unseen"], "what"), _hints(row["hints"]), tuple((str(opcode), str(kind)) for opcode, kind in row.get("code", ())))


def _order(place: Place) -> tuple[str, int]:
    return place.section, place.offset


def _place(row: dict[str, Any]) -> Place:
    lines = tuple((str(file), int(line)) for file, line in row["source"] or ())
    return _shared(str(row["section"]), int(row["offset"]), str(row["instruction"]).strip(), lines)


@lru_cache(maxsize=4096)
def _shared(section: str, offset: int, instruction: str, lines: tuple[tuple[str, int], ...]) -> Place:
    """Many findings of a kernel name the same branch and the same wait."""
    return Place(section, offset, instruction, lines)


def _perhaps(row: dict[str, Any] | None) -> Place | None:
    return None if row is None else _place(row)


def _named(rows: list[dict[str, Any]], key: str) -> tuple[tuple[Place, str], ...]:
    found = [(_place(row["place"]), str(row[key])) for row in rows]
    return tuple(sorted(found, key=lambda pair: (*_order(pair[0]), pair[1])))


def _origin(value: list[Any]) -> Origin:
    kind, of = value
    return ("via", _origin(of)) if kind == "via" else (str(kind), of)


def _access(row: dict[str, Any], origin_sets: list[frozenset[Origin]]) -> Access:
    return Access(_place(row["place"]), str(row["kind"]), bool(row["readonly"]), frozenset(map(str, row["states"])),
                  origin_sets[row["origins"]], tuple(sorted(map(str, row["callers"]))), bool(row["reaches_wait"]),
                  _perhaps(row["used"]), _perhaps(row["passed"]), frozenset(map(str, row["decided_states"])))


def _deciders(row: dict[str, Any] | None) -> Deciders | None:
    return None if row is None else Deciders(tuple(sorted(map(int, row["offsets"]))), _place(row["place"]))


def _hints(row: dict[str, Any]) -> Hints:
    read_only = row["read_only"]
    return Hints(_perhaps(row["wait_in_loop"]), _perhaps(row["wait_at_once"]),
                 (int(read_only["count"]), _place(read_only["place"])) if read_only else None,
                 _perhaps(row["store_after_trigger"]), _perhaps(row["fence_then_trigger"]))
