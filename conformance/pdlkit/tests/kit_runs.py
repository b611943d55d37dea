"""Runs the command line as users do, with the fake harness; shared by tests."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.pdlkit.places import ROOT
from conformance.pdlkit.tests import fake_harness
from conformance.pdlkit.tests.warm_run import WarmRun

MARK = "KIT_TEST_FOLDER"
HANG_S = 1200.0  # a limit against hangs only

_FOLDER = tempfile.TemporaryDirectory(prefix="pdl-fake-book-")  # removed when this process ends
FAKE = Path(_FOLDER.name) / "pdl-fake-harness"  # by this interpreter: what PATH calls python3 can be a script that looks for one
_RUN = f"import sys; sys.path[0] = {str(Path(fake_harness.__file__).parent)!r}; import fake_harness; sys.exit(fake_harness.main())"
FAKE.write_text(  # not as a script, which would be compiled each time
    f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -c {shlex.quote(_RUN)} "$@"\n', encoding="utf-8")
FAKE.chmod(0o755)
_BOOK = Path(_FOLDER.name) / "book.json"
_BOOK.write_text(fake_harness.book_as_json(), encoding="utf-8")
os.environ["FAKE_BOOK"] = str(_BOOK)  # for every fake harness below this process


def left_running(folder: Path) -> list[str]:
    """Processes that a run with this output folder started and that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{MARK}={folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@dataclass(frozen=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        """Its report.json."""
        data: dict[str, Any] = json.loads((self.folder / "report.json").read_text())
        return data

    def statuses(self) -> dict[str, str]:
        """Case to status."""
        return {test["name"]: test["status"] for test in self.report["tests"]}


@cache
def _warm() -> WarmRun:
    return WarmRun(Path(_FOLDER.name), ROOT)


def conformance(*arguments: str, folder: Path, env: dict[str, str] | None = None, timeout: float = HANG_S) -> Ran:
    """`python3 conformance ...`"""
    clean = {name: value for name, value in os.environ.items() if name not in ("CUDA_LAUNCH_BLOCKING", "LD_PRELOAD")}
    environment = {**clean, "PYTHONPATH": str(ROOT), MARK: str(folder), **(env or {})}
    if arguments[:1] == ("run",):
        return Ran(*_warm().run(list(arguments), ROOT, environment, timeout), folder)
    done = subprocess.run(
        [sys.executable, "conformance", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout,
        stdin=subprocess.DEVNULL)
    return Ran(done.returncode, done.stdout, done.stderr, folder)


def run_fake(folder: Path, behaviour: dict[str, Any], *arguments: str, device: str = "model", probe: int = 0,
             env: dict[str, str] | None = None) -> Ran:
    """`run` with the fake harness behaving so."""
    fake = {"FAKE_HARNESS": json.dumps(behaviour), "FAKE_PROBE": str(probe), **(env or {})}
    return conformance("run", "--harness", str(FAKE), "--device", device, "--output", str(folder), "--seed", "5eed",
                       *arguments, folder=folder, env=fake)


def interrupt_fake(folder: Path, stuck: str, number: int, *arguments: str, behaviour: dict[str, Any] | None = None,
                   stuck_as: str = "hang-grandchild") -> Ran:
    """`run` with the fake harness hanging in the case `stuck`, where the run gets this signal."""
    fake = json.dumps({"deadline_s": 100, **(behaviour or {}), stuck: stuck_as})
    process = subprocess.Popen(
        [sys.executable, "conformance", "run", "--harness", str(FAKE), "--device", "cuda", "--output", str(folder), "--seed", "5eed",
         *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), MARK: str(folder), "FAKE_HARNESS": fake},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sign = f'"{"forbidden" if stuck_as.startswith("fail") else "begin"}", "case": "{stuck}"'
    records, end = folder / "records.jsonl", time.monotonic() + HANG_S
    while time.monotonic() < end and process.poll() is None and not (records.is_file() and sign in records.read_text()):
        time.sleep(0.05)
    if process.poll() is not None:
        raise AssertionError(f"it ended with {process.returncode} before the case began: {process.communicate()}")
    process.send_signal(number)
    out, err = process.communicate(timeout=HANG_S)
    return Ran(process.returncode, out, err, folder)
