"""What single instructions read and write, where a wrong answer once blamed a correct kernel."""

from __future__ import annotations

from typing import Any

from pdlkit.lint.destinations import destinations_of
from pdlkit.lint.evaluator import Evaluator
from pdlkit.lint.values import NOTHING, VARIES_BY_THREAD, parse_operand


def test_a_special_register_fills_one_word_or_two() -> None:
    assert destinations_of("CS2R.32", ("R0", "SR_CgaSize"))[0] == ("R0",)  # R1 is the stack pointer
    assert destinations_of("CS2R", ("R2", "SR_CLOCKLO"))[0] == ("R2", "R3")


def test_a_jump_table_that_is_not_linked_yet_varies_as_its_index() -> None:
    operand = "c[R2+`((kernel.const_opt.0.12 + -0x8000))]"
    assert parse_operand(operand) == ("table", "R2")
    evaluator: Any = Evaluator(None)  # type: ignore[arg-type]
    assert evaluator.value({"R2": (None, NOTHING, VARIES_BY_THREAD)}, operand)[2] == VARIES_BY_THREAD
    assert evaluator.value({"R2": (("k", 4), NOTHING, 0)}, operand)[2] == 0
