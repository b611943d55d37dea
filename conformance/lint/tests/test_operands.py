"""What single instructions read and write, where a wrong answer once blamed a correct kernel."""

from __future__ import annotations

import pytest

from conformance.lint.results import Access
from conformance.lint.tests.listings import analysed
from conformance.pdlkit.elf import KernelInfo, Parameter

_INFO = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 4)], 0x210, 12, 0)


def _accesses(*code: str) -> list[Access]:
    return list(analysed(_INFO, *code).accesses)


def _roots_of_copy(special: str, pointer: str) -> set[tuple[object, ...]]:
    """Where an address comes from that is copied from this register, behind the read of a special register."""
    found = _accesses(f"LDC {pointer}, c[0x0][0x210]", special, f"MOV R4, {pointer}", "MOV R5, RZ", "LDG.E R9, desc[UR4][R4.64]",
                      "ACQBULK", "EXIT")
    assert len(found) == 1
    return set(found[0].origins)


def test_a_special_register_fills_one_word_or_two() -> None:
    assert _roots_of_copy("CS2R.32 R0, SR_CgaSize", "R1") == {("param", 0)}  # R1 is the stack pointer
    assert _roots_of_copy("CS2R R2, SR_CLOCKLO", "R3") == set()
    assert _roots_of_copy("CS2R.32 R2, SR_CLOCKLO", "R3") == {("param", 0)}


@pytest.mark.parametrize(("index", "states"), [("S2R R2, SR_TID.X", {"SIBLING"}), ("LDC R2, c[0x0][0x218]", {"FRESH"})])
def test_a_jump_table_that_is_not_linked_yet_varies_as_its_index(index: str, states: set[str]) -> None:
    """Only where threads leave in different ways do those that read have siblings that wait."""
    found = _accesses("LDC.64 R6, c[0x0][0x210]", index, "LDC R4, c[R2+`((k.const_opt.0.12 + -0x8000))]",
                      'BRX R4 -0x40 (*"BRANCH_TARGETS .L_wait,.L_read"*)', ".L_wait:", "ACQBULK", "EXIT", ".L_read:",
                      "LDG.E R9, desc[UR4][R6.64]", "EXIT")
    assert [access.states for access in found] == [states]


@pytest.mark.parametrize(("between", "use", "used"), [
    (["@P1 MOV R4, RZ"], "@P1 IADD3 R6, R4, 0x1, RZ", False),  # sees the new value, always
    (["@P1 MOV R4, RZ"], "IADD3 R6, R4, 0x1, RZ", True),
    (["@P1 MOV R4, RZ"], "@!P1 IADD3 R6, R4, 0x1, RZ", True),
    (["@P1 MOV R4, RZ", "ISETP.NE.AND P1, PT, R2, 0x7, PT"], "@P1 IADD3 R6, R4, 0x1, RZ", True),  # another condition by now
    (["@P1 MOV R4, RZ", "@!P1 MOV R4, 0x5"], "IADD3 R6, R4, 0x1, RZ", False),  # overwritten either way
])
def test_a_value_overwritten_under_a_guard_is_not_used_under_it(between: list[str], use: str, used: bool) -> None:
    found = _accesses("LDC.64 R2, c[0x0][0x210]", "LDG.E R4, desc[UR4][R2.64]", "ACQBULK", "S2R R2, SR_TID.X",
                      "ISETP.NE.AND P1, PT, R2, 0x3, PT", *between, use, "EXIT")
    assert [access.used is not None for access in found] == [used]


_REPLACED = "@P1 LDC.64 R4, c[0x0][0x218]"


@pytest.mark.parametrize(("code", "reached"), [
    ([_REPLACED, "@P1 LDG.E R9, desc[UR4][R4.64]"], {8}),
    ([".L_loop:", _REPLACED, "@P1 IMAD.WIDE.U32 R4, R2, 0x4, R4", "@P1 LDG.E R9, desc[UR4][R4.64]", "@P0 BRA `(.L_loop)"], {8}),
    ([_REPLACED, "LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "@!P1 LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "@P0 LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "@P0 LDG.E R9, desc[UR4][R4.64]", "@P1 LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "@P1 MOV R10, R4", "MOV R11, R4", "@P1 LDG.E R9, desc[UR4][R10.64]"], {0, 8}),  # a half of it, under no guard
    ([_REPLACED, "ISETP.NE.AND P1, PT, R2, 0x7, PT", "@P1 LDG.E R9, desc[UR4][R4.64]"], {0, 8}),  # another condition by now
    ([_REPLACED, "R2P PR, R2, 0x2", "@P1 LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "CALL.REL.NOINC `(f)", "EXIT", '\t.section\t.text.f,"ax",@progbits\nf:', "LDG.E R9, desc[UR4][R4.64]"], {0, 8}),
    ([_REPLACED, "@P1 STL.64 [R1+0x8], R4", "LDL.64 R6, [R1+0x8]", "LDG.E R9, desc[UR4][R6.64]"], {0, 8}),
    ([_REPLACED, "@P1 MOV R10, R4", "@P1 MOV R11, R5", "BRA `(.L_next)", ".L_next:", "LDG.E R9, desc[UR4][R10.64]"], {0, 8}),
])
def test_a_pointer_replaced_under_a_guard_is_the_new_one_under_it(code: list[str], reached: set[int]) -> None:
    """What stands under no guard, or another one, may still see what was there before."""
    pointers = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 8)], 0x210, 16, 0)
    found = analysed(pointers, "LDC R1, c[0x0][0x28]", "LDC.64 R4, c[0x0][0x210]", "LDC.64 R10, c[0x0][0x210]", "STL.64 [R1+0x8], R4",
                     "S2R R2, SR_TID.X", "S2R R3, SR_TID.Y", "ISETP.NE.AND P1, PT, R2, 0x3, PT", "ISETP.NE.AND P0, PT, R3, 0x3, PT", *code,
                     "ACQBULK", "EXIT").accesses
    assert found and all({at // 8 * 8 for _, at in access.origins} == reached for access in found)


@pytest.mark.parametrize(("mask", "found"), [("0x1", 1), ("0x2", 0)])
def test_predicates_that_are_unpacked_from_a_register_lose_what_they_held(mask: str, found: int) -> None:
    assert len(_accesses("LDC.64 R2, c[0x0][0x210]", "LDC R5, c[0x0][0x218]", "ISETP.EQ.AND P0, PT, RZ, RZ, PT",
                         f"R2P PR, R5, {mask}", "@P0 ACQBULK", "LDG.E R4, desc[UR4][R2.64]", "EXIT")) == found


def test_an_arrival_at_an_object_fills_two_words() -> None:
    assert _roots_of_copy("SYNCS.ARRIVE.TRANS64.ART0 R2, [R2+URZ], R9", "R3") == set()
    assert _roots_of_copy("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R9", "R3") == {("param", 0)}


@pytest.mark.parametrize(("asked", "found"), [("QSPC.E.S", 0), ("QSPC.E.D", 0), ("QSPC.E.L", 1), ("QSPC.E.G", 1), ("QSPC.E", 1)])
def test_the_address_of_a_shared_variable_lies_in_shared_memory(asked: str, found: int) -> None:
    """It is decided where it is known; elsewhere the read below may come without a wait."""
    assert len(_accesses("LDC.64 R2, c[0x0][0x210]", "S2R R4, SR_CgaCtaId", "MOV R6, 0x400", "LEA R4, R4, R6, 0x18", "S2R R5, SR_SWINHI",
                         f"{asked} P0, RZ, [R4]", "@P0 ACQBULK", "LDG.E R8, desc[UR4][R2.64]", "EXIT")) == found


def test_a_choice_between_numbers_and_known_bits_is_one_of_numbers_where_only_those_bits_are_asked() -> None:
    """As a called function returns a bool: 0 or 1 in the low half of a word that it did not write otherwise."""
    answer = ["ISETP.NE.AND P1, PT, RZ, RZ, PT",
              "ISETP.GE.AND P0, PT, R2, 0x4, PT", "PRMT R4, RZ, 0x7610, R3", "@P0 ISETP.GE.AND P1, PT, R2, 0x9, PT",
              "@P0 SEL R4, RZ, 0x1, P1", "LOP3.LUT R4, R4, 0xffff, RZ, 0xc0, !PT", "ISETP.NE.AND P2, PT, R4, RZ, PT"]
    for limit, blamed in (("0x5", False), ("0x6", True)):
        found = _accesses("LDC.64 R6, c[0x0][0x210]", "S2R R2, SR_TID.X", *answer, "@!P2 BRA `(.L_no)", "ACQBULK", ".L_no:",
                          "VIADD R5, R2, 0xfffffffc", f"ISETP.GE.U32.AND P3, PT, R5, {limit}, PT", "@P3 EXIT",
                          "LDG.E R9, desc[UR4][R6.64]", "EXIT")
        assert bool(found) is blamed, limit


@pytest.mark.parametrize(("first", "second", "found"), [("ACQBULK", "BAR.ARV 0x3, 0x100", 0), ("BAR.ARV 0x3, 0x100", "ACQBULK", 1)])
def test_a_barrier_under_a_guard_divides_a_block_as_a_branch_does(first: str, second: str, found: int) -> None:
    """No branch has told apart the threads that meet at it: the one that does stands after it."""
    assert len(_accesses("S2R R7, SR_TID.X", "LDC.64 R2, c[0x0][0x210]", "ISETP.GT.U32.AND P0, PT, R7, 0x7f, PT",
                         "@P0 BAR.SYNC.DEFER_BLOCKING 0x3, 0x100", "@P0 LDG.E R5, desc[UR4][R2.64]", "@P0 EXIT", first, second,
                         "EXIT")) == found


def test_a_barrier_that_half_of_a_block_meets_at_before_and_after_its_wait_releases_nobody_before() -> None:
    """The same condition leads to it both times; behind the wait it is asked for the second time."""
    found = _accesses("S2R R7, SR_TID.X", "LDC.64 R2, c[0x0][0x210]", "ISETP.GE.U32.AND P0, PT, R7, 0x80, PT", "@!P0 BRA `(.L_all)",
                      "BAR.SYNC.DEFER_BLOCKING 0x6, 0x80", "LDG.E R5, desc[UR4][R2.64]", ".L_all:", "ACQBULK",
                      "@P0 BAR.SYNC.DEFER_BLOCKING 0x6, 0x80", "EXIT")
    assert len(found) == 1


@pytest.mark.parametrize(("guard", "states"), [("@!P1 ", {"SIGNALLED"}), ("@P1 ", {"AHEAD"})])
def test_a_wait_for_an_object_counts_in_a_loop_that_may_have_no_turn(guard: str, states: set[str]) -> None:
    """Who was told that the object was signalled need not wait; who was not waits itself."""
    loop = ["MOV R5, RZ", ".L_head:", "ISETP.NE.AND P1, PT, R5, RZ, PT", "@P1 BRA `(.L_out)",
            "SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R8+URZ], RZ", "SEL R5, RZ, 0x1, !P2", "IADD3 R9, R9, 0x1, RZ",
            "ISETP.LT.AND P3, PT, R9, 0x64, PT", "@P3 BRA `(.L_head)"]
    found = _accesses("S2R R7, SR_TID.X", "LDC.64 R2, c[0x0][0x210]", "MOV R8, 0x400", "MOV R9, RZ", "ISETP.EQ.AND P0, PT, R7, RZ, PT",
                      "@P0 BRA `(.L_waiter)", *loop, ".L_out:", "ISETP.NE.AND P1, PT, R5, RZ, PT", f"{guard}ACQBULK",
                      "LDG.E R6, desc[UR4][R2.64]", "EXIT", ".L_waiter:", "ACQBULK", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R8+URZ], RZ", "EXIT")
    assert [access.states & {"FRESH", "AHEAD", "SIBLING", "SIGNALLED"} for access in found] == [states]


@pytest.mark.parametrize(("selector", "found"), [("0x5410", 0), ("0x1054", 1)])
def test_bytes_stay_known_that_are_joined_with_unknown_ones(selector: str, found: int) -> None:
    """Low half unknown, high half 0; it is the high half that decides."""
    assert len(_accesses("LDC.64 R2, c[0x0][0x210]", "PRMT R5, RZ, 0x7610, R5", f"PRMT R4, R4, {selector}, R5",
                         "PRMT R4, R4, 0x7632, R4", "LOP3.LUT R4, R4, 0xffff, RZ, 0xc0, !PT", "ISETP.NE.AND P0, PT, R4, RZ, PT",
                         "@!P0 ACQBULK", "LDG.E R6, desc[UR4][R2.64]", "EXIT")) == found


_NUMBER = "S2R R7, SR_CTAID.X"
_PLACE = ["I2FP.F32.U32 R8, R7", "FMUL R8, R8, UR8", "F2I.U32.TRUNC.NTZ R8, R8", "IADD3 R8, -R8, RZ, RZ", "IMAD R7, R9, R8, R7"]


@pytest.mark.parametrize(("cluster", "code", "found"), [
    ([2, 1, 1], [_NUMBER], 1),
    ([2, 1, 1], [_NUMBER, "LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT"], 0),
    ([2, 1, 1], [_NUMBER, "LOP3.LUT R7, R7, 0x3, RZ, 0xc0, !PT"], 1),  # every other cluster has none that is 0
    ([1, 2, 1], [_NUMBER, "LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT"], 1),
    ([], [_NUMBER, "LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT"], 1),
    ([], ["S2R R7, SR_CgaCtaId"], 0),
    ([], [_NUMBER, "ULDC UR8, c[0x0][0x150]", "LDC R9, c[0x0][0x144]", *_PLACE], 0),  # %cluster_ctaid.x
    ([], [_NUMBER, "ULDC UR8, c[0x0][0x150]", "LDC R9, c[0x0][0x218]", *_PLACE], 1),  # a parameter in place of the size
])
def test_a_cluster_barrier_releases_nobody_if_its_cluster_may_have_no_block_that_waits(
        cluster: list[int], code: list[str], found: int) -> None:
    """The rank is 0 in one block of each cluster; the block's number need not be."""
    info = KernelInfo(_INFO.parameters, 0x210, 12, 0, cluster)
    assert len(analysed(info, "LDC.64 R2, c[0x0][0x210]", *code, "ISETP.NE.AND P0, PT, R7, RZ, PT", "@P0 BRA `(.L_meet)", "ACQBULK",
                        ".L_meet:", "UCGABAR_ARV", "UCGABAR_WAIT", "LDG.E R5, desc[UR4][R2.64]", "EXIT").accesses) == found


def test_a_block_told_apart_by_its_number_meets_nobody_who_waits() -> None:
    """Where the block's number chooses the way, no thread of this block waits; where the thread's does, others of the block wait."""
    meet = "BAR.SYNC.DEFER_BLOCKING 0x0"
    for number, found in ((_NUMBER, 1), ("S2R R7, SR_TID.X", 0)):
        assert len(_accesses("LDC.64 R2, c[0x0][0x210]", number, "ISETP.NE.AND P0, PT, R7, RZ, PT", "@P0 BRA `(.L_others)", meet, "ACQBULK",
                             meet, "EXIT", ".L_others:", meet, meet, "LDG.E R5, desc[UR4][R2.64]", "EXIT")) == found


def test_a_role_whose_wait_only_some_blocks_reach_releases_no_other_role() -> None:
    """One role asks for a number and waits only if it is 0; the other reads after a barrier of both. No block but one has the number 0."""
    meet = "BAR.SYNC.DEFER_BLOCKING 0x0"
    for number, found in ((_NUMBER, 1), ("S2R R8, SR_TID.Y", 0)):
        assert len(_accesses("LDC.64 R2, c[0x0][0x210]", "S2R R6, SR_TID.X", number.replace("R7", "R8"), "ISETP.NE.AND P0, PT, R6, RZ, PT",
                             "ISETP.NE.AND P1, PT, R8, RZ, PT", "@P0 BRA `(.L_others)", "@P1 BRA `(.L_meet)", "ACQBULK", ".L_meet:", meet,
                             "EXIT", ".L_others:", meet, "LDG.E R5, desc[UR4][R2.64]", "EXIT")) == found


_LEFT = {"part": "PRMT R5, RZ, 0x7610, R6", "number": "MOV R5, RZ", "answer": "PRMT R5, R0, 0x7610, R6"}


def _answer_of(ways: tuple[str, ...]) -> list[str]:
    """A bool in the low half of R4, as a called function returns it that may end early."""
    code = [f"S2R R{16 + n}, {name}" for n, name in enumerate(f"SR_{of}.{axis}" for of in ("TID", "CTAID") for axis in "XYZ")]
    for n, left in enumerate(ways[:-1]):
        code += [_LEFT[left], f"ISETP.GT.AND P1, PT, R{16 + n}, 0x3, PT", "@!P1 BRA `(.L_met)"]
    return [*code, "ISETP.NE.AND P0, PT, R21, 0x5, PT", "SEL R0, RZ, 0x1, !P0", _LEFT[ways[-1]], ".L_met:", "PRMT R4, R5, 0x7710, RZ",
            "PRMT R4, R4, 0x8880, RZ"]


@pytest.mark.parametrize("ways", [("part", "number", "answer"), ("number", "part", "answer"), ("part", "part", "number", "answer"),
                                  ("part", "part", "part", "part", "part", "answer")])
@pytest.mark.parametrize(("guard", "found"), [("@P0 ", 0), ("@!P0 ", 1)])
def test_an_answer_kept_among_unknown_bytes_is_the_same_when_asked_again(ways: tuple[str, ...], guard: str, found: int) -> None:
    """Ways that know more or less of the other bytes, and more ways than few."""
    assert len(_accesses("LDC.64 R2, c[0x0][0x210]", *_answer_of(ways), "PRMT R0, R4, 0x9910, RZ", "ISETP.EQ.AND P0, PT, R0, RZ, PT",
                         "PRMT R7, R4, 0x7610, R7", "@P0 BRA `(.L_no)", "ACQBULK", ".L_no:", "LOP3.LUT R0, R7, 0xff, RZ, 0xc0, !PT",
                         "PRMT R0, R0, 0x9910, RZ", "ISETP.EQ.AND P0, PT, R0, RZ, PT", f"{guard}EXIT", "LDG.E R9, desc[UR4][R2.64]",
                         "EXIT")) == found
