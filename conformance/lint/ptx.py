"""PTX beside machine code: which of it a driver would assemble for a GPU, and that part assembled.

A library may hold more PTX than fits into memory, so of each text only what decides is kept; the few that matter are read again.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.lint.containers import Damaged, Entry
from conformance.lint.processes import output_of
from conformance.lint.sources import OLDEST, Image, Source, Unreadable, load_cubin
from conformance.pdlkit.cuda_programs import ToolFailed, tool

_HEAD = 65536  # bytes in which the target is named
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(rb"(?<![\w.])\.target\s+sm_(\d+)([af]?)\b")
_ENTRY = re.compile(rb"\.entry\s+([\w$]+)")
_WAIT = b"griddepcontrol"


@dataclass(frozen=True)
class Ptx:
    """PTX in a container, not yet unpacked."""

    inner: str
    entry: Entry


@dataclass(frozen=True)
class Contents:
    """What of a PTX text decides whether it is judged."""

    target: int  # 0: it names none
    kernels: frozenset[str]
    waits: bool

    def as_json(self) -> list[Any]:
        return [self.target, sorted(self.kernels), self.waits]

    @classmethod
    def from_json(cls, row: list[Any]) -> Contents:
        target, kernels, waits = row
        return cls(int(target), frozenset(map(str, kernels)), bool(waits))


def contents_of(text: bytes | bytearray) -> Contents:
    """Read from the text."""
    found = _TARGET.search(_COMMENT.sub(b" ", text[:_HEAD]))
    kernels = frozenset(name.decode(errors="replace") for name in _ENTRY.findall(text))
    return Contents(int(found.group(1)) if found else 0, kernels, _WAIT in text)


def chosen(found: Iterable[tuple[Ptx, Contents]], modern: set[str], named: Callable[[str], bool]) -> Iterator[tuple[Ptx, Contents]]:
    """For each set of kernels the PTX of the newest target, which a driver takes on every GPU that no machine code fits; what
    has machine code beside it, and neither waits nor is named, is left alone."""
    newest: dict[frozenset[str], tuple[Ptx, Contents]] = {}
    for ptx, contents in found:
        if contents.kernels and (contents.kernels not in newest or contents.target > newest[contents.kernels][1].target):
            newest[contents.kernels] = ptx, contents
    for kernels, (ptx, contents) in newest.items():
        if kernels <= modern and contents.target >= OLDEST:
            continue  # the machine code beside it is judged
        if contents.waits or any(map(named, kernels)):
            yield ptx, contents


def source_of(ptx: Ptx, contents: Contents, file: Path, workplace: Path) -> Source:
    """The PTX as an image."""
    return Source(str(file), ptx.inner, contents.target, ptx.entry.stored, ptx.entry.digest,
                  lambda: assemble_text(text_of(ptx), ptx.inner, file, workplace), assembled=True)


def text_of(ptx: Ptx) -> bytes:
    """The whole text; Unreadable if it cannot be had."""
    try:
        return bytes(ptx.entry.contents()).rstrip(b"\0")
    except Damaged as error:
        raise Unreadable(f"{ptx.inner} cannot be read: {error}") from None


def assemble_text(text: bytes, inner: str, file: Path, workplace: Path) -> Image:
    """As assemble, for PTX that has no file of its own."""
    with tempfile.NamedTemporaryFile(suffix=".ptx", dir=workplace) as stream:
        stream.write(text)
        stream.flush()
        return assemble(Path(stream.name), inner, file, workplace)


def assemble(ptx: Path, inner: str | None, file: Path, workplace: Path) -> Image:
    """PTX below sm_90 is assembled for sm_90, as a driver would do there: the code has no wait, and its note says so."""
    found = _TARGET.search(_COMMENT.sub(b" ", ptx.read_bytes()))
    if not found:
        raise Unreadable(f"{inner or 'the PTX'} has no .target line")
    number, suffix = int(found.group(1)), found.group(2).decode()
    target = f"sm_{number}{suffix}" if number >= OLDEST else f"sm_{OLDEST}"
    with tempfile.NamedTemporaryFile(suffix=".cubin", dir=workplace, delete=False) as stream:
        output = Path(stream.name)
    try:
        output_of([str(tool("ptxas")), "-arch", target, "--generate-line-info", "-o", str(output), str(ptx)])
    except ToolFailed as error:
        try:  # debug PTX excludes line info, PTX with undefined functions has to stay relocatable
            output_of([str(tool("ptxas")), "-arch", target, "-c", "-o", str(output), str(ptx)])
        except ToolFailed:
            raise Unreadable(f"{inner or 'the PTX'} cannot be assembled: {error}") from None
    return load_cubin(output, inner, file, from_ptx=True)
