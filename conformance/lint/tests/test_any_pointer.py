"""pdl_device.cuh with unusual pointers, through every pass of every compiler of this machine, without a warning."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.lint.shapes import check_shapes, compilers
from conformance.pdlkit.places import ROOT

_SHAPES = Path(check_shapes.__file__).parent
_SOURCE = _SHAPES / "any_pointer.cu"
# waits, triggers, loads of the kernel that older targets share
_EXPECTED = {"compute_80": (0, 0, ["ld.global.nc.f32"]), "compute_90": (6, 1, ["ld.global.f32"])}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _nvcc(*flags: str) -> list[str]:
    return [str(compilers.installed_nvcc()), "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", *flags]


def _waits_and_read_only(ptx: str) -> tuple[int, int, list[str]]:
    shared = ptx[ptx.index(".entry shared_with_older_targets"):].partition("\n}")[0]
    return ptx.count("griddepcontrol.wait"), ptx.count("griddepcontrol.launch_dependents"), re.findall(r"\bld\.global\S*", shared)


def test_a_fat_binary_of_old_and_new_targets(tmp_path: Path) -> None:
    targets = [f"-gencode=arch=compute_{a},code={code}" for a, code in (("80", "sm_80"), ("90", "[sm_90,compute_90]"), ("120a", "sm_120a"))]
    _run(_nvcc("-std=c++11", *targets, "-I", str(ROOT), "-c", "-o", str(tmp_path / "any.o"), str(_SOURCE)))


def _check_target(folder: Path, target: str, headers: Path) -> None:
    _run(_nvcc(f"-arch={target}", "-I", str(headers), "-ptx", "-o", str(folder / "any.ptx"), str(_SOURCE)))
    assert _waits_and_read_only((folder / "any.ptx").read_text()) == _EXPECTED[target]


@pytest.mark.parametrize("target", _EXPECTED)
def test_older_targets_have_no_wait_and_keep_restrict(tmp_path: Path, target: str) -> None:
    _check_target(tmp_path, target, ROOT)


@pytest.mark.parametrize("target", _EXPECTED)
def test_nvrtc_without_any_file(target: str) -> None:
    library = compilers.nvrtc_library()
    if library is None:
        pytest.skip("this toolkit has no NVRTC")
    headers = {path.name: path.read_text() for path in (ROOT / "pdl_device.cuh", _SHAPES / "device_words.h")}
    ptx = compilers.run_nvrtc(ctypes.CDLL(str(library)), _SOURCE.read_text(), [f"-arch={target}", "-default-device"], headers, "PTX")
    assert _waits_and_read_only(ptx.decode(errors="replace")) == _EXPECTED[target]


@pytest.mark.parametrize("side", ["--cuda-host-only", "--cuda-device-only"])
def test_clang(tmp_path: Path, side: str) -> None:
    clang = next((found for name in compilers.CLANGS if (found := shutil.which(name))), None)
    if clang is None:
        pytest.skip("needs clang 19 or newer")
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-cuda-version"]  # the last: of the toolkit, which is not used
    _run([clang, *compilers.CLANG_FLAGS, side, *strict, "-S", "-o", str(tmp_path / "any.s"), str(_SOURCE)])


@pytest.mark.parametrize(("old", "new", "target", "said"), [
    ("const volatile void *any = pointer;", "const void *any = pointer;", "compute_90", "error"),
    ("    return pointer;\n", "    return pointer + 0;\n", "compute_80", "error"),
    ("#define PDL_RESTRICT __restrict__", "#define PDL_RESTRICT", "compute_80", "'ld.global.f32'"),
    ("&& __CUDA_ARCH__ >= 900", "", "compute_80", "error|assert \\(6")])
def test_a_broken_header_is_seen(tmp_path: Path, old: str, new: str, target: str, said: str) -> None:
    text = (ROOT / "pdl_device.cuh").read_text()
    assert old in text
    (tmp_path / "pdl_device.cuh").write_text(text.replace(old, new))
    with pytest.raises(AssertionError, match=said):
        _check_target(tmp_path, target, tmp_path)


def _reads(folder: Path, headers: Path) -> int:
    _run(_nvcc("-arch=sm_90", "-I", str(headers), "-cubin", "-o", str(folder / "any.cubin"), str(_SOURCE)))
    return len(check_shapes.read_code(folder / "any.cubin")["read_three_times"].loads)


def test_reads_are_not_shared_across_barrier_and_wait(tmp_path: Path) -> None:
    assert _reads(tmp_path, ROOT) == 3
    text = (ROOT / "pdl_device.cuh").read_text()
    (tmp_path / "pdl_device.cuh").write_text(text.replace('asm volatile("" : "+l"(address) : : "memory");', ""))
    assert _reads(tmp_path, tmp_path) == 1


def _without_clobber(text: str) -> list[str]:
    statements = re.findall(r"\basm\b[^;]*\((?:[^;\"]|\"[^\"]*\")*\);", text)
    kept = [s for s in statements if "griddepcontrol" in s or "address" in s]
    assert len(kept) == 4, kept  # wait, trigger, the trigger of PDL_STRESS, fresh pointer
    return [s for s in kept if not s.startswith("asm volatile(") or '"memory"' not in s]


def test_wait_trigger_and_fresh_pointer_have_a_clobber() -> None:
    """Today's compilers make the same code without it, so only the text can tell."""
    text = (ROOT / "pdl_device.cuh").read_text()
    assert _without_clobber(text) == []
    assert len(_without_clobber(text.replace(' ::: "memory"', ""))) == 3
    assert len(_without_clobber(text.replace('asm volatile("" :', 'asm("" :'))) == 1
