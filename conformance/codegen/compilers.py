"""The compilers that make machine code of a CUDA source here: nvcc, NVRTC, clang with our ptxas, toolkits of PyPI."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from pdlkit.lint.tools import tool  # noqa: E402
from pdlkit.toolchain import find_nvcc  # noqa: E402

ARCHITECTURES = ("sm_90", "sm_90a", "sm_100", "sm_103", "sm_110", "sm_120")
WAYS = ("-O3", "-O2", "-O1", "-O0", "-G")
# Toolkits 13.x of PyPI, one nvcc each; 13.0 is also what the tests of this kit use.
PYPI_NVCC = ("13.0.88", "13.1.115", "13.2.86", "13.3.73", "13.4.92", "13.5.37")


class CompilerFailed(Exception):
    """The compiler's own words."""


@dataclass(frozen=True)
class Compiler:
    name: str
    ways: tuple[str, ...]
    run: Callable[[Path, str, str, Path], None]  # source, architecture, way, output

    def compile(self, source: Path, architecture: str, way: str, folder: Path) -> Path:
        output = folder / f"{re.sub(r'[^0-9a-z]+', '-', self.name)}.{architecture}{way}.cubin"
        self.run(source, architecture, way, output)
        return output


def _call(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).strip().splitlines() if line]
        raise CompilerFailed(f"{Path(command[0]).name}: {' / '.join(lines[:2])}")
    return done.stdout


def nvcc(path: Path, name: str | None = None) -> Compiler:
    release = re.search(r"V(\d+\.\d+\.\d+)", _call([str(path), "--version"]))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        flags = [str(path), "-std=c++17", "-w", f"-arch={architecture}", "-I", str(ROOT)]
        if way == "-G":
            _call([*flags, "-G", "-cubin", "-o", str(output), str(source)])
            return
        ptx = output.with_name(f"{source.stem}.{output.name.split('.')[0]}.{architecture}.ptx")  # one for all levels of ptxas
        if not ptx.is_file():
            _call([*flags, "-O3", "-ptx", "-o", str(ptx), str(source)])
        _call([str(path.parent / "ptxas"), f"-arch={architecture}", way, "-o", str(output), str(ptx)])

    return Compiler(name or f"nvcc {release.group(1) if release else 'of unknown version'}", WAYS, run)


def clang(path: Path) -> Compiler:
    """clang makes PTX for sm_90, the newest target that version 19 knows; our ptxas assembles it for all."""
    release = re.search(r"version (\d+\.\d+)", _call([str(path), "--version"]))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        ptx = output.with_name(f"{source.stem}.clang.ptx")
        if not ptx.is_file():
            _call([str(path), "-x", "cuda", "--cuda-gpu-arch=sm_90", "--cuda-device-only", "-nocudainc", "-nocudalib", "-std=c++17",
                   "-fms-extensions", "-w", "-O3", "-Xclang", "-target-feature", "-Xclang", "+ptx80", "-S", "-I", str(ROOT), "-o",
                   str(ptx), str(source)])
        _call([str(tool("ptxas")), f"-arch={architecture}", way, "-o", str(output), str(ptx)])

    return Compiler(f"clang {release.group(1) if release else 'of unknown version'}", tuple(w for w in WAYS if w != "-G"), run)


def nvrtc(library: Path) -> Compiler:
    loaded = ctypes.CDLL(str(library))
    major, minor = ctypes.c_int(), ctypes.c_int()
    loaded.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))

    def run(source: Path, architecture: str, way: str, output: Path) -> None:
        flags = [f"--gpu-architecture={architecture}", "--std=c++17", f"-I{ROOT}", f"-I{source.parent}"]
        flags += ["--device-debug"] if way == "-G" else [f"--ptxas-options={way}"]
        program = ctypes.c_void_p()
        loaded.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
        given = (ctypes.c_char_p * len(flags))(*(f.encode() for f in flags))
        failed = loaded.nvrtcCompileProgram(program, len(flags), given)
        size = ctypes.c_size_t()
        if failed:
            loaded.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            loaded.nvrtcGetProgramLog(program, log)
            raise CompilerFailed(f"NVRTC: {' / '.join(log.value.decode(errors='replace').splitlines()[:2])}")
        loaded.nvrtcGetCUBINSize(program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        loaded.nvrtcGetCUBIN(program, data)
        output.write_bytes(data.raw)
        loaded.nvrtcDestroyProgram(ctypes.byref(program))

    return Compiler(f"NVRTC {major.value}.{minor.value}", WAYS, run)


def installed_nvcc() -> Path:
    """The toolkit's, also one that was fetched as a package."""
    found = find_nvcc()
    return found.path if found else Path("nvcc")


def found_here(folder: Path) -> list[Compiler]:
    """nvcc first; NVRTC and clang where this machine has them."""
    compilers = [nvcc(installed_nvcc())]
    libraries = sorted(installed_nvcc().resolve().parents[1].glob("lib*/libnvrtc.so.*"))
    compilers += [nvrtc(libraries[0])] if libraries else []
    for name in ("clang++-19", "clang++-20", "clang++-21"):
        found = shutil.which(name)
        compilers += [clang(Path(found))] if found else []
    return compilers


def from_pypi(folder: Path, known: list[str]) -> list[Compiler]:
    """The other toolkits: nvcc with its parts, and NVRTC, each in a folder of its own."""
    compilers: list[Compiler] = []
    for version in PYPI_NVCC:
        place = folder / version
        minor = ".".join(version.split(".")[:2])
        if not (place / "complete").is_file():
            packages = [f"nvidia-cuda-nvcc=={version}", f"nvidia-cuda-crt=={version}", f"nvidia-nvvm=={version}"]
            packages += [f"nvidia-cuda-{part}=={minor}.*" for part in ("nvrtc", "runtime")]
            _call([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), *packages])
            (place / "complete").touch()
        root = next(place.glob("nvidia/cu13"))
        for program in [*root.glob("bin/*"), *root.glob("nvvm/bin/*")]:
            program.chmod(program.stat().st_mode | 0o111)
        compilers += [c for c in (nvcc(root / "bin" / "nvcc"), nvrtc(next(root.glob("lib/libnvrtc.so.*")))) if c.name not in known]
    return compilers
