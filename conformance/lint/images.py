"""From the files that the user names to cubins: containers are unpacked, PTX is assembled."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.lint.archive import MAGIC, Member, members, unpack
from conformance.pdlkit.cuda_programs import ToolFailed, call, tool
from conformance.pdlkit.elf import EM_CUDA, CorruptFile, Cubin

_FATBIN = b"\x50\xed\x55\xba"
_THIN_ARCHIVE = b"!<thin>\n"
_MOST_BYTES = 1 << 30  # of a cubin or PTX: lint and nvdisasm hold it in memory, several times over
_HEAD = 65536  # bytes that say what a file is
_PASSED_BY = ("cubin", "ptx", "fatbin")  # members of archives into which cuobjdump does not look
_HOST_ONLY = "does not contain device code"  # cuobjdump's words for it
_DEEPEST = 4  # archives in archives
_LONGEST_NAME = 180  # cuobjdump names what it unpacks after the file, and a name has room for 255 bytes
_ARCHITECTURE = re.compile(r"\.sm_(\d+)[a-z]?\.(?:cubin|ptx)$")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(r"(?<![\w.])\.target\s+sm_(\d+)([af]?)\b")
_VERSION = re.compile(r"^\s*\.version\s+\d+\.\d+", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


class Unreadable(Exception):
    """This file cannot be analysed; the message says why."""


@dataclass(frozen=True)
class Image:
    """One cubin of a file the user named."""

    file: str
    inner: str | None  # the cubin inside a container
    path: Path
    cubin: Cubin
    from_ptx: bool = False  # assembled here: a driver would assemble it for any newer GPU


def kind_of_file(head: bytes) -> str:
    """cubin, fatbin, container (host ELF, archive), ptx or unknown, by content and never by name."""
    if head[:4] == b"\x7fELF" and len(head) >= 20:
        return "cubin" if int.from_bytes(head[18:20], "little") == EM_CUDA else "container"
    if head.startswith(_FATBIN):
        return "fatbin"
    if head.startswith(MAGIC):
        return "container"
    text = head.decode(errors="replace")
    if _VERSION.search(text) or (".target" in text and ".entry" in text):
        return "ptx"
    return "unknown"


def open_images(file: Path, workplace: Path, architectures: frozenset[int]) -> Iterator[Image]:
    """Every cubin in the file; Unreadable if there is none or the file is broken."""
    head, size = _head_of(file)
    kind = kind_of_file(head)
    if kind in ("cubin", "ptx") and size > _MOST_BYTES:
        raise Unreadable(f"it has {size} bytes; lint takes no {kind} of more than {_MOST_BYTES}")
    if kind == "cubin":
        yield _load(file.absolute(), None, file)
    elif kind == "ptx":
        yield _assemble(file.absolute(), None, file, workplace)
    elif kind in ("container", "fatbin"):
        yield from _unpack(file, workplace, architectures)
    elif head.startswith(_THIN_ARCHIVE):
        raise Unreadable("it is a thin archive, which only names its members: lint those")
    else:
        raise Unreadable("it is neither a cubin, fatbin, object, archive, library or executable nor PTX")


def _head_of(file: Path) -> tuple[bytes, int]:
    """Its first bytes, and how many it has. A pipe is refused, because it may never say anything."""
    try:
        status = file.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable("it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is no regular file (a pipe or a device)")
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
        cubin = Cubin.load(path)
        _ = cubin.kernels  # a broken symbol table shows here
        return Image(str(file), inner, path, cubin, from_ptx)
    except (CorruptFile, OSError) as error:
        raise Unreadable(f"{inner or 'the cubin'} cannot be read: {error}") from None


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


def _unpack(file: Path, workplace: Path, architectures: frozenset[int], name: str = "", depth: int = 0) -> Iterator[Image]:
    """cuobjdump knows all containers; PTX in them matters where no code for sm_90 or newer stands beside it. `name`: what the
    user called the file that this one stands in."""
    problems: list[str] = []
    broken: list[str] = []
    folder = Path(tempfile.mkdtemp(dir=workplace))
    for option in ("-xelf", "-xptx"):
        try:
            call([str(tool("cuobjdump")), option, "all", str(_with_short_name(file, workplace))], cwd=folder)
        except ToolFailed as error:
            problems.append(str(error))
    in_archive = _is_archive(file) and depth < _DEEPEST
    cubins = [] if problems and in_archive else sorted(folder.glob("*.cubin"), key=_position)
    ptx_files = [] if problems and in_archive else sorted(folder.glob("*.ptx"), key=_position)
    found = bool(cubins or ptx_files)
    yield from _unpacked(cubins, ptx_files, Path(name or file), workplace, architectures, broken)
    if in_archive:
        for member in members(file, _HEAD):
            if problems or kind_of_file(member.head) in _PASSED_BY or member.head.startswith(MAGIC):
                found = True
                yield from _member(file, member, Path(name or file), workplace, architectures, depth, broken)
    if not found:
        raise Unreadable("it holds no GPU code that cuobjdump can find" + (f" ({problems[0]})" if problems else ""))
    if problems and not (in_archive and broken):
        broken.insert(0, f"not all of it can be unpacked ({problems[0]})")
    if broken:
        raise Unreadable("; ".join(broken))


def _unpacked(cubins: list[Path], ptx_files: list[Path], file: Path, workplace: Path, architectures: frozenset[int],
              broken: list[str]) -> Iterator[Image]:
    modern: set[str] = set()
    for cubin in cubins:
        if architectures and _architecture(cubin) not in architectures:
            continue
        try:
            image = _load(cubin, cubin.name, file)
        except Unreadable as error:
            broken.append(str(error))
            continue
        if image.cubin.sm >= 90:
            modern.update(image.cubin.kernels)
        yield image
        cubin.unlink(missing_ok=True)
    yield from _newest_ptx(ptx_files, modern, file, workplace, broken)


def _member(archive: Path, member: Member, file: Path, workplace: Path, architectures: frozenset[int], depth: int,
            broken: list[str]) -> Iterator[Image]:
    """What one member of an archive holds, if cuobjdump did not look into it."""
    kind, name = kind_of_file(member.head), member.name
    if not member.whole:
        broken.append(f"{name}: the archive ends inside it")
    if kind == "unknown" or not member.whole:
        return
    place = Path(tempfile.mkdtemp(dir=workplace), "member")
    unpack(archive, member, place)
    try:
        if kind == "cubin":
            yield _load(place, name, file)
        elif kind == "ptx":
            yield _assemble(place, name, file, workplace)
        else:
            yield from _unpack(place, workplace, architectures, str(file), depth + 1)
    except Unreadable as error:
        if _HOST_ONLY not in str(error):
            broken.append(f"{name}: {error}")
    place.unlink(missing_ok=True)


def _is_archive(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _with_short_name(file: Path, workplace: Path) -> Path:
    """The file, or a link to it if what cuobjdump unpacks could not be named after it."""
    whole = file.resolve()
    if len(os.fsencode(whole.name)) <= _LONGEST_NAME:
        return whole
    link = workplace / "long-name"
    link.unlink(missing_ok=True)
    link.symlink_to(whole)
    return link


def _newest_ptx(files: list[Path], modern: set[str], file: Path, workplace: Path, broken: list[str]) -> Iterator[Image]:
    """For each set of kernels the PTX of the newest target: a driver takes it on every GPU that no code fits."""
    newest: dict[frozenset[str], Path] = {}
    for ptx in files:
        kernels = frozenset(_ENTRY.findall(ptx.read_text(errors="replace")))
        if kernels and (kernels not in newest or _architecture(ptx) > _architecture(newest[kernels])):
            newest[kernels] = ptx
    for kernels, ptx in newest.items():
        if kernels <= modern and _architecture(ptx) >= 90:
            continue  # the machine code beside it is judged
        try:
            yield _assemble(ptx, ptx.name, file, workplace)
        except Unreadable as error:
            broken.append(str(error))


def _architecture(path: Path) -> int:
    found = _ARCHITECTURE.search(path.name)
    return int(found.group(1)) if found else 0


def _position(path: Path) -> tuple[int, str]:
    """cuobjdump numbers what it writes: NAME.12.sm_90.cubin."""
    parts = path.name.split(".")
    return (int(parts[-3]) if len(parts) >= 3 and parts[-3].isdigit() else 0, path.name)
