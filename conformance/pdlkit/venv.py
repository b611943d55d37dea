"""Virtual environments that a command makes for itself, from pinned packages whose hashes are checked.

    python = ensure_venv("test")     # an interpreter that can import what requirements/test.in names

requirements/NAME.in holds the pins, NAME.txt the same with every dependency and the hash of every file, for all platforms; its
first lines say how to make it again. Nothing else is fetched, and no package's build code is run. A venv lies in a folder that
only this user can write to, is named by the digest of NAME.txt, and is renamed into place when complete, so an interrupted
install is never taken for a good one.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import in_tree
from conformance.pdlkit.private_folder import existing_folder, locked, private_folder

FOLDER = "fetched"
WHEELS_VARIABLE = "PDL_WHEELS"
_DONE = "complete"
_PIP = "pip"  # the venv that holds pip and nothing else
_REQUIREMENTS = Path(__file__).with_name("requirements")


def requirements(name: str) -> Path:
    """The file that pins these packages and their dependencies by hash."""
    return _REQUIREMENTS / f"{name}.txt"


def pins(name: str) -> list[str]:
    """What is asked for, such as `pytest==8.3.3`, without what it depends on."""
    return (_REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8").split()


def _venv_name(name: str) -> str:
    pinned = requirements(name).read_text(encoding="utf-8") if name != _PIP else ""
    key = "\0".join([pinned, sys.version, sys.base_prefix, platform.machine()])
    return f"{name}-{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}"


def complete_venv(name: str) -> Path | None:
    """The folder of the venv of this interpreter, if it was made and its interpreter is still there."""
    folder = existing_folder(FOLDER)
    place = folder / _venv_name(name) if folder else None
    return place if place and (place / _DONE).is_file() and _python_in(place).exists() else None


def _python_in(place: Path) -> Path:
    return place / "bin" / "python3"


def ensure_venv(name: str) -> Path:
    """The interpreter of a venv that holds these packages, making it on first use; SetupImpossible if it cannot."""
    made = complete_venv(name)
    if made is not None:
        return _python_in(made)
    folder = private_folder(FOLDER)
    with locked(folder, "fetching packages"):
        place = complete_venv(name) or _make_venv(name, folder)
        return _python_in(place)


def _make_venv(name: str, folder: Path) -> Path:
    def fill(draft: Path) -> None:
        pip = pip_python()
        python = new_venv(draft)
        _announce(name)
        run_pip(pip, ["--python", str(python), "install", "--only-binary", ":all:", "--no-deps"], name)

    return _in_one_step(name, folder, fill)


def pip_python() -> Path:
    """An interpreter whose pip installs into the other venvs: putting a pip into each takes longer than most of what they hold."""
    place = complete_venv(_PIP) or _in_one_step(_PIP, private_folder(FOLDER), lambda draft: new_venv(draft, with_pip=True))
    return _python_in(place)


def _in_one_step(name: str, folder: Path, fill: Callable[[Path], object]) -> Path:
    """The venv of this name in this folder, there as a whole or not at all."""
    place = folder / _venv_name(name)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder))
    try:
        fill(draft)
        (draft / _DONE).touch()
        try:
            _move(draft, place)
        except OSError:  # something is there: another process was faster, or it is not complete, or its interpreter is gone
            if complete_venv(name) is None:
                shutil.rmtree(place, ignore_errors=True)
                _move(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


def _move(draft: Path, place: Path) -> None:
    """Rename a venv. Its interpreter is a link and survives that; the scripts that pip made name the interpreter by its old path."""
    for file in (draft / "pyvenv.cfg", *(draft / "bin").iterdir()):
        if file.is_file() and not file.is_symlink():
            file.write_bytes(file.read_bytes().replace(os.fsencode(draft), os.fsencode(place)))
    draft.rename(place)


def _announce(name: str) -> None:
    wanted, everything = pins(name), requirements(name).read_text(encoding="utf-8").count("==")
    needed = f" and up to {everything - len(wanted)} packages that they need" if everything > len(wanted) else ""
    source = os.environ.get(WHEELS_VARIABLE)
    origin = f"from the folder in {WHEELS_VARIABLE}" if source else "with pip"
    print(f"fetching {origin}, with the hashes in {in_tree(requirements(name))}: {', '.join(wanted)}{needed}", file=sys.stderr, flush=True)


def new_venv(folder: Path, with_pip: bool = False) -> Path:
    """A venv in this folder, with nothing or with pip alone; its interpreter."""
    options = [] if with_pip else ["--without-pip"]
    made = subprocess.run([sys.executable, "-P", "-m", "venv", *options, str(folder)], capture_output=True, text=True, errors="replace")
    if made.returncode != 0:
        words = made.stdout + made.stderr
        said = "" if "ensurepip" in words else f". It said: {_last_lines(words)}"  # Debian's advice takes many lines
        raise SetupImpossible(
            "Python cannot make a virtual environment here; install its venv module (Debian: apt-get install python3-venv)" + said)
    return _python_in(folder)


def run_pip(python: Path, arguments: Sequence[str], name: str, environment: dict[str, str] | None = None) -> None:
    """One call of pip for these requirements, every file checked against its hash; SetupImpossible with pip's last words."""
    command = [str(python), "-m", "pip", *arguments, "--disable-pip-version-check", "--quiet", "--require-hashes",
               "--requirement", str(requirements(name))]
    wheels = os.environ.get(WHEELS_VARIABLE)
    if wheels:
        command += ["--no-index", "--find-links", wheels]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment)
    if done.returncode != 0:
        raise PipFailed(name, _last_lines(done.stderr))


class PipFailed(SetupImpossible):
    """Packages could not be had; `said` is the end of what pip said."""

    def __init__(self, name: str, said: str) -> None:
        self.said = said.rpartition(" / ")[2].removeprefix("ERROR: ") or "it said nothing"
        super().__init__(f"the Python packages {' '.join(pins(name))} could not be installed ({said}). With a network pip fetches "
                         f"them; {how_to_bring(name)}")


def how_to_bring(name: str) -> str:
    """What to do on a machine without a network."""
    return (f"without one, fetch them on another machine of this kind (pip download --require-hashes -r {in_tree(requirements(name))} "
            f"-d wheels) and set {WHEELS_VARIABLE} to that folder")


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-2:])
