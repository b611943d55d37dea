"""PyTorch steps that use cuBLASLt, cuDNN, cuFFT, sorts and PyTorch's own kernels: eagerly, in a graph, and compiled.

Prints one line of JSON: a digest of everything that was computed, and microseconds per step. With the argument `short` nothing is
compiled, each step runs once, and what was computed is copied to the host.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

SHORT = sys.argv[1:] == ["short"]
torch.manual_seed(1)
DEVICE = "cuda"
digest = hashlib.sha256()
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024),
                            torch.nn.LayerNorm(1024)).to(DEVICE).bfloat16()
convolution = torch.nn.Conv2d(16, 32, 3, padding=1).to(DEVICE)
words = torch.randn(512, 1024, device=DEVICE).bfloat16()
image = torch.randn(8, 16, 64, 64, device=DEVICE)
query = torch.randn(2, 8, 512, 64, device=DEVICE).bfloat16()


def step() -> tuple[torch.Tensor, ...]:
    """One step; the same words each time."""
    y, z = model(words), convolution(image)
    attention = F.scaled_dot_product_attention(query, query, query, is_causal=True)
    ordered = torch.sort(y.float(), dim=1).values
    return (y, z, attention, torch.cumsum(ordered, 1), torch.topk(ordered, 8).values, torch.softmax(y.float(), 1),
            torch.fft.rfft(ordered).abs())


def take(tensors: tuple[torch.Tensor, ...]) -> None:
    """Into the digest."""
    for tensor in tensors:
        digest.update(tensor.detach().float().cpu().numpy().tobytes())


def best_us(call: Callable[[], object], times: int = 30, rounds: int = 10) -> float:
    """Of one call, in the best round; the short program measures nothing."""
    if SHORT:
        return 0.0
    best = float("inf")
    for _ in range(rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(times):
            call()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - began) / times)
    return best * 1e6


take(step())
times = {"eager_us": best_us(step)}
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    outputs = step()
for _ in range(3):
    graph.replay()
take(outputs)
times["graph_us"] = best_us(graph.replay)
if not SHORT:
    compiled = torch.compile(lambda x: torch.softmax(model(x).float() * 1.5 + x.float().sum(1, keepdim=True), 1))
    with torch.no_grad():
        for _ in range(3):
            take((compiled(words),))
        times["compiled_us"] = best_us(lambda: compiled(words))
print(json.dumps({"digest": digest.hexdigest()[:16], **times}))
