"""`python3 conformance stress same -- COMMAND...`: whether a program computes the same once its kernels are rewritten, with a hold of 0."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from conformance.pdlkit.arguments import Parser, amount
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.stress.injection import library as injection
from conformance.stress.plan import Plan
from conformance.stress.program import ended, read_calibration

INCONCLUSIVE = 2


@dataclass
class Same:
    """What was compared."""

    kernels: int = 0                    # different kernels that were rewritten and launched
    not_rewritten: int = 0              # launched as they are
    lines: int = 0                      # of the plain run's output
    different: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


def _run(command: list[str], environment: dict[str, str], timeout: float) -> tuple[list[str], str | None]:
    code, out, err = ended(command, environment, timeout)
    if code is None:
        return [], "it did not end in time"
    said = err.decode(errors="replace").strip().splitlines()
    return out.decode(errors="replace").splitlines(), f"exit code {code}: {said[-1] if said else ''}" if code else None


def _shard(command: list[str], folder: Path, timeout: float) -> tuple[list[str], list[str], list[str], Path]:
    """Plain output, rewritten output, errors, and where the records are."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / "trigger.plan"
    Plan(calibrate=True).write(plan, ())
    rewritten = injection.environment(eager_loading=False) | {
        "PDL_STRESS_PLAN": str(plan), "PDL_STRESS_RECORDS": str(folder / "records.jsonl")}
    plain, bad = _run(command, injection.plain_environment() | {"TRITON_CACHE_DIR": str(folder / "plain-triton")}, timeout)
    other, worse = _run(command, rewritten, timeout)
    return plain, other, [f"plain: {bad}"] * bool(bad) + [f"rewritten: {worse}"] * bool(worse), folder


def compare(command: list[str], shards: int, folder: Path, timeout: float) -> Same:
    """All shards at the same time; `{shard}` and `{shards}` in the command are replaced by numbers."""
    began, found = time.monotonic(), Same()
    names: set[str] = set()
    others: set[str] = set()

    def one(number: int) -> tuple[list[str], list[str], list[str], Path]:
        words = [word.replace("{shards}", str(shards)).replace("{shard}", str(number)) for word in command]
        return _shard(words, folder / str(number), timeout)

    with ThreadPoolExecutor(shards) as pool:
        for plain, other, errors, place in pool.map(one, range(shards)):
            found.errors += errors
            found.lines += len(plain)
            found.different += [a for a, b in zip(plain, other, strict=False) if a != b]
            found.different += [f"{len(other)} lines instead of {len(plain)}"] * (len(plain) != len(other))
            for kernel in read_calibration(place / "records.jsonl").kernels.values():
                (names if kernel.rewritten else others).add(kernel.name)
                found.left |= {kernel.name: kernel.why} if kernel.why else {}
    found.kernels, found.not_rewritten = len(names), len(others - names)
    found.seconds = time.monotonic() - began
    return found


def main(argv: list[str]) -> int:
    """0 the same, 1 not the same, 2 nothing was rewritten or a run failed."""
    parser = Parser("stress same", "Run a program plainly, and with its kernels rewritten to trigger at entry and hold 0 ns; "
                    "compare the standard output.", usage="python3 conformance stress same [options] -- COMMAND...")
    parser.add_argument("--shards", type=int, default=1, metavar="N",
                        help="so many at a time, with {shard} and {shards} in COMMAND replaced (default %(default)s)")
    parser.add_argument("--timeout", type=amount, default=600.0, metavar="S", help="per run (default %(default)s)")
    parser.add_argument("--output", metavar="FILE", help="write the report as JSON here")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not command:
        raise BadArguments("there is no command to run; write it after --")
    if given.shards < 1 or given.timeout <= 0:
        raise BadArguments("--shards and --timeout take more than 0")
    with tempfile.TemporaryDirectory(prefix=f"same-{os.getpid()}-", dir=injection.work_folder()) as folder:
        found = compare(command, given.shards, Path(folder), given.timeout)
    text = json.dumps(asdict(found), indent=1)
    if given.output:
        Path(given.output).write_text(text + "\n", encoding="utf-8")
    for line in [*found.errors, *(f"differs: {line}" for line in found.different)]:
        print(line, file=sys.stderr)
    print(text if given.json else f"{found.kernels} rewritten kernels, {found.lines} lines, {len(found.different)} differ, "
          f"{found.not_rewritten} kernels could not be rewritten; {found.seconds:.0f} s")
    if found.different:
        return FAILED
    return INCONCLUSIVE if found.errors or not found.kernels or not found.lines else OK
