"""Compiles a few usual Triton kernels to PTX for several architectures and shapes; needs Triton and no GPU.

    python3 triton_kernels.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def add(x, y, out, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    gdc_wait()
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)
    gdc_launch_dependents()


@triton.jit
def softmax(out, x, stride, n, SIZE: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, SIZE)
    value = tl.load(x + row * stride + column, column < n, other=float("-inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * stride + column, value / tl.sum(value, 0), column < n)


@triton.jit
def matmul(a, b, c, K, sa, sb, sc, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for k in range(0, K, DEPTH):
        total += tl.dot(tl.load(a + rows[:, None] * sa + (k + depth)[None, :]), tl.load(b + (k + depth)[:, None] * sb + columns[None, :]))
    tl.store(c + rows[:, None] * sc + columns[None, :], total.to(tl.float16))


def jobs(warps: int) -> list[tuple[object, dict[str, str], dict[str, int]]]:
    """Kernel, types, constants."""
    found: list[tuple[object, dict[str, str], dict[str, int]]] = []
    for kind in ("*fp32", "*fp16"):
        found.append((add, {"x": kind, "y": kind, "out": kind, "n": "i32"}, {"SIZE": 256 * warps}))
        found.append((softmax, {"out": "*fp32", "x": kind, "stride": "i32", "n": "i32"}, {"SIZE": 512 * warps}))
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "K": "i32", "sa": "i32", "sb": "i32", "sc": "i32"}
    return [*found, *((matmul, types, {"SIZE": 64, "DEPTH": depth}) for depth in (32, 64))]


def main() -> None:
    """One file per kernel, architecture and shape."""
    folder = Path(sys.argv[1])
    for cc in (90, 100, 120):
        for warps in (2, 4, 8):
            for number, (kernel, types, constants) in enumerate(jobs(warps)):
                source = ASTSource(kernel, {**types, **dict.fromkeys(constants, "constexpr")}, constants)
                made = triton.compile(source, target=GPUTarget("cuda", cc, 32), options={"num_warps": warps, "num_stages": 3})
                (folder / f"triton-{triton.__version__}-{cc}-{warps}-{number}.ptx").write_text(made.asm["ptx"])


if __name__ == "__main__":
    main()
