"""nvdisasm's listing of the code of an image that is worth analysing, cut into its sections and otherwise left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.lint import words
from conformance.lint.processes import as_file, output_of
from conformance.lint.scan import SCANNED, TRIGGER, WAIT
from conformance.lint.sources import OLDEST, Image
from conformance.pdlkit.cuda_programs import ToolFailed, tool
from conformance.pdlkit.elf import Cubin

_AT_ONCE = 10_000  # functions named in one call of nvdisasm: an argument may have 128 KiB
_HEAD = b"\t.section\t.text."


def sections_wanted(cubin: Cubin, named: set[str]) -> set[str]:
    """The code sections worth disassembling; a scan of the raw code spares the rest. An empty set: none."""
    if cubin.sm < OLDEST:
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
    return cubin.sm >= OLDEST and (cubin.sm not in SCANNED or any(cubin.may_contain(s, frozenset({WAIT})) for s in sections))


def disassemble(image: Image, wanted: set[str], workplace: Path | None = None) -> dict[str, memoryview]:
    """Section -> its part of the listing; what words alone do not tell is from one call of nvdisasm, of the whole cubin when nearly all
    of it is wanted."""
    cubin = image.cubin
    plain = words.listings(cubin, wanted, workplace)
    known = {name: memoryview(text) for name, text in plain.items()}
    rest = wanted - known.keys()
    return known | _disassembled(image, rest, workplace) if rest or not known else known


def _disassembled(image: Image, wanted: set[str], workplace: Path | None) -> dict[str, memoryview]:
    cubin = image.cubin
    indices = {s.name: i for i, s in enumerate(cubin.symbols) if s.kind == 2}
    sizes = {s.name.removeprefix(".text."): s.size for s in cubin.text_sections}
    chosen = [indices[name] for name in sorted(wanted) if name in indices]
    nearly_all = 10 * sum(sizes.get(name, 0) for name in wanted) > 9 * sum(sizes.values())
    only = [] if nearly_all or len(wanted) > _AT_ONCE or len(chosen) < len(wanted) else ["-fun", ",".join(map(str, chosen))]
    with _opened(image, workplace) as (path, handles):
        parts = code_sections(output_of([str(tool("nvdisasm")), "-c", "-gi", path, *only], handles=handles)) if wanted else {}
    if not parts:
        raise ToolFailed("nvdisasm printed no code")
    return {name: part for name, part in parts.items() if name in wanted}


@contextmanager
def _opened(image: Image, workplace: Path | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The image as nvdisasm can open it, and the handles that it needs for that: one out of a container lies in memory."""
    if image.path is not None:
        yield str(image.path), ()
        return
    with as_file(image.cubin.data, ".cubin", workplace) as found:
        yield found


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
