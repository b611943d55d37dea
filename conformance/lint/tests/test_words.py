"""Listings made of words that were disassembled once: what nvdisasm prints of the image, but for the names of labels."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conformance.lint import disassembly, words
from conformance.lint.sources import Image, load_cubin
from conformance.lint.tests.conftest import _NVCC
from conformance.pdlkit.cuda_programs import ToolFailed

_SOURCE = """
__device__ __noinline__ float of(float v) { return v * v + 1; }
extern "C" __global__ void loops(const float *a, float *o, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += a[i] > 0 ? a[i] : __shfl_xor_sync(~0u, sum, 1);
    if (n < 0)
        return;
    __syncthreads();
    o[threadIdx.x] = sum;
}
extern "C" __global__ void calls(float *o) { o[threadIdx.x] = of(o[threadIdx.x]); }
extern "C" __global__ void divides(unsigned long long *o, unsigned long long n) { *o /= n; }
"""
_LABEL, _USE, _CODE = re.compile(r"(\.L_\w+):"), re.compile(r"`\((\.L_\w+)\)"), re.compile(r" +/\*[0-9a-f]{4,}\*/")


def _image(folder: Path, *flags: str) -> Image:
    (folder / "k.cu").write_text(_SOURCE)
    path = folder / "k.cubin"
    subprocess.run([_NVCC, "-cubin", *flags, "-o", str(path), str(folder / "k.cu")], check=True, capture_output=True)
    return load_cubin(path, None, path)


def _said(listing: bytes | memoryview) -> tuple[list[str], set[int]]:
    """The instructions, with numbers for labels, and where labels stand."""
    code: list[str] = []
    labels: dict[str, int] = {}
    for line in bytes(listing).decode().splitlines():
        if label := _LABEL.fullmatch(line):
            labels[label[1]] = len(code)
        elif _CODE.match(line):
            code.append(re.sub(r" *;$", "", line))
    return [_USE.sub(lambda use: f"`({labels[use[1]]})", line) for line in code], set(labels.values()) - {len(code)}


@pytest.mark.parametrize("arch", ["sm_90", "sm_90a", "sm_100a", "sm_120"])
def test_words_say_what_the_disassembler_says_of_the_image(arch: str, tmp_path: Path) -> None:
    image = _image(tmp_path, f"-arch={arch}")
    found = words.listings(image.cubin, {"loops"}, tmp_path)
    assert found.keys() == {"loops"} and len(_said(found["loops"])[1]) > 2
    assert _said(found["loops"]) == _said(disassembly._disassembled(image, {"loops"}, tmp_path)["loops"])


def test_what_words_do_not_say_is_left_to_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_FEW", 0)
    image = _image(tmp_path, "-arch=sm_90")
    everything = {section.name.removeprefix(".text.") for section in image.cubin.text_sections}
    assert words.listings(image.cubin, everything, tmp_path).keys() == {"loops"}
    assert disassembly.disassemble(image, everything).keys() == everything
    assert not words.listings(_image(tmp_path, "-arch=sm_90", "-lineinfo").cubin, {"loops"}, tmp_path)


def test_words_are_disassembled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_known", {})
    image = _image(tmp_path, "-arch=sm_90")
    first = words.listings(image.cubin, {"loops"}, tmp_path)

    def refused(*_: object, **__: object) -> bytes:
        raise ToolFailed("")

    monkeypatch.setattr(words, "output_of", refused)
    assert words.listings(image.cubin, {"loops"}, tmp_path) == first
    words._known.clear()
    assert not words.listings(image.cubin, {"loops"}, tmp_path)  # then nvdisasm is asked for the image
    monkeypatch.setattr(words, "output_of", lambda *_, **__: b"        /*5a5a0000000*/                   EXIT ;\n")
    assert not words.listings(image.cubin, {"loops"}, tmp_path)  # one line for all of them
