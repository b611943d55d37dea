"""Does FlashMLA's dense decoding on Hopper see the queries that the kernel before it writes?

    pip install torch cupy-cuda13x tokenspeed-flashmla    # any build of flash_mla from sources of 2026-01-16 or later
    python3 flash_mla.py

The kernel before it triggers first, works for 20 us and then writes the queries. The result is compared with the one of the same
queries when the stream is drained in between. Exit code: 0 all equal; 1 one differs; 69 the program could not run.
"""

from __future__ import annotations

import sys

RUNS, BATCH, HEADS, DIM, DIM_V, PAGE, PAGES = 50, 8, 128, 576, 512, 64, 16
SOURCE = r"""
extern "C" __global__ void write_queries(unsigned *to, const unsigned *from, int words)
{
    unsigned long long begin, now;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory"); while (now - begin < 20000);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) to[i] = from[i];
}
"""


def main() -> int:
    """Count the results that differ."""
    try:
        import cupy
        import flash_mla  # type: ignore[import-not-found, unused-ignore]
        import numpy
        import torch
    except ImportError as error:
        print(f"flash_mla.py: {error}", file=sys.stderr)
        return 69
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("flash_mla.py: needs a GPU of compute capability 9.0", file=sys.stderr)
        return 69
    write_queries = cupy.RawKernel(SOURCE, "write_queries")
    on = {"device": "cuda", "dtype": torch.bfloat16}
    caches = torch.randn(BATCH * PAGES, PAGE, 1, DIM, **on)
    table = torch.arange(BATCH * PAGES, device="cuda", dtype=torch.int32).view(BATCH, PAGES)
    lengths = torch.full((BATCH,), PAGE * PAGES, device="cuda", dtype=torch.int32)
    queries = torch.zeros(BATCH, 1, HEADS, DIM, **on)
    plan, _ = flash_mla.get_mla_metadata()  # made by the first call, used again by the others, as a model does for its layers

    def decoded(fresh: torch.Tensor, drained: bool) -> torch.Tensor:
        stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
        with stream:
            write_queries((8,), (256,), (queries.data_ptr(), fresh.data_ptr(), numpy.int32(queries.numel() // 2)))
        if drained:
            torch.cuda.synchronize()
        return flash_mla.flash_mla_with_kvcache(queries, caches, table, lengths, DIM_V, plan)[0].clone()

    wrong = 0
    for run in range(-1, RUNS):  # the first turn loads the kernels
        fresh = torch.randn_like(queries)
        torch.cuda.synchronize()
        got = decoded(fresh, drained=False)
        torch.cuda.synchronize()
        wrong += run >= 0 and not torch.equal(got, decoded(fresh, drained=True))
    print(f"{wrong} of {RUNS} results differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
