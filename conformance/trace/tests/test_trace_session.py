"""The program under trace: it ends with the command, and so does all that it started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.tests.processes import alive
from conformance.trace import session
from conformance.trace.cupti import VARIABLE

HANG_S = 600.0
# It starts a process in another session that ignores the usual signals, and writes down its id.
PROGRAM = """import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setsid()
    time.sleep(3600)
with open(sys.argv[1] + ".draft", "w") as file: file.write(str(pid))
os.rename(sys.argv[1] + ".draft", sys.argv[1])
time.sleep(float(sys.argv[2]))
"""


def command(note: Path, seconds: float) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(note), str(seconds)]


def wait_until_gone(note: Path) -> None:
    pid, until = int(note.read_text()), time.monotonic() + HANG_S
    while alive(pid):
        assert time.monotonic() < until, "it survived"
        time.sleep(0.01)


def test_what_outlives_the_program_is_ended(tmp_path: Path) -> None:
    assert session.run(command(tmp_path / "note", 0), tmp_path / "run", dict(os.environ), True, None).code == 0
    wait_until_gone(tmp_path / "note")


def test_the_limit_holds_for_all_of_it(tmp_path: Path) -> None:
    for limit in (5.0, 60.0, HANG_S):  # a loaded machine may take long to start it
        ran = session.run(command(tmp_path / "note", 3600), tmp_path / "run", dict(os.environ), True, limit)
        assert ran.code is None
        if (tmp_path / "note").is_file():
            break
    wait_until_gone(tmp_path / "note")


def test_it_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    code = "import os, sys; from pathlib import Path; from conformance.trace import session;" \
           "session.run(sys.argv[2:], Path(sys.argv[1]), dict(os.environ), True, None)"
    owner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "run"), *command(note, 3600)], cwd=ROOT)
    until = time.monotonic() + HANG_S
    while not note.is_file():
        assert time.monotonic() < until and owner.poll() is None
        time.sleep(0.01)
    owner.kill()
    owner.wait()
    wait_until_gone(note)


def test_the_program_reads_our_input_and_tells_its_exit_code(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from conformance.trace import session;" \
           "sys.exit(session.run(sys.argv[2:], Path(sys.argv[1]), dict(os.environ), False, None).code)"
    cat = [sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.exit(9)"]
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run"), *cat], cwd=ROOT, input="said", capture_output=True, text=True)
    assert done.returncode == 9 and done.stdout == "said\n"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="absent cannot be started: No such file"):
        session.run([str(tmp_path / "absent")], tmp_path / "run", {}, True, None)


@pytest.mark.parametrize(("cupti", "rank", "before"), [(None, None, None), (Path("/c/libcupti.so"), "3", "/x/other.so")])
def test_what_the_library_is_told(cupti: Path | None, rank: str | None, before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "PDL_TRACE_RANK", "NVTX_INJECTION64_PATH"):
        monkeypatch.delenv(name, raising=False)
    if before:
        monkeypatch.setenv("LD_PRELOAD", before)
    found = session.environment(Path("/f"), cupti, rank, 4, Path("/l.so"))
    told = {name: value for name, value in found.items() if value != os.environ.get(name)}
    assert told == {"LD_PRELOAD": f"/l.so:{before}" if before else "/l.so", "PDL_TRACE_FOLDER": "/f",
                    "PDL_TRACE_TIMES": "1" if cupti else "0", "PDL_TRACE_SAMPLE": "4", "NVTX_INJECTION64_PATH": "/l.so",
                    **({"PDL_TRACE_RANK": rank} if rank else {}),
                    **({VARIABLE: str(cupti)} if cupti else {})}
