"""The Triton pair of the zoo: two kernels launched with PDL from PyTorch, in a graph and eagerly. Answers as zoo.cu does.

    zoo_triton.py --once triton-graph|triton-eager bug|twin COUNT     prints a hash per run: a program as a user would have it
"""

from __future__ import annotations

import ctypes
import functools
import json
import sys
import time
import zlib

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_wait

WORDS, BLOCK = 2048, 128


@triton.jit
def triton_produce(src, dst, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    tl.store(dst + i, tl.load(src + i) * 3 + 1)


@triton.jit
def triton_consume(src, dst, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i) + 7)


@triton.jit
def triton_consume_ok(src, dst, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    tl.store(dst + i, tl.load(src + i) + 7)


@triton.jit
def triton_poison(a, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    poison = tl.zeros([BLOCK], tl.int32) - 5
    tl.store(a + i, poison)
    tl.store(out + i, poison)


GRID = (WORDS // BLOCK,)


@functools.cache
def buffers() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Source, middle, output and what the output has to be; made on the first run, so that a waiting process uses no GPU."""
    source = torch.arange(WORDS, dtype=torch.int32, device="cuda")
    return source, torch.zeros_like(source), torch.zeros_like(source), source * 3 + 8


def sequence(consumer) -> None:
    """One launch sequence; only the pair asks for overlap."""
    source, middle, out, _ = buffers()
    triton_poison[GRID](middle, out, BLOCK=BLOCK)
    triton_produce[GRID](source, middle, BLOCK=BLOCK, launch_pdl=True)
    consumer[GRID](middle, out, BLOCK=BLOCK, launch_pdl=True)


def digest() -> str:
    """Of the output."""
    return f"{zlib.crc32(buffers()[2].cpu().numpy().tobytes()):08x}"


def run(captured: bool, consumer, count: int, each=lambda: None) -> dict[str, object]:
    """A character per run."""
    _, _, out, right = buffers()
    sequence(consumer)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    if captured:
        with torch.cuda.graph(graph):
            sequence(consumer)
    marks, spent = "", 0.0
    for _ in range(count):
        began = time.perf_counter()
        graph.replay() if captured else sequence(consumer)
        torch.cuda.synchronize()
        spent += time.perf_counter() - began
        marks += "." if torch.equal(out, right) else "X"
        each()
    return {"runs": marks, "us": spent * 1e6 / max(count, 1), "expected": digest()}


def entries() -> list[dict[str, object]]:
    """As zoo.cu lists them."""
    before = ["triton_poison", "triton_produce"]
    return [{"name": name, "bug": "B04", "shape": "Triton kernel without a wait", "path": path,
             "bug_kernels": [*before, "triton_consume"], "twin_kernels": [*before, "triton_consume_ok"],
             "races": ["triton_produce>triton_consume"]} for name, path in (("triton-graph", "graph"), ("triton-eager", "stream eager"))]


def reload() -> bool:
    """Have the injection library read its plan again."""
    try:
        ctypes.CDLL(None).pdl_stress_reload()
    except AttributeError:
        return False
    return True


def answer(words: list[str]) -> list[dict[str, object]]:
    """What there is to say to one line."""
    if words[:1] == ["list"]:
        return [*entries(), {"end": True}]
    if words[:1] == ["reload"]:
        return [{"reloaded": reload()}]
    if words[:1] == ["run"] and len(words) == 4:
        return [run(words[1] == "triton-graph", triton_consume_ok if words[2] == "twin" else triton_consume, int(words[3]))]
    return [{"error": "what?"}]


def main() -> None:
    """Lines in, JSON lines out; an error ends the program, because CUDA's errors stay."""
    if sys.argv[1:2] == ["--once"]:
        name, which, count = sys.argv[2:5]
        consumer = triton_consume_ok if which == "twin" else triton_consume
        run(name == "triton-graph", consumer, int(count), lambda: print(digest()))
        return
    for line in sys.stdin:
        try:
            found = answer(line.split())
        except Exception as error:  # whatever PyTorch or Triton raises is reported in one line
            found = [{"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}]
        for entry in found:
            print(json.dumps(entry), flush=True)


if __name__ == "__main__":
    main()
