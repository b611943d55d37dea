"""Triton's launch paths, timed like the others: the call a user writes, and its launcher below the argument handling."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch
import triton
import triton.language as tl

LAUNCHES = 100  # slower than the others by far


@triton.jit
def cost_empty(unused):  # type: ignore[no-untyped-def]
    tl.extra.cuda.gdc_launch_dependents()
    tl.extra.cuda.gdc_wait()


def _timer(launch: Callable[[], object]) -> Callable[[], float]:
    def time() -> float:
        torch.cuda.synchronize()
        begin = perf_counter()
        for _ in range(LAUNCHES):
            launch()
        return (perf_counter() - begin) * 1e6 / LAUNCHES

    return time


def timers() -> list[tuple[str, Callable[[], float]]]:
    """Names and timers; the first call of each compiles."""
    argument = torch.zeros(1, dtype=torch.int32, device="cuda")
    grid = (1, 1, 1)  # below the argument handling all three are looked at
    compiled = cost_empty[grid](argument, launch_pdl=True, num_warps=1)
    below = compiled[grid]
    pairs: list[tuple[str, Callable[[], object]]] = [
        (f"Triton {triton.__version__}, kernel[grid](...)", lambda: cost_empty[grid](argument, launch_pdl=True, num_warps=1)),
        (f"Triton {triton.__version__}, compiled[grid](...)", lambda: below(argument)),
    ]
    found = [(name, _timer(launch)) for name, launch in pairs]
    for _, time in found:
        time()
    return found
