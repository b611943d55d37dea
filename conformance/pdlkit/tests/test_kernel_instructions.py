"""The instructions that harness/kernel.h gives a kernel on a GPU: each accessor is the one of the PTX ISA that its name promises."""

from __future__ import annotations

import re
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
    "out[0] = k_load_acquire(in)": "ld.acquire.gpu.global.u32",
    "out[0] = k_load_streamed(in)": "ld.global.cs.u32",
    "out[0] = k_load_constant(words, 3)": "ld.const.u32",
    "out[0] = k_load8(in)": "ld.global.ca.u8",
    "out[0] = k_load16(in)": "ld.global.ca.u16",
    "wide[0] = k_load64(in)": "ld.global.ca.u64",
    "wide[0] = k_load64_relaxed(in)": "ld.relaxed.gpu.global.u64",
    "k_load4(in, out)": "ld.global.ca.v4.u32",
    "k_load4_l2(in, out)": "ld.global.cg.v4.u32",
    "k_store(in, 1)": "st.global.u32",
    "k_store8(in, 1)": "st.global.u8",
    "k_store16(in, 1)": "st.global.u16",
    "k_store64(in, 1)": "st.global.u64",
    "k_store_streamed(in, 1)": "st.global.cs.u32",
    "k_store_release(in, 1)": "st.release.gpu.global.u32",
    "uint32_t four[4] = { 1, 2, 3, 4 }; k_store4(in, four)": "st.global.v4.u32",
    "k_store_relaxed(in, 1)": "st.relaxed.gpu.global.u32",
    "k_store64_relaxed(in, 1)": "st.relaxed.gpu.global.u64",
    "k_add(in, 1)": "red.relaxed.gpu.global.add.u32",
    "k_add_release(in, 1)": "red.release.gpu.global.add.u32",
    "out[0] = k_take(in, 1)": "atom.relaxed.gpu.global.add.u32",
    "out[0] = k_exchange(in, 1)": "atom.relaxed.gpu.global.exch.b32",
    "out[0] = k_compare(in, 1, 2)": "atom.relaxed.gpu.global.cas.b32",
    "k_min64(in, 1)": "red.relaxed.gpu.global.min.u64",
    "k_max64(in, 1)": "red.relaxed.gpu.global.max.u64",
    "out[0] = k_shared()[3]": "ld.volatile.shared.u32",
    "wide[0] = k_now()": "mov.u64 %globaltimer",
    "out[0] = k_sm()": "mov.u32 %smid",
    "out[0] = k_thread()": "mov.u32 %tid.x",
    "out[0] = k_block()": "mov.u32 %ctaid.x",
    "out[0] = k_threads()": "mov.u32 %ntid.x",
    "out[0] = k_blocks()": "mov.u32 %nctaid.x",
    "out[0] = k_dynamic_shared()": "mov.u32 %dynamic_smem_size",
    "k_fence()": "membar.gl",
    "k_fence_system()": "membar.sys",
    "k_barrier()": "bar.sync",
    "k_trigger()": "griddepcontrol.launch_dependents",
    "k_wait_device()": "griddepcontrol.wait",
}
WATCHED = ("ld.global", "ld.const", "ld.relaxed", "ld.volatile", "ld.acquire", "st.", "red.", "atom.", "membar", "fence", "bar.", "barrier",
           "griddepcontrol")
SHAPE = [f"{what}.{axis}" for what in ("nctaid", "ntid", "cluster_nctaid") for axis in "xyz"]  # what k_shape() tells, in this order
# Has a test of its own; is nothing on a GPU; is a call of the device runtime, and rule EDGE-26b asks what it does.
ELSEWHERE = {"k_shape", "k_pause", "k_set_condition"}
KERNELS = [*CALLS, "k_shape(out)"]


def _instructions(ptx: str, kernel: int) -> list[str]:
    """The watched instructions of one kernel without their operands, and special registers that it reads."""
    body = ptx.split(f".entry k{kernel}(", 1)[1].split("\n}", 1)[0]
    found = []
    for line in (line.strip().rstrip(";") for line in body.splitlines()):
        name, _, operands = line.partition(" ")
        name = name.split("\t")[0]
        if name.startswith(WATCHED):
            found.append(name)
        elif name in ("mov.u32", "mov.u64") and "%" in operands and re.fullmatch(r"[a-z_]+(\.[xyz])?", operands.split("%")[-1]):
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
        for i, call in enumerate(KERNELS))
    (folder / "k.cu").write_text(f'#include "kernel.h"\nCONSTANT_WORDS(words, 8);\n{kernels}\n')
    command = [str(nvcc.path), "-ptx", "-arch=sm_90", f"-I{ROOT}", f"-I{KIT / 'harness'}", "-o", "k.ptx", "k.cu"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "k.ptx").read_text()


@pytest.mark.parametrize(("number", "call"), list(enumerate(CALLS)), ids=list(CALLS))
def test_an_accessor_is_the_instruction_that_its_name_promises(ptx: str, number: int, call: str) -> None:
    access, *results = _instructions(ptx, number)
    assert access == CALLS[call]
    assert all(name.startswith("st.global.u") for name in results), results


def test_the_shape_is_that_of_the_launch(ptx: str) -> None:
    """Three numbers each of the grid, the block and the cluster: a graph that mixes up two of them is judged by this."""
    body = ptx.split(f".entry k{len(CALLS)}(", 1)[1]
    read = {register: name for register, name in re.findall(r"mov\.u32\s+(%r\d+), %([a-z_]+\.[xyz]);", body)}
    stores = re.findall(r"st\.global\.u32\s+\[%rd\d+\+?(\d*)\], (%r\d+);", body)
    stored = {int(place or 0) // 4: read.get(register) for place, register in stores}  # the last one of each place
    assert [stored[place] for place in sorted(stored)] == SHAPE


def test_no_accessor_is_left_out() -> None:
    text = (KIT / "harness" / "kernel.h").read_text(encoding="utf-8")
    gpu = text.partition("/* ---- a GPU ---- */")[2].partition("/* ---- built from the above")[0]
    named = set(re.findall(r"^(?:DEVICE_FN .*?|#define |K_(?:LOAD|STORE)(?:32|128)\()(k_[a-z0-9_]+)[(,]", gpu, re.MULTILINE))
    assert len(named) > 25
    assert named - ELSEWHERE == {name for call in CALLS for name in re.findall(r"k_[a-z0-9_]+(?=\()", call)}
