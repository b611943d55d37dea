"""Runs one pair of launches in every environment that this machine offers, and says what each does to overlap (AMB-20).

    python3 conformance dev environments HARNESS [--device cuda] [--mps] [--json FILE] [--only NAME]

HARNESS is pdl-harness as `run` builds it. Prints a Markdown table: in how many trials the dependent overlapped, how many
were wrong, and in how many the missing wait of the mutant `nowait` showed. An environment in which nothing overlaps hides
every missing wait. Nothing is judged. `--mps` starts an MPS server of its own and ends it; where the device is
partitioned already (MIG), the table is about that partition. Exit 0 done, 64 bad arguments, 69 no such harness.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.mps import mps_server
from conformance.pdlkit.toolkit import toolkit_program

CASES = ("ATTR-04.store.widened.captured", "ATTR-04.store.widened.stream")
WRONG = ("stale", "poison", "misplaced", "torn", "foreign")
LIMIT_S = 45.0


@dataclass(frozen=True)
class Environment:
    """What surrounds the harness: variables, a tool in front of it, or an MPS server."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    tool: tuple[str, ...] = ()
    mps: bool = False


ENVIRONMENTS = (
    Environment("nothing special"),
    Environment("CUDA_LAUNCH_BLOCKING=1", {"CUDA_LAUNCH_BLOCKING": "1"}),
    Environment("CUDA_MODULE_LOADING=EAGER", {"CUDA_MODULE_LOADING": "EAGER"}),
    Environment("CUDA_DEVICE_MAX_CONNECTIONS=1", {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}),
    Environment("CUDA_DEVICE_MAX_CONNECTIONS=32", {"CUDA_DEVICE_MAX_CONNECTIONS": "32"}),
    Environment("CUDA_SCALE_LAUNCH_QUEUES=0.25x", {"CUDA_SCALE_LAUNCH_QUEUES": "0.25x"}),
    Environment("compute-sanitizer memcheck", tool=("compute-sanitizer", "--tool", "memcheck")),
    Environment("compute-sanitizer racecheck", tool=("compute-sanitizer", "--tool", "racecheck")),
    Environment("compute-sanitizer initcheck", tool=("compute-sanitizer", "--tool", "initcheck")),
    Environment("compute-sanitizer synccheck", tool=("compute-sanitizer", "--tool", "synccheck")),
    Environment("ncu", tool=("ncu", "--metrics", "gpu__time_duration.sum")),
    Environment("nsys", tool=("nsys", "profile", "--trace", "cuda", "--force-overwrite", "true", "--output", "{folder}/nsys")),
    Environment("MPS", mps=True),
)


@dataclass(frozen=True)
class Row:
    """What one case did in one environment; `why`: why there are no counts."""

    environment: str
    case: str
    why: str | None = None
    status: str | None = None
    trials: int = 0
    overlapped: int = 0
    wrong: int = 0
    mutant_trials: int = 0
    mutant_caught: int = 0


def read_rows(environment: str, text: str) -> list[Row]:
    """The rows in the harness's records."""
    records: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    rows = []
    for record in records:
        if record.get("record") != "case" or "trials" not in record:
            continue
        outcomes = record.get("outcomes", {})
        mutant = next((r for r in records if r.get("record") == "variant" and r["case"] == record["case"] and r["tag"] == "nowait"), {})
        rows.append(Row(
            environment, record["case"], None, record["status"], record["trials"]["run"], outcomes.get("overlap", 0),
            sum(outcomes.get(name, 0) for name in WRONG), mutant.get("trials", 0), mutant.get("kills", 0)))
    return rows


def _run(environment: Environment, harness: Path, device: str, folder: Path) -> list[Row]:
    records = folder / "records.jsonl"
    argv = [word.replace("{folder}", str(folder)) for word in environment.tool]
    if argv:
        argv[0] = str(toolkit_program(argv[0]))
    argv += [str(harness), "--family", "wait", "--device", device, "--profile", "smoke", "--seed", "1", "--records", str(records)]
    for case in CASES:
        argv += ["--case", case]
    try:
        done = subprocess.run(argv, env={**os.environ, **environment.variables}, capture_output=True, text=True, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return [Row(environment.name, case, f"no end within {LIMIT_S:.0f} s") for case in CASES]
    rows = read_rows(environment.name, records.read_text(encoding="utf-8")) if records.is_file() else []
    if rows:
        return rows
    last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1][:160]
    return [Row(environment.name, case, f"ended with {done.returncode}: {last}") for case in CASES]


def measure(environment: Environment, harness: Path, device: str) -> list[Row]:
    """The rows of one environment; one row that says why, if it cannot be had here."""
    needed = environment.tool[0] if environment.tool else "nvidia-cuda-mps-control" if environment.mps else None
    if needed and toolkit_program(needed) is None:
        return [Row(environment.name, "-", f"{needed} is not on this machine")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not environment.mps:
            return _run(environment, harness, device, folder)
        try:
            with mps_server(folder) as variables:
                return _run(Environment(environment.name, variables), harness, device, folder)
        except (OSError, subprocess.SubprocessError) as error:
            return [Row(environment.name, "-", f"the MPS server did not start: {error.__class__.__name__}")]


def heading(device: str) -> str:
    """The table's head."""
    return "\n".join((
        "# What an environment does to overlap", "",
        f"Device {device}. Made by `conformance dev environments`; nothing is judged. Where nothing overlaps, no missing wait shows.",
        "", "| environment | case | overlapped | wrong | missing wait showed |", "|---|---|---|---|---|"))


def line(row: Row) -> str:
    """One line of the table."""
    counts = (row.why, "-", "-") if row.why else (
        f"{row.overlapped} of {row.trials}", str(row.wrong), f"{row.mutant_caught} of {row.mutant_trials}")
    return "| " + " | ".join((row.environment, f"`{row.case}`" if row.case != "-" else "-", *(text or "" for text in counts))) + " |"


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="what each environment of this machine does to overlap")
    parser.add_argument("harness", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--mps", action="store_true", help="also below an MPS server, started and ended here")
    parser.add_argument("--only", metavar="NAME", help="only environments whose name contains this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows here")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return 64 if stop.code else 0
    if not os.access(options.harness, os.X_OK):
        print(f"environments: {options.harness}: no such executable; `python3 conformance run` builds pdl-harness", file=sys.stderr)
        return 69
    chosen = [e for e in ENVIRONMENTS if (options.mps or not e.mps) and (not options.only or options.only in e.name)]
    rows: list[Row] = []
    print(heading(options.device), flush=True)
    for environment in chosen:  # told one by one: whoever stops a slow tool keeps what there is
        rows += (new := measure(environment, options.harness.resolve(), options.device))
        print("\n".join(map(line, new)), flush=True)
        if options.json:
            options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0
