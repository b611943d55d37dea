"""A chain of small Triton kernels under a CUDA graph, plain or with PDL: `triton_chain.py plain|pdl`. Prints a digest."""

from __future__ import annotations

import hashlib
import sys

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

ROWS, WIDTH, KERNELS, REPLAYS, ROUNDS = 32, 4096, 40, 10, 20


@triton.jit
def norm(out, x, width: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        gdc_launch_dependents()
        gdc_wait()
    at = tl.program_id(0) * width + tl.arange(0, width)
    value = tl.load(x + at)
    tl.store(out + at, value * tl.rsqrt(tl.sum(value * value, 0) / width + 1e-6))


@triton.jit
def add(out, x, y, width: tl.constexpr, pdl: tl.constexpr):
    if pdl:
        gdc_launch_dependents()
        gdc_wait()
    at = tl.program_id(0) * width + tl.arange(0, width)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))


def main() -> None:
    """Capture the chain, replay it, and print what came out."""
    pdl = sys.argv[1:] == ["pdl"]
    more = {"launch_pdl": True} if pdl else {}
    torch.manual_seed(0)
    x, y, z = (torch.randn(ROWS, WIDTH, device="cuda") for _ in range(3))

    def chain() -> None:
        for _ in range(KERNELS // 2):
            norm[(ROWS,)](y, x, WIDTH, pdl, num_warps=4, **more)
            add[(ROWS,)](x, y, z, WIDTH, pdl, num_warps=4, **more)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        chain()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chain()
    for _ in range(ROUNDS):
        for _ in range(REPLAYS):
            graph.replay()
        torch.cuda.current_stream().synchronize()
    print(hashlib.sha256(x.cpu().numpy().tobytes()).hexdigest()[:16])


if __name__ == "__main__":
    main()
