"""Hangs and crashes on purpose: is each seen as what it was, does the next case start in time, and is nothing left behind?

    python3 conformance dev casualties --device cuda|model [--times N] [--at-once N] [--output FILE]

On a GPU a small CUDA program (casualties.cu, limit 2 s for each case) goes wrong in turn by a kernel that does not end, a deadlock with
its dependent, a trigger that starves, an illegal address, and a lack of memory. On the model the harness itself goes wrong (`--plant hang`,
`crash` and `no-record`). After each fault comes a healthy case, in a fresh process. Exit code: 0 if all N went as they should, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.pdlkit import toolchain
from conformance.pdlkit.build import build
from conformance.pdlkit.cuda_programs import compile_for_this_gpu
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.pdlkit.records import Record
from conformance.pdlkit.supervise import Plan, Supervisor

MARK = "PDL_CASUALTY"
NEXT_S = 10.0  # from the limit of a hang, or from the start of a crash, to the next case
GPU_FAULTS = {"endless": "HANG", "deadlock": "HANG", "starved": "HANG", "sticky": "CRASH", "memory": "CRASH"}
MODEL_FAULTS = {"hang": "HANG", "crash": "CRASH", "no-record": "CRASH"}
MODEL_CASES = ("ATTR-05.zero.widened.captured", "ATTR-05.zero.widened.stream")  # in the order of the harness
AFTER = "after"


@dataclass(frozen=True)
class Casualty:
    """One fault, and what followed."""

    fault: str
    expected: str
    status: str
    heartbeat: str     # the last sign of life that the report names; "" if none
    limit_s: float     # of the case; 0 for a crash
    next_s: float      # from that limit to the next case; negative: there was no next case
    after: str         # the next case's status
    orphans: int

    def good(self, heartbeats: bool) -> bool:
        """Seen as what it was, next case in time and right, nothing left."""
        return (self.status == self.expected and 0 <= self.next_s <= NEXT_S and self.after == "PASS" and self.orphans == 0
                and (bool(self.heartbeat) or not heartbeats))


def _orphans(mark: str) -> int:
    """Processes of this fault that still live."""
    wanted, found = f"{MARK}={mark}".encode(), 0
    for entry in Path("/proc").iterdir():
        try:
            found += entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
    return found


def once(plan: Plan, fault: str, expected: str, mark: str) -> Casualty:
    """Run the plan, whose first case goes wrong."""
    begun: dict[str, float] = {}
    limits: dict[str, float] = {}

    def sink(_family: str, record: Record) -> None:
        if record["record"] == "begin" and record["case"] not in begun:
            begun[record["case"]] = time.monotonic()
            limits[record["case"]] = float(record["deadline_s"])

    outcome = Supervisor(plan, sink).run()
    (first, second), = plan.families.values()
    log, after = outcome.logs[first], outcome.logs[second]
    limit = limits.get(first, 0.0) if expected == "HANG" else 0.0
    status = log.casualty or str(log.verdict and log.verdict["status"])
    return Casualty(fault, expected, status, log.last_sign or "", limit,
                    round(begun[second] - begun[first] - limit, 2) if {first, second} <= begun.keys() else -1.0,
                    after.casualty or str(after.verdict and after.verdict["status"]), _orphans(mark))


def plan_of(harness: Path, device: str, fault: str, mark: str) -> Plan:
    """A fault and the case after it."""
    on_gpu = device.startswith("cuda")
    return Plan(harness, device, "smoke", 1, {"fault": [fault, AFTER]} if on_gpu else {"launch": list(MODEL_CASES)}, True,
                None if on_gpu else fault, environment={**os.environ, MARK: mark})


def measure(harness: Path, device: str, times: int, at_once: int) -> list[Casualty]:
    """Each fault in turn."""
    faults = GPU_FAULTS if device.startswith("cuda") else MODEL_FAULTS
    names = [list(faults)[number % len(faults)] for number in range(times)]

    def one(number: int) -> Casualty:
        mark = f"{os.getpid()}.{number}"
        found = once(plan_of(harness, device, names[number], mark), names[number], faults[names[number]], mark)
        print(f"{number + 1:>4} {found.fault:<10} {found.status:<12} next case after {found.next_s:>5.1f} s: {found.after}", flush=True)
        return found

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(times)))


def table(found: list[Casualty], heartbeats: bool) -> str:
    """A line for each fault."""
    lines = [f"{'fault':<10} {'times':>5} {'good':>5} {'as':<6} {'next case after':>16} {'orphans':>8}"]
    for fault in dict.fromkeys(entry.fault for entry in found):
        own = [entry for entry in found if entry.fault == fault]
        seconds = [entry.next_s for entry in own]
        lines.append(f"{fault:<10} {len(own):>5} {sum(entry.good(heartbeats) for entry in own):>5} {own[0].expected:<6} "
                     f"{statistics.median(seconds):>5.1f} to {max(seconds):>4.1f} s {sum(entry.orphans for entry in own):>8}")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="make hangs and crashes on purpose and see what the kit makes of them")
    parser.add_argument("--device", default="model", metavar="D", help="model (default), cuda or cuda:N")
    parser.add_argument("--times", type=int, default=10, metavar="N", help="faults in all (default %(default)s)")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="of these, side by side (default %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write every fault as JSON")
    given = parser.parse_args(argv)
    if min(given.times, given.at_once) < 1:
        raise BadArguments("--times and --at-once take 1 or more")
    on_gpu = given.device.startswith("cuda")
    with tempfile.TemporaryDirectory(prefix="pdl-casualties-") as folder:
        if on_gpu:
            harness = Path(folder, "casualties")
            compile_for_this_gpu(Path(__file__).with_suffix(".cu"), harness, "-O2")
        else:
            harness = build("model", toolchain.require(False), print).harness
        found = measure(harness, given.device, given.times, given.at_once)
    good = sum(entry.good(on_gpu) for entry in found)
    print(table(found, on_gpu))
    print(f"{good} of {len(found)} seen as what they were, the next case within {NEXT_S:.0f} s and right, nothing left")
    if given.output:
        report = {"schema": "pdl-casualties/1", "device": given.device, "good": good, "casualties": [asdict(entry) for entry in found]}
        given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return OK if good == len(found) else FAILED
