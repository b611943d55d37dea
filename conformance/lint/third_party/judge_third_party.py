"""Lint binaries that others made, and write what came of it.

    python3 conformance dev judge-third-party FILE... [--arch sm_90] [--waiting FILE]... [--cccl] [--triton PYTHON] [--record]

--arch keeps only code for these GPUs of the FILEs; of a file behind --waiting, of every architecture, only those images are
analysed that may have a wait. --cccl compiles programs from CCCL's headers (Thrust and CUB, which wait by themselves);
--triton lets that interpreter compile kernels with Triton, as its cache would hold them. Prints for each file how fast our own
code was (CPU time of one core, everything analysed as if it were named overlapping); and
the findings above hint of the kernels that wait. Progress goes to stderr. Ends with 1 if a file could not be analysed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint.analyser import program
from conformance.lint.disassembly import may_wait
from conformance.lint.findings import above_hint
from conformance.lint.images import NO_CODE, open_images
from conformance.lint.linter import Options, lint_files
from conformance.lint.shapes.compilers import installed_nvcc
from conformance.lint.sources import Unreadable
from conformance.pdlkit.cuda_programs import ToolFailed
from conformance.pdlkit.elf import CorruptFile

HERE = Path(__file__).resolve().parent
RECORD = HERE / "third_party.md"
_MOST_TOLD = 12  # different findings of one file
_LARGE = 10_000  # instructions of an image that count as much: its speed says something
_PROGRESS_S = 15.0
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
    images: int = 0
    kernels: int = 0
    waiting: int = 0
    instructions: int = 0
    own_s: float = 0.0
    slowest: tuple[float, str] | None = None  # instructions per second in one large image
    unreadable: list[str] = field(default_factory=list)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)  # (id, message) of kernels that wait

    @property
    def rate(self) -> float:
        return self.instructions / self.own_s if self.own_s else 0.0


def judge(file: Path, architectures: frozenset[int], waiting: bool) -> Row:
    """Everything of the file is analysed, or only the images that have a wait; findings count for the kernels that wait."""
    row, told = Row(f"{file.name}, images that may wait" if waiting else file.name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pdl-third-") as folder:
        try:
            for image in open_images(file, Path(folder), architectures):
                if waiting and (image.from_ptx or not may_wait(image.cubin)):
                    continue
                path = image.path or Path(folder, "image.cubin")
                if image.path is None:
                    path.write_bytes(image.cubin.data)
                add_image(row, path, image.inner or file.name)
                if time.monotonic() - told > _PROGRESS_S:
                    told = time.monotonic()
                    print(f"... {row.name}: {image.inner or ''}, {row.images} images, {row.instructions:,} instructions", file=sys.stderr)
        except (Unreadable, CorruptFile, ToolFailed) as error:
            row.unreadable.append(str(error))
    return row


def add_image(row: Row, cubin: Path, name: str) -> None:
    report = lint_files([cubin], Options(overlapping=re.compile("")))
    row.images += 1
    row.kernels += len(report.verdicts)
    row.instructions += report.instructions
    row.own_s += report.own_seconds
    row.unreadable += [f"{name}: {message}" for _, message in report.unreadable if message != NO_CODE]  # a part may have no kernels
    rate = report.instructions / report.own_seconds if report.own_seconds else 0.0
    if report.instructions >= _LARGE and (row.slowest is None or rate < row.slowest[0]):
        row.slowest = rate, name
    for verdict in report.verdicts:
        if not verdict.waits:
            continue
        found = above_hint(verdict.findings)
        row.waiting += 1
        for finding in found:
            row.findings[finding.id, f"{short(verdict.demangled)}: {finding.message}"] += 1


def short(name: str) -> str:
    """A template's name without its arguments."""
    while "<" in name and (cut := re.sub(r"<[^<>]*>", "", name)) != name:
        name = cut
    return re.sub(r"^void |\(.*", "", name)


def told(row: Row) -> str:
    return (f"{row.name}: {row.images} images, {row.kernels} kernels, {row.waiting} wait, {row.instructions} instructions, "
            f"{row.rate:,.0f}/s, slowest large image {row.slowest[0] if row.slowest else 0:,.0f}/s, own {row.own_s:.1f} s, "
            f"{sum(row.findings.values())} findings above hint")


def findings_told(row: Row) -> list[str]:
    """What was found, wherever it stands in the code; if that is too much to read, only how often and what decides it."""
    told: Counter[tuple[str, str]] = Counter()
    for (rule, message), count in row.findings.items():
        told[rule, re.sub(r", at \+0x[0-9a-f]+,", "", message)] += count
    if len(told) <= _MOST_TOLD:
        return [f"{rule}, {count} times: {message}" for (rule, message), count in sorted(told.items())]
    kinds: dict[tuple[str, str], tuple[int, set[str]]] = {}
    for (rule, message), count in told.items():
        kernel, _, rest = message.partition(": ")
        decided = re.search(r"; (parameter .* whether the kernel waits)$", rest)
        key = rule, f" ({decided[1]})" if decided else ""
        before, kernels = kinds.get(key, (0, set()))
        kinds[key] = before + count, kernels | {kernel}
    return [f"{rule}, {count} times in kernels of {len(kernels)} names{why}" for (rule, why), (count, kernels) in sorted(kinds.items())]


def as_markdown(rows: list[Row]) -> str:
    lines = ["# Lint on binaries of others", "",
             "Written by judge_third_party.py, never by hand. Every kernel is analysed as if it were named overlapping; the findings",
             "are those of kernels that wait. Speed: instructions per second of one core in our own code, the disassembler apart; the",
             f"slowest image is one of at least {_LARGE:,} instructions. An image without a wait is not followed along its paths.", "",
             "| file | images | kernels | that wait | instructions | own code | per second | slowest image | findings above hint "
             "| unreadable |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        slowest = f"{r.slowest[0]:,.0f} ({re.sub(r'^.*[.]so[.](?=[0-9]+[.]sm_)', '', r.slowest[1])})" if r.slowest else "-"
        lines.append(f"| {r.name} | {r.images} | {r.kernels:,} | {r.waiting:,} | {r.instructions:,} | {r.own_s:.1f} s | {r.rate:,.0f} | "
                     f"{slowest} | {sum(r.findings.values()):,} | {len(r.unreadable)} |")
    total, own = sum(r.instructions for r in rows), sum(r.own_s for r in rows)
    lines += ["", f"Together {total:,} instructions, {total / own if own else 0:,.0f} per second.", ""]
    for r in rows:
        lines += [f"- {r.name}: {text}" for text in findings_told(r)]
        lines += [f"- {r.name}: unreadable: {u}" for u in r.unreadable]
    return "\n".join(lines).rstrip() + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--arch", action="append", default=[], metavar="SM")
    parser.add_argument("--waiting", action="append", default=[], type=Path, metavar="FILE")
    parser.add_argument("--cccl", action="store_true")
    parser.add_argument("--triton", type=Path, metavar="PYTHON", help="an interpreter that can import triton")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    architectures = frozenset(int(re.sub(r"\D", "", a)) for a in arguments.arch)
    rows = []
    program()  # compiled now, if it has to be: that is no time of any file
    with tempfile.TemporaryDirectory(prefix="pdl-third-") as place:
        folder, files = Path(place), list[Path]()
        if arguments.cccl:
            (folder / "cccl.cu").write_text(_CCCL)
            files.append(folder / "cccl-program")
            subprocess.run([str(installed_nvcc()), "-std=c++17", "-w", "-gencode", "arch=compute_90,code=sm_90", "-gencode",
                            "arch=compute_120,code=sm_120", "-o", str(files[-1]), str(folder / "cccl.cu")], check=True)
        if arguments.triton is not None:
            (folder / "kernels.py").write_text(_TRITON)
            subprocess.run([str(arguments.triton), str(folder / "kernels.py"), str(folder)], check=True)
            files += sorted(folder.glob("triton-*.cubin"))
        tasks = [(file, frozenset[int](), False) for file in files] + [(file, frozenset[int](), True) for file in arguments.waiting]
        tasks += [(file, architectures, False) for file in arguments.files]
        for task in tasks:
            rows.append(judge(*task))
            if arguments.record:  # after each file: the last ones can take long
                RECORD.write_text(as_markdown(rows))
            print(told(rows[-1]), flush=True)
            for text in findings_told(rows[-1]):
                print(f"    {text}")
            for text in rows[-1].unreadable:
                print(f"    unreadable: {text}")
    return 1 if not rows or any(r.unreadable for r in rows) else 0
