#!/usr/bin/env python3
"""Lint binaries that others made, and write what came of it.

    python3 conformance/codegen/judge_third_party.py FILE... [--arch sm_90] [--cccl] [--triton PYTHON] [--record]

--cccl compiles programs from CCCL's headers (Thrust and CUB, which wait by themselves); --triton lets that interpreter compile
kernels with Triton, as its cache would hold them. Prints for each file how fast our own code was (CPU time of one core,
everything analysed as if it were named overlapping) and how long the disassembler took, and each finding above hint of the
kernels that wait. Ends with 1 if a file could not be analysed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from compilers import installed_nvcc  # noqa: E402
from pdlkit.lint.findings import above_hint  # noqa: E402
from pdlkit.lint.linter import Options, lint_files  # noqa: E402

RECORD = HERE / "third_party.md"
_MOST_TOLD = 12  # different findings of one file
_CCCL = r"""
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_transform.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
struct less_than { template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; } };
struct doubled { __device__ float operator()(float x) const { return 2.0f * x; } };
void use(float *a, float *b, int *k, int n)
{
    size_t bytes = 0;
    cub::DeviceMergeSort::SortKeys((void *)0, bytes, a, n, less_than());
    cub::DeviceRadixSort::SortKeys((void *)0, bytes, k, k, n);
    cub::DeviceReduce::Sum((void *)0, bytes, a, b, n);
    cub::DeviceScan::InclusiveSum((void *)0, bytes, a, b, n);
    cub::DeviceTransform::Transform(a, b, n, doubled());
    thrust::sort(thrust::device, thrust::device_ptr<float>(a), thrust::device_ptr<float>(a) + n, less_than());
    b[0] = thrust::transform_reduce(thrust::device, thrust::device_ptr<float>(a), thrust::device_ptr<float>(a) + n, doubled(), 0.0f,
                                    thrust::plus<float>());
}
int main() { use(0, 0, 0, 1); return 0; }
"""
_TRITON = '''
import sys
from pathlib import Path
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def waits(a, b, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    tl.store(o + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)
    tl.extra.cuda.gdc_launch_dependents()

@triton.jit
def waits_late(a, b, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)
    tl.extra.cuda.gdc_wait()
    tl.store(o + i, x + tl.load(b + i, mask=i < n), mask=i < n)

@triton.jit
def product(a, b, o, n, BLOCK: tl.constexpr):
    m = tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    sum = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        x = tl.load(a + m[:, None] * n + k + m[None, :])
        y = tl.load(b + (k + m)[:, None] * n + m[None, :])
        sum += tl.dot(x, y)
    tl.store(o + m[:, None] * BLOCK + m[None, :], sum)

for arch in (90, 100, 120):
    for function in (waits, waits_late, product):
        pointer = "*fp16" if function is product else "*fp32"
        signature = {"a": pointer, "b": pointer, "o": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        source = ASTSource(fn=function, signature=signature, constexprs={"BLOCK": 128})
        made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4, "num_stages": 3})
        Path(sys.argv[1], f"triton-{function.__name__}.sm_{arch}.cubin").write_bytes(made.asm["cubin"])
'''


@dataclass
class Row:
    name: str
    kernels: int = 0
    waiting: int = 0
    instructions: int = 0
    own_s: float = 0.0
    disassembler_s: float = 0.0
    unreadable: list[str] = field(default_factory=list)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)  # (id, message) of kernels that wait


def judge(file: Path, architectures: frozenset[int]) -> Row:
    """Everything of the file is analysed; findings count for the kernels that wait."""
    report = lint_files([file], Options(overlapping=re.compile(""), architectures=architectures))
    row = Row(file.name, len(report.verdicts), 0, report.instructions, report.own_seconds, report.disassembler_seconds,
              [message for _, message in report.unreadable])
    for verdict in report.verdicts:
        found = above_hint(verdict.findings)
        if {f.id for f in found} & {"no-wait", "no-device-half"}:
            continue
        row.waiting += 1
        for finding in found:
            row.findings[finding.id, f"{short(verdict.demangled)}: {finding.message}"] += 1
    return row


def short(name: str) -> str:
    """A template's name without its arguments."""
    while "<" in name and (cut := re.sub(r"<[^<>]*>", "", name)) != name:
        name = cut
    return re.sub(r"^void |\(.*", "", name)


def told(row: Row) -> str:
    rate = row.instructions / row.own_s if row.own_s else 0.0
    return (f"{row.name}: {row.kernels} kernels, {row.waiting} wait, {row.instructions} instructions, {rate:,.0f}/s, own "
            f"{row.own_s:.1f} s, disassembler {row.disassembler_s:.1f} s, {sum(row.findings.values())} findings above hint")


def findings_told(row: Row) -> list[str]:
    """What was found, wherever it stands in the code; only how often, if that is too much to read."""
    told: Counter[tuple[str, str]] = Counter()
    for (rule, message), count in row.findings.items():
        told[rule, re.sub(r", at \+0x[0-9a-f]+,", "", message)] += count
    if len(told) <= _MOST_TOLD:
        return [f"{rule}, {count} times: {message}" for (rule, message), count in sorted(told.items())]
    return [f"{rule}, {sum(n for (r, _), n in told.items() if r == rule)} times in "
            f"{len({m.split(': ')[0] for r, m in told if r == rule})} of its kernels" for rule in sorted({r for r, _ in told})]


def as_markdown(rows: list[Row]) -> str:
    lines = ["# Lint on binaries of others", "",
             "Written by judge_third_party.py, never by hand. Every kernel is analysed as if it were named overlapping; the findings",
             "are those of kernels that wait. Speed: instructions per second of one core in our own code, the disassembler apart.", "",
             "| file | kernels | that wait | instructions | own code | per second | disassembler | findings above hint | unreadable |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        rate = f"{r.instructions / r.own_s:,.0f}" if r.own_s else "-"
        lines.append(f"| {r.name} | {r.kernels} | {r.waiting} | {r.instructions:,} | {r.own_s:.1f} s | {rate} | {r.disassembler_s:.1f} s | "
                     f"{sum(r.findings.values())} | {len(r.unreadable)} |")
    total, own = sum(r.instructions for r in rows), sum(r.own_s for r in rows)
    lines += ["", f"Together {total:,} instructions, {total / own if own else 0:,.0f} per second.", ""]
    for r in rows:
        lines += [f"- {r.name}, {text}" for text in findings_told(r)]
        lines += [f"- {r.name}, unreadable: {u}" for u in r.unreadable]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--arch", action="append", default=[], metavar="SM")
    parser.add_argument("--cccl", action="store_true")
    parser.add_argument("--triton", type=Path, metavar="PYTHON", help="an interpreter that can import triton")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args()
    architectures = frozenset(int(re.sub(r"\D", "", a)) for a in arguments.arch)
    rows = []
    with tempfile.TemporaryDirectory(prefix="pdl-third-") as place:
        folder, files = Path(place), list(arguments.files)
        if arguments.cccl:
            (folder / "cccl.cu").write_text(_CCCL)
            files.append(folder / "cccl-program")
            subprocess.run([str(installed_nvcc()), "-std=c++17", "-w", "-gencode", "arch=compute_90,code=sm_90", "-gencode",
                            "arch=compute_120,code=sm_120", "-o", str(files[-1]), str(folder / "cccl.cu")], check=True)
        if arguments.triton is not None:
            (folder / "kernels.py").write_text(_TRITON)
            subprocess.run([str(arguments.triton), str(folder / "kernels.py"), str(folder)], check=True)
            files += sorted(folder.glob("triton-*.cubin"))
        for file in files:
            rows.append(judge(file, architectures))
            print(told(rows[-1]), flush=True)
            for (rule, message), count in sorted(rows[-1].findings.items()):
                print(f"    {rule}, {count} times: {message}")
            for text in rows[-1].unreadable:
                print(f"    unreadable: {text}")
    if arguments.record:
        RECORD.write_text(as_markdown(rows))
    return 1 if not rows or any(r.unreadable for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
