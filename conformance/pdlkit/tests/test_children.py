"""The watchdog: whatever a child does, it ends in time, is told apart, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from conformance.pdlkit import children
from conformance.pdlkit.children import Ending, Stopper, run_child

LIMIT_S = 1.0
SOON_S = 8.0  # far above what any of these needs, far below what a child would take by itself


class Watch:
    def __init__(self, limit_s: float = LIMIT_S, extend: bool = False) -> None:
        self.lines: list[str] = []
        self._limit, self._extend = limit_s, extend
        self._deadline = time.monotonic() + limit_s

    def line(self, text: str) -> None:
        self.lines.append(text)
        if self._extend:
            self._deadline = time.monotonic() + self._limit

    def deadline(self) -> float:
        return self._deadline


def run(source: str, watch: Watch | None = None, stopper: Stopper | None = None) -> tuple[Ending, list[str]]:
    watch, own = watch or Watch(), stopper or Stopper()
    begin = time.monotonic()
    try:
        ending = run_child([sys.executable, "-c", textwrap.dedent(source)], watch, own)
    finally:
        if stopper is None:
            own.close()
    assert time.monotonic() - begin < SOON_S
    return ending, watch.lines


def alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_good_child_is_heard_to_the_last_line() -> None:
    ending, lines = run("for i in range(20000): print(i)\nimport sys; print('done', end='')", Watch(5))
    assert lines == [str(i) for i in range(20000)]  # a last line without its end is not a line
    assert ending.exit_code == 0 and not ending.hung and ending.leftovers == 0 and ending.reaped


@pytest.mark.parametrize("code", [1, 70, 77, 255])
def test_the_exit_code_is_kept(code: int) -> None:
    ending, _ = run(f"import sys; print('bye', file=sys.stderr); sys.exit({code})")
    assert (ending.exit_code, ending.signal, ending.stderr) == (code, None, "bye")
    assert str(code) in ending.words()


def test_a_crash_names_its_signal() -> None:
    ending, _ = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert ending.signal == signal.SIGSEGV and ending.exit_code is None and not ending.hung
    assert "SIGSEGV" in ending.words()


IGNORES = "import signal, time, os\nfor s in (15, 2, 1): signal.signal(s, signal.SIG_IGN)\n"


def test_a_hang_that_ignores_signals_is_killed() -> None:
    ending, lines = run(IGNORES + "print(os.getpid(), flush=True)\nwhile True: time.sleep(100)")
    assert ending.hung and ending.exit_code is None and ending.signal is None and ending.reaped
    assert LIMIT_S <= ending.wall_s < LIMIT_S + 2
    assert not alive(int(lines[0]))


def test_a_busy_hang_is_killed() -> None:
    ending, _ = run("while True: pass")
    assert ending.hung


def test_a_hang_that_floods_its_pipes_is_killed() -> None:
    ending, lines = run("import sys\nwhile True: print('x' * 100); print('y' * 100, file=sys.stderr)")
    assert ending.hung and lines and len(ending.stderr) <= 8192


def test_signs_of_life_move_the_deadline() -> None:
    ending, lines = run("import time\nfor i in range(5): print(i, flush=True); time.sleep(0.2)", Watch(0.6, extend=True))
    assert not ending.hung and len(lines) == 5


GRANDCHILD = """
    import subprocess, sys, time
    code = "import signal,time,os\\nsignal.signal(15, signal.SIG_IGN)\\ntime.sleep(300)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session={session})
    print(child.pid, flush=True)
    {then}
"""


@pytest.mark.parametrize("session", [False, True], ids=["same session", "own session"])
@pytest.mark.parametrize("then", ["time.sleep(300)", "sys.exit(0)"], ids=["hangs", "ends"])
def test_no_grandchild_survives(session: bool, then: str) -> None:
    ending, lines = run(GRANDCHILD.format(session=session, then=then))
    assert ending.hung == (then == "time.sleep(300)")
    assert not alive(int(lines[0]))
    assert session is False or ending.leftovers >= 1


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hold_the_run() -> None:
    begin = time.monotonic()
    run(GRANDCHILD.format(session=True, then="sys.exit(0)"), Watch(6))
    assert time.monotonic() - begin < 4


def test_a_double_forked_daemon_does_not_survive() -> None:
    _, lines = run("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                print(os.getpid(), flush=True)
                time.sleep(300)
            os._exit(0)
        time.sleep(0.3)
    """)
    assert not alive(int(lines[0]))


def test_a_grandchild_seen_in_the_middle_of_exec_does_not_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    look, looks = children.marked_processes, 0

    def too_early(token: str) -> tuple[list[int], bool]:
        nonlocal looks
        looks += 1
        return ([], True) if looks == 1 else look(token)

    monkeypatch.setattr(children, "marked_processes", too_early)
    ending, lines = run("""
        import subprocess
        print(subprocess.Popen(["sleep", "300"], start_new_session=True, stdout=2).pid, flush=True)
    """, Watch(5))
    assert looks > 1 and ending.leftovers == 1
    assert not alive(int(lines[0]))


def test_a_process_without_environment_is_told_from_one_in_exec() -> None:
    running = subprocess.Popen(["sleep", "300"], env={})
    try:
        while b"sleep" not in Path("/proc", str(running.pid), "cmdline").read_bytes():
            time.sleep(0.001)
        assert children.marked_processes("no such token") == ([], True)
    finally:
        running.kill()
        running.wait()


def test_stop_ends_a_child_at_once() -> None:
    stopper = Stopper()
    threading.Timer(0.3, stopper.stop).start()
    ending, _ = run("import time; time.sleep(300)", Watch(60), stopper)
    stopper.close()
    assert ending.interrupted and not ending.hung and ending.wall_s < 3


def test_without_pidfd_the_end_is_still_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> int:
        raise OSError("no such call")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    ending, _ = run("print('x')", Watch(5))
    assert ending.exit_code == 0 and ending.wall_s < 3


def test_bytes_that_are_no_text_do_not_stop_the_reader() -> None:
    ending, lines = run(r"import os; os.write(1, b'\xff\xfe\n{}\n')")
    assert ending.exit_code == 0 and lines[1] == "{}"
