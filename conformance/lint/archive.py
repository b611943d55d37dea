"""The members of an archive (.a), read from the mapped file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

MAGIC = b"!<arch>\n"
_HEADER = 60
_INDEXES = (b"/", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED")  # of symbols: no members


@dataclass(frozen=True)
class Member:
    name: str
    offset: int
    size: int
    whole: bool  # the archive does not end before it does


def members(data: mmap, start: int, limit: int) -> Iterator[Member]:
    """Of the archive in this part of a mapped file: up to its end, or up to the first header that is none."""
    long_names, at = b"", start + len(MAGIC)
    while at + _HEADER <= limit:
        header = data[at : at + _HEADER]
        digits = header[48:58].strip()
        if header[58:60] != b"`\n" or not digits.isdigit():
            return
        first, end = at + _HEADER, at + _HEADER + int(digits)
        name = header[:16].rstrip()
        if name == b"//":
            long_names = data[first : min(end, limit)]
        elif name not in _INDEXES:
            name, skipped = _full_name(name, long_names, data[first : first + 256])
            if not name.startswith(_INDEXES[2]):
                yield Member(name.decode(errors="replace"), first + skipped, end - first - skipped, end <= limit)
        at = end + (end - start) % 2


def _full_name(name: bytes, long_names: bytes, data: bytes) -> tuple[bytes, int]:
    """The whole name, and how many bytes of the member it takes: /12 is a place among the long names, #1/20 stands in front."""
    if name.startswith(b"#1/") and name[3:].isdigit():
        taken = int(name[3:])
        return data[:taken].rstrip(b"\0"), taken
    if name.startswith(b"/") and name[1:].isdigit():
        return long_names[int(name[1:]) :].split(b"\n", 1)[0].rstrip(b"/"), 0
    return name.rstrip(b"/"), 0
