"""Builds the wheel `pdl-conformance`, gives it the manylinux tag that is true for what is inside, and says what it weighs.

    python3 conformance dev wheel --output FOLDER [--arch aarch64] [--gpu]

Needs CMake, Ninja or make, a C and C++ compiler, xxhash.h and the CUDA headers; for aarch64 the cross compilers of Debian's
gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu. --gpu also builds the harness for every GPU with PDL (nvcc, minutes, 17 MB).
auditwheel reads the tag from the programs. A wheel for which it finds no tag is refused.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit import places, toolchain
from conformance.pdlkit.exits import OK, SetupImpossible
from conformance.pdlkit.venv import ensure_venv

ARCHITECTURES = ("x86_64", "aarch64")


def _call(argv: Sequence[str | Path], what: str, environment: dict[str, str] | None = None) -> str:
    """Standard output; SetupImpossible with the last lines if it fails."""
    done = subprocess.run(
        [str(word) for word in argv], cwd=places.ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SetupImpossible(f"{what} failed: " + " / ".join((done.stdout + done.stderr).strip().splitlines()[-4:]))
    return done.stdout


def _environment(arch: str, folder: Path) -> dict[str, str]:
    """What the build sees: the xxHash that the kit found, and for another architecture its compilers."""
    environment = dict(os.environ)
    found = toolchain.find_xxhash(toolchain.find_c_compiler())
    if found and found != "system":
        environment["XXHASH_INCLUDE_DIR"] = str(Path(found).resolve())
    if arch != os.uname().machine:
        file = folder / f"{arch}.cmake"
        file.write_text(
            f"set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {arch})\nset(CMAKE_C_COMPILER {arch}-linux-gnu-gcc)\n"
            f"set(CMAKE_CXX_COMPILER {arch}-linux-gnu-g++)\n"
        )
        environment.update(CMAKE_TOOLCHAIN_FILE=str(file), _PYTHON_HOST_PLATFORM=f"linux-{arch}")
    return environment


def build(output: Path, arch: str, gpu: bool) -> Path:
    """The wheel with its true tag, in the output folder."""
    python = ensure_venv("wheel")
    work = places.BUILD / "wheel" / (arch + ("-gpu" if gpu else ""))
    draft = work / "draft"
    draft.mkdir(parents=True, exist_ok=True)
    for old in draft.glob("*.whl"):
        old.unlink()
    settings = ["-C", f"build-dir={work / 'cmake'}", "-C", f"cmake.define.PDL_WHEEL_GPU={'ON' if gpu else 'OFF'}"]
    _call(
        [python, "-m", "build", "--wheel", "--no-isolation", "--outdir", draft, *settings, "."],
        "the build of the wheel",
        _environment(arch, work),
    )
    (made,) = draft.glob("*.whl")
    tag = true_tag(python, made, arch)
    output.mkdir(parents=True, exist_ok=True)
    _call([python, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, made], "giving the wheel its tag")
    (tagged,) = draft.glob("*.whl")
    return tagged.replace(output / tagged.name)


def true_tag(python: Path, wheel: Path, arch: str) -> str:
    """The oldest manylinux that has what the programs inside ask for, as auditwheel reads it."""
    said = _call([python, "-m", "auditwheel", "show", wheel], "auditwheel")
    found = re.search(rf'platform tag:\s+"(manylinux_[0-9]+_[0-9]+_{arch})"', said)
    if found is None:
        raise SetupImpossible(f"auditwheel names no manylinux tag for {wheel.name}: {' '.join(said.split())[-300:]}")
    return found[1]


def contents(wheel: Path) -> list[str]:
    """What is inside, in a few lines."""
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
        programs = [entry for entry in entries if "/prebuilt/" in entry.filename]
    unpacked = sum(entry.file_size for entry in entries)
    lines = [f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked, {len(entries)} files"]
    return [*lines, *(f"  {Path(entry.filename).name}: {entry.file_size / 1e6:.2f} MB" for entry in programs)]


def main(argv: Sequence[str] | None = None) -> int:
    """Build, tag, describe."""
    parser = argparse.ArgumentParser(description="Build the wheel of pdl-conformance.")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where the wheel goes")
    parser.add_argument("--arch", choices=ARCHITECTURES, default=os.uname().machine, help="what it runs on (this machine's)")
    parser.add_argument("--gpu", action="store_true", help="with the harness for GPUs")
    options = parser.parse_args(argv)
    wheel = build(options.output.resolve(), options.arch, options.gpu)
    print("\n".join(contents(wheel)))
    return OK


if __name__ == "__main__":
    sys.exit(main())
