"""Kernels that wait only if a parameter says so: which one is named, and what depends on it is told once."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conformance.lint.command import main
from conformance.lint.findings import Finding
from conformance.lint.linter import Options, lint_files
from conformance.pdlkit.toolchain import find_nvcc

ROOT = Path(__file__).resolve().parents[3]
_FOUND = find_nvcc()  # also one that was fetched as a package
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"
_SOURCE = r"""
#include "pdl_device.cuh"
struct arguments { const float *a, *early; float *o; int n; unsigned char other, overlaps; };
static __device__ __forceinline__ void touch(const float *a, float *o)
{
    float sum = 0.0f;
    _Pragma("unroll") for (int i = 0; i < 6; i++) {
        sum += ((const volatile float *)a)[i * 32 + threadIdx.x];
    }
    o[threadIdx.x] = sum;
}
extern "C" __global__ void asked(arguments p)
{
    float x = *(const volatile float *)(p.early + threadIdx.x);
    if (p.overlaps) {
        pdl_wait();
    }
    touch(p.a, p.o);
    p.o[threadIdx.x + 32] = x;
}
extern "C" __global__ void two_roles(arguments p) /* of which only one would wait */
{
    if (threadIdx.x < 32) {
        if (p.overlaps) {
            pdl_wait();
        }
        touch(p.a, p.o);
    } else {
        p.o[threadIdx.x] = *(const volatile float *)(p.early + threadIdx.x);
    }
}
extern "C" __global__ void by_thread(const float *a, float *o) /* no parameter is asked */
{
    if (threadIdx.x < 7) {
        pdl_wait();
    }
    touch(a, o);
}
"""


@pytest.fixture(scope="module", params=["sm_90", "sm_120"])
def cubin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("deciders")
    (folder / "k.cu").write_text(_SOURCE)
    command = [_NVCC, "-std=c++17", "-w", f"-arch={request.param}", "-I", str(ROOT), "-cubin", "-o", str(folder / "k.cubin")]
    done = subprocess.run([*command, str(folder / "k.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "k.cubin"


def _findings(cubin: Path, kernel: str) -> list[Finding]:
    return [f for f in lint_files([cubin], Options()).findings if f.kernel == kernel and f.severity != "hint"]


def test_the_byte_that_is_asked_is_named(cubin: Path) -> None:
    found = _findings(cubin, "asked")
    skipped = [f for f in found if f.id == "path-without-wait"]
    assert len(skipped) == 8 and {f.condition for f in skipped} == {"parameter 1 (byte 29)"}
    assert all("parameter 1 (byte 29) decides whether the kernel waits" in f.message for f in skipped)
    early = [f for f in found if f.id == "read-before-wait"]
    assert len(early) == 1 and early[0].condition is None  # comes ahead of the wait in any case


def test_what_does_not_depend_on_it_is_told_apart(cubin: Path) -> None:
    """Threads of the other role never wait, whatever the parameter says."""
    found = {((f.instruction or "").split(".")[0], f.condition) for f in _findings(cubin, "two_roles")}
    assert found == {(opcode, condition) for opcode in ("LDG", "STG") for condition in ("parameter 1 (byte 29)", None)}
    assert {f.condition for f in _findings(cubin, "by_thread")} == {None}


def test_the_text_tells_it_once_and_json_each(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(cubin)]) == 1
    text = capsys.readouterr().out
    asked = text[text.index("asked ("):].split("\n\n")[0]
    under_condition = [line for line in asked.splitlines() if "decides whether the kernel waits" in line]
    assert 1 <= len(under_condition) < 8 and any("places; this is the first" in line for line in under_condition)
    assert main([str(cubin), "--json"]) == 1
    rows = [f for f in json.loads(capsys.readouterr().out)["findings"] if f["kernel"] == "asked" and f["condition"]]
    assert len(rows) == 8 and all(row["offset"] > 0 and row["instruction"] for row in rows)
