"""What of a submission is done, held by Slurm, lost and missing."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from conformance.fleet.records import Fleet, read
from conformance.fleet.submit import missing, queued
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK


def summary(fleet: Fleet, held: set[int]) -> dict[str, Any]:
    """Counts that add up: done + held + missing = tasks."""
    done = fleet.done()
    return {
        "tasks": fleet.plan.tasks, "done": len(done), "held_by_slurm": len(held - done), "missing": missing(fleet, held),
        "attempts_cut_short": [f"{a.task} on {a.node or 'no node'}" for a in fleet.attempts if not a.ended and a.task not in held],
        "lost": fleet.lost(),
        "tasks_on_a_node_judged_already": sum(a.duplicate for a in fleet.attempts), "damaged_lines": fleet.damaged_lines,
        "gpus": len(fleet.gpus), "verdicts": dict(Counter(gpu["verdict"] for gpu in fleet.gpus)),
    }


def main(argv: list[str]) -> int:
    """The part `status`."""
    parser = Parser("fleet status", "what is done, held by Slurm, lost and missing")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    fleet = read(options.folder)
    found = summary(fleet, queued(options.folder) if shutil.which("squeue") else set())
    if options.json:
        print(json.dumps(found, indent=1))
        return OK
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in found["verdicts"].items()) or "none"
    print(f"{found['done']} of {found['tasks']} tasks done, {found['held_by_slurm']} held by Slurm, {len(found['missing'])} missing; "
          f"{found['gpus']} GPUs judged: {verdicts}")
    for text in found["attempts_cut_short"]:
        print(f"  cut short: task {text}")
    for text in found["lost"]:
        print(f"  lost: {text}")
    if found["missing"]:
        print(f"  `fleet submit {options.folder}` submits what is missing")
    if fleet.damaged_lines:
        print(f"  {fleet.damaged_lines} damaged lines were left out")
    return OK
