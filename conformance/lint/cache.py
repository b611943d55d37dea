"""What lint found out about an image, kept by the hash of its bytes: the second run over a library need not analyse it again.

The file lies in a private folder of the user's (PDL_CACHE, else XDG_CACHE_HOME, else ~/.cache). A cache that cannot be used is
no error: everything is then analysed. Nothing in it is trusted to be of this version: the key holds the version of the
analysis and of the disassembler.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from pathlib import Path
from typing import Any

_LARGEST = 1 << 30  # bytes; a larger file is deleted and started again


def folder() -> Path:
    """Where the cache lies."""
    named = os.environ.get("PDL_CACHE")
    base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "pdl")
    return base / "lint"


class Cache:
    """Rows of JSON by key; any thread may ask. Close it to write what is new."""

    def __init__(self, place: Path | None) -> None:
        self._lock = threading.Lock()
        self._database = _open(place) if place is not None else None

    def get(self, key: str) -> Any | None:
        """What was kept under this key; None if nothing was, or it cannot be read."""
        packed = self.get_packed(key)
        try:
            return None if packed is None else json.loads(zlib.decompress(packed))
        except (zlib.error, ValueError):
            return None

    def get_packed(self, key: str) -> bytes | None:
        """The same as it was written by put_packed."""
        if self._database is None:
            return None
        try:
            with self._lock:
                row = self._database.execute("SELECT value FROM images WHERE key = ?", (key,)).fetchone()
            return None if row is None else bytes(row[0])
        except (sqlite3.Error, TypeError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keeps a row; silently not, if the disk is full or another process holds the file for long."""
        if self._database is not None:
            self.put_packed(key, zlib.compress(json.dumps(value).encode(), 1))

    def put_packed(self, key: str, packed: bytes) -> None:
        """The same of what is compressed already."""
        if self._database is None:
            return
        try:
            with self._lock:
                self._database.execute("INSERT OR REPLACE INTO images VALUES (?, ?)", (key, packed))
        except sqlite3.Error:
            pass

    def close(self) -> None:
        """Writes what is new."""
        if self._database is None:
            return
        try:
            with self._lock:
                self._database.commit()
                self._database.close()
        except sqlite3.Error:
            pass
        self._database = None


def _open(place: Path) -> sqlite3.Connection | None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            return None  # others could have put answers there
        file = place / "results.sqlite"
        if file.is_file() and file.stat().st_size > _LARGEST:
            file.unlink()
        database = sqlite3.connect(file, timeout=5, check_same_thread=False)
        database.execute("CREATE TABLE IF NOT EXISTS images (key TEXT PRIMARY KEY, value BLOB)")
        return database
    except (OSError, sqlite3.Error):
        return None
