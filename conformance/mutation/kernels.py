"""The host code of the kernels' files, for `dev mutate-kit`: what their cases ask, count and compare.

A changed file is compiled into the base image of each family that includes it, on the model. What notices it: the host tests that
include the file, what the family's cases call, `tampered_test`, the recorded answers of the family, the words that it looks at, and
last the broken devices that the table says are noticed by this family alone. The other images of a family only repeat its host code,
and what runs on the device other tests change, so neither is changed here.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from conformance.model import devices, golden, on_model, watched
from conformance.mutation.draw import Change, changes_of
from conformance.mutation.programs import TEST_S, Build, Unit, limited, quiet
from conformance.pdlkit import places
from conformance.pdlkit.exits import InvalidRun
from conformance.pdlkit.rules import RuleBook

FOLDER, TESTS = places.KIT / "kernels", places.KIT / "harness" / "tests"
FILES = tuple(f"conformance/kernels/{path.name}" for path in sorted(FOLDER.iterdir()) if path.suffix in (".cu", ".h"))
HARNESS, TAMPERED, WATCHED = "pdl-harness-model", "tampered_test", "pdl-harness-watched"
HOST_TESTS = tuple(sorted(path.stem for path in TESTS.glob("*_test.c") if '.cu"' in path.read_text(encoding="utf-8")))
# batch.cu is in no family: its kernels run before and after the trials of all. These tests run them, and these families show them.
BATCH, BATCH_TESTS, BATCH_FAMILIES = "batch", ("batch_test", "launch_test"), ("chain", "edge", "order")
TARGETS = (*HOST_TESTS, *BATCH_TESTS, HARNESS, TAMPERED, WATCHED)
AT_ONCE = 8  # broken devices: most changes that hide something hide it on many of them
MOST_DEVICES = 40  # that one change is shown
_INCLUDE = re.compile(r'^#include "(\w+\.(?:h|cu))"', re.M)
_DEVICE = re.compile(r"(?:\w+_)?KERNEL\w*\(|DEVICE_FN\b|__device__|__global__")  # how what runs on the device begins
_CONDITION = re.compile(r"#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")


def _is_left_out(directive: str, condition: str) -> bool | None:
    """Whether the model's base image leaves out what follows; None: the toolkit decides."""
    if "PDL_MODEL" not in condition and "MUTANT_" not in condition:
        return None
    return ("PDL_MODEL" in condition) == (directive == "ifndef")


def host_lines(text: str) -> set[int]:
    """The numbers of the lines that are host code of the model's base image."""
    kept, on_device, open_now = set[int](), False, list[bool | None]()
    lines = text.splitlines()
    for number, (line, behind) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        if condition := _CONDITION.match(line):
            if condition[1].startswith("if"):
                open_now.append(_is_left_out(condition[1], condition[2]))
            elif condition[1] == "endif":
                open_now.pop()
            else:
                open_now[-1] = None if open_now[-1] is None else not open_now[-1]
        elif _DEVICE.match(line):
            on_device = not line.endswith(("}", ";")) and (behind.startswith("{") or not line.endswith(")"))
        elif on_device:
            on_device = not line.startswith("}")
        elif True not in open_now:
            kept.add(number)
    return kept


def changes(file: str) -> list[Change]:
    """Every change of the file's host code."""
    text = (places.ROOT / file).read_text(encoding="utf-8")
    kept = host_lines(text)
    return [change for change in changes_of(file, text) if change.line in kept]


@cache
def included_by(path: Path) -> frozenset[str]:
    """The names of the kernels' files that this one includes, itself or through others."""
    direct = {name for name in _INCLUDE.findall(path.read_text(encoding="utf-8")) if (FOLDER / name).is_file()}
    return frozenset(direct.union(*(included_by(FOLDER / name) for name in direct)))


class Kernels:
    """One changed file at a time, in copies of the programs that contain it."""

    def __init__(self, work: Path, build: Build, units_only: bool) -> None:
        self.work, self._build, self._book, self._units_only = work, build, on_model.load_book(), units_only
        self._before = dict[str, bytes]()  # each family's object without a change
        self._asked = dict[str, str | None]()  # what each family's cases ask without a change
        self._golden: golden.Digests = json.loads(golden.FILE.read_text(encoding="utf-8"))
        self._watched: watched.Watched = json.loads(watched.FILE.read_text(encoding="utf-8"))
        self._families = on_model.by_family(on_model.capable(self._book))
        self._copies = work / "kernels"  # of all files; what is included is looked for beside its includer first
        self._copies.mkdir(exist_ok=True)
        for path in FOLDER.iterdir():
            self._put(path.name, path.read_text(encoding="utf-8"))
        build.must_pass(HOST_TESTS, work)

    def _put(self, name: str, text: str) -> None:
        (self._copies / name).write_text(text, encoding="utf-8")

    def _linked(self, target: str, replaced: dict[str, Path]) -> Path:
        return self._build.linked(target, replaced, self.work)

    def _images(self, name: str) -> dict[str, Unit]:
        """The base image of each family that contains the file."""
        containing = [path for path in sorted(FOLDER.glob("*.cu")) if name == path.name or name in included_by(path)]
        found = {path.stem: [unit for unit in self._build.units if f"/kit_model_image_{path.stem}_base.dir/" in unit.output
                             or f"/kit_model_image_{path.stem}.dir/" in unit.output] for path in containing}
        return {family: units[0] for family, units in found.items() if units}

    def _must_pass(self, family: str) -> None:
        if not self._units_only and (by := self._programs_notice({}, [family], broken=False)):
            raise InvalidRun(f"without any change {family} is noticed by {by}, so nothing could be told")
        self._asked[family] = None if self._units_only else asked(self._linked(TAMPERED, {}), family)

    def _compiled(self, family: str, unit: Unit) -> Path | None:
        made = self.work / f"{family}.after.o"
        return made if quiet(unit.command(self._copies / f"{family}.cu", made, "-w", "-Werror=implicit-function-declaration",
                                          "-Werror=incompatible-pointer-types", "-Werror=int-conversion"), self._build.folder) else None

    def notices(self, change: Change) -> str | None:
        """What notices the change; None if nothing does."""
        name = Path(change.file).name
        text = (FOLDER / name).read_text(encoding="utf-8")
        images = self._images(name)
        for family, unit in images.items():
            if family not in self._before:
                if (made := self._compiled(family, unit)) is None:
                    raise InvalidRun(f"{family}.cu does not compile without any change, so nothing could be told")
                self._before[family] = made.read_bytes()
                for shown in _shown_by(family):
                    self._must_pass(shown)
        self._put(name, change.applied(text))
        try:
            return self._notices(name, images)
        finally:
            self._put(name, text)

    def _notices(self, name: str, images: dict[str, Unit]) -> str | None:
        replaced, changed = dict[str, Path](), list[str]()
        for family, unit in images.items():
            made = self._compiled(family, unit)
            if made is None:
                return "does not compile"
            if made.read_bytes() != self._before[family]:
                replaced[unit.output] = made
                changed.append(family)
        if not replaced:
            return "same machine code"
        families = list(dict.fromkeys(shown for family in changed for shown in _shown_by(family)))
        return self._test_notices(name, replaced) or (None if self._units_only else self._programs_notice(replaced, families))

    def _test_notices(self, name: str, replaced: dict[str, Path]) -> str | None:
        """The first host test that contains the file and fails."""
        for test in BATCH_TESTS if name == f"{BATCH}.cu" else ():
            if not quiet([self._linked(test, replaced)]):
                return test
        for test in HOST_TESTS:
            if name in included_by(TESTS / f"{test}.c"):
                unit = next(unit for unit in self._build.units_of(test) if unit.source.stem == test)
                own = self.work / "test.o"
                made = quiet(unit.command(unit.source, own, f"-I{self._copies}", "-w"), self._build.folder)
                if not made or not quiet([self._linked(test, {unit.output: own})]):
                    return test
        return None

    def _programs_notice(self, replaced: dict[str, Path], families: list[str], broken: bool = True) -> str | None:
        """What the programs that contain the families' images say otherwise, the quickest to tell first."""
        tampered = self._linked(TAMPERED, replaced)
        for family in families if broken else ():
            if asked(tampered, family) != self._asked[family]:
                return f"calls of {family}"
        for family in families:
            if not quiet([tampered, f"{family}/"]):
                return f"tampered {family}"
        harness = self._linked(HARNESS, replaced)
        try:
            if other := golden.first_difference(harness, self._golden, families):
                return f"records of {other}"
            if other := watched.first_difference(self._linked(WATCHED, replaced), self._watched, families):
                return f"words that {other} looks at"
        except (InvalidRun, ValueError, subprocess.TimeoutExpired) as error:
            return f"records: {error}"
        wrong = next(devices_that_escape(harness, self._book, families, MOST_DEVICES), None) if broken else None
        return f"broken devices: {wrong}" if wrong else None


def _shown_by(family: str) -> tuple[str, ...]:
    return BATCH_FAMILIES if family == BATCH else (family,)


def asked(tampered: Path, family: str) -> str | None:
    """The digests of what the family's cases call, and with what, which takes a second; None if that fails."""
    try:
        done = subprocess.run([tampered, "--asked", f"{family}/"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TEST_S,
                              preexec_fn=limited())
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else done.stdout


def devices_that_escape(harness: Path, book: RuleBook, families: list[str], most: int | None = None) -> Iterator[str]:
    """Broken devices of the families' rules that the table says are noticed, and that these families do not notice; at most so many
    are tried."""
    rules = {case.rule for case in on_model.capable(book) if case.family in families}
    broken = [device for device in on_model.devices(harness) if device.rule in rules]
    said = devices.stated(devices.TABLE.read_text(encoding="utf-8"), broken)
    for at in range(0, len(broken[:most]), AT_ONCE):
        jobs = [job for job in devices.own_jobs(book, broken[at:at + AT_ONCE]) if job[1][0].family in families]
        yield from devices.disagreements(book, jobs, devices.notice(harness, book, jobs), said)
