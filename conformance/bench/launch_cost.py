"""Times the launchers of libpdl-launch-cost.so, and those that only Python reaches, interleaved in one process.

    python3 -m conformance.bench.launch_cost LIBRARY [ROUNDS]

Each round runs every launcher twice, forwards and backwards from a place that moves on, so that no launcher always follows
the same one. Prints one JSON line per launcher: the median microseconds per launch, its median ratio to the raw call of its
kind, and that of pdl_launch to it, each with the 95 % interval of a median; then what could not be had. Standard library only.
Exit 0, 64 bad arguments, 70 a call failed, 77 no usable GPU.
"""

from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

LAUNCHES = 500  # fewer than the launch queue holds, so no launch waits for the device
RAW, RAW_PLAIN, OURS = "cudaLaunchKernelExC", "cudaLaunchKernelExC without overlap", "pdl_launch"
NO_LAUNCHER = (
    "CCCL's cuda::launch has no option for PDL (headers of CCCL 13.3 read)",
    "PyTorch has no PDL launcher of its own: Inductor's kernels are launched by Triton's; its eager launch is set beside them",
)


class CallFailed(Exception):
    """A launcher failed; the text says which call."""


@dataclass
class Launcher:
    """One way to launch the empty kernel; time gives microseconds per launch."""

    name: str
    overlap: bool
    peer: bool
    time: Callable[[], float]
    us: list[float] = field(default_factory=list)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median and the 95 % interval that order statistics give it."""
    ordered = sorted(values)
    half = 0.98 * math.sqrt(len(ordered))
    low = max(0, math.floor(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half))
    return median(ordered), ordered[low], ordered[high]


def of_library(path: Path) -> tuple[list[Launcher], list[str]]:
    """The library's launchers that work here, and what it lacks."""
    library = ctypes.CDLL(str(path))
    for call in ("cost_error", "cost_missing", "cost_name"):
        getattr(library, call).restype = ctypes.c_char_p
    begun = library.cost_begin()
    if begun == 77:
        raise SystemExit(77)
    if begun != 0:
        raise CallFailed(library.cost_error().decode())

    def timer(i: int) -> Callable[[], float]:
        us = ctypes.c_double()

        def time() -> float:
            if library.cost_time(i, LAUNCHES, ctypes.byref(us)) != 0:
                raise CallFailed(library.cost_error().decode())
            return us.value

        return time

    found, missing = [], [library.cost_missing().decode().strip()]
    for i in range(library.cost_count()):
        launcher = Launcher(library.cost_name(i).decode(), bool(library.cost_overlaps(i)), bool(library.cost_is_peer(i)), timer(i))
        try:
            launcher.time()
            found.append(launcher)
        except CallFailed as reason:
            if not launcher.peer:
                raise
            missing.append(f"{launcher.name}: {reason}")
    return found, [text for text in missing if text]


def of_python() -> tuple[list[Launcher], list[str]]:
    """Triton's and PyTorch's launchers, if this interpreter has them."""
    try:
        from conformance.bench.python_launch import timers
    except ImportError as reason:
        return [], [f"Triton's and PyTorch's launch paths: {reason}"]
    found, missing = timers()
    return [Launcher(name, overlap, True, time) for name, overlap, time in found], missing


def measure(launchers: Sequence[Launcher], rounds: int) -> None:
    """Fill us of every launcher with one value per round."""
    count = len(launchers)
    for r in range(-2, rounds):
        order = [(r + k) % count for k in range(count)]
        sums = [0.0] * count
        for i in [*order, *reversed(order)]:
            sums[i] += launchers[i].time()
        if r >= 0:
            for launcher, total in zip(launchers, sums, strict=True):
                launcher.us.append(total / 2)


def _ratio(over: Launcher, under: Launcher) -> dict[str, float]:
    middle, low, high = interval([a / b for a, b in zip(over.us, under.us, strict=True)])
    return {"median": round(middle, 5), "low95": round(low, 5), "high95": round(high, 5)}


def records(launchers: Sequence[Launcher], missing: Sequence[str]) -> list[dict[str, object]]:
    """What is printed: one record per launcher, and one that says what is missing here."""
    by_name = {launcher.name: launcher for launcher in launchers}
    rows: list[dict[str, object]] = []
    for launcher in launchers:
        middle, low, high = interval(launcher.us)
        row: dict[str, object] = {
            "launcher": launcher.name, "overlap": launcher.overlap, "peer": launcher.peer, "rounds": len(launcher.us),
            "us": round(middle, 4), "us_low95": round(low, 4), "us_high95": round(high, 4),
            "to_raw": _ratio(launcher, by_name[RAW if launcher.overlap else RAW_PLAIN]),
        }
        if launcher.overlap:
            row["pdl_launch_to_it"] = _ratio(by_name[OURS], launcher)
        rows.append(row)
    return [*rows, {"not_measured": [*missing, *NO_LAUNCHER]}]


def main(argv: Sequence[str]) -> int:
    if not argv or (len(argv) > 1 and not argv[1].isdigit()):
        print("usage: launch_cost LIBRARY [ROUNDS]", file=sys.stderr)
        return 64
    try:
        launchers, missing = of_library(Path(argv[0]).resolve())
        others, absent = of_python()
        launchers += others
        measure(launchers, int(argv[1]) if len(argv) > 1 else 200)
    except CallFailed as reason:
        print(f"launch_cost: {reason}", file=sys.stderr)
        return 70
    for record in records(launchers, [*missing, *absent]):
        print(json.dumps(record))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
