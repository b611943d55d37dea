"""Declarations of independence: early reads that are right because no earlier grid writes that memory.

    [[independent]]
    kernel = "gemm_.*"          # searched in the mangled and the demangled name
    parameter = 2               # counted from 1; or a list
    because = "weights, written once when the model is loaded"

A declaration covers reads only, also those through pointers that were read from that parameter. `writes = true` says that
no earlier grid touches the memory at all: then it covers stores, atomic operations and copies as well. `variable = "name"`
in place of `parameter` names a __device__ variable. Of a parameter that is a struct, `offsets = [0, 16]` takes only the
members that begin at these bytes.

    [[chain]]
    kernels = "decode_.*"       # searched as above
    because = "they read what the kernel before the last one wrote; the wait is for the output"
    predecessor = [3]           # optional: parameters through which the kernel just before writes

A chain is a property of several kernels: each waits, and before it triggers. Then, when one of them runs, all grids before its
predecessor are complete, and early reads of what those wrote are right. Lint checks both for every kernel that is named, and
takes early reads there as declared, but those through parameters of `predecessor`; early stores stay errors.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.lint.results import Origin
from conformance.pdlkit.elf import KernelInfo
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.read_report import Unreadable, read_text

_POINTER = 8  # bytes


@dataclass
class Chain:
    """Kernels that wait before they trigger, so that early reads of older data are right."""

    source: str
    kernels: re.Pattern[str]
    because: str
    predecessor: frozenset[int] = frozenset()  # parameters through which the kernel just before writes: early reads stay errors
    used: set[str] = field(default_factory=set)


@dataclass
class Declaration:
    source: str
    kernel: re.Pattern[str]
    parameters: frozenset[int]
    variables: frozenset[str]
    because: str
    writes: bool = False  # covers stores, too
    offsets: frozenset[int] = frozenset()  # of members of a struct; empty: all
    used: set[str] = field(default_factory=set)  # kernels in which it covered something

    def covers(self, origin: Origin, info: KernelInfo) -> bool:
        base = origin[1] if origin[0] == "via" else origin
        if base[0] == "symbol":
            return base[1] in self.variables
        if base[0] != "param" or ordinal_of(base[1], info) not in self.parameters:
            return False
        return not self.offsets or any(o <= within(base[1], info) < o + _POINTER for o in self.offsets)


def ordinal_of(offset: int, info: KernelInfo) -> int | None:
    """The parameter, counted from 1, that lies at this offset of the parameter bank."""
    return next((p.ordinal + 1 for p in info.parameters if p.offset <= offset < p.offset + p.size), None)


def within(offset: int, info: KernelInfo) -> int:
    """How far into its parameter this offset of the parameter bank lies."""
    return next((offset - p.offset for p in info.parameters if p.offset <= offset < p.offset + p.size), 0)


def load(path: Path) -> tuple[list[Declaration], list[Chain]]:
    """The declarations of one file; BadArguments with the place of what cannot be understood."""
    content = read_toml(path)
    rows, chains = content.pop("independent", []), content.pop("chain", [])
    if content or not isinstance(rows, list) or not isinstance(chains, list):
        raise BadArguments(f"{path}: only [[independent]] and [[chain]] tables are known, not {', '.join(content) or 'this'}")
    return ([_declaration(path, number, row) for number, row in enumerate(rows, 1)],
            [_chain(path, number, row) for number, row in enumerate(chains, 1)])


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a file that the user names."""
    try:
        return tomllib.loads(read_text(path))
    except (Unreadable, RecursionError, tomllib.TOMLDecodeError) as error:
        raise BadArguments(f"{path}: {error}") from None


def pattern_of(place: str, key: str, value: object) -> re.Pattern[str]:
    """A regular expression of a table."""
    if not isinstance(value, str):
        raise BadArguments(f"{place}: `{key}` has to be a regular expression")
    try:
        return re.compile(value)
    except re.error as error:
        raise BadArguments(f"{place}: {key}: {error}") from None


def reason_of(place: str, row: dict[str, object], what: str) -> str:
    """The `because` of a table, which may not be missing."""
    because = row.get("because")
    if not isinstance(because, str) or not because.strip():
        raise BadArguments(f"{place}: `because` has to say {what}")
    return because.strip()


def _chain(path: Path, number: int, row: dict[str, object]) -> Chain:
    place = f"{path}, chain {number}"
    unknown = set(row) - {"kernels", "because", "predecessor"}
    if unknown:
        raise BadArguments(f"{place}: unknown key {', '.join(sorted(unknown))}")
    because, pattern = reason_of(place, row, "why early reads are right there"), pattern_of(place, "kernels", row.get("kernels"))
    predecessor = _listed(row.get("predecessor", []), int)
    if predecessor is None or any(int(str(p)) < 1 for p in predecessor):
        raise BadArguments(f"{place}: `predecessor` has to be the number of a parameter, from 1, or a list")
    return Chain(place, pattern, because, predecessor)  # type: ignore[arg-type]


def _declaration(path: Path, number: int, row: dict[str, object]) -> Declaration:
    place = f"{path}, declaration {number}"
    unknown = set(row) - {"kernel", "parameter", "variable", "because", "writes", "offsets"}
    if unknown:
        raise BadArguments(f"{place}: unknown key {', '.join(sorted(unknown))}")
    because = reason_of(place, row, "why the memory is independent")
    pattern = pattern_of(place, "kernel", row.get("kernel"))
    parameters = _listed(row.get("parameter", []), int)
    variables = _listed(row.get("variable", []), str)
    if parameters is None or variables is None or not parameters | variables or any(int(str(p)) < 1 for p in parameters):
        raise BadArguments(f"{place}: `parameter` has to be a number from 1, or a list, or `variable` a name")
    offsets, writes = _listed(row.get("offsets", []), int), row.get("writes", False)
    if offsets is None or (offsets and not parameters):
        raise BadArguments(f"{place}: `offsets` has to be a list of bytes within the `parameter`")
    if not isinstance(writes, bool):
        raise BadArguments(f"{place}: `writes` has to be true or false")
    return Declaration(place, pattern, parameters, variables, because, writes, offsets)  # type: ignore[arg-type]


def _listed(value: object, kind: type) -> frozenset[object] | None:
    values = value if isinstance(value, list) else [value]
    return frozenset(values) if all(isinstance(v, kind) and not isinstance(v, bool) for v in values) else None
