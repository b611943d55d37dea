"""Judges the GPUs of the node it runs on for one task of a submission; the job array calls it.

Each GPU is a run of its own, so that one sick GPU does not stop the others. A node that another task of the submission has
judged already is not judged twice.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.fleet.digest import shortened
from conformance.fleet.records import Plan, Writer, claim_file
from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.children import run_silent
from conformance.pdlkit.exits import OK, BadArguments
from conformance.pdlkit.machine import ask_driver
from conformance.pdlkit.read_report import report_of

GRACE_S = 30.0  # between the request to stop, after which a run writes its report, and the end by force


def node_name() -> str:
    """Slurm's name of this node, else the machine's."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def _claim(folder: Path, node: str, task: int) -> bool:
    """Whether this task is the one that judges the node; a task that was killed takes its own claim up again."""
    claim = claim_file(folder, node)
    try:
        with open(claim, "x", encoding="utf-8") as file:
            file.write(str(task))
        return True
    except FileExistsError:
        return claim.read_text(encoding="utf-8") == str(task)


def _devices(plan: Plan) -> list[str]:
    """What to judge here: every GPU of this node, or the one device that the plan names."""
    if plan.device not in ("auto", "cuda"):
        return [plan.device]
    driver = ask_driver()
    return [f"cuda:{ordinal}" for ordinal in range(len(driver.gpus))] or ["cuda"]


def judge(plan: Plan, device: str, output: Path, limit: float | None) -> dict[str, Any] | str:
    """The report of one GPU, or the sentence that says why there is none."""
    argv = [sys.executable, str(places.KIT), "run", "--device", device, "--profile", plan.profile, "--output", str(output)]
    if plan.harness:
        argv += ["--harness", plan.harness]
    found = report_of(output, run_silent(argv, limit, GRACE_S))
    return f"the run {found}" if isinstance(found, str) else found


def main(argv: list[str]) -> int:
    """The part `worker`; 0 when the task is done, whatever its verdict: a verdict is not a failure of the job."""
    parser = Parser("fleet worker", "judge the GPUs of this node for one task of a submission")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", type=int, required=True)
    parser.add_argument("--attempt", default=os.environ.get("SLURM_RESTART_COUNT", "0"), help="how often Slurm started it before")
    options = parser.parse_args(argv)
    if not re.fullmatch(r"[0-9]{1,6}", options.attempt):
        raise BadArguments(f"--attempt {options.attempt}: write a number")
    plan, node = Plan.read(options.folder), node_name()
    attempt = f"{options.attempt}-{time.time_ns()}"
    writer = Writer(options.folder, options.task, attempt)
    try:
        writer.write("begin", node=node, job=os.environ.get("SLURM_JOB_ID", ""))
        if not _claim(options.folder, node, options.task):
            writer.write("end", duplicate=True)
            return OK
        devices = _devices(plan)
        for ordinal, device in enumerate(devices):
            output = options.folder / "reports" / f"{options.task}-{attempt}" / device.replace(":", "-")
            limit = plan.seconds / len(devices) if plan.seconds else None
            report = judge(plan, device, output, limit)
            finished = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            if isinstance(report, str):
                writer.write("lost", device=device, why=report)
            else:
                writer.write("gpu", **shortened(report, node, ordinal, finished))
        writer.write("end", devices=len(devices))
        return OK
    finally:
        writer.close()
