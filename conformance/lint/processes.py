"""Children of lint, which run on several threads: none is left behind when lint is interrupted."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from conformance.pdlkit.cuda_programs import ToolFailed
from conformance.pdlkit.exits import SetupImpossible

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()
_stopped = threading.Event()


class Stopped(Exception):
    """Lint was interrupted; nothing more is started."""


def run(command: list[str], stdin: IO[bytes] | int, limit_s: float, handles: tuple[int, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """As subprocess.run with captured output; TimeoutExpired if it does not end in time, OSError if it cannot start."""
    with _lock:
        if _stopped.is_set():
            raise Stopped
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=handles)
        _running.add(child)
    try:
        out, err = child.communicate(timeout=limit_s)
    except BaseException:
        child.kill()
        child.communicate()
        raise
    finally:
        with _lock:
            _running.discard(child)
    if _stopped.is_set():
        raise Stopped
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def output_of(command: list[str], limit_s: float = 900, handles: tuple[int, ...] = ()) -> bytes:
    """Standard output of a program; ToolFailed with its last lines if it fails, SetupImpossible if it cannot start."""
    try:
        done = run(command, subprocess.DEVNULL, limit_s, handles)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{Path(command[0]).name} did not end in {limit_s:.0f} s") from None
    except OSError as error:
        raise SetupImpossible(f"{command[0]} cannot be started: {error}") from None
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines()
        said = " / ".join(lines[-2:]) or f"exit code {done.returncode}"
        raise ToolFailed(f"{Path(command[0]).name}: {said}")
    return done.stdout


@contextmanager
def as_file(data: bytes | bytearray, suffix: str, workplace: Path | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Bytes as a child can open them, and the handles that it needs for that."""
    with _scratch(suffix, workplace) as stream:
        stream.write(data)
        stream.flush()
        own = Path(f"/proc/self/fd/{stream.fileno()}")
        yield (str(own), (stream.fileno(),)) if own.exists() else (str(stream.name), ())


def _scratch(suffix: str, workplace: Path | None) -> IO[bytes]:
    """A file in memory, which is gone when lint is killed; where that is impossible, one in lint's folder."""
    try:
        if os.path.isdir("/proc/self/fd"):
            return os.fdopen(os.memfd_create("lint"), "wb")
    except (AttributeError, OSError):  # some containers forbid it
        pass
    return tempfile.NamedTemporaryFile(suffix=suffix, dir=workplace)


def stop_all() -> None:
    """Ends all children; from now on run() raises Stopped."""
    _stopped.set()
    with _lock:
        for child in _running:
            child.kill()


def start_again() -> None:
    """For those who call lint more than once in one process."""
    _stopped.clear()
