"""Packages that a command fetches: pinned by hash with all they need, said before, and never left half-made."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.pdlkit import private_folder, venv
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import ROOT

NAMES = sorted(path.stem for path in (ROOT / "conformance/pdlkit/requirements").glob("*.in"))


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What installs: made once for all these tests, as for all venvs of a user. Its bytecode lies beside it, wherever ours does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPYCACHEPREFIX", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield venv.pip_python()


@pytest.fixture
def package(pip: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of requirements and one of wheels, with a package `answer` of version 1; no network, nothing fetched yet."""
    wheels, needed = tmp_path / "wheels", tmp_path / "requirements"
    wheels.mkdir()
    needed.mkdir()
    (needed / "test.in").write_text("answer==1.0\n")
    (needed / "test.txt").write_text(f"answer==1.0 \\\n    --hash=sha256:{make_wheel(wheels, 42)}\n")
    monkeypatch.setattr(venv, "_REQUIREMENTS", needed)
    monkeypatch.setattr(private_folder, "BUILD", tmp_path / "build")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(venv.WHEELS_VARIABLE, str(wheels))
    monkeypatch.setattr(venv, "pip_python", lambda: pip)
    tmp_path.chmod(0o700)
    return tmp_path


def make_wheel(folder: Path, answer: int) -> str:
    """Write the wheel; its hash."""
    path = folder / "answer-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("answer.py", f"ANSWER = {answer}\ndef main(): return ANSWER\n")
        file.writestr("answer-1.0.dist-info/entry_points.txt", "[console_scripts]\nanswer = answer:main\n")
        file.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
        file.writestr("answer-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("answer-1.0.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kept(package: Path) -> list[str]:
    return sorted(path.name for path in (package / "cache/pdl-conformance/fetched").iterdir() if path.name != ".lock")


@pytest.mark.parametrize("name", NAMES)
def test_every_package_is_pinned_by_hash(name: str) -> None:
    text = re.sub(r"^\s*#.*\n|\\\n", "", venv.requirements(name).read_text(), flags=re.MULTILINE)
    entries = [line for line in text.splitlines() if line.strip()]
    assert entries and all(re.match(r"\S+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert {pin for pin in venv.pins(name)} <= {entry.split()[0] for entry in entries}


def test_a_package_is_fetched_once_said_before_and_closed_to_others_whatever_the_umask(package: Path,
                                                                                       capsys: pytest.CaptureFixture[str]) -> None:
    old = os.umask(0)
    try:
        python = venv.ensure_venv("test")
    finally:
        os.umask(old)
    assert python.parents[1].stat().st_mode & 0o077 == 0
    said = capsys.readouterr().err
    assert "fetching from the folder in PDL_WHEELS" in said and "answer==1.0" in said and str(package) not in said
    assert subprocess.run([python, "-c", "import answer; exit(answer.ANSWER)"]).returncode == 42
    assert subprocess.run([python.with_name("answer")]).returncode == 42, "a program of the package names an interpreter that is not there"
    assert venv.ensure_venv("test") == python and capsys.readouterr().err == ""
    assert len(kept(package)) == 1 and (package / "cache/pdl-conformance/fetched").stat().st_mode & 0o777 == 0o700


def test_a_package_with_another_hash_is_not_installed(package: Path) -> None:
    make_wheel(package / "wheels", 43)
    with pytest.raises(SetupImpossible, match="answer==1.0 could not be installed"):
        venv.ensure_venv("test")
    assert kept(package) == []


def test_a_package_that_cannot_be_had_ends_with_a_sentence(package: Path) -> None:
    (package / "wheels/answer-1.0-py3-none-any.whl").unlink()
    with pytest.raises(SetupImpossible, match="pip download --require-hashes -r test.txt -d wheels.* PDL_WHEELS"):
        venv.ensure_venv("test")
    assert kept(package) == [], "a half-made venv must not stay"


def test_other_pins_make_another_venv_and_a_lost_interpreter_makes_it_again(package: Path) -> None:
    first = venv.ensure_venv("test")
    with open(venv.requirements("test"), "a") as file:
        file.write("# another pin\n")
    second = venv.ensure_venv("test")
    assert first != second and len(kept(package)) == 2
    second.unlink()
    second.symlink_to("/no/such/python")
    assert venv.complete_venv("test") is None
    assert venv.ensure_venv("test") == second and subprocess.run([second, "-c", "import answer"]).returncode == 0


def test_two_that_fetch_at_once_make_one_venv(package: Path, pip: Path) -> None:
    code = ("import sys; from pathlib import Path; from conformance.pdlkit import venv;"
            "venv._REQUIREMENTS, pip = map(Path, sys.argv[1:]); venv.pip_python = lambda: pip; print(venv.ensure_venv('test'))")
    started = [subprocess.Popen([sys.executable, "-c", code, str(package / "requirements"), str(pip)], cwd=ROOT, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0] and said[0][0] == said[1][0]
    assert sum("fetching" in err for _, err in said) >= 1 and len(kept(package)) == 1


def test_pip_is_made_once_also_where_two_make_it_at_once(pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert venv.pip_python() == pip, "it was made anew"
    complete = venv.complete_venv
    answers = iter([None])  # as this process saw it before the other one was ready
    monkeypatch.setattr(venv, "complete_venv", lambda name: next(answers, complete(name)))
    monkeypatch.setattr(venv, "new_venv", lambda folder, with_pip: (folder / "mine").touch())
    assert venv.pip_python() == pip and not pip.parents[1].joinpath("mine").exists()
