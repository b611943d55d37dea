"""Submits a job array to Slurm: one task per node. Called again with the same folder, it submits only what was lost."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.fleet.records import Fleet, Plan, read
from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments, SetupImpossible

_TIME = re.compile(r"([1-9][0-9]{0,4})(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_QUEUED = ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "REQUEUED", "SUSPENDED", "REQUEUE_HOLD", "RESIZING")


def seconds(text: str) -> int:
    """10m, 2h and the like."""
    match = _TIME.fullmatch(text)
    if not match:
        raise BadArguments(f"--for {text}: write a number and s, m, h or d, such as 30m")
    return int(match[1]) * _SECONDS[match[2]]


def _slurm(*argv: str) -> str:
    """What a program of Slurm prints; SetupImpossible with its own words."""
    if shutil.which(argv[0]) is None:
        raise SetupImpossible(f"{argv[0]} is not there: call this where Slurm's commands are installed")
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SetupImpossible(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def queued(folder: Path) -> set[int]:
    """Tasks of this folder that Slurm still holds: waiting, running or requeued."""
    jobs = [line.split()[0] for line in _jobs_file(folder).read_text().splitlines()] if _jobs_file(folder).is_file() else []
    found = set[int]()
    for job in jobs:
        lines = subprocess.run(["squeue", "--noheader", "--array", "--jobs", job, "--format", "%K %T"], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL).stdout.splitlines()  # Slurm forgets old jobs, and says so by an error
        found |= {int(task) for task, state in (line.split()[:2] for line in lines if line.strip()) if task.isdigit() and state in _QUEUED}
    return found


def _jobs_file(folder: Path) -> Path:
    return folder / "jobs.txt"


def script(folder: Path, plan: Plan) -> str:
    """The batch script: one task of the array on one node, started by srun so that Slurm owns every process of it."""
    worker = [sys.executable, str(places.KIT), "fleet", "worker", str(folder.resolve())]
    lines = ["#!/bin/sh", "#SBATCH --requeue", "#SBATCH --nodes=1", "#SBATCH --open-mode=append"]
    if plan.seconds:
        lines.append(f"#SBATCH --time={plan.seconds // 60 + 2}")  # minutes; the worker ends its children before that
    lines.append("exec srun --ntasks=1 " + " ".join(map(shlex.quote, worker)) + ' --task "$SLURM_ARRAY_TASK_ID"')
    return "\n".join(lines) + "\n"


def missing(fleet: Fleet, held: set[int]) -> list[int]:
    """Tasks that neither ended nor are held by Slurm."""
    gone = set(range(fleet.plan.tasks)) - fleet.done() - held
    return sorted(gone)


def _free_claims(folder: Path, lost: list[int]) -> None:
    """What a lost task claimed is free again."""
    for claim in (folder / "records").glob("node-*.claim"):
        if claim.read_text(encoding="utf-8") in {str(task) for task in lost}:
            claim.unlink()


def spans(tasks: list[int]) -> str:
    """1,2,3,7 as Slurm writes it: 1-3,7."""
    parts: list[list[int]] = []
    for task in tasks:
        if parts and task == parts[-1][1] + 1:
            parts[-1][1] = task
        else:
            parts.append([task, task])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main(argv: list[str]) -> int:
    """The part `submit`."""
    parser = Parser("fleet submit", "submit a Slurm job array; again with the same folder, only what was lost", epilog=(
        "What stands after -- goes to sbatch: --partition, --gres=gpu:8, --exclusive, --constraint and the like."))
    parser.add_argument("folder", type=Path, help="on a file system that all nodes share")
    parser.add_argument("--tasks", type=int, metavar="N", help="how many nodes to judge (a new submission)")
    parser.add_argument("--profile", default="quick", choices=("smoke", "quick", "full", "soak"))
    parser.add_argument("--device", default="cuda", help="cuda: every GPU of a node; or model")
    parser.add_argument("--for", dest="time", metavar="TIME", help="limit per node, such as 30m")
    parser.add_argument("--harness", type=Path, help="a harness built by --preset portable, on the shared file system")
    parser.add_argument("--dry-run", action="store_true", help="print the script and the command instead of calling sbatch")
    cut = argv.index("--") if "--" in argv else len(argv)
    own, for_sbatch = argv[:cut], argv[cut + 1:]
    options = parser.parse_args(own)
    if for_sbatch and options.tasks is None:
        raise BadArguments("options of sbatch are given once, with --tasks; a later submit takes the same ones")
    if options.tasks is not None:
        if not 1 <= options.tasks <= 100_000:
            raise BadArguments(f"--tasks {options.tasks}: a number from 1 to 100000")
        Plan(options.tasks, options.device, options.profile, seconds(options.time) if options.time else None,
             tuple(for_sbatch), str(options.harness.resolve()) if options.harness else None).write(options.folder)
    fleet = read(options.folder)
    tasks = missing(fleet, set() if options.dry_run else queued(options.folder))
    if not tasks:
        print("nothing to submit: every task is done or held by Slurm")
        return OK
    judged = fleet.judged_nodes()
    exclude = [f"--exclude={','.join(judged)}"] if judged else []  # a task that is lost must not land on a node that is done
    _free_claims(options.folder, tasks)
    path = options.folder / "job.sh"
    path.write_text(script(options.folder, fleet.plan), encoding="utf-8")
    command = ["sbatch", "--parsable", f"--array={spans(tasks)}", "--job-name=pdl-conformance",
               f"--output={options.folder.resolve() / 'slurm-%A_%a.log'}", *exclude, *fleet.plan.sbatch, str(path)]
    if options.dry_run:
        print(path.read_text() + shlex.join(command))
        return OK
    job = _slurm(*command).strip().partition(";")[0]
    with open(_jobs_file(options.folder), "a", encoding="utf-8") as file:
        file.write(f"{job} {spans(tasks)}\n")
    print(f"job {job}: {len(tasks)} of {fleet.plan.tasks} tasks; `fleet status {os.fspath(options.folder)}` follows them")
    return OK
