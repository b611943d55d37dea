"""From the files that the user names to images: containers are read from the mapped file, PTX is assembled."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint import containers
from conformance.lint.archive import MAGIC, members
from conformance.lint.containers import Entry, Mapped
from conformance.lint.ptx import Ptx, assemble, assemble_text, chosen, contents_of, source_of, text_of
from conformance.lint.sources import OLDEST, Image, Source, Unreadable, load_cubin, load_entry
from conformance.pdlkit.elf import EM_CUDA

_THIN_ARCHIVE = b"!<thin>\n"
_MOST_BYTES = 1 << 30  # of a cubin or PTX: lint and nvdisasm hold it in memory, several times over
_HEAD = 65536  # bytes that say what a file is
_DEEPEST = 4  # archives in archives
NO_CODE = "it holds no GPU code"
_VERSION = re.compile(r"^\s*\.version\s+\d+\.\d+", re.MULTILINE)


@dataclass
class Opened:
    """What the user's file holds. `problems` grows while `sources` is gone through."""

    sources: Iterator[Source]
    problems: list[str] = field(default_factory=list)
    ptx: list[Ptx] = field(default_factory=list)  # complete after the sources
    left_alone: int = 0  # images for GPUs without PDL
    others: set[int] = field(default_factory=set)  # architectures that --arch left out
    overlap_calls: list[str] = field(default_factory=list)  # functions that the file calls and that can ask for overlap

    def without_code(self, architectures: frozenset[int]) -> str:
        """What to say of a file in which nothing was found: that there is none, or for which architectures there is some."""
        if not self.others:
            return NO_CODE
        wanted, there = (", ".join(f"sm_{sm}" for sm in sorted(some)) for some in (architectures, self.others))
        return f"{NO_CODE} for {wanted}, only for {there}"


def kind_of_file(head: bytes) -> str:
    """cubin, fatbin, container (host ELF, archive), ptx or unknown, by content and never by name."""
    if head[:4] == b"\x7fELF" and len(head) >= 20:
        return "cubin" if int.from_bytes(head[18:20], "little") == EM_CUDA else "container"
    if head.startswith(containers.CONTAINER):
        return "fatbin"
    if head.startswith(MAGIC):
        return "container"
    text = head.decode(errors="replace")
    if _VERSION.search(text) or (".target" in text and ".entry" in text):
        return "ptx"
    return "unknown"


def open_file(file: Path, workplace: Path, architectures: frozenset[int], old: bool) -> Opened:
    """The images of a file; Unreadable if there can be none. `old`: also those for GPUs without PDL."""
    head, size = _head_of(file)
    kind = kind_of_file(head)
    if kind in ("cubin", "ptx") and size > _MOST_BYTES:
        raise Unreadable(f"it has {size} bytes; lint takes no {kind} of more than {_MOST_BYTES}")
    if kind in ("cubin", "ptx"):
        def load() -> Image:
            path = file.absolute()
            return load_cubin(path, None, file) if kind == "cubin" else assemble(path, None, file, workplace)

        return Opened(iter([Source(str(file), None, 0, size, lambda: hashlib.sha256(file.read_bytes()).hexdigest(), load,
                                    kind == "ptx")]))
    if kind in ("container", "fatbin"):
        opened = Opened(iter(()))
        opened.sources = _Container(file, workplace, architectures, old, opened).sources()
        return opened
    if head.startswith(_THIN_ARCHIVE):
        raise Unreadable("it is a thin archive, which only names its members: lint those")
    raise Unreadable("it is neither a cubin, fatbin, object, archive, library or executable nor PTX")


def open_images(file: Path, workplace: Path, architectures: frozenset[int]) -> Iterator[Image]:
    """Every image of a file, one after the other; Unreadable if there is none or part of the file is broken."""
    opened = open_file(file, workplace, architectures, old=True)
    modern: set[str] = set()
    found = False
    for source in opened.sources:
        try:
            image = source.load()
        except Unreadable as error:
            opened.problems.append(str(error))
            continue
        found = True
        modern.update(image.cubin.kernels if image.cubin.sm >= OLDEST else ())
        yield image
    texts = ((ptx, contents_of(text_of(ptx))) for ptx in opened.ptx)
    for ptx, contents in chosen(texts, modern, lambda name: True):
        found = True
        yield source_of(ptx, contents, file, workplace).load()
    if opened.problems:
        raise Unreadable("; ".join(opened.problems))
    if not found and not opened.left_alone:
        raise Unreadable(opened.without_code(architectures))


def holds_code(file: Path) -> bool:
    """Whether it is a file that lint would read."""
    try:
        with file.open("rb") as stream:
            return kind_of_file(stream.read(_HEAD)) != "unknown"
    except (OSError, ValueError):
        return False


def _head_of(file: Path) -> tuple[bytes, int]:
    """Its first bytes, and how many it has. A pipe is refused, because it may never say anything."""
    try:
        status = file.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable("it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file (a pipe or a device)")
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except ValueError as error:  # a 0 in its name
        raise Unreadable(str(error)) from None
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    if not head:
        raise Unreadable("the file is empty")
    return head, status.st_size


class _Container:
    """A host file, an archive of them, or a fat binary by itself."""

    def __init__(self, file: Path, workplace: Path, architectures: frozenset[int], old: bool, opened: Opened) -> None:
        self.file, self.workplace, self.opened, self.old = file, workplace, opened, old
        self.architectures = architectures
        self.number = 0

    def sources(self) -> Iterator[Source]:
        mapped = Mapped(self.file)
        yield from self._in_part(mapped, 0, len(mapped.data), "", 0)

    def _in_part(self, mapped: Mapped, start: int, end: int, prefix: str, depth: int) -> Iterator[Source]:
        data = mapped.data
        if data[start : start + len(MAGIC)] == MAGIC and depth < _DEEPEST:
            yield from self._in_archive(mapped, start, end, prefix, depth)
            return
        problems: list[str] = []
        if data[start : start + 4] == b"\x7fELF":
            self.opened.overlap_calls += containers.overlap_calls(data, start, end)
        for first, last in containers.containers(mapped, start, end, problems):
            for entry in containers.entries(mapped, first, last, problems):
                yield from self._of_entry(entry, prefix)
            mapped.forget(first, last)
        self.opened.problems += [f"{prefix}not all of it can be read: {problem}" for problem in problems]

    def _in_archive(self, mapped: Mapped, start: int, end: int, prefix: str, depth: int) -> Iterator[Source]:
        for member in members(mapped.data, start, end):
            name, first, last = f"{prefix}{member.name}: ", member.offset, member.offset + member.size
            if not member.whole:
                self.opened.problems.append(f"{name}the archive ends inside it")
                continue
            kind = kind_of_file(mapped.data[first : min(last, first + _HEAD)])
            if kind in ("container", "fatbin"):
                yield from self._in_part(mapped, first, last, name, depth + 1)
            elif kind in ("cubin", "ptx"):
                yield self._of_member(Entry(mapped, containers.ELF, 0, first, member.size, None), member.name, kind)

    def _of_member(self, entry: Entry, name: str, kind: str) -> Source:
        """An image that is a member of an archive by itself."""
        def load() -> Image:
            if kind == "cubin":
                return load_entry(entry, name, str(self.file))
            return assemble_text(bytes(entry.contents()), name, self.file, self.workplace)

        return Source(str(self.file), name, 0, entry.stored, entry.digest, load, kind == "ptx")

    def _of_entry(self, entry: Entry, prefix: str) -> Iterator[Source]:
        """The image of a container if it is machine code for a GPU with PDL; PTX is noted. PTX and code of targets without PDL are
        left alone unless kernels are named, which may then be below compute_90."""
        self.number += 1
        if entry.kind not in (containers.ELF, containers.PTX):
            return
        if self.architectures and entry.sm not in self.architectures:
            self.opened.others.add(entry.sm)
            return
        if entry.sm < OLDEST and not self.old:
            self.opened.left_alone += 1
            return
        inner = f"{prefix}{self.number}.sm_{entry.sm}." + ("cubin" if entry.kind == containers.ELF else "ptx")
        if entry.kind == containers.PTX:
            self.opened.ptx.append(Ptx(inner, entry))
            return
        yield Source(str(self.file), inner, entry.sm, entry.stored, entry.digest, lambda: load_entry(entry, inner, str(self.file)))
