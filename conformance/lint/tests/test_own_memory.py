"""What is known of a thread's stack and of shared memory after stores that may not have happened, and after all else that writes there."""

from __future__ import annotations

import pytest

from conformance.lint.results import Access
from conformance.lint.tests.listings import analysed
from conformance.pdlkit.elf import KernelInfo, Parameter

_INFO = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 8)], 0x210, 16, 0)
_BEGIN = ["LDC R1, c[0x0][0x28]", "LDC.64 R2, c[0x0][0x210]", "LDC.64 R10, c[0x0][0x218]", "S2R R6, SR_TID.X", "MOV R4, 0x1",
          "ISETP.NE.AND P1, PT, R6, 0x3, PT",   # not the same for all threads
          "ISETP.NE.AND P3, PT, R10, 0x3, PT"]  # the same for all
_READ = ["LDG.E R9, desc[UR4][R2.64]", "EXIT"]
_WAIT_IF_1 = ["ISETP.EQ.AND P2, PT, R5, 0x1, PT", "@P2 ACQBULK"]
_WAIT_IF_0 = ["ISETP.EQ.AND P2, PT, R5, RZ, PT", "@P2 ACQBULK"]
_SHARED = ["S2R R14, SR_CgaCtaId", "MOV R15, 0x400", "LEA R14, R14, R15, 0x18"]  # the address of a shared variable
_GENERIC = [*_SHARED, "S2R R17, SR_SWINHI", "MOV R16, R14"]                      # its generic address in R16 and R17
_FUNCTION = '\t.section\t.text.f,"ax",@progbits\nf:'
_LONG = ["FADD R30, R30, R31"] * 80


def _accesses(*code: str) -> list[Access]:
    return list(analysed(_INFO, *_BEGIN, *code).accesses)


@pytest.mark.parametrize(("first", "store", "load"), [
    ("STL [R1+0x8], RZ", "STL [R1+0x8], R4", "LDL R5, [R1+0x8]"),
    ("", "STL [R1+0x8], R4", "LDL R5, [R1+0x8]"),  # nothing is known of what was there
    ("STL.64 [R1+0x8], RZ", "STL.64 [R1+0x8], R4", "LDL R5, [R1+0x8]"),
    ("STL.64 [R1+0x8], RZ", "STL.64 [R1+0x8], R6", "LDL R5, [R1+0xc]"),
    ("STL.U8 [R1+0x8], RZ", "STL.U8 [R1+0x8], R4", "LDL.U8 R5, [R1+0x8]"),
    ("STL [R1+0x8], RZ", "STL.U8 [R1+0x8], R4", "LDL.U8 R5, [R1+0x8]"),
    ("STL.U8 [R1+0x8], RZ", "STL [R1+0x8], R4", "LDL.U8 R5, [R1+0x8]"),
    ("STL [R1+0x8], RZ", "STL [R20], R4", "LDL R5, [R1+0x8]"),  # through a pointer to it
    ("STL [R1+0x8], RZ", "STL [R21], R4", "LDL R5, [R1+0x8]"),  # to an array, at an index
    ("STS [R14], RZ", "STS [R14], R4", "LDS R5, [R14]"),
    ("", "STS [R14], R4", "LDS R5, [R14]"),
    ("STS [R14], RZ", "ST.E desc[UR4][R16.64], R4", "LDS R5, [R14]"),
])
@pytest.mark.parametrize("guard", ["P1", "!P1", "P3"])
def test_a_store_under_a_guard_may_leave_what_was_there(first: str, store: str, load: str, guard: str) -> None:
    found = _accesses(*_GENERIC, "MOV R7, 0x1", "IADD3 R20, R1, 0x8, RZ", "IMAD R21, R6, 0x4, R1", first or "NOP", f"@{guard} {store}",
                      load, *_WAIT_IF_1, *_READ)
    assert len(found) == 1


@pytest.mark.parametrize(("store", "load", "guard"), [("STL [R1+0x8], ", "LDL R5, [R1+0x8]", "P1"),
                                                      ("STL.U8 [R1+0x8], ", "LDL.U8 R5, [R1+0x8]", "P1"),
                                                      ("STS [R14], ", "LDS R5, [R14]", "P3")])
def test_the_guard_of_a_store_tells_which_of_both_it_left(store: str, load: str, guard: str) -> None:
    for leaves, blamed in ((f"@!{guard} EXIT", 0), (f"@{guard} EXIT", 1)):
        assert len(_accesses(*_SHARED, f"{store}RZ", f"@{guard} {store}R4", load, *_WAIT_IF_1, leaves, *_READ)) == blamed


def test_what_a_store_under_a_guard_left_is_the_same_when_loaded_again() -> None:
    load = "LDL R5, [R1+0x8]"
    for then, blamed in (("@!P2 EXIT", 0), ("@P2 EXIT", 1)):
        assert len(_accesses("@P1 STL [R1+0x8], R10", load, *_WAIT_IF_1, load, "ISETP.EQ.AND P2, PT, R5, 0x1, PT", then, *_READ)) == blamed


@pytest.mark.parametrize(("store", "reached"), [("@P1 STL.64 [R1+0x8], R10", {0, 8}), ("STL.64 [R1+0x8], R10", {8})])
def test_a_pointer_stored_under_a_guard_may_be_the_one_before(store: str, reached: set[int]) -> None:
    found = _accesses("STL.64 [R1+0x8], R2", store, "LDL.64 R12, [R1+0x8]", "LDG.E R9, desc[UR4][R12.64]", "ACQBULK", "EXIT")
    assert [{at // 8 * 8 for _, at in access.origins} for access in found] == [reached]


@pytest.mark.parametrize("change", [
    "ATOMS.ADD R8, [R14], R4", "ATOMS.POPC.INC.32 RZ, [R14]", "@P3 ATOMS.ADD RZ, [R14], R4", "ATOMS.ADD RZ, [R10], R4",
    "ATOM.E.ADD.STRONG.GPU PT, R8, desc[UR4][R16.64], R4", "USTS [UR6], UR7", "UREDS.ADD [UR6], UR7", "STSM.16.MT88.4 [R6], R8",
    "STSM.16.MT88.4 [R14+0x40], R8",  # where other lanes say
])
def test_an_operation_on_shared_memory_changes_it(change: str) -> None:
    assert len(_accesses(*_GENERIC, "STS [R14], R4", change, "LDS R5, [R14]", *_WAIT_IF_1, *_READ)) == 1


def test_an_operation_on_another_word_of_shared_memory_changes_nothing_else() -> None:
    assert _accesses(*_SHARED, "STS [R14], R4", "ATOMS.ADD RZ, [R14+0x10], R4", "LDS R5, [R14]", *_WAIT_IF_1, *_READ) == []


def test_a_copy_to_shared_memory_changes_it() -> None:
    """The copy itself is an access before the wait."""
    assert len(_accesses(*_SHARED, "STS [R14], R4", "LDGSTS.E [R14], desc[UR4][R10.64]", "LDGDEPBAR", "DEPBAR.LE SB0, 0x0", "LDS R5, [R14]",
                         *_WAIT_IF_1, *_READ)) == 2


def test_a_pointer_in_shared_memory_may_stay_where_an_operation_compares() -> None:
    found = _accesses(*_SHARED, "STS.64 [R14], R2", "ATOMS.CAS.64 R12, [R14], R6, R10", "LDS.64 R12, [R14]", "LDG.E R9, desc[UR4][R12.64]",
                      "ACQBULK", "EXIT")
    assert [{at // 8 * 8 for _, at in access.origins} for access in found] == [{0, 8}]


def test_a_store_through_a_pointer_that_may_be_global_may_hit_shared_memory() -> None:
    """The store itself is an access before the wait."""
    assert len(_accesses(*_GENERIC, "@P1 MOV R16, R2", "@P1 MOV R17, R3", "STS [R14], R4", "ST.E desc[UR4][R16.64], RZ", "LDS R5, [R14]",
                         *_WAIT_IF_1, *_READ)) == 2


@pytest.mark.parametrize(("word", "first", "bytes_", "found"), [
    ("0x1", "0x8", "U8", 0), ("0x1", "0x9", "U8", 1), ("0x100", "0x9", "U8", 0), ("0x10000", "0xa", "U16", 0), ("0x10000", "0x8", "U16", 1),
])
def test_a_part_of_a_word_is_its_own_bytes(word: str, first: str, bytes_: str, found: int) -> None:
    assert len(_accesses(f"MOV R4, {word}", "STL [R1+0x8], R4", f"LDL.{bytes_} R5, [R1+{first}]", *_WAIT_IF_1, *_READ)) == found


def test_a_byte_at_an_index_is_one_of_the_bytes_of_its_word() -> None:
    assert len(_accesses("STL [R1+0x8], R4", "LOP3.LUT R7, R6, 0x3, RZ, 0xc0, !PT", "IADD3 R20, R1, R7, RZ", "LDL.U8 R5, [R20+0x8]",
                         *_WAIT_IF_1, *_READ)) == 1


@pytest.mark.parametrize(("first", "store", "load", "found"), [
    ("STL [R1+0x8], R4", "STL.U8 [R20], R4", "LDL R5, [R1+0x8]", 1),
    ("STL.U8 [R1+0x9], R4", "STL [R20], R4", "LDL.U8 R5, [R1+0x9]", 1),
    ("STL [R1+0x8], R4", "STL [R20], R4", "LDL R5, [R1+0x8]", 0),
])
def test_a_store_of_another_size_somewhere_leaves_another_number(first: str, store: str, load: str, found: int) -> None:
    assert len(_accesses("IMAD R20, R6, 0x4, R1", first, store, load, *_WAIT_IF_1, *_READ)) == found


_LOOK = ["LDS R5, [R14]", *_WAIT_IF_0, "@P1 EXIT", *_READ]


@pytest.mark.parametrize("code", [
    ["@P1 STS [R14], R4", *_LOOK],
    ["@!P1 BRA `(.L_look)", "STS [R14], R4", ".L_look:", *_LOOK],
    ["@P1 BRA `(.L_store)", ".L_look:", *_LOOK, ".L_store:", "STS [R14], R4", "BRA `(.L_look)"],
    ["@!P1 BRA `(.L_look)", "ATOMS.ADD RZ, [R14], R4", ".L_look:", *_LOOK],
])
def test_a_word_that_some_threads_store_is_not_as_the_others_left_it(code: list[str]) -> None:
    """A barrier of the warp lies between, of which the code shows nothing: those that stored nothing find what the others stored."""
    assert len(_accesses(*_SHARED, "STS [R14], RZ", *code)) == 1


def test_a_word_that_all_threads_store_under_one_condition_is_known() -> None:
    store = ["@P3 BRA `(.L_look)", "STS [R14], R4", ".L_look:", "LDS R5, [R14]", *_WAIT_IF_0]
    for leaves, blamed in (("@!P3 EXIT", 0), ("@P3 EXIT", 1)):
        assert len(_accesses(*_SHARED, "STS [R14], RZ", *store, leaves, *_READ)) == blamed


@pytest.mark.parametrize(("callee", "found"), [
    (["STS [R14], RZ"], 1), (["@P1 STS [R14], RZ"], 1), ([*_LONG, "STS [R14], RZ"], 1), ([*_LONG, "ATOMS.ADD RZ, [R14], R4"], 1),
    ([*_LONG, "@P1 STS [R14], RZ"], 1), ([*_LONG], 0),
])
def test_a_callee_that_is_too_long_to_matter_stores_all_the_same(callee: list[str], found: int) -> None:
    assert len(_accesses(*_SHARED, "STS [R14], R4", "CALL.REL.NOINC `(f)", "LDS R5, [R14]", *_WAIT_IF_1, *_READ, _FUNCTION, *callee,
                         "RET.REL.NODEC R20 `(k)")) == found


@pytest.mark.parametrize(("callee", "found"), [
    (["STL [R20], RZ"], 1), (["@P1 STL [R20], RZ"], 1), (["IADD3 R1, R1, -0x8, RZ", "STL [R1], RZ", "IADD3 R1, R1, 0x8, RZ"], 0),
])
def test_a_long_callee_may_store_to_its_callers_stack_but_not_from_its_own_frame(callee: list[str], found: int) -> None:
    assert len(_accesses("STL [R1+0x8], R4", "IADD3 R20, R1, 0x8, RZ", "CALL.REL.NOINC `(f)", "LDL R5, [R1+0x8]", *_WAIT_IF_1, *_READ,
                         _FUNCTION, *_LONG, *callee, "RET.REL.NODEC R20 `(k)")) == found
