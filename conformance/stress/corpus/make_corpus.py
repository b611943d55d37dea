"""Makes real PTX for `stress roundtrip` with every compiler that is installed: nvcc, NVRTC of several toolkits, clang, Triton.

    python3 conformance dev toolkits --prefixes PREFIXES --record toolkits.md    # fetches the toolkits
    python3 conformance dev make-corpus FOLDER --prefixes PREFIXES --triton python3
    python3 conformance stress roundtrip FOLDER/*.ptx --record conformance/stress/corpus/roundtrip.json

What cannot be made is reported with the reason. Needs no GPU.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KIT = HERE.parents[1]
ZOO = KIT / "stress" / "zoo" / "zoo_kernels.cuh"
NVRTC = r"""
import ctypes, sys
library, target, source, *options = sys.argv[1:]
n, program, size = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_size_t()
text = open(source, "rb").read()
assert n.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None) == 0
words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
code = n.nvrtcCompileProgram(program, len(options), words)
n.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
n.nvrtcGetProgramLog(program, log)
sys.stderr.write(log.value.decode(errors="replace"))
if code:
    sys.exit(1)
n.nvrtcGetPTXSize(program, ctypes.byref(size))
ptx = ctypes.create_string_buffer(size.value)
n.nvrtcGetPTX(program, ptx)
open(target, "wb").write(ptx.value)
"""


def _run(what: str, argv: list[object]) -> bool:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, errors="replace", check=False)
    lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
    print(f"made: {what}" if done.returncode == 0 else f"NOT made: {what}: {lines[0][:160]}", flush=True)
    return done.returncode == 0


def by_nvcc(folder: Path, nvcc: Path, name: str) -> None:
    """CUB's algorithms on three types, its block-wide ones, and the zoo with several compiler options."""
    for kind in ("int", "float", "double"):
        target = folder / f"{name}-library-{kind}.ptx"
        _run(target.name, [nvcc, "-std=c++17", "-arch=compute_90", "-ptx", f"-DTYPE={kind}", HERE / "library_kernels.cu", "-o", target])
    _run(f"{name}-block", [nvcc, "-std=c++17", "-arch=compute_90", "-ptx", HERE / "block_kernels.cu", "-o", folder / f"{name}-block.ptx"])
    for way, flags in (("plain", []), ("lines", ["-lineinfo"]), ("debug", ["-G"]), ("linked", ["-rdc=true"])):
        _run(f"{name}-zoo-{way}", [nvcc, "-std=c++17", "-arch=compute_90", "-ptx", *flags, "-x", "cu", ZOO,
                                   "-o", folder / f"{name}-zoo-{way}.ptx"])


def by_nvrtc(folder: Path, prefix: Path, cccl: Path) -> None:
    """The zoo and CUB's block-wide algorithms by one toolkit's run-time compiler."""
    libraries = sorted(prefix.glob("lib*/libnvrtc.so*"), key=lambda path: len(path.name))
    if not libraries:
        return print(f"NOT made: NVRTC {prefix.name}: there is no libnvrtc in {prefix}")
    common = ["--std=c++17", "--gpu-architecture=compute_90", f"-I{ZOO.parent}", f"-I{prefix / 'include'}"]
    for name, source, more in (("zoo", ZOO, []), ("block", HERE / "block_kernels.cu", [f"-I{cccl}"])):
        target = folder / f"nvrtc-{prefix.name}-{name}.ptx"
        _run(target.name, [sys.executable, "-c", NVRTC, libraries[-1], target, source, *common, *more])


def by_clang(folder: Path, clang: str, prefix: Path) -> None:
    """The zoo by clang with one toolkit's headers."""
    target = folder / f"{Path(clang).name}-{prefix.name}-zoo.ptx"
    _run(target.name, [clang, "-x", "cuda", "-std=c++17", "-O2", "--cuda-device-only", "--cuda-gpu-arch=sm_90", f"--cuda-path={prefix}",
                       "-Wno-unknown-cuda-version", "-S", ZOO, "-o", target])


def main(argv: list[str] | None = None) -> int:
    """0 if something was made."""
    parser = argparse.ArgumentParser(description="Make PTX with every compiler that is there.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prefixes", type=Path, help="toolkits, one folder each, as packaging/toolkits.py makes them")
    parser.add_argument("--triton", metavar="PYTHON", help="an interpreter that has Triton")
    given = parser.parse_args(argv)
    given.folder.mkdir(parents=True, exist_ok=True)
    nvcc = shutil.which("nvcc")
    cccl = Path(nvcc).resolve().parents[1] / "include" / "cccl" if nvcc else Path("none")
    prefixes = sorted(path for path in given.prefixes.iterdir() if (path / "include").is_dir()) if given.prefixes else []
    if nvcc:
        by_nvcc(given.folder, Path(nvcc), "nvcc")
    for prefix in prefixes:
        by_nvrtc(given.folder, prefix, cccl)
        if prefix.name == "newest" and (prefix / "bin" / "nvcc").is_file():
            by_nvcc(given.folder, prefix / "bin" / "nvcc", "nvcc-newest")
        for clang in filter(shutil.which, ("clang++-19", "clang-19", "clang++-18")):
            by_clang(given.folder, clang, prefix)
            break
    if given.triton:
        _run("triton", [given.triton, HERE / "triton_kernels.py", given.folder])
    return 0 if any(given.folder.glob("*.ptx")) else 1
