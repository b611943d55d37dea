"""Finds where in kernels/ a case's pair and a mutant's `#if` stand, so that `list` leads there in one step."""

from __future__ import annotations

import re
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


def pair_line(family: str, pair: str) -> str:
    """FILE:LINE of the pair in the family's table; the file alone if it cannot be told."""
    lines = _lines(places.KERNELS / f"{family}.cu")
    table = next((i for i, line in enumerate(lines) if "_pairs[] =" in line), len(lines))
    for name in (pair, pair.removesuffix("_bare")):  # a table may make both pairs of an item at once
        for i in range(table, len(lines)):
            if f'"{name}"' in lines[i]:
                return f"{kernel_file(family)}:{i + 1}"
    return kernel_file(family)


def mutant_lines(family: str, symbol: str) -> list[str]:
    """FILE:LINE of every `#if` that plants this mutant in a family's kernels."""
    asks = re.compile(rf"#\s*(if|ifdef|ifndef|elif)\b.*\bMUTANT_{symbol}\b")
    return [f"{places.in_tree(path)}:{i + 1}" for path in _files(family) for i, line in enumerate(_lines(path)) if asks.match(line)]
