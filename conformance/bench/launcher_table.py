"""The table of launchers side by side in conformance/headers/README.md: what a site takes, host time, compile time.

    python3 conformance dev launcher-table                    writes the table, from the last recorded bench.json
    python3 conformance dev launcher-table --check            ends with 1 if it is not of the records
    python3 conformance dev launcher-table --measure-compile  measures first what the headers of each launcher add to a compile
                                                              (needs nvcc and, once, the network for CUTLASS's headers)

Statements are counted in the launchers that were timed: launch_cost.cu and launch_peers.cuh, with what they call there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub
from pathlib import Path
from statistics import median
from typing import Any

from conformance.bench.programs import peer_headers
from conformance.pdlkit.cpu_time import cpu_ms
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT, ROOT, in_tree
from conformance.pdlkit.toolchain import dotted, require

PAGE, COMPILE = KIT / "headers" / "README.md", KIT / "bench" / "compile_cost.json"
SOURCES = (KIT / "bench" / "launch_cost.cu", KIT / "bench" / "launch_peers.cuh")
RECORDS = sorted((KIT / "results").glob("*-bench/bench.json"))
BEGIN, END = "<!-- launchers -->\n", "<!-- /launchers -->\n"
ROUNDS = 7
RESOLVED_MS = 400.0  # the CPU time of one and the same compile varied by as much


@dataclass(frozen=True)
class Launcher:
    """A row: the launcher's name in bench.json, its function there, and what it includes besides the CUDA runtime."""

    name: str
    label: str
    function: str
    prepared: str
    knows: str
    header: str = ""


LAUNCHERS = (
    Launcher("pdl::launch", "`pdl::launch(kernel, ...)`", "by_one_line", "none", "yes", "pdl.h"),
    Launcher("pdl::launch with a launch config", "`pdl::launch(&config, kernel, ...)`", "by_one_line_config", "none", "yes", "pdl.h"),
    Launcher("pdl::launch and cudaGetDevice", "`pdl::launch` in a process with several devices (and `cudaGetDevice`)", "by_one_line",
             "none", "yes", "pdl.h"),
    Launcher("pdl::launch, asking each time", "`pdl::launch` of a function of another library (asked each time)", "by_one_line",
             "none", "yes", "pdl.h"),
    Launcher("pdl_launch", "`pdl_launch`", "by_pdl", "one per kernel and device", "yes", "pdl.h"),
    Launcher("pdl_launch_driver", "`pdl_launch_driver`", "by_pdl_driver", "one per kernel and device", "yes", "pdl.h"),
    Launcher("cudaLaunchKernelExC", "`cudaLaunchKernelExC`", "by_raw", "none", "no"),
    Launcher("cudaLaunchKernelEx, the toolkit's template", "`cudaLaunchKernelEx` (template)", "by_toolkit_template", "none", "no"),
    Launcher("a TensorRT-LLM style launcher", "TensorRT-LLM style (environment variable, config at each site)", "by_environment",
             "none", "no"),
    Launcher("CCCL thrust::triple_chevron", "CCCL `triple_chevron`", "by_triple_chevron", "none", "by CCCL's own dispatch",
             "thrust/system/cuda/detail/core/triple_chevron_launch.h"),
    Launcher("CUTLASS kernel_launch", "CUTLASS `kernel_launch`, kernels as CUTLASS operators", "by_cutlass", "none", "no",
             "cutlass/kernel_launch.h"),
    Launcher("CUTLASS ClusterLauncher", "CUTLASS `ClusterLauncher`", "by_cutlass_cluster", "none", "no", "cutlass/cluster_launch.hpp"),
    Launcher("cuLaunchKernelEx", "`cuLaunchKernelEx`", "by_driver", "function handle per context", "no", "cuda.h"),
)
_INLINED = ("one_thread", "early_start")


def body_of(function: str) -> str:
    """The text between the braces of a function of the sources."""
    for source in SOURCES:
        found = re.search(rf"^static \w+ {function}\([^)]*\)\n{{\n(.*?)^}}", source.read_text(encoding="utf-8"), re.M | re.S)
        if found:
            return found[1]
    raise KeyError(f"{function} is in none of {', '.join(map(in_tree, SOURCES))}: adapt LAUNCHERS")


def statements(function: str) -> int:
    """How many statements a launch site takes: two functions that only fill a struct are counted where they are called."""
    body = body_of(function)
    more = sum(body_of(name).count(";") - 2 for name in _INLINED if f"{name}(" in body)  # less the call and the return
    return body.count(";") + more


def measure_compile() -> dict[str, Any]:
    """What each header adds to the CPU time of an nvcc compile, in milliseconds: the median over rounds that compile all in turn.

    The least of each is no measure here: the CPU time of the same compile varies by a third, more than pdl.h adds.
    """
    nvcc = require(for_gpu=True).nvcc
    assert nvcc is not None
    headers = ["", *sorted({launcher.header for launcher in LAUNCHERS} - {""})]
    times: dict[str, list[float]] = {header: [] for header in headers}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for header in headers:
                source = Path(folder) / "unit.cu"
                source.write_text((f"#include <{header}>\n" if header else "") + "__global__ void kernel() {}\n", encoding="utf-8")
                command = [str(nvcc.path), "-std=c++17", "-arch=sm_90", f"-I{ROOT}", f"-I{peer_headers()}", "-c", str(source), "-o",
                           os.devnull]
                times[header].append(cpu_ms(command))
    added = {name: median(map(sub, times[name], times[""])) for name in headers if name}
    return {"nvcc": dotted(nvcc.version), "rounds": ROUNDS, "added_ms": {name: round(ms, 1) for name, ms in added.items()}}


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f}" if ms >= RESOLVED_MS else f"below {RESOLVED_MS / 1000:.1f}"


def table(record: dict[str, Any], compiled: dict[str, Any]) -> str:
    """The table between the marks, with the sentence above it."""
    costs, added = {row["launcher"]: row for row in record["host_cost"]}, compiled["added_ms"]
    missing = [launcher.name for launcher in LAUNCHERS if launcher.name not in costs]
    if missing:
        raise SetupImpossible(f"bench.json has no {', '.join(missing)}: record it again by conformance/bench/record.sh, built with --peers")
    rounds, device = costs["pdl::launch"]["rounds"], record["device"]["device"]
    lines = [f"Host time: {rounds} rounds, interleaved in one process on one {device}; the ratio is taken round by round to "
             "`cudaLaunchKernelExC` with the attribute, with its 95 % interval. Compile time: what including the launcher's header adds "
             f"to the CPU time of a compile by nvcc {compiled['nvcc']}, beyond what nvcc includes itself; less than "
             f"{RESOLVED_MS / 1000:.1f} s cannot be resolved.",
             "", "| launcher | statements per launch site | prepared objects | knows code without a wait | host time, us | ratio "
             "| compile time, s |", "|---|---|---|---|---|---|---|"]
    for launcher in LAUNCHERS:
        row = costs[launcher.name]
        ratio = row["to_raw"]
        compile_time = _seconds(added[launcher.header]) if launcher.header else "0"
        lines.append(f"| {launcher.label} | {statements(launcher.function)} | {launcher.prepared} | {launcher.knows} | {row['us']:.2f} | "
                     f"{ratio['median']:.3f} ({ratio['low95']:.3f} to {ratio['high95']:.3f}) | {compile_time} |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", nargs="?", type=Path, default=RECORDS[-1] if RECORDS else None, help="a bench.json (the last recorded)")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the table is not up to date")
    parser.add_argument("--measure-compile", action="store_true", help=f"measure first, and write {in_tree(COMPILE)}")
    options = parser.parse_args(argv)
    if options.record is None:
        parser.error("no bench.json was recorded below conformance/results: name one")
    if options.measure_compile:
        COMPILE.write_text(json.dumps(measure_compile(), indent=1) + "\n", encoding="utf-8")
    if not COMPILE.is_file():
        parser.error(f"there is no {in_tree(COMPILE)} yet: give --measure-compile once")
    wanted = table(json.loads(options.record.read_text(encoding="utf-8")), json.loads(COMPILE.read_text(encoding="utf-8")))
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    text = before + BEGIN + wanted + END + rest.split(END)[1]
    if text != page:
        print(f"{in_tree(PAGE)} {'is not of' if options.check else 'written from'} {in_tree(options.record)}")
        if not options.check:
            PAGE.write_text(text, encoding="utf-8")
    return int(options.check and text != page)
