"""Builds extension.cu for the GPU that is here, compares a chain of its operator with PyTorch's own operators, and times it in a graph.

    python3 run.py

The compiler needs about half a minute for PyTorch's headers. Exit code: 0 right, 1 wrong values, 77 no PyTorch or no GPU that can
overlap kernels.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STEPS, REPEATS = 20, 101
SKIPPED = 77


def build(torch: Any) -> None:
    """Compile and load the operator. The architecture is named: what is built for less than compute_90 cannot overlap.

    In a new folder: in the usual one, a build that was ended leaves a lock behind, and the next waits for it without end.
    """
    major, minor = torch.cuda.get_device_capability()
    arch = f"{major}{minor}"
    with tempfile.TemporaryDirectory() as folder:
        importlib.import_module("torch.utils.cpp_extension").load(
            name="pdl_example", sources=[str(HERE / "extension.cu")], extra_include_paths=[str(HERE.parents[1])],
            extra_cuda_cflags=["-O3", "-gencode", f"arch=compute_{arch},code=sm_{arch}"], build_directory=folder,
            is_python_module=False)


def chain(torch: Any, x: Any, overlap: bool) -> Any:
    """Dependent steps; each kernel may start while the one before it still runs."""
    for step in range(STEPS):
        x = torch.ops.pdl_example.scale_shift(x, 0.5, float(step), overlap)
    return x


def captured(torch: Any, x: Any, overlap: bool) -> tuple[Any, Any]:
    """The same chain in a CUDA graph, where the launches of Python do not count; the graph, and its output after one replay."""
    graph = torch.cuda.CUDAGraph()
    chain(torch, x, overlap)  # every kernel is loaded before the capture
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = chain(torch, x, overlap)
    graph.replay()
    torch.cuda.synchronize()
    return graph, out


def medians(torch: Any, graphs: list[Any]) -> list[float]:
    """Microseconds per kernel of each graph; they take turns, each queued while the GPU is busy, so that Python's speed does not count."""
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(REPEATS):
        for graph, found in zip(graphs, times, strict=True):
            torch.cuda._sleep(1_000_000)  # clock ticks: about half a millisecond
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            found.append(begin.elapsed_time(end) * 1000 / STEPS)
    return [statistics.median(found) for found in times]


def main() -> int:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        print("skipped: PyTorch is not installed", file=sys.stderr)
        return SKIPPED
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0):
        print("skipped: no GPU here that can overlap kernels", file=sys.stderr)
        return SKIPPED
    build(torch)
    x = torch.arange(1 << 20, dtype=torch.float32, device="cuda") % 1024
    expected = x
    for step in range(STEPS):
        expected = expected * 0.5 + float(step)
    graphs, outputs = zip(*(captured(torch, x, overlap) for overlap in (False, True)), strict=True)
    wrong = sum(int((out != expected).sum()) for out in (chain(torch, x, True), *outputs))
    plain, pdl = medians(torch, list(graphs))
    print(f"19_pytorch_extension: plain {plain:.2f} us, PDL {pdl:.2f} us per kernel, gain {plain / pdl:.2f}x, {wrong} words wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
