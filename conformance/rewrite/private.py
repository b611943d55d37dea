"""Folders and files that only the user can have written: what is loaded into the user's programs lies there.

Everything is below the user's cache folder (XDG_CACHE_HOME, else ~/.cache). A folder counts only if it is a real folder, the
user's own, and closed to everybody else.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible

NAME = "pdl"


def cache_folder() -> Path:
    """Where users keep what can be made again."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if named.startswith("/") else Path.home() / ".cache"


def _check(place: Path) -> None:
    found = place.lstat()
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        raise SetupImpossible(f"{place} is a link or no folder; remove it, or set XDG_CACHE_HOME to another folder")
    if found.st_uid != os.geteuid():
        raise SetupImpossible(f"{place} belongs to another user; remove it, or set XDG_CACHE_HOME to a folder of your own")
    if found.st_mode & 0o077:
        raise SetupImpossible(f"{place} is open to other users; close it (chmod 700 {place})")


def private_folder(*names: str) -> Path:
    """A folder below the kit's own one, made if it is missing; SetupImpossible with the remedy if it cannot be trusted."""
    place = cache_folder() / NAME
    if set(" :") & set(str(place)):  # LD_PRELOAD takes both for the end of a name
        raise SetupImpossible(f"the path {place} holds a space or a colon; set XDG_CACHE_HOME to a folder without them")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for name in ("", *names):
            place = place / name
            place.mkdir(mode=0o700, exist_ok=True)
            _check(place)
    except OSError as error:
        raise SetupImpossible(f"{place} cannot be made ({error.strerror}); set XDG_CACHE_HOME to a folder that can") from None
    return place


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def seal(path: Path) -> None:
    """Note a file's digest beside it; it is written last, so a file without it was never finished."""
    note = path.with_name(path.name + ".sha256")
    draft = note.with_name(f"{note.name}.{os.getpid()}")
    draft.write_text(digest_of(path) + "\n")
    draft.replace(note)


def is_sealed(path: Path) -> bool:
    """Whether a file is a regular one and is as it was when it was sealed."""
    note = path.with_name(path.name + ".sha256")
    if path.is_symlink() or not path.is_file() or note.is_symlink() or not note.is_file():
        return False
    return note.read_text().strip() == digest_of(path)
