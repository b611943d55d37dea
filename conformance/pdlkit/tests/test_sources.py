"""The digest that ties a recorded result to the judged code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdlkit import sources


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "harness").mkdir()
    (tmp_path / "pdl.h").write_text("one")
    (tmp_path / "harness" / "main.c").write_text("two")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(sources, "_JUDGED", (tmp_path / "pdl.h", tmp_path / "harness"))
    return tmp_path


def test_a_changed_moved_or_added_file_changes_the_digest(tree: Path) -> None:
    seen = [sources.digest(), sources.digest()]
    assert seen[0] == seen[1]
    (tree / "pdl.h").write_text("other")
    seen.append(sources.digest())
    (tree / "harness" / "main.c").rename(tree / "harness" / "other.c")
    seen.append(sources.digest())
    (tree / "harness" / "new.c").write_text("")
    seen.append(sources.digest())
    assert len(set(seen)) == 4
    (tree / "harness" / "tests").mkdir()
    (tree / "harness" / "tests" / "test.c").write_text("")
    assert sources.digest() == seen[-1], "what no device runs is not judged"


def test_only_reports_are_compared(tmp_path: Path) -> None:
    for name, suite in (("a", {"sources": "0123456789abcdef"}), ("b", {})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": "pdl-report/1", "suite": suite}))
    (tmp_path / "c.json").write_text("[1]")
    assert sources.recorded(tmp_path) == [("a.json", "0123456789abcdef"), ("b.json", None)]
