"""Images through the analysis: several at once, in the order of the file, without holding more than a few in memory."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from conformance.lint import analyser, processes, ptx
from conformance.lint.cache import Cache
from conformance.lint.judged import ALL, JudgedImage, kept
from conformance.lint.ptx import Ptx
from conformance.lint.scan import may_wait_or_trigger
from conformance.lint.sources import OLDEST, Source, Unreadable
from conformance.lint.summary import ImageSummary, has_erased_waits, summarise
from conformance.pdlkit import demangle, elf
from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.elf import CorruptFile
from conformance.pdlkit.exits import KitExit

DEFECT = "lint failed on this machine code"
_DECIDING = ("summary", "disassembly", "words", "analyser", "scan", "sources", "ptx", "pipeline")  # our own modules
_PTX_SCHEMA = "1"  # of what is cached of PTX
_WAITING = 2  # images waiting for each worker
_DONE = 64  # images that are done and wait for one before them, which takes longer
_EVERY_S = 0.5
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Outcome:
    """Of one image: a summary, or why there is none."""

    source: Source
    summary: ImageSummary | None
    problem: str | None = None
    judged: JudgedImage | None = None  # in place of a summary: an earlier run has judged it
    key: str = ""  # under which to keep what is said of it; empty: nowhere


@dataclass
class Progress:
    """A line on the terminal, with a rate; nothing where stderr is not a terminal."""

    shown: bool
    images: int = 0
    stored: int = 0
    waiting: int = 0
    begun: float = field(default_factory=time.monotonic)
    last: float = 0.0

    def step(self, outcome: Outcome) -> None:
        """One image more is done."""
        self.images += 1
        self.waiting += len(outcome.summary.rows) if outcome.summary else len(outcome.judged.verdicts) if outcome.judged else 0
        now = time.monotonic()
        if self.shown and now - self.last >= _EVERY_S:
            self.last = now
            seconds = max(now - self.begun, 1e-3)
            print(f"\rlint: {self.images:,} images, {self.stored / 1e6 / seconds:,.0f} MB/s, {self.waiting:,} kernels analysed ",
                  end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Takes the line away."""
        if self.shown and self.last:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)


@lru_cache(maxsize=2)
def _version(assembled: bool) -> str:
    """Of everything that decides what lint remembers of an image: our own code, the analysis, the disassembler and, for PTX, ptxas."""
    total = hashlib.sha256()
    for path in (*(Path(__file__).with_name(f"{name}.py") for name in _DECIDING), Path(elf.__file__), analyser.program()):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    for name in ("nvdisasm", "ptxas") if assembled else ("nvdisasm",):
        status = tool(name).stat()  # too large to be read at each start
        total.update(f"{tool(name)}\0{status.st_size}\0{status.st_ino}\0{status.st_mtime_ns}\0".encode(errors="replace"))
    return total.hexdigest()


def _key_of_analysis(source: Source) -> str:
    return hashlib.sha256(f"{_version(source.assembled)}\0{source.digest}".encode()).hexdigest()


def _key_of(one: Ptx) -> str:
    return f"ptx {_PTX_SCHEMA} {one.entry.digest()}"


def _done(result: _Result) -> Future[_Result]:
    future: Future[_Result] = Future()
    future.set_result(result)
    return future


@lru_cache(maxsize=1)
def _version_of_judging() -> str:
    """Of everything that decides what lint says of an image."""
    files = (*sorted(Path(__file__).parent.glob("*.py")), Path(demangle.__file__))
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


class Pipeline:
    """Analyses sources. `named` tells, by a kernel's name, whether it is analysed even if it does not wait. `needs` tells how much of the
    findings the caller reads; if that is less than all of them, the results that an earlier run kept for an image are enough."""

    def __init__(self, named: Callable[[str], bool], chosen: frozenset[str], workplace: Path, cache: Cache, progress: Progress,
                 needs: str = ALL) -> None:
        self.needs = needs
        self.named, self.chosen, self.workplace, self.cache, self.progress = named, chosen, workplace, cache, progress
        self.jobs = len(os.sched_getaffinity(0))

    def run(self, sources: Iterable[Source]) -> Iterator[Outcome]:
        """One outcome for each source, in their order."""
        for outcome in self._each(self._known, self._one, sources):
            self.progress.step(outcome)
            yield outcome

    def _each(self, known: Callable[[_Item], _Result | None], work: Callable[[_Item], _Result],
              items: Iterable[_Item]) -> Iterator[_Result]:
        """The results in the order of the items, with few of them begun at a time; nothing goes on after an interruption. What is known
        is asked by the caller's thread alone: Python runs one thread at a time, and nothing in it takes long."""
        pending: deque[Future[_Result]] = deque()
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                for item in items:
                    result = known(item)
                    pending.append(pool.submit(work, item) if result is None else _done(result))
                    while pending and (pending[0].done() or len(pending) > _DONE):
                        yield pending.popleft().result()
                    begun = [future for future in pending if not future.done()]
                    if len(begun) > self.jobs * _WAITING:
                        wait(begun, return_when=FIRST_COMPLETED)
                while pending:
                    yield pending.popleft().result()
            except BaseException:
                processes.stop_all()
                pool.shutdown(wait=True, cancel_futures=True)
                processes.start_again()
                raise

    def texts(self, found: Sequence[Ptx], problems: list[str]) -> Iterator[tuple[Ptx, ptx.Contents]]:
        """What decides of each PTX whether it is judged; those that cannot be read are problems."""
        for one, contents in zip(found, self._each(self._known_contents, self._contents, found), strict=True):
            if isinstance(contents, ptx.Contents):
                yield one, contents
            else:
                problems.append(str(contents))

    def _known_contents(self, one: Ptx) -> ptx.Contents | None:
        try:
            kept: list[Any] = self.cache.get(_key_of(one)) or []
            return ptx.Contents.from_json(kept)
        except (LookupError, TypeError, ValueError):  # it is not there, or of another version
            return None

    def _contents(self, one: Ptx) -> ptx.Contents | Unreadable:
        try:
            contents = ptx.contents_of(ptx.text_of(one))
        except Unreadable as error:
            return error
        self.cache.put(_key_of(one), contents.as_json())
        return contents

    def _known(self, source: Source) -> Outcome | None:
        """What an earlier run found out, if it is all that this one needs."""
        self.progress.stored += source.size
        try:
            key = self._key_of_judging(source)
            judged = kept(self.cache, key, self.needs, source.file, source.inner) if key else None
            summary = None if judged else self._kept(_key_of_analysis(source))
        except (Unreadable, CorruptFile, KitExit, OSError, MemoryError):
            return None  # who reads the image says so
        return Outcome(source, summary, None, judged, key) if judged or (summary and not self._lacks(summary)) else None

    def _one(self, source: Source) -> Outcome:
        inner = f"{source.inner}: " if source.inner else ""
        try:
            return Outcome(source, self._summary(source), None, None, self._key_of_judging(source))
        except (Unreadable, CorruptFile) as error:
            text = str(error)
            return Outcome(source, None, text if source.inner and text.startswith(source.inner) else f"{inner}{text}")
        except (KitExit, processes.Stopped):  # nothing of the image
            raise
        except MemoryError:
            return Outcome(source, None, f"{inner}there is not enough memory for it")
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - code that no compiler wrote; the others still have to be judged
            return Outcome(source, None, f"{inner}{DEFECT} ({type(error).__name__}: {error}); the file may be damaged")

    def _key_of_judging(self, source: Source) -> str:
        if self.needs == ALL:
            return ""
        return hashlib.sha256(f"{_version(source.assembled)}\0{_version_of_judging()}\0{source.digest}".encode()).hexdigest()

    def _summary(self, source: Source) -> ImageSummary:
        key = _key_of_analysis(source)
        image = source.load()
        cubin = image.cubin
        named = {k for k in cubin.kernels if self.named(k)}
        kept = self._kept(key) if named else None  # without a named kernel it would have been enough
        aligned = all(section.offset % 16 == 0 for section in cubin.text_sections)
        if aligned and not named and not may_wait_or_trigger(cubin.data, cubin.sm):
            kernels = [k for k in cubin.kernels if not self.chosen or k in self.chosen]
            summary = ImageSummary(cubin.sm, cubin.virtual_sm, kernels)
        else:
            summary = summarise(image, named | (set(kept.rows) if kept else set()), self.chosen, self.workplace)
        summary.digest = source.digest
        summary.erased_waits = has_erased_waits(cubin)
        if not self.chosen:
            self.cache.put(key, summary.as_json())
        return summary

    def _kept(self, key: str) -> ImageSummary | None:
        row = None if self.chosen else self.cache.get(key)
        try:
            return None if row is None else ImageSummary.from_json(row)
        except (LookupError, TypeError, ValueError):
            return None

    def _lacks(self, summary: ImageSummary) -> bool:
        """Whether a kernel that is named now was not analysed then."""
        return summary.sm >= OLDEST and any(k not in summary.rows and self.named(k) for k in summary.kernels)
