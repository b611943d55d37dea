"""What pdl.h adds to the compile of a file, as a ratio within one run, so that neither the machine nor its load decides.

    python3 conformance dev include-cost [--cuda ROOT] [--pairs 15] [--limit 2.6] [--against FOLDER]

The unit is what <cuda_runtime_api.h> alone adds to an empty file with the same compiler: pdl.h must not add more than --limit
times that. --against FOLDER compares with another pdl.h instead (that of an earlier version): the ratio is then new to old.
All units of a comparison are compiled in turn, the least CPU time of each counts, and a ratio above the limit is measured
again, up to three times. 0 within the limit, 1 above it, 77 no compiler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


def cpu_ms(argv: Sequence[str]) -> float:
    """CPU time of one compile, with all its child processes."""
    process = subprocess.Popen(list(argv), stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(argv)} failed")
    return 1000.0 * (usage.ru_utime + usage.ru_stime)


def least_ms(compiler: str, suffix: str, units: Sequence[Unit], pairs: int, folder: Path) -> dict[str, float]:
    """The least CPU time of each unit; they are compiled in turn."""
    least = {unit.name: float("inf") for unit in units}
    for _ in range(pairs):
        for unit in units:
            source = folder / f"{unit.name}.{suffix}"
            source.write_text(unit.text, encoding="utf-8")
            least[unit.name] = min(least[unit.name], cpu_ms([compiler, *unit.flags, "-c", str(source), "-o", os.devnull]))
    return least


def units_of(options: argparse.Namespace, level: str) -> list[Unit]:
    toolkit = (level, *options.define, "-isystem", str(options.cuda / "include"))
    found = [Unit("empty", EMPTY, toolkit), Unit("toolkit", TOOLKIT, toolkit),
             Unit("ours", OURS, (*toolkit, "-I", str(options.headers)))]
    if options.against:
        found.append(Unit("other", OURS, (*toolkit, "-w", "-I", str(options.against))))
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
    options = parser.parse_args(argv)
    measured = []
    what = f"of what {options.against} adds" if options.against else "times what <cuda_runtime_api.h> adds"
    with tempfile.TemporaryDirectory() as folder:
        for name in options.compilers:
            compiler = shutil.which(name)
            for level in options.levels if compiler else ():
                for _ in range(TRIES):
                    least = least_ms(str(compiler), SUFFIXES[name], units_of(options, level), options.pairs, Path(folder))
                    ratio = ratio_of(least, options.against is not None)
                    print(f"{name} {level}: pdl.h adds {ratio:.2f} {what}, {least['ours'] - least['toolkit']:.1f} ms here", flush=True)
                    if ratio <= options.limit:
                        break
                measured.append(ratio)
    if not measured:
        print("skipped: no compiler")
        return SKIP
    return 1 if max(measured) > options.limit else 0
