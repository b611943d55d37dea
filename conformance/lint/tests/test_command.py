"""The command as scripts see it: inputs, exit codes, JSON, SARIF, declarations, broken files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.lint.command import main
from conformance.pdlkit.elf import Cubin
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.toolchain import find_nvcc

ROOT = Path(__file__).resolve().parents[3]
_FOUND = find_nvcc()  # also one that was fetched as a package
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"
ONE_CACHE = True
_SOURCE = r"""
#include "pdl_device.cuh"
extern "C" __global__ void early(const float *a, const float *w, float *o)
{
    float v = *(const volatile float *)(w + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v + pdl_fresh(a)[threadIdx.x];
}
extern "C" __global__ void right(const float *a, float *o)
{
    pdl_wait();
    o[threadIdx.x] = pdl_fresh(a)[threadIdx.x];
}
extern "C" __global__ void never(const float *a, float *o) { o[threadIdx.x] = a[threadIdx.x]; }
#ifdef LINKED
int main() { early<<<1, 32>>>(nullptr, nullptr, nullptr); return 0; }
#endif
"""
_LARGE = r"""
#include "pdl_device.cuh"
struct large { char filler[20000]; const float *a; }; /* its size needs the newer record of a parameter */
extern "C" __global__ void behind_large(float *o, const __grid_constant__ large l, const float *a)
{
    float v = *(const volatile float *)(a + threadIdx.x), w = *(const volatile float *)(l.a + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v + w;
}
"""
_TENSORS = r"""
#include "pdl_device.cuh"
struct alignas(64) map { char opaque[128]; };
static __device__ void fetch(const void *m)
{
    __shared__ alignas(128) float to[32];
    __shared__ unsigned long long full;
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(m), "r"(0), "r"((unsigned)__cvta_generic_to_shared(&full)));
}
extern "C" __global__ void last(int n, const __grid_constant__ map a, const __grid_constant__ map b) { fetch(&b); pdl_wait(); }
extern "C" __global__ void either(int n, const __grid_constant__ map a, const __grid_constant__ map b)
{
    fetch(n ? &a : &b);
    pdl_wait();
}
struct maps { map one, many[4]; };
extern "C" __global__ void indexed(int n, const __grid_constant__ maps m) { fetch(&m.many[n]); pdl_wait(); }
extern "C" __global__ void stored(int n, const __grid_constant__ map a, const __grid_constant__ map b)
{
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" : : "l"(&b), "r"(0), "r"(n));
    pdl_wait();
}
"""

_TEXTURES = r"""
#include "pdl_device.cuh"
struct several { cudaTextureObject_t t[8]; };
extern "C" __global__ void one(float *o, int x, cudaTextureObject_t t) { float v = tex2D<float>(t, x, 0.5f); pdl_wait(); o[0] = v; }
extern "C" __global__ void chosen(float *o, const several s, int x) /* by each thread: a loop makes the choice uniform */
{
    float4 v = tex3D<float4>(s.t[threadIdx.x & 7], threadIdx.x, x, 0.5f);
    pdl_wait();
    o[threadIdx.x] = v.x + v.w;
}
"""


def _nvcc(*arguments: str) -> None:
    done = subprocess.run([_NVCC, "-std=c++17", "-w", "-I", str(ROOT), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lint")
    source = folder / "k.cu"
    source.write_text(_SOURCE)
    arch = "-arch=sm_90"
    _nvcc(arch, "-lineinfo", "-cubin", "-o", str(folder / "k.cubin"), str(source))
    _nvcc(arch, "-fatbin", "-o", str(folder / "k.fatbin"), str(source))
    _nvcc(arch, "-ptx", "-o", str(folder / "k.ptx"), str(source))
    _nvcc(arch, "-c", "-o", str(folder / "k.o"), str(source))
    _nvcc(arch, "-DLINKED", "-cudart", "none", "-Xlinker", "--unresolved-symbols=ignore-all", "-o", str(folder / "k.exe"),
          str(source))
    _nvcc(arch, "-shared", "-cudart", "none", "-Xcompiler", "-fPIC", "-o", str(folder / "k.so"), str(source))
    _nvcc("-gencode", "arch=compute_80,code=sm_90", "-cubin", "-o", str(folder / "old.cubin"), str(source))
    subprocess.run(["ar", "rcs", str(folder / "k.a"), str(folder / "k.o")], check=True)
    return folder


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def _ids(content: dict[str, Any], kernel: str) -> set[str]:
    return {f["id"] for f in content["findings"] if f["kernel"] == kernel and f["severity"] != "hint"}


@pytest.mark.parametrize("name", ["k.cubin", "k.fatbin", "k.ptx", "k.o", "k.exe", "k.so", "k.a"])
def test_every_kind_of_file(built: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, content = _json(capsys, str(built / name))
    assert code == 1
    assert "read-before-wait" in _ids(content, "early")
    assert _ids(content, "right") == _ids(content, "never") == set()
    found = next(f for f in content["findings"] if f["id"] == "read-before-wait")
    assert found["parameters"] == [2] and "parameter 2 is read before the wait" in found["message"]
    assert {"kernel", "id", "severity", "where", "message"} <= set(found)


def test_large_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text(_LARGE)
    _nvcc("-arch=sm_90", "-cubin", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.cu"))
    _, content = _json(capsys, str(tmp_path / "k.cubin"))
    found = [f for f in content["findings"] if f["id"] == "read-before-wait"]
    assert sorted(f["parameters"] for f in found) == [[2], [3]]
    assert any("parameter 2 (byte 20000)" in f["message"] for f in found)


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_a_tensor_copy_names_the_parameter_that_holds_its_map(tmp_path: Path, capsys: pytest.CaptureFixture[str], arch: str) -> None:
    (tmp_path / "k.cu").write_text(_TENSORS)
    _nvcc("-arch=" + arch, "-cubin", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.cu"))
    _, content = _json(capsys, str(tmp_path / "k.cubin"))
    found = {f["kernel"]: f for f in content["findings"] if f["id"] == "async-copy-before-wait"}
    assert {k: f["parameters"] for k, f in found.items()} == {"last": [3], "either": [2, 3], "indexed": [2], "stored": [3]}
    assert "parameter 2 (byte 128)" in found["indexed"]["message"]


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_a_texture_names_the_parameter_that_holds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], arch: str) -> None:
    (tmp_path / "k.cu").write_text(_TEXTURES)
    _nvcc("-arch=" + arch, "-cubin", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "k.cu"))
    _, content = _json(capsys, str(tmp_path / "k.cubin"))
    found = {f["kernel"]: f["parameters"] for f in content["findings"] if f["id"] == "texture-before-wait"}
    assert found["one"] == [3] and 2 in found["chosen"]


def test_named_overlapping(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, content = _json(capsys, "--overlapping", "^never$", str(built / "k.cubin"))
    assert code == 1 and _ids(content, "never") == {"no-wait"}


def test_without_the_device_half(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, str(built / "old.cubin"))[0] == 3
    code, content = _json(capsys, "--overlapping", ".", str(built / "old.cubin"))
    assert code == 1 and _ids(content, "right") == {"no-device-half", "erased-wait"}


def _as_linked_by_device_lto(path: Path, target: Path) -> Path:
    """The same image with a note that says compute_90, as the linker writes it whatever the parts were compiled for."""
    data, note = bytearray(path.read_bytes()), Cubin.load(path).section(".note.nv.cuinfo")
    assert note is not None
    at = data.index((80).to_bytes(2, "little"), note.offset + 12)
    data[at : at + 2] = (90).to_bytes(2, "little")
    target.write_bytes(data)
    assert Cubin.load(target).virtual_sm == 90
    return target


def test_a_wait_that_was_erased_is_told_where_the_image_says_compute_90(
        built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked = _as_linked_by_device_lto(built / "old.cubin", tmp_path / "linked.cubin")
    code, content = _json(capsys, "--overlapping", "^right$", str(linked))
    assert code == 1 and _ids(content, "right") == {"erased-wait"} and content["notes"] == []
    for _ in range(2):  # no kernel is said to overlap; the second time the cache may answer
        code, content = _json(capsys, str(linked))
        assert code == 3 and content["findings"] == [] and any("pdl_wait_erased" in note for note in content["notes"])
    code, content = _json(capsys, "--overlapping", "^never$", str(built / "k.cubin"))  # no wait was erased there
    assert _ids(content, "never") == {"no-wait"} and content["notes"] == []


def test_the_mark_counts_only_for_gpus_that_overlap(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _nvcc("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90", "-fatbin",
          "-o", str(tmp_path / "both.fatbin"), str(built / "k.cu"))
    code, content = _json(capsys, "--overlapping", "^right$", str(tmp_path / "both.fatbin"))
    assert code == 1 and _ids(content, "right") == set() and not any("erased" in note for note in content["notes"])


def test_source_lines(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, content = _json(capsys, str(built / "k.cubin"))
    found = next(f for f in content["findings"] if f["id"] == "read-before-wait")
    assert found["source"]["line"] == 5 and found["source"]["file"].endswith("k.cu")


def test_text_names_the_kernel(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(built / "k.cubin")]) == 1
    text = capsys.readouterr().out
    assert "early" in text and "parameter 2 is read before the wait" in text


def test_sarif(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sarif", str(built / "k.cubin")]) == 1
    run = json.loads(capsys.readouterr().out)["runs"][0]
    rules = {r["id"] for r in run["tool"]["driver"]["rules"]}
    assert run["results"] and all(r["ruleId"] in rules for r in run["results"])


def test_a_declaration_makes_an_early_read_right(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = tmp_path / "independent.toml"
    declared.write_text('[[independent]]\nkernel = "^early$"\nparameter = 2\nbecause = "weights"\n')
    code, content = _json(capsys, "--hints", "--independent", str(declared), str(built / "k.cubin"))
    assert code == 0 and "declared-independent" in {f["id"] for f in content["findings"]}
    declared.write_text('[[independent]]\nkernel = "^early$"\nparameter = 1\nbecause = "weights"\n')
    code, content = _json(capsys, "--independent", str(declared), str(built / "k.cubin"))
    assert code == 1 and {"read-before-wait", "unused-declaration"} <= {f["id"] for f in content["findings"]}


def test_broken_files_do_not_stop_the_others(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (built / "k.cubin").read_bytes()
    for length in (0, 3, 64, len(whole) // 2, len(whole) - 40):
        broken = tmp_path / f"cut{length}.cubin"
        broken.write_bytes(whole[:length])
        assert main(["--json", str(broken)]) == 2
        assert str(broken) in capsys.readouterr().err
        code, content = _json(capsys, str(broken), str(built / "k.cubin"))
        assert code == 1 and "read-before-wait" in _ids(content, "early") and content["unreadable"]


def test_damaged_bytes_never_crash(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = bytearray((built / "k.cubin").read_bytes())
    for step in range(24):
        damaged = bytearray(whole)
        for at in range(step * 37, len(damaged), 4093):
            damaged[at] ^= 0xA5
        path = tmp_path / "damaged.cubin"
        path.write_bytes(damaged)
        assert main(["--json", str(path)]) in (0, 1, 2, 3)
    capsys.readouterr()


def test_files_that_are_no_gpu_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing")
    assert main([str(text), str(tmp_path / "absent"), sys.executable]) == 2
    assert capsys.readouterr().err.count("lint: ") == 3


@pytest.mark.parametrize("arguments", [[], ["--overlapping", "(", "x"], ["--arch", "ninety", "x"], ["--nothing"]])
def test_bad_arguments(arguments: list[str]) -> None:
    with pytest.raises(BadArguments):
        main(arguments)
