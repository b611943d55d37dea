"""Checks whether a built harness can be copied to a machine that has only a driver.

    python3 conformance dev portable HARNESS [--cuda ROOT] [--record portable.md] [--ran report.json]...

Static CUDA runtime, no library but the C library's and libgcc_s, machine code for each architecture of the preset that the
toolkit knows, and PTX. HARNESS may be a wheel that holds one. 0 it can, 1 it cannot. --ran adds what `run --harness`, or `run` of the
wheel, said of it elsewhere.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.read_report import read_report

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
    carried = "--harness" in report["run"]["argv"] or report["toolchain"].get("built") == "with the package"
    if not carried or report["device"]["kind"] != "gpu":
        raise SystemExit(f"{path}: not the report of a harness that was carried to a GPU")
    score, device, host = report["mutation_score"], report["device"], report["host"]
    cases = sum(test["status"] == "PASS" for test in report["tests"])
    only = f", only {' '.join(report['run']['only'])}" if report["run"]["only"] else ""
    hidden = "" if "--harness" in report["run"]["argv"] else " in sight"
    return (f"carried to {host['os']} with a {device['name']}, driver {report['driver']['version']}, no toolkit{hidden}: profile "
            f"{report['run']['profile']}{only}: {report['verdict']}, {cases} cases passed, mutation score "
            f"{score['killed']}/{score['applicable']} ({report['run']['started'][:10]})")


def unpacked(given: Path, folder: Path) -> Path:
    """The harness: the file itself, or the one inside a wheel."""
    if not given.is_file():
        raise BadArguments(f"{given}: no such harness and no such wheel")
    if not zipfile.is_zipfile(given):
        if given.read_bytes()[:4] != b"\x7fELF":
            raise BadArguments(f"{given}: it is neither an executable nor a wheel")
        return given
    with zipfile.ZipFile(given) as wheel:
        inside = [name for name in wheel.namelist() if name.endswith("/prebuilt/pdl-harness")]
        if not inside:
            raise BadArguments(f"{given}: this wheel holds no harness for GPUs; `dev wheel --gpu` puts one in")
        return Path(wheel.extract(inside[0], folder))


def judged(harness: Path, nvcc: str, ran_elsewhere: Sequence[Path]) -> tuple[list[str], list[str]]:
    """What the harness is, in lines, and what keeps it from being copied."""
    known = re.findall(r"sm_([0-9]+)\b", say(nvcc, "--list-gpu-code"))
    wanted = [number for number in WANTED if number in known]
    code, ptx = images(str(tool("cuobjdump")), harness)
    lines = [
        f"needs {', '.join(libraries(harness))}; glibc {newest_glibc(harness)} or newer",
        f"machine code: {', '.join(f'sm_{number} ({code[number]})' for number in sorted(code, key=int))}",
        f"PTX: {', '.join(f'compute_{number} ({ptx[number]})' for number in sorted(ptx, key=int))}",
        f"size: {harness.stat().st_size / 1e6:.1f} MB",
        *(map(ran, ran_elsewhere) if ran_elsewhere else ["this build was not yet run where no toolkit is in sight"]),
    ]
    bad = [f"it needs {name}" for name in libraries(harness) if not C_LIBRARY.fullmatch(name)]
    # images that a rule needs for one architecture are added to these
    bad += [f"it lacks machine code for sm_{number}" for number in wanted if code[number] < ptx[wanted[0]]]
    return lines, bad if ptx[wanted[0]] else [*bad, f"it holds no PTX for compute_{wanted[0]}"]


def main(argv: Sequence[str] | None = None) -> int:
    """Look, say, and write it down."""
    parser = argparse.ArgumentParser(description="Look at a harness that is to be copied.")
    parser.add_argument("harness", type=Path, help="the executable, or a wheel that holds it")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="the toolkit it was built with")
    parser.add_argument("--record", type=Path, help="Markdown file for what was found")
    parser.add_argument("--ran", type=Path, action="append", default=[], help="report.json of a run with this harness")
    options = parser.parse_args(argv)
    nvcc = str(options.cuda / "bin" / "nvcc")
    if not Path(nvcc).is_file():
        raise SetupImpossible(f"{nvcc} is not there; --cuda names the toolkit that the harness was built with")
    with tempfile.TemporaryDirectory() as folder:
        lines, bad = judged(unpacked(options.harness, Path(folder)), nvcc, options.ran)
    print("\n".join(lines))
    if options.record:
        version = re.findall(r"release ([0-9.]+)", say(nvcc, "--version"))[0]
        head = f"# The portable harness\n\nWritten by `dev portable`, never by hand. Built with nvcc {version}.\n\n"
        options.record.write_text(head + "".join(f"- {line}\n" for line in lines), encoding="utf-8")
    if bad:
        print(f"it cannot be copied: {', '.join(bad)}", file=sys.stderr)
    return FAILED if bad else OK


if __name__ == "__main__":
    sys.exit(main())
