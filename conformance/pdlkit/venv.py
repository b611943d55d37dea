"""Virtual environments that a command makes for itself, below build/venv, with pinned packages.

    python = ensure_venv(("pytest==8.3.3",))     # path of an interpreter that can import them

A venv is named by the hash of its pins, made beside its final place and renamed when complete, so an interrupted
install is never taken for a good one. Without a network the sentence says what is missing and where to put it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import BUILD, in_tree

WHEELS_VARIABLE = "PDL_WHEELS"
_DONE = "complete"


def venv_place(packages: Sequence[str]) -> Path:
    """The folder of the venv for exactly these pins and this interpreter."""
    key = "\n".join([*sorted(packages), sys.version]).encode()
    return BUILD / "venv" / hashlib.sha256(key).hexdigest()[:12]


def _python_in(place: Path) -> Path:
    return place / "bin" / "python3"


def _last_lines(text: str, count: int = 3) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-count:])


def _missing(packages: Sequence[str], why: str) -> SetupImpossible:
    names = " ".join(packages)
    return SetupImpossible(
        f"the Python packages {names} could not be installed ({why}). With a network they are fetched by pip; "
        f"without one, put their wheels (pip download {names} -d wheels, on another machine) into a folder and "
        f"set {WHEELS_VARIABLE} to it"
    )


def ensure_venv(packages: Sequence[str], quiet: bool = False) -> Path:
    """The interpreter of a venv that holds these packages, making it on first use; SetupImpossible if it cannot."""
    place = venv_place(packages)
    if (place / _DONE).is_file():
        return _python_in(place)
    if not quiet:
        print(f"installing {', '.join(packages)} into {in_tree(place)}", file=sys.stderr, flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=place.parent))
    try:
        _fill(draft, packages)
        (draft / _DONE).write_text("\n".join(packages) + "\n")
        _publish(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return _python_in(place)


def _publish(draft: Path, place: Path) -> None:
    """Rename the finished draft; a venv's interpreter is a link, so it survives the move."""
    if place.exists() and not (place / _DONE).is_file():
        shutil.rmtree(place)
    try:
        draft.rename(place)
    except OSError:
        if not (place / _DONE).is_file():  # else another process was faster, and its venv is as good
            raise


def _fill(draft: Path, packages: Sequence[str]) -> None:
    made = subprocess.run([sys.executable, "-P", "-m", "venv", str(draft)], capture_output=True, text=True)
    if made.returncode != 0:
        words = made.stdout + made.stderr
        said = "" if "ensurepip" in words else f". It said: {_last_lines(words, 2)}"  # Debian's advice, in many lines
        raise SetupImpossible(
            "Python cannot make a virtual environment here; install its venv module (Debian: apt-get install python3-venv)" + said)
    command = [str(_python_in(draft)), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    wheels = os.environ.get(WHEELS_VARIABLE)
    if wheels:
        command += ["--no-index", "--find-links", wheels]
    done = subprocess.run([*command, *packages], capture_output=True, text=True)
    if done.returncode != 0:
        raise _missing(packages, _last_lines(done.stderr, 2))
