"""Checks whether a built harness can be copied to a machine that has only a driver.

    python3 conformance dev portable HARNESS [--cuda ROOT] [--record portable.md] [--ran report.json]...

Static CUDA runtime, no library but the C library's and libgcc_s, machine code for each architecture of the preset that the
toolkit knows, and PTX. 0 it can, 1 it cannot, 77 without the toolkit's cuobjdump (its Python package will do: --cuobjdump).
--ran adds what `run --harness` said of it elsewhere.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.read_report import read_report

SKIP = 77
WANTED = ("90", "100", "103", "110", "120")
C_LIBRARY = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.[0-9]+|ld-linux-[a-z0-9_-]+\.so\.[0-9]+")


def say(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def libraries(harness: Path) -> list[str]:
    """What the loader will look for."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^]]+)\]", say("readelf", "-d", str(harness)))


def newest_glibc(harness: Path) -> str:
    """The oldest glibc that is new enough."""
    found = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", say("readelf", "-V", str(harness)))}
    return ".".join(map(str, max(found)))


def images(cuobjdump: str, harness: Path) -> tuple[Counter[str], Counter[str]]:
    """How many pieces of machine code and of PTX per architecture."""
    code = Counter(re.findall(r"\.sm_([0-9]+)[a-z]?\.cubin", say(cuobjdump, "--list-elf", str(harness))))
    ptx = Counter(re.findall(r"\.sm_([0-9]+)[a-z]?\.ptx", say(cuobjdump, "--list-ptx", str(harness))))
    return code, ptx


def ran(path: Path) -> str:
    """What a report says of this harness on another machine."""
    report = read_report(path)
    if "--harness" not in report["run"]["argv"] or report["device"]["kind"] != "gpu":
        raise SystemExit(f"{path}: not the report of a harness that was carried to a GPU")
    score, device, host = report["mutation_score"], report["device"], report["host"]
    cases = sum(test["status"] == "PASS" for test in report["tests"])
    only = f", only {' '.join(report['run']['only'])}" if report["run"]["only"] else ""
    return (f"carried to {host['os']} with a {device['name']}, driver {report['driver']['version']}, no toolkit: profile "
            f"{report['run']['profile']}{only}: {report['verdict']}, {cases} cases passed, mutation score "
            f"{score['killed']}/{score['applicable']} ({report['run']['started'][:10]})")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Look at a harness that is to be copied.")
    parser.add_argument("harness", type=Path)
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="the toolkit it was built with")
    parser.add_argument("--cuobjdump", help="its cuobjdump, if it lies elsewhere")
    parser.add_argument("--record", type=Path, help="Markdown file for what was found")
    parser.add_argument("--ran", type=Path, action="append", default=[], help="report.json of a run with this harness")
    options = parser.parse_args(argv)
    cuobjdump = options.cuobjdump or shutil.which(str(options.cuda / "bin" / "cuobjdump")) or shutil.which("cuobjdump")
    if cuobjdump is None:
        print("skipped: no cuobjdump")
        return SKIP
    known = re.findall(r"sm_([0-9]+)\b", say(str(options.cuda / "bin" / "nvcc"), "--list-gpu-code"))
    wanted = [number for number in WANTED if number in known]
    foreign = [name for name in libraries(options.harness) if not C_LIBRARY.fullmatch(name)]
    code, ptx = images(cuobjdump, options.harness)
    lines = [f"needs {', '.join(libraries(options.harness))}; glibc {newest_glibc(options.harness)} or newer",
             f"machine code: {', '.join(f'sm_{number} ({code[number]})' for number in sorted(code, key=int))}",
             f"PTX: {', '.join(f'compute_{number} ({ptx[number]})' for number in sorted(ptx, key=int))}",
             f"size: {options.harness.stat().st_size / 1e6:.1f} MB", *map(ran, options.ran)]
    print("\n".join(lines))
    if options.record:
        head = "# The portable harness\n\nWritten by portable.py, never by hand: `cmake --preset portable`, nvcc "
        version = re.findall(r"release ([0-9.]+)", say(str(options.cuda / "bin" / "nvcc"), "--version"))[0]
        options.record.write_text(head + version + ".\n\n" + "".join(f"- {line}\n" for line in lines), encoding="utf-8")
    # images that a rule needs for one architecture are added to these
    gone = [f"sm_{number}" for number in wanted if code[number] < ptx[wanted[0]]]
    if foreign or gone or ptx[wanted[0]] == 0:
        print(f"it cannot be copied: it needs {foreign}, lacks {gone}, has {ptx[wanted[0]]} pieces of PTX for the oldest", file=sys.stderr)
        return 1
    return 0
