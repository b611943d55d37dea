"""Listings made of words that were disassembled once: what nvdisasm prints of the image, but for the names of labels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from conformance.lint import disassembly, words
from conformance.lint.sources import Image, load_cubin
from conformance.lint.tests.conftest import _NVCC
from conformance.pdlkit.cuda_programs import ToolFailed
from conformance.pdlkit.elf import Cubin, Section, Symbol
from conformance.rewrite.tests.images import EXIT, WAIT, Kernel, cubin

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


# what keeps a section out ------------------------------------------------------------------------------------------------


def _of(image: Cubin, kind: int, info: int, size: int, name: str = ".rest") -> Section:
    return Section(name, len(image.sections), kind, 0, 0, size, 0, info)


def _relocated(kind: int, size: int = 24) -> Callable[[Cubin, Section], None]:
    return lambda image, code: image.sections.append(_of(image, kind, code.index, size))


def _marked(value: int) -> Callable[[Cubin, Section], None]:
    return lambda image, code: image.symbols.append(Symbol("inside", value, 0, code.index, 0, 0))


def _with_lines(size: int) -> Callable[[Cubin, Section], None]:
    return lambda image, code: image.sections.append(_of(image, 1, 0, size, ".nv_debug_line_sass"))


@pytest.mark.parametrize(("change", "left"), [
    (_relocated(4), {"second"}), (_relocated(9), {"second"}), (_relocated(1), {"first", "second"}),
    (_relocated(4, size=0), {"first", "second"}), (_marked(16), {"second"}), (_marked(0), {"first", "second"}),
    (_with_lines(8), set()), (_with_lines(0), {"first", "second"})])
def test_a_section_of_which_more_is_said_is_left_to_the_image(change: Callable[[Cubin, Section], None], left: set[str]) -> None:
    image = Cubin(cubin([Kernel("first", [WAIT, EXIT]), Kernel("second", [EXIT]), Kernel("unasked", [EXIT])]))
    code = image.text_of("first")
    assert code is not None and image.symbols
    change(image, code)
    assert words._plain(image, {"first", "second"}).keys() == left


def test_of_two_sections_of_one_name_only_the_one_that_is_meant_counts() -> None:
    image = Cubin(cubin([Kernel("first", [WAIT, EXIT])]))
    image.sections.append(_of(image, 1, 0, 0, ".text.first"))  # the last one is meant, and it has no code
    assert not words._plain(image, {"first"})


@pytest.mark.parametrize("opcode", ["CALL.REL.NOINC", "CALL.ABS.NOINC", "RET.REL.NODEC", "BRX", "BRXU", "JMP", "JMX", "JMXU", "LEPC",
                                    "ULEPC", "RPCMOV.32"])
@pytest.mark.parametrize("guard", ["", "@P0 ", "@!P1 ", "@UP2 ", "@!UP3 "])
def test_an_instruction_of_which_the_image_says_more_is_not_told_by_its_words(opcode: str, guard: str) -> None:
    assert words._text(f"              {guard}{opcode} R2 ;", words._BASE) is None


def test_an_address_is_told_only_as_the_target_of_a_branch() -> None:
    address = words._BASE + 0x40
    for opcode in ("BRA", "BRA.U UP0,", "BSSY B0,", "WARPSYNC.ALL", "BSSY.RECONVERGENT B1,"):
        found = words._text(f"  @P0 {opcode} {address + 0x20:#x} ;", address)
        assert isinstance(found, words._Branch) and found.distance == 0x20 and found.tail == " ;", opcode
    before = words._text(f"  BRA {words._BASE - 16:#x} ;", words._BASE)  # the first instruction of all, as it is disassembled
    assert isinstance(before, words._Branch) and before.distance == -16
    assert words._text(f"  MOV R2, {address:#x} ;", address) is None and words._text(f"  BRAX {address:#x} ;", address) is None
    assert words._text(f"  BRA.DIV UR4, {address:#x}, 0x1 ;", address) is None
    assert words._text("  MOV R2, 0x5a5a0000 ;", address) == "  MOV R2, 0x5a5a0000 ;"  # 32 bits are no address
    assert words._text("  CALLED R2 ;", address) is not None and words._text("  MOV R2, JMP ;", address) is not None


@pytest.mark.parametrize(("distance", "is_whole"), [(-16, True), (16, True), (-32, False), (32, False), (8, False)])
def test_a_branch_out_of_its_function_is_left_to_the_image(distance: int, is_whole: bool) -> None:
    branch = words._Branch("  BRA ", distance, " ;")
    found = words._listing("k", ["  NOP ;", branch, "  EXIT ;"], [])
    assert (found is not None) == is_whole
    assert words._listing("k", ["  NOP ;", None, "  EXIT ;"], []) is None


def test_labels_stand_where_the_image_marks_an_instruction() -> None:
    found = words._listing("k", ["  NOP ;", "  EXIT ;", "  NOP ;"], [16, 40, 48])
    assert found is not None and [line for line in found.decode().splitlines() if line.endswith(":")] == [".L_x_1:"]


def test_little_code_is_left_to_the_image_if_that_is_asked_anyway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = Cubin(cubin([Kernel("first", [WAIT, EXIT]), Kernel("second", [EXIT])]))
    code, other = image.text_of("first"), image.text_of("second")
    assert code is not None and other is not None
    _marked(16)(image, code)
    asked: list[int] = []

    def texts(_: int, codes: Collection[words._Code], __: Path | None) -> dict[bytes, object]:
        asked.append(sum(len(code.code) for code in codes))
        raise ToolFailed("")

    monkeypatch.setattr(words, "_texts", texts)
    for few, calls in ((other.size + 1, 0), (other.size, 1)):
        monkeypatch.setattr(words, "_FEW", few)
        asked.clear()
        assert not words.listings(image, {"first", "second"}, tmp_path) and len(asked) == calls
        words.learn(image, {"first", "second"}, tmp_path)
        assert asked == [other.size] * 2 * calls
    monkeypatch.setattr(words, "_FEW", other.size + 1)
    asked.clear()
    assert not words.listings(image, {"second"}, tmp_path) and asked == [other.size]  # the image need not be asked then


def test_a_function_is_left_to_the_image_if_one_of_its_words_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = Cubin(cubin([Kernel("first", [WAIT, EXIT]), Kernel("second", [EXIT])]))
    monkeypatch.setattr(words, "_FEW", 0)
    wait = words._words(b"".join(half.to_bytes(8, "little") for half in WAIT))[0]

    def texts(_: int, codes: Collection[words._Code], __: Path | None) -> dict[bytes, str | None]:
        return {word: None if word == wait else "  NOP ;" for code in codes for word in code.words or ()}

    monkeypatch.setattr(words, "_texts", texts)
    assert words.listings(image, {"first", "second"}, tmp_path).keys() == {"second"}


def test_no_more_words_are_remembered_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[int, dict[bytes, object]] = {}
    monkeypatch.setattr(words, "_known", known)
    monkeypatch.setattr(words, "_MOST", 3)
    monkeypatch.setattr(words, "_disassembled", lambda _, instructions, __: [None] * len(instructions))
    first, second = [number.to_bytes(16, "little") for number in (1, 2)], [number.to_bytes(16, "little") for number in (2, 3, 4)]
    words._texts(90, [words._Code(b"".join(first), None)], tmp_path)
    words._texts(90, [words._Code(second[1], None)], tmp_path)
    assert known[90].keys() == {*first, second[1]}
    words._texts(90, [words._Code(b"".join(second), None)], tmp_path)
    assert known[90].keys() == set(second)  # all that is asked now, and nothing from before


def test_what_no_text_shows_makes_no_other_word() -> None:
    word, stalls = 0x1234, 0x1FFFF << 105
    both = [(word | bits).to_bytes(16, "little") for bits in (0, stalls)]
    assert words._words(b"".join(both)) == [both[0], both[0]]
    assert words._words((word | 1 << 104).to_bytes(16, "little")) != [both[0]] != words._words((word | 1 << 122).to_bytes(16, "little"))
