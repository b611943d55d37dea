"""The pinned packages, how one is fetched, and which of its files hold GPU code. No code of a package ever runs."""

from __future__ import annotations

import hashlib
import mmap
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.lint.containers import CONTAINER
from conformance.lint.images import holds_code, kind_of_file
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.venv import pip_python

HERE = Path(__file__).resolve().parent
TABLE = HERE / "packages.toml"
PROGRAMS = HERE / "programs"
_HOST = frozenset({"container"})  # kinds of files that may hold no GPU code at all
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Package:
    """One wheel, known by its hash. `program`: a source in programs/ that is compiled with the wheel's headers and judged instead."""

    name: str
    version: str
    wheel: str
    sha256: str
    licence: str
    program: str | None = None
    project: str | None = None  # its name on the package index, where that differs
    include: tuple[str, ...] = ()  # folders of the wheel with headers for the program
    overlapping: str | None = None  # kernels that the package's own host code launches with overlap: as for lint

    @property
    def pin(self) -> str:
        """As pip wants it."""
        return f"{self.project or self.name}=={self.version} --hash=sha256:{self.sha256}"

    @property
    def tags(self) -> tuple[str, str, list[str]]:
        """Python tag, ABI tag and platforms, from the wheel's name."""
        python, abi, platforms = self.wheel.removesuffix(".whl").rsplit("-", 3)[1:]
        return python.split(".")[0], abi.split(".")[0], platforms.split(".")


def packages(table: Path = TABLE) -> dict[str, Package]:
    """Every package of the table by its name; BadArguments names a row that cannot be used."""
    found: dict[str, Package] = {}
    for row in tomllib.loads(table.read_text(encoding="utf-8"))["package"]:
        try:
            package = Package(**{**row, "include": tuple(row.get("include", ()))})
            re.compile(package.overlapping or "")
        except (TypeError, re.error) as error:
            raise BadArguments(f"{table.name}: the row of {row.get('name', 'no name')} is wrong: {error}") from None
        if not _SHA256.fullmatch(package.sha256) or not package.wheel.endswith(".whl") or package.name in found:
            raise BadArguments(f"{table.name}: {package.name} needs a sha256, the name of a wheel, and one row only")
        found[package.name] = package
    return found


def fetch(package: Package, folder: Path) -> Path:
    """The wheel, from a package index by pip, checked against its hash. It is not installed."""
    wheel = folder / package.wheel
    if not wheel.is_file():
        python, abi, platforms = package.tags
        implementation, version = re.fullmatch(r"([a-z]+)(\d*)", python).groups()  # type: ignore[union-attr]
        pins = folder / f"{package.name}.txt"
        pins.write_text(package.pin + "\n", encoding="utf-8")
        command = [str(pip_python()), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir",
                   "--only-binary=:all:", "--require-hashes", "--requirement", str(pins), "--dest", str(folder),
                   "--implementation", implementation, "--python-version", version if len(version) > 1 else "3.12", "--abi", abi]
        for platform in platforms:
            command += ["--platform", platform]
        print(f"fetching {package.name} {package.version}", file=sys.stderr, flush=True)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0 or not wheel.is_file():
            last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise SetupImpossible(f"{package.wheel} cannot be fetched: {last}")
    with wheel.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != package.sha256:
        raise SetupImpossible(f"{wheel} has the hash {digest}, and {TABLE.name} says {package.sha256}: remove the file")
    return wheel


def unpack(wheel: Path, folder: Path) -> Iterator[Path]:
    """Each file of the wheel that holds GPU code, one at a time: it is gone when the next one is asked for. A file that is there
    twice is unpacked once."""
    seen: set[bytes] = set()
    with zipfile.ZipFile(wheel) as opened:
        for number, member in enumerate(opened.infolist()):
            with opened.open(member) as stream:
                head = stream.read(65536)
            if member.is_dir() or kind_of_file(head) == "unknown":
                continue
            place = folder / str(number)  # the names inside a wheel are not ours: only the last part is kept
            place.mkdir()
            file = place / Path(member.filename).name
            with opened.open(member) as stream, file.open("wb") as target:
                shutil.copyfileobj(stream, target, 1 << 20)
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").digest()
            if digest not in seen and _has_images(file):
                yield file
            seen.add(digest)
            shutil.rmtree(place)


def _has_images(file: Path) -> bool:
    """Whether lint would find images in it; an ELF file of the host without any is no failure of the survey."""
    if not holds_code(file):
        return False
    with file.open("rb") as stream:
        if kind_of_file(stream.read(65536)) not in _HOST:
            return True
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(CONTAINER) >= 0


def headers(package: Package, wheel: Path, folder: Path) -> list[Path]:
    """The wheel's files, for a compiler: the folders that are to be searched for headers. BadArguments if it lacks one."""
    target = folder.resolve()
    with zipfile.ZipFile(wheel) as opened:
        for member in opened.infolist():
            if not (target / member.filename).resolve().is_relative_to(target):
                raise BadArguments(f"{wheel.name} holds {member.filename}, which lies outside of it")
        opened.extractall(target)
    for name in package.include:
        if not (target / name).is_dir():
            raise BadArguments(f"{wheel.name} holds no folder {name}")
    return [target / name for name in package.include]
