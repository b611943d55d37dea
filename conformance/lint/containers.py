"""Fat binaries in a mapped file: where containers of images lie, what each entry is, and its bytes unpacked.

The C reader (rewrite/fatbin.c) finds and unpacks them; here is what lint asks of it, and what host files say about where to look.
Nothing in a file is trusted: what does not fit is said.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_COPY, MADV_DONTNEED, PAGESIZE, mmap
from pathlib import Path

from conformance.lint import reader_library
from conformance.lint.reader_library import library

CONTAINER = b"\x50\xed\x55\xba"
PTX, ELF, LTO = 1, 2, 8  # kinds of entries
_LZ4, _ZSTD = 1, 2  # enum compression in rewrite/fatbin.h
_FATBIN_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")
_UNDEFINED = 0  # section of a symbol that another file defines


class Damaged(Exception):
    """Part of the file cannot be read; the message says what."""


class Mapped:
    """A file, mapped as long as anything refers to it. Nothing is written to it."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as stream:
            self.data = mmap(stream.fileno(), 0, access=ACCESS_COPY)  # ctypes takes no address of a mapping that is read-only
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.data))

    def forget(self, first: int, last: int) -> None:
        """Pages that were read need not stay in memory."""
        page = first // PAGESIZE * PAGESIZE
        self.data.madvise(MADV_DONTNEED, page, last - page)


@dataclass(frozen=True)
class Entry:
    """One image of a container, as it is stored."""

    file: Mapped
    kind: int
    sm: int
    first: int  # where it begins in the file
    stored: int  # bytes there
    packed: reader_library.Entry | None  # None: it is not compressed

    def digest(self) -> str:
        """Of the bytes as they are stored."""
        with memoryview(self.file.data) as whole, whole[self.first : self.first + self.stored] as part:
            return hashlib.sha256(part).hexdigest()

    def contents(self) -> bytes | bytearray:
        """The image's bytes; Damaged if they cannot be had."""
        found = self._unpacked() if self.packed else self.file.data[self.first : self.first + self.stored]
        self.file.forget(self.first, self.first + self.stored)
        return found

    def _unpacked(self) -> bytearray:
        assert self.packed is not None
        reader_library.offer_decompressor("lz4" if self.packed.compression == _LZ4 else "zstd")
        wrong = library().fatbin_doubt(self.packed)
        if wrong is None:
            room = bytearray(self.packed.contents)
            wrong = library().fatbin_unpack(self.packed, ctypes.byref(ctypes.c_char.from_buffer(room)))
        if wrong is not None:
            raise Damaged(wrong.decode())
        return room


# where containers lie ------------------------------------------------------------------------------------------------


def elf_sections(data: mmap, start: int, end: int) -> dict[bytes, tuple[int, int]] | None:
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
        stop = data.find(b"\0", base + name, base + name + 256)
        found[bytes(data[base + name : max(stop, base + name)])] = (start + offset, length if kind != 8 else 0)
    return found


def containers(file: Mapped, start: int, end: int, problems: list[str]) -> Iterator[tuple[int, int]]:
    """(where, its end) of each container in this part of a file: in the sections that hold them, else anywhere."""
    data = file.data
    if data[start : start + 4] == b"\x7fELF":
        try:
            sections = elf_sections(data, start, end)
        except Damaged as error:
            problems.append(str(error))
            sections = None
        own = [(at, at + size) for name, (at, size) in (sections or {}).items() if name in _FATBIN_SECTIONS]
        for first, last in own:
            yield from _found(file, first, last, problems, filled=True)
        if own:
            return
    yield from _found(file, start, end, problems, filled=False)


def _found(file: Mapped, first: int, last: int, problems: list[str], filled: bool) -> Iterator[tuple[int, int]]:
    """The containers between these places; `filled`: there should be nothing else but zeros."""
    at, extent, wrong = ctypes.c_size_t(0), ctypes.c_size_t(0), ctypes.c_char_p()
    before = first  # the end of the last container; what follows one that is damaged is not looked at
    while True:
        place = library().fatbin_find(file.base + first, last - first, at, extent, wrong)
        found = last if place is None else place - file.base
        gap = file.data[before:found].strip(b"\0") if filled and before < found else b""
        if gap:
            problems.append(f"0x{found - before:x} bytes at 0x{before:x} should be a container of images, and are none")
        if place is None:
            return
        if extent.value:
            before = found + extent.value
            yield found, before
        else:
            problems.append(f"the container at 0x{found:x} cannot be read: {(wrong.value or b'').decode()}")
            before = last


def entries(file: Mapped, start: int, end: int, problems: list[str]) -> Iterator[Entry]:
    """The images of one container."""
    at, wrong = ctypes.c_size_t(0), ctypes.c_char_p()
    while True:
        found = reader_library.Entry()
        if not library().fatbin_next(file.base + start, end - start, at, found, wrong):
            break
        yield Entry(file, found.kind, found.architecture, found.payload - file.base, found.stored, found if found.compression else None)
    if wrong.value is not None:
        problems.append(f"the container at 0x{start:x} is damaged: {wrong.value.decode()}")


# what a host file calls ----------------------------------------------------------------------------------------------

OVERLAP_CALLS = (
    b"cudaLaunchKernelExC", b"cudaLaunchKernelExC_ptsz", b"cuLaunchKernelEx", b"cuLaunchKernelEx_ptsz",
    b"cudaGraphKernelNodeSetAttribute", b"cuGraphKernelNodeSetAttribute",
    b"cudaGraphAddDependencies", b"cudaGraphAddNode",  # take edges of all kinds from CUDA 13 on
    b"cudaGraphAddDependencies_v2", b"cudaGraphAddNode_v2", b"cuGraphAddDependencies_v2", b"cuGraphAddNode_v2",
)


def overlap_calls(data: mmap, start: int, end: int) -> list[str]:
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
