"""Runs one program, and leaves no process of it behind: not when it ends, and not when whoever asked for it dies.

    main([OWNER, CHANNEL, "--", PROGRAM, ARGUMENT...])

Started by children.py as a process of its own, because only another process can act when its owner is killed. A session starts
hundreds of them, so it imports nothing that takes long. It is the reaper
of everything that the program starts, so that a process that left its session or its parent is still found below it. Through the
channel, a socket, it reads the program's environment (as /proc/PID/environ has it; nothing: its own), and answers `started PID` or
`failed ERRNO`, and at the end `ended LEFTOVERS REAPED`. It ends as the program ended, and on SIGTERM it kills the program.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    try:
        import _signal as signal  # the same functions without the enumerations, which take longer than all else here
    except ImportError:
        import signal

PATIENCE_S = 30.0  # a process inside the driver may need this long to die
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_OWNER_POLL_S = 0.25  # only where the kernel has no pidfd


def _prctl(option: int, value: int) -> None:
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # then what leaves the program's session is not found; a Python without ctypes is a rare thing


def descendants(root: int) -> dict[int, str]:
    """Every process below this one and its state; zombies too."""
    children: dict[int, list[int]] = {}
    state: dict[int, str] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:  # already gone
            continue
        if len(fields) > 1:
            children.setdefault(int(fields[1]), []).append(int(name))
            state[int(name)] = fields[0].decode()
    found: dict[int, str] = {}
    waiting = list(children.get(root, []))
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found[pid] = state[pid]
            waiting += children.get(pid, [])
    return found


def _spawn(command: list[str], environment: dict[bytes, bytes] | None, mask: set[int | signal.Signals]) -> tuple[int, int]:
    """Start the program in a session of its own: (pid, 0), or (0, errno) if it cannot be started."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        answer = os.read(read, 16)
        os.close(read)
        if not answer:
            return pid, 0
        os.waitpid(pid, 0)
        return 0, int(answer)
    try:
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)  # in case the keeper itself is killed
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, *STOPS):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if environment is None:
            os.execvp(command[0], command)
        os.execvpe(os.fsencode(command[0]), [os.fsencode(part) for part in command], environment)
    except OSError as error:
        os.write(write, str(error.errno).encode())
    except BaseException:
        os.write(write, b"22")  # EINVAL: a name with a zero byte, for one
    os._exit(127)


class Keeper:
    """The program and everything below it."""

    def __init__(self, child: int, owner: int) -> None:
        self.child, self.status = child, None  # type: int, int | None
        self._owner = owner
        self._wake, write = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(write, False)
        self.stopped = False
        signal.set_wakeup_fd(write)
        for number in STOPS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def _stop(self, _number: int, _frame: object) -> None:
        self.stopped = True

    def reap(self) -> bool:
        """Take the status of all that ended; False if nothing is left to wait for."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child:
                self.status = status

    def wait(self) -> None:
        """Return when the program has ended, the owner is gone, or a signal says so."""
        try:
            pidfd = os.pidfd_open(self._owner)
        except OSError:
            pidfd = -1
        watched = [self._wake, *([pidfd] if pidfd >= 0 else [])]
        while True:
            self.reap()
            if self.status is not None or self.stopped or os.getppid() != self._owner:
                return
            ready = select.select(watched, [], [], None if pidfd >= 0 else _OWNER_POLL_S)[0]
            if self._wake in ready:
                try:
                    os.read(self._wake, 4096)
                except BlockingIOError:
                    pass
            if pidfd in ready:
                return

    def kill_all(self) -> tuple[int, bool]:
        """End everything below; (how many had outlived the program, whether all of them are gone)."""
        if not self.reap():
            return 0, True  # it has no child, and nothing else can be below a reaper
        met: set[int] = set()
        until = time.monotonic() + PATIENCE_S
        while True:
            alive = [pid for pid, state in descendants(os.getpid()).items() if state not in "ZX"]
            met.update(alive)
            for pid in alive:  # one that forks while it is hunted is found in the next round
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
            if not self.reap() or not alive:
                return len(met - {self.child}), True
            if time.monotonic() > until:
                return len(met - {self.child}), False
            time.sleep(0.005)


def _environment(channel: int) -> dict[bytes, bytes] | None:
    data = b"".join(iter(lambda: os.read(channel, 1 << 16), b""))
    if not data:
        return None
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}


def _end_as(status: int | None) -> None:
    """End the way the program did, for whoever waits for this process."""
    if status is not None and os.WIFSIGNALED(status):
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program's own is enough
        except (ImportError, OSError, ValueError):
            pass
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else 0)


def main(argv: list[str]) -> None:
    """Keep the program of this command line."""
    owner, channel, command = int(argv[0]), int(argv[1]), argv[3:]
    os.set_inheritable(channel, False)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    environment = _environment(channel)
    child, error = _spawn(command, environment, mask) if os.getppid() == owner else (0, 3)
    if child == 0:
        os.write(channel, b"failed %d\n" % error)
        os._exit(127)
    keeper = Keeper(child, owner)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask - set(STOPS))
    _say(channel, b"started %d\n" % child)
    keeper.wait()
    leftovers, reaped = keeper.kill_all()
    _say(channel, b"ended %d %d\n" % (leftovers, reaped))
    _end_as(keeper.status)


def _say(channel: int, words: bytes) -> None:
    try:
        os.write(channel, words)
    except OSError:
        pass  # nobody listens any more
