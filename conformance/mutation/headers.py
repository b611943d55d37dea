"""Changes pdl.h or pdl_device.cuh, one line at a time, and sees which changes no test of the headers notices.

    python3 conformance dev mutate-headers --count 60 [--seed HEX] [--file pdl.h] [--work DIR] [--checks]

A change of pdl.h is shown to the contract programs that run its line, which programs built with coverage say; one of a line that no
program runs is shown to all. With --checks, what survives there goes on to the compile checks. A change of pdl_device.cuh is for
the compile checks alone. Changes that do not compile are not counted. Survivors with a reason stand in mutation/living.toml.
Exit 0: none but those; 1: others survived.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from conformance.mutation.draw import Change, changes_of, choose
from conformance.mutation.programs import Build, must, quiet
from conformance.mutation.trying import parser_of, run, try_all
from conformance.pdlkit import places, toolchain
from conformance.pdlkit.exits import FAILED, OK, BadArguments, InvalidRun, SetupImpossible

HOST, DEVICE = "pdl.h", "pdl_device.cuh"
PREFIX = "headers_contract."
# The quickest first. Those that read the whole tree or only one fixed text are left out.
HOST_CHECKS = ("text", "features", "feature-versions", "warnings-gcc", "refusals", "includes", "copies-in-one-unit", "static",
               "shared-object", "no-symbols-g++", "warnings-clang++", "reload", "odr", "rdc", "sanitizers-threads", "sanitizers-gcc")
DEVICE_CHECKS = ("text", "without-cuda", "nvrtc", "ptx", "nvcc-plain", "erased-mark", "target-guard", "includes-nvcc",
                 "hostile-macros-nvcc")


class Headers:
    """A folder with both headers, one of them changed, and what is shown to it."""

    def __init__(self, work: Path, with_checks: bool, contracts: bool, device: bool) -> None:
        self.work, self._with_checks = work, with_checks
        self.folder = work / "headers"
        self.folder.mkdir(exist_ok=True)
        nvcc = toolchain.find_nvcc()
        if nvcc is None:
            raise SetupImpossible("nvcc was not found, and the compile checks need a toolkit: install the CUDA Toolkit or set CUDA_PATH")
        self._cuda = nvcc.path.resolve().parents[1]
        self._reached: dict[str, set[int]] = {}
        if contracts:
            self.build = Build.make(places.ROOT, work / "build", ("pdl_model",), "-DCMAKE_BUILD_TYPE=Release", "-DPDL_BUILD_EXAMPLES=OFF",
                                    "-DPDL_KIT_CUDA=OFF", "-DPDL_KIT_MODEL=ON", "-DPDL_KIT_HOST_TESTS=ON")
            self._write(HOST, (places.ROOT / HOST).read_text(encoding="utf-8"))
            self._reached = {program: self._lines_of(program) for program in self._programs()}
        self._write(HOST, (places.ROOT / HOST).read_text(encoding="utf-8"))
        for name in (*(HOST_CHECKS if contracts and with_checks else ()), *(DEVICE_CHECKS if device else ())):
            if self._fails(name):
                raise InvalidRun(f"compile.{name} fails without any change, so nothing could be told")

    def _programs(self) -> list[str]:
        targets = {part.removesuffix(".dir") for unit in self.build.units for part in Path(unit.output).parts}
        return sorted(target for target in targets if target.startswith(PREFIX))

    def _write(self, name: str, text: str) -> None:
        for header in (HOST, DEVICE):
            (self.folder / header).write_text((places.ROOT / header).read_text(encoding="utf-8"), encoding="utf-8")
        (self.folder / name).write_text(text, encoding="utf-8")

    def _compiled(self, program: str, where: Path, *flags: str) -> Path | None:
        """The program with the headers of the folder; None if it does not compile."""
        where.mkdir(parents=True, exist_ok=True)
        replaced = {}
        for unit in self.build.units_of(program):
            replaced[unit.output] = where / f"{unit.source.stem}.o"
            if not quiet([*unit.command(unit.source, replaced[unit.output], f"-I{self.folder}", "-w"), *flags], self.build.folder):
                return None
        made = where / "program"
        if not self.build.link(program, replaced, made, *[flag for flag in flags if flag.startswith("--")]):
            return None
        return made

    def _lines_of(self, program: str) -> set[int]:
        """The lines of pdl.h that this program runs."""
        where = self.work / "coverage" / program
        kept = where / "lines.json"
        stamp = [(places.ROOT / HOST).stat().st_mtime, *(unit.source.stat().st_mtime for unit in self.build.units_of(program))]
        if kept.is_file() and (said := json.loads(kept.read_text(encoding="utf-8")))["stamp"] == stamp:
            return set(said["lines"])
        made = self._compiled(program, where, "--coverage", "-O0")
        if made is None or not quiet([made]):
            raise InvalidRun(f"{program} fails without any change, so nothing could be told")
        lines = set[int]()
        for data in where.glob("*.gcda"):
            for text in must(["gcov", "--json-format", "--stdout", data.name], where).splitlines():
                for file in json.loads(text)["files"]:
                    if Path(file["file"]).name == HOST:
                        lines |= {line["line_number"] for line in file["lines"] if line["count"]}
        kept.write_text(json.dumps({"stamp": stamp, "lines": sorted(lines)}), encoding="utf-8")
        return lines

    def _shown_to(self, change: Change) -> list[str]:
        """The programs that run the line, those that run least first: they are about it."""
        reaching = [program for program, lines in self._reached.items() if change.line in lines]
        return sorted(reaching or self._reached, key=lambda program: len(self._reached[program]))

    def notices(self, change: Change) -> str | None:
        """What notices the change; None if nothing does."""
        text = change.applied((places.ROOT / change.file).read_text(encoding="utf-8"))
        self._write(change.file, text)
        if change.file == HOST:
            for program in self._shown_to(change):
                made = self._compiled(program, self.work / "program")
                if made is None:
                    return "does not compile"
                if not quiet([made]):
                    return program.removeprefix(PREFIX)
            if not self._with_checks:
                return None
        checks = HOST_CHECKS if change.file == HOST else DEVICE_CHECKS
        return next((f"compile.{name}" for name in checks if self._fails(name)), None)

    def _fails(self, check: str) -> bool:
        argv = [sys.executable, "-B", str(places.KIT), "dev", "compile-checks", check, "--headers", str(self.folder),
                "--cuda", str(self._cuda), "--work", str(self.work / "checks")]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode not in (OK, FAILED, 77):
            raise InvalidRun(f"compile.{check} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
        return done.returncode == FAILED


def mutate(options: argparse.Namespace, work: Path) -> int:
    """Try the chosen changes; OK or FAILED."""
    files = [file for file in (HOST, DEVICE) if options.file is None or file.endswith(options.file)]
    if not files:
        raise BadArguments(f"--file {options.file}: the headers are {HOST} and {DEVICE}")
    everything = [change for file in files
                  for change in changes_of(file, (places.ROOT / file).read_text(encoding="utf-8"), directives=True)]
    changes = choose(everything, options.count, options.seed)
    changed = {change.file for change in changes}
    return try_all(changes, Headers(work, options.checks, HOST in changed, DEVICE in changed).notices)


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = parser_of("mutation run of pdl.h and pdl_device.cuh")
    parser.add_argument("--checks", action="store_true", help="show what the contract programs let pass to the compile checks, too")
    return run("mutate-headers", parser, argv, mutate)
