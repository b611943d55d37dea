"""What pdl.h adds, in compile time, to a file that already includes cuda_runtime_api.h: the median of interleaved pairs.

    python3 conformance dev include-cost [--cuda ROOT] [--pairs 25] [--limit-ms 15]

Counts the compiler's CPU time (user and system), not the time on the clock. What else runs on the machine can only add to it, so
a median above the limit is measured again, up to three times. 0 within the limit, 1 above it, 77 no compiler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = "#include <cuda_runtime_api.h>\nint anything;\n"
WITH = "#include <cuda_runtime_api.h>\n#include <pdl.h>\nint anything;\n"
SUFFIXES = {"gcc": "c", "g++": "cpp", "clang": "c", "clang++": "cpp"}
SKIP = 77
TRIES = 3


def cpu_ms(argv: Sequence[str]) -> float:
    """CPU time of one compile, with all its child processes."""
    process = subprocess.Popen(list(argv), stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(argv)} failed")
    return 1000.0 * (usage.ru_utime + usage.ru_stime)


def added_ms(compiler: str, flags: Sequence[str], units: tuple[Path, Path], pairs: int) -> float:
    """The median difference of a pair; the order within a pair alternates."""
    differences = []
    for pair in range(pairs):
        cost = {}
        for unit in units if pair % 2 == 0 else units[::-1]:
            cost[unit] = cpu_ms([compiler, *flags, "-c", str(unit), "-o", os.devnull])
        differences.append(cost[units[1]] - cost[units[0]])
    return statistics.median(differences)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what pdl.h adds to the compile of a file.")
    parser.add_argument("--headers", type=Path, default=ROOT, help="folder of pdl.h")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    parser.add_argument("--compilers", nargs="+", choices=SUFFIXES, default=list(SUFFIXES))
    parser.add_argument("--levels", nargs="+", default=["-O0", "-O2"])
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--limit-ms", type=float, default=15.0)
    options = parser.parse_args(argv)
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.compilers:
            compiler, suffix = shutil.which(name), SUFFIXES[name]
            units = Path(folder, f"without.{suffix}"), Path(folder, f"with.{suffix}")
            for unit, text in zip(units, (WITHOUT, WITH), strict=True):
                unit.write_text(text, encoding="utf-8")
            for level in options.levels:
                flags = [level, "-I", str(options.headers), "-isystem", str(options.cuda / "include")]
                for _ in range(TRIES if compiler else 0):
                    found = added_ms(str(compiler), flags, units, options.pairs)
                    print(f"{name} {level}: pdl.h adds {found:.1f} ms of CPU (median of {options.pairs} pairs)", flush=True)
                    if found <= options.limit_ms:
                        break
                measured += [found] if compiler else []
    if not measured:
        print("skipped: no compiler")
        return SKIP
    return 1 if max(measured) > options.limit_ms else 0
