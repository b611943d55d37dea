"""What one run of the program inserts into which kernel, and the plan file that tells the injection library."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, PROTECT, TRIGGER, Settings

AFTER_TRIGGER, EMPTY = 32, 64  # a hold after the kernel's own triggers; code that does nothing: rewrite.h has the same numbers

# A dependent runs some 3 us after its primary's trigger. In a graph built by hand a third kernel, after one that never
# waits, may run early by a full edge, and later than that.
GRAPH_HOLD_NS, BUILT_HOLD_NS = 20_000, 60_000
LEAST_OF_HOLD = 0.75  # a held block's delay lies between this part of the hold and the hold
ONE_BY_ONE = 8
NOTHING = Settings(0, 0, 0, 0)


@dataclass(frozen=True)
class Plan:
    """Kernels to hold (with their own length), to protect by a wait at entry, to leave alone; all others only trigger,
    or, if `triggers` names some, only those and the held ones.

    The trigger is a hint and time is never promised, so no plan may change what a correct program computes.
    """

    seed: int = 0
    hold: frozenset[str] = frozenset()
    protect: frozenset[str] = frozenset()
    exempt: frozenset[str] = frozenset()
    triggers: frozenset[str] | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)  # ns per kernel; GRAPH_HOLD_NS if not named
    more: int = 0          # AFTER_WAIT, BEFORE_EXIT
    mixed: bool = False    # every block of every held kernel draws from 0 to the hold
    own: bool = False      # hold after the kernel's own triggers and force no others: its order stays, only slower
    plain: bool = False    # no code in any kernel
    off: bool = False      # code that does nothing in every kernel
    calibrate: bool = False
    live: bool = False     # the program reads the plan again when it changes

    def settings(self, kernel: str) -> Settings:
        """The flags and numbers of this kernel's line in the plan file."""
        if self.plain or kernel in self.exempt:
            return NOTHING
        if self.off:
            return Settings(EMPTY, 0, 0, self.seed)
        early = not self.own and (self.triggers is None or kernel in self.triggers or kernel in self.hold)
        flags = (TRIGGER if early else 0) | (PROTECT if kernel in self.protect else 0)
        if kernel not in self.hold:
            return Settings(flags, 0, 0, self.seed)
        length = self.lengths.get(kernel, GRAPH_HOLD_NS)
        if self.own:
            return Settings(flags | AFTER_TRIGGER, length, 0, self.seed)
        least = 0 if self.mixed else int(length * LEAST_OF_HOLD)
        return Settings(flags | HOLD | self.more, least, length - least, self.seed)

    def write(self, path: Path, kernels: Iterable[str]) -> None:
        """Write the plan file; kernels that are not known yet only trigger."""
        lines = ["calibrate"] * self.calibrate + ["live"] * self.live
        default = EMPTY if self.off else 0 if self.own or self.plain else TRIGGER
        lines.append(f"* {default} 0 0 1")
        for kernel in sorted(kernels):
            lines.append(" ".join(map(str, (kernel, *self.settings(kernel).words(kernel)))))
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draft.replace(path)


def more_holds(after_wait: bool, before_exit: bool) -> int:
    """The flags of the holds that are made only if asked for."""
    return (AFTER_WAIT if after_wait else 0) | (BEFORE_EXIT if before_exit else 0)


def separating_sets(kernels: list[str], seed: int) -> list[frozenset[str]]:
    """Sets to hold, so that for any two kernels some set has the first and not the second.

    A race shows if its primary is held and its dependent is not. A few kernels are held one by one, which also shows
    races that a hold of a third kernel would hide. Many are held in 2 log2(n) sets; the seed decides which share a set.
    """
    import random

    order = sorted(kernels)
    random.Random(seed).shuffle(order)
    if len(order) <= ONE_BY_ONE:
        return [frozenset([name]) for name in order]
    sets = []
    for bit in range((len(order) - 1).bit_length()):
        ones = frozenset(name for number, name in enumerate(order) if number >> bit & 1)
        sets += [ones, frozenset(order) - ones]
    return sets
