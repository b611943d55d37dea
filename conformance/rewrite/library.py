"""Compiles the rewriter: as the program pdl-rewrite, and for tools that link it into their own libraries.

Compressed fat binaries need Zstandard and LZ4. Their C sources come from pinned source packages on PyPI, because a machine
that has CUDA need not have their development files, and because they must be linked statically, hidden from the program
under test. Without a network the rewriter is built without them; it then names each image that it cannot read. That a fetch failed
is kept for an hour: otherwise each command of a session without a network would wait for pip again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from conformance.pdlkit import compiled as compiled_files
from conformance.pdlkit.compiled import Recipe
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.packages import source_archives
from conformance.pdlkit.places import KIT
from conformance.pdlkit.private_folder import locked, private_folder
from conformance.pdlkit.toolchain import Tool, find_c_compiler
from conformance.pdlkit.venv import WHEELS_VARIABLE, PipFailed

HERE = KIT / "rewrite"
CORE = tuple(
    HERE / name
    for name in ("cubin.c", "grow.c", "change.c", "obstacles.c", "rewrite.c", "stubs.c", "fatbin.c", "rewrite_fatbin.c", "plan.c")
)
INJECTION = HERE / "injection"
# Of an injection library: taking the place of a driver's functions; and, for those that rewrite what a program loads, that.
INTERPOSING = tuple(INJECTION / name for name in ("interpose.c", "launches.c", "record.c"))
LOADING = (*INTERPOSING, *(INJECTION / name for name in ("loads.c", "images.c", "plans.c")))
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-fvisibility=hidden", "-fPIC")
HIDDEN = tuple(f"-D{name}=" for name in ("ZSTDLIB_VISIBLE", "ZSTDERRORLIB_VISIBLE", "ZDICTLIB_VISIBLE", "LZ4LIB_VISIBILITY"))
LIBRARIES = {"zstd.c": "zstd/", "lz4.c": "lz4libs/"}  # what is compiled, and the folder of its source package
SOURCES_DIGEST = "771d2ad89a521140a63970983ef2d528"  # of what is taken out of requirements/decompressors.txt
IMPATIENT = ("--retries", "1", "--timeout", "10")  # these packages are not needed for all images, so a dead network may cost little
AGAIN_S = 3600.0  # how long a failed fetch is not tried again


def compiler() -> Tool:
    """The C compiler; SetupImpossible with the remedy if there is none."""
    found = find_c_compiler()
    if found is None:
        raise SetupImpossible("there is no C compiler on PATH (Debian and Ubuntu: apt-get install gcc)")
    return found


def _unpack(archive: Path, part: str, folder: Path) -> None:
    """The C files of one folder of the archive."""
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            if member.isfile() and Path(member.name).parent.name + "/" == part and member.name.endswith((".c", ".h")):
                stream = package.extractfile(member)
                (folder / Path(member.name).name).write_bytes(stream.read() if stream else b"")


def _digest(folder: Path) -> str:
    """A digest of the names and bytes of the C files in it."""
    total = hashlib.sha256()
    for path in sorted(folder.glob("*.[ch]")):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:32]


def _failed_before(note: Path) -> str:
    """Why the last fetch failed, if that was a short time ago; "" if it is to be tried (again)."""
    try:
        recent = abs(time.time() - note.stat().st_mtime) < AGAIN_S
        return note.read_text(encoding="utf-8") if recent and WHEELS_VARIABLE not in os.environ else ""
    except OSError:
        return ""


def _archives(folder: Path, draft: Path) -> list[Path]:
    """The source archives. A failure is said and kept in the folder, so that the next process neither waits nor says it again."""
    note = folder / "compression-failed"
    if failed := _failed_before(note):
        raise SetupImpossible(f"{failed} (not tried again for an hour, or until {note} is removed)")
    try:
        found = source_archives("decompressors", draft, IMPATIENT)
    except PipFailed as error:
        note.write_text(str(error), encoding="utf-8")
        print(f"compressed images will not be read: {error}", file=sys.stderr, flush=True)
        raise
    note.unlink(missing_ok=True)
    return found


def _sources() -> Path:
    """The folder of the C sources of both libraries, fetched if it is not there or is not what it should be."""
    folder = private_folder("fetched")
    with locked(folder, "fetching packages"):
        place = folder / "compression"
        if not place.is_dir() or _digest(place) != SOURCES_DIGEST:
            with tempfile.TemporaryDirectory(prefix="draft-", dir=folder) as name:
                draft = Path(name, "compression")
                draft.mkdir(mode=0o700)
                for archive, part in zip(_archives(folder, Path(name)), LIBRARIES.values(), strict=True):
                    _unpack(archive, part, draft)
                if _digest(draft) != SOURCES_DIGEST:
                    raise SetupImpossible("the source packages of Zstandard and LZ4 do not hold what is expected")
                shutil.rmtree(place, ignore_errors=True)
                draft.rename(place)
        return place


@lru_cache(maxsize=1)
def compression() -> tuple[list[str | Path], str]:
    """(what a compiler call needs to read compressed images, "" or why it cannot)."""
    try:
        place = _sources()
        headers = sorted(place.glob("*.h"))
        # -O2 takes 32 s to compile instead of 9 s, and an image is read at 1 GB/s instead of half of that
        flags = ["-Og", "-fPIC", "-fvisibility=hidden", "-DZSTD_DISABLE_ASM", *HIDDEN, "-c"]
        recipes = [Recipe(f"{Path(name).stem}.o", [place / name, *headers], [*flags, place / name], name) for name in LIBRARIES]
        objects = [compiled_files.compiled(recipe, compiler()) for recipe in recipes]
    except (SetupImpossible, OSError, tarfile.TarError) as error:
        return [], f"compressed images cannot be read: {error}"
    return ["-DPDL_HAVE_ZSTD=1", "-DPDL_HAVE_LZ4=1", "-I", place, *objects], ""


def compiled(name: str, sources: list[Path], arguments: Sequence[str | Path], what: str) -> Path:
    """A program or library of the rewriter and these sources, compiled again if any of the sources has changed."""
    extra, _ = compression()
    headers = sorted(path for folder in {source.parent for source in sources} | {HERE} for path in folder.glob("*.h"))
    recipe = Recipe(name, [*sources, *CORE, *headers], [*FLAGS, "-I", HERE, *sources, *CORE, *extra, *arguments], what)
    return compiled_files.compiled(recipe, compiler())


def injection_library(name: str, sources: list[Path], what: str) -> Path:
    """A library for LD_PRELOAD that rewrites what a program loads, made of these sources and the shared ones."""
    folders = sorted({source.parent for source in sources} | {INJECTION})
    includes = [word for folder in folders for word in ("-I", folder)]
    return compiled_files.preloadable(compiled(name, [*sources, *LOADING], [*includes, "-shared", "-ldl", "-lpthread"], what))


def tool() -> Path:
    """pdl-rewrite."""
    return compiled("pdl-rewrite", [HERE / "main.c"], [], "the rewriter")
