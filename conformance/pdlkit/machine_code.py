"""Reads the machine code inside a harness executable: which cubins it holds, and the hash of each kernel's code.

A minimal reading of the fat-binary container and of the ELF files in it, so that no disassembler is needed. Images
that the toolkit compressed cannot be read this way and are said to be so.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

METHOD = "own reading of the executable's fat binary: sha256 of each kernel's .text section"
_FATBIN = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_MAGIC = b"\x50\xed\x55\xba"
_KIND_PTX, _KIND_ELF = 1, 2
_ARCH_OFFSET = 28


@dataclass(frozen=True)
class Cubin:
    """One machine-code image and the code of its kernels."""

    arch: int
    data: bytes
    code: dict[str, bytes]

    @property
    def digest(self) -> str:
        """Hash of the whole image."""
        return _hash(self.data)


def _hash(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()[:32]


def _containers(data: bytes) -> Iterator[tuple[int, int]]:
    """(first entry, end) of every fat binary in these bytes."""
    at = data.find(_MAGIC)
    while at >= 0:
        if at + _FATBIN.size <= len(data):
            _, version, header, size = _FATBIN.unpack_from(data, at)
            if version == 1 and header == _FATBIN.size and at + header + size <= len(data):
                yield at + header, at + header + size
        at = data.find(_MAGIC, at + 4)


def _text_sections(elf: bytes) -> dict[str, bytes]:
    """Kernel name to the bytes of its .text section; empty if these bytes are no 64-bit ELF."""
    if len(elf) < 64 or elf[:5] != b"\x7fELF\x02":
        return {}
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names_index = struct.unpack_from("<HHH", elf, 58)
    sections = []
    for index in range(count):
        at = table + index * size
        if at + 64 > len(elf):
            return {}
        name, _kind, _flags, _address, offset, length = struct.unpack_from("<IIQQQQ", elf, at)
        sections.append((name, offset, length))
    if names_index >= len(sections):
        return {}
    _, names_at, names_size = sections[names_index]
    names = elf[names_at:names_at + names_size]
    code = {}
    for name, offset, length in sections:
        text = names[name:names.find(b"\0", name)].decode("ascii", "replace")
        if text.startswith(".text."):
            code[text.removeprefix(".text.")] = elf[offset:offset + length]
    return code


def cubins_in(data: bytes) -> tuple[list[Cubin], int]:
    """(readable images with kernels, number of images that are compressed or not ELF)."""
    found: list[Cubin] = []
    unreadable = 0
    for at, end in _containers(data):
        while at + _ENTRY.size <= end:
            kind, _, header, size = _ENTRY.unpack_from(data, at)
            if header < 32 or at + header + size > end:
                break
            payload = data[at + header:at + header + size]
            if kind == _KIND_ELF:
                code = _text_sections(payload)
                if code:
                    found.append(Cubin(struct.unpack_from("<I", data, at + _ARCH_OFFSET)[0], payload, code))
                elif payload[:4] != b"\x7fELF":
                    unreadable += 1
            at += header + size
    return found, unreadable


class MachineCode:
    """The machine code of one harness, asked by kernel name."""

    def __init__(self, harness: Path) -> None:
        self.path = harness
        cubins, self.unreadable = cubins_in(harness.read_bytes())
        self._by_symbol: dict[tuple[str, int], Cubin] = {}
        for cubin in cubins:
            for symbol in cubin.code:
                self._by_symbol[(symbol, cubin.arch)] = cubin

    def find(self, symbol: str, arch: int) -> Cubin | None:
        """The image that a device of this binary version loads for the kernel; None if it was compiled by the driver."""
        return self._by_symbol.get((symbol, arch))

    def code_hash(self, symbols: Iterable[tuple[str, int]]) -> str | None:
        """One hash over the code of these (kernel, binary version); None if any of them is not in the file."""
        total = hashlib.sha256()
        seen = False
        for symbol, arch in sorted(set(symbols)):
            cubin = self.find(symbol, arch)
            if cubin is None:
                return None
            total.update(symbol.encode() + b"\0" + cubin.code[symbol])
            seen = True
        return "sha256:" + total.hexdigest()[:32] if seen else None

    def architectures(self) -> list[int]:
        """Every machine-code architecture in the file."""
        return sorted({arch for _, arch in self._by_symbol})


def symbol_of(kernel: str, image: str) -> str:
    """The kernel's symbol in the image of that tag (see SYMBOL in harness/kernel.h)."""
    return f"{kernel}_{image.replace('-', '_')}"
