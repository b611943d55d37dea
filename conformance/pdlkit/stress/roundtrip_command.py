"""`python3 conformance stress roundtrip FILE.ptx...`: whether real PTX still assembles once it is rewritten, everywhere."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pdlkit.arguments import Parser
from pdlkit.exits import FAILED, OK, BadArguments
from pdlkit.stress.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, TRIGGER, Settings
from pdlkit.stress.ptxas_wrapper import clean_environment, real_ptxas
from pdlkit.stress.rewriter import Outcome, rewrite

ARCHITECTURES = ("90", "100", "103", "110", "120")
EVERYTHING = Settings(TRIGGER | HOLD | AFTER_WAIT | BEFORE_EXIT, 0, 1000, 1)
NEWEST_VERSION = ".version 9.0"  # the first that knows every architecture of the kit


@dataclass
class Count:
    """The sums of a round trip."""

    files: int = 0
    kernels: int = 0
    mebibytes: float = 0.0
    rewrite_s: float = 0.0
    assembled: int = 0
    not_for_this_target: int = 0  # the unchanged text does not assemble there either
    refused: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


def _retargeted(text: str, arch: str) -> str:
    text = re.sub(r"\.version\s+\d+\.\d+", NEWEST_VERSION, text, count=1)
    return re.sub(r"(\.target\s+)sm_\d+[a-z]?", rf"\g<1>sm_{arch}", text, count=1)


def _assembles(ptxas: str, text: str, arch: str, folder: Path) -> str | None:
    source = folder / "module.ptx"
    source.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    done = subprocess.run([ptxas, "-O1", f"-arch=sm_{arch}", str(source), "-o", str(folder / "module.cubin")],
                          capture_output=True, text=True, errors="replace", env=clean_environment(), check=False)
    return None if done.returncode == 0 else (done.stderr.splitlines() or ["no message"])[0]


def _one(path: Path, architectures: Iterable[str], ptxas: str, count: Count, folder: Path) -> None:
    text = path.read_bytes().rstrip(b"\0").decode("utf-8", errors="surrogateescape")
    began = time.perf_counter()
    rewrite(text, lambda _: Settings(TRIGGER | HOLD, 0, 1000, 1), tunable=True)  # what the wrappers do by default
    count.rewrite_s += time.perf_counter() - began
    out: Outcome = rewrite(text, lambda _: EVERYTHING, tunable=True)
    count.files += 1
    count.kernels += len(out.rewritten)
    count.mebibytes += len(text) / 2**20
    count.left |= {f"{path.name}: {name}": why for name, why in out.left.items()}
    own = re.search(r"\.target\s+sm_(\d+[a-z]?)", out.text)
    for arch in dict.fromkeys([*architectures, *([own[1]] if own else [])]):
        why = _assembles(ptxas, _retargeted(out.text, arch), arch, folder)
        if why is None:
            count.assembled += 1
        elif _assembles(ptxas, _retargeted(text, arch), arch, folder):
            count.not_for_this_target += 1
        else:
            count.refused.append(f"{path.name} for sm_{arch}: {why}")


def main(argv: list[str]) -> int:
    """0 if whatever assembles as it is assembles rewritten, too."""
    parser = Parser("stress roundtrip", "Rewrite PTX files in every way at once and assemble the result for every architecture.")
    parser.add_argument("files", nargs="+", metavar="FILE.ptx")
    parser.add_argument("--arch", action="append", metavar="CC", help=f"default: {', '.join(ARCHITECTURES)} and the file's own")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    given = parser.parse_args(argv)
    missing = [name for name in given.files if not Path(name).is_file()]
    if missing:
        raise BadArguments(f"{missing[0]} is not a file")
    count, ptxas = Count(), real_ptxas()
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        for name in given.files:
            _one(Path(name), given.arch or ARCHITECTURES, ptxas, count, Path(folder))
    speed = count.mebibytes / count.rewrite_s if count.rewrite_s else 0.0
    if given.json:
        print(json.dumps({**count.__dict__, "mebibytes_per_second": speed}, indent=2))
    else:
        for line in count.refused:
            print(f"refused: {line}")
        for name, why in sorted(count.left.items()):
            print(f"left alone: {name}: {why}")
        print(f"{count.kernels} kernels in {count.files} files, {count.assembled} assemblies right, {len(count.refused)} refused, "
              f"{count.not_for_this_target} not possible even unchanged; {speed:.0f} MiB/s as the wrappers rewrite")
    return FAILED if count.refused or not count.kernels else OK
