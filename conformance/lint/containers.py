"""Fat binaries, read from the mapped file: where containers of images lie, what each entry is, and its bytes unpacked.

The only decompressors are those of the machine's own libraries (libzstd, liblz4) or of pinned packages. Nothing in a file is
trusted: every size is checked against the bytes that are there, and what does not fit is said.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from mmap import mmap
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.venv import ensure_venv

CONTAINER = b"\x50\xed\x55\xba"
PTX, ELF, LTO = 1, 2, 8  # kinds of entries
_CONTAINER_HEADER, _ENTRY_HEADER = 16, 64
_LZ4, _ZSTD = 0x2000, 0x8000  # flags of an entry
_LARGEST = 1 << 31  # bytes of an entry
_LARGEST_EXPANSION = 4096
_FATBIN_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")
_PACKAGES = {"zstd": "zstandard", "lz4": "lz4"}
_UNDEFINED = 0  # section of a symbol that another file defines
Bytes = mmap | memoryview | bytes


class Damaged(Exception):
    """Part of the file cannot be read; the message says what."""


@dataclass(frozen=True)
class Entry:
    """One image of a container, as it is stored."""

    kind: int
    sm: int
    stored: bytes
    compression: int  # 0: none
    size: int  # unpacked

    def contents(self) -> bytes:
        """The image's bytes; Damaged if they cannot be had."""
        if not self.compression:
            return self.stored
        if not 0 < self.size < _LARGEST or self.size // _LARGEST_EXPANSION > len(self.stored):
            raise Damaged("an image states sizes that cannot be right")
        target = ctypes.create_string_buffer(self.size)
        unpack = _unpack_zstd if self.compression & _ZSTD else _unpack_lz4
        if unpack(target, self.size, self.stored) != self.size:
            raise Damaged("a compressed image is damaged")
        return target.raw


@cache
def _library(name: str) -> ctypes.CDLL:
    """The decompressor: the machine's own, else that of the pinned package, in this very Python or in a venv."""
    for file in (f"lib{name}.so.1", ctypes.util.find_library(name)):
        try:
            if file:
                return ctypes.CDLL(file)
        except OSError:
            continue
    package = _PACKAGES[name]
    beside = _offering(name, (path for entry in sys.path if entry for path in sorted(Path(entry).glob(f"{package}/**/*.so"))))
    if beside is not None:
        return beside
    venv = ensure_venv("decompressors").parent.parent
    found = _offering(name, sorted(venv.glob("lib/python*/site-packages/**/*.so")))
    if found is not None:
        return found
    package = "libzstd1" if name == "zstd" else "liblz4-1"
    raise SetupImpossible(f"compressed images need lib{name} (Debian and Ubuntu: apt-get install {package})")


def _offering(name: str, files: Iterable[Path]) -> ctypes.CDLL | None:
    """The first of these libraries that can unpack."""
    for file in files:
        try:
            library = ctypes.CDLL(str(file))
        except OSError:
            continue
        if hasattr(library, "ZSTD_decompress" if name == "zstd" else "LZ4_decompress_safe"):
            return library
    return None


def _unpack_zstd(target: ctypes.Array[ctypes.c_char], size: int, stored: bytes) -> int:
    function = _library("zstd").ZSTD_decompress
    function.restype, function.argtypes = ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return int(function(target, size, stored, len(stored)))


def _unpack_lz4(target: ctypes.Array[ctypes.c_char], size: int, stored: bytes) -> int:
    function = _library("lz4").LZ4_decompress_safe
    function.restype, function.argtypes = ctypes.c_int, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    return int(function(stored, target, len(stored), size))


# where containers lie ------------------------------------------------------------------------------------------------


def _extent(data: Bytes, at: int, end: int) -> int:
    """The bytes of the container that begins here; 0 if none begins here. Damaged if it is longer than what is there."""
    if end - at < _CONTAINER_HEADER or data[at : at + 4] != CONTAINER:
        return 0
    version, header, size = struct.unpack_from("<HHQ", data, at + 4)
    if version != 1 or header != _CONTAINER_HEADER:
        raise Damaged(f"the header of the container at 0x{at:x} is damaged")
    if size > end - at - _CONTAINER_HEADER:
        raise Damaged(f"the file ends inside the container at 0x{at:x}")
    return int(size) + _CONTAINER_HEADER


def elf_sections(data: Bytes, start: int, end: int) -> dict[bytes, tuple[int, int]] | None:
    """Name -> (where, how long) of the sections of the host ELF file that begins here; None if it has no section table. Damaged
    if the table or a section lies outside the file."""
    if end - start < 64 or data[start + 4] != 2:
        return None
    (table,) = struct.unpack_from("<Q", data, start + 40)
    size, count, names = struct.unpack_from("<HHH", data, start + 58)
    if not table or not count or size != 64:
        return None
    if start + table + count * 64 > end:
        raise Damaged("the section table lies beyond the end of the file (truncated?)")
    rows = [struct.unpack_from("<IIQQQQ", data, start + table + 64 * i) for i in range(count)]
    if names >= count:
        raise Damaged("the table of section names is missing")
    base = start + rows[names][4]
    found = {}
    for name, kind, _, _, offset, length in rows:
        if kind != 8 and offset + length > end - start:
            raise Damaged("a section lies beyond the end of the file (truncated?)")
        stop = data.find(b"\0", base + name, base + name + 256)  # type: ignore[union-attr]
        found[bytes(data[base + name : max(stop, base + name)])] = (start + offset, length if kind != 8 else 0)
    return found


def containers(data: Bytes, start: int, end: int, problems: list[str]) -> Iterator[tuple[int, int]]:
    """(where, its end) of each container in this part of a file: in the sections that hold them, else anywhere."""
    parts = [(start, end)]
    if data[start : start + 4] == b"\x7fELF":
        try:
            sections = elf_sections(data, start, end)
        except Damaged as error:
            problems.append(str(error))
            sections = None
        own = [(at, at + size) for name, (at, size) in (sections or {}).items() if name in _FATBIN_SECTIONS]
        for first, last in own:
            yield from _side_by_side(data, first, last, problems)
        if own:
            return
    for first, last in parts:
        at = data.find(CONTAINER, first, last)  # type: ignore[union-attr]
        while at >= 0:
            try:
                size = _extent(data, at, last)
            except Damaged as error:
                problems.append(str(error))
                size = 0
            if size:
                yield at, at + size
            at = data.find(CONTAINER, at + max(size, 4), last)  # type: ignore[union-attr]


def _side_by_side(data: Bytes, at: int, end: int, problems: list[str]) -> Iterator[tuple[int, int]]:
    """Containers that fill a section, with zeros between them."""
    while at < end:
        try:
            size = _extent(data, at, end)
        except Damaged as error:
            problems.append(str(error))
            size = 0
        if size:
            yield at, at + size
            at += (size + 7) // 8 * 8
            continue
        found = data.find(CONTAINER, at + 4, end)  # type: ignore[union-attr]
        stop = found if found >= 0 else end
        if any(bytes(data[at:stop]).strip(b"\0")):
            problems.append(f"0x{stop - at:x} bytes at 0x{at:x} should be a container of images, and are none")
        at = stop


def entries(data: Bytes, start: int, end: int, problems: list[str]) -> Iterator[Entry]:
    """The images of one container."""
    at = start + _CONTAINER_HEADER
    while at < end:
        if end - at < _ENTRY_HEADER:
            problems.append(f"the container at 0x{start:x} ends inside the header of an image")
            return
        kind, _, header, payload, stored = struct.unpack_from("<HHIQI", data, at)
        sm, flags, size = (*struct.unpack_from("<I", data, at + 28), *struct.unpack_from("<Q", data, at + 40),
                           *struct.unpack_from("<Q", data, at + 56))
        if header < _ENTRY_HEADER or header + payload > end - at:
            problems.append(f"an image lies beyond the end of the container at 0x{start:x}")
            return
        compression = flags & (_LZ4 | _ZSTD)
        length = stored if compression and 0 < stored <= payload else payload
        first = at + header
        yield Entry(kind, sm, bytes(data[first : first + length]), compression, size if compression else length)
        at += header + payload


# what a host file calls ----------------------------------------------------------------------------------------------

OVERLAP_CALLS = (b"cudaLaunchKernelExC", b"cuLaunchKernelEx", b"cudaLaunchKernelExC_ptsz", b"cuLaunchKernelEx_ptsz",
                 b"cudaGraphKernelNodeSetAttribute", b"cudaGraphAddDependencies_v2", b"cuGraphAddDependencies_v2")


def overlap_calls(data: Bytes, start: int, end: int) -> list[str]:
    """The functions that can ask for overlap and that this host ELF file calls; those it defines do not count."""
    try:
        sections = elf_sections(data, start, end) or {}
    except Damaged:
        return []
    found: set[str] = set()
    for table, names in ((b".dynsym", b".dynstr"), (b".symtab", b".strtab")):
        if table not in sections or names not in sections:
            continue
        texts = bytes(data[sections[names][0] : sum(sections[names])])
        wanted = {texts.find(b"\0" + call + b"\0") + 1: call for call in OVERLAP_CALLS if b"\0" + call + b"\0" in texts}
        if not wanted:
            continue
        symbols = bytes(data[sections[table][0] : sum(sections[table])])
        for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", symbols[: len(symbols) // 24 * 24]):
            if section == _UNDEFINED and name in wanted:
                found.add(wanted[name].decode())
    return sorted(found)
