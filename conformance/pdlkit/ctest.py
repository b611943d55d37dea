"""Runs CTest and says how far it is: a line at least every few seconds, what is left, what was slow, what was skipped and why."""

from __future__ import annotations

import json
import re
import selectors
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from conformance.pdlkit.children import Kept

HANG_S = 3600  # for one test: ten times the slowest on a slow machine, against hangs only
QUIET_S = 10.0  # a line is printed at least this often
SLOWEST = 10
TYPICAL = Path(__file__).with_name("test_seconds.json")  # of the longest tests, for a build folder in which none ran yet
_LONG_S = 3.0
_KNOWN = "seconds.json"  # of the last run in this build folder
_CTEST_KNOWN = Path("Testing", "Temporary", "CTestCostData.txt")
_START = re.compile(r"\s*Start\s+\d+: (\S+)")
_END = re.compile(r"\s*\d+/(\d+) Test\s+#\d+: (\S+) \.*\s*(?:\*\*\*)?([A-Z][A-Za-z]*).*?([0-9.]+) sec")

Say = Callable[[str], None]


@dataclass
class Course:
    """What is known while the tests run."""

    known: dict[str, float]  # seconds that tests took before
    total: int
    started: float = field(default_factory=time.monotonic)
    running: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # of those that ended
    bad: int = 0

    def read(self, line: str) -> bool:
        """Take one line of CTest; True if it is only about how far it is."""
        begun, ended = _START.fullmatch(line.rstrip()), _END.match(line)
        if begun:
            self.running[begun[1]] = time.monotonic()
            return True
        if ended:
            self.total = int(ended[1])
            self.running.pop(ended[2], None)
            self.seconds[ended[2]] = float(ended[4])
            self.bad += ended[3] not in ("Passed", "Skipped")
            return ended[3] == "Passed"
        return False

    def left_s(self) -> float | None:
        """An estimate of what is left, from how long the tests took before and how fast this run is; None: too early to say."""
        elapsed, done = time.monotonic() - self.started, len(self.seconds)
        if done == 0 or elapsed < 5:
            return None
        usual = sum(self.known.get(name, 1.0) for name in self.seconds)
        whole = sum(self.known.values()) + max(0, self.total - len(self.known))
        return elapsed * max(0.0, whole / usual - 1)

    def words(self) -> str:
        """One line: how far, how long still, what runs."""
        left = self.left_s()
        about = f", about {_time(left)} left" if left is not None and self.known else ""
        longest = sorted(self.running, key=lambda name: self.running[name])[:3]
        failed = f", {self.bad} failed" if self.bad else ""
        return f"{len(self.seconds)} of {self.total} tests{failed} in {_time(time.monotonic() - self.started)}{about}; running: " \
               f"{', '.join(longest) or 'none'}"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _read_seconds(file: Path, names: Sequence[str]) -> dict[str, float]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {name: float(kept[name]) for name in names if name in kept}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _longest_first(folder: Path, known: Mapping[str, float]) -> None:
    """Tell CTest how long tests take, where it has not seen them itself: it starts the longest first, so none is left alone at the end."""
    file = folder / _CTEST_KNOWN
    if known and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{name} 1 {seconds:.3f}\n" for name, seconds in known.items()) + "---\n", encoding="utf-8")


def keep_typical(folder: Path, names: Sequence[str]) -> None:
    """Write TYPICAL anew from the last run in this folder."""
    seconds = {name: round(taken) for name, taken in sorted(_read_seconds(folder / _KNOWN, names).items()) if taken >= _LONG_S}
    TYPICAL.write_text(json.dumps(seconds, indent=1) + "\n", encoding="utf-8")


def run_ctest(command: Sequence[str], folder: Path, names: Sequence[str], say: Say, environment: Mapping[str, str] | None = None,
              typical: Path = TYPICAL) -> int:
    """CTest's exit code; what it prints is passed on without the lines of tests that began or passed."""
    before = _read_seconds(folder / _KNOWN, names)
    course = Course({**_read_seconds(typical, names), **before}, len(names))
    _longest_first(folder, course.known)
    kept = Kept(command, cwd=folder, stderr=None, environment=environment)
    said = time.monotonic()
    try:
        assert kept.process.stdout is not None
        with selectors.DefaultSelector() as selector, open(kept.process.stdout.fileno(), "rb", buffering=0, closefd=False) as out:
            selector.register(out, selectors.EVENT_READ)
            rest = b""
            while True:
                if selector.select(timeout=max(0.1, said + QUIET_S - time.monotonic())):
                    data = out.read(1 << 16)
                    if not data:
                        break
                    *lines, rest = (rest + data).split(b"\n")
                    for line in (raw.decode("utf-8", "replace") for raw in lines):
                        if not course.read(line):
                            say(line)
                if time.monotonic() - said >= QUIET_S:
                    say(course.words())
                    said = time.monotonic()
        code = kept.process.wait()
    finally:
        kept.stop()
    if course.seconds:
        merged = {**before, **course.seconds}
        (folder / _KNOWN).write_text(json.dumps(merged, indent=1), encoding="utf-8")
    return code


def summary(junit: Path) -> list[str]:
    """The slowest tests, what was skipped and why, and the counts; CTest's own percentage takes a skipped test for a passed one."""
    cases = list(ElementTree.parse(junit).iter("testcase"))
    slow = sorted(cases, key=lambda case: -float(case.get("time") or 0))[:SLOWEST]
    lines = ["slowest: " + ", ".join(f"{case.get('name')} {float(case.get('time') or 0):.0f} s" for case in slow)] if slow else []
    lines += [f"skipped: {case.get('name')}: {_why(case)}" for case in cases if case.get("status") not in ("run", "fail")]
    lines += [f"failed: {case.get('name')}" for case in cases if case.get("status") == "fail"]
    counts = Counter(case.get("status") for case in cases)
    passed, failed = counts.pop("run", 0), counts.pop("fail", 0)
    return [*lines, f"{passed} passed, {failed} failed, {sum(counts.values())} skipped"]


def _why(case: ElementTree.Element) -> str:
    """The reasons that a skipped test gave."""
    said = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    reasons = [re.sub(r"^SKIPPED \[\d+\] [^:]*:(\d+: )?", "", line) for line in said if line.startswith("SKIPPED")]
    return "; ".join(dict.fromkeys(reasons)) or (said[-1] if said else "it did not say why")
