"""What CTest is told of a way to use the headers, and what is called a change of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.packaging import api, consume
from conformance.packaging.consume import Broken, Missing, Place


@pytest.mark.parametrize(("ends", "code"), [(None, 0), (Broken("it does not link"), 1), (Missing("no conan"), 77)])
def test_a_way_ends_as_it_went(ends: Exception | None, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[Place]()

    def way(place: Place) -> None:
        seen.append(place)
        if ends:
            raise ends

    monkeypatch.setattr(consume, "WAYS", {"one": way, "two": lambda _: pytest.fail("another way was gone")})
    assert consume.main(["one", "--work", str(tmp_path), "--cmake", "cmake"]) == code
    assert [place.work for place in seen] == [tmp_path / "one"]


OLD = ["c function int a(void)", "c macro B"]


@pytest.mark.parametrize(("found", "version", "released", "code", "said"), [
    (OLD, (1, 2, 0), True, 0, ""), (OLD, (1, 2, 0), False, 0, ""), (OLD, (1, 3, 0), True, 0, ""),
    ([*OLD, "c macro C"], (1, 2, 0), True, 1, "must become 1.3.0"), ([*OLD, "c macro C"], (1, 2, 0), False, 1, "are not what"),
    ([*OLD, "c macro C"], (1, 3, 0), True, 1, "are not what"),
    (OLD[:1], (1, 3, 0), True, 1, "must become 2.0.0"), (OLD[:1], (2, 0, 0), True, 1, "are not what"),
    ([], (1, 2, 0), False, 1, "are not what"),
    (OLD[::-1], (1, 3, 0), True, 1, "must become 2.0.0"), (OLD, (1, 1, 9), True, 1, "must become 1.2.0")])
def test_a_change_of_names_is_told_with_the_version_that_it_needs(
        found: list[str], version: tuple[int, ...], released: bool, code: int, said: str, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "api.txt"
    record.write_text("\n".join([f"version 1.2.0, {'released' if released else 'not released'}", *OLD]) + "\n")
    for name, value in (("RECORD", record), ("describe", lambda *_: found), ("version", lambda _: version)):
        monkeypatch.setattr(api, name, value)
    before = record.read_text()
    assert api.main([]) == code and record.read_text() == before
    printed = capsys.readouterr()
    assert said in printed.err
    gone, added = [f"- {line}" for line in OLD if line not in found], [f"+ {line}" for line in found if line not in OLD]
    assert printed.out.splitlines() == [*gone, *added]
    refused = "must become" in said
    assert api.main(["--record"]) == refused
    written = "".join(f"{line}\n" for line in (f"version {'.'.join(map(str, version))}, not released", *found))
    assert record.read_text() == (before if refused else written)


def test_before_1_0_a_minor_version_may_break() -> None:
    assert [api.smallest_version(old, breaks) for old in ((0, 4, 2), (1, 4, 2)) for breaks in (False, True)] == [
        (0, 5, 0), (0, 5, 0), (1, 5, 0), (2, 0, 0)]
