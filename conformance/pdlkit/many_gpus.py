"""`run` on a machine with several GPUs: one child per GPU, side by side, and one report for the machine.

Each GPU is judged by a `run` of its own, in a folder of its own below the output folder, so that a sick GPU stops no other.
The machine's report.json is the report of the GPU that decides the machine's verdict; its `machine` lists every GPU, and
the trials pooled over the GPUs of one model under one driver.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import places
from conformance.pdlkit.children import Kept
from conformance.pdlkit.display import verdict_line, waived_rules
from conformance.pdlkit.exits import CONFORMS, INVALID, NOT_APPLICABLE, UNPROVEN, VIOLATES
from conformance.pdlkit.read_report import report_of
from conformance.pdlkit.report import identified
from conformance.pdlkit.toolkit import toolkit_program
from conformance.pdlkit.verdicts import bound95

# What decides for several GPUs, the first that holds. An old GPU beside others that conform spoils nothing.
EXITS = {"VIOLATES": VIOLATES, "INVALID": INVALID, "UNPROVEN": UNPROVEN, "CONFORMS": CONFORMS, "NOT_APPLICABLE": NOT_APPLICABLE}
COUNTED_KINDS = ("visibility", "start")  # kinds of rules whose exercised trials are counted
_LISTED = re.compile(r"^(GPU [0-9]+:|\s+MIG ).*\(UUID: ((?:GPU|MIG)-[0-9a-fA-F-]+)\)")


def word(verdict: str) -> str:
    """The verdict without what stands in brackets after it."""
    return verdict.partition(" ")[0]


def worst(verdicts: Iterable[str]) -> str:
    """The verdict for all of them; UNPROVEN if there is none."""
    found = {word(verdict) for verdict in verdicts}
    return next((name for name in EXITS if name in found), "UNPROVEN")


def pooled(counted: Iterable[tuple[str, str, Mapping[str, int]]]) -> list[dict[str, Any]]:
    """(model, driver, rule -> exercised trials) of each GPU, added up per model and driver; the bound goes with the sum."""
    groups: dict[tuple[str, str], tuple[list[int], dict[str, int]]] = defaultdict(lambda: ([0], defaultdict(int)))
    for model, driver, rules in counted:
        gpus, total = groups[(model, driver)]
        gpus[0] += 1
        for rule, exercised in rules.items():
            total[rule] += exercised
    return [{"model": model, "driver": driver, "gpus": gpus[0],
             "rules": {rule: {"exercised": n, "bound95": bound95(n)} for rule, n in sorted(total.items()) if n}}
            for (model, driver), (gpus, total) in sorted(groups.items())]


@dataclass
class Worker:
    """One GPU, or one MIG slice, and the run that judges it."""

    label: str  # also the name of its folder
    device: str
    environment: Mapping[str, str] = field(default_factory=dict)
    kept: Kept | None = None
    report: dict[str, Any] | None = None
    lost: str = ""  # why there is no report

    def start(self, arguments: Sequence[str], folder: Path, seed: int) -> threading.Thread:
        """Start its run; what it says on stderr is passed on with its name in front."""
        argv = [sys.executable, str(places.KIT), "run", *arguments, "--device", self.device, "--seed", f"{seed:x}",
                "--output", str(folder / self.label)]
        self.kept = Kept(argv, environment={**os.environ, **self.environment}, stdout=subprocess.DEVNULL)
        reader = threading.Thread(target=self._pass_on, daemon=True)
        reader.start()
        return reader

    def _pass_on(self) -> None:
        assert self.kept and self.kept.process.stderr
        with open(self.kept.process.stderr.fileno(), encoding="utf-8", errors="replace", closefd=False) as lines:
            for line in lines:
                print(f"{self.label}: {line.rstrip()}", file=sys.stderr, flush=True)

    def read(self, folder: Path) -> None:
        """Take its report over, or why there is none."""
        assert self.kept is not None
        found = report_of(folder / self.label, self.kept.process.returncode)
        self.report, self.lost = (None, f"its run {found}") if isinstance(found, str) else (found, "")

    def row(self) -> dict[str, Any]:
        """The GPU's line in the machine's report."""
        if self.report is None:
            return {"gpu": self.label, "name": None, "uuid_hash": None, "verdict": "INVALID", "exit": INVALID, "report": None,
                    "reasons": [self.lost], "waived": []}
        device = self.report.get("device") or {}
        return {"gpu": self.label, "name": device.get("name"), "uuid_hash": device.get("uuid_hash"), "verdict": self.report["verdict"],
                "exit": self.report["exit"], "report": f"{self.label}/report.json", "reasons": self.report["reasons"],
                "waived": waived_rules(self.report)}

    def counted(self) -> tuple[str, str, dict[str, int]] | None:
        """What it adds to the pool."""
        if self.report is None:
            return None
        device, driver = self.report.get("device") or {}, self.report.get("driver") or {}
        rules = {rule["id"]: int(rule["exercised"] or 0) for rule in self.report["rules"]
                 if rule["kind"] in COUNTED_KINDS and rule["status"] == "PASS"}
        return str(device.get("name")), str(driver.get("version")), rules


def _slices(listing: str) -> list[Worker]:
    """A worker for each MIG slice, and one for each GPU that has none; empty if there is no slice."""
    gpus = list[list[str]]()  # of each: its own name, then those of its slices
    for match in filter(None, map(_LISTED.match, listing.splitlines())):
        if match[1].startswith("GPU") or not gpus:
            gpus.append([])
        gpus[-1].append(match[2])
    slices = [(f"slice-{i}", name) for i, name in enumerate(name for gpu in gpus for name in gpu[1:])]
    whole = [(f"gpu-{i}", gpu[0]) for i, gpu in enumerate(gpus) if len(gpu) == 1]
    return [Worker(label, "cuda:0", {"CUDA_VISIBLE_DEVICES": name}) for label, name in [*slices, *whole]] if slices else []


def workers(count: int) -> list[Worker]:
    """One per GPU that the driver offers, or one per MIG slice: a process sees one slice only, the one it is given by name."""
    program = toolkit_program("nvidia-smi")
    listing = ""
    if program is not None and "CUDA_VISIBLE_DEVICES" not in os.environ:
        try:
            listing = subprocess.run([str(program), "-L"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL).stdout
        except (OSError, subprocess.TimeoutExpired):
            pass
    return _slices(listing) or [Worker(f"gpu-{i}", f"cuda:{i}") for i in range(count)]


def _judge_rows(done: Sequence[Worker]) -> list[dict[str, Any]]:
    """A line for each GPU. A second report of one GPU says nothing of another one; but slices of a GPU may give its name."""
    rows, seen = [worker.row() for worker in done], dict[str, str]()
    for worker, row in zip(done, rows, strict=True):
        first = seen.setdefault(row["uuid_hash"] or row["gpu"], row["gpu"])
        if first != row["gpu"] and not worker.environment.get("CUDA_VISIBLE_DEVICES"):
            row.update(verdict="INVALID", exit=INVALID, reasons=[f"it judged the GPU that {first} judged", *row["reasons"]])
    return rows


def machine_report(done: Sequence[Worker]) -> dict[str, Any]:
    """The report of the GPU that decides, with every GPU listed in it."""
    rows = _judge_rows(done)
    verdict = worst(row["verdict"] for row in rows)
    deciding = [(row, w.report if w.report is not None and w.report["verdict"] == row["verdict"] else None)
                for w, row in zip(done, rows, strict=True) if word(row["verdict"]) == verdict]
    deciding.sort(key=lambda pair: not pair[0]["waived"])  # of equal ones, one that had a waiver's help
    full, decides = (deciding[0][0]["verdict"], deciding[0][1]) if deciding else (verdict, None)
    any_report: dict[str, Any] = next((w.report for w in done if w.report is not None), {})
    report = dict(decides or any_report)
    report.update(verdict=full, exit=EXITS[verdict], machine={
        "gpus": rows, "pooled": pooled(entry for worker in done if (entry := worker.counted()) is not None)})
    if decides is None:
        report["reasons"] = [f"{row['gpu']}: {text}" for row in rows for text in row["reasons"]]
    return identified(report) if any_report else report


def block(report: Mapping[str, Any]) -> str:
    """The machine's verdict for a terminal."""
    machine = report["machine"]
    lines = [f"MACHINE  {verdict_line(report)}  {len(machine['gpus'])} GPUs"]
    for row in machine["gpus"]:
        why = f": {'; '.join(row['reasons'][:2])}" if row["reasons"] else ""
        waived = f" (waived: {', '.join(row['waived'])})" if row["waived"] else ""
        lines.append(f"  {row['gpu']:<8} {row['name'] or 'unknown'}  {row['verdict']}{waived}{why}")
    for group in machine["pooled"]:
        bounds = [rule["bound95"] for rule in group["rules"].values() if rule["bound95"]]
        if bounds:
            lines.append(f"  {group['gpus']} x {group['model']}, driver {group['driver']}: pooled bound per rule at most {max(bounds):.1e}")
    return "\n".join(lines)


def run_all(gpus: Sequence[Worker], arguments: Sequence[str], folder: Path, seed: int) -> dict[str, Any]:
    """Judge all at once. A signal to stop is passed on, and every run still writes its report."""
    def stop(number: int, _frame: object) -> None:
        for worker in gpus:
            if worker.kept is not None:
                worker.kept.ask_to_end(number)

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        readers = [worker.start(arguments, folder, (seed + index) % 2**64) for index, worker in enumerate(gpus)]
        for worker, reader in zip(gpus, readers, strict=True):
            assert worker.kept is not None
            worker.kept.process.wait()
            reader.join(timeout=60)
            worker.read(folder)
    finally:
        for worker in gpus:
            if worker.kept is not None:
                worker.kept.stop()
        for number, handler in old.items():
            signal.signal(number, handler)
    return machine_report(gpus)
