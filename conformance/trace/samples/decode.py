"""A decode-like chain in PyTorch: norms, matrix products by cuBLASLt, element-wise kernels. `decode.py [graph|eager]`: under a CUDA
graph or launched kernel by kernel. Prints a digest."""

from __future__ import annotations

import hashlib
import sys

import torch

WIDTH, LAYERS, TOKENS, REPLAYS, ROUNDS = 2048, 8, 8, 10, 20


def main() -> None:
    """Capture one step, replay it, and print what came out."""
    torch.manual_seed(0)
    make = {"device": "cuda", "dtype": torch.bfloat16}
    up = [torch.randn(WIDTH, 4 * WIDTH, **make) * 0.02 for _ in range(LAYERS)]
    down = [torch.randn(4 * WIDTH, WIDTH, **make) * 0.02 for _ in range(LAYERS)]
    gain, x = torch.ones(WIDTH, **make), torch.randn(TOKENS, WIDTH, **make)

    def step(x: torch.Tensor) -> torch.Tensor:
        for layer in range(LAYERS):
            with torch.cuda.nvtx.range(f"layer {layer}"):
                x = x + torch.nn.functional.gelu(torch.nn.functional.rms_norm(x, (WIDTH,), gain) @ up[layer]) @ down[layer]
        return x

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step(x)
    torch.cuda.synchronize()
    graph = None if sys.argv[1:] == ["eager"] else torch.cuda.CUDAGraph()
    if graph is not None:
        with torch.cuda.graph(graph):
            y = step(x)
    for _ in range(ROUNDS):
        with torch.cuda.nvtx.range("decode"):
            for _ in range(REPLAYS):
                if graph is not None:
                    graph.replay()
                else:
                    y = step(x)
            torch.cuda.current_stream().synchronize()
    print(hashlib.sha256(y.float().cpu().numpy().tobytes()).hexdigest()[:16])


if __name__ == "__main__":
    main()
