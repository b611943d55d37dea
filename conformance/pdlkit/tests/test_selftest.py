"""The closing line of `test`: what did not run is not counted as passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pdlkit.selftest import closing_line


@pytest.mark.parametrize(("states", "line"), [
    (["run", "run", "fail"], "2 passed, 1 failed, 0 skipped"),
    (["run", "notrun", "disabled"], "1 passed, 0 failed, 2 skipped"),
    ([], "0 passed, 0 failed, 0 skipped"),
])
def test_each_state_has_its_own_count(states: list[str], line: str, tmp_path: Path) -> None:
    cases = "".join(f'<testcase name="t{number}" status="{state}"/>' for number, state in enumerate(states))
    (tmp_path / "junit.xml").write_text(f"<testsuite>{cases}</testsuite>")
    assert closing_line(tmp_path / "junit.xml") == line
