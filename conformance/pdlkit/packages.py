"""Build tools from Python packages, for a machine that lacks them: NVIDIA's compiler, xxhash.h, Ninja, below build/.

Nothing is installed on the machine. Each thing is fetched once; a later call finds it. Without a network the sentence says
what is missing and where to put it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import BUILD
from conformance.pdlkit.venv import WHEELS_VARIABLE, ensure_venv, venv_place

TOOLKIT_VERSION = (13, 0)
TOOLKIT = (
    "nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
)
NINJA = ("ninja==1.11.1.1",)
XXHASH = "xxhash==3.5.0"  # its source archive carries the one header; nothing of it is compiled or installed
_OLDEST_DRIVER = 1000 * TOOLKIT_VERSION[0]  # a program of a toolkit runs on every driver of the same major version


def toolkit_root() -> Path | None:
    """The toolkit that was made from packages, if it was."""
    root = _toolkit_folder()
    return root if root is not None and (root / "lib64").exists() else None


def _toolkit_folder() -> Path | None:
    found = sorted(venv_place(TOOLKIT).glob("lib/python3*/site-packages/nvidia/cu13"))
    return found[0] if found else None


def complete_toolkit(root: Path) -> None:
    """Add the names that the packages leave out: nvcc looks into lib64, CMake for libcudart.so."""
    for link, target in ((root / "lib" / "libcudart.so", "libcudart.so.13"), (root / "lib64", "lib")):
        if not link.is_symlink():
            link.symlink_to(target)


def _install(pins: Sequence[str], what_to_do: str) -> None:
    """Make the venv of these packages; if that fails, say what to do on the machine first, and then what to do about pip."""
    try:
        ensure_venv(pins)
    except SetupImpossible as reason:
        names = " ".join(pins)
        raise SetupImpossible(
            f"{what_to_do}; or fetch packages on another machine (pip download {names} -d wheels) and set {WHEELS_VARIABLE} to that "
            f"folder (here pip failed: {_last_words(str(reason))})") from None


def _last_words(reason: str) -> str:
    """The end of what pip said, out of a sentence about it."""
    said = re.search(r"could not be installed \((.*)\)\. With a network", reason)
    return said[1].rpartition(" / ")[2].removeprefix("ERROR: ") if said else reason


def _for_older_driver(driver_cuda: int) -> str:
    """Which toolkit to install; one of a minor version above the driver's runs on it, one of a major version above does not."""
    newest = f"{driver_cuda // 1000}.{driver_cuda % 1000 // 10}"
    have = f"there is no CUDA Toolkit here, and this driver runs programs of CUDA {newest} at most"
    if driver_cuda < 12000:
        return f"{have}; the kit needs CUDA 12.3 or newer: install a newer driver (from CUDA 13.0 on, the kit fetches the compiler itself)"
    named = max("12.3", newest, key=lambda text: tuple(map(int, text.split("."))))
    return f"{have}; install CUDA Toolkit {named}, then put its bin folder on PATH or set CUDA_HOME to its folder"


def make_toolkit(driver_cuda: int | None) -> Path:
    """NVIDIA's compiler from its packages; driver_cuda is what the driver can run (12040), None if there is no driver."""
    if driver_cuda is not None and driver_cuda < _OLDEST_DRIVER:
        raise SetupImpossible(_for_older_driver(driver_cuda))
    present = toolkit_root()
    if present is not None:
        return present
    _install(TOOLKIT, "there is no CUDA Toolkit here: install one of version 12.3 or newer, and put its bin folder on PATH or set "
                      "CUDA_HOME to its folder")
    root = _toolkit_folder()
    if root is None:
        raise SetupImpossible("NVIDIA's compiler packages were installed, but they hold no nvidia/cu13 folder")
    complete_toolkit(root)
    return root


def ninja_program() -> Path | None:
    """Ninja from its package, if it was fetched: the program itself, because a venv's scripts do not survive its move."""
    found = sorted(venv_place(NINJA).glob("lib/python3*/site-packages/ninja/data/bin/ninja"))
    return found[0] if found else None


def make_ninja() -> Path:
    """Ninja from its package."""
    _install(NINJA, "neither ninja nor make is on PATH: install one (Debian and Ubuntu: apt-get install ninja-build)")
    path = ninja_program()
    if path is None:
        raise SetupImpossible("the ninja package was installed, but it holds no program")
    return path


def xxhash_folder() -> Path | None:
    """The folder of the fetched xxhash.h, if it was fetched."""
    folder = BUILD / "xxhash"
    return folder if (folder / "xxhash.h").is_file() else None


def make_xxhash() -> Path:
    """xxhash.h out of the source archive of the Python package of that name."""
    folder = xxhash_folder()
    if folder is not None:
        return folder
    draft = BUILD / "xxhash-draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    print(f"fetching xxhash.h out of {XXHASH}", file=sys.stderr, flush=True)
    done = subprocess.run(_download(_pip(), draft), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    archives = sorted(draft.glob("xxhash-*.tar.gz"))
    if not archives:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1].removeprefix("ERROR: ")
        raise SetupImpossible(
            "xxhash.h is not there: install it (Debian and Ubuntu: apt-get install libxxhash-dev), or download that one file from the "
            f"xxHash project and set XXHASH_INCLUDE_DIR to its folder (here pip failed: {last})")
    _unpack(archives[0], draft / "xxhash.h")
    draft.rename(BUILD / "xxhash")
    return BUILD / "xxhash"


def _pip() -> Path:
    """A Python with pip, whatever this one has; needs no network."""
    folder = BUILD / "venv" / "pip"
    python = folder / "bin" / "python3"
    if not (folder / "bin" / "pip").is_file():
        made = subprocess.run([sys.executable, "-P", "-m", "venv", "--clear", str(folder)], capture_output=True, text=True)
        if made.returncode != 0:
            raise SetupImpossible(
                "Python cannot make a virtual environment here; install its venv module (Debian: apt-get install python3-venv)")
    return python


def _download(python: Path, folder: Path) -> Sequence[str]:
    argv = [str(python), "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps", "--no-binary", "xxhash",
            "--dest", str(folder), XXHASH]
    wheels = os.environ.get(WHEELS_VARIABLE)
    return [*argv, "--no-index", "--find-links", wheels] if wheels else argv


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as opened:
        names = [name for name in opened.getnames() if name.endswith("/xxhash/xxhash.h")]
        member = opened.extractfile(names[0]) if names else None
        if member is None:
            raise SetupImpossible(f"{XXHASH} carries no xxhash.h; install libxxhash-dev instead")
        target.write_bytes(member.read())
    archive.unlink()
