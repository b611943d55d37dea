"""Runs the program under test: plainly, or rewritten and with a plan; reads what the injection library noted."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.stress.oracle import Observed, Oracle, read_copies, read_lines
from conformance.stress.plan import Plan


@dataclass
class Launches:
    """What is known of a kernel after the calibration run."""

    name: str
    rewritten: bool = False
    why: str | None = None     # why it could not be rewritten
    waits: int = 0             # wait instructions in its code
    triggers: int = 0
    eager: int = 0
    captured: int = 0
    built: int = 0
    attribute: int = 0         # launches that asked for overlap
    cooperative: int = 0       # launches whose blocks wait for each other
    before_attribute: int = 0  # launches that may be overlapped by the next one


@dataclass
class Calibration:
    """The kernels of a program and the pace at which it launches them."""

    kernels: dict[str, Launches] = field(default_factory=dict)
    gap_us: int = 0
    graph_launches: int = 0
    unknown_launches: int = 0                        # of kernels whose name the driver does not give
    passed: list[str] = field(default_factory=list)  # images that were not changed, and why

    def kernel(self, name: str) -> Launches:
        """The entry of this kernel."""
        return self.kernels.setdefault(name, Launches(name))


def read_calibration(path: Path) -> Calibration:
    """From the records of one run; the counts of several processes are added."""
    found = Calibration()
    for entry in read_lines(path):
        if entry["record"] == "kernel":
            kernel = found.kernel(entry["name"])
            kernel.rewritten, kernel.why = entry["rewritten"], entry.get("why")
            kernel.waits, kernel.triggers = entry.get("waits", 0), entry.get("triggers", 0)
        elif entry["record"] == "passed":
            found.passed.append(f"{entry['image']} for sm_{entry['architecture']}: {entry['why']}")
        elif entry["record"] == "trouble":
            found.passed.append(entry["what"])
        elif entry["record"] == "launches":
            kernel = found.kernel(entry["name"])
            for name in ("eager", "captured", "built", "attribute", "before_attribute", "cooperative"):
                setattr(kernel, name, getattr(kernel, name) + entry.get(name, 0))
        elif entry["record"] == "gaps":
            found.gap_us = max(found.gap_us, entry["p90_us"])
            found.graph_launches += entry["graph_launches"]
            found.unknown_launches += entry.get("unknown_launches", 0)
    return found


@dataclass
class Program:
    """A command line with the folder of this session."""

    command: list[str]
    folder: Path
    oracle: Oracle
    timeout: float
    plain_environment: dict[str, str]
    rewritten_environment: dict[str, str]
    kernels: Iterable[str] = ()
    runs: int = 0

    def plain(self) -> Observed:
        """Run it without rewriting anything, but with its code loaded as in the stressed runs."""
        quiet = self.folder / "plain.plan"
        Plan(plain=True).write(quiet, ())
        names = ("LD_PRELOAD", "CUDA_MODULE_LOADING")
        environment = self.plain_environment | {name: self.rewritten_environment[name] for name in names
                                                if name in self.rewritten_environment}
        return self._run(environment | {"PDL_STRESS_PLAN": str(quiet)})

    def rewritten(self, plan: Plan, records: Path | None = None, one_by_one: bool = False) -> Observed:
        """Run it with a plan; `one_by_one`: each launch waits for the one before it to end, in whatever stream it runs."""
        path = self.folder / "current.plan"
        plan.write(path, self.kernels)
        environment = self.rewritten_environment | {"PDL_STRESS_PLAN": str(path)}
        if records:
            environment["PDL_STRESS_RECORDS"] = str(records)
        if one_by_one:
            environment["CUDA_LAUNCH_BLOCKING"] = "1"
        return self._run(environment)

    def _run(self, environment: dict[str, str]) -> Observed:
        self.runs += 1
        here = Path.cwd()
        copies = self.folder / "copies.jsonl"
        copies.unlink(missing_ok=True)
        if self.oracle.digests:
            environment = environment | {"PDL_STRESS_DIGESTS": str(copies)}
        before = self.oracle.marks(here)
        began = time.monotonic()
        code, out, err = ended(self.command, environment, self.timeout)
        return Observed(code, out, err, time.monotonic() - began, self.oracle.collect(here, before), read_copies(copies))


def ended(command: list[str], environment: dict[str, str], timeout: float) -> tuple[int | None, bytes, bytes]:
    """Exit code (None: it did not end in time) and both outputs of the user's program. It ends with us, and so does all that it starts."""
    try:
        done = run_tool(command, timeout=timeout, environment=environment)
    except SetupImpossible as error:
        raise BadArguments(str(error)) from None
    except subprocess.TimeoutExpired as error:
        return None, error.stdout or b"", error.stderr or b""
    return done.returncode, done.stdout, done.stderr
