"""Says whether a run came out right: the user's command, expression or files, or the program's own output."""

from __future__ import annotations

import array
import json
import math
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.exits import BadArguments, SetupImpossible

CHECK_S = 600.0
DTYPES = {"float32": "f", "float64": "d", "int32": "i", "int64": "q"}


@dataclass(frozen=True)
class Copy:
    """One copy from the device to the host, as the injection library saw it. Equal copies brought the same bytes.

    When it was made is no part of that: threads and processes take turns as they like, and a program may be right whoever comes first.
    """

    bytes: int
    digests: tuple[str, ...]                    # of its sixteen parts
    number: int = field(default=0, compare=False)   # within its thread
    after: str = field(default="", compare=False)   # the kernel that was launched last before it


Copies = Counter[Copy]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """What the injection library wrote. Names may hold any bytes, and the last line of a program that was killed may be cut."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for line in text.split("\n"):
        with suppress(ValueError):
            yield json.loads(line)


def read_copies(path: Path) -> Copies:
    """The copies of one run, of all its processes."""
    return Counter(Copy(entry["bytes"], tuple(entry["digests"]), entry["copy"], entry["after"]) for entry in read_lines(path))


def stable_copies(runs: list[Observed]) -> Copies:
    """The copies that all of these runs made; only they can accuse a program."""
    return reduce(and_, (run.copies for run in runs))


@dataclass
class Observed:
    """What is kept of one run."""

    code: int | None            # None: it did not end in time
    stdout: bytes
    stderr: bytes
    seconds: float
    files: dict[str, bytes | None] = field(default_factory=dict)
    copies: Copies = field(default_factory=Counter)  # to the host


def _mark(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@dataclass(frozen=True)
class Oracle:
    """How two runs are compared and how one is judged. Everything that is asked for must hold."""

    check: str | None = None
    expression: str | None = None
    files: tuple[str, ...] = ()
    compare_stdout: bool = False
    tolerance: float | None = None
    digests: bool = False     # what is copied to the host judges
    dtype: str | None = None  # of binary files when a tolerance is given; None: text with numbers

    def changed_copy(self, run: Observed, plain: Observed | None, stable: Copies) -> str | None:
        """The first stable copy that this run did not make."""
        missing = stable - run.copies if plain and self.digests else Counter[Copy]()
        if not plain or not missing:
            return None
        lost = min(missing, key=lambda copy: copy.number)
        others = [copy for copy in run.copies - plain.copies if (copy.number, copy.bytes) == (lost.number, lost.bytes)]
        if not others:
            return f"copy {lost.number} to the host, of {lost.bytes} bytes, was not made with the bytes of the plain runs"
        wrong = min(sum(a != b for a, b in zip(copy.digests, lost.digests, strict=True)) for copy in others)
        share = f"in {wrong} of its 16 parts" if lost.bytes >= 16 else "in its bytes"
        place = f", made after kernel {lost.after}" if lost.after else ""
        return f"copy {lost.number} to the host ({lost.bytes} bytes{place}) differs from the plain runs' {share}"

    def judges(self, plain: Observed | None, stable: Copies) -> bool:
        """Whether anything but the exit code can differ between two runs."""
        printed = self.compare_stdout and plain is not None and bool(plain.stdout)
        return bool(self.check or self.expression or self.files or printed or (self.digests and stable))

    def marks(self, folder: Path) -> dict[str, tuple[int, ...]]:
        """How the output files stand before a run. Nothing is removed: a file that a run does not write has the same mark after it."""
        return {name: _mark(folder / name) for name in self.files}

    def collect(self, folder: Path, before: dict[str, tuple[int, ...]]) -> dict[str, bytes | None]:
        """The output files that this run wrote; None for one that it did not."""
        return {name: (folder / name).read_bytes() if (folder / name).is_file() and _mark(folder / name) != before[name] else None
                for name in self.files}

    def complaint(self, run: Observed, plain: Observed | None, folder: Path, environment: dict[str, str]) -> str | None:
        """Why this run is wrong, compared with a plain one; None if it is right."""
        if run.code is None:
            return "it did not end in time"
        if plain is None and run.code != 0 and not (self.check or self.expression):
            return f"it ended with exit code {run.code}"
        if plain is not None and run.code != plain.code:
            return f"exit code {run.code} instead of {plain.code}"
        return self._check(folder, environment) or self._expression(run, plain) or self._compare(run, plain)

    def _check(self, folder: Path, environment: dict[str, str]) -> str | None:
        if not self.check:
            return None
        try:
            done = run_tool(shlex.split(self.check), timeout=CHECK_S, environment=environment, cwd=folder)
        except subprocess.TimeoutExpired:
            raise BadArguments(f"--check `{self.check}` did not end in {CHECK_S:.0f} s") from None
        except SetupImpossible as error:
            raise BadArguments(f"--check `{self.check}` could not be run: {error}") from None
        return f"--check ended with exit code {done.returncode}" if done.returncode else None

    def _expression(self, run: Observed, plain: Observed | None) -> str | None:
        if not self.expression:
            return None
        names = {"stdout": run.stdout.decode(errors="replace"), "stderr": run.stderr.decode(errors="replace"),
                 "code": run.code, "files": run.files, "plain": plain or run, "math": math}
        try:
            good = eval(self.expression, names)  # the user's own expression, on the user's own machine
        except Exception as error:  # whatever it raises is a wrong run unless the plain run raises it, too
            return f"--expr raised {type(error).__name__}: {error}"
        return None if good else "--expr is false"

    def _compare(self, run: Observed, plain: Observed | None) -> str | None:
        if plain is None:
            return None
        if self.compare_stdout and self._differ(run.stdout, plain.stdout, None):
            return "its output differs from the plain run's"
        for name in self.files:
            one, other = run.files.get(name), plain.files.get(name)
            if one is None or other is None:
                if one is not other:
                    return f"{name} was not written"
            elif self._differ(one, other, self.dtype):
                return f"{name} differs from the plain run's"
        return None

    def _differ(self, one: bytes, other: bytes, dtype: str | None) -> bool:
        if one == other:
            return False
        if self.tolerance is None:
            return True
        if dtype:
            if len(one) != len(other) or len(one) % array.array(DTYPES[dtype]).itemsize:
                return True
            return not _close(array.array(DTYPES[dtype], one), array.array(DTYPES[dtype], other), self.tolerance)
        return not _close_text(one.split(), other.split(), self.tolerance)


def _near(a: float, b: float, tolerance: float) -> bool:
    """Whether both count as the same; an infinite number is near to itself only, whatever the tolerance."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1.0)


def _close(one: array.array[float], other: array.array[float], tolerance: float) -> bool:
    return all(_near(a, b, tolerance) for a, b in zip(one, other, strict=False))


def _close_text(one: list[bytes], other: list[bytes], tolerance: float) -> bool:
    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=False):
        if a != b:
            try:
                if not _near(float(a), float(b), tolerance):
                    return False
            except ValueError:
                return False
    return True

