"""Standard output and error that never decide an exit code by accident: closed, full or gone, or unable to show a character."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Stream:
    """A standard stream that takes all that is written. What it cannot pass on is dropped, and why is kept in `lost`."""

    def __init__(self, stream: io.TextIOWrapper, number: int, closed: bool) -> None:
        self._stream, self._number, self._closed = stream, number, closed
        self.lost: str | None = None
        self._reader_may_go = number == 1  # then a command need not go on

    def write(self, text: str) -> int:
        if self._closed:
            self.lost = "it is closed"
        try:
            return self._stream.write(text)
        except (OSError, ValueError) as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._give_up(error)

    def _give_up(self, error: OSError | ValueError) -> None:
        """Send the stream, and what it still holds, to /dev/null: Python's own flush at the end would fail again."""
        self.lost = self.lost or getattr(error, "strerror", None) or str(error)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._number)
        os.close(null)
        if self._reader_may_go and isinstance(error, BrokenPipeError):
            raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _prepared(stream: Any, number: int) -> Any:
    closed = not _is_open(number)
    if closed:  # /dev/null holds its place, or the next file to be opened would take its number
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
    if stream is None:
        stream = open(number, "w", closefd=False)
    if not isinstance(stream, io.TextIOWrapper):
        return stream  # a test's own
    stream.reconfigure(errors="backslashreplace")  # a locale may know few characters, and a file name may be no text
    return _Stream(stream, number, closed)


def prepare() -> None:
    """Call once, before anything is opened or said."""
    if not _is_open(0):
        os.open(os.devnull, os.O_RDONLY)  # takes the lowest free number, which is 0
    sys.stdout, sys.stderr = _prepared(sys.stdout, 1), _prepared(sys.stderr, 2)


def lost() -> str | None:
    """Why part of standard output was not written; None if all of it was. BrokenPipeError if its reader has gone."""
    sys.stdout.flush()
    reason: str | None = getattr(sys.stdout, "lost", None)
    return reason
