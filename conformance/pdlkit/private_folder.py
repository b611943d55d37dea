"""Folders that only this user can write to, for everything that the kit compiles or fetches and then runs or loads.

    folder = private_folder("compiled")      # ~/.cache/pdl-conformance/compiled, mode 0700
    path = trusted_file(folder / "x.so")     # None unless it is a plain file of ours that nobody else can have written

A folder below the system's temporary folder under a fixed name would let another user put a program there first.
"""

from __future__ import annotations

import atexit
import fcntl
import grp
import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import BUILD

NAME = "pdl-conformance"
_LOCK = ".lock"


class Unsafe(Exception):
    """Somebody else could write here; the message says where and why."""


def _user_cache() -> Path | None:
    """The user's cache folder as the XDG specification has it; None if the user has no home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None


def _is_own_group(gid: int) -> bool:
    """Whether the group has no other member than this user, as on systems that give each user a group."""
    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def _others_can_write(status: os.stat_result) -> bool:
    """Whether another user may add, replace or rename what is in this folder."""
    if status.st_mode & stat.S_ISVTX:
        return False  # sticky: others can add files, and every file is checked for its owner
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and status.st_gid != 0 and not _is_own_group(status.st_gid)


def check_folder(folder: Path) -> None:
    """Raise Unsafe unless the folder is ours, closed to others, and lies in folders that only root and we can change."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise Unsafe(f"{folder} is a link or a file")
    if status.st_uid != os.geteuid():
        raise Unsafe(f"{folder} belongs to another user")
    for parent in folder.resolve().parents:
        status = parent.stat()
        if status.st_uid not in (0, os.geteuid()):
            raise Unsafe(f"{parent}, in which it lies, belongs to another user")
        if _others_can_write(status):
            raise Unsafe(f"{parent}, in which it lies, can be written by other users")


def make_private(folder: Path) -> Path:
    """Make the folder, or take it as it is, and close it to others; Unsafe if it cannot be trusted."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        pass
    check_folder(folder)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def _bases() -> list[Path]:
    """Where private folders may lie: below the user's cache folder, else below build/."""
    kept = _user_cache()
    return [*([kept / NAME] if kept else []), BUILD / "cache"]


def existing_folder(name: str) -> Path | None:
    """The folder that private_folder would give, if it is there already; makes and changes nothing."""
    for base in _bases():
        try:
            check_folder(base)
            check_folder(base / name)
        except (Unsafe, OSError):
            continue
        if os.access(base / name, os.R_OK | os.X_OK):
            return base / name
    return None


@cache
def _temporary() -> Path:
    """A folder of this process alone, removed with it."""
    folder = tempfile.mkdtemp(prefix=f"{NAME}-")
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a forked child
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def private_folder(name: str) -> Path:
    """The folder of that name below the user's cache folder, else below build/, else one that lasts as long as this process."""
    reasons = list[str]()
    for base in _bases():
        try:
            folder = make_private(make_private(base) / name)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
            reasons.append(f"{folder} cannot be written")
        except Unsafe as reason:
            reasons.append(str(reason))
        except OSError as error:
            reasons.append(f"{error.filename or base}: {error.strerror}")
    try:
        folder = make_private(_temporary() / name)
    except (Unsafe, OSError) as error:
        raise SetupImpossible(f"no folder can be made that only this user can write to ({'; '.join([*reasons, str(error)])}); set "
                              "XDG_CACHE_HOME to one") from None
    _say_once(f"nothing is kept for the next time: {'; '.join(reasons)}")
    return folder


@cache
def _say_once(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def trusted_file(path: Path) -> Path | None:
    """The path, if it is a plain file of this user that nobody else can have written; else None."""
    try:
        status = path.lstat()
    except OSError:
        return None
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
    return path if ours and not status.st_mode & 0o022 else None


@contextmanager
def draft_of(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """A file to write, in a new folder beside this one, whose place it then takes in one step and with this
    mode. If writing fails, nothing of it stays."""
    with tempfile.TemporaryDirectory(prefix="draft-", dir=path.parent) as folder:
        draft = Path(folder, path.name)
        yield draft
        draft.chmod(mode)
        draft.replace(path)


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold the folder for this process; a process that has to wait says what the other one is doing."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another process that is {what}", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)
