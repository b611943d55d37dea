"""Declarations of independence: early reads that are right because no earlier grid writes that memory.

    [[independent]]
    kernel = "gemm_.*"          # searched in the mangled and the demangled name
    parameter = 2               # counted from 1; or a list
    because = "weights, written once when the model is loaded"

A declaration covers reads only, also those through pointers that were read from that parameter. `writes = true` says that
no earlier grid touches the memory at all: then it covers stores, atomic operations and copies as well. `variable = "name"`
in place of `parameter` names a __device__ variable. Of a parameter that is a struct, `offsets = [0, 16]` takes only the
members that begin at these bytes.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint.results import Origin
from conformance.pdlkit.elf import KernelInfo
from conformance.pdlkit.exits import BadArguments

_POINTER = 8  # bytes


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


def load(path: Path) -> list[Declaration]:
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise BadArguments(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadArguments(f"{path}: {error}") from None
    rows = content.pop("independent", [])
    if content or not isinstance(rows, list):
        raise BadArguments(f"{path}: only [[independent]] tables are known, not {', '.join(content) or 'this'}")
    return [_declaration(path, number, row) for number, row in enumerate(rows, 1)]


def _declaration(path: Path, number: int, row: dict[str, object]) -> Declaration:
    place = f"{path}, declaration {number}"
    unknown = set(row) - {"kernel", "parameter", "variable", "because", "writes", "offsets"}
    if unknown:
        raise BadArguments(f"{place}: unknown key {', '.join(sorted(unknown))}")
    because, kernel = row.get("because"), row.get("kernel")
    if not isinstance(because, str) or not because.strip():
        raise BadArguments(f"{place}: `because` has to say why the memory is independent")
    if not isinstance(kernel, str):
        raise BadArguments(f"{place}: `kernel` has to be a regular expression")
    try:
        pattern = re.compile(kernel)
    except re.error as error:
        raise BadArguments(f"{place}: kernel: {error}") from None
    parameters = _listed(row.get("parameter", []), int)
    variables = _listed(row.get("variable", []), str)
    if parameters is None or variables is None or not parameters | variables or any(int(str(p)) < 1 for p in parameters):
        raise BadArguments(f"{place}: `parameter` has to be a number from 1, or a list, or `variable` a name")
    offsets, writes = _listed(row.get("offsets", []), int), row.get("writes", False)
    if offsets is None or (offsets and not parameters):
        raise BadArguments(f"{place}: `offsets` has to be a list of bytes within the `parameter`")
    if not isinstance(writes, bool):
        raise BadArguments(f"{place}: `writes` has to be true or false")
    return Declaration(place, pattern, parameters, variables, because.strip(), writes, offsets)  # type: ignore[arg-type]


def _listed(value: object, kind: type) -> frozenset[object] | None:
    values = value if isinstance(value, list) else [value]
    return frozenset(values) if all(isinstance(v, kind) and not isinstance(v, bool) for v in values) else None
