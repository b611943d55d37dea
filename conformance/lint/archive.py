"""The members of an archive (.a): cuobjdump stops at the first that is broken, and passes by those that are no objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"!<arch>\n"
_HEADER = 60
_INDEXES = (b"/", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED")  # of symbols: no members


@dataclass(frozen=True)
class Member:
    name: str
    offset: int
    size: int
    head: bytes  # its first bytes
    whole: bool  # the archive does not end before it does


def members(archive: Path, head_bytes: int) -> Iterator[Member]:
    """Up to the end of the file, or up to the first header that is none."""
    long_names, length = b"", archive.stat().st_size
    with archive.open("rb") as stream:
        at = len(MAGIC)
        while at + _HEADER <= length:
            stream.seek(at)
            header = stream.read(_HEADER)
            digits = header[48:58].strip()
            if header[58:60] != b"`\n" or not digits.isdigit():
                return
            start, end = at + _HEADER, at + _HEADER + int(digits)
            name = header[:16].rstrip()
            if name == b"//":
                long_names = stream.read(min(end, length) - start)
            elif name not in _INDEXES:
                name, skipped = _full_name(name, long_names, stream.read(256))
                stream.seek(start + skipped)
                if not name.startswith(_INDEXES[2]):
                    head = stream.read(max(0, min(head_bytes, end - start - skipped)))
                    yield Member(name.decode(errors="replace"), start + skipped, end - start - skipped, head, end <= length)
            at = end + end % 2


def _full_name(name: bytes, long_names: bytes, data: bytes) -> tuple[bytes, int]:
    """The whole name, and how many bytes of the member it takes: /12 is a place among the long names, #1/20 stands in front."""
    if name.startswith(b"#1/") and name[3:].isdigit():
        taken = int(name[3:])
        return data[:taken].rstrip(b"\0"), taken
    if name.startswith(b"/") and name[1:].isdigit():
        return long_names[int(name[1:]) :].split(b"\n", 1)[0].rstrip(b"/"), 0
    return name.rstrip(b"/"), 0


def unpack(archive: Path, member: Member, target: Path) -> None:
    """Writes the member's bytes to a file."""
    with archive.open("rb") as source, target.open("wb") as sink:
        source.seek(member.offset)
        left = member.size
        while left > 0 and (piece := source.read(min(left, 1 << 20))):
            sink.write(piece)
            left -= len(piece)
