"""The watchdog: whatever a child does, it ends in time, is told apart, and leaves nothing behind.

Limits begin when a child has said its first line, because a loaded machine may take long to start it. Every child here would
sleep for an hour if it were left alone, so that HANG_S is a limit against hangs and no more.
"""

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

from conformance.pdlkit import children, keeper
from conformance.pdlkit.children import Ending, HeldChild, Kept, Stopper, run_child, run_silent, run_tool
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.keeper import descendants
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.tests.processes import alive

LIMIT_S = 0.5
HANG_S = 600.0


class Watch:
    """A limit from the first line on; `extend`: from each line on."""

    def __init__(self, limit_s: float = LIMIT_S, extend: bool = False) -> None:
        self.lines: list[str] = []
        self._limit, self._extend = limit_s, extend
        self._deadline = time.monotonic() + HANG_S

    def line(self, text: str) -> None:
        if not self.lines or self._extend:
            self._deadline = time.monotonic() + self._limit
        self.lines.append(text)

    def deadline(self) -> float:
        return self._deadline


def run(source: str, watch: Watch | None = None, stopper: Stopper | None = None) -> tuple[Ending, list[str]]:
    watch, own = watch or Watch(), stopper or Stopper()
    try:
        ending = run_child([sys.executable, "-c", textwrap.dedent(source)], watch, own)
    finally:
        if stopper is None:
            own.close()
    assert ending.wall_s < HANG_S
    return ending, watch.lines


def wait_until_gone(pids: list[int]) -> None:
    until = time.monotonic() + HANG_S
    while any(map(alive, pids)):
        assert time.monotonic() < until, "it survived"
        time.sleep(0.01)


def test_a_good_child_is_heard_to_the_last_line() -> None:
    ending, lines = run("for i in range(20000): print(i)\nimport sys; print('done', end='')", Watch(HANG_S))
    assert lines == [str(i) for i in range(20000)]  # a last line without its end is not a line
    assert ending.exit_code == 0 and not ending.hung and ending.leftovers == 0 and ending.reaped


def test_what_a_child_says_on_its_error_stream_is_no_record() -> None:
    ending, lines = run("""
        import sys
        print('of it', file=sys.stderr, flush=True)
        print('a record', flush=True)
        print('more', file=sys.stderr)""")
    assert lines == ["a record"] and ending.stderr == "of it\nmore"


@pytest.mark.parametrize("code", [1, 70, 77, 127, 255])
def test_the_exit_code_is_kept(code: int) -> None:
    ending, _ = run(f"import sys; print('bye', file=sys.stderr); sys.exit({code})")
    assert (ending.exit_code, ending.signal, ending.stderr) == (code, None, "bye")
    assert str(code) in ending.words()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_crash_names_its_signal(number: signal.Signals) -> None:
    ending, _ = run(f"import os; os.kill(os.getpid(), {int(number)})")
    assert ending.signal == number and ending.exit_code is None and not ending.hung
    assert number.name in ending.words()


@pytest.mark.parametrize("environment", [None, {"x": "y" * 10**6}])
def test_a_keeper_that_ends_at_once_is_told(environment: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more to hand over than the channel holds, that breaks, too."""
    monkeypatch.setattr(children, "_keeper", lambda: [sys.executable, "-c", ""])
    with pytest.raises(SetupImpossible, match="odd cannot be started: the process that keeps it ended at once"):
        Kept(["odd"], environment=environment)


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    for name, why in (("absent", "No such file"), ("plain", "Permission denied")):
        with pytest.raises(SetupImpossible, match=f"{name} cannot be started: {why}"):
            run_child([str(tmp_path / name)], Watch(), Stopper())


def test_the_child_gets_its_environment_and_no_descriptor_of_ours(tmp_path: Path) -> None:
    watch, stopper = Watch(HANG_S), Stopper()
    with open(tmp_path / "open", "w"):
        code = "import os, signal; print(sorted(os.environ)); print(os.listdir('/proc/self/fd'));" \
               "print(signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, os.getpid() == os.getsid(0))"
        run_child([sys.executable, "-E", "-S", "-c", code], watch, stopper, {"ONLY": "x=y\n", "LC_CTYPE": "C"})
    names, descriptors, session = watch.lines
    assert names == "['LC_CTYPE', 'ONLY']" and set(eval(descriptors)) == {"0", "1", "2", "3"} and session == "True True"


IGNORES = "import signal, time, os\nfor s in (15, 2, 1): signal.signal(s, signal.SIG_IGN)\n"


def test_a_hang_that_ignores_signals_is_killed() -> None:
    ending, lines = run(IGNORES + "print(os.getpid(), flush=True)\nwhile True: time.sleep(100)")
    assert ending.hung and ending.exit_code is None and ending.signal is None and ending.reaped
    assert ending.wall_s >= LIMIT_S
    assert not alive(int(lines[0]))


KEEPER = """import os, sys
channel, said = int(sys.argv[sys.argv.index("--") - 1]), {said!r}
os.write(channel, b"started 1\\n" + said)
"""


@pytest.mark.parametrize(("said", "leftovers", "reaped"), [
    (b"ended 0 1\n", 0, True), (b"ended 3 1\n", 3, True), (b"ended 0 0\n", 0, False), (b"ended 2 0\n", 2, False),
])
def test_what_the_keeper_says_of_the_end_is_kept(said: bytes, leftovers: int, reaped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_keeper", lambda: [sys.executable, "-c", KEEPER.format(said=said)])
    ending = run_child(["program"], Watch(HANG_S), Stopper())
    assert (ending.leftovers, ending.reaped) == (leftovers, reaped) and (ending.words() == "could not be killed") != reaped


@pytest.mark.parametrize(("left", "found"), [
    ([{}], (0, True)), ([{7: "Z"}], (0, True)), ([{7: "S"}, {}], (0, True)), ([{7: "S", 8: "R"}, {8: "R"}, {}], (1, True)),
    ([{7: "D"}] * 3, (0, False)), ([{7: "D", 8: "D", 9: "X"}] * 3, (1, False)), ([{8: "S"}, {9: "D"}, {9: "D"}], (2, False)),
])
def test_what_no_signal_ends_is_told(left: list[dict[int, str]], found: tuple[int, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc has it, time by time, until the patience is over; 7 is the program itself."""
    kept, killed, now = object.__new__(keeper.Keeper), list[int](), iter([0.0] * len(left) + [keeper.PATIENCE_S + 1.0] * 2)
    times = iter(left)
    kept.child = 7
    monkeypatch.setattr(kept, "reap", lambda: True)
    monkeypatch.setattr(keeper, "descendants", lambda root: next(times))
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert kept.kill_all() == found
    assert killed == [pid for states in left for pid, state in states.items() if state not in "ZX"]


def test_a_busy_hang_is_killed() -> None:
    ending, _ = run("print(1, flush=True)\nwhile True: pass")
    assert ending.hung


def test_a_hang_that_floods_its_pipes_is_killed() -> None:
    ending, lines = run("import sys\nwhile True: print('x' * 100); print('y' * 100, file=sys.stderr)")
    assert ending.hung and lines and len(ending.stderr) <= 8192


def test_the_last_words_of_a_child_are_kept() -> None:
    ending, _ = run("import sys; print('warning\\n' * 4000 + 'the reason', file=sys.stderr); sys.exit(3)")
    assert ending.exit_code == 3 and ending.stderr.endswith("warning\nthe reason")


def test_signs_of_life_move_the_deadline() -> None:
    ending, lines = run("import time\nfor i in range(6): print(i, flush=True); time.sleep(0.6)", Watch(3, extend=True))
    assert not ending.hung and len(lines) == 6 and ending.wall_s > 3


GRANDCHILD = """
    import subprocess, sys, time
    code = "import signal,time,os\\nsignal.signal(15, signal.SIG_IGN)\\ntime.sleep(3600)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session={session}, env={env})
    print(child.pid, flush=True)
    {then}
"""


@pytest.mark.parametrize("env", ["None", "{}"], ids=["its environment", "an empty environment"])
@pytest.mark.parametrize("session", [False, True], ids=["same session", "own session"])
@pytest.mark.parametrize("then", ["time.sleep(3600)", "sys.exit(0)"], ids=["hangs", "ends"])
def test_no_grandchild_survives(session: bool, then: str, env: str) -> None:
    ending, lines = run(GRANDCHILD.format(session=session, then=then, env=env), Watch(LIMIT_S if "3600" in then else HANG_S))
    assert ending.hung == (then == "time.sleep(3600)")
    assert not alive(int(lines[0])) and ending.leftovers >= 1


def test_a_double_forked_daemon_does_not_survive() -> None:
    _, lines = run("""
        import os, time
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                print(os.getpid(), flush=True)
                os.environ.clear()
                os.close(write)
                os.execvpe("sleep", ["sleep", "3600"], {})
            os._exit(0)
        os.close(write)
        os.read(read, 1)
    """, Watch(HANG_S))
    assert not alive(int(lines[0]))


def test_one_that_forks_faster_than_it_is_hunted_does_not_survive() -> None:
    _, lines = run("""
        import os, sys, time
        print(os.getpid(), flush=True)
        while True:
            if os.fork():
                time.sleep(0.02)
                os._exit(0)
            os.setsid()
            print(os.getpid(), flush=True)
    """)
    wait_until_gone([int(line) for line in lines])


OWNER = """
    import sys
    from conformance.pdlkit.children import Stopper, run_child
    from conformance.pdlkit.tests.test_children import Watch
    class Loud(Watch):
        def line(self, text):
            print(text, flush=True)
    run_child([sys.executable, "-c", sys.argv[1]], Loud(), Stopper())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV])
def test_nothing_survives_the_death_of_the_one_who_asked(number: signal.Signals) -> None:
    code = textwrap.dedent(GRANDCHILD.format(session=True, then="import os; print(os.getpid(), flush=True); time.sleep(3600)", env="{}"))
    owner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(OWNER), code], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.DEVNULL)
    assert owner.stdout is not None
    pids = [int(owner.stdout.readline()) for _ in range(2)]
    owner.send_signal(number)
    owner.wait()
    wait_until_gone(pids)


def test_stop_ends_a_child_at_once() -> None:
    stopper = Stopper()

    class StopAtFirstLine(Watch):
        def line(self, text: str) -> None:
            super().line(text)
            stopper.stop()

    ending, _ = run("import time; print(1, flush=True); time.sleep(3600)", StopAtFirstLine(HANG_S), stopper)
    stopper.close()
    assert ending.interrupted and not ending.hung


def test_a_stop_from_another_thread_is_heard() -> None:
    stopper = Stopper()
    threading.Timer(0.1, stopper.stop).start()
    ending, _ = run("import time; time.sleep(3600)", Watch(), stopper)
    stopper.close()
    assert ending.interrupted and not ending.hung


def test_without_pidfd_the_end_is_still_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> int:
        raise OSError("no such call")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    ending, _ = run("print('x')", Watch(HANG_S))
    assert ending.exit_code == 0


def test_bytes_that_are_no_text_do_not_stop_the_reader() -> None:
    ending, lines = run(r"import os; os.write(1, b'\xff\xfe\n{}\n')", Watch(HANG_S))
    assert ending.exit_code == 0 and lines[1] == "{}"


# tools -----------------------------------------------------------------------------------------------------------------


def test_a_tool_is_heard_whole(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 300000)
    with open(tmp_path / "in", "rb") as stdin:
        done = run_tool([sys.executable, "-c", "import sys; d = sys.stdin.read(); print(len(d)); print(d, file=sys.stderr); exit(3)"],
                        timeout=HANG_S, stdin=stdin, cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr)) == (3, b"300000\n", 300001)


@pytest.mark.parametrize("then", ["time.sleep(3600)", "sys.exit(0)"], ids=["hangs", "ends"])
def test_the_limit_of_a_tool_holds_whatever_holds_its_pipes(then: str) -> None:
    code = textwrap.dedent(GRANDCHILD.format(session=True, then=then, env="{}"))
    began = time.monotonic()
    if "3600" in then:
        with pytest.raises(subprocess.TimeoutExpired):
            run_tool([sys.executable, "-c", code], timeout=2.0)  # this limit is tested
    else:
        pid = int(run_tool([sys.executable, "-c", code], timeout=HANG_S).stdout)
        assert not alive(pid)
    assert time.monotonic() - began < HANG_S


def test_a_killed_keeper_takes_its_program_along() -> None:
    kept = Kept(["sleep", "3600"])
    program = next(iter(descendants(kept.process.pid)))
    kept.process.kill()
    kept.wait(HANG_S)
    wait_until_gone([program])


def test_a_silent_program_ends_at_its_limit_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"{IGNORES}pid = os.fork()\nif pid == 0: os.setsid(); time.sleep(3600)\n" \
           f"with open({str(note)!r}, 'w') as file: file.write(str(pid))\ntime.sleep(3600)"
    assert run_silent([sys.executable, "-c", "raise SystemExit(7)"], None) == 7
    for limit in (5.0, 30.0, HANG_S / 2):  # a loaded machine may take long to start it
        if run_silent([sys.executable, "-c", code], limit) is None and note.is_file():
            break
    wait_until_gone([int(note.read_text())])


def test_a_silent_program_may_end_in_its_own_way(tmp_path: Path) -> None:
    ready, last = tmp_path / "ready", tmp_path / "last"
    code = f"import pathlib, signal, sys, time\ndef end(*_): pathlib.Path({str(last)!r}).touch(); sys.exit(7)\n" \
           f"signal.signal(signal.SIGTERM, end)\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(3600)"
    for limit in (5.0, 30.0, HANG_S / 2):
        code_at_end = run_silent([sys.executable, "-c", code], limit, HANG_S)
        if ready.is_file():
            break
    assert last.is_file() and code_at_end == 7, "it was ended without being asked"


WAITING = "import sys; sys.stdin.readline(); print('begun', flush=True)"


def test_a_held_child_begins_when_it_is_released() -> None:
    watch, stopper = Watch(HANG_S), Stopper()
    kept = HeldChild([sys.executable, "-c", WAITING]).release()
    assert kept is not None
    end = run_child(["never started"], watch, stopper, kept=kept)
    stopper.close()
    assert end.exit_code == 0 and watch.lines == ["begun"]


def test_a_held_child_may_begin_before_it_is_released() -> None:
    watch, stopper = Watch(HANG_S), Stopper()
    held = HeldChild([sys.executable, "-c", WAITING])
    held.begin()
    held._kept.process.wait()  # it needs no more than that
    kept = held.release()
    assert kept is not None
    end = run_child(["never started"], watch, stopper, kept=kept)
    stopper.close()
    assert end.exit_code == 0 and watch.lines == ["begun"]


def test_a_held_child_has_begun_however_soon_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it may end before we run again."""
    held, watch, stopper = HeldChild([sys.executable, "-c", WAITING]), Watch(HANG_S), Stopper()
    monkeypatch.setattr(held._kept.process, "stdin", _Late(held._kept.process))
    kept = held.release()
    assert kept is not None
    end = run_child(["never started"], watch, stopper, kept=kept)
    stopper.close()
    assert end.exit_code == 0 and watch.lines == ["begun"]


class _Late:
    """A pipe whose writer comes back when the reader has ended."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._pipe = process, process.stdin

    def __enter__(self) -> _Late:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()  # type: ignore[union-attr]
        self._process.wait()

    def write(self, data: bytes) -> None:
        self._pipe.write(data)  # type: ignore[union-attr]


def test_a_held_child_that_ended_is_not_released() -> None:
    held = HeldChild([sys.executable, "-c", "raise SystemExit(69)"])
    process = held._kept.process
    process.wait()
    assert held.release() is None and process.stdout and process.stdout.closed and process.stderr and process.stderr.closed


def test_a_held_child_that_is_dropped_never_begins(tmp_path: Path) -> None:
    mark = tmp_path / "begun"
    held = HeldChild([sys.executable, "-c", f"import sys, pathlib; sys.stdin.readline(); pathlib.Path({str(mark)!r}).touch()"])
    held.drop()
    assert not mark.exists() and held._kept.process.returncode is not None
