"""Runs one child under a watchdog: own session, killed with every descendant, nothing left behind.

Nothing here polls: the wait ends when the child writes, ends, misses its deadline or the run is interrupted.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance.pdlkit.exits import SetupImpossible

_MARK = "PDL_KIT_CHILD"  # inherited by every descendant, so that one that left the session is still found
_STDERR_KEPT = 8192
_KILL_PATIENCE_S = 30.0  # a process inside the driver may need this long to die
_EXEC_PATIENCE_S = 0.5
_EXIT_POLL_S = 0.02  # only where the kernel has no pidfd


class Watch(Protocol):
    """What the watchdog asks of whoever started the child."""

    def line(self, text: str) -> None:
        """One complete line of the child's standard output."""

    def deadline(self) -> float:
        """The moment (time.monotonic) by which the child must have ended or moved this deadline."""


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    exit_code: int | None  # None when a signal ended it, or when it could not be reaped
    signal: int | None
    hung: bool  # the watchdog killed it
    interrupted: bool  # the run was told to stop
    reaped: bool  # False: not even SIGKILL ended it in time
    wall_s: float
    leftovers: int  # descendants that were still alive and had to be killed
    stuck: tuple[str, ...]  # where its threads slept when it hung
    stderr: str  # the last part of it

    def words(self) -> str:
        """The ending in a few words."""
        if not self.reaped:
            return "could not be killed"
        if self.hung:
            where = f", asleep in {', '.join(self.stuck)}" if self.stuck else ""
            return f"gave no sign by its deadline and was killed{where}"
        if self.interrupted:
            return "was stopped"
        if self.signal is not None:
            return f"died of {signal_name(self.signal)}"
        return f"exited with {self.exit_code}"


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Stopper:
    """Wakes every watchdog at once; used for Ctrl-C, SIGTERM and a lost device."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self.stopped = False

    def stop(self) -> None:
        """Ask all running children to be killed. Safe from any thread and from a signal handler."""
        self.stopped = True
        try:
            self._write.send(b"x")
        except OSError:
            pass

    def fileno(self) -> int:
        """Readable for ever once stopped."""
        return self._read.fileno()

    def close(self) -> None:
        """Give the two sockets back."""
        self._read.close()
        self._write.close()


def marked_processes(token: str) -> tuple[list[int], bool]:
    """Live processes that carry this child's mark, and whether one in the middle of exec could not be told yet."""
    needle = f"{_MARK}={token}".encode()
    found, unsure = [], False
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes()
            if needle in environment.split(b"\0"):
                found.append(int(entry.name))
            elif not environment and os.readlink(Path(entry.path, "exe")):
                unsure = True  # neither a zombie nor a kernel thread: exec has not put the environment in place yet
        except OSError:  # not ours, or already gone
            continue
    return found, unsure


def _kill_tree(pid: int, token: str) -> int:
    """SIGKILL the child's group and every marked descendant; returns how many descendants outlived the group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    stragglers: set[int] = set()
    started = time.monotonic()
    while True:  # one that forks while it is hunted is found in the next round
        marked, unsure = marked_processes(token)
        alive = [p for p in marked if p != pid]
        waited = time.monotonic() - started
        # A process may also have an empty environment for good: exec takes microseconds, so do not wait long for it.
        if waited > _KILL_PATIENCE_S or (not alive and (not unsure or waited > _EXEC_PATIENCE_S)):
            return len(stragglers)
        for straggler in alive:
            stragglers.add(straggler)
            try:
                os.kill(straggler, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def _where_stuck(pid: int) -> tuple[str, ...]:
    places: dict[str, None] = {}
    for thread in Path("/proc", str(pid), "task").glob("*/wchan"):
        try:
            name = thread.read_text().strip()
        except OSError:
            continue
        if name and name != "0":
            places[name] = None
    return tuple(places)[:8]


class _Pipes:
    """The child's two pipes, read without blocking."""

    def __init__(self, process: subprocess.Popen[bytes], watch: Watch) -> None:
        assert process.stdout and process.stderr
        self.out, self.err = process.stdout.fileno(), process.stderr.fileno()
        os.set_blocking(self.out, False)
        os.set_blocking(self.err, False)
        self._watch, self._partial, self._errors = watch, b"", b""

    def read(self, fd: int) -> bool:
        """Take what is there; False at the end of the pipe."""
        while True:
            try:
                data = os.read(fd, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            if fd == self.err:
                self._errors = (self._errors + data)[-_STDERR_KEPT:]
                continue
            *lines, self._partial = (self._partial + data).split(b"\n")
            for line in lines:
                self._watch.line(line.decode("utf-8", "replace"))

    def errors(self) -> str:
        return self._errors.decode("utf-8", "replace").strip()


def run_child(
    argv: Sequence[str], watch: Watch, stopper: Stopper, environment: Mapping[str, str] | None = None
) -> Ending:
    """Start the child, feed its lines to `watch`, and return only when it and all its descendants are gone."""
    token = secrets.token_hex(8)
    env = {**(os.environ if environment is None else environment), _MARK: token}
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
            start_new_session=True, bufsize=0,
        )
    except OSError as error:
        raise SetupImpossible(f"{Path(argv[0]).name} cannot be started: {error.strerror}") from None
    pipes = _Pipes(process, watch)
    hung = interrupted = False
    stuck: tuple[str, ...] = ()
    try:
        outcome = _wait(process, pipes, watch, stopper)
        hung, interrupted = outcome == "hung", outcome == "stopped"
        if hung:
            stuck = _where_stuck(process.pid)
    finally:
        leftovers = _kill_tree(process.pid, token)
        reaped = _reap(process)
        pipes.read(pipes.out)
        pipes.read(pipes.err)
        process.stdout.close()  # type: ignore[union-attr]
        process.stderr.close()  # type: ignore[union-attr]
    code = process.returncode
    return Ending(
        exit_code=code if code is not None and code >= 0 and not hung else None,
        signal=-code if code is not None and code < 0 and not hung else None,
        hung=hung, interrupted=interrupted, reaped=reaped, wall_s=time.monotonic() - started,
        leftovers=leftovers, stuck=stuck, stderr=pipes.errors(),
    )


def _reap(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_KILL_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _wait(process: subprocess.Popen[bytes], pipes: _Pipes, watch: Watch, stopper: Stopper) -> str:
    """Block until the child ends ("ended"), misses its deadline ("hung") or the run stops ("stopped")."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except OSError:
        pidfd = -1
    with selectors.DefaultSelector() as selector:
        for fd in (pipes.out, pipes.err, stopper.fileno(), *((pidfd,) if pidfd >= 0 else ())):
            selector.register(fd, selectors.EVENT_READ)
        try:
            while True:
                left = watch.deadline() - time.monotonic()
                if left <= 0:
                    return "hung"
                ready = {key.fd for key, _ in selector.select(left if pidfd >= 0 else min(left, _EXIT_POLL_S))}
                for fd in ready & {pipes.out, pipes.err}:
                    if not pipes.read(fd):
                        selector.unregister(fd)
                if stopper.stopped:
                    return "stopped"
                if pidfd in ready or (pidfd < 0 and process.poll() is not None):
                    return "ended"
        finally:
            if pidfd >= 0:
                os.close(pidfd)
