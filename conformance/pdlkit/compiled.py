"""Compiles C sources of the kit that Python needs as a program or a library: once, into a folder that only this user can write to.

    recipe = Recipe("libpdlstress.so", sources, [*FLAGS, *c_files, "-ldl"], "the injection library")
    path = compiled(recipe, compiler)

The file is checked each time before it is handed out: owner, mode, and the digest that was written when it was made. What
was damaged, or was made by another compiler or from other sources, is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.private_folder import draft_of, existing_folder, locked, private_folder, trusted_file
from conformance.pdlkit.toolchain import Tool

FOLDER = "compiled"


@dataclass(frozen=True)
class Recipe:
    """What to compile."""

    name: str  # of the file, such as "analysis" or "libpdlstress.so"
    inputs: Sequence[Path]  # every file it is made from, headers included
    arguments: Sequence[str | Path]  # of the compiler, without its -o; where the sources lie is a Path, which the digest leaves out
    what: str  # for sentences: "lint's analysis"
    gcc: Sequence[str] = ()  # arguments for a gcc that can use them; in every digest, so that the file is found without a compiler

    def digest(self) -> str:
        """Of the inputs, the arguments and the kind of machine."""
        total = hashlib.sha256()
        flags = [str(part) for part in self.arguments if not isinstance(part, Path)]
        for part in (*flags, *self.gcc, platform.machine(), *platform.libc_ver()):
            total.update(os.fsencode(part) + b"\0")
        for path in sorted(self.inputs):
            data = path.read_bytes()
            total.update(b"%s\0%d\0" % (os.fsencode(path.name), len(data)) + data)
        return total.hexdigest()[:16]

    def file_name(self, compiler_digest: str) -> str:
        """Of the file that this compiler makes; the digests stand before the suffix, because loaders look at it."""
        stem, dot, suffix = self.name.partition(".")
        return f"{stem}-{self.digest()}-{compiler_digest}{dot}{suffix}"


def _digest_of(compiler: Tool) -> str:
    """Of what tells this compiler from another or a newer one."""
    program = compiler.path.resolve()
    status = program.stat()
    text = f"{compiler.path}\0{program}\0{compiler.words()}\0{status.st_size}\0{status.st_mtime_ns}"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _write_record(path: Path) -> None:
    """Keep the digest of the file; a file without it was never finished."""
    with draft_of(_record_of(path)) as draft:
        draft.write_text(hashlib.sha256(path.read_bytes()).hexdigest() + "\n", encoding="ascii")


def is_whole(path: Path) -> bool:
    """Whether the file is ours, closed to others, and still what was written when it was made."""
    record = trusted_file(_record_of(path))
    if trusted_file(path) is None or record is None:
        return False
    try:
        return record.read_text(encoding="ascii").strip() == hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return False


def _made_earlier(recipe: Recipe, compiler: Tool | None, folder: Path) -> Iterator[Path]:
    if compiler is not None:
        yield folder / recipe.file_name(_digest_of(compiler))
    else:
        yield from sorted(folder.glob(recipe.file_name("?" * 8)))


def ready(recipe: Recipe, compiler: Tool | None) -> Path | None:
    """The file, if this compiler made it earlier from these inputs and it is whole; without a compiler any one's will do."""
    folder = existing_folder(FOLDER)
    return next((path for path in _made_earlier(recipe, compiler, folder) if is_whole(path)), None) if folder else None


def compiled(recipe: Recipe, compiler: Tool) -> Path:
    """The file, compiled if need be; SetupImpossible with the compiler's first error if it does not compile."""
    found = ready(recipe, compiler)
    if found is not None:
        return found
    folder = private_folder(FOLDER)
    with locked(folder, f"compiling {recipe.what}"):
        target = folder / recipe.file_name(_digest_of(compiler))
        if not is_whole(target):
            _record_of(target).unlink(missing_ok=True)
            _compile(target, recipe, compiler)
            _write_record(target)
        return target


def _compile(target: Path, recipe: Recipe, compiler: Tool) -> None:
    """Make the target, with gcc's arguments where they work: a gcc may come without what link-time optimisation needs."""
    if compiler.name == "gcc" and recipe.gcc:
        with contextlib.suppress(SetupImpossible):
            compile_to(target, compiler, [*recipe.gcc, *recipe.arguments], recipe.what)
            return
    compile_to(target, compiler, recipe.arguments, recipe.what)


def preloadable(library: Path) -> Path:
    """The library; SetupImpossible if LD_PRELOAD cannot name it, because it takes a space or a colon for the end of a name."""
    if " " in str(library) or ":" in str(library):
        raise SetupImpossible(f"the folder {library.parent} has a space or a colon in its path, so LD_PRELOAD cannot name a library in it; "
                              "set XDG_CACHE_HOME to a folder without them")
    return library


def compile_to(target: Path, compiler: Tool, arguments: Sequence[str | Path], what: str) -> Path:
    """The target, made by one call of the compiler (arguments without its -o)."""
    try:
        with draft_of(target, 0o700) as draft:
            _call([str(compiler.path), "-o", str(draft), *map(str, arguments)], compiler, what)
    except OSError as error:
        raise SetupImpossible(f"{what} cannot be compiled with {compiler.path}: {error}") from None
    return target


def _call(command: list[str], compiler: Tool, what: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines()
        telling = [line for line in lines if "error:" in line or "undefined" in line] or lines
        said = telling[0] if telling else f"exit code {done.returncode}"
        raise SetupImpossible(f"{what} does not compile with {compiler.path}: {said}; set CC to another one")
