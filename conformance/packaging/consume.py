"""Builds one consumer project outside the tree, as a user would, and looks for what must not happen.

    python3 conformance dev consume WAY --source ROOT --work FOLDER [--cuda ROOT] [--cmake PROGRAM]

WAY is vendored, find_package, add_subdirectory, fetch_content, pkg_config or install.
Exit codes: 0 it works, 1 it does not, 77 a program it needs is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SKIP = 77
HERE = Path(__file__).resolve().parent
HEADERS = ("pdl.h", "pdl_device.cuh")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror")
INSTALLED = {
    "include/pdl.h", "include/pdl_device.cuh", "share/cmake/pdl/pdlConfig.cmake", "share/cmake/pdl/pdlConfigVersion.cmake",
    "share/cmake/pdl/pdlTargets.cmake", "share/pkgconfig/pdl.pc",
}


class Missing(Exception):
    """A program is missing, so this way of use was not tried."""


class Broken(Exception):
    """A consumer does not build, or something leaked."""


@dataclass(frozen=True)
class Place:
    """The tree under test, a scratch folder, the toolkit, CMake."""

    source: Path
    work: Path
    cuda: Path
    cmake: str
    generator: tuple[str, ...]

    def cuda_folder(self, *names: str) -> Path:
        """The first of these folders that the toolkit has."""
        for name in names:
            if (self.cuda / name).is_dir():
                return self.cuda / name
        raise Missing(f"{self.cuda.name} contains none of {', '.join(names)}")

    @property
    def version(self) -> str:
        """The version in pdl.h."""
        text = (self.source / "pdl.h").read_text(encoding="utf-8")
        return ".".join(re.findall(r"^#define PDL_VERSION_(?:MAJOR|MINOR|PATCH) ([0-9]+)$", text, re.MULTILINE))


def call(argv: Sequence[str | Path], cwd: Path, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("DESTDIR", "CMAKE_PREFIX_PATH")}
    environment["LC_ALL"] = "C"
    return subprocess.run([str(word) for word in argv], cwd=cwd, env={**environment, **(more or {})}, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, capture_output=True, check=False)


def must(argv: Sequence[str | Path], cwd: Path, more: Mapping[str, str] | None = None) -> str:
    """The output of a command that must succeed without a word of warning."""
    done = call(argv, cwd, more)
    if done.returncode != 0 or re.search(r"\bwarning\b", done.stdout + done.stderr, re.IGNORECASE):
        raise Broken(f"{' '.join(map(str, argv))}\n{done.stdout}{done.stderr}")
    return done.stdout


def program(name: str, *others: str) -> str:
    for candidate in (name, *others):
        found = shutil.which(candidate)
        if found:
            return found
    raise Missing(f"{name} is not installed")


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def expect_files(folder: Path, wanted: set[str], whose: str) -> None:
    found = files_below(folder)
    if found != wanted:
        raise Broken(f"{whose} installs {sorted(found - wanted)} too much, {sorted(wanted - found)} too little")


def project(place: Place, way: str, *sources: str) -> Path:
    """A copy of a consumer in a folder outside of this tree."""
    folder = place.work / way
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if (HERE / way).is_dir():
        shutil.copytree(HERE / way, folder, dirs_exist_ok=True)
    for name in sources:
        shutil.copy(HERE / "sources" / name, folder)
    return folder


def run_consumer(place: Place, executable: Path) -> None:
    said = must([executable], executable.parent).strip()
    if said != f"pdl {place.version}":
        raise Broken(f"the consumer says '{said}', pdl.h is {place.version}")


# ---- CMake ----

def remarks(stderr: str) -> list[str]:
    """CMake's output without its remarks about the flags that this file passes."""
    about_flags = re.compile(r"Warn about uninitialized|^The \S+ option is deprecated\.")
    return [line for line in stderr.splitlines() if line.strip() and not about_flags.search(line)]


def configure(place: Place, folder: Path, *more: str) -> Path:
    """Configure; any remark of CMake about the project is an error."""
    build = folder / "build"
    flags = " ".join(WARNINGS)
    argv: list[str | Path] = [place.cmake, "-S", folder, "-B", build, *place.generator, "-Werror=dev", "--warn-uninitialized",
            f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCUDAToolkit_ROOT={place.cuda}", *more]
    done = call(argv, folder)
    if done.returncode != 0 or remarks(done.stderr):
        raise Broken(f"{' '.join(map(str, argv))}\n{done.stdout}{done.stderr}")
    return build


def compile_and_run(place: Place, build: Path, *executables: str) -> None:
    must([place.cmake, "--build", build], build)
    for name in executables:
        run_consumer(place, build / name)


NO_COMPILER = {"CC": "/nonexistent", "CXX": "/nonexistent", "CUDACXX": "/nonexistent", "PATH": "/usr/bin:/bin"}
WITH_C = """cmake_minimum_required(VERSION 3.21)
project(distribution LANGUAGES C)
set(PDL_INSTALL ON)
add_subdirectory("{source}" pdl)
"""


def installed(place: Place, from_parent: bool = False) -> Path:
    """An installed copy, moved after installation: nothing in it may name the first place.

    Made by the project itself where there is no compiler, or by a parent that has one.
    """
    build, first, second, parent = (place.work / name for name in ("pdl-build", "pdl-first", "pdl-moved", "pdl-parent"))
    for folder in (build, first, second, parent):
        shutil.rmtree(folder, ignore_errors=True)
    parent.mkdir(parents=True)
    (parent / "CMakeLists.txt").write_text(WITH_C.format(source=place.source), encoding="utf-8")
    own = ["-DPDL_BUILD_EXAMPLES=OFF", "-DPDL_BUILD_CONFORMANCE=OFF"]
    argv: list[str | Path] = [place.cmake, "-S", parent if from_parent else place.source, "-B", build, *place.generator, "-Werror=dev",
            *([] if from_parent else own)]
    done = call(argv, place.work, None if from_parent else NO_COMPILER)
    if done.returncode != 0 or remarks(done.stderr):
        raise Broken(f"the headers' own project asks for a compiler, or warns:\n{done.stdout}{done.stderr}")
    must([place.cmake, "--install", build, "--prefix", first], place.work)
    expect_files(first, INSTALLED, "the project")
    first.rename(second)
    for path in second.rglob("*"):
        if path.is_file() and str(place.work) in path.read_text(encoding="utf-8"):
            raise Broken(f"{path.name} remembers where it was installed")
    return second


def parent_stays_its_own(place: Place, build: Path) -> None:
    """The parent's cache, tests and install rules have nothing of pdl in them."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    for word in ("BUILD_TESTING", "XXHASH", "CMAKE_CUDA_COMPILER", "Python3"):
        if re.search(rf"^{word}[A-Za-z_]*:", cache, re.MULTILINE):
            raise Broken(f"the parent's cache has {word}")
    tests = re.findall(r"Test +#[0-9]+: (\S+)", must([Path(place.cmake).with_name("ctest"), "-N"], build))
    if tests != ["own"]:
        raise Broken(f"the parent's tests are {tests}")
    prefix = build.parent / "prefix"
    must([place.cmake, "--install", build, "--prefix", prefix], build)
    expect_files(prefix, {"bin/consumer"}, "the parent")


# ---- the ways of use ----

def vendored(place: Place) -> None:
    """Two files beside the user's, compilers called by hand, no build system."""
    folder = project(place, "vendored", "consumer.c", "consumer.cpp", "consumer.cu")
    for name in HEADERS:
        shutil.copy(place.source / name, folder)
    cuda: list[str | Path] = ["-I.", "-isystem", place.cuda_folder("include")]
    libraries = [f"-L{place.cuda_folder('lib64', 'lib')}", "-lcudart_static", "-lpthread", "-ldl", "-lrt"]
    must([program("c++", "g++"), "-std=c++11", *WARNINGS, *cuda, "-c", "consumer.cpp", "-o", "cxx.o"], folder)
    must([program("cc", "gcc"), "-std=c99", *WARNINGS, *cuda, "consumer.c", "cxx.o", "-o", "consumer", *libraries], folder)
    run_consumer(place, folder / "consumer")
    must([place.cuda / "bin" / "nvcc", "-arch=sm_90", "-Werror", "all-warnings", "-I.", "consumer.cu", "-o", "consumer_cu"], folder)
    run_consumer(place, folder / "consumer_cu")


def find_package(place: Place) -> None:
    """find_package(pdl): this version; and a request for one that does not fit is refused."""
    prefix = installed(place)
    folder = project(place, "find_package", "consumer.c", "consumer.cpp", "consumer.cu")
    wanted = ".".join(place.version.split(".")[:2])
    build = configure(place, folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPDL_WANTED={wanted}", "-DCMAKE_CUDA_ARCHITECTURES=90",
                      f"-DCMAKE_CUDA_COMPILER={place.cuda / 'bin' / 'nvcc'}", "-DCMAKE_CUDA_FLAGS=-Werror all-warnings")
    compile_and_run(place, build, "consumer", "consumer_cu")


def asked_for(place: Place, wanted: str, prefix: Path, pointer_bytes: str = "8") -> bool:
    """Whether a project that asks for this version finds one below the prefix."""
    folder = place.work / "ask"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(ask LANGUAGES NONE)\n"
        f"set(CMAKE_SIZEOF_VOID_P {pointer_bytes})\nfind_package(pdl {wanted} CONFIG REQUIRED)\n"
        "get_target_property(folders pdl::pdl INTERFACE_INCLUDE_DIRECTORIES)\n"
        "if(NOT EXISTS ${folders}/pdl.h)\n  message(FATAL_ERROR ${folders})\nendif()\n")
    done = call([place.cmake, "-S", folder, "-B", folder / "build", *place.generator, f"-DCMAKE_PREFIX_PATH={prefix}"], place.work)
    return done.returncode == 0


def install(place: Place) -> None:
    """The version file: what fits is found, also for another pointer size and in a build folder, and what does not fit is not."""
    prefix = installed(place, from_parent=True)
    major, minor, patch = map(int, place.version.split("."))
    answers = {f"{major}.{minor}": True, f"{major}.{minor}.{patch}": True, f"{major}.{minor + 1}": False, f"{major + 1}.0": False}
    if minor:  # before 1.0 a minor version may break
        answers[f"{major}.{minor - 1}"] = major > 0
    for pointer_bytes in ("4", "8"):
        for wanted, fits in answers.items():
            if asked_for(place, wanted, prefix, pointer_bytes) != fits:
                raise Broken(f"find_package(pdl {wanted}) with {pointer_bytes}-byte pointers: expected {fits}")
    if not asked_for(place, place.version, place.work / "pdl-build" / "pdl"):
        raise Broken("find_package does not find pdl in a build folder")


def add_subdirectory(place: Place) -> None:
    """The tree copied into a parent's: nothing of the parent changes."""
    folder = project(place, "add_subdirectory", "consumer.c", "consumer.cpp", "leaks.cmake")
    carried = folder / "third_party" / "pdl"
    carried.mkdir(parents=True)
    for name in (*HEADERS, "CMakeLists.txt"):
        shutil.copy(place.source / name, carried)
    shutil.copytree(place.source / "cmake", carried / "cmake")
    build = configure(place, folder)
    compile_and_run(place, build, "consumer")
    parent_stays_its_own(place, build)


def fetch_content(place: Place) -> None:
    """FetchContent from a local folder that has the whole tree: nothing of the parent changes."""
    folder = project(place, "fetch_content", "consumer.c", "consumer.cpp", "leaks.cmake")
    build = configure(place, folder, f"-DPDL_SOURCE={place.source}")
    compile_and_run(place, build, "consumer")
    parent_stays_its_own(place, build)


def pkg_config(place: Place) -> None:
    """A Makefile that asks pkg-config."""
    make, asker = program("make"), program("pkg-config")
    prefix = installed(place)
    path = {"PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")}
    if must([asker, "--modversion", "pdl"], place.work, path).strip() != place.version:
        raise Broken("pdl.pc names another version than pdl.h")
    if must([asker, "--libs", "pdl"], place.work, path).strip():
        raise Broken("pdl.pc names libraries, but there is none")
    folder = project(place, "pkg_config", "consumer.c", "consumer.cpp")
    must([make, f"CUDA_INCLUDE={place.cuda_folder('include')}", f"CUDA_LIB={place.cuda_folder('lib64', 'lib')}"], folder,
         {**path, "CFLAGS": " ".join(WARNINGS)})
    run_consumer(place, folder / "consumer")


WAYS: dict[str, Callable[[Place], None]] = {
    "vendored": vendored, "find_package": find_package, "add_subdirectory": add_subdirectory,
    "fetch_content": fetch_content, "pkg_config": pkg_config, "install": install,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build one consumer project outside the tree.")
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--source", type=Path, default=HERE.parents[1], help="the tree under test")
    parser.add_argument("--work", type=Path, required=True, help="a scratch folder")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    parser.add_argument("--cmake", default=shutil.which("cmake"), help="the CMake to use")
    parser.add_argument("--generator", default="Ninja" if shutil.which("ninja") else None, help="CMake's generator")
    parser.add_argument("--make-program", help="the program that the generator calls")
    options = parser.parse_args(argv)
    if options.cmake is None:
        parser.error("there is no cmake on PATH: say --cmake")
    generator = ["-G", options.generator] if options.generator else []
    generator += [f"-DCMAKE_MAKE_PROGRAM={options.make_program}"] if options.make_program else []
    place = Place(options.source.resolve(), options.work.resolve() / options.way, options.cuda, options.cmake, tuple(generator))
    try:
        WAYS[options.way](place)
    except Missing as reason:
        print(f"skipped: {reason}")
        return SKIP
    except Broken as reason:
        print(f"{options.way}: {reason}", file=sys.stderr)
        return 1
    print(f"{options.way}: works")
    return 0
