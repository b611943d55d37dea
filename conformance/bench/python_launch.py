"""Launch paths that only Python reaches: Triton's, as a user calls it and below its argument handling, and PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch
import triton
import triton.language as tl

LAUNCHES = 100  # far slower than the others


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


def _triton_call(argument: torch.Tensor) -> Callable[[], object]:
    grid = (1,)
    return lambda: cost_empty[grid](argument, launch_pdl=True, num_warps=1)


def _triton_below(argument: torch.Tensor) -> Callable[[], object]:
    grid = (1, 1, 1)  # Triton reads all three
    launch = cost_empty[grid](argument, launch_pdl=True, num_warps=1)[grid]
    return lambda: launch(argument)


def _eager(argument: torch.Tensor) -> Callable[[], object]:
    return lambda: argument.add_(1)


def timers() -> tuple[list[tuple[str, bool, Callable[[], float]]], list[str]]:
    """Names, whether with overlap, and timers, each called once, which compiles; and why one is missing."""
    argument = torch.zeros(1, dtype=torch.int32, device="cuda")
    found, missing = [], []
    for name, overlap, make in (
        (f"Triton {triton.__version__}, kernel[grid](...)", True, _triton_call),
        (f"Triton {triton.__version__}, compiled[grid](...)", True, _triton_below),
        (f"PyTorch {torch.__version__}, x.add_(1)", False, _eager),
    ):
        try:
            time = _timer(make(argument))
            time()
            found.append((name, overlap, time))
        except Exception as reason:  # any error of a foreign package: then it is not measured, and the page says so
            missing.append(f"{name}: {type(reason).__name__}: {reason}")
    return found, missing
