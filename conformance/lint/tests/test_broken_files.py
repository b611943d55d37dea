"""Cut and damaged files of every kind: a clear sentence, never a traceback, and the files beside them are judged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.lint.command import main
from conformance.lint.images import open_images
from conformance.lint.linter import DEFECT, Options, lint_files

_SUFFIXES = ("cubin", "fatbin", "o", "a", "ptx")


def _damaged(whole: bytes, dice: random.Random) -> bytes:
    """Cut off, with bits turned, with a stretch overwritten, or with a stretch missing."""
    kind, data = dice.randrange(4), bytearray(whole)
    at = dice.randrange(len(data))
    if kind == 0:
        return bytes(data[:at])
    if kind == 1:
        for _ in range(dice.choice((1, 8, 64))):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == 2:
        data[at : at + 64] = dice.randbytes(min(64, len(data) - at))
    else:
        del data[at : at + dice.choice((1, 16, 1000))]
    return bytes(data)


@pytest.mark.parametrize(("suffix", "count"), [("cubin", 40), ("fatbin", 12), ("o", 12), ("a", 12), ("ptx", 12)])
def test_damage_never_ends_in_a_traceback(files: Path, tmp_path: Path, suffix: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(20250807)
    whole = (files / f"k.{suffix}").read_bytes()
    for number in range(count):
        path = tmp_path / f"{number}.{suffix}"
        path.write_bytes(_damaged(whole, dice))
        code = main(["--json", "--overlapping", ".", str(path)])
        said = capsys.readouterr().err
        assert code in (0, 1, 2, 3), number
        assert code != 2 or str(path) in said, number
        assert DEFECT not in said, f"{number}: {said}"


@pytest.mark.parametrize("suffix", _SUFFIXES)
def test_half_a_file_is_told_and_the_next_is_judged(files: Path, tmp_path: Path, suffix: str) -> None:
    whole = (files / f"k.{suffix}").read_bytes()
    half = tmp_path / f"half.{suffix}"
    half.write_bytes(whole[: len(whole) // 2])
    report = lint_files([half, files / "k.cubin"], Options())
    assert [f.id for f in report.findings].count("read-before-wait") >= 1
    assert [name for name, _ in report.unreadable] == [str(half)]
    assert all(message and "Traceback" not in message for _, message in report.unreadable)


def test_the_parser_itself_survives_ten_thousand_damages(files: Path, tmp_path: Path) -> None:
    """Without the tools of the toolkit it is fast enough to ask often."""
    from conformance.pdlkit.elf import CorruptFile, Cubin

    dice, whole, refused = random.Random(7), (files / "k.cubin").read_bytes(), 0
    for _ in range(10_000):
        try:
            cubin = Cubin(_damaged(whole, dice))
            for kernel in cubin.kernels:
                cubin.kernel_info(kernel)
                cubin.code_table(kernel)
            assert cubin.sm >= 0 and cubin.virtual_sm >= 0
            assert isinstance(cubin.constant4, dict) and isinstance(cubin.function_addresses, frozenset)
            assert isinstance(cubin.initialised_symbols, frozenset)
        except CorruptFile:
            refused += 1
    assert 1000 < refused < 10_000


def test_whole_files_are_read(files: Path, tmp_path: Path) -> None:
    for suffix in _SUFFIXES:
        assert len(list(open_images(files / f"k.{suffix}", tmp_path, frozenset()))) == 1
