"""The sources of the decompressors: a fetch that failed is said once, and the next process does not wait for it again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from conformance.pdlkit import private_folder
from conformance.pdlkit.venv import PipFailed
from conformance.rewrite import library


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """An empty cache and no network; what pip was told at each attempt."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folder, "BUILD", tmp_path / "build")
    monkeypatch.delenv("PDL_WHEELS", raising=False)
    made: list[tuple[str, ...]] = []

    def fail(name: str, _folder: Path, pip_options: tuple[str, ...]) -> list[Path]:
        made.append(pip_options)
        raise PipFailed(name, "ERROR: no route")

    monkeypatch.setattr(library, "source_archives", fail)
    return made


def compression() -> tuple[list[str | Path], str]:
    """As a new process asks for it."""
    return library.compression.__wrapped__()


def test_a_failed_fetch_is_said_once_and_not_tried_again(attempts: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    first, second = compression(), compression()
    assert len(attempts) == 1 and "--retries" in attempts[0]
    assert first[0] == second[0] == [] and "no route" in first[1] and "no route" in second[1] and "is removed" in second[1]
    assert capsys.readouterr().err.count("compressed images will not be read") == 1


@pytest.mark.parametrize("how", ["later", "removed", "packages are brought"])
def test_it_is_tried_again_once_that_may_help(how: str, attempts: list[tuple[str, ...]], tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    compression()
    note, = tmp_path.rglob("compression-failed")
    if how == "later":
        before = time.time() - library.AGAIN_S - 1
        os.utime(note, (before, before))
    elif how == "removed":
        note.unlink()
    else:
        monkeypatch.setenv("PDL_WHEELS", str(tmp_path))
    compression()
    assert len(attempts) == 2
