"""Builds extension.cu for the GPU that is here, runs a chain of its operator, and compares it with PyTorch's own operators.

    python3 run.py

Exit code: 0 right, 1 wrong values, 77 no PyTorch or no GPU that can overlap kernels.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STEPS = 20
SKIPPED = 77


def build(torch: Any) -> None:
    """Compile and load the operator. The architecture is named: what is built for less than compute_90 cannot overlap."""
    major, minor = torch.cuda.get_device_capability()
    arch = f"{major}{minor}"
    importlib.import_module("torch.utils.cpp_extension").load(
        name="pdl_example", sources=[str(HERE / "extension.cu")], extra_include_paths=[str(HERE.parents[1])],
        extra_cuda_cflags=["-O3", "-gencode", f"arch=compute_{arch},code=sm_{arch}"], is_python_module=False)


def chain(torch: Any, x: Any, overlap: bool) -> Any:
    """Dependent steps; each kernel may start while the one before it still runs."""
    for step in range(STEPS):
        x = torch.ops.pdl_example.scale_shift(x, 0.5, float(step), overlap)
    return x


def captured(torch: Any, x: Any, overlap: bool) -> Any:
    """The same chain in a CUDA graph, where the launches of Python do not count; returns its output after one replay."""
    graph = torch.cuda.CUDAGraph()
    chain(torch, x, overlap)  # every kernel is loaded before the capture
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = chain(torch, x, overlap)
    graph.replay()
    torch.cuda.synchronize()
    return out


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
    wrong = sum(int((run(torch, x, True) != expected).sum()) for run in (chain, captured))
    print(f"19_pytorch_extension: {wrong} words wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
