"""What CTest is told of a check of the headers: that it failed, that it could not be made, or that it passed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.headers import break_headers, compile_checks
from conformance.headers.compile_checks import Broken, Missing, Place


@pytest.mark.parametrize(("ends", "code"), [(None, 0), (Broken("pdl.h:3: no"), 1), (Missing("no clang"), 77)])
def test_a_check_ends_as_it_found(ends: Exception | None, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    seen = list[Place]()

    def check(place: Place) -> None:
        seen.append(place)
        if ends:
            raise ends

    monkeypatch.setattr(compile_checks, "checks", lambda: {"one": check, "two": lambda _: pytest.fail("another check was made")})
    words = ["--headers", str(tmp_path / "h"), "--cuda", str(tmp_path / "c"), "--work", str(tmp_path / "w")]
    assert compile_checks.main(["one", *words]) == code and str(ends or "") in capsys.readouterr().out
    assert [(place.headers, place.cuda, place.work) for place in seen] == [(tmp_path / "h", tmp_path / "c", tmp_path / "w" / "one")]


def test_ctest_asks_for_every_check() -> None:
    """One that CMake does not name is made by nobody."""
    text = (Path(compile_checks.__file__).parent / "CMakeLists.txt").read_text(encoding="utf-8")
    (listed,) = (names for names in re.findall(r"foreach\(\w+ IN ITEMS([^)]*)\)|foreach\(\w+([^)]*)\)", text)
                 if "no-symbols-gcc" in " ".join(names))
    assert set(" ".join(listed).split()) == set(compile_checks.checks())


@pytest.mark.parametrize(("verdicts", "code"), [
    (["noticed"], 0), (["noticed", "NOT NOTICED"], 1), (["NOT NOTICED", "noticed"], 1), (["noticed", "skipped"], 70),
    (["does not build", "NOT NOTICED"], 70), (["noticed", "noticed", "does not build"], 70)])
def test_a_break_that_nothing_notices_is_told(verdicts: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    said = iter(verdicts)
    monkeypatch.setattr(break_headers, "verdict_of", lambda *_: next(said))
    changes = break_headers.BREAKS[:len(verdicts)]
    assert break_headers.try_all(changes, tmp_path, tmp_path) == code
    assert [line[:14].strip() for line in capsys.readouterr().out.splitlines()[:-1]] == verdicts


def test_a_break_that_does_not_apply_is_of_no_use(tmp_path: Path) -> None:
    gone = break_headers.Break("it is gone", break_headers.HOST, "this stands nowhere in it", "", "compile.text")
    assert break_headers.try_all([gone], tmp_path, tmp_path) == 70
