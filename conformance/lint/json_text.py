"""JSON in pieces, as json.dumps with indent=1 would write the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from typing import Any

_HALVES = re.compile(r"[\ud800-\udfff]")  # bytes of a file's name that are not valid UTF-8


class Written(str):
    """Elements of an array that are JSON already, indented as they have to be."""

    __slots__ = ()


def dump(content: dict[str, Any]) -> Iterator[str]:
    """JSON in pieces, indented by one. An iterator in `content` is an array that is made while it is written: a library has
    hundreds of thousands of findings. All is in ASCII, so that it stays valid whatever the encoding of stdout is and whatever bytes
    a file's name has."""
    return _pieces(content, "\n")


def _pieces(value: Any, end: str) -> Iterator[str]:
    """`end`: a line's end and the indentation of the line on which the value began."""
    inner = end + " "
    if isinstance(value, dict) and value:
        for number, (name, part) in enumerate(value.items()):
            yield f"{',' if number else '{'}{inner}{_quoted(name)}: "
            yield from _pieces(part, inner)
        yield end + "}"
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield f"{',' if number else '['}{inner}"
            yield from _pieces(part, inner)
        yield end + "]"
    elif isinstance(value, Iterator):
        number = -1
        for number, part in enumerate(value):
            yield f"{',' if number else '['}{inner}{pretty(part, inner)}"
        yield f"{end}]" if number >= 0 else "[]"
    else:
        yield pretty(value, end)


def pretty(value: Any, end: str) -> str:
    """As json.dumps with indent=1, which is slow, writes a value."""
    if isinstance(value, Written):
        return value
    if isinstance(value, str):
        return _quoted(value)
    inner = end + " "
    if isinstance(value, dict) and value:
        rows = [f"{_quoted(name)}: {_quoted(part) if isinstance(part, str) else pretty(part, inner)}" for name, part in value.items()]
        return f"{{{inner}{f',{inner}'.join(rows)}{end}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{f',{inner}'.join([pretty(part, inner) for part in value])}{end}]"
    return json.dumps(value)


def _quoted(text: str) -> str:
    return encode_basestring_ascii(text if text.isascii() else _HALVES.sub("\ufffd", text))
