"""Compiles the rewriter: as the program pdl-rewrite, and for those who link it into a library of their own.

Compressed fat binaries need Zstandard and LZ4. Their C sources come from pinned source packages on PyPI, because a machine
that has CUDA need not have their development files, and because they must be linked statically, hidden from the program
under test. Without a network the rewriter is built without them; it then names each image that it cannot read.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

from conformance.pdlkit.compiled import compile_to
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import Tool, find_c_compiler
from conformance.pdlkit.venv import WHEELS_VARIABLE
from conformance.rewrite import private

HERE = KIT / "rewrite"
CORE = tuple(HERE / name for name in ("cubin.c", "grow.c", "rewrite.c", "stubs.c", "fatbin.c", "plan.c"))
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-fvisibility=hidden", "-fPIC")
HIDDEN = tuple(f"-D{name}=" for name in ("ZSTDLIB_VISIBLE", "ZSTDERRORLIB_VISIBLE", "ZDICTLIB_VISIBLE", "LZ4LIB_VISIBILITY"))
PACKAGES = {
    "zstandard==0.25.0": ("7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b", "zstd/", ("zstd.c",)),
    "lz4==4.4.5": ("5f0b9e53c1e82e88c10d7c180069363980136b9d7a8306c4dca4f760d60c39f0", "lz4libs/", ("lz4.c",)),
}


def compiler() -> Tool:
    """The C compiler; SetupImpossible with the remedy if there is none."""
    found = find_c_compiler()
    if found is None:
        raise SetupImpossible("there is no C compiler on PATH (Debian and Ubuntu: apt-get install gcc)")
    return found


def _download(folder: Path) -> list[Path]:
    """The source packages, checked against their hashes by pip."""
    wanted = folder / "wanted.txt"
    wanted.write_text("".join(f"{name} --hash=sha256:{PACKAGES[name][0]}\n" for name in PACKAGES))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
               "--require-hashes", "-r", str(wanted), "-d", str(folder)]
    local = os.environ.get(WHEELS_VARIABLE)
    if local:
        command += ["--no-index", "--find-links", local]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise SetupImpossible(f"the sources of Zstandard and LZ4 cannot be fetched: {lines[-1].strip()}")
    return sorted(folder.glob("*.tar.gz"))


def _unpack(archive: Path, part: str, folder: Path) -> None:
    """The C files of one folder of the archive."""
    with tarfile.open(archive) as package:
        for member in package.getmembers():
            if member.isfile() and Path(member.name).parent.name + "/" == part and member.name.endswith((".c", ".h")):
                stream = package.extractfile(member)
                (folder / Path(member.name).name).write_bytes(stream.read() if stream else b"")


def _compile_compression(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent) as name:
        folder = Path(name)
        for archive, (_, part, _) in zip(sorted(_download(folder)), (PACKAGES["lz4==4.4.5"], PACKAGES["zstandard==0.25.0"]), strict=True):
            _unpack(archive, part, folder)
        print("compiling Zstandard and LZ4, once", file=sys.stderr, flush=True)
        place.mkdir(mode=0o700, exist_ok=True)
        for header in folder.glob("*.h"):
            (place / header.name).write_bytes(header.read_bytes())
        for _, _, sources in PACKAGES.values():
            for source in sources:
                target = place / (source + ".o")
                compile_to(target, compiler(), ["-O2", "-fPIC", "-fvisibility=hidden", "-DZSTD_DISABLE_ASM", *HIDDEN, "-c",
                                                str(folder / source)], source)
                private.seal(target)


@lru_cache(maxsize=1)
def compression() -> tuple[list[str], str]:
    """(what a compiler call needs to read compressed images, "" or why it cannot)."""
    key = hashlib.sha256(repr((HIDDEN, sorted(PACKAGES.items()))).encode()).hexdigest()[:12]
    place = private.private_folder("rewrite") / f"compression-{key}"
    objects = [place / (source + ".o") for _, _, sources in PACKAGES.values() for source in sources]
    try:
        if not all(private.is_sealed(path) for path in objects):
            _compile_compression(place)
    except (SetupImpossible, OSError, tarfile.TarError) as error:
        return [], f"compressed images cannot be read: {error}"
    return ["-DPDL_HAVE_ZSTD=1", "-DPDL_HAVE_LZ4=1", f"-I{place}", *map(str, objects)], ""


def compiled(name: str, sources: list[Path], arguments: list[str], what: str) -> Path:
    """A program or library of the rewriter and these sources, made again if anything of it has changed."""
    extra, _ = compression()
    headers = sorted(path for folder in {source.parent for source in sources} | {HERE} for path in folder.glob("*.h"))
    state = hashlib.sha256(repr((arguments, extra, FLAGS)).encode())
    for path in [*sources, *CORE, *headers]:
        state.update(path.read_bytes())
    stem, dot, suffix = name.partition(".")
    target = private.private_folder("rewrite") / f"{stem}-{state.hexdigest()[:12]}{dot}{suffix}"
    if not private.is_sealed(target):
        compile_to(target, compiler(), [*FLAGS, f"-I{HERE}", *map(str, sources), *map(str, CORE), *extra, *arguments], what)
        private.seal(target)
    return target


def tool() -> Path:
    """pdl-rewrite."""
    return compiled("pdl-rewrite", [HERE / "main.c"], [], "the rewriter")
