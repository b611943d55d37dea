"""The instructions that harness/kernel.h gives a kernel on a GPU: each accessor is the one of the PTX ISA that its name promises."""

from __future__ import annotations

import subprocess

import pytest

from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import find_nvcc

# What a kernel calls, and the only access, clock, fence or barrier in its PTX beside the compiler's stores of results.
CALLS = {
    "out[0] = k_load(in)": "ld.global.ca.u32",
    "out[0] = k_load_l2(in)": "ld.global.cg.u32",
    "out[0] = k_load_read_only(in)": "ld.global.nc.u32",
    "out[0] = k_load_relaxed(in)": "ld.relaxed.gpu.global.u32",
    "out[0] = k_load_system(in)": "ld.relaxed.sys.global.u32",
    "wide[0] = k_load64_relaxed(in)": "ld.relaxed.gpu.global.u64",
    "k_load4(in, out)": "ld.global.ca.v4.u32",
    "k_load4_l2(in, out)": "ld.global.cg.v4.u32",
    "k_store(in, 1)": "st.global.u32",
    "uint32_t four[4] = { 1, 2, 3, 4 }; k_store4(in, four)": "st.global.v4.u32",
    "k_store_relaxed(in, 1)": "st.relaxed.gpu.global.u32",
    "k_store64_relaxed(in, 1)": "st.relaxed.gpu.global.u64",
    "k_add(in, 1)": "red.relaxed.gpu.global.add.u32",
    "k_min64(in, 1)": "red.relaxed.gpu.global.min.u64",
    "k_max64(in, 1)": "red.relaxed.gpu.global.max.u64",
    "wide[0] = k_now()": "mov.u64 %globaltimer",
    "out[0] = k_sm()": "mov.u32 %smid",
    "out[0] = k_dynamic_shared()": "mov.u32 %dynamic_smem_size",
    "k_fence()": "membar.gl",
    "k_fence_system()": "membar.sys",
    "k_barrier()": "bar.sync",
    "k_trigger()": "griddepcontrol.launch_dependents",
    "k_wait_device()": "griddepcontrol.wait",
}
WATCHED = ("ld.global", "ld.relaxed", "ld.volatile", "ld.acquire", "st.", "red.", "atom.", "membar", "fence", "bar.", "barrier",
           "griddepcontrol")


def _instructions(ptx: str, kernel: int) -> list[str]:
    """The watched instructions of one kernel without their operands, and special registers that it reads."""
    body = ptx.split(f".entry k{kernel}(", 1)[1].split("\n}", 1)[0]
    found = []
    for line in (line.strip().rstrip(";") for line in body.splitlines()):
        name, _, operands = line.partition(" ")
        name = name.split("\t")[0]
        if name.startswith(WATCHED):
            found.append(name)
        elif name in ("mov.u32", "mov.u64") and "%" in operands and operands.split("%")[-1].isidentifier() and not operands[-1].isdigit():
            found.append(f"{name} %{operands.split('%')[-1]}")
    return found


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> str:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("nvcc is not here, so nothing was compiled")
    folder = tmp_path_factory.mktemp("kernel")
    kernels = "\n".join(
        f'extern "C" __global__ void k{i}(uint32_t *in, uint32_t *out, uint64_t *wide) {{ {call}; }}'
        for i, call in enumerate(CALLS))
    (folder / "k.cu").write_text(f'#include "kernel.h"\n{kernels}\n')
    command = [str(nvcc.path), "-ptx", "-arch=sm_90", f"-I{ROOT}", f"-I{KIT / 'harness'}", "-o", "k.ptx", "k.cu"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "k.ptx").read_text()


@pytest.mark.parametrize(("number", "call"), list(enumerate(CALLS)), ids=list(CALLS))
def test_an_accessor_is_the_instruction_that_its_name_promises(ptx: str, number: int, call: str) -> None:
    access, *results = _instructions(ptx, number)
    assert access == CALLS[call]
    assert all(name.startswith("st.global.u") for name in results), results
