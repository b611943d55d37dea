"""What is read of a kernel's machine code: how often and how early it triggers and waits, and what stands ahead of its wait."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from conformance.rewrite.tests.images import ADD, EXIT, NOP, TRIGGER, WAIT, Instruction, Kernel, cubin, relative
from conformance.trace.images import Code, _scan, codes, codes_in

LOAD: Instruction = (0x0000000402067981, 0x000EA2000C1E1900)  # LDG


def scanned(*code: Instruction) -> Code:
    return _scan(b"".join(struct.pack("<QQ", *one) for one in code) + b"cut")


def image(path: Path, *kernels: Kernel) -> Path:
    path.write_bytes(cubin(list(kernels)))
    return path


def kernel(name: str, *code: Instruction) -> Kernel:
    return Kernel(name, [*code, EXIT], exits=[16 * len(code)])


@pytest.mark.parametrize(("code", "found"), [
    ((ADD, EXIT), Code(0, 0, 2, 2, 2, False)), ((TRIGGER, ADD, WAIT, EXIT), Code(1, 1, 4, 2, 0, False)),
    ((WAIT, WAIT, TRIGGER, ADD, TRIGGER), Code(2, 2, 5, 0, 2, False)), ((LOAD, WAIT), Code(0, 1, 2, 1, 2, True)),
    ((WAIT, LOAD), Code(0, 1, 2, 0, 2, False)), ((NOP, relative(0x947, 1, 0), WAIT), Code(0, 1, 3, 2, 3, True)),
    ((relative(0x947, 0, 1), NOP, WAIT), Code(0, 1, 3, 2, 3, False)), ((), Code(0, 0, 0, 0, 0, False))])
def test_what_stands_where_is_counted(code: tuple[Instruction, ...], found: Code) -> None:
    assert scanned(*code) == found


@pytest.mark.parametrize(("ahead", "code", "first"), [
    (0, WAIT, True), (24, WAIT, True), (25, WAIT, False), (0, EXIT, False)])
def test_a_wait_is_the_first_thing_if_no_work_stands_ahead_of_it(ahead: int, code: Instruction, first: bool) -> None:
    assert scanned(*[ADD] * ahead, code).waits_first is first and not scanned(LOAD, code).waits_first


def test_the_kernels_that_are_wanted_are_found_where_they_stand(tmp_path: Path) -> None:
    image(tmp_path / "image-1.cubin", kernel("a", TRIGGER, WAIT), kernel("b", ADD), kernel("other", WAIT))
    image(tmp_path / "image-2.cubin", kernel("a", ADD), kernel("c", WAIT))
    (tmp_path / "image-3.cubin").write_bytes(b"no image")
    found, where = codes(tmp_path, ["3", "1", "1", "2", "absent"], ["a", "b", "c"])
    assert where == {"a": "1", "b": "1", "c": "2"}
    assert {name: (code.triggers, code.waits) for name, code in found.items()} == {"a": (1, 1), "b": (0, 0), "c": (0, 1)}


@pytest.mark.parametrize(("code", "known"), [((TRIGGER, WAIT), True), ((TRIGGER,), False), ((WAIT,), False), ((), False)])
def test_a_kernel_that_calls_may_trigger_and_wait_in_what_it_calls(code: tuple[Instruction, ...], known: bool, tmp_path: Path) -> None:
    function = Kernel("f", [EXIT], entry=False)
    assert set(codes_in(image(tmp_path / "i", kernel("a", *code), function), frozenset({"a"}))) == ({"a"} if known else set())
    assert set(codes_in(image(tmp_path / "j", kernel("a", *code), kernel("b")), frozenset({"a"}))) == {"a"}
