"""Every way to end has its exit code: 1 is a verdict or a finding, never an accident; and nothing is shown that moves the cursor."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.pdlkit import entry, outputs, places
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.tests.kit_runs import HANG_S

LIST = [sys.executable, "conformance", "list"]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The command `run`, to be given a behaviour; the test's own streams and signals stay."""
    fake = SimpleNamespace(main=lambda _argv: 0)
    monkeypatch.setattr(entry.importlib, "import_module", lambda _name: fake)  # type: ignore[attr-defined]
    monkeypatch.setattr(outputs, "prepare", lambda: None)
    monkeypatch.setattr(entry, "_end_in_order", lambda: None)
    return fake


@pytest.mark.parametrize(("error", "code", "words"), [
    (OSError(errno.EROFS, os.strerror(errno.EROFS), "/tree/build"), 69, "/tree/build: Read-only file system"),
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 69, "this machine refuses: No space left"),
    (OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)), 69, "this machine refuses"),
    (MemoryError(), 69, "out of memory"),
    (FileNotFoundError(errno.ENOENT, "No such file", "x"), 70, "an error of the kit itself"),
    (KeyError("slip"), 70, "an error of the kit itself"),
    (RecursionError(), 70, "an error of the kit itself"),
    (SystemExit("a text"), 70, ""),
    (SystemExit(1), 1, ""),
    (KeyboardInterrupt(), 130, "interrupted"),
    (BadArguments("file a\nb\x1b[31m is bad"), 64, r"file a\nb\x1b[31m is bad"),
])
def test_no_error_of_the_kit_looks_like_a_verdict(
    error: BaseException, code: int, words: str, command: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_argv: list[str]) -> int:
        raise error

    command.main = fail
    assert entry.main(["run"]) == code
    assert words in capsys.readouterr().err


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command with its streams redirected by a shell."""
    line = f'exec "$@" {redirection}'
    return subprocess.run(["/bin/sh", "-c", line, "sh", sys.executable, "conformance", *arguments], cwd=places.ROOT, capture_output=True,
                          text=True, timeout=HANG_S)


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["list", "--help"]])
def test_output_that_is_lost_is_no_success(redirection: str, arguments: list[str]) -> None:
    done = shell(redirection, *arguments)
    assert done.returncode == 70 and "its output cannot be written" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full", "0<&- 2>&-"])
@pytest.mark.parametrize(("arguments", "code"), [(["list"], 0), (["no-such-command"], 64), (["run", "--seed", "x"], 64)])
def test_messages_that_are_lost_change_nothing(redirection: str, arguments: list[str], code: int) -> None:
    done = shell(redirection, *arguments)
    assert done.returncode == code and bool(done.stdout) == (code == 0)


def test_a_closed_stream_gives_its_number_to_no_file(tmp_path: Path) -> None:
    done = shell("0<&- >&- 2>&-", "run", "--device", "model", "--harness", str(places.KIT / "pdlkit/tests/fake_harness.py"), "--output",
                 str(tmp_path / "out"), "--only", "WAIT-01")
    report, records = (tmp_path / "out/report.json").read_text(), (tmp_path / "out/records.jsonl").read_text()
    assert done.returncode in (2, 70) and report.startswith("{") and all(line.startswith("{") for line in records.splitlines())
    assert (tmp_path / "out/report.html").read_text().startswith("<!doctype html>")


def test_a_verdict_stands_when_its_words_are_lost(command: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "lost", lambda: "No space left on device")
    assert entry.main(["run"]) == 70
    command.main = lambda _argv: 1
    assert entry.main(["run"]) == 1


def test_a_reader_that_has_gone_is_no_verdict() -> None:
    done = subprocess.Popen(LIST, cwd=places.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None and done.stderr is not None
    done.stdout.close()
    assert done.stderr.read() == b"" and done.wait(HANG_S) == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_command_in_order(number: signal.Signals, tmp_path: Path) -> None:
    code = ("import sys, tempfile, time, types; from conformance.pdlkit import entry\n"
            "def main(argv):\n"
            "    with tempfile.TemporaryDirectory(): print('ready', flush=True); time.sleep(3600)\n"
            "entry.importlib.import_module = lambda name: types.SimpleNamespace(main=main)\n"
            "sys.exit(entry.main(['lint']))")
    process = subprocess.Popen([sys.executable, "-c", code], cwd=places.ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 130 and err == "conformance lint: interrupted\n" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"},
                                    {"LC_ALL": "xx_YY.nonsense"}])
def test_no_locale_ends_a_command(locale: dict[str, str]) -> None:
    name = "caf\u00e9\udcff\n\x1b[31m"
    done = subprocess.run([*LIST, name], cwd=places.ROOT, env={**os.environ, **locale}, capture_output=True, timeout=HANG_S)
    assert done.returncode == 64 and b"Traceback" not in done.stderr and b"\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_nothing_that_a_command_makes_can_be_written_by_others(tmp_path: Path) -> None:
    line = 'umask 000; exec "$@"'
    subprocess.run(["/bin/sh", "-c", line, "sh", sys.executable, "conformance", "run", "--device", "model", "--harness",
                    str(places.KIT / "pdlkit/tests/fake_harness.py"), "--output", str(tmp_path / "out"), "--only", "WAIT-01"],
                   cwd=places.ROOT, capture_output=True, timeout=HANG_S)
    made = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert len(made) > 2 and not [path for path in made if path.stat().st_mode & 0o022]


@pytest.mark.parametrize("version", ["(2, 7)", "(3, 6)", "(3, 10)"])
def test_an_older_python_gets_a_sentence(version: str, tmp_path: Path) -> None:
    text = (places.KIT / "__main__.py").read_text().replace("sys.version_info", version)
    (tmp_path / "__main__.py").write_text(text)
    done = subprocess.run([sys.executable, str(tmp_path)], capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 69 and "needs Python 3.11 or newer" in done.stderr and "Traceback" not in done.stderr
    assert "from __future__" not in text and 'f"' not in text  # which an older one could not read


def test_other_pythons_that_are_here_run_it_or_get_a_sentence() -> None:
    names = ["python2", "python2.7", *(f"python3.{minor}" for minor in range(6, 16))]
    found = [path for path in map(shutil.which, names) if path and not subprocess.run([path, "--version"], capture_output=True).returncode]
    for python in [*found, *map(str, Path.home().glob(".pyenv/versions/*/bin/python"))]:
        version = subprocess.run([python, "-c", "import sys; print(sys.version_info[0] * 100 + sys.version_info[1])"], capture_output=True)
        done = subprocess.run([python, "conformance", "list"], cwd=places.ROOT, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == (0 if int(version.stdout) >= 311 else 69), python
        assert "Traceback" not in done.stderr and ("needs Python 3.11" in done.stderr) == (done.returncode == 69)


@pytest.mark.parametrize(("text", "shown"), [
    ("plain name-1.cu", "plain name-1.cu"), ("a\nb\r\t", r"a\nb\r\t"), ("\x1b[31mred\x07", r"\x1b[31mred\x07"), ("\u202eexe", r"\u202eexe"),
    ("\udcff", r"\udcff"), ("caf\u00e9 'quoted' \"twice\"", "caf\u00e9 'quoted' \"twice\""), ("\x9b31m", r"\x9b31m"),
])
def test_names_are_shown_escaped(text: str, shown: str) -> None:
    assert places.escaped(text) == shown
    assert places.in_tree(Path("/elsewhere") / text) == shown
    assert places.shown(Path("/elsewhere") / text) == f"/elsewhere/{shown}"
