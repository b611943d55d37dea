"""The registers that lint sees written, against nvdisasm's table of live ranges; whole libraries: `dev check-registers`."""

from __future__ import annotations

from pathlib import Path

from conformance.lint.corpus import judge_corpus
from conformance.lint.tests.check_registers import Comparison, Marks, check, marks_of
from conformance.pdlkit.toolchain import find_nvcc

_SOURCES = ("tensors.cu", "places.cu")
_TABLE = """\
\t.section\t.text.k,"ax",@progbits
                                     // +---------+--------+
                                     // |   GPR   | PRED   |
                                     // |    0000 |        |
                                     // |  # 0123 | # 01   |
                                     // +---------+--------+
        /*0000*/  LDC.64 R2, c[0x0][0x210] ;    // |  3  :^^ |        |
        /*0010*/  @P0 IADD3 R1, R2, R3, RZ ;    // |  3  xvv | 1 v    |
        /*0020*/  ISETP.NE.AND P1, PT, R1, RZ, PT ;  // |  1  v   | 1  ^   |
"""


def _compiled(tmp_path: Path) -> list[Path]:
    found = find_nvcc()
    nvcc = found.path if found else Path("nvcc")
    return [judge_corpus.compile_one(nvcc, judge_corpus.CORPUS / source, "sm_100", "-O3", tmp_path) for source in _SOURCES]


def test_lint_sees_written_what_nvdisasm_sees_written(tmp_path: Path) -> None:
    found = check(_compiled(tmp_path), None)
    assert found.wrong == {}
    assert len(found.compared) > 100


def test_the_table_is_read() -> None:
    first, second, third = marks_of(_TABLE)
    assert (first.opcode, first.written, first.kept) == ("LDC.64", frozenset({"R2", "R3"}), frozenset({"R1"}))
    assert (second.opcode, second.written, second.kept) == ("IADD3", frozenset({"R1"}), frozenset())
    assert (third.written, third.text) == (frozenset({"P1"}), "ISETP.NE.AND P1, PT, R1, RZ, PT")


def test_a_wrong_width_is_a_difference() -> None:
    wide = Marks("LDC.64 R2, c[0x0][0x210]", "LDC.64", frozenset({"R2", "R3"}), frozenset({"R4"}))
    for mine, count in (({"R2", "R3"}, 0), ({"R2"}, 1), ({"R2", "R3", "R4"}, 1), ({"R2", "R3", "R5"}, 0)):
        comparison = Comparison()
        comparison.of_instruction(mine, wide)
        assert len(comparison.wrong) == count, mine
