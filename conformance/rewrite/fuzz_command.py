"""Lets libFuzzer choose images for the rewriter and its reader of fat binaries, under the compiler's sanitizers.

    python3 conformance dev fuzz-rewriter [--seconds N]

It needs clang. N counts CPU time. The command ends with 0, or with 1 and the input at which the rewriter failed.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import tempfile
from pathlib import Path

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.toolchain import Tool
from conformance.rewrite.tests import damaged

PIECE_S = 60  # libFuzzer counts wall time, so it is started again until enough CPU time is used


def _used_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(folder: Path, seconds: float) -> tuple[int, str]:
    """(inputs tried, "" or what went wrong with the input); all pieces share one growing corpus."""
    clang, program, corpus, count = shutil.which("clang"), folder / "fuzz", folder / "corpus", 0
    if clang is None:
        raise SetupImpossible("clang with libFuzzer is needed (Debian and Ubuntu: apt-get install clang)")
    corpus.mkdir()
    for name, data in damaged.seeds().items():
        (corpus / name).write_bytes(data)
    damaged.build(Tool("clang", Path(clang), None), program, fuzzer=True)
    until = _used_s() + seconds
    while _used_s() < until:
        piece = max(1, min(PIECE_S, int(until - _used_s())))
        how = [f"-max_total_time={piece}", "-max_len=16384", "-print_final_stats=1", f"-artifact_prefix={folder}/found-"]
        done = run_tool([str(program), *how, str(corpus)], timeout=100.0 * piece + 600)
        said = done.stderr.decode(errors="replace")
        count += sum(map(int, re.findall(r"stat::number_of_executed_units: (\d+)", said)))
        if done.returncode != 0:
            return count, "\n".join([said[-4000:], *(path.read_bytes().hex() for path in folder.glob("found-*"))])
    return count, ""


def main(argv: list[str]) -> int:
    """Fuzz for a time; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description="let libFuzzer choose images for the rewriter")
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU time (60)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pdl-fuzz-") as name:
        count, why = fuzz(Path(name), options.seconds)
        print(why or f"rewriter: {count:,} inputs in {_used_s():.0f} s of CPU time, no failure", flush=True)
        return FAILED if why else OK
