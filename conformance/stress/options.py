"""What is inserted where, chosen by kernel name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.pdlkit.exits import BadArguments
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, PROTECT, TRIGGER, Settings

# Every kernel is held then, and each block draws its delay from 0 to this, so that some primaries are held longer than their dependents.
DEFAULT_HOLD_NS = 20_000
MOST_HOLD_NS = 10_000_000  # 10 ms: far beyond any launch gap, far below any watchdog


def _demangled(name: str) -> str:
    if not name.startswith("_Z"):
        return name
    from conformance.pdlkit.demangle import demangled

    return demangled(name)


def matches(pattern: str | None, kernel: str) -> bool:
    """Whether the pattern is found in the mangled or in the demangled name."""
    return bool(pattern and (re.search(pattern, kernel) or re.search(pattern, _demangled(kernel))))


@dataclass(frozen=True)
class Options:
    """Patterns are regular expressions, searched in the mangled and the demangled name; None matches nothing."""

    seed: int = 0
    hold_ns: int = DEFAULT_HOLD_NS
    least_ns: int = 0
    only: str | None = None     # None: every kernel
    exempt: str | None = None   # left as they are
    protect: str | None = None  # a wait at entry
    after_wait: bool = False
    before_exit: bool = False

    def choose(self, kernel: str) -> Settings | str:
        """A kernel's settings, or why it is left alone."""
        if matches(self.exempt, kernel):
            return "exempted by name"
        protected = PROTECT if matches(self.protect, kernel) else 0
        if self.only is not None and not matches(self.only, kernel):
            return Settings(protected, 0, 0, self.seed) if protected else "not chosen"
        flags = TRIGGER | HOLD | protected
        flags |= (AFTER_WAIT if self.after_wait else 0) | (BEFORE_EXIT if self.before_exit else 0)
        least = min(self.least_ns, self.hold_ns)
        return Settings(flags, least, self.hold_ns - least, self.seed)


def checked(options: Options) -> Options:
    """The same options; BadArguments if a pattern or a number is not valid."""
    for name in ("only", "exempt", "protect"):
        try:
            re.compile(getattr(options, name) or "")
        except re.error as error:
            raise BadArguments(f"--{name}: `{getattr(options, name)}` is not a regular expression ({error})") from error
    for name in ("hold_ns", "least_ns"):
        if not 0 <= getattr(options, name) <= MOST_HOLD_NS:
            raise BadArguments(f"--{name.replace('_', '-')} takes 0 to {MOST_HOLD_NS} nanoseconds")
    return options


def seed_of(text: str) -> int:
    """64 bits in hexadecimal, with or without 0x."""
    try:
        value = int(text, 16)
    except ValueError as error:
        raise BadArguments(f"--seed takes up to 16 hexadecimal digits, not `{text}`") from error
    if not 0 <= value < 1 << 64:
        raise BadArguments(f"--seed takes up to 16 hexadecimal digits, not `{text}`")
    return value
