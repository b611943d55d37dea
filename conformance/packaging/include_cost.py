"""What pdl.h adds to the compile of a file, as a ratio within one run, so that neither the machine nor its load decides.

    python3 conformance dev include-cost [--cuda ROOT] [--pairs 15] [--limit 2.6] [--against FOLDER] [--instructions]

The unit is what <cuda_runtime_api.h> alone adds to an empty file with the same compiler: pdl.h must not add more than --limit
times that. --against FOLDER compares with another pdl.h instead (that of an earlier version): the ratio is then new to old.
All units of a comparison are compiled in turn, the least CPU time of each counts, and a ratio above the limit is measured
again, up to three times. --instructions counts what the compiler executes (by valgrind) in place of time, which no load changes.
0 within the limit, 1 above it, 77 no compiler or no valgrind.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.cpu_time import cpu_ms

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {"gcc": "c", "g++": "cpp", "clang": "c", "clang++": "cpp"}
EMPTY = "int anything;\n"
TOOLKIT = "#include <cuda_runtime_api.h>\nint anything;\n"
OURS = "#include <cuda_runtime_api.h>\n#include <pdl.h>\nint anything;\n"
SKIP = 77
TRIES = 3


@dataclass(frozen=True)
class Unit:
    """A file to compile, and the flags that go with it."""

    name: str
    text: str
    flags: tuple[str, ...]


def instructions(argv: Sequence[str], folder: Path) -> float:
    """Millions of instructions of one compile, with all its child processes."""
    logs = folder / "valgrind"
    logs.mkdir()
    subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={os.devnull}",
                    f"--log-file={logs}/%p", *argv], stdin=subprocess.DEVNULL, check=True)
    found = [int(count) for log in logs.iterdir() for count in re.findall(r"Collected : (\d+)", log.read_text(encoding="utf-8"))]
    shutil.rmtree(logs)
    return sum(found) / 1e6


def least_of(compiler: str, suffix: str, units: Sequence[Unit], pairs: int, folder: Path, count: bool = False) -> dict[str, float]:
    """The least CPU time of each unit, or the instructions that it takes; they are compiled in turn."""
    least = {unit.name: float("inf") for unit in units}
    for _ in range(1 if count else pairs):
        for unit in units:
            source = folder / f"{unit.name}.{suffix}"
            source.write_text(unit.text, encoding="utf-8")
            argv = [compiler, *unit.flags, "-c", str(source), "-o", os.devnull]
            least[unit.name] = min(least[unit.name], instructions(argv, folder) if count else cpu_ms(argv))
    return least


def units_of(options: argparse.Namespace, level: str) -> list[Unit]:
    toolkit = (level, *options.define, "-isystem", str(options.cuda / "include"))
    quiet = ("-w",) if options.against else ()  # an older version may warn; both are then compiled without looking for warnings
    found = [Unit("empty", EMPTY, toolkit), Unit("toolkit", TOOLKIT, (*toolkit, *quiet)),
             Unit("ours", OURS, (*toolkit, *quiet, "-I", str(options.headers)))]
    if options.against:
        found.append(Unit("other", OURS, (*toolkit, *quiet, "-I", str(options.against))))
    return found


def ratio_of(least: dict[str, float], against: bool) -> float:
    """What pdl.h adds, by what it is compared with."""
    added = least["ours"] - least["toolkit"]
    return added / (least["other"] - least["toolkit"] if against else least["toolkit"] - least["empty"])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what pdl.h adds to the compile of a file, as a ratio.")
    parser.add_argument("--headers", type=Path, default=ROOT, help="folder of pdl.h")
    parser.add_argument("--against", type=Path, help="folder of another pdl.h to compare with")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    parser.add_argument("--compilers", nargs="+", choices=SUFFIXES, default=list(SUFFIXES))
    parser.add_argument("--levels", nargs="+", default=["-O0", "-O2"])
    parser.add_argument("--define", action="append", default=[], help="a flag for all units, such as -DPDL_NO_GRAPHS")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--limit", type=float, default=2.6)
    parser.add_argument("--instructions", action="store_true", help="count instructions, once, in place of time")
    options = parser.parse_args(argv)
    if options.instructions and not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return SKIP
    measured, unit = [], "million instructions" if options.instructions else "ms"
    what = f"of what {options.against} adds" if options.against else "times what <cuda_runtime_api.h> adds"
    with tempfile.TemporaryDirectory() as folder:
        for name in options.compilers:
            compiler = shutil.which(name)
            for level in options.levels if compiler else ():
                for _ in range(TRIES):
                    least = least_of(str(compiler), SUFFIXES[name], units_of(options, level), options.pairs, Path(folder),
                                     options.instructions)
                    ratio = ratio_of(least, options.against is not None)
                    print(f"{name} {level}: pdl.h adds {ratio:.2f} {what}, {least['ours'] - least['toolkit']:.1f} {unit} here", flush=True)
                    if ratio <= options.limit or options.instructions:
                        break
                measured.append(ratio)
    if not measured:
        print("skipped: no compiler")
        return SKIP
    return 1 if max(measured) > options.limit else 0
