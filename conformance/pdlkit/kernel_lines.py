"""Finds where in kernels/ a case's pair and a mutant's `#if` stand, so that `list` leads there in one step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.pdlkit import places


@cache
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except OSError:
        return ()


def _files(family: str) -> list[Path]:
    """A family's file, then the headers of kernels/ that it includes, directly or not."""
    found, left = list[Path](), [places.KERNELS / f"{family}.cu"]
    while left:
        path = left.pop(0)
        if path not in found and path.is_file():
            found.append(path)
            names = (re.match(r'#include "(\w+\.h)"', line) for line in _lines(path))
            left += [places.KERNELS / name[1] for name in names if name]
    return found


def kernel_file(family: str) -> str:
    """The file that holds a family's kernels."""
    return places.in_tree(places.KERNELS / f"{family}.cu")


def _entry(family: str, pair: str) -> tuple[int, str] | None:
    """The pair's entry in the family's table: its line, counted from 0, and its text."""
    lines = _lines(places.KERNELS / f"{family}.cu")
    table = next((i for i, line in enumerate(lines) if "_pairs[] =" in line), len(lines))
    for name in (pair, pair.removesuffix("_bare")):  # a table may make both pairs of an item at once
        for i in range(table, len(lines)):
            at = lines[i].find(f'"{name}"')
            if at >= 0:
                opened = re.search(r"\w*[({][^({]*$", lines[i][:at])  # the entry's own bracket: several may share a line
                rest = "\n".join((lines[i][opened.start() if opened else 0:], *lines[i + 1:]))
                return i, rest[:_end_of_entry(rest)]
    return None


def _end_of_entry(text: str) -> int:
    """Where the brackets that an entry opens are closed again."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if letter in ")}" and depth <= 0:
            return at + 1
    return len(text)


def pair_line(family: str, pair: str) -> str:
    """FILE:LINE of the pair in the family's table; the file alone if it cannot be told."""
    entry = _entry(family, pair)
    return f"{kernel_file(family)}:{entry[0] + 1}" if entry else kernel_file(family)


@dataclass(frozen=True)
class _Definition:
    """A kernel, function or macro of a family: its lines, counted from 0, the last one included."""

    path: Path
    first: int
    last: int
    is_kernel: bool
    is_macro: bool

    def words(self) -> list[str]:
        """Every identifier in it, in order."""
        return list(dict.fromkeys(re.findall(r"\w+", "\n".join(_lines(self.path)[self.first:self.last + 1]))))


_KERNEL = re.compile(r"KERNEL(?:_WITH)?\((\w+)")
_FUNCTION = re.compile(r"[A-Za-z][\w *]*?\b(\w+)\([^;]*$")
_MACRO = re.compile(r"#\s*define\s+(\w+)")


def _definition(path: Path, first: int) -> tuple[str, _Definition] | None:
    """What begins in this line, with its name."""
    lines = _lines(path)
    macro, kernel = _MACRO.match(lines[first]), _KERNEL.match(lines[first])
    found = macro or kernel or (None if "{" not in lines[first] and ";" in lines[first] else _FUNCTION.match(lines[first]))
    if found is None and "{" in lines[first]:  # a function in one line
        found = re.match(r"[A-Za-z][\w *]*?\b(\w+)\([^;{]*\)\s*\{", lines[first])
    if found is None:
        return None
    last = first
    if macro:
        while lines[last].endswith("\\") and last + 1 < len(lines):
            last += 1
    elif not lines[first].rstrip().endswith("}"):
        last = next((i for i in range(first, len(lines)) if lines[i].startswith("}")), first)
    return found[1], _Definition(path, first, last, kernel is not None, macro is not None)


@cache
def _definitions(family: str) -> dict[str, tuple[_Definition, ...]]:
    """All that a family's files define, by name; a macro may be defined several times."""
    found = dict[str, tuple[_Definition, ...]]()
    for path in _files(family):
        for first in range(len(_lines(path))):
            if defined := _definition(path, first):
                found[defined[0]] = (*found.get(defined[0], ()), defined[1])
    return found


def _named(family: str, pair: str) -> list[str]:
    """What the pair's entry names, of all that the family defines; macros in it are opened."""
    entry, known = _entry(family, pair), _definitions(family)
    found, left = dict[str, None](), re.findall(r"\w+", entry[1]) if entry else []
    while left:
        name = left.pop(0)
        if name in known and name not in found:
            found[name] = None
            left += [word for each in known[name] if each.is_macro for word in each.words()]
    return list(found)


def _reached(family: str, pair: str) -> tuple[_Definition, ...]:
    """The kernels and the queueing function of a pair, and all that they use. Nothing if the entry names no kernel."""
    known, left = _definitions(family), _named(family, pair)
    if not any(each.is_kernel for name in left for each in known[name]):
        return ()
    reached = dict[str, tuple[_Definition, ...]]()
    while left:
        name = left.pop()
        if name not in reached:
            reached[name] = known[name]
            left += [used for each in known[name] for used in each.words() if used in known]
    return tuple(each for definitions in reached.values() for each in definitions)


def kernel_lines(family: str, pair: str) -> list[str]:
    """KERNEL FILE:LINE of each kernel that the pair's entry names; the first is the primary."""
    return [f"{name} {places.in_tree(each.path)}:{each.first + 1}"
            for name in _named(family, pair) for each in _definitions(family)[name] if each.is_kernel]


def _guarded(lines: tuple[str, ...], first: int) -> int:
    """The last line that the `#if` or `#elif` in this line decides about."""
    depth = 0
    for i in range(first + 1, len(lines)):
        if re.match(r"#\s*if", lines[i]):
            depth += 1
        elif re.match(r"#\s*endif", lines[i]):
            if depth == 0:
                return i
            depth -= 1
    return len(lines) - 1


def mutant_lines(family: str, pair: str, symbol: str) -> list[str]:
    """FILE:LINE of every `#if` that plants this mutant in a pair's kernels, or in what they use. Where the kernels cannot be told, as
    where a macro makes them, of every one in the family's files."""
    asks = re.compile(rf"#\s*(if|ifdef|ifndef|elif)\b.*\bMUTANT_{symbol}\b")
    found = [(path, i) for path in _files(family) for i, line in enumerate(_lines(path)) if asks.match(line)]
    reached = _reached(family, pair)
    used = [(path, i) for path, i in found
            if any(each.path == path and each.first <= _guarded(_lines(path), i) and i <= each.last for each in reached)]
    return [f"{places.in_tree(path)}:{i + 1}" for path, i in used or found]
