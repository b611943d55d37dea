"""Compiles the rewriter: as the program pdl-rewrite, and for those who link it into a library of their own.

Compressed fat binaries need Zstandard and LZ4. Their C sources come from pinned source packages on PyPI, because a machine
that has CUDA need not have their development files, and because they must be linked statically, hidden from the program
under test. Without a network the rewriter is built without them; it then names each image that it cannot read.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

from conformance.pdlkit.compiled import Recipe, compile_to, is_whole
from conformance.pdlkit.compiled import compiled as compiled_recipe
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.packages import fetch_archives
from conformance.pdlkit.places import KIT
from conformance.pdlkit.private_folder import locked, private_folder
from conformance.pdlkit.toolchain import Tool, find_c_compiler

HERE = KIT / "rewrite"
CORE = tuple(HERE / name for name in ("cubin.c", "grow.c", "rewrite.c", "stubs.c", "fatbin.c", "plan.c"))
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-fvisibility=hidden", "-fPIC")
HIDDEN = tuple(f"-D{name}=" for name in ("ZSTDLIB_VISIBLE", "ZSTDERRORLIB_VISIBLE", "ZDICTLIB_VISIBLE", "LZ4LIB_VISIBILITY"))
_FOLDER = "compression-1"  # another number for other versions or flags
_SOURCES = {"zstd": "zstd.c", "lz4libs": "lz4.c"}  # folder in its archive -> what is compiled


def compiler() -> Tool:
    """The C compiler; SetupImpossible with the remedy if there is none."""
    found = find_c_compiler()
    if found is None:
        raise SetupImpossible("there is no C compiler on PATH (Debian and Ubuntu: apt-get install gcc)")
    return found


def _unpack(archive: Path, folder: Path) -> None:
    """The C files of the two libraries, and nothing else."""
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            if member.isfile() and Path(member.name).parent.name in _SOURCES and member.name.endswith((".c", ".h")):
                stream = package.extractfile(member)
                (folder / Path(member.name).name).write_bytes(stream.read() if stream else b"")


def _compile_compression(place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="draft-", dir=place) as name:
        folder = Path(name)
        for archive in fetch_archives("compression", ["zstandard", "lz4"], folder):
            _unpack(archive, folder)
        print("compiling Zstandard and LZ4, once", file=sys.stderr, flush=True)
        for header in folder.glob("*.h"):
            (place / header.name).write_bytes(header.read_bytes())
        for source in _SOURCES.values():
            compile_to(place / (source + ".o"), compiler(),
                       ["-O2", "-fPIC", "-fvisibility=hidden", "-DZSTD_DISABLE_ASM", *HIDDEN, "-c", folder / source], source)


@lru_cache(maxsize=1)
def compression() -> tuple[list[str], str]:
    """(what a compiler call needs to read compressed images, "" or why it cannot)."""
    place = private_folder(_FOLDER)
    objects = [place / (source + ".o") for source in _SOURCES.values()]
    try:
        with locked(place, "compiling Zstandard and LZ4"):
            if not all(is_whole(path) for path in objects):
                _compile_compression(place)
    except (SetupImpossible, OSError, tarfile.TarError) as error:
        return [], f"compressed images cannot be read: {error}"
    return ["-DPDL_HAVE_ZSTD=1", "-DPDL_HAVE_LZ4=1", f"-I{place}", *map(str, objects)], ""


def compiled(name: str, sources: list[Path], arguments: list[str], what: str) -> Path:
    """A program or library of the rewriter and these sources, made again if anything of it has changed."""
    extra, _ = compression()
    headers = sorted(path for folder in {source.parent for source in sources} | {HERE} for path in folder.glob("*.h"))
    if name.endswith(".so") and set(" :") & set(str(private_folder("compiled"))):
        raise SetupImpossible("the path of the user's cache folder holds a space or a colon, which LD_PRELOAD takes for the end of a "
                              "name; set XDG_CACHE_HOME to a folder without them")
    recipe = Recipe(name, [*sources, *CORE, *headers], [*FLAGS, f"-I{HERE}", *sources, *CORE, *extra, *arguments], what)
    return compiled_recipe(recipe, compiler())


def tool() -> Path:
    """pdl-rewrite."""
    return compiled("pdl-rewrite", [HERE / "main.c"], [], "the rewriter")
