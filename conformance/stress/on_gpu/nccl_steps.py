"""Two processes, a GPU each: matrix products and NCCL's collectives in turn. Prints a digest of what both computed."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import tempfile
from typing import Any

RANKS, WIDTH, STEPS = 2, 1024, 20


def work(rank: int, meeting: str, answers: Any) -> None:
    """One rank; all sums are of two numbers, so their order does not matter. The process that starts the ranks needs no PyTorch."""
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=RANKS)
    torch.manual_seed(rank)
    x = torch.randn(WIDTH, WIDTH, device="cuda")
    weight = torch.randn(WIDTH, WIDTH, device="cuda") / 32
    both = torch.empty(RANKS * WIDTH, WIDTH, device="cuda")
    for step in range(STEPS):
        y = torch.relu(x @ weight)
        dist.all_reduce(y)
        dist.all_gather_into_tensor(both, y)
        dist.reduce_scatter_tensor(x, both)
        x = torch.softmax(x, 1) + y / 64
        dist.broadcast(x[:8], step % RANKS)
    torch.cuda.synchronize()
    answers.put((rank, hashlib.sha256(x.cpu().numpy().tobytes()).hexdigest()))
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    """Start both, and print one digest."""
    start = multiprocessing.get_context("spawn")
    answers = start.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        ranks = [start.Process(target=work, args=(rank, os.path.join(folder, "meeting"), answers)) for rank in range(RANKS)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        if any(rank.exitcode for rank in ranks):
            raise SystemExit(f"the ranks ended with {[rank.exitcode for rank in ranks]}")
    found = sorted(answers.get() for _ in range(RANKS))
    print(hashlib.sha256(repr(found).encode()).hexdigest()[:16])


if __name__ == "__main__":
    main()
