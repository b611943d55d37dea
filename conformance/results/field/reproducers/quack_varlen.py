"""Does QuACK's GEMM over sequences of different lengths see the offsets that the kernel before it writes?

    pip install torch cupy-cuda13x quack-kernels
    python3 quack_varlen.py

The kernel before it triggers first, works for 20 us and then writes the offsets. The product is compared with the one of the same
offsets when the stream is drained in between. Exit code: 0 all equal; 1 one differs; 69 the program could not run.
"""

from __future__ import annotations

import sys

RUNS, GROUPS, ROWS, WIDTH, DEPTH = 50, 8, 4096, 512, 512
SOURCE = r"""
extern "C" __global__ void write_offsets(int *to, const int *from, int count)
{
    unsigned long long begin, now;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory"); while (now - begin < 20000);
    if (threadIdx.x < count) to[threadIdx.x] = from[threadIdx.x];
}
"""


def main() -> int:
    """Count the products that differ."""
    try:
        import cupy
        import numpy
        import torch
        from quack.gemm_interface import gemm  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        print(f"quack_varlen.py: {error}", file=sys.stderr)
        return 69
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] < 9:
        print("quack_varlen.py: needs a GPU of compute capability 9.0 or newer", file=sys.stderr)
        return 69
    write_offsets = cupy.RawKernel(SOURCE, "write_offsets")
    rows = torch.randn(ROWS, DEPTH, device="cuda", dtype=torch.bfloat16)
    weights = torch.randn(GROUPS, DEPTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    even = torch.arange(0, ROWS + 1, ROWS // GROUPS, device="cuda", dtype=torch.int32)
    odd = torch.cat((even[:1], even[1:-1] + ROWS // GROUPS // 2, even[-1:]))
    offsets = even.clone()

    def product(fresh: torch.Tensor, drained: bool) -> torch.Tensor:
        out = torch.zeros(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16)
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            write_offsets((1,), (32,), (offsets.data_ptr(), fresh.data_ptr(), numpy.int32(GROUPS + 1)))
        if drained:
            torch.cuda.synchronize()
        gemm(rows, weights, out=out, cu_seqlens_m=offsets, tuned=False)
        return out

    wrong = 0
    for run in range(-1, RUNS):  # the first turn compiles and loads the kernels
        fresh = odd if run % 2 else even
        got = product(fresh, drained=False)
        torch.cuda.synchronize()
        expected = product(fresh, drained=True)
        wrong += run >= 0 and not torch.equal(got, expected)
        torch.cuda.synchronize()
        offsets.copy_(even if run % 2 else odd)  # what a product that comes too early would read
        torch.cuda.synchronize()
    print(f"{wrong} of {RUNS} products differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
