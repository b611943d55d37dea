"""What compares kernels before and after rewriting tells each way in which an instruction can have gone astray."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.rewrite import check
from conformance.rewrite.check import Change, _examine_one, changed, differences, recording_problems
from conformance.rewrite.tests.images import EXIT, WAIT, Kernel, cubin

CODE = ["MOV R0, R1", "IADD R2, R2, R3", "EXIT"]  # 0x30 bytes; what is appended stands after them
MOVED = ["IADD R2, R2, R3", "NOP", "BRA 0x20"]
ASTRAY = [  # what stands at 0x10, what is appended, and whether it is told
    ("BRA 0x30", MOVED, ""), ("BRA 0x30", ["@P0 NANOSLEEP 0x10", *MOVED], ""),
    ("NOP", MOVED, "became `NOP`"), ("BRA 0x38", MOVED, "became `BRA 0x38`"), ("BRA 0x20", MOVED, "became `BRA 0x20`"),
    ("BRA 0x60", MOVED, "became `BRA 0x60`"), ("@P0 BRA 0x30", MOVED, "became `@P0 BRA 0x30`"),
    ("BRA 0x40", MOVED, "is not where its branch leads"), ("BRA 0x30", [MOVED[0], "BRA 0x10"], "is not where its branch leads"),
    ("BRA 0x30", [MOVED[0], "MOV R0, R1", "BRA 0x20"], "is not where its branch leads"),
    ("BRA 0x30", ["IADD R2, R2, R4", "BRA 0x20"], "is not where its branch leads"),
    ("BRA 0x30", MOVED[:1], "is not where its branch leads"),
]


@pytest.mark.parametrize(("now", "appended", "said"), ASTRAY)
def test_an_instruction_that_went_astray_is_told(now: str, appended: list[str], said: str) -> None:
    change = Change("k", 48, [16], [], [], b"")
    for wrong in (differences(CODE, [CODE[0], now, CODE[2], *appended]), _examine_one(change, CODE[1:2], [now], appended)):
        assert len(wrong) == bool(said) and all("at 0x10: " in text and said in text for text in wrong)


def test_the_end_leads_nowhere_and_what_is_the_same_is_right() -> None:
    after = [*CODE[:2], "BRA 0x30", "EXIT"]
    assert not differences(CODE, after) and not differences(CODE, CODE) and differences(CODE, CODE[:2]) == ["it became shorter"]
    assert (changed(CODE, after), changed(CODE, CODE)) == (1, 0)


def recording(keeps: int, clock: int, stamp: int, address: int) -> list[str]:
    return [f"MOV R{keeps}, R2", f"MOV R{keeps + 1}, R3", f"@P0 CS2R R{clock}, SR_GLOBALTIMERLO", f"STG.E.64 [R{address}+0x28], R{stamp}"]


@pytest.mark.parametrize(("appended", "before", "now", "said"), [
    (recording(8, 10, 10, 8), 8, 14, ""), (recording(248, 250, 250, 248), 248, 254, ""),
    (recording(8, 10, 10, 8), 9, 14, "is kept in [8, 9]"), (recording(8, 10, 10, 8), 8, 13, "is kept in"),
    (recording(9, 11, 11, 9), 8, 15, "is kept in [9, 10]"), (recording(250, 252, 252, 250), 250, 256, "is kept in [250, 251]"),
    (["NOP"], 8, 14, "is kept in []"), (recording(8, 12, 10, 8), 8, 14, "`CS2R R12, SR_GLOBALTIMERLO` uses other registers"),
    (recording(8, 10, 12, 8), 8, 14, "uses other registers than R8 to R11"), (recording(8, 10, 10, 6), 8, 14, "uses other registers"),
])
def test_code_that_records_keeps_to_registers_of_its_own(appended: list[str], before: int, now: int, said: str) -> None:
    wrong = recording_problems(appended, before, now)
    assert len(wrong) == bool(said) and all(said in text for text in wrong)


@pytest.mark.parametrize(("clock", "said"), [(10, ""), (12, "uses other registers")])
def test_code_that_records_is_examined_where_it_was_appended(
    clock: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appended code stands 16 bytes further on in the kernel than in the listing, which begins with the changed pieces."""
    appended = [*recording(8, clock, 10, 8), CODE[1], "BRA 0x10"]
    monkeypatch.setattr(check, "_raw_listing", lambda *_: [CODE[1], "BRA 0x70", *appended])
    change = Change("k", 48, [16], [bytes(16)], [bytes(16)], bytes(16 * len(appended)), (8, 14))
    wrong = check.examine(Path("nvdisasm"), "sm_90", [change], tmp_path)
    assert len(wrong) == bool(said) and all(said in text for text in wrong)


def test_images_with_other_sections_cannot_be_compared() -> None:
    one, both = cubin([Kernel("a", [WAIT, EXIT])]), cubin([Kernel("a", [WAIT, EXIT]), Kernel("b", [EXIT])])
    assert check.changes(one, both) == check.changes(both, one) == "the code sections are not the same"
    assert check.changes(one, one) == check.changes(both, both) == []
    found = check.changes(both, cubin([Kernel("a", [WAIT, EXIT]), Kernel("b", [WAIT])]))
    assert isinstance(found, list) and [change.section for change in found] == ["b"]
