"""Copies to the host are read when they have ended, and never from memory that may be gone; which of them judge."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conformance.stress.injection import library as injection
from conformance.stress.oracle import Copy, Observed, Oracle, read_copies, stable_copies

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    driver = folder / "libcuda.so.1"
    subprocess.run(["cc", "-DDRIVER", "-shared", "-fPIC", "-o", driver, HERE / "fake_copies.c", "-Wl,-soname,libcuda.so.1,-Bsymbolic"],
                   check=True)
    subprocess.run(["cc", "-o", folder / "program", HERE / "fake_copies.c", driver], check=True)
    return folder


def copies_of(place: Path, scene: str, file: Path) -> Counter[Copy]:
    environment = injection.environment() | {"LD_LIBRARY_PATH": str(place), "PDL_STRESS_DIGESTS": str(file)}
    subprocess.run([place / "program", scene], env=environment, check=True, timeout=1200)
    return read_copies(file)


def test_each_byte_of_a_copy_counts_in_one_of_its_parts(place: Path, tmp_path: Path) -> None:
    plain, *others = sorted(copies_of(place, "changes", tmp_path / "changes"), key=lambda copy: copy.number)
    assert len(others) == plain.bytes == 133
    for at, copy in enumerate(others):
        part = next(part for part in range(16) if at < plain.bytes * (part + 1) // 16)
        assert [one != other for one, other in zip(copy.digests, plain.digests, strict=True)] == [part == number for number in range(16)]


@pytest.mark.parametrize(("scene", "copies"), [("contexts", 1), ("freed", 1), ("destroyed", 1), ("pageable", 1), ("asked", 1),
                                               ("captured", 1)])
def test_a_copy_is_read_when_it_has_arrived_or_not_at_all(place: Path, tmp_path: Path, scene: str, copies: int) -> None:
    right, = copies_of(place, "pageable", tmp_path / "pageable")
    other = scene if scene != "pageable" else "contexts"
    assert copies_of(place, other, tmp_path / other) == Counter({right: copies})


def line(number: int, word: str) -> str:
    return json.dumps({"copy": number, "bytes": 64, "after": "k", "digests": [word] * 16})


def observed(folder: Path, *words: str) -> Observed:
    file = folder / "copies"
    file.write_text("\n".join(line(number % 2, word) for number, word in enumerate(words)))
    return Observed(0, b"", b"", 0.0, {}, read_copies(file))


def test_the_copies_of_all_processes_judge_whoever_comes_first(tmp_path: Path) -> None:
    plain, again = observed(tmp_path, "a", "b", "c", "d"), observed(tmp_path, "c", "d", "a", "b")
    stable = stable_copies([plain, again])
    assert stable.total() == 4
    oracle = Oracle(digests=True)
    assert oracle.changed_copy(observed(tmp_path, "b", "a", "d", "c"), plain, stable) is None
    assert "in 16 of its 16 parts" in str(oracle.changed_copy(observed(tmp_path, "a", "b", "c", "x"), plain, stable))
    assert "was not made" in str(oracle.changed_copy(observed(tmp_path, "a", "b", "c"), plain, stable))


def test_equal_copies_are_counted_and_those_that_differ_among_plain_runs_accuse_nobody(tmp_path: Path) -> None:
    plain, again = observed(tmp_path, "a", "a", "time 1"), observed(tmp_path, "a", "a", "time 2")
    stable = stable_copies([plain, again])
    assert stable.total() == 2
    assert Oracle(digests=True).changed_copy(observed(tmp_path, "a", "a", "time 3"), plain, stable) is None
    assert Oracle(digests=True).changed_copy(observed(tmp_path, "a", "x", "time 3"), plain, stable) is not None
