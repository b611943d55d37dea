"""Runs one child under a watchdog: in its own session, killed with every descendant, nothing left behind.

Each child runs below a keeper (keeper.py), a process that kills it and all it started when it ends and also when we are killed.
Nothing here polls: the wait ends when the child writes, ends, misses its deadline or the run is interrupted.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.keeper import PATIENCE_S as _KILL_PATIENCE_S
from conformance.pdlkit.keeper import descendants

_KEEPER = "import sys; sys.path.append(sys.argv.pop(1)); import keeper; keeper.main(sys.argv[1:])"  # a script would be compiled each time
_STDERR_KEPT = 8192
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


def _keeper() -> list[str]:
    """Python that keeps a program: isolated from the user's variables, but its bytecode lies where ours does."""
    cached = ["-B"] if sys.dont_write_bytecode else []
    if sys.pycache_prefix:
        cached += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [sys.executable, "-I", "-S", *cached, "-c", _KEEPER, str(Path(__file__).parent)]


class Kept:
    """A process that runs below a keeper (keeper.py): whatever it starts ends with it, and all of it ends with us."""

    def __init__(self, argv: Sequence[str], *, environment: Mapping[str, str] | None = None, cwd: Path | None = None,
                 stdin: int | IO[bytes] | None = subprocess.DEVNULL, stdout: int | IO[bytes] | None = subprocess.PIPE,
                 stderr: int | IO[bytes] | None = subprocess.PIPE) -> None:
        """Start it; SetupImpossible if that fails."""
        name = Path(argv[0]).name
        self._channel, theirs = socket.socketpair()
        command = [*_keeper(), str(os.getpid()), str(theirs.fileno()), "--", *argv]
        try:
            self.process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, start_new_session=True,
                                            bufsize=0, pass_fds=[theirs.fileno()])
        except (OSError, ValueError) as error:
            self._channel.close()
            raise SetupImpossible(f"{name} cannot be started: {getattr(error, 'strerror', None) or error}") from None
        finally:
            theirs.close()
        self.leftovers, self.reaped, self._heard, self._pid = 0, True, b"", 0
        try:
            answer = self._introduce(environment)
        except BaseException:
            self.stop()
            raise
        word, _, number = answer.partition(" ")
        if word == "started" and number.isdigit():
            self._pid = int(number)
        else:
            self.stop()
            code = answer.removeprefix("failed ")
            why = os.strerror(int(code)) if code.isdigit() else "the process that keeps it ended at once"
            raise SetupImpossible(f"{name} cannot be started: {why}")

    def _introduce(self, environment: Mapping[str, str] | None) -> str:
        """Hand over the environment and hear whether the program started."""
        try:
            if environment is not None:
                entries = (os.fsencode(f"{key}={value}") for key, value in environment.items())
                self._channel.sendall(b"\0".join(entries) or b"\0")
            self._channel.shutdown(socket.SHUT_WR)
            answer = b""
            while not answer.endswith(b"\n") and (data := self._channel.recv(64)):
                answer += data
        except OSError:
            return ""
        line, _, self._heard = answer.partition(b"\n")
        return line.decode()

    def ask_to_end(self, number: int = signal.SIGTERM) -> None:
        """Send this signal to the program alone, which may then end in its own way; stop() ends it in any case."""
        if self.process.poll() is None and self._pid in descendants(self.process.pid):
            os.kill(self._pid, number)

    def stop(self) -> None:
        """End it and everything below it; returns when they are gone, or when not even SIGKILL ended them in time."""
        if self.process.poll() is None:
            self.process.terminate()
        self.wait(_KILL_PATIENCE_S + 5.0)

    def wait(self, patience_s: float) -> None:
        """Wait for the end, and hear how it was."""
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.reaped = False
        self._hear()

    def _hear(self) -> None:
        if self._channel.fileno() < 0:
            return
        self._channel.setblocking(False)
        try:
            while data := self._channel.recv(64):
                self._heard += data
        except OSError:
            pass
        self._channel.close()
        words = self._heard.split()
        if len(words) == 3 and words[0] == b"ended":
            self.leftovers, self.reaped = int(words[1]), words[2] == b"1"


def run_tool(argv: Sequence[str], *, timeout: float, stdin: IO[bytes] | None = None, environment: Mapping[str, str] | None = None,
             cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """subprocess.run for a tool, with both outputs taken: the limit holds whatever the tool starts, and the tool ends with us.

    subprocess.TimeoutExpired at the limit; SetupImpossible if the tool cannot be started.
    """
    kept = Kept(argv, stdin=stdin or subprocess.DEVNULL, environment=environment, cwd=cwd)
    with kept.process:
        try:
            out, err = kept.process.communicate(timeout=timeout)
        finally:
            kept.stop()
    return subprocess.CompletedProcess(list(argv), kept.process.returncode, out, err)


def run_shown(argv: Sequence[str], cwd: Path, output: IO[bytes] | None = None) -> int:
    """The exit code of a program that writes to our own outputs, or both of its outputs to this file; it ends with us."""
    kept = Kept(argv, cwd=cwd, stdout=output, stderr=output)
    try:
        return kept.process.wait()
    finally:
        kept.stop()


def run_silent(argv: Sequence[str], limit: float | None, patience: float = 0.0) -> int | None:
    """The exit code of a program whose outputs nobody reads. At the limit it is asked to end, and has this patience to do so; None if
    it had to be ended."""
    kept = Kept(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return kept.process.wait(limit)
    except subprocess.TimeoutExpired:
        if patience:
            kept.ask_to_end()
            with suppress(subprocess.TimeoutExpired):
                return kept.process.wait(patience)
        return None
    finally:
        kept.stop()


def _where_stuck(pid: int) -> tuple[str, ...]:
    """Where the threads of everything below this process sleep."""
    places: dict[str, None] = {}
    for child in descendants(pid):
        for thread in Path("/proc", str(child), "task").glob("*/wchan"):
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


class HeldChild:
    """A child that was started early, reads its standard input before it begins, and waits there for a line."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start it; SetupImpossible if that fails."""
        self._kept = Kept(argv, environment=environment, stdin=subprocess.PIPE)
        self._begun: bool | None = None  # False: it had ended before

    def begin(self) -> None:
        """Let it begin, unless it has ended already. What ends later has begun."""
        stdin = self._kept.process.stdin
        if self._begun is not None:
            return
        assert stdin
        self._begun = self._kept.process.poll() is None
        try:
            with stdin:
                stdin.write(b"\n")
        except OSError:
            self._begun = False

    def release(self) -> Kept | None:
        """Let it begin, if it has not, and give it away; None if it had ended before."""
        self.begin()
        if self._begun:
            return self._kept
        self.drop()
        return None

    def drop(self) -> None:
        """End it, whether it has begun or not."""
        self._kept.stop()
        for pipe in (self._kept.process.stdin, self._kept.process.stdout, self._kept.process.stderr):
            assert pipe
            pipe.close()


def run_child(
    argv: Sequence[str], watch: Watch, stopper: Stopper, environment: Mapping[str, str] | None = None, kept: Kept | None = None
) -> Ending:
    """Start the child, feed its lines to `watch`, and return only when it and all its descendants are gone.

    kept: the child, where it runs already; else it is started."""
    started = time.monotonic()
    kept = kept or Kept(argv, environment=environment)
    process = kept.process
    pipes = _Pipes(process, watch)
    hung = interrupted = False
    stuck: tuple[str, ...] = ()
    try:
        outcome = _wait(process, pipes, watch, stopper)
        hung, interrupted = outcome == "hung", outcome == "stopped"
        if hung:
            stuck = _where_stuck(process.pid)
    finally:
        kept.stop()
        pipes.read(pipes.out)
        pipes.read(pipes.err)
        process.stdout.close()  # type: ignore[union-attr]
        process.stderr.close()  # type: ignore[union-attr]
    code = process.returncode
    return Ending(
        exit_code=code if code is not None and code >= 0 and not hung else None,
        signal=-code if code is not None and code < 0 and not hung else None,
        hung=hung, interrupted=interrupted, reaped=kept.reaped, wall_s=time.monotonic() - started,
        leftovers=kept.leftovers, stuck=stuck, stderr=pipes.errors(),
    )


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
