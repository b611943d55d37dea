"""A real Slurm with several nodes on this machine: submit, a node killed in the middle, a hung run, requeue, a complete report.

On demand, because it starts daemons: PDL_TEST_SLURM=1 pytest conformance/fleet/tests/test_slurm.py (Debian: slurmctld, slurmd, munge).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.fleet import records, report, status, submit
from conformance.pdlkit.many_gpus import COUNTED_KINDS
from conformance.pdlkit.places import KIT, ROOT

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scontrol")
WAIT_S = float(os.environ.get('PDL_TEST_WAIT_S', '600'))  # against a hang
pytestmark = [
    pytest.mark.skipif(os.environ.get("PDL_TEST_SLURM") != "1", reason="on demand: PDL_TEST_SLURM=1 starts a Slurm of its own"),
    pytest.mark.skipif(any(shutil.which(name) is None for name in PROGRAMS), reason="Slurm is not installed here"),
]
NODES = 4
# Stands in for `run`'s harness: hangs where the file `hang` is, once, so that only the first attempt does.
HARNESS = """#!{python}
import os, sys, time
folder = {folder!r}
node = os.environ.get("SLURMD_NODENAME", "")
for name, seconds in (("hang", 600), ("slow", 20)):
    mark = os.path.join(folder, name + "-" + node)
    if "--probe" not in sys.argv and os.path.exists(mark):
        os.rename(mark, mark + ".seen")
        time.sleep(seconds)
os.environ["FAKE_HARNESS"] = "{{}}"
os.execv({python!r}, [{python!r}, {fake!r}, *sys.argv[1:]])
"""


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Cluster:
    """The daemons, and the environment in which Slurm's commands find them."""

    folder: Path
    nodes: dict[str, subprocess.Popen[bytes]]

    def start_node(self, name: str) -> None:
        log = open(self.folder / f"{name}.out", "ab")
        self.nodes[name] = subprocess.Popen(["slurmd", "-D", "-N", name], stdout=log, stderr=log)

    def kill_node(self, name: str) -> None:
        """Everything of the node at once, as a power cut does."""
        self.nodes[name].kill()
        self.nodes[name].wait()
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and f"SLURMD_NODENAME={name}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except (OSError, ValueError):
                continue


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    key, sock = tmp_path / "munge.key", tmp_path / "munge.socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    munged = subprocess.Popen(["munged", "-F", "--force", f"--key-file={key}", f"--socket={sock}", f"--pid-file={tmp_path}/munge.pid",
                               f"--log-file={tmp_path}/munge.log", f"--seed-file={tmp_path}/munge.seed"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (tmp_path / "state").mkdir()
    names = [f"n{i}" for i in range(NODES)]
    host = socket.gethostname()
    lines = ["ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root", f"AuthInfo=socket={sock}",
             f"SlurmctldPort={_port()}", f"StateSaveLocation={tmp_path}/state", f"SlurmdSpoolDir={tmp_path}/spool-%n",
             f"SlurmctldPidFile={tmp_path}/ctld.pid", f"SlurmdPidFile={tmp_path}/%n.pid", "ProctrackType=proctrack/linuxproc",
             "TaskPlugin=task/none", "ReturnToService=2", "SlurmdTimeout=10", "MessageTimeout=10", "SchedulerType=sched/builtin",
             "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "SlurmdParameters=config_overrides", "GresTypes=gpu",
             "JobAcctGatherType=jobacct_gather/none", "KillWait=5", "SwitchType=switch/none", "MpiDefault=none", "BatchStartTimeout=60"]
    lines += [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={_port()} CPUs=2 Gres=gpu:2 State=UNKNOWN" for name in names]
    lines += [f"PartitionName=all Nodes={','.join(names)} Default=YES MaxTime=60 State=UP"]
    (tmp_path / "slurm.conf").write_text("\n".join(lines) + "\n")
    for gpu in ("gpu0", "gpu1"):
        (tmp_path / gpu).touch()
    (tmp_path / "gres.conf").write_text("".join(f"NodeName={name} Name=gpu File={tmp_path}/gpu[0-1]\n" for name in names))
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    until(lambda: sock.exists(), "munged")
    control = subprocess.Popen(["slurmctld", "-D"], stdout=open(tmp_path / "ctld.out", "ab"), stderr=subprocess.STDOUT)
    made = Cluster(tmp_path, {})
    try:
        for name in names:
            made.start_node(name)
        idle = ["sinfo", "-h", "-t", "idle", "-o", "%D"]
        until(lambda: subprocess.run(idle, capture_output=True, text=True).stdout.strip() == str(NODES), "four idle nodes", tmp_path)
        yield made
    finally:
        for process in (*made.nodes.values(), control, munged):
            process.kill()
            process.wait()


def until(holds: Callable[[], bool], what: str, folder: Path | None = None) -> None:
    """Wait for it; a hang ends the test with the daemons' own words."""
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            words = "\n".join(path.read_text(errors="replace")[-1500:] for path in sorted(folder.glob("*.out"))) if folder else ""
            pytest.fail(f"{what} did not come in {WAIT_S:.0f} s\n{words}")
        time.sleep(0.2)


def fleet(*arguments: str) -> str:
    done = subprocess.run([sys.executable, str(KIT), "fleet", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 2), done.stdout + done.stderr
    return done.stdout


def test_nothing_is_lost_and_nothing_counted_twice(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, marks = tmp_path / "fleet", tmp_path / "marks"
    marks.mkdir()
    harness = tmp_path / "harness"
    fake = str(KIT / "pdlkit" / "tests" / "fake_harness.py")
    harness.write_text(HARNESS.format(python=sys.executable, folder=str(marks), fake=fake))
    harness.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (marks / "hang-n1").touch()
    for name in ("n0", "n2", "n3"):
        (marks / f"slow-{name}").touch()
    fleet("submit", str(folder), "--tasks", str(NODES), "--device", "model", "--profile", "smoke", "--for", "40s", "--harness",
          str(harness), "--", "--exclusive", "--gres=gpu:2")
    until(lambda: (marks / "slow-n2.seen").exists(), "the run on n2", tmp_path)
    cluster.kill_node("n2")
    time.sleep(12)  # longer than SlurmdTimeout: the node is seen as down, and its job is requeued
    cluster.start_node("n2")
    until(lambda: not submit.queued(folder), "the end of the job array", tmp_path)
    for _ in range(3):
        if not submit.missing(records.read(folder), submit.queued(folder)):
            break
        for claim in ("hang-n1",):
            (marks / claim).unlink(missing_ok=True)
        fleet("submit", str(folder))
        until(lambda: not submit.queued(folder), "the end of what was submitted again", tmp_path)
    found = records.read(folder)
    cut_short = [attempt for attempt in found.attempts if not attempt.ended]
    assert any(attempt.node == "n2" for attempt in cut_short), "the killed attempt is in the records"
    assert found.done() == set(range(NODES)) and not status.summary(found, set())["missing"]
    said = report.build(found)
    assert len(said["gpus"]) == len({gpu["gpu"] for gpu in said["gpus"]})
    total = sum(entry["exercised"] for group in said["groups"] for entry in group["rules"].values())
    once = sum(counts[1] for gpu in found.gpus for rule, counts in gpu["rules"].items() if gpu["kinds"][rule] in COUNTED_KINDS)
    assert total == once and len(found.gpus) == NODES, "each GPU's trials stand in the pool once"
    assert json.loads(fleet("report", str(folder), "--json"))["verdict"] == said["verdict"]
