"""The compiler wrappers, as CMake, make and Triton call them. Compile only; nothing runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit import toolkit
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.stress.ptx import ptxas_wrapper

NVCC = find_nvcc()
SCRIPTS = KIT / "stress" / "ptx"
pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")
SOURCE = """
__global__ void plain(int *p) { p[threadIdx.x]++; }
__global__ void publishes(int *p) { p[0] = 1; __threadfence(); asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
int main() { plain<<<1, 1>>>(0); publishes<<<1, 1>>>(0); }
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "a.cu").write_text(SOURCE)
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    assert NVCC
    return {**os.environ, "PDL_STRESS_BUILD_LOG": str(place / "log"), "PATH": f"{NVCC.path.parent}:{os.environ['PATH']}"}


def run(argv: list[object], place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in argv], cwd=place, env=environment(place), capture_output=True, text=True)


def log(place: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (place / "log").read_text().splitlines()]


def has_words(path: Path) -> bool:
    return b"pdlstress_" in path.read_bytes()


@pytest.mark.parametrize("more", [[], ["-rdc=true"], ["-G"], ["-lineinfo"], ["-Xfatbin", "-compress-all"]])
def test_nvcc_in_place_of_the_compiler(place: Path, more: list[str]) -> None:
    done = run([SCRIPTS / "pdl-stress-nvcc", "-arch=sm_90", *more, "a.cu", "-o", "a"], place)
    assert done.returncode == 0, done.stderr
    assert sorted(log(place)[0]["rewritten"]) == ["_Z5plainPi", "_Z9publishesPi"]
    assert log(place)[0]["fence_before_trigger"] == ["_Z9publishesPi"] and "exempt" in done.stderr


def test_nvcc_as_a_launcher_and_old_targets(place: Path) -> None:
    assert NVCC
    done = run([SCRIPTS / "pdl-stress-nvcc", NVCC.path, "-gencode", "arch=compute_80,code=sm_90", "-gencode",
                "arch=compute_80,code=sm_80", "-c", "-DX", "b.cu", "-o", "b.o"], _simple(place))
    assert done.returncode == 0, done.stderr
    assert log(place)[0]["raised"] == [".target sm_80 to sm_90"] and "sm_80, which has no PDL" in done.stderr


def _simple(place: Path) -> Path:
    (place / "b.cu").write_text("__global__ void k(int *p) { p[threadIdx.x]++; }\n")
    return place


def test_embedded_ptx_is_rewritten(place: Path) -> None:
    done = run([SCRIPTS / "pdl-stress-nvcc", "-gencode", "arch=compute_90,code=compute_90", "-Xfatbin", "-compress=false", "-c", "b.cu",
                "-o", "b.o"], _simple(place))
    assert done.returncode == 0, done.stderr
    assert has_words(place / "b.o")


def test_modules_that_will_be_linked_leave_constant_memory_alone(place: Path) -> None:
    """Sections of the machine code: constants of the program's own lie in .nv.constant3."""
    for flags, there in (([], True), (["-rdc=true"], False)):
        run([SCRIPTS / "pdl-stress-nvcc", "-arch=sm_90", "-cubin", *flags, "b.cu", "-o", "b.cubin"], _simple(place))
        assert (b".nv.constant3" in (place / "b.cubin").read_bytes()) == there


def test_an_exempted_kernel_stays(place: Path) -> None:
    before = dict(os.environ)
    os.environ["PDL_STRESS_OPTIONS"] = json.dumps({"exempt": "publishes"})
    try:
        run([SCRIPTS / "pdl-stress-nvcc", "-arch=sm_90", "-c", "a.cu", "-o", "a.o"], place)
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert log(place)[0]["rewritten"] == ["_Z5plainPi"] and log(place)[0]["left"] == {"_Z9publishesPi": "exempted by name"}


def test_the_compilers_errors_and_exit_codes_come_through(place: Path) -> None:
    (place / "bad.cu").write_text("not C++\n")
    done = run([SCRIPTS / "pdl-stress-nvcc", "-arch=sm_90", "-c", "bad.cu"], place)
    assert done.returncode != 0 and "error" in done.stderr


def test_ptxas_as_triton_calls_it(place: Path) -> None:
    assert NVCC
    run([NVCC.path, "-arch=sm_90", "-ptx", "a.cu", "-o", "a.ptx"], place)
    done = run([SCRIPTS / "pdl-stress-ptxas", "-lineinfo", "-v", "--gpu-name=sm_90a", "a.ptx", "-o", "a.cubin"], place)
    assert done.returncode == 0 and "registers" in done.stderr
    assert has_words(place / "a.cubin")
    assert "release" in run([SCRIPTS / "pdl-stress-ptxas", "--version"], place).stdout


def test_ptxas_as_clang_calls_it(place: Path) -> None:
    assert NVCC
    run([NVCC.path, "-arch=sm_90", "-ptx", "a.cu", "-o", "a.s"], place)
    done = run([SCRIPTS / "pdl-stress-ptxas", "-m64", "-O2", "--gpu-name", "sm_90", "--output-file", "a.cubin", "a.s"], place)
    assert done.returncode == 0, done.stderr
    assert has_words(place / "a.cubin")


def test_ptxas_falls_back_and_names_the_kernels(place: Path) -> None:
    """A name that the inserted code would collide with: the assembler refuses, the kernel is built as it was and named."""
    (place / "c.ptx").write_text(".version 8.0\n.target sm_90\n.address_size 64\n.global .b32 pdlstress_k;\n"
                                 ".visible .entry k()\n{\n\tret;\n}\n")
    done = run([SCRIPTS / "pdl-stress-ptxas", "-arch=sm_90", "c.ptx", "-o", "c.cubin"], place)
    assert done.returncode == 0 and (place / "c.cubin").exists()
    assert "not rewritten: k: ptxas refuses" in done.stderr and log(place)[0]["rewritten"] == []


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("make") is None, reason="there is no cmake or make here")
def test_cmake_launcher_and_make(place: Path) -> None:
    (place / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CUDA)\nadd_executable(a a.cu)\n")
    (place / "Makefile").write_text('b: a.cu\n\t"$(NVCC)" -arch=sm_90 $< -o $@\n')
    assert NVCC
    done = run(["cmake", "-S", place, "-B", place / "build", "-G", "Unix Makefiles", f"-DCMAKE_CUDA_COMPILER={NVCC.path}",
                "-DCMAKE_CUDA_ARCHITECTURES=90", f"-DCMAKE_CUDA_COMPILER_LAUNCHER={SCRIPTS / 'pdl-stress-nvcc'}"], place)
    assert done.returncode == 0, done.stdout + done.stderr
    (place / "log").unlink(missing_ok=True)
    assert run(["cmake", "--build", place / "build"], place).returncode == 0
    assert any("_Z5plainPi" in entry["rewritten"] for entry in log(place))
    (place / "log").unlink()
    assert run(["make", f"NVCC={SCRIPTS / 'pdl-stress-nvcc'}", "b"], place).returncode == 0
    assert any("_Z5plainPi" in entry["rewritten"] for entry in log(place))


def test_the_assembler_behind_the_stand_in_is_not_the_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in, real, other = tmp_path / "stress" / "pdl-stress-ptxas", tmp_path / "second" / "ptxas", tmp_path / "other" / "ptxas"
    for program in (stand_in, real, other):
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    for name in ("CUDACXX", *toolkit.ROOTS, ptxas_wrapper.REAL):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "ptxas").symlink_to(stand_in)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path / "path"), str(tmp_path / "second"))))
    assert ptxas_wrapper.real_ptxas() == str(real)
    monkeypatch.setenv(ptxas_wrapper.REAL, str(other))
    assert ptxas_wrapper.real_ptxas() == str(other)
