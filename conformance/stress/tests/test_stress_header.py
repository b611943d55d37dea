"""PDL_STRESS in pdl_device.cuh: nothing when off, trigger and bounded hold when on. Compile only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.places import ROOT
from conformance.pdlkit.toolchain import find_nvcc

NVCC = find_nvcc()
pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")
HEADER = (ROOT / "pdl_device.cuh").read_text()
SOURCE = """
__device__ unsigned my_words[3];
#include "pdl_device.cuh"
__global__ void waits(int *p) { pdl_wait(); pdl_fresh(p)[threadIdx.x]++; }
__global__ void triggers(int *p) { p[threadIdx.x]++; pdl_trigger(); }
__global__ void both(int *p) { pdl_trigger(); int *q = pdl_wait_block(p); q[threadIdx.x]++; }
"""


def without_option(text: str) -> str:
    """The header as if there were no such option."""
    text = re.sub(r"^#if PDL_HAS_DEVICE && defined\(PDL_STRESS\)[^\n]*\n.*?#define PDL_STRESS_\(early\) \(\(void\)0\)\n#endif\n", "",
                  text, count=1, flags=re.S | re.M)
    return re.sub(r"^.*PDL_STRESS_.*\n", "", text, flags=re.M)


def compiled(folder: Path, header: str, *flags: str, kind: str = "-cubin") -> bytes:
    assert NVCC
    (folder / "pdl_device.cuh").write_text(header)
    (folder / "a.cu").write_text(SOURCE)
    target = [] if any(flag.startswith("-arch") for flag in flags) else ["-arch=sm_90"]
    done = subprocess.run([NVCC.path, "-std=c++11", *target, "-Werror", "all-warnings", kind, *flags, "a.cu", "-o", "a.out"],
                          cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "a.out").read_bytes()


def ptx(folder: Path, *flags: str) -> dict[str, str]:
    """The PTX of each kernel."""
    text = compiled(folder, HEADER, *flags, kind="-ptx").decode()
    return {name: re.search(rf"\.entry _Z\d+{name}P.*?^}}", text, re.S | re.M)[0] for name in ("waits", "triggers", "both")}  # type: ignore[index]


@pytest.mark.parametrize("flags", [[], ["-DPDL_STRESS=0"], ["-DPDL_STRESS=0", "-DPDL_STRESS_WORDS=my_words"]])
def test_off_it_is_no_code_at_all(tmp_path: Path, flags: list[str]) -> None:
    bare = without_option(HEADER)
    assert bare.count("PDL_STRESS_") == 0 and "nanosleep" not in bare and "griddepcontrol.wait;" in bare
    assert compiled(tmp_path, HEADER, *flags) == compiled(tmp_path, bare)


def test_on_each_wait_triggers_and_holds_and_each_trigger_holds(tmp_path: Path) -> None:
    found = ptx(tmp_path, "-DPDL_STRESS=7000")
    for name, body in found.items():
        assert "nanosleep.u32" in body and "%globaltimer" in body and "launch_dependents" in body, name
    assert found["waits"].index("launch_dependents") < found["waits"].index("nanosleep") < found["waits"].index("griddepcontrol.wait")
    assert found["triggers"].count("launch_dependents") == 1


def test_seed_and_bounds_are_constants_of_the_code(tmp_path: Path) -> None:
    one = ptx(tmp_path, "-DPDL_STRESS=7000")
    assert one == ptx(tmp_path, "-DPDL_STRESS=7000", "-DPDL_STRESS_LEAST=5250", "-DPDL_STRESS_SEED=1")
    for other in (["-DPDL_STRESS=9000"], ["-DPDL_STRESS=7000", "-DPDL_STRESS_SEED=2"], ["-DPDL_STRESS=7000", "-DPDL_STRESS_LEAST=0"]):
        assert ptx(tmp_path, *other)["waits"] != one["waits"]
    assert not re.search(r"ld\.(global|volatile)", one["triggers"].split("nanosleep")[0].split("launch_dependents")[1])


def test_bounds_in_the_users_own_memory_are_read_at_run_time(tmp_path: Path) -> None:
    body = ptx(tmp_path, "-DPDL_STRESS=1", "-DPDL_STRESS_WORDS=my_words")["waits"]
    ahead = body[:body.index("nanosleep")]
    assert len(re.findall(r"ld\.volatile\.global\.u32|ld\.volatile\.global\.b32", ahead)) == 3 and "my_words" in ahead
    assert "bra" in body[:body.index("launch_dependents")], "a longest hold of 0 does not trigger, either"


@pytest.mark.parametrize("arch", ["compute_80", "compute_100", "compute_120"])
def test_other_targets_compile_and_old_ones_get_nothing(tmp_path: Path, arch: str) -> None:
    text = compiled(tmp_path, HEADER, "-DPDL_STRESS=7000", f"-arch={arch}", kind="-ptx").decode()
    assert ("nanosleep" in text) == (arch != "compute_80")
