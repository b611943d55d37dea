"""The short run of the fuzzers, and proof that they notice a reader that fails. The long one: `python3 conformance dev fuzz`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from conformance.pdlkit import elf, fuzz
from conformance.pdlkit.checked_lines import read_lines
from conformance.pdlkit.fuzz import CORPUS, TARGETS, inputs
from conformance.pdlkit.machine_code import cubins_in
from conformance.pdlkit.read_report import read_report


@pytest.mark.parametrize("target", TARGETS)
def test_no_reader_fails(target: str) -> None:
    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs(target))
    def once(data: bytes) -> None:
        TARGETS[target][0](data)

    once()
    for name in TARGETS[target][1]:
        TARGETS[target][0]((CORPUS / name).read_bytes())


def test_the_corpus_is_read() -> None:
    assert elf.Cubin((CORPUS / "tiny.cubin").read_bytes()).kernels == ["tiny"]
    assert [sorted(cubin.code) for cubin in cubins_in((CORPUS / "tiny.fatbin").read_bytes())[0]] == [["tiny"]]
    assert read_lines(CORPUS / "families.jsonl").records
    assert read_report(CORPUS / "report.json")


def test_a_section_table_beyond_the_end_is_refused() -> None:
    """Found by fuzzing: the index of the names stands in section 0, which is not there."""
    head = bytearray((CORPUS / "tiny.cubin").read_bytes()[:64])
    head[62:64] = b"\xff\xff"
    with pytest.raises(elf.CorruptFile, match="beyond the end"):
        elf.Cubin(bytes(head))


def test_a_reader_that_fails_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def careless(data: bytes) -> None:
        data[60]  # an IndexError for a file that was cut; the smallest one is soon found

    monkeypatch.setitem(TARGETS, "elf", (careless, TARGETS["elf"][1]))
    monkeypatch.setattr(fuzz, "ensure_venv", lambda _name: fuzz.CORPUS / "x")
    assert fuzz.main(["elf", "--seconds", "20"]) == 1 and "IndexError" in capsys.readouterr().out
