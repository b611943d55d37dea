"""From the files that the user names to cubins: containers are unpacked, PTX is assembled."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pdlkit.lint.elf import EM_CUDA, CorruptFile, Cubin
from pdlkit.lint.tools import ToolFailed, call, tool

_FATBIN = b"\x50\xed\x55\xba"
_ARCHITECTURE = re.compile(r"\.sm_(\d+)[a-z]?\.(?:cubin|ptx)$")
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)
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
    """cubin, container (host ELF, archive, fatbin), ptx or unknown, by content and never by name."""
    if head[:4] == b"\x7fELF" and len(head) >= 20:
        return "cubin" if int.from_bytes(head[18:20], "little") == EM_CUDA else "container"
    if head[:8] == b"!<arch>\n" or head[:4] == _FATBIN:
        return "container"
    text = head.decode(errors="replace")
    if _VERSION.search(text) or (".target" in text and ".entry" in text):
        return "ptx"
    return "unknown"


def open_images(file: Path, workplace: Path, architectures: frozenset[int]) -> Iterator[Image]:
    """Every cubin in the file; Unreadable if there is none or the file is broken."""
    try:
        with file.open("rb") as stream:
            head = stream.read(65536)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    if not head:
        raise Unreadable("the file is empty")
    kind = kind_of_file(head)
    if kind == "cubin":
        yield _load(file, None, file)
    elif kind == "ptx":
        yield _assemble(file, None, file, workplace)
    elif kind == "container":
        yield from _unpack(file, workplace, architectures)
    else:
        raise Unreadable("it is neither a cubin, fatbin, object, archive, library or executable nor PTX")


def _load(path: Path, inner: str | None, file: Path, from_ptx: bool = False) -> Image:
    try:
        cubin = Cubin.load(path)
        _ = cubin.kernels  # a broken symbol table shows here
        return Image(str(file), inner, path, cubin, from_ptx)
    except (CorruptFile, OSError) as error:
        raise Unreadable(f"{inner or 'the cubin'} cannot be read: {error}") from None


def _assemble(ptx: Path, inner: str | None, file: Path, workplace: Path) -> Image:
    """PTX below sm_90 is assembled for sm_90, as a driver would do there: the code has no wait, and its note says so."""
    found = _TARGET.search(ptx.read_text(errors="replace"))
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


def _unpack(file: Path, workplace: Path, architectures: frozenset[int]) -> Iterator[Image]:
    """cuobjdump knows all containers; PTX in them matters where no code for sm_90 or newer stands beside it."""
    folder = Path(tempfile.mkdtemp(dir=workplace))
    problems = []
    for option in ("-xelf", "-xptx"):
        try:
            call([str(tool("cuobjdump")), option, "all", str(file.resolve())], cwd=folder)
        except ToolFailed as error:
            problems.append(str(error))
    cubins = sorted(folder.glob("*.cubin"), key=_position)
    wanted = [c for c in cubins if not architectures or _architecture(c) in architectures]
    ptx_files = sorted(folder.glob("*.ptx"), key=_position)
    if not cubins and not ptx_files:
        said = f" ({problems[0]})" if problems else ""
        raise Unreadable(f"it holds no GPU code that cuobjdump can find{said}")
    broken = []
    modern = set()
    for cubin in wanted:
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
    if broken:
        raise Unreadable("; ".join(broken))


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
