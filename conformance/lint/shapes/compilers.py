"""The compilers that make machine code of a CUDA source here: nvcc, NVRTC, clang with our ptxas, toolkits of PyPI."""

from __future__ import annotations

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.pdlkit.venv import pip_python

ARCHITECTURES = ("sm_90", "sm_90a", "sm_100", "sm_103", "sm_110", "sm_120")
WAYS = ("-O3", "-O2", "-O1", "-O0", "-G")
CLANGS = ("clang++-19", "clang++-20", "clang++-21")
CLANG_FLAGS = ["-x", "cuda", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib", "-fms-extensions", "-I", str(ROOT),
               "-Xclang", "-target-feature", "-Xclang", "+ptx80"]  # fms: properties stand for threadIdx in device_words.h


class CompilerFailed(Exception):
    """The compiler's own words."""


@dataclass(frozen=True)
class Compiler:
    name: str
    run: Callable[[Path, str, str, Path], None]  # source, architecture, way, output

    def compile(self, source: Path, architecture: str, way: str, folder: Path) -> Path:
        output = folder / f"{re.sub(r'[^0-9a-z]+', '-', self.name)}.{architecture}{way}.cubin"
        self.run(source, architecture, way, output)
        return output


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).strip().splitlines() if line]
        raise CompilerFailed(f"{Path(command[0]).name}: {' / '.join(lines[:2])}")
    return done.stdout


def _make_once(output: Path, command: list[str]) -> None:
    """Several threads may want the same file: whoever is last replaces it by its like."""
    if not output.is_file():
        with tempfile.TemporaryDirectory(dir=output.parent) as own:
            _call([*command, "-o", f"{own}/{output.name}"])
            Path(own, output.name).replace(output)


def nvcc(path: Path) -> Compiler:
    release = re.search(r"V(\d+\.\d+\.\d+)", _call([str(path), "--version"]))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        flags = [str(path), "-std=c++17", "-w", f"-arch={architecture}", "-I", str(ROOT)]
        if way == "-G":
            _call([*flags, "-G", "-cubin", "-o", str(output), str(source)])
            return
        ptx = output.with_name(f"{output.name.removesuffix(f'{way}.cubin')}.ptx")  # one for all levels of ptxas
        _make_once(ptx, [*flags, "-O3", "-ptx", str(source)])
        _call([str(path.parent / "ptxas"), f"-arch={architecture}", way, "-o", str(output), str(ptx)])

    return Compiler(f"nvcc {release.group(1) if release else 'of unknown version'}", run)


def clang(path: Path) -> Compiler:
    """clang makes PTX for sm_90, the newest target that version 19 knows; our ptxas assembles it for all."""
    release = re.search(r"version (\d+\.\d+)", _call([str(path), "--version"]))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        debug = way == "-G"
        ptx = output.with_name(f"clang{'-G' if debug else ''}.ptx")
        _make_once(ptx, [str(path), *CLANG_FLAGS, "--cuda-device-only", "-std=c++17", "-w",
                         *(["-O0", "-g", "--cuda-noopt-device-debug"] if debug else ["-O3"]), "-S", str(source)])
        _call([str(tool("ptxas")), f"-arch={architecture}", *(["-g", "-O0"] if debug else [way]), "-o", str(output), str(ptx)])

    return Compiler(f"clang {release.group(1) if release else 'of unknown version'}", run)


def nvrtc(library: Path, name: str | None = None) -> Compiler:
    """Each compilation has a process of its own: in one process, what NVRTC 13.0 makes depends on an earlier one with debug code."""
    loaded = ctypes.CDLL(str(library))
    major, minor = ctypes.c_int(), ctypes.c_int()
    loaded.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        flags = [f"--gpu-architecture={architecture}", "--std=c++17", f"-I{ROOT}", f"-I{source.parent}"]
        flags += ["--device-debug"] if way == "-G" else [f"--ptxas-options={way}"]
        _call([sys.executable, "-B", str(KIT), "dev", "compile-with-nvrtc", str(library), str(source), str(output), *flags])

    return Compiler(name or f"NVRTC {major.value}.{minor.value}", run)


def run_nvrtc(loaded: ctypes.CDLL, text: str, flags: list[str], headers: dict[str, str], kind: str) -> bytes:
    """CUBIN or PTX of a text, with headers that need not be files. A warning is an error."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    texts, names = ((ctypes.c_char_p * len(headers))(*(h.encode() for h in part)) for part in (headers.values(), headers))
    loaded.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"source.cu", len(headers), texts, names)
    failed = loaded.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*(f.encode() for f in flags)))
    loaded.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    loaded.nvrtcGetProgramLog(program, log)
    said = log.value.decode(errors="replace")
    if failed or "warning" in said:
        raise CompilerFailed(f"NVRTC: {' / '.join(said.splitlines()[:2])}")
    getattr(loaded, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    data = ctypes.create_string_buffer(size.value)
    getattr(loaded, f"nvrtcGet{kind}")(program, data)
    loaded.nvrtcDestroyProgram(ctypes.byref(program))
    return data.raw


def installed_nvcc() -> Path:
    """The toolkit's, also one that was fetched as a package."""
    found = find_nvcc()
    return found.path if found else Path("nvcc")


def nvrtc_library() -> Path | None:
    return next(iter(sorted(installed_nvcc().resolve().parents[1].glob("lib*/libnvrtc.so.*"))), None)


def nvrtc_here() -> list[Compiler]:
    library = nvrtc_library()
    return [nvrtc(library)] if library else []


def clang_here() -> list[Compiler]:
    return [clang(Path(found)) for name in CLANGS if (found := shutil.which(name))]


def pypi_versions(package: str) -> list[str]:
    """Every 13.x that PyPI has, the oldest first."""
    listed = _call([str(pip_python()), "-m", "pip", "index", "versions", package])
    found = re.findall(r"\b13\.\d+\.\d+\b", listed.partition("Available versions:")[2].partition("\n")[0])
    return sorted(found, key=lambda version: [int(part) for part in version.split(".")])


def from_pypi(folder: Path, only: str) -> list[Compiler]:
    """nvcc and NVRTC of each toolkit, each in a folder of its own: a compiler and its library need not have the same patch number."""
    compilers = []
    for version in (v for v in pypi_versions("nvidia-cuda-nvcc") if re.search(only, f"nvcc {v}")):
        root = _installed(folder / version, [f"nvidia-{part}=={version}" for part in ("cuda-nvcc", "cuda-crt", "nvvm")]
                          + [f"nvidia-cuda-runtime=={version.rpartition('.')[0]}.*"])
        for program in [*root.glob("bin/*"), *root.glob("nvvm/bin/*")]:
            program.chmod(program.stat().st_mode | 0o111)
        expected = root / "nvvm" / "bin" / "cicc"
        if not expected.exists():  # where 13.0.48 has it, its own nvcc does not look
            expected.parent.mkdir(exist_ok=True)
            expected.symlink_to(root / "bin" / "cicc")
        compilers.append(nvcc(root / "bin" / "nvcc"))
    for version in (v for v in pypi_versions("nvidia-cuda-nvrtc") if re.search(only, f"NVRTC {v}")):
        root = _installed(folder / f"nvrtc-{version}", [f"nvidia-cuda-nvrtc=={version}"])
        compilers.append(nvrtc(next(root.glob("lib/libnvrtc.so.*")), f"NVRTC {version}"))
    return compilers


def _installed(place: Path, packages: list[str]) -> Path:
    if not (place / "complete").is_file():
        _call([str(pip_python()), "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), *packages])
        (place / "complete").touch()
    return next(place.glob("nvidia/cu13"))


def main(argv: list[str]) -> int:
    """The tool `dev compile-with-nvrtc`, which nvrtc() starts."""
    parser = Parser("dev compile-with-nvrtc", "compile one file with one NVRTC library, in a process that does nothing else")
    parser.add_argument("library", type=Path, help="libnvrtc.so")
    parser.add_argument("source", type=Path, help="the CUDA source")
    parser.add_argument("output", type=Path, help="where the cubin goes")
    parser.add_argument("flags", nargs=argparse.REMAINDER, metavar="FLAG", help="what NVRTC is given")
    options = parser.parse_args(argv)
    try:
        options.output.write_bytes(run_nvrtc(ctypes.CDLL(str(options.library)), options.source.read_text(), options.flags, {}, "CUBIN"))
    except CompilerFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0
