"""`lint explain RULE`: what a rule means, a small kernel that is wrong and one that is right, and the real bug it comes from."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from conformance.lint.findings import RULES
from conformance.pdlkit.exits import BadArguments


@dataclass(frozen=True)
class Explanation:
    meaning: str
    wrong: str
    right: str
    real: str


_READ = Explanation(
    "With programmatic dependent launch a kernel may start while the one before it still writes. Until a thread has called\n"
    "pdl_wait(), whatever the earlier grid writes may be old. A read before the wait takes what happens to be there.",
    "__global__ void k(const float *in, float *out)\n{\n    float v = in[threadIdx.x];\n    pdl_wait();\n    out[threadIdx.x] = v;\n}",
    "__global__ void k(const float *in, float *out)\n{\n    pdl_wait();\n    out[threadIdx.x] = pdl_fresh(in)[threadIdx.x];\n}",
    "CUB's merge sort read the partition offsets, which the kernel before it writes, above its wait (NVIDIA/cccl#5456).")
_WRITE = Explanation(
    "The earlier grid may still read or write memory that this kernel writes before its wait: its result, or yours, is lost.",
    "__global__ void k(int *count, const int *in)\n{\n    count[blockIdx.x] = 0;\n    pdl_wait();\n"
    "    atomicAdd(&count[in[threadIdx.x]], 1);\n}",
    "__global__ void k(int *count, const int *in)\n{\n    pdl_wait();\n    count[blockIdx.x] = 0;\n    ...\n}",
    "CUB's histogram zeroes its temporary storage before the wait; it is saved only by the kernel before it, which waits early.")
_PARTIAL = Explanation(
    "The wait orders the thread that calls it. Other threads are ordered only by a barrier that the waiting thread arrives at after\n"
    "its wait: __syncthreads(), a named barrier, an mbarrier that it signals. A warp barrier reaches its own warp only.",
    "if (threadIdx.x < 32)\n    pdl_wait();\nout[threadIdx.x] = in[threadIdx.x];      // warps 1.. never waited",
    "if (threadIdx.x < 32)\n    pdl_wait();\n__syncthreads();\nout[threadIdx.x] = pdl_fresh(in)[threadIdx.x];",
    "Fused GEMM kernels give the wait to the warp that loads the tiles; a warp that reads a scale or a tile's number by itself\n"
    "passes it by.")
_PATH = Explanation(
    "There is a path from the kernel's start to this access on which no wait is called, although other paths call it.",
    "if (params.use_pdl)\n    pdl_wait();\nout[threadIdx.x] = in[threadIdx.x];      // with use_pdl == 0 and overlap: a race",
    "pdl_wait();                              // returns at once in a launch without overlap\n"
    "out[threadIdx.x] = pdl_fresh(in)[threadIdx.x];",
    "Routing kernels of inference libraries wait under a parameter that the host must set whenever it overlaps them.")

EXPLANATIONS: dict[str, Explanation] = {
    "read-before-wait": _READ,
    "texture-before-wait": Explanation(
        "A texture read is a read. It is not volatile code, so the compiler moves it above the wait if its coordinates are known there.",
        "pdl_wait();\nfloat v = tex1Dfetch<float>(t, threadIdx.x);   // the compiler may put this above the wait",
        "pdl_wait();\nint i = *(volatile int *)index;             // coordinates that are read after the wait\n"
        "float v = tex1Dfetch<float>(t, i);",
        "Measured with nvcc 13: `tex1Dfetch` with coordinates from threadIdx is moved above the wait."),
    "write-before-wait": _WRITE,
    "atomic-before-wait": _WRITE,
    "async-copy-before-wait": Explanation(
        "A copy that runs on by itself reads or writes global memory when the engine gets to it. The thread that starts it has to have\n"
        "waited; a barrier with a thread that waits is too late for a copy that is under way.",
        "cp_async(tile, in);\npdl_wait();\nwait_for_copies();", "pdl_wait();\ncp_async(tile, in);\nwait_for_copies();",
        "The prologue of a multi-stage pipeline is the classic place: it fills the first stages before the wait comes to mind."),
    "partial-wait": _PARTIAL,
    "path-without-wait": _PATH,
    "no-wait": Explanation(
        "The kernel is launched with overlap and never waits. It may run before, beside or after the earlier grid; and the kernel after\n"
        "it, even if it waits, is then not ordered after the earlier ones.",
        "__global__ void k(float *x) { x[threadIdx.x] *= 2; }      // launched with overlap",
        "__global__ void k(float *x)\n{\n    pdl_wait();\n    x[threadIdx.x] *= 2;\n}",
        "A launch site got the attribute while one of its kernels never had a wait: the most common bug of all."),
    "no-device-half": Explanation(
        "Below compute_90 the wait compiles to nothing, and the driver may still overlap the launch on a newer GPU.",
        "nvcc -gencode arch=compute_80,code=sm_90 ...", "nvcc -gencode arch=compute_90,code=sm_90 ...",
        "Builds that keep one PTX for an old virtual architecture to save time lose the wait without a message."),
    "erased-wait": Explanation(
        "Below compute_90, pdl_wait() compiles to nothing; pdl_device.cuh then leaves the symbol pdl_wait_erased in the image. With\n"
        "device LTO the linked image says that it is for compute_90 all the same, so CUDA's own queries do not show that the wait is gone.",
        "nvcc -gencode arch=compute_80,code=lto_80 -dc k.cu\nnvcc -dlto -arch=sm_90 k.o",
        "nvcc -gencode arch=compute_90,code=lto_90 -dc k.cu\nnvcc -dlto -arch=sm_90 k.o",
        "Measured on an H200: such a kernel, overlapped with a primary that triggers early, read 16,384 of 16,384 words too early."),
    "trigger-before-wait": Explanation(
        "In a declared chain each kernel waits before it triggers, so that all grids before its predecessor are complete when it runs.\n"
        "A kernel that triggers first breaks this for all that follow it.",
        "pdl_trigger();\npdl_wait();", "pdl_wait();\npdl_trigger();",
        "Libraries whose kernels wait only for their output rely on this order, and nothing but a convention keeps it."),
    "chain-without-wait": Explanation(
        "In a declared chain each kernel waits before it triggers. One that never waits lets the kernel after it start while the kernel\n"
        "before it is still running. The end of a block triggers as well: a kernel that can end at once has to wait before it does.",
        "__global__ void middle(...)\n{\n    if (*count == 0)\n        return;\n    pdl_wait();\n    pdl_trigger();\n    work();\n}",
        "__global__ void middle(...)\n{\n    pdl_wait();\n    pdl_trigger();\n    if (*count == 0)\n        return;\n    work();\n}",
        "A helper kernel between two large ones, written by other people, is the usual cause."),
}


def explain(rule: str) -> str:
    """The page of one rule; BadArguments with the nearest name if there is none."""
    if rule not in RULES:
        near = difflib.get_close_matches(rule, RULES, 1)
        raise BadArguments(f"there is no rule `{rule}`" + (f"; did you mean {near[0]}?" if near else "; --list-rules lists them"))
    about = RULES[rule]
    lines = [f"{rule} ({about.severity}): {about.title}", "", f"What to do: {about.advice}."]
    more = EXPLANATIONS.get(rule)
    if more is not None:
        lines = [lines[0], "", more.meaning, "", "Wrong:", _indented(more.wrong), "", "Right:", _indented(more.right), "", lines[2], "",
                 f"Where it comes from: {more.real}"]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
