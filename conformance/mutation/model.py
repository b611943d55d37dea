"""Changes the model one line at a time, as a device that nobody planned, and sees which changes a smoke run does not notice.

    python3 conformance dev mutate-model --count 60 [--seed HEX] [--file graphs.c] [--work DIR]

Works on copies, never on this tree. A change counts as noticed if `run --device model --profile smoke` does not end with 0. Many
changes survive because they alter nothing that a document promises. So read each survivor: if a legal program shows another outcome,
a rule or the drawn programs should ask for it. Exit 0: nothing survived; 1: some did.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.mutation.draw import Change, changes_of, choose
from conformance.mutation.programs import Build
from conformance.mutation.trying import parser_of, run, try_all
from conformance.pdlkit import places
from conformance.pdlkit.exits import BadArguments, InvalidRun

HARNESS = "pdl-harness-model"
RUN_S = 300.0  # against hangs only
# What stands for the device is changed; these search, pick moves, draw broken devices, or run coroutines.
OTHERS = ("choices", "coroutine", "drawn", "explore", "litmus", "scheduler", "variants")
FILES = tuple(f"conformance/model/{path.name}" for path in sorted((places.ROOT / "conformance/model").glob("*.c"))
              if path.stem not in OTHERS)


class Runs:
    """Smoke runs on the model with one changed file."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.build = Build.make(places.ROOT, work / "build", [HARNESS], "-DCMAKE_BUILD_TYPE=Release", "-DPDL_BUILD_EXAMPLES=OFF",
                                "-DPDL_KIT_CUDA=OFF", "-DPDL_KIT_MODEL=ON")
        if (said := self._smoke()) is not None:
            raise InvalidRun(f"a smoke run on the model fails without any change: {said}")

    def _smoke(self, *changed: Path) -> str | None:
        """What a smoke run says if it does not end with 0. An object linked before the model's library stands for the library's own."""
        harness = self.work / HARNESS
        if not self.build.link(HARNESS, {}, harness, *map(str, changed)):
            return "does not compile"
        report = self.work / "report"
        shutil.rmtree(report, ignore_errors=True)
        argv = [sys.executable, str(places.KIT), "run", "--device", "model", "--profile", "smoke", "--seed", "1",
                "--harness", str(harness), "--output", str(report)]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_S)
        except subprocess.TimeoutExpired:
            return "no end"
        verdict = next((line for line in done.stdout.splitlines() if line.startswith("VERDICT")), f"exit {done.returncode}")
        return None if done.returncode == 0 else verdict[:80]

    def notices(self, change: Change) -> str | None:
        """What notices the change; None if nothing does."""
        source = places.ROOT / change.file
        unit = next(unit for unit in self.build.units if unit.source == source)
        after = self.build.changed(unit, change, self.work)
        return after if isinstance(after, str) else self._smoke(after)


def mutate(options: argparse.Namespace, work: Path) -> int:
    """Try the chosen changes; OK or FAILED."""
    files = [file for file in FILES if options.file is None or file.endswith(options.file)]
    if not files:
        raise BadArguments(f"--file {options.file}: no such file is changed; these are: {', '.join(FILES)}")
    everything = [change for file in files for change in changes_of(file, (places.ROOT / file).read_text(encoding="utf-8"))]
    runs = Runs(work)
    return try_all(choose(everything, options.count, options.seed), runs.notices)


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    return run("mutate-model", parser_of("mutation run of the model"), argv, mutate)
