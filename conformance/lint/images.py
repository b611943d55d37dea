"""From the files that the user names to images: containers are read from the mapped file, PTX is assembled."""

from __future__ import annotations

import mmap
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint import containers
from conformance.lint.archive import MAGIC, members
from conformance.lint.containers import Damaged, Entry
from conformance.pdlkit.cuda_programs import ToolFailed, call, tool
from conformance.pdlkit.elf import EM_CUDA, CorruptFile, Cubin

_THIN_ARCHIVE = b"!<thin>\n"
_MOST_BYTES = 1 << 30  # of a cubin or PTX: lint and nvdisasm hold it in memory, several times over
_HEAD = 65536  # bytes that say what a file is
_DEEPEST = 4  # archives in archives
_OLDEST = 90  # the first architecture with PDL
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(r"(?<![\w.])\.target\s+sm_(\d+)([af]?)\b")
_VERSION = re.compile(r"^\s*\.version\s+\d+\.\d+", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_WAIT_IN_PTX = "griddepcontrol"


class Unreadable(Exception):
    """This file cannot be analysed; the message says why."""


@dataclass(frozen=True)
class Image:
    """One cubin of a file the user named."""

    file: str
    inner: str | None  # the cubin inside a container
    path: Path | None  # where it lies as a file of its own; None: only in memory
    cubin: Cubin
    from_ptx: bool = False  # assembled here: a driver would assemble it for any newer GPU


@dataclass(frozen=True)
class Source:
    """An image that has not been read yet."""

    file: str
    inner: str | None
    sm: int  # 0: it is not known before it is read
    stored: Callable[[], bytes]  # its bytes as they are stored, from which its hash is made
    load: Callable[[], Image]


@dataclass
class Opened:
    """What the user's file holds. `problems` grows while `sources` is gone through."""

    sources: Iterator[Source]
    problems: list[str] = field(default_factory=list)
    ptx: list[tuple[str, str]] = field(default_factory=list)  # (inner name, text), complete after the sources
    left_alone: int = 0  # images for GPUs without PDL
    overlap_calls: list[str] = field(default_factory=list)  # functions that the file calls and that can ask for overlap


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
    if kind == "cubin":
        return Opened(iter([Source(str(file), None, 0, file.read_bytes, lambda: _load(file.absolute(), None, file))]))
    if kind == "ptx":
        return Opened(iter([Source(str(file), None, 0, file.read_bytes, lambda: _assemble(file.absolute(), None, file, workplace))]))
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
        modern.update(image.cubin.kernels if image.cubin.sm >= _OLDEST else ())
        yield image
    for source in ptx_sources(opened, modern, file, workplace, lambda name: True):
        found = True
        yield source.load()
    if opened.problems:
        raise Unreadable("; ".join(opened.problems))
    if not found and not opened.left_alone:
        raise Unreadable("it holds no GPU code")


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


def _load(path: Path, inner: str | None, file: Path, from_ptx: bool = False) -> Image:
    try:
        return Image(str(file), inner, path, _checked(Cubin.load(path)), from_ptx)
    except (CorruptFile, OSError) as error:
        raise Unreadable(f"{inner or 'the cubin'} cannot be read: {error}") from None


def _load_entry(entry: Entry, inner: str, file: str) -> Image:
    try:
        return Image(file, inner, None, _checked(Cubin(entry.contents(), inner)))
    except (CorruptFile, Damaged) as error:
        raise Unreadable(f"{inner} cannot be read: {error}") from None


_EXECUTABLE = 2  # an ELF type; others may hold functions only
_WHOLE_INSTRUCTION = 16


def _checked(cubin: Cubin) -> Cubin:
    """The cubin; CorruptFile if code or symbols are missing from it, because what is not there would pass as clean."""
    kernels = cubin.kernels  # a broken symbol table shows here
    for section in cubin.text_sections:
        if section.size % _WHOLE_INSTRUCTION:
            raise CorruptFile(f"{section.name} ends inside an instruction")
    kind = int.from_bytes(cubin.data[16:18], "little")
    if cubin.text_sections and not kernels and kind == _EXECUTABLE:
        raise CorruptFile("it has code and no kernel: its symbol table is damaged")
    code = {section.name.removeprefix(".text.") for section in cubin.text_sections}
    defined = {symbol.name for symbol in cubin.symbols if symbol.section}
    lost = [kernel for kernel in kernels if kernel in defined and kernel not in code]
    if lost:
        raise CorruptFile(f"the kernel {lost[0]} has no code")
    return cubin


def _assemble(ptx: Path, inner: str | None, file: Path, workplace: Path) -> Image:
    """PTX below sm_90 is assembled for sm_90, as a driver would do there: the code has no wait, and its note says so."""
    found = _TARGET.search(_COMMENT.sub(" ", ptx.read_text(errors="replace")))
    if not found:
        raise Unreadable(f"{inner or 'the PTX'} has no .target line")
    number, suffix = int(found.group(1)), found.group(2)
    target = f"sm_{number}{suffix}" if number >= 90 else "sm_90"
    with tempfile.NamedTemporaryFile(suffix=".cubin", dir=workplace, delete=False) as stream:
        output = Path(stream.name)
    try:
        call([str(tool("ptxas")), "-arch", target, "--generate-line-info", "-o", str(output), str(ptx)])
    except ToolFailed as error:
        try:  # debug PTX excludes line info, PTX with undefined functions has to stay relocatable
            call([str(tool("ptxas")), "-arch", target, "-c", "-o", str(output), str(ptx)])
        except ToolFailed:
            raise Unreadable(f"{inner or 'the PTX'} cannot be assembled: {error}") from None
    return _load(output, inner, file, from_ptx=True)


class _Container:
    """A host file, an archive of them, or a fat binary by itself."""

    def __init__(self, file: Path, workplace: Path, architectures: frozenset[int], old: bool, opened: Opened) -> None:
        self.file, self.workplace, self.opened, self.old = file, workplace, opened, old
        self.architectures = architectures
        self.number = 0

    def sources(self) -> Iterator[Source]:
        with self.file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from self._in_part(data, 0, len(data), "", 0)

    def _in_part(self, data: mmap.mmap, start: int, end: int, prefix: str, depth: int) -> Iterator[Source]:
        if data[start : start + len(MAGIC)] == MAGIC and depth < _DEEPEST:
            yield from self._in_archive(data, start, end, prefix, depth)
            return
        problems: list[str] = []
        if data[start : start + 4] == b"\x7fELF":
            self.opened.overlap_calls += containers.overlap_calls(data, start, end)
        for first, last in containers.containers(data, start, end, problems):
            for entry in containers.entries(data, first, last, problems):
                yield from self._of_entry(entry, prefix)
            page = first // mmap.PAGESIZE * mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, page, last - page)  # what was read need not stay in memory
        self.opened.problems += [f"{prefix}not all of it can be read: {problem}" for problem in problems]

    def _in_archive(self, data: mmap.mmap, start: int, end: int, prefix: str, depth: int) -> Iterator[Source]:
        for member in members(data, start, end):
            name, first, last = f"{prefix}{member.name}: ", member.offset, member.offset + member.size
            if not member.whole:
                self.opened.problems.append(f"{name}the archive ends inside it")
                continue
            kind = kind_of_file(data[first : min(last, first + _HEAD)])
            if kind in ("container", "fatbin"):
                yield from self._in_part(data, first, last, name, depth + 1)
            elif kind == "cubin":
                entry = Entry(containers.ELF, 0, data[first:last], 0, member.size)
                yield Source(str(self.file), member.name, 0, lambda e=entry: e.stored,  # type: ignore[misc]
                             lambda e=entry, n=member.name: _load_entry(e, n, str(self.file)))  # type: ignore[misc]
            elif kind == "ptx":
                text = data[first:last].decode(errors="replace")
                yield Source(str(self.file), member.name, 0, text.encode,
                             lambda n=member.name, t=text: _assemble_text(t, n, self.file, self.workplace))  # type: ignore[misc]

    def _of_entry(self, entry: Entry, prefix: str) -> Iterator[Source]:
        self.number += 1
        if entry.kind == containers.PTX:
            self._note_ptx(entry, prefix)
        if entry.kind != containers.ELF or (self.architectures and entry.sm not in self.architectures):
            return
        if entry.sm < _OLDEST and not self.old:
            self.opened.left_alone += 1
            return
        inner = f"{prefix}{self.number}.sm_{entry.sm}.cubin"
        yield Source(str(self.file), inner, entry.sm, lambda: entry.stored, lambda: _load_entry(entry, inner, str(self.file)))

    def _note_ptx(self, entry: Entry, prefix: str) -> None:
        """PTX of targets without PDL is left alone unless kernels are named, which may then be below compute_90."""
        if (entry.sm < _OLDEST and not self.old) or (self.architectures and entry.sm not in self.architectures):
            self.opened.left_alone += 1
            return
        inner = f"{prefix}{self.number}.sm_{entry.sm}.ptx"
        try:
            self.opened.ptx.append((inner, entry.contents().rstrip(b"\0").decode(errors="replace")))
        except Damaged as error:
            self.opened.problems.append(f"{inner} cannot be read: {error}")


def ptx_sources(opened: Opened, modern: set[str], file: Path, workplace: Path, named: Callable[[str], bool]) -> Iterator[Source]:
    """For each set of kernels the PTX of the newest target, which a driver takes on every GPU that no machine code fits; what
    has machine code beside it, and neither waits nor is named, is left alone."""
    newest: dict[frozenset[str], tuple[int, str, str]] = {}
    for inner, text in opened.ptx:
        found = _TARGET.search(_COMMENT.sub(" ", text[:_HEAD]))
        target, kernels = int(found.group(1)) if found else 0, frozenset(_ENTRY.findall(text))
        if kernels and (kernels not in newest or target > newest[kernels][0]):
            newest[kernels] = (target, inner, text)
    for kernels, (target, inner, text) in newest.items():
        if (kernels <= modern and target >= _OLDEST) or (_WAIT_IN_PTX not in text and not any(map(named, kernels))):
            continue  # the machine code beside it is judged, or there is nothing to judge
        yield Source(str(file), inner, target, text.encode, lambda n=inner, t=text: _assemble_text(t, n, file, workplace))  # type: ignore[misc]


def _assemble_text(text: str, inner: str, file: Path, workplace: Path) -> Image:
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", dir=workplace, encoding="utf-8", errors="replace") as stream:
        stream.write(text)
        stream.flush()
        return _assemble(Path(stream.name), inner, file, workplace)
