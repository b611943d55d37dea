"""Reads the container in which nvcc keeps machine code and PTX inside an object or an executable.

Every length is checked against the file. What a container holds compressed is handed out as it is; the toolkit's cuobjdump
unpacks it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"\x50\xed\x55\xba"
PTX, ELF = 1, 2
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_ENTRY_BYTES, _ARCH_OFFSET = 32, 28  # the least that an entry's header has


@dataclass(frozen=True)
class Entry:
    """One image in a container."""

    kind: int  # PTX, ELF or one of later toolkits
    arch: int  # such as 90
    data: bytes


def _containers(data: bytes) -> Iterator[tuple[int, int]]:
    """(first entry, end) of every container in these bytes."""
    at = data.find(MAGIC)
    while at >= 0:
        following = at + len(MAGIC)
        if at + _HEADER.size <= len(data):
            _, version, header, size = _HEADER.unpack_from(data, at)
            if version == 1 and header == _HEADER.size and at + header + size <= len(data):
                yield at + header, at + header + size
                following = at + header + size  # what a container holds is read as its entries, not searched again
        at = data.find(MAGIC, following)


def entries(data: bytes) -> Iterator[Entry]:
    """Every image in these bytes, in order."""
    for at, end in _containers(data):
        while at + _ENTRY_BYTES <= end:
            kind, _, header, size = _ENTRY.unpack_from(data, at)
            if header < _ENTRY_BYTES or at + header + size > end:
                break
            (arch,) = struct.unpack_from("<I", data, at + _ARCH_OFFSET)
            yield Entry(kind, arch, data[at + header:at + header + size])
            at += header + size
