"""No test depends on the speed of the machine: limits of wall-clock time are against hangs only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.pdlkit.places import KIT, ROOT

LEAST_S = 600  # ten times what the slowest single step of a test takes on an idle machine
TESTED = "this limit is tested"  # a line that says so may have any limit
_LIMIT = re.compile(r"\btimeout=([0-9.]+)|\bmonotonic\(\) \+ ([0-9.]+)")
_OF_CTEST = re.compile(r"\bTIMEOUT [0-9]+")


def _short(path: Path) -> list[str]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".py":
            limits = [float(one or two) for one, two in _LIMIT.findall(line)]
            short = TESTED not in line and any(0 < limit < LEAST_S for limit in limits)
        else:
            short = _OF_CTEST.search(line) is not None and TESTED not in line
        if short:
            found.append(f"{path.name}:{number}: {line.strip()}")
    return found


def _tests() -> list[Path]:
    cmake = [path for top in ("conformance", "examples") for path in (ROOT / top).rglob("CMakeLists.txt")]
    return [*KIT.rglob("tests/*.py"), *cmake]


def test_limits_are_against_hangs_only() -> None:
    assert [line for path in _tests() if path.name != Path(__file__).name for line in _short(path)] == []


@pytest.mark.parametrize(("name", "text"), [("test_x.py", "run(a, timeout=60)"), ("CMakeLists.txt", "PROPERTIES TIMEOUT 900")])
def test_a_short_limit_is_noticed(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert len(_short(tmp_path / name)) == 1
    (tmp_path / name).write_text(f"{text}  # {TESTED}")
    assert _short(tmp_path / name) == []
