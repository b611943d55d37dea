"""`python3 conformance stress roundtrip FILE.ptx...`: whether real PTX, once rewritten, still assembles for every architecture."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.toolkit import toolkit_program
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, TRIGGER, Settings
from conformance.stress.ptx.rewriter import Outcome, rewrite

ARCHITECTURES = ("90", "100", "103", "110", "120")
EVERYTHING = Settings(TRIGGER | HOLD | AFTER_WAIT | BEFORE_EXIT, 0, 1000, 1)
NEWEST_VERSION = ".version 9.0"  # the first that knows every architecture of the kit


def real_ptxas() -> str:
    """The toolkit's assembler."""
    found = toolkit_program("ptxas")
    if found is None:
        raise SetupImpossible("ptxas is not on PATH; put the CUDA Toolkit's bin folder there")
    return str(found)


@dataclass
class Count:
    """The totals of a round trip."""

    files: int = 0
    kernels: int = 0
    mebibytes: float = 0.0
    rewrite_s: float = 0.0     # processor time, rewritten
    assembled: int = 0
    not_for_this_target: int = 0  # the unchanged text does not assemble there either
    refused: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    kernels_by_file: dict[str, int] = field(default_factory=dict)


def _retargeted(text: str, arch: str) -> str:
    text = re.sub(r"\.version\s+\d+\.\d+", NEWEST_VERSION, text, count=1)
    return re.sub(r"(\.target\s+)sm_\d+[a-z]?", rf"\g<1>sm_{arch}", text, count=1)


def _assembles(ptxas: str, text: str, arch: str, folder: Path) -> str | None:
    source = folder / "module.ptx"
    source.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    done = subprocess.run([ptxas, "-O1", f"-arch=sm_{arch}", str(source), "-o", str(folder / "module.cubin")],
                          capture_output=True, text=True, errors="replace", check=False)
    return None if done.returncode == 0 else (done.stderr.splitlines() or ["no message"])[0]


def _text(path: Path) -> str:
    return path.read_bytes().rstrip(b"\0").decode("utf-8", errors="surrogateescape")


def _rewrite(path: Path, count: Count) -> Outcome:
    text = _text(path)
    began = time.thread_time()
    rewrite(text, lambda _: Settings(TRIGGER | HOLD, 0, 1000, 1))
    count.rewrite_s += time.thread_time() - began
    out = rewrite(text, lambda _: EVERYTHING)
    count.files += 1
    count.kernels += len(out.rewritten)
    count.kernels_by_file[path.name] = len(out.rewritten)
    count.mebibytes += len(text) / 2**20
    count.left |= {f"{path.name}: {name}": why for name, why in out.left.items()}
    return out


def _assemble(path: Path, out: Outcome, arch: str, ptxas: str, count: Count) -> None:
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        why = _assembles(ptxas, _retargeted(out.text, arch), arch, Path(folder))
        if why is None:
            count.assembled += 1
        elif _assembles(ptxas, _retargeted(_text(path), arch), arch, Path(folder)):
            count.not_for_this_target += 1
        else:
            count.refused.append(f"{path.name} for sm_{arch}: {why}")


def travel(files: list[Path], architectures: Iterable[str], ptxas: str, jobs: int) -> Count:
    """Every file to every architecture."""
    count = Count()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for path in files:
            out = _rewrite(path, count)
            own = re.search(r"\.target\s+sm_(\d+[a-z]?)", out.text)
            for arch in dict.fromkeys([*architectures, *([own[1]] if own else [])]):
                waiting.append(pool.submit(_assemble, path, out, arch, ptxas, count))
        for job in waiting:
            job.result()
    return count


def _report(count: Count, architectures: Iterable[str], ptxas: str) -> dict[str, object]:
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=False).stdout.strip().splitlines()
    return {"schema": "pdl-stress-roundtrip/1", "ptxas": version[-1] if version else None, "architectures": list(architectures),
            **count.__dict__, "mebibytes_per_second": count.mebibytes / count.rewrite_s if count.rewrite_s else 0.0}


def main(argv: list[str]) -> int:
    """0 if all that assembles unchanged also assembles once rewritten."""
    parser = Parser("stress roundtrip", "Rewrite PTX files in every way at once and assemble the result for every architecture.")
    parser.add_argument("files", nargs="+", metavar="FILE.ptx")
    parser.add_argument("--arch", action="append", metavar="CC", help=f"default: {', '.join(ARCHITECTURES)} and the file's own")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="assemblers at a time (default %(default)s)")
    parser.add_argument("--record", metavar="FILE", help="write the report as JSON here")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    given = parser.parse_args(argv)
    missing = [name for name in given.files if not Path(name).is_file()]
    if missing:
        raise BadArguments(f"{missing[0]} is not a file")
    if given.jobs < 1:
        raise BadArguments("--jobs takes 1 or more")
    ptxas, architectures = real_ptxas(), given.arch or ARCHITECTURES
    count = travel([Path(name) for name in given.files], architectures, ptxas, given.jobs)
    report = _report(count, architectures, ptxas)
    if given.record:
        Path(given.record).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if given.json:
        print(json.dumps(report, indent=1))
    else:
        for line in count.refused:
            print(f"refused: {line}")
        for name, why in sorted(count.left.items()):
            print(f"left alone: {name}: {why}")
        print(f"{count.kernels} kernels in {count.files} files, {count.assembled} assemblies right, {len(count.refused)} refused, "
              f"{count.not_for_this_target} do not assemble even unchanged; {report['mebibytes_per_second']:.0f} MiB/s rewritten")
    return FAILED if count.refused or not count.kernels else OK
