"""Images through the analysis: several at once, in the order of the file, without holding more than a few in memory."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from conformance.lint import analyser, processes
from conformance.lint.cache import Cache
from conformance.lint.images import Source, Unreadable
from conformance.lint.scan import may_wait_or_trigger
from conformance.lint.summary import ImageSummary, has_erased_waits, summarise
from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.elf import CorruptFile
from conformance.pdlkit.exits import KitExit

DEFECT = "lint failed on this machine code"
_SCHEMA = "3"  # of what is cached
_BEHIND = 2  # images waiting for each worker
_EVERY_S = 0.5
_OLDEST = 90


@dataclass(frozen=True)
class Outcome:
    """Of one image: a summary, or why there is none."""

    source: Source
    summary: ImageSummary | None
    problem: str | None = None


@dataclass
class Progress:
    """A line on the terminal, with a rate; nothing where stderr is not a terminal."""

    shown: bool
    images: int = 0
    stored: int = 0
    waiting: int = 0
    begun: float = field(default_factory=time.monotonic)
    last: float = 0.0

    def step(self, summary: ImageSummary | None) -> None:
        """One image more is done."""
        self.images += 1
        self.waiting += len(summary.rows) if summary else 0
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


@lru_cache(maxsize=1)
def _version() -> str:
    """Of everything that decides what the analysis says of an image."""
    disassembler = tool("nvdisasm")
    status = disassembler.stat()
    return f"{_SCHEMA}\0{analyser.program().name}\0{disassembler}\0{status.st_size}\0{status.st_mtime_ns}"


class Pipeline:
    """Analyses sources; `named`: whether a kernel of this name is to be analysed although it does not wait."""

    def __init__(self, named: Callable[[str], bool], chosen: frozenset[str], workplace: Path, cache: Cache, progress: Progress) -> None:
        self.named, self.chosen, self.workplace, self.cache, self.progress = named, chosen, workplace, cache, progress
        self.jobs = len(os.sched_getaffinity(0))

    def run(self, sources: Iterable[Source]) -> Iterator[Outcome]:
        """One outcome for each source, in their order."""
        pending: deque[Future[Outcome]] = deque()
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                for source in sources:
                    pending.append(pool.submit(self._one, source))
                    while len(pending) > self.jobs * _BEHIND:
                        yield self._done(pending.popleft())
                while pending:
                    yield self._done(pending.popleft())
            except BaseException:
                processes.stop_all()
                pool.shutdown(wait=True, cancel_futures=True)
                processes.start_again()
                raise

    def _done(self, future: Future[Outcome]) -> Outcome:
        outcome = future.result()
        self.progress.step(outcome.summary)
        return outcome

    def _one(self, source: Source) -> Outcome:
        inner = f"{source.inner}: " if source.inner else ""
        try:
            return Outcome(source, self._summary(source))
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

    def _summary(self, source: Source) -> ImageSummary:
        stored = source.stored()
        self.progress.stored += len(stored)
        digest = hashlib.sha256(stored).hexdigest()
        key = hashlib.sha256(f"{_version()}\0{digest}".encode()).hexdigest()
        kept = self._kept(key)
        if kept is not None and not self._lacks(kept):
            return kept
        image = source.load()
        cubin = image.cubin
        named = {k for k in cubin.kernels if self.named(k)}
        aligned = all(section.offset % 16 == 0 for section in cubin.text_sections)
        if aligned and not named and not may_wait_or_trigger(cubin.data, cubin.sm):
            kernels = [k for k in cubin.kernels if not self.chosen or k in self.chosen]
            summary = ImageSummary(cubin.sm, cubin.virtual_sm, kernels)
        else:
            summary = summarise(image, named | (set(kept.rows) if kept else set()), self.chosen, self.workplace)
        summary.digest = digest
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
        return summary.sm >= _OLDEST and any(k not in summary.rows and self.named(k) for k in summary.kernels)
