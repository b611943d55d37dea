"""More states at a node than are kept apart: what all of them share stays known, and nothing else is made up."""

from __future__ import annotations

import pytest

from conformance.lint.tests.listings import analysed
from conformance.pdlkit.elf import KernelInfo, Parameter

_DIAMONDS = 6  # as many conditions, each asked twice: 64 states, of which 24 are kept apart
_INFO = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 4), *(Parameter(2 + i, 12 + 4 * i, 4) for i in range(_DIAMONDS))], 0x210, 36, 0)


def _diamonds(name: str, count: int = _DIAMONDS) -> list[str]:
    """Each parameter in turn decides whether a number is counted up."""
    code: list[str] = []
    for i in range(count):
        code += [f"LDC R10, c[0x0][{0x21C + 4 * i:#x}]", "ISETP.NE.AND P0, PT, R10, RZ, PT", f"@P0 BRA `(.L_{name}_{i})",
                 "IADD3 R11, R11, 0x1, RZ", f".L_{name}_{i}:"]
    return code


_BEGIN = ["LDC.64 R2, c[0x0][0x210]", "S2R R7, SR_TID.X", "LDC R8, c[0x0][0x218]"]


@pytest.mark.parametrize(("count", "imprecise"), [(2, False), (_DIAMONDS, True)])
@pytest.mark.parametrize(("guard", "found"), [("@P6 ", 0), ("@!P6 ", 1)])
def test_a_condition_that_all_states_share_is_known_after_they_were_merged(count: int, imprecise: bool, guard: str, found: int) -> None:
    result = analysed(_INFO, *_BEGIN, "ISETP.LT.U32.AND P6, PT, R7, 0x20, PT", "@P6 ACQBULK", *_diamonds("a", count),
                      *_diamonds("b", count), f"{guard}LDG.E R5, desc[UR4][R2.64]", "EXIT")
    assert len(result.accesses) == found and result.imprecise == imprecise


@pytest.mark.parametrize(("taken", "found"), [("EQ", 0), ("NE", 1)])
def test_a_number_that_a_branch_chose_is_known_by_its_condition_after_states_were_merged(taken: str, found: int) -> None:
    """It is 1 only where the condition holds under which the thread waits."""
    result = analysed(_INFO, *_BEGIN, "ISETP.NE.AND P5, PT, R8, RZ, PT", "@P5 BRA `(.L_one)", "MOV R20, RZ", "BRA `(.L_both)", ".L_one:",
                      "MOV R20, 0x1", ".L_both:", *_diamonds("a"), *_diamonds("b"), "ISETP.NE.AND P5, PT, R8, RZ, PT", "@P5 ACQBULK",
                      f"ISETP.{taken}.AND P4, PT, R20, 0x1, PT", "@P4 LDG.E R5, desc[UR4][R2.64]", "EXIT")
    assert len(result.accesses) == found and result.imprecise
