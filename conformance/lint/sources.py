"""One image: where its bytes come from, and the cubin that they are, checked for being whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.lint.containers import Damaged, Entry
from conformance.pdlkit.elf import CorruptFile, Cubin

OLDEST = 90  # the first architecture with PDL


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
    size: int  # bytes as they are stored
    hashed: Callable[[], str]
    load: Callable[[], Image]
    assembled: bool = False  # it is PTX, so its code depends on ptxas

    @cached_property
    def digest(self) -> str:
        """Of these bytes."""
        return self.hashed()


def load_cubin(path: Path, inner: str | None, file: Path, from_ptx: bool = False) -> Image:
    """The image in a file of its own; Unreadable with what is wrong with it."""
    try:
        return Image(str(file), inner, path, _checked(Cubin.load(path)), from_ptx)
    except (CorruptFile, OSError) as error:
        raise Unreadable(f"{inner or 'the cubin'} cannot be read: {error}") from None


def load_entry(entry: Entry, inner: str, file: str) -> Image:
    """The image of a container or an archive; Unreadable with what is wrong with it."""
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
