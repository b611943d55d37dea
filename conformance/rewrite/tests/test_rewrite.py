"""The rewriter on images made by hand: what must change, what must not, and what it refuses."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.rewrite import check, library
from conformance.rewrite.tests.images import (
    ADD,
    EXIT,
    NOP,
    STACK,
    TRIGGER,
    WAIT,
    Instruction,
    Kernel,
    container,
    cubin,
    entry,
    guarded,
    relative,
    waiting_for,
)

HOLD = "3 15000 5000 7"
SET_REGISTERS: Instruction = (0x00000028000079C8, 0x000FC000080E0500)  # USETMAXREG.DEALLOC.CTAPOOL 0x28
CALL_BY_REGISTER: Instruction = (0x0000000002007343, 0x000FEA0003C00000)  # CALL.ABS.NOINC R2


def run(tmp_path: Path, image: bytes, numbers: str, name: str = "*", *more: str) -> tuple[int, list[dict[str, Any]], bytes, str]:
    (tmp_path / "in").write_bytes(image)
    (tmp_path / "plan").write_text(f"{name} {numbers}\n")
    done = subprocess.run([library.tool(), tmp_path / "in", tmp_path / "out", "--plan", tmp_path / "plan", *more],
                          capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], (tmp_path / "out").read_bytes(), done.stderr


def instructions(code: bytes) -> list[Instruction]:
    return list(struct.iter_unpack("<QQ", code))


def goes_to(instruction: Instruction, at: int) -> int:
    """The number of the instruction that a branch leads to."""
    low, high = instruction
    value = low >> 16 & 0xFF | (low >> 34) << 8 | (high & 0x3FFFF) << 38
    value -= (value >> 55) << 56
    return at + 1 + value * 4 // 16


def section(image: bytes, name: str) -> tuple[int, ...]:
    table, count, names = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * i) for i in range(count)]
    base = rows[names][4]
    return next(row for row in rows if image[base + row[0] : image.index(b"\0", base + row[0])].decode() == name)


PLAIN = Kernel("k", [STACK, ADD, WAIT, ADD, TRIGGER, ADD, guarded(EXIT, 0), ADD, EXIT], exits=[0x60, 0x80])


def test_the_first_instruction_moves_into_the_code_after_the_kernel(tmp_path: Path) -> None:
    image = cubin([PLAIN, Kernel("other", [STACK, EXIT], exits=[0x10])])
    code, lines, out, _ = run(tmp_path, image, HOLD, "k")
    assert code == 0 and [line["rewritten"] for line in lines] == [True, False]
    before, after = check.code_sections(image), check.code_sections(out)
    assert after["other"] == before["other"]
    old, new = instructions(before["k"]), instructions(after["k"])
    assert new[1 : len(old)] == old[1:] and len(new) % 8 == 0
    start = goes_to(new[0], 0)
    assert start == len(old) and new[start][0] == TRIGGER[0]
    copy = len(old) + new[len(old) :].index(STACK)
    assert goes_to(new[copy + 1], copy + 1) == 1 and set(new[copy + 2 :]) <= {NOP}


@pytest.mark.parametrize("flags", [1, 2, 3, 4, 5, 7, 64, 8, 16, 32, 127, 128, 255, 260, 511, 4095])
def test_nothing_else_in_the_image_changes(tmp_path: Path, flags: int) -> None:
    image = cubin([PLAIN, Kernel("other", [STACK, EXIT], exits=[0x10])], padding=24)
    _, lines, out, _ = run(tmp_path, image, f"{flags} 1000 0 1", "k")
    assert lines[0]["waits"] == lines[0]["triggers"] == 1 and lines[0]["exits"] == 2 and lines[0]["rewritten"]
    found = check.changes(image, out)
    assert isinstance(found, list) and [change.section for change in found] == ["k"]
    grown = len(found[0].appended)
    for name in (".strtab", ".nv.info.other", ".text.other"):
        old, new = section(image, name), section(out, name)
        assert image[old[4] : old[4] + old[5]] == out[new[4] : new[4] + new[5]] and new[4] in (old[4], old[4] + grown)
    programs = struct.unpack_from("<Q", out, 32)[0]
    offset, size = struct.unpack_from("<Q", out, programs + 56 + 8)[0], struct.unpack_from("<Q", out, programs + 56 + 32)[0]
    assert offset == section(out, ".text.k")[4] and offset + size == section(out, ".text.other")[4] + section(out, ".text.other")[5]
    symbols = section(out, ".symtab")
    assert struct.unpack_from("<Q", out, symbols[4] + 24 + 16)[0] == section(out, ".text.k")[5]


@pytest.mark.parametrize("kind", [8, 0x7000000A])
def test_a_section_without_room_in_the_file_may_be_larger_than_the_file(tmp_path: Path, kind: int) -> None:
    image = bytearray(cubin([PLAIN, Kernel("other", [STACK, EXIT], exits=[0x10])]))
    fields = section(bytes(image), ".nv.info.other")
    row = image.index(struct.pack("<IIQQQQIIQQ", *fields))
    struct.pack_into("<Q", image, row + 32, 1 << 20)
    assert "past its end" in run(tmp_path, bytes(image), HOLD, "k")[3]
    struct.pack_into("<I", image, row + 4, kind)
    code, lines, out, _ = run(tmp_path, bytes(image), HOLD, "k")
    assert code == 0 and lines[0]["rewritten"], lines
    assert section(out, ".nv.info.other")[5] == 1 << 20


def test_a_site_keeps_what_it_waits_for_its_guard_and_its_place_in_the_list_of_exits(tmp_path: Path) -> None:
    leave = waiting_for(guarded(EXIT, 8 | 3), 0b101)
    image = cubin([Kernel("k", [STACK, leave, ADD, EXIT], exits=[0x10, 0x30])])
    _, _, out, _ = run(tmp_path, image, "16 3000 0 1")
    new = instructions(check.code_sections(out)["k"])
    assert new[1][1] >> 52 & 63 == 0b101 and new[1][0] >> 12 & 15 == 7
    first = goes_to(new[1], 1)
    asleep = [low >> 32 for low, _ in new[first:] if low & 0xFFF == 0x95D]
    assert asleep[:2] == [2000, 1000] and new[first][0] >> 12 & 15 == 8 | 3
    copy = first + new[first:].index(leave)
    assert goes_to(new[copy + 1], copy + 1) == 2  # where the predicate is false, the kernel goes on after the exit
    row = section(out, ".nv.info.k")
    listed = struct.unpack_from("<II", out, row[4] + row[5] - 8)
    assert listed[0] == 16 * copy and new[listed[1] // 16] == EXIT and listed[1] // 16 > copy


@pytest.mark.parametrize("hold", [1, 2000, 2001, 128_000, 1_000_000, 10_000_000])
def test_a_hold_inside_a_kernel_is_as_long_as_asked_and_not_made_of_too_many_sleeps(tmp_path: Path, hold: int) -> None:
    _, _, out, _ = run(tmp_path, cubin([PLAIN]), f"32 {hold} 0 1")
    asleep = [low >> 32 for low, _ in instructions(check.code_sections(out)["k"]) if low & 0xFFF == 0x95D]
    assert sum(asleep) == hold and len(asleep) <= 64


def test_an_exit_that_depends_on_a_second_predicate_leads_back(tmp_path: Path) -> None:
    leave = (EXIT[0], EXIT[1] & ~(0xF << 23) | 3 << 23)  # EXIT P3
    _, _, out, _ = run(tmp_path, cubin([Kernel("k", [STACK, leave, ADD, EXIT], exits=[0x10, 0x30])]), "16 100 0 1")
    new = instructions(check.code_sections(out)["k"])
    copy = 8 + new[8:].index(leave)
    assert goes_to(new[copy + 1], copy + 1) == 2


@pytest.mark.parametrize("flags,order", [(5, [TRIGGER, WAIT]), (260, [WAIT, TRIGGER]), (261, [TRIGGER, WAIT, TRIGGER])])
def test_a_trigger_at_entry_stands_before_or_after_the_wait(tmp_path: Path, flags: int, order: list[Instruction]) -> None:
    _, _, out, _ = run(tmp_path, cubin([Kernel("k", [STACK, ADD, EXIT])]), f"{flags} 0 0 1")
    new = instructions(check.code_sections(out)["k"])
    start = goes_to(new[0], 0)
    assert [low for low, _ in new[start : start + len(order) + 1]] == [low for low, _ in [*order, STACK]]


def test_a_loop_to_the_first_instruction_does_not_run_the_new_code_again(tmp_path: Path) -> None:
    image = cubin([Kernel("k", [ADD, guarded(relative(0x947, 1, 0), 2), EXIT], exits=[0x20])])
    _, _, out, _ = run(tmp_path, image, HOLD)
    new = instructions(check.code_sections(out)["k"])
    copy = 8 + new[8:].index(ADD)
    assert goes_to(new[1], 1) == copy and new[1][0] >> 12 & 15 == 2


def test_a_relocation_follows_the_instruction_it_belongs_to(tmp_path: Path) -> None:
    image = cubin([Kernel("k", [ADD, ADD, EXIT], relocations=[(0, "k"), (0x10, "k")])])
    _, _, out, _ = run(tmp_path, image, "1 0 0 1")
    row = section(out, ".rela.text.k")
    places = [struct.unpack_from("<Q", out, row[4] + 24 * i)[0] for i in range(2)]
    assert instructions(check.code_sections(out)["k"])[places[0] // 16] == ADD and places[0] >= 128 and places[1] == 0x10


@pytest.mark.parametrize("registers,flags,expected", [(4, 1, 4), (4, 2, 9), (255, 2, 255), (16, 7, 16)])
def test_registers_are_raised_only_where_the_code_needs_more(tmp_path: Path, registers: int, flags: int, expected: int) -> None:
    image = cubin([Kernel("k", [STACK, EXIT], registers)])
    _, lines, out, _ = run(tmp_path, image, f"{flags} 10 0 1")
    row = section(out, ".nv.info")
    assert lines[0]["registers"] == expected == struct.unpack_from("<I", out, row[4] + 8)[0]


@pytest.mark.parametrize("kernel,reason", [
    (Kernel("k", [relative(0x947, 0, 1), EXIT]), "its first instruction is a branch"),
    (Kernel("k", [STACK, relative(0x944, 1, 0), EXIT]), "its own code calls it as a function"),
    (Kernel("k", [STACK, EXIT], registers=0), "does not say how many registers"),
    (Kernel("k", [STACK, EXIT], parameter_base=0x160), "at a place in the constant bank"),
    (Kernel("k", [NOP, STACK, EXIT], value=16), "shares its code section"),
    (Kernel("k", [STACK, SET_REGISTERS, EXIT]), "it changes its own number of registers"),
    (Kernel("k", [STACK, CALL_BY_REGISTER, EXIT]), "it calls code outside its own section"),
    (Kernel("k", [STACK, relative(0x944, 1, 99), EXIT]), "it calls code outside its own section"),
    (Kernel("k", [STACK, relative(0x944, 1, 2), EXIT], relocations=[(0x10, "k")]), "other code calls it"),
    (Kernel("k", [STACK, EXIT], registers=250), "it has too many registers"),
])
def test_what_cannot_be_rewritten_is_named_and_passed_on(tmp_path: Path, kernel: Kernel, reason: str) -> None:
    image = cubin([kernel])
    code, lines, out, _ = run(tmp_path, image, "131 1000 0 1")
    assert code == 2 and out == image and reason in lines[0]["refusal"]


@pytest.mark.parametrize("before,address,now", [(32, 32, 38), (33, 34, 40), (248, 248, 254), (249, 250, 256)])
def test_times_go_through_registers_above_the_kernels_own(tmp_path: Path, before: int, address: int, now: int) -> None:
    leave = guarded(EXIT, 3)
    image = cubin([Kernel("k", [STACK, WAIT, guarded(TRIGGER, 8 | 2), leave, ADD, EXIT], before, exits=[0x30, 0x50])])
    code, lines, out, _ = run(tmp_path, image, "128 0 0 0")
    if now > 255:
        assert code == 2 and out == image
        return
    row = section(out, ".nv.info")
    assert (lines[0]["registers_before"], lines[0]["registers"]) == (before, now) and struct.unpack_from("<I", out, row[4] + 8)[0] == now
    new = instructions(check.code_sections(out)["k"])
    keeps = [low >> 16 & 0xFF for low, _ in new if low & 0xFFF == 0x202]
    assert keeps[-2:] == [address, address + 1]
    stamps: dict[int, tuple[int, int, int]] = {}
    for number, (low, high) in enumerate(new):
        if low & 0xFFF == 0x386:
            clock, wait = new[number - 1], new[number + 1]
            assert clock[0] & 0xFFF == 0x805 and clock[0] >> 16 & 0xFF == low >> 32 & 0xFF == address + 2 and low >> 24 & 0xFF == address
            barrier = high >> 49 & 7
            assert barrier < 6 and wait[1] >> 52 & 63 == 1 << barrier  # the next clock must not come before the store has read this one
            assert clock[0] >> 12 & 15 == low >> 12 & 15
            stamps[number] = (low >> 40, low >> 12 & 15, new[number + 2][0] & 0xFFF)
    # wait begun, wait ended, trigger, exit, exit: each before its instruction, but the wait's end
    assert list(stamps.values()) == [(32, 7, 0x82E), (40, 7, 0x947), (48, 8 | 2, 0x82D), (56, 3, 0x94D), (56, 7, 0x94D)]


@pytest.mark.parametrize(("left_out", "places"), [(0, [32, 40, 48, 56]), (512, [48, 56]), (1024, [32, 40, 56]), (2048, [32, 40, 48]),
                                                  (512 | 1024 | 2048, [])])
def test_a_kind_of_place_can_be_left_out_of_what_is_recorded(tmp_path: Path, left_out: int, places: list[int]) -> None:
    image = cubin([Kernel("k", [STACK, WAIT, TRIGGER, ADD, EXIT], exits=[0x40])])
    _, lines, out, _ = run(tmp_path, image, f"{128 | left_out} 0 0 0")
    new = instructions(check.code_sections(out)["k"])
    assert [low >> 40 for low, _ in new if low & 0xFFF == 0x386] == places and lines[0]["rewritten"]


@pytest.mark.parametrize("architecture,base", [(90, 0x210), (100, 0x380), (110, 0x380), (120, 0x380)])
def test_what_runs_at_entry_does_not_use_the_registers_that_keep_the_record(tmp_path: Path, architecture: int, base: int) -> None:
    image = cubin([Kernel("k", [STACK, WAIT, EXIT], 4, parameter_base=base)], architecture)
    _, lines, out, _ = run(tmp_path, image, "128 0 0 1")
    moves = [low for low, _ in instructions(check.code_sections(out)["k"]) if low & 0xFFF == 0x202][-2:]
    keeps = moves[0] >> 16 & 0xFF
    stores = [low for low, _ in instructions(check.code_sections(out)["k"]) if low & 0xFFF == 0x986]
    used = max([(low >> 32 & 0xFF) + 3 for low in stores if low >> 32 & 0xFF != 255] + [(low >> 24 & 0xFF) + 1 for low in stores])
    assert moves[1] >> 16 & 0xFF == keeps + 1 and len(stores) == 4 and used < keeps and lines[0]["registers"] == keeps + 6


def test_a_hold_at_entry_does_not_use_the_registers_that_keep_the_record(tmp_path: Path) -> None:
    _, lines, out, _ = run(tmp_path, cubin([Kernel("k", [STACK, WAIT, EXIT], 4)]), "130 1000 0 1")
    held = run(tmp_path, cubin([Kernel("k", [STACK, WAIT, EXIT], 4)]), "2 1000 0 1")[1][0]["registers"]
    keeps = [low >> 16 & 0xFF for low, _ in instructions(check.code_sections(out)["k"]) if low & 0xFFF == 0x202][-2:]
    assert keeps[0] >= held > 4 and keeps[0] % 2 == 0 and lines[0]["registers"] == keeps[0] + 6


def test_a_call_inside_its_own_section_does_not_keep_a_kernel_from_recording(tmp_path: Path) -> None:
    _, lines, _, _ = run(tmp_path, cubin([Kernel("k", [STACK, relative(0x944, 1, 3), EXIT, ADD, relative(0x950, 4, 2)])]), "128 0 0 0")
    assert lines[0]["rewritten"]


def test_a_kernel_that_other_code_calls_is_left_alone(tmp_path: Path) -> None:
    caller = Kernel("caller", [STACK, relative(0x944, 1, 5), EXIT], relocations=[(0x10, "k")])
    _, lines, _, _ = run(tmp_path, cubin([Kernel("k", [STACK, EXIT]), caller]), HOLD)
    assert "other code calls it" in lines[0]["refusal"] and lines[1]["rewritten"]


@pytest.mark.parametrize("architecture,fine", [(90, True), (100, True), (103, True), (110, True), (120, True), (121, True), (80, False),
                                               (75, False)])
def test_every_architecture_has_its_own_code(tmp_path: Path, architecture: int, fine: bool) -> None:
    base = 0x210 if architecture == 90 else 0x380
    code, _, _, said = run(tmp_path, cubin([Kernel("k", [STACK, EXIT], parameter_base=base)], architecture), HOLD)
    assert code == (0 if fine else 2) and ("no code for its architecture" in said) != fine


@pytest.mark.parametrize("damage,reason", [
    (lambda image: image[:200], "past its end"),
    (lambda image: b"\x7fELF" + bytes(60), "ELF"),
    (lambda image: image[:18] + b"\x3e\0" + image[20:], "machine is not CUDA"),
])
def test_a_damaged_image_is_passed_on_with_the_reason(tmp_path: Path, damage: Callable[[bytes], bytes], reason: str) -> None:
    image = damage(cubin([PLAIN]))
    code, _, out, said = run(tmp_path, image, HOLD)
    assert code == 2 and out == image and reason in said


def test_a_container_keeps_all_images_but_those_for_the_device(tmp_path: Path) -> None:
    old, new, ptx = cubin([PLAIN], 80), cubin([PLAIN]), b".version 8.0\n"
    newer = cubin([Kernel("k", [STACK, EXIT], parameter_base=0x380)], 100)
    whole = container(entry(2, 80, old), entry(2, 90, new), entry(2, 100, newer), entry(1, 90, ptx))
    code, lines, out, _ = run(tmp_path, whole, HOLD, "*", "--device", "90")
    assert code == 0 and [line.get("kernel") for line in lines] == ["k", None]
    assert out[: 16 + 64 + len(old)] == container(entry(2, 80, old))[:8] + out[8:16] + entry(2, 80, old)
    assert out.endswith(entry(2, 100, newer) + entry(1, 90, ptx)) and struct.unpack_from("<Q", out, 8)[0] == len(out) - 16
    code, lines, out, _ = run(tmp_path, whole, HOLD)
    assert [line["rewritten"] for line in lines if "kernel" in line] == [True, True]


COMPRESS = """
#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>
static char in[1 << 20], out[1 << 20];
int main(int count, char **words)
{
    size_t size = fread(in, 1, sizeof in, stdin);
    size = count > 1 && strcmp(words[1], "zstd") == 0 ? ZSTD_compress(out, sizeof out, in, size, 3)
                                                      : (size_t)LZ4_compress_default(in, out, (int)size, sizeof out);
    return fwrite(out, 1, size, stdout) != size;
}
"""


@pytest.mark.skipif(bool(library.compression()[1]), reason=library.compression()[1] or "built")
@pytest.mark.parametrize("kind,flags", [("zstd", 0x8011), ("lz4", 0x2011)])
def test_compressed_images_come_out_rewritten_and_plain(tmp_path: Path, kind: str, flags: int) -> None:
    image = cubin([PLAIN])
    (tmp_path / "compress.c").write_text(COMPRESS)
    subprocess.run([library.compiler().path, tmp_path / "compress.c", *library.compression()[0], "-o", tmp_path / "compress"], check=True)
    payload = subprocess.run([tmp_path / "compress", kind], input=image, capture_output=True, check=True).stdout
    code, _, out, _ = run(tmp_path, container(entry(2, 90, payload, flags, len(image))), HOLD)
    _, _, plain, _ = run(tmp_path, image, HOLD)
    assert code == 0 and out[16 + 64 :][: len(plain)] == plain and struct.unpack_from("<Q", out, 16 + 40)[0] == 0x11
    code, lines, out, _ = run(tmp_path, container(entry(2, 90, payload[:-9], flags, len(image))), HOLD)
    assert code == 2 and "damaged" in lines[0]["passed_on"]


TAKE_FRAME: Instruction = (0xFFFFFFE001017836, 0x001FE20000000000)  # VIADD R1, R1, -32
PRODUCT_INTO_28: Instruction = (0x00000000041C79F0, 0x000FE20008700000)  # HGMMA.64x8x16.F32 R28, gdesc[UR4], RZ
PRODUCT_INTO_4: Instruction = (0x00000000040479F0, 0x000FE20008700000)
ON_STACK = "4224 0 0 0"  # a record of times, no registers above the kernel's own


def stack_of(image: bytes, symbol: int) -> list[int]:
    """What the image says of a kernel's frame and least stack."""
    info = section(image, ".nv.info")
    raw, found = image[info[4] : info[4] + info[5]], []
    for at in range(0, len(raw), 12):
        _, attribute, _, index, value = struct.unpack_from("<BBHII", raw, at)
        found += [value] * (attribute in (0x11, 0x12) and index == symbol)
    return found


@pytest.mark.parametrize(("code", "frame"), [
    ([STACK, ADD, WAIT, EXIT], 0), ([STACK, TAKE_FRAME, WAIT, TRIGGER, EXIT], 32), ([STACK, PRODUCT_INTO_28, WAIT, EXIT], 0)])
def test_a_record_on_the_stack_takes_64_bytes_of_it_and_no_register(tmp_path: Path, code: list[Instruction], frame: int) -> None:
    image = cubin([Kernel("k", code, 40, frame=frame), Kernel("other", [STACK, EXIT], 40, frame=8)])
    _, lines, out, _ = run(tmp_path, image, ON_STACK, "k")
    assert lines[0]["rewritten"] and lines[0]["spilled"] and lines[0]["registers"] == 40
    assert stack_of(out, 1) == [frame + 64] * 2 and stack_of(out, 2) == [8, 8]


@pytest.mark.parametrize(("code", "frame", "said"), [
    ([STACK, ADD, EXIT], None, "how much stack"), ([ADD, STACK, EXIT], 0, "does not begin with the load of the stack pointer"),
    ([STACK, TAKE_FRAME, EXIT], 48, "by another amount"), ([STACK, TAKE_FRAME, TAKE_FRAME, EXIT], 32, "more than once"),
    ([STACK, WAIT, TAKE_FRAME, EXIT], 32, "moves its stack pointer"), ([STACK, TAKE_FRAME, EXIT], 0, "moves its stack pointer"),
    ([STACK, PRODUCT_INTO_4, EXIT], 0, "asynchronous matrix products")])
def test_a_kernel_whose_stack_or_registers_are_not_understood_does_not_record_on_it(tmp_path: Path, code: list[Instruction],
                                                                                  frame: int | None, said: str) -> None:
    _, lines, _, _ = run(tmp_path, cubin([Kernel("k", code, 40, frame=frame)]), ON_STACK)
    assert not lines[0]["rewritten"] and said in lines[0]["refusal"]


def test_a_kernel_that_changes_its_number_of_registers_records_on_the_stack(tmp_path: Path) -> None:
    _, lines, _, _ = run(tmp_path, cubin([Kernel("k", [STACK, SET_REGISTERS, WAIT, EXIT], 40, frame=0)]), "128 0 0 0")
    assert lines[0]["rewritten"] and lines[0]["spilled"] and lines[0]["registers"] == 40


@pytest.mark.parametrize("text,line,reason", [
    ("k 1 2 3\n", 1, "four numbers"), ("# fine\nk 1 2 3 x\n", 2, "four numbers"), ("k 1 2 3 -4\n", 1, "four numbers"),
    ("k 8192 0 0 1\n", 1, "means nothing"), ("calibrate\nk 1 2 3 4 5\n", 2, "four numbers"), ("k 4294967296 0 0 1\n", 1, "four numbers")])
def test_a_plan_that_means_nothing_is_refused_with_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    (tmp_path / "plan").write_text(text)
    (tmp_path / "in").write_bytes(cubin([PLAIN]))
    done = subprocess.run([library.tool(), tmp_path / "in", tmp_path / "out", "--plan", tmp_path / "plan"], capture_output=True, text=True)
    assert done.returncode == 64 and f"line {line}:" in done.stderr and reason in done.stderr


def test_plans_of_thousands_of_kernels_and_long_names_are_found(tmp_path: Path) -> None:
    names = [f"_Z{'k' * 3000}{number}" for number in range(300)]
    image = cubin([Kernel(name, [STACK, EXIT]) for name in names])
    (tmp_path / "in").write_bytes(image)
    (tmp_path / "plan").write_text("".join(f"{name} {number % 2} 0 0 1\n" for number, name in enumerate(names)))
    done = subprocess.run([library.tool(), tmp_path / "in", tmp_path / "out", "--plan", tmp_path / "plan"], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["rewritten"] for line in lines] == [bool(number % 2) for number in range(300)]
