"""Reads the machine code inside a harness executable: which cubins it holds, and the hash of each kernel's code.

No disassembler is needed for that. Images that the toolkit compressed cannot be read this way and are said to be so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit import elf, fatbin

METHOD = "own reading of the executable's fat binary: sha256 of each kernel's .text section"


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


def cubins_in(data: bytes) -> tuple[list[Cubin], int]:
    """(readable images with kernels, number of images that are compressed, damaged or not ELF)."""
    found: list[Cubin] = []
    unreadable = 0
    for entry in fatbin.entries(data):
        if entry.kind != fatbin.ELF:
            continue
        try:
            image = elf.Cubin(entry.data)
        except elf.CorruptFile:
            unreadable += 1
            continue
        code = {s.name.removeprefix(".text."): image.bytes_of(s) for s in image.sections if s.name.startswith(".text.")}
        if code:
            found.append(Cubin(entry.arch, entry.data, code))
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

    def symbols(self) -> set[str]:
        """Every kernel in the file that has machine code."""
        return {symbol for symbol, _ in self._by_symbol}

    def architectures(self) -> list[int]:
        """Every machine-code architecture in the file."""
        return sorted({arch for _, arch in self._by_symbol})


def symbol_of(kernel: str, image: str) -> str:
    """The kernel's symbol in the image of that tag (see SYMBOL in harness/kernel.h)."""
    return f"{kernel}_{image.replace('-', '_')}"
