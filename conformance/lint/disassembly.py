"""nvdisasm's listing of the code of an image that is worth analysing, cut into its sections and otherwise left alone."""

from __future__ import annotations

from conformance.lint.images import Image
from conformance.pdlkit.cuda_programs import ToolFailed, output_of, tool
from conformance.pdlkit.elf import Cubin

_WAIT_CODE, _TRIGGER_CODE = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
_SCANNED_ARCHITECTURES = frozenset({90, 100, 103, 110, 120, 121})  # for which those two were checked
_AT_ONCE = 400  # functions named in one call of nvdisasm; more and the command line gets long
_HEAD = b"\t.section\t.text."


def sections_wanted(cubin: Cubin, named: set[str]) -> set[str]:
    """The code sections worth disassembling; a scan of the raw code spares the rest. An empty set: none."""
    if cubin.sm < 90:
        return set()
    sections = [s for s in cubin.sections if s.name.startswith(".text.")]
    everything = {s.name.removeprefix(".text.") for s in sections}
    if cubin.sm not in _SCANNED_ARCHITECTURES:
        return everything
    opcodes = frozenset({_WAIT_CODE, _TRIGGER_CODE})
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
    return cubin.sm >= 90 and (cubin.sm not in _SCANNED_ARCHITECTURES
                               or any(cubin.may_contain(s, frozenset({_WAIT_CODE})) for s in sections))


def disassemble(image: Image, wanted: set[str]) -> dict[str, memoryview]:
    """Section -> its part of the listing, from one call of nvdisasm; of the whole cubin when most of it is wanted."""
    cubin = image.cubin
    indices = {s.name: i for i, s in enumerate(cubin.symbols) if s.kind == 2}
    command = [str(tool("nvdisasm")), "-c", "-g", str(image.path)]
    total = sum(1 for s in cubin.sections if s.name.startswith(".text."))
    chosen = [indices[name] for name in sorted(wanted) if name in indices]
    parts: dict[str, memoryview] = {}
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
