"""Finds in PTX text what the rewriter needs: header, kernels, waits, triggers, exits. Comments and strings never mislead it."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
_VERSION = re.compile(r"\.version\s+(\d+)\.(\d+)")
_TARGET = re.compile(r"\.target\s+([^\n;]+)")
_ENTRY = re.compile(r"((?:\.(?:visible|weak|extern)\s+)*)\.entry\s+([A-Za-z_$%][\w$]*)\s*")
_FUNC = re.compile(r"\.func\b")
_PRAGMA = re.compile(r"\.pragma\s[^;]*;")
_BRACE = re.compile(r"[{}]")
_PARENTHESIS = re.compile(r"[()]")
_CONTROL = re.compile(r"griddepcontrol\s*\.\s*(wait|launch_dependents)\s*;")
_EXIT = re.compile(r"(?:@\s*(!?)\s*([%\w$]+)\s+)?\b(?:ret(?:\.uni)?|exit)\s*;")
_FENCE = re.compile(r"\b(?:membar\.(?:gl|sys)|fence(?:\.(?:acq_rel|sc|release))?\.(?:gpu|sys)|fence\.proxy\b|"
                    r"(?:st|red|atom)\.release)|threadfence")
_UNSYNCED = re.compile(r"\b(?:shfl\.(?:up|down|bfly|idx)|vote\.(?:all|any|uni|ballot))\b")
_LINKAGE = (".visible", ".weak", ".extern")
_WORD_BEFORE = re.compile(r"\.(?:visible|weak|extern)\s+\Z")
LONGEST_GAP = 1 << 16  # comments have become blanks, and a long one may stand between two words
LOOK_BACK = 8  # statements between a fence and the trigger that still count as "right before"


def without_noise(text: str) -> str:
    """The same text, of the same length, with comments and strings blanked."""
    return _NOISE.sub(lambda match: " " * (match.end() - match.start()), text)


@dataclass(frozen=True)
class Kernel:
    """One kernel that has a body. `opens` is the place after its first brace."""

    name: str
    opens: int


@dataclass
class Module:
    """What one pass over a PTX file found."""

    text: str
    clean: str
    version: tuple[int, int] | None = None
    version_span: tuple[int, int] = (0, 0)
    target: str | None = None
    target_span: tuple[int, int] = (0, 0)
    kernels: list[Kernel] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)      # where each kernel or function begins, ascending
    owners: list[str | None] = field(default_factory=list)  # the kernel's name there, None for a function
    waits: list[tuple[int, int]] = field(default_factory=list)     # from, to
    triggers: list[tuple[int, int]] = field(default_factory=list)

    def owner(self, place: int) -> str | None:
        """The kernel whose text holds this place; None inside a function."""
        index = bisect.bisect_right(self.starts, place) - 1
        return self.owners[index] if index >= 0 else None

    def body_end(self, kernel: Kernel) -> int:
        """The place of the brace that closes the kernel."""
        depth = 1
        for match in _BRACE.finditer(self.clean, kernel.opens):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                return match.start()
        return len(self.clean)


def _past_parameters(clean: str, place: int) -> int:
    """The place after the parameter list, if there is one."""
    if place < len(clean) and clean[place] == "(":
        depth = 0
        for match in _PARENTHESIS.finditer(clean, place):
            depth += 1 if match[0] == "(" else -1
            if depth == 0:
                return match.end()
    return place


def _first_word(clean: str, place: int) -> int:
    """Where the linkage words before `.entry` begin; they may stand on lines of their own."""
    begins = max(clean.rfind("\n", 0, place), clean.rfind(";", 0, place), clean.rfind("}", 0, place)) + 1
    ahead = clean[begins:place]
    if ahead.strip() in _LINKAGE:
        return begins + len(ahead) - len(ahead.lstrip())
    while (match := _WORD_BEFORE.search(clean, max(0, place - LONGEST_GAP), place)) is not None:
        place = match.start()
    return place


def _opening(clean: str, place: int) -> int | None:
    """The place after the brace that opens the body; None for a declaration without a body."""
    while True:
        brace, stop = clean.find("{", place), clean.find(";", place)
        if brace < 0:
            return None
        if stop < 0 or brace < stop:
            return brace + 1
        pragma = _PRAGMA.search(clean, place, stop + 1)
        if pragma is None:
            return None
        place = pragma.end()


def scan(text: str) -> Module:
    """Everything about one PTX file."""
    clean = without_noise(text)
    module = Module(text, clean)
    version, target = _VERSION.search(clean), _TARGET.search(clean)
    if version:
        module.version, module.version_span = (int(version[1]), int(version[2])), version.span()
    if target:
        module.target, module.target_span = target[1].strip(), target.span(1)
    found: list[tuple[int, str | None]] = []
    place = 0
    while (place := clean.find(".entry", place)) >= 0:
        match = _ENTRY.match(clean, _first_word(clean, place))
        place += len(".entry")
        if match is None:
            continue
        opens = _opening(clean, _past_parameters(clean, match.end()))
        if opens is not None:
            module.kernels.append(Kernel(match[2], opens))
            found.append((match.start(), match[2]))
    if ".func" in clean:
        found += [(match.start(), None) for match in _FUNC.finditer(clean)]
        found.sort()
    module.starts, module.owners = [at for at, _ in found], [name for _, name in found]
    if "griddepcontrol" in clean:
        for match in _CONTROL.finditer(clean):
            (module.waits if match[1] == "wait" else module.triggers).append(match.span())
    return module


def waits(module: Module, kernel: Kernel) -> list[int]:
    """The place after each wait in the kernel's own body."""
    stop = module.body_end(kernel)
    return [end for start, end in module.waits if kernel.opens <= start < stop]


def owners(module: Module, places: list[tuple[int, int]]) -> list[str]:
    """The kernels whose own bodies contain these places."""
    return sorted({name for start, _ in places if (name := module.owner(start))})


def exits(module: Module, kernel: Kernel) -> list[tuple[int, str]]:
    """The place before each exit, and the condition under which it is not taken ("" if it always is)."""
    found = []
    for match in _EXIT.finditer(module.clean, kernel.opens, module.body_end(kernel)):
        unless = "" if match[2] is None else ("" if match[1] else "!") + match[2]
        found.append((match.start(), unless))
    return found


def fence_then_trigger(module: Module) -> set[str]:
    """Kernels (or "a function") with a fence right before a trigger, which may be how they publish their stores."""
    found: set[str] = set()
    for start, _ in module.triggers:
        before = start
        for _ in range(LOOK_BACK):
            before = max(module.clean.rfind(";", 0, before), 0)
        if _FENCE.search(module.clean, before, start):
            found.add(module.owner(start) or "a device function")
    return found


def unsynced_shuffle(module: Module) -> bool:
    """Whether the text uses the shuffles and votes without .sync, which no PTX version with PDL accepts."""
    return any(".sync" not in match[0] for match in _UNSYNCED.finditer(module.clean))
