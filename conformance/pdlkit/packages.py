"""Build tools from Python packages, for a machine that lacks them: NVIDIA's compiler, xxhash.h, Ninja.

Nothing is installed on the machine: everything lies in a folder that only this user can write to. Each thing is fetched once;
a later call finds it. Without a network the sentence says what is missing and where to put it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import in_tree
from conformance.pdlkit.private_folder import existing_folder, locked, private_folder, trusted_file
from conformance.pdlkit.venv import (
    FOLDER,
    WHEELS_VARIABLE,
    PipFailed,
    complete_venv,
    ensure_venv,
    pins,
    pip_python,
    requirements,
    run_pip,
)

TOOLKIT_VERSION = (13, 0)  # of requirements/toolkit.in
_OLDEST_DRIVER = 1000 * TOOLKIT_VERSION[0]  # a program of a toolkit runs on every driver of the same major version
XXHASH_DIGEST = "be275e9db21a503c37f24683cdb4908f2370a3e35ab96e02c4ea73dc8e399c43"  # sha256 of the header in xxhash 3.5.0

# pip wants a package's metadata even to download its archive, and runs the package's build backend to get it. This
# stand-in answers instead, so that no code of the package runs. pip imports it by the name in the package's pyproject.toml.
_BACKEND = '''
import pathlib, sys

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    lines = pathlib.Path("PKG-INFO").read_text().split("\\n\\n")[0].splitlines()
    head = dict(line.split(": ", 1) for line in lines if line.startswith(("Name: ", "Version: ")))
    place = pathlib.Path(folder, f"{head['Name']}-{head['Version']}.dist-info")
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {head['Name']}\\nVersion: {head['Version']}\\n")
    (place / "WHEEL").write_text("Wheel-Version: 1.0\\n")
    return place.name

__legacy__ = sys.modules[__name__]  # what pip asks for where pyproject.toml names no backend
'''


def toolkit_root() -> Path | None:
    """The toolkit that was made from packages, if it was."""
    root = _toolkit_folder()
    return root if root is not None and (root / "lib64").exists() else None


def _toolkit_folder() -> Path | None:
    venv = complete_venv("toolkit")
    found = sorted(venv.glob("lib/python3*/site-packages/nvidia/cu13")) if venv else []
    return found[0] if found else None


def complete_toolkit(root: Path) -> None:
    """Add the names that the packages leave out: nvcc looks into lib64, CMake for libcudart.so."""
    for link, target in ((root / "lib" / "libcudart.so", "libcudart.so.13"), (root / "lib64", "lib")):
        if not link.is_symlink():
            link.symlink_to(target)


def _install(name: str, what_to_do: str) -> None:
    """Make the venv of these packages; if pip fails, say what to do on the machine first, and then what to do about pip."""
    try:
        ensure_venv(name)
    except PipFailed as reason:
        raise SetupImpossible(
            f"{what_to_do}; or fetch packages on another machine (pip download --require-hashes -r {in_tree(requirements(name))} "
            f"-d wheels) and set {WHEELS_VARIABLE} to that folder (here pip failed: {reason.said})") from None
    except SetupImpossible as reason:
        raise SetupImpossible(f"{what_to_do} (it cannot be fetched: {reason})") from None


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
    _install("toolkit", "there is no CUDA Toolkit here: install one of version 12.3 or newer, and put its bin folder on PATH or set "
                        "CUDA_HOME to its folder")
    root = _toolkit_folder()
    if root is None:
        raise SetupImpossible("NVIDIA's compiler packages were installed, but they hold no nvidia/cu13 folder")
    complete_toolkit(root)
    return root


def ninja_program() -> Path | None:
    """Ninja from its package, if it was fetched: the program itself, because a venv's scripts do not survive its move."""
    venv = complete_venv("ninja")
    found = sorted(venv.glob("lib/python3*/site-packages/ninja/data/bin/ninja")) if venv else []
    return found[0] if found else None


def make_ninja() -> Path:
    """Ninja from its package."""
    _install("ninja", "neither ninja nor make is on PATH: install one (Debian and Ubuntu: apt-get install ninja-build)")
    path = ninja_program()
    if path is None:
        raise SetupImpossible("the ninja package was installed, but it holds no program")
    return path


def xxhash_folder() -> Path | None:
    """The folder of the xxhash.h that was fetched, if it was and is still what it was."""
    folder = existing_folder(FOLDER)
    header = folder / "xxhash" / "xxhash.h" if folder else None
    if header is None or trusted_file(header) is None:
        return None
    return header.parent if hashlib.sha256(header.read_bytes()).hexdigest() == XXHASH_DIGEST else None


def make_xxhash() -> Path:
    """The folder of xxhash.h, out of the source archive of the Python package; nothing of it is compiled, installed or run."""
    present = xxhash_folder()
    if present is not None:
        return present
    folder = private_folder(FOLDER)
    with locked(folder, "fetching packages"):
        present = xxhash_folder()
        if present is not None:
            return present
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder))
        try:
            _put_header(_download(draft), folder / "xxhash")
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder / "xxhash"


def source_archives(name: str, folder: Path, pip_options: Sequence[str] = ()) -> list[Path]:
    """The source archives of these requirements, checked against their hashes; no code of the packages runs. PipFailed if pip cannot."""
    print(f"fetching the sources of {', '.join(pins(name))}, with the hashes in {in_tree(requirements(name))}", file=sys.stderr, flush=True)
    backend = folder / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(_BACKEND, encoding="utf-8")
    wanted = [pin.partition("==")[0] for pin in pins(name)]
    run_pip(pip_python(), ["download", "--no-deps", "--no-binary", ",".join(wanted), "--no-build-isolation", "--dest", str(folder),
                     *pip_options], name, {**os.environ, "PYTHONPATH": str(backend.parent)})
    return [archive for word in wanted for archive in sorted(folder.glob(f"{word}-*.tar.gz"))[:1]]


def _download(folder: Path) -> Path:
    try:
        return source_archives("xxhash", folder)[0]
    except PipFailed as reason:
        raise SetupImpossible(
            "xxhash.h is not there: install it (Debian and Ubuntu: apt-get install libxxhash-dev), or download that one file from the "
            f"xxHash project and set XXHASH_INCLUDE_DIR to its folder (here pip failed: {reason.said})") from None


def _put_header(archive: Path, folder: Path) -> None:
    """Take the header, and nothing else, out of the archive."""
    with tarfile.open(archive) as opened:
        names = [name for name in opened.getnames() if name.endswith("/xxhash/xxhash.h")]
        member = opened.extractfile(names[0]) if names else None
        data = member.read() if member else b""
    if hashlib.sha256(data).hexdigest() != XXHASH_DIGEST:
        raise SetupImpossible("the archive of xxhash==3.5.0 does not carry the xxhash.h that is expected; install libxxhash-dev instead")
    folder.mkdir(mode=0o700, exist_ok=True)
    draft = archive.with_name("xxhash.h")
    draft.write_bytes(data)
    draft.chmod(0o600)
    draft.replace(folder / "xxhash.h")
