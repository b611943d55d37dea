"""Configures and builds the harness with CMake, below build/, one build at a time per folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.children import run_shown
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import BUILD, ROOT, in_tree, prebuilt
from conformance.pdlkit.private_folder import locked
from conformance.pdlkit.toolchain import Toolchain, ask, dotted, version_in

Say = Callable[[str], None]
TARGETS = {"cuda": "pdl-harness", "model": "pdl-harness-model"}


@dataclass(frozen=True)
class Built:
    """A harness that can be run, and what is known of how it was made."""

    harness: Path
    folder: Path | None  # None: a harness given by --harness
    toolchain: dict[str, Any]


def _run_logged(argv: Sequence[str], log: Path, what: str) -> None:
    with open(log, "ab") as out:
        out.write(os.fsencode("\n$ " + shlex.join(argv) + "\n"))
        out.flush()
        code = run_shown(argv, ROOT, out)
    if code != 0:
        tail = log.read_text(errors="replace").splitlines()[-30:]
        print("\n".join(tail), file=sys.stderr)
        raise SetupImpossible(f"{what} failed; the lines above are the end of {in_tree(log)}")


def cmake_settings(tools: Toolchain) -> list[str]:
    """CMake's arguments that name these tools, wherever the tools lie; for every tree that is configured with them."""
    settings = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools.ninja.path}"] if tools.ninja else ["-G", "Unix Makefiles"]
    if tools.nvcc is not None:
        settings.append(f"-DCMAKE_CUDA_COMPILER={tools.nvcc.path}")
        settings.append(f"-DCUDAToolkit_ROOT={tools.nvcc.path.resolve().parents[1]}")
    if tools.xxhash != "system":
        settings.append(f"-DXXHASH_INCLUDE_DIR={Path(tools.xxhash).resolve()}")
    return settings


def configure(device: str, tools: Toolchain, architectures: str | None = None, more: Sequence[str] = ()) -> Path:
    """Run CMake's configure step by the preset of that name; quick when nothing changed."""
    folder = BUILD / device
    argv = [str(tools.cmake.path), "--preset", device, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *cmake_settings(tools)]
    if architectures:
        argv.append(f"-DCMAKE_CUDA_ARCHITECTURES={architectures}")
    argv += more
    key = folder / "configured.json"
    wanted = json.dumps([argv, _stamp()])
    if key.is_file() and key.read_text() == wanted and (folder / "CMakeCache.txt").is_file():
        return folder  # the build step itself re-runs CMake when a CMake file changed
    log = folder / "build.log"
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    key.unlink(missing_ok=True)
    if (folder / "CMakeCache.txt").is_file():
        argv.insert(1, "--fresh")  # another compiler or generator must not meet the old cache
    _run_logged(argv, log, "CMake's configure step")
    key.write_text(wanted)
    return folder


def _stamp() -> list[str]:
    """What outside the command line decides a configuration."""
    presets = ROOT / "CMakePresets.json"
    text = presets.read_text() if presets.is_file() else ""
    return [text, *(f"{name}={os.environ.get(name, '')}" for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CUDAFLAGS"))]


def carried(device: str) -> Built | None:
    """The harness that the installed package brings along: nothing has to be built, and no build tool has to be here."""
    harness = prebuilt(TARGETS[device])
    return Built(harness, None, {"built": "with the package"}) if harness else None


def build(device: str, tools: Toolchain, say: Say, architectures: str | None = None) -> Built:
    """Build the harness of "cuda" or "model"; SetupImpossible with the compiler's words if it does not build."""
    if not (ROOT / "CMakePresets.json").is_file():
        raise SetupImpossible("CMakePresets.json is missing from the project's root; this copy of the tree is not whole")
    with locked(BUILD / device, f"building the harness for {device}"):
        with_nvcc = f", {tools.nvcc.words()}" if device == "cuda" and tools.nvcc else ""
        say(f"building the harness for {device} with {tools.compiler.words()}{with_nvcc}")
        folder = configure(device, tools, architectures, [f"-DPython3_EXECUTABLE={sys.executable}"])
        jobs = str(len(os.sched_getaffinity(0)))
        argv = [str(tools.cmake.path), "--build", str(folder), "--target", TARGETS[device], "--parallel", jobs]
        _run_logged(argv, folder / "build.log", "the build")
        return Built(find_harness(folder, TARGETS[device]), folder, describe(folder, tools, device))


def find_harness(folder: Path, name: str) -> Path:
    """The executable of that name below the build folder."""
    for place in (folder / name, folder / "conformance" / name, folder / "conformance" / "harness" / name):
        if place.is_file():
            return place
    found = sorted(path for path in folder.rglob(name) if path.is_file() and os.access(path, os.X_OK))
    if not found:
        raise SetupImpossible(f"the build made no {name} below {in_tree(folder)}")
    return found[0]


def describe(folder: Path, tools: Toolchain, device: str) -> dict[str, Any]:
    """Versions and flags for the report, without any path."""
    text: dict[str, Any] = {
        "cmake": dotted(tools.cmake.version), "compiler": tools.compiler.words(), "xxhash": _xxhash_version(tools),
        "flags": flags_used(folder),
    }
    if device == "cuda" and tools.nvcc is not None:
        text["nvcc"] = dotted(tools.nvcc.version)
        code, answer = ask([str(tools.nvcc.path.with_name("ptxas")), "--version"])
        text["ptxas"] = dotted(version_in(answer, r"release [0-9.]+, V")) if code == 0 else None
    return text


def _xxhash_version(tools: Toolchain) -> str | None:
    argv = [str(tools.compiler.path), "-E", "-x", "c", "-P", "-"]
    if tools.xxhash != "system":
        argv.insert(1, f"-I{tools.xxhash}")
    names = ("MAJOR", "MINOR", "RELEASE")
    source = "#include <xxhash.h>\nPDL_XXH " + " ".join(f"XXH_VERSION_{name}" for name in names) + "\n"
    code, text = ask(argv, source)
    match = re.search(r"PDL_XXH ([0-9]+) ([0-9]+) ([0-9]+)", text) if code == 0 else None
    return ".".join(match.groups()) if match else None


def flags_used(folder: Path) -> list[str]:
    """Each distinct compiler command of the build, reduced to its flags: `cuda: -O2 ...`, no path, no file."""
    try:
        entries = json.loads((folder / "compile_commands.json").read_text())
    except (OSError, ValueError):
        return []
    found: dict[str, None] = {}
    for entry in entries:
        words = shlex.split(entry.get("command", ""))
        language = "cuda" if "nvcc" in Path(words[0]).name else "c"
        kept = [word for word in words[1:] if word.startswith("-") and "/" not in word]
        drop = ("-o", "-c", "-MD", "-MT", "-MF", "-x", "-I", "-isystem", "-D")
        kept = [word for word in kept if not word.startswith(drop)]
        found[f"{language}: {' '.join(kept)}"] = None
    return sorted(found)
