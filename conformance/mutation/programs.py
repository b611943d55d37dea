"""Builds test programs with one changed file: only what the change touches is compiled and linked anew.

A build folder of CMake and Ninja, made once, says how each program is compiled and linked.
"""

from __future__ import annotations

import json
import resource
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.mutation.draw import Change
from conformance.pdlkit.build import cmake_settings
from conformance.pdlkit.exits import InvalidRun, SetupImpossible
from conformance.pdlkit.toolchain import require

TEST_S = 120.0  # against hangs only
CPU_S = 20  # a changed program that loops is ended by the time that it used, which no other load changes


def limited(cpu_s: int = CPU_S) -> Callable[[], None]:
    """What a child does first, so that it has this much processor time."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


def quiet(command: Sequence[str | Path], where: Path | None = None) -> bool:
    """Whether the command ends with 0; a hang counts as a failure."""
    try:
        done = subprocess.run(command, cwd=where, stdin=subprocess.DEVNULL, capture_output=True, timeout=TEST_S, preexec_fn=limited())
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def must(command: Sequence[str | Path], where: Path | None = None) -> str:
    """What the command prints; it has to succeed."""
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise InvalidRun(f"{' '.join(map(str, command[:4]))} fails: {done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


@dataclass(frozen=True)
class Unit:
    """One compilation: the command as words, and what it reads and makes."""

    argv: tuple[str, ...]
    source: Path
    output: str  # relative to the build folder

    def command(self, source: Path, output: Path, *more: str) -> list[str]:
        """The same compilation of another file."""
        words = [str(output) if word == self.output else str(source) if word == str(self.source) else word for word in self.argv]
        return [words[0], *more, *words[1:]]


class Build:
    """A configured build folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._before = folder, dict[Path, Path]()  # each file's object without a change
        self._links = dict[str, list[str]]()
        entries = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
        self.units = [self._unit(entry) for entry in entries]

    @staticmethod
    def make(source: Path, folder: Path, targets: Sequence[str], *options: str) -> Build:
        """Configure and build these targets."""
        if shutil.which("ninja") is None:
            raise SetupImpossible("ninja is not installed, and the build's commands are read from it: install ninja-build")
        must(["cmake", "-S", source, "-B", folder, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *cmake_settings(require(for_gpu=False)), *options])
        must(["cmake", "--build", folder, "--parallel", "2", "--target", *targets])
        return Build(folder)

    @staticmethod
    def _unit(entry: dict[str, str]) -> Unit:
        argv = tuple(shlex.split(entry["command"]))
        return Unit(argv, Path(entry["file"]), argv[argv.index("-o") + 1])

    def units_of(self, target: str) -> list[Unit]:
        """The target's own compilations."""
        return [unit for unit in self.units if f"/{target}.dir/" in f"/{unit.output}"]

    def compile(self, unit: Unit, text: str, made: Path) -> Path | None:
        """The unit compiled with this text instead of its source's, as `made`; None if it does not compile."""
        changed = made.with_name("changed.c")
        changed.write_text(text, encoding="utf-8")
        argv = unit.command(changed, made, f"-I{unit.source.parent}", "-w", "-Werror=implicit-function-declaration",
                            "-Werror=incompatible-pointer-types", "-Werror=int-conversion")
        return made if quiet(argv, self.folder) else None

    def changed(self, unit: Unit, change: Change, folder: Path) -> Path | str:
        """The object of the changed file, or why no test can tell the change."""
        text = unit.source.read_text(encoding="utf-8")
        before = self._before.get(unit.source) or self.compile(unit, text, folder / f"{unit.source.stem}.before.o")
        if before is None:
            raise InvalidRun(f"{change.file} does not compile without any change, so nothing could be told")
        self._before[unit.source] = before
        after = self.compile(unit, change.applied(text), folder / "after.o")
        if after is None:
            return "does not compile"
        return after if before.read_bytes() != after.read_bytes() else "same machine code"

    def linked_from(self, target: str) -> list[str]:
        """The words of the target's link: the compiler, what it is given, and what it makes."""
        if target not in self._links:
            last = must(["ninja", "-C", self.folder, "-t", "commands", target]).splitlines()[-1]
            self._links[target] = shlex.split(last.removeprefix(": && ").removesuffix(" && :"))
        return list(self._links[target])

    def link(self, target: str, replaced: dict[str, Path], program: Path, *more: str) -> bool:
        """Link the target into `program`, with some of its objects replaced."""
        words = self.linked_from(target)
        words[words.index("-o") + 1] = str(program)
        return quiet([words[0], *more, *(str(replaced.get(word, word)) for word in words[1:])], self.folder)

    def linked(self, target: str, replaced: dict[str, Path], folder: Path) -> Path:
        """The target, linked into this folder with some of its objects replaced."""
        program = folder / f"{target}.changed"
        if not self.link(target, replaced, program):
            raise InvalidRun(f"{target} cannot be linked")
        return program

    def must_pass(self, tests: Iterable[str], folder: Path) -> None:
        """Raise if one of these tests fails as it is."""
        for test in tests:
            if not quiet([self.linked(test, {}, folder)]):
                raise InvalidRun(f"{test} fails without any change, so nothing could be told")
