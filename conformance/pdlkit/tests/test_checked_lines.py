"""Files of checked lines: whatever is done to one, a damaged line is named and never counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.pdlkit.checked_lines import Damaged, Writer, read_lines
from conformance.pdlkit.read_report import Unreadable

RECORDS = [{"record": "case", "n": n, "text": "a\nb\u2028\udcff\x00"} for n in range(5)]


def written(path: Path) -> list[str]:
    writer = Writer(path)
    for record in RECORDS:
        writer.write(record)
    writer.close()
    return path.read_text().splitlines(keepends=True)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    lines = written(tmp_path / "x")
    found = read_lines(tmp_path / "x")
    assert found.records == RECORDS and not found.cut and len(set(found.checks)) == 5 and found.holds("") and found.holds(found.checks[2])
    assert all("check" in json.loads(line) for line in lines)


@pytest.mark.parametrize("at", [10, 5_000, 99_999])
def test_a_long_line_is_checked_to_its_end(at: int, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "x")
    writer.write({"text": "a" * 100_000})
    writer.close()
    line = (tmp_path / "x").read_text()
    place = line.index("a" * 100_000) + at
    (tmp_path / "x").write_text(line[:place] + "b" + line[place + 1:])
    with pytest.raises(Damaged, match="^line 1 of x is damaged"):
        read_lines(tmp_path / "x")


@pytest.mark.parametrize(("damage", "line"), [
    (lambda lines: [lines[0], lines[1].replace('"n": 1', '"n": 7'), *lines[2:]], 2), (lambda lines: [*lines[:2], *lines[3:]], 3),
    (lambda lines: [lines[1], lines[0], *lines[2:]], 1), (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4),
    (lambda lines: [*lines[:3], "\n", *lines[3:]], 4), (lambda lines: [*lines[:3], '{"record": "case"}\n', *lines[3:]], 4),
    (lambda lines: [*lines[:4], lines[4][:-9] + "\n"], 5), (lambda lines: lines[1:], 1), (lambda lines: [lines[0].upper(), *lines[1:]], 1),
], ids=["changed", "lost", "reordered", "repeated", "empty line", "foreign line", "short", "without its head", "other case"])
def test_damage_is_named(damage: object, line: int, tmp_path: Path) -> None:
    lines = written(tmp_path / "x")
    (tmp_path / "x").write_text("".join(damage(lines)))  # type: ignore[operator]
    with pytest.raises(Damaged, match=f"^line {line} of x is damaged"):
        read_lines(tmp_path / "x")


def test_every_digit_of_a_check_counts(tmp_path: Path) -> None:
    """Of a check that is compared in part, few lines that somebody writes by hand would not fit."""
    lines = written(tmp_path / "x")
    end = lines[4].rindex('"}')
    for place in range(end - 16, end):
        other = "0" if lines[4][place] != "0" else "1"
        (tmp_path / "x").write_text("".join([*lines[:4], lines[4][:place] + other + lines[4][place + 1:]]))
        with pytest.raises(Damaged, match="^line 5 of x is damaged"):
            read_lines(tmp_path / "x")


def test_a_cut_last_line_is_left_out_and_the_file_goes_on(tmp_path: Path) -> None:
    lines = written(tmp_path / "x")
    (tmp_path / "x").write_text("".join(lines)[:-10])
    found = read_lines(tmp_path / "x")
    assert found.cut and found.records == RECORDS[:4]
    writer = Writer(tmp_path / "x", append=True)
    writer.write({"new": 1})
    writer.close()
    again = read_lines(tmp_path / "x")
    assert again.records == [*RECORDS[:4], {"new": 1}] and not again.cut and again.holds(found.checks[3])


def test_a_mark_tells_that_whole_lines_were_cut_off(tmp_path: Path) -> None:
    lines = written(tmp_path / "x")
    mark = read_lines(tmp_path / "x").checks[3]
    for left in (3, 0):
        (tmp_path / "x").write_text("".join(lines[:left]))
        assert not read_lines(tmp_path / "x").holds(mark)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**9), byte=st.binary(min_size=0, max_size=3), cut=st.integers(0, 3))
def test_no_change_of_bytes_is_counted(at: int, byte: bytes, cut: int, tmp_path: Path) -> None:
    written(tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    at %= len(data)
    changed = data[:at] + byte + data[at + cut:]
    (tmp_path / "x").write_bytes(changed)
    try:
        found = read_lines(tmp_path / "x")
    except (Damaged, Unreadable):
        return
    assert found.records == RECORDS[:len(found.records)], "a changed line was counted"
    assert len(found.records) == 5 or found.cut or data.startswith(changed)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_not_written(value: float, tmp_path: Path) -> None:
    """Another reader of JSON would refuse the whole file."""
    writer = Writer(tmp_path / "x")
    with pytest.raises(ValueError, match="JSON"):
        writer.write({"record": "case", "seconds": value})
    writer.write(RECORDS[0])
    writer.close()
    assert read_lines(tmp_path / "x").records == RECORDS[:1]
