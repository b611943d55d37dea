"""Whether a kernel's machine code triggers and waits, and how early: read in the image that the driver loaded."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.elf import CorruptFile, Cubin

WAIT, TRIGGER = 0x82E, 0x82D  # ACQBULK and PREEXIT: the low 12 bits of an instruction of 16 bytes
_FIRST_THING = 24  # instructions: parameters and indices are ready by then
_BRANCH, _BACKWARD = 0x947, 1 << 17  # the sign of a branch's distance stands in the instruction's upper half
_LOADS = frozenset({0x381, 0x981, 0x980, 0xFAE})  # from global memory: LDG, LD, LDGSTS
_BYTES = 16


@dataclass(frozen=True)
class Code:
    """What is known of a kernel's machine code."""

    triggers: int
    waits: int
    instructions: int
    before_wait: int  # instructions before the first wait, in the order in which they stand
    before_trigger: int
    works_before_wait: bool  # a loop or a load from global memory stands ahead of the first wait

    @property
    def waits_first(self) -> bool:
        """Whether the first wait stands so early that no work of any size is ahead of it."""
        return self.waits > 0 and self.before_wait <= _FIRST_THING and not self.works_before_wait


def _scan(text: bytes) -> Code:
    whole = list(struct.iter_unpack("<QQ", text[: len(text) // _BYTES * _BYTES]))
    words = [low & 0xFFF for low, _ in whole]
    waits = [i for i, word in enumerate(words) if word == WAIT]
    triggers = [i for i, word in enumerate(words) if word == TRIGGER]
    first = waits[0] if waits else len(words)
    works = any(word in _LOADS or (word == _BRANCH and high & _BACKWARD) for word, (_, high) in zip(words[:first], whole, strict=False))
    return Code(len(triggers), len(waits), len(words), first, triggers[0] if triggers else len(words), works)


def _calls(cubin: Cubin, name: str) -> bool:
    """Whether the kernel calls functions of other sections, which may trigger and wait for it."""
    return any(section.name.startswith(".text.") and section.name != f".text.{name}"
               and section.name[6:] not in cubin.kernels for section in cubin.sections)


def codes_in(path: Path, wanted: frozenset[str]) -> dict[str, Code]:
    """The wanted kernels of one image; none if it cannot be read. A kernel with callees in the image is left out."""
    try:
        cubin = Cubin.load(path)
    except (CorruptFile, OSError):
        return {}
    found = {}
    for name in wanted.intersection(cubin.kernels):
        section = cubin.section(f".text.{name}")
        if section is not None:
            code = _scan(cubin.bytes_of(section))
            if (code.triggers and code.waits) or not _calls(cubin, name):
                found[name] = code
    return found


def codes(folder: Path, digests: Iterable[str], names: Iterable[str]) -> tuple[dict[str, Code], dict[str, str]]:
    """Of all wanted kernels: the code, and the digest of the image it stands in."""
    wanted = frozenset(names)
    found: dict[str, Code] = {}
    where: dict[str, str] = {}
    for digest in dict.fromkeys(digests):
        for name, code in codes_in(folder / f"image-{digest}.cubin", wanted).items():
            found.setdefault(name, code)
            where.setdefault(name, digest)
    return found, where
