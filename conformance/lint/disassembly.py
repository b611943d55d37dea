"""nvdisasm's listing of the code of an image that is worth analysing, cut into its sections and otherwise left alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.lint.images import Image
from conformance.lint.processes import output_of
from conformance.lint.scan import SCANNED, TRIGGER, WAIT
from conformance.pdlkit.cuda_programs import ToolFailed, tool
from conformance.pdlkit.elf import Cubin

_AT_ONCE = 400  # functions named in one call of nvdisasm; more and the command line gets long
_HEAD = b"\t.section\t.text."
_OLDEST = 90  # the first architecture with PDL


def sections_wanted(cubin: Cubin, named: set[str]) -> set[str]:
    """The code sections worth disassembling; a scan of the raw code spares the rest. An empty set: none."""
    if cubin.sm < _OLDEST:
        return set()
    sections = [s for s in cubin.sections if s.name.startswith(".text.")]
    everything = {s.name.removeprefix(".text.") for s in sections}
    if cubin.sm not in SCANNED:
        return everything
    opcodes = frozenset({WAIT, TRIGGER})
    hits = {s.name.removeprefix(".text.") for s in sections if cubin.may_contain(s, opcodes)}
    if not hits and not named:
        return set()
    kernels = set(cubin.kernels)
    if hits - kernels:  # a wait in a device function: any kernel may call it
        return everything
    return hits | named | (everything - kernels)


def may_wait(cubin: Cubin) -> bool:
    """Whether some code section holds what a wait looks like; true for an architecture of which that is not known."""
    sections = [s for s in cubin.sections if s.name.startswith(".text.")]
    return cubin.sm >= _OLDEST and (cubin.sm not in SCANNED or any(cubin.may_contain(s, frozenset({WAIT})) for s in sections))


@contextmanager
def _as_file(image: Image, workplace: Path | None) -> Iterator[Path]:
    """The image as a file of its own, which nvdisasm needs; one from a container only as long as it is read."""
    if image.path is not None:
        yield image.path
        return
    with tempfile.NamedTemporaryFile(suffix=".cubin", dir=workplace) as stream:
        stream.write(image.cubin.data)
        stream.flush()
        yield Path(stream.name)


def disassemble(image: Image, wanted: set[str], workplace: Path | None = None) -> dict[str, memoryview]:
    """Section -> its part of the listing, from one call of nvdisasm; of the whole cubin when most of it is wanted."""
    cubin = image.cubin
    indices = {s.name: i for i, s in enumerate(cubin.symbols) if s.kind == 2}
    total = sum(1 for s in cubin.sections if s.name.startswith(".text."))
    chosen = [indices[name] for name in sorted(wanted) if name in indices]
    parts: dict[str, memoryview] = {}
    with _as_file(image, workplace) as path:
        command = [str(tool("nvdisasm")), "-c", "-gi", str(path)]
        if len(wanted) > _AT_ONCE or len(wanted) * 2 > total or len(chosen) < len(wanted):
            parts = code_sections(output_of(command))
        elif chosen:
            parts = code_sections(output_of([*command, "-fun", ",".join(map(str, chosen))]))
    if not parts:
        raise ToolFailed("nvdisasm printed no code")
    return {name: part for name, part in parts.items() if name in wanted}


def code_sections(listing: bytes) -> dict[str, memoryview]:
    """Name without .text. -> the part of the listing from the section's head to the next one's, both lines whole."""
    if not listing.isascii():
        listing = listing.decode(errors="replace").encode()  # as names in the cubin are read
    whole = memoryview(listing)
    parts: dict[str, memoryview] = {}
    head = _next_head(listing, 0)
    while head is not None:
        start, name = head
        head = _next_head(listing, start + len(_HEAD))
        parts[name] = whole[start : head[0] if head else len(listing)]
    return parts


def _next_head(listing: bytes, start: int) -> tuple[int, str] | None:
    """The next head of a code section from here on: (where its line begins, the section's name)."""
    while True:
        at = 0 if start == 0 and listing.startswith(_HEAD) else listing.find(b"\n" + _HEAD, start) + 1
        if at == 0 and not (start == 0 and listing.startswith(_HEAD)):
            return None
        start = at + len(_HEAD)
        end = listing.find(b"\n", start)
        name, comma, rest = listing[start : end if end >= 0 else len(listing)].partition(b",")
        if name and comma and rest.startswith(b'"'):
            return at, name.decode()
