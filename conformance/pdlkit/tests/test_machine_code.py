"""The reading of machine code: real images are found, a changed instruction changes the hash, rubbish does no harm."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pdlkit import evidence, places
from conformance.pdlkit.machine_code import MachineCode, cubins_in, symbol_of
from conformance.pdlkit.rules import load
from conformance.pdlkit.tests.test_evidence import TwoImages
from conformance.pdlkit.toolchain import find_nvcc
from conformance.pdlkit.verdicts import CaseResult

SOURCE = 'extern "C" __global__ void one(float *p) {{ p[threadIdx.x] *= {factor}f; }}\n' \
    'extern "C" __global__ void two(int *p) {{ *p = 1; }}\nint main() {{ return 0; }}\n'


def _compile(folder: Path, factor: str, *flags: str) -> Path:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("nvcc is not here, so no machine code was read")
    folder.mkdir()
    (folder / "k.cu").write_text(SOURCE.format(factor=factor))
    subprocess.run([str(nvcc.path), *(flags or ("-arch=sm_90",)), "-o", "k", "k.cu"], cwd=folder, check=True)
    return folder / "k"


def test_the_hash_follows_the_code_and_nothing_else(tmp_path: Path) -> None:
    one, again, other = (
        MachineCode(_compile(tmp_path / name, factor)) for name, factor in (("a", "2.0"), ("b", "2.0"), ("c", "3.0")))
    assert one.architectures() == [90] and one.unreadable == 0
    first, second = [("one", 90)], [("two", 90)]
    assert one.code_hash(first) == again.code_hash(first) != other.code_hash(first)
    assert one.code_hash(second) == other.code_hash(second) is not None
    assert one.code_hash(first + second) not in (one.code_hash(first), one.code_hash(second), None)


def test_code_that_is_not_there_has_no_hash(tmp_path: Path) -> None:
    code = MachineCode(_compile(tmp_path / "a", "2.0", "-gencode", "arch=compute_90,code=compute_90"))
    assert code.architectures() == [] and code.code_hash([("one", 90)]) is None
    assert code.code_hash([]) is None


def test_a_hash_is_over_every_kernel_or_there_is_none() -> None:
    code = TwoImages()
    assert code.code_hash([("a_base", 90), ("c_base", 90)]) not in (None, code.code_hash([("a_base", 90)]))
    for missing in (("z_base", 90), ("b_base", 100)):
        assert code.code_hash([("a_base", 90), missing, ("c_base", 90)]) is None


def test_the_saved_image_is_an_elf_that_holds_the_kernel(tmp_path: Path) -> None:
    cubin = MachineCode(_compile(tmp_path / "a", "2.0")).find("one", 90)
    assert cubin is not None and cubin.data[:4] == b"\x7fELF" and len(cubin.code["one"]) > 0


def test_evidence_of_a_failure_saves_the_image_and_asks_lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = MachineCode(_compile(tmp_path / "a", "2.0", "-arch=sm_90", "-Done=one_base"))
    record = {"kernels": [{"name": "one", "image": "base", "binary_version": 90}]}
    result = CaseResult(load(places.RULES).cases[0], "FAIL", None, record=record)
    asked: list[Collection[str]] = []

    def word(_image: Path, symbols: Collection[str]) -> str:
        asked.append(symbols)
        return "lint finds nothing"

    monkeypatch.setattr(evidence, "lint_words", word)
    (image,) = evidence.gather([result], code, tmp_path, 1)[result.case.name].images
    assert (tmp_path / "images" / image["file"]).read_bytes()[:4] == b"\x7fELF"
    assert asked == [{"one_base"}] and (image["arch"], image["lint"]) == (90, "lint finds nothing")


def test_lint_that_cannot_run_is_said_and_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.cubin").write_bytes(b"no image")
    assert evidence.lint_words(tmp_path / "x.cubin", {"k"}).startswith("lint cannot run here")


def test_a_compressed_image_is_counted_as_unreadable() -> None:
    payload = b"\x28\xb5\x2f\xfd" + bytes(60)
    entry = struct.pack("<HHIQ", 2, 0x101, 64, len(payload)) + bytes(48) + payload
    assert cubins_in(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry) == ([], 1)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.binary(max_size=200))
def test_rubbish_does_no_harm(one: bytes, two: bytes) -> None:
    cubins_in(one + b"\x50\xed\x55\xba\x01\x00\x10\x00" + two)
    elf = b"\x7fELF\x02" + one
    entry = struct.pack("<HHIQ", 2, 0x101, 64, len(elf)) + bytes(48) + elf
    cubins_in(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)


@pytest.mark.parametrize(("image", "symbol"), [("base", "k_base"), ("erased-ptx", "k_erased_ptx")])
def test_symbols_follow_the_image(image: str, symbol: str) -> None:
    assert symbol_of("k", image) == symbol
