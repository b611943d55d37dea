"""Does QuACK's GEMM over sequences of different lengths see the offsets that the kernel before it writes?

    pip install torch cupy-cuda13x quack-kernels
    python3 quack_varlen.py

The kernel before it triggers first, works for 0 or 200 us and then writes the offsets. The product is compared with the one of the
same offsets when the stream is drained in between. The twin has a memset between the two, which rules overlap out.
Exit code: 0 every product is right; 1 one was wrong; 69 the program could not run.
"""

from __future__ import annotations

import sys

RUNS, GROUPS, ROWS, WIDTH, DEPTH, LATE_NS = 50, 8, 4096, 512, 512, 200_000
WAYS = (("natural", 0, False), ("window of 200 us", LATE_NS, False), ("twin without overlap", LATE_NS, True))
SOURCE = r"""
extern "C" __global__ void write_offsets(int *to, const int *from, int count, unsigned late_ns)
{
    unsigned long long begin, now;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory"); while (now - begin < late_ns);
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
    offsets = even.clone()  # the other set lies there from the run before
    between = torch.zeros(1, device="cuda", dtype=torch.uint8)

    def product(fresh: torch.Tensor, late_ns: int, apart: bool, drained: bool = False) -> torch.Tensor:
        out = torch.zeros(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16)
        stream = torch.cuda.current_stream().cuda_stream
        arguments = (offsets.data_ptr(), fresh.data_ptr(), numpy.int32(GROUPS + 1), numpy.uint32(late_ns))
        with cupy.cuda.ExternalStream(stream):
            write_offsets((1,), (32,), arguments)
        if apart:
            cupy.cuda.runtime.memsetAsync(between.data_ptr(), 0, 1, stream)
        if drained:
            torch.cuda.synchronize()
        gemm(rows, weights, out=out, cu_seqlens_m=offsets, tuned=False)
        torch.cuda.synchronize()
        return out

    expected = [product(fresh, 0, True, drained=True) for fresh in (even, odd)]  # the first turn compiles and loads the kernels
    total = 0
    for name, late_ns, apart in WAYS:
        wrong = sum(not torch.equal(product((even, odd)[run % 2], late_ns, apart), expected[run % 2]) for run in range(RUNS))
        print(f"{name}: {wrong} of {RUNS} products wrong")
        total += wrong
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
