"""Whatever file a person names: a pipe, or JSON nested without end, ends in a sentence and is never waited for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import places, waivers
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import load


def _of(module: str) -> Any:
    """A tool's module by its name: pdlkit imports no tool."""
    return import_module(f"conformance.{module}")


def _submission(path: Path) -> None:
    answer = _of("reports.submission").read_submission(path)
    if isinstance(answer, str):
        raise BadArguments(answer)


READERS: dict[str, Callable[[Path], object]] = {
    "submit": _submission,
    "site": lambda path: _of("reports.record")._is_report(path),
    "run --waive": lambda path: waivers.load(path, load(places.RULES)),
    "lint --launches": lambda path: _of("lint.launches").load([path]),
    "lint --baseline": lambda path: _of("lint.baseline").load(path),
    "lint --independent": lambda path: _of("lint.declarations").read_toml(path),
    "trace diff": lambda path: _of("trace.diff")._read(str(path)),
    "bench --examples": lambda path: _of("bench.command")._read(path.parent, path),
    "bench --compare": lambda path: _of("bench.command")._other(path),
    "stress rewrite": lambda path: _of("stress.rewrite_command")._read(str(path)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # who waits for a writer gets one, so that the test ends in any case
    threading.Thread(target=lambda: os.close(os.open(pipe, os.O_WRONLY)), daemon=True).start()
    with pytest.raises(BadArguments, match="not a plain file"):
        READERS[name](pipe)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"stress rewrite"}))
@pytest.mark.parametrize("text", ["[" * 100_000, "a = " + "[" * 100_000, '{"a":' * 100_000])
def test_deep_nesting_is_told(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "deep"
    file.write_text(text)
    with pytest.raises(BadArguments):
        READERS[name](file)
