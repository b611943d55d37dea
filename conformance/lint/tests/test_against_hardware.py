"""Lint and the recorded hardware run have to agree about the kit's kernels, as they are built here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.lint import against_hardware as leg
from conformance.lint.shapes.compilers import installed_nvcc
from conformance.pdlkit import evidence, places
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import RuleBook, load

_HARNESSES = [places.BUILD / preset / "pdl-harness" for preset in ("test", "cuda")]
_KERNELS = places.KIT / "kernels"


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for this file: both comparisons are about the same machine code, whose analysis takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PDL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load(places.RULES)


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    newest = max((places.KIT / "results").glob("*-full.json"), key=lambda p: json.loads(p.read_text())["run"]["started"])
    return dict(json.loads(newest.read_text()))


@pytest.fixture(scope="module")
def harness() -> Path:
    found = max((h for h in _HARNESSES if h.is_file()), key=lambda h: h.stat().st_mtime, default=None)
    if found is None:
        pytest.skip("no harness with machine code was built here")
    return found


def test_every_planted_bug_says_whether_lint_sees_it(book: RuleBook) -> None:
    silent = [t.tag for t in book.tags.values() if t.kind in ("kernel", "image") and not (t.lint or t.lint_blind)]
    assert silent == [], "give each of these `lint` or `lint_blind` in rules.toml"


def test_lint_says_what_hardware_showed(harness: Path, recorded: dict[str, Any], book: RuleBook) -> None:
    """All that passed, and each planted bug in one family; `run` compares all of them on every GPU."""
    everything = leg.shown_by(recorded, book.tags)
    mutants = {one.image: one for one in everything if one.killed}
    shown = [one for one in everything if not one.killed or one is mutants[one.image]]
    result = leg.compare(harness, shown, book.tags)
    assert result.disagreements == []
    assert result.compared >= 20 and {one.killed for one in shown} == {True, False}


def test_only_dependents_that_wait_are_held_against_lint(recorded: dict[str, Any], book: RuleBook) -> None:
    """One of another kind may never wait: lint says nothing of it."""
    waits = next(test for test in recorded["tests"] if test["name"].startswith("WAIT-01.store"))
    assert leg.shown_by({"tests": [waits]}, book.tags) and leg.shown_by({"tests": [{**waits, "kind": "start"}]}, book.tags) == []


def test_lint_that_looked_before_the_report_was_there_says_the_same(
    harness: Path, recorded: dict[str, Any], book: RuleBook, tmp_path: Path
) -> None:
    """As `run` asks it: lint is at work on the machine code while the kernels run."""
    honest = {one.symbol for one in leg.shown_by(recorded, book.tags)}
    assert honest <= leg.could_be_shown(harness, book.tags)
    path = tmp_path / "a report.json"
    path.write_text(json.dumps({**recorded, "tests": [test for test in recorded["tests"] if test["name"].startswith("WAIT-01.store")]}))
    beside = evidence.LintBeside(harness)
    try:
        said = beside.compare(path)
    finally:
        beside.end()
    assert said == leg.answer(path, harness, book.tags) and isinstance(said, dict)
    assert said["compared"] >= 5 and not said["disagreements"]


def test_lint_that_is_never_asked_ends(harness: Path) -> None:
    beside = evidence.LintBeside(harness)
    beside.end()
    assert beside.kept.process.poll() is not None and beside.kept.reaped


def _image_compiled_fast(family: str, folder: Path) -> Path:
    """The base image of one family, as `run` compiles it: the tests' own harness has code of -O0."""
    cubin = folder / f"{family}.cubin"
    subprocess.run([str(installed_nvcc()), "-cubin", "-O3", "-arch=sm_90", "-I", str(places.KIT / "harness"), "-I", str(_KERNELS),
                    "-I", str(places.ROOT), "-DIMAGE_SUFFIX=base", '-DIMAGE_TAG="base"', "-o", str(cubin),
                    str(_KERNELS / f"{family}.cu")], check=True)
    return cubin


def test_what_passed_is_clean_in_code_compiled_fast(recorded: dict[str, Any], book: RuleBook, tmp_path: Path) -> None:
    """Where conditions become guards, a pointer's register may have held another one before."""
    passed = [one for one in leg.shown_by(recorded, book.tags) if not one.killed]
    families: dict[str, list[leg.Shown]] = {}
    for one in passed:
        families.setdefault(one.kernel.split("_")[0], []).append(one)
    results = [leg.compare(_image_compiled_fast(family, tmp_path), shown, book.tags) for family, shown in families.items()]
    assert [text for result in results for text in result.disagreements] == []
    assert sum(result.compared for result in results) == len(passed) >= 20


def test_a_disagreement_is_told(harness: Path, recorded: dict[str, Any], book: RuleBook) -> None:
    """The check can fail: what passed is said to be killed, and what was killed to have passed."""
    honest = leg.shown_by(recorded, book.tags)
    waits = next(o for o in honest if not o.killed and o.symbol == "wait_store_dependent_base")
    late = next(o for o in honest if o.image == "latewait")
    as_late = leg.Shown(waits.case, waits.kernel, "base", True)
    tags = {**book.tags, "base": book.tags["latewait"]}
    turned = [as_late, leg.Shown(late.case, late.kernel, late.image, False)]
    assert len(leg.compare(harness, turned, tags).disagreements) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", '{"schema": "pdl-report/1", "tests": 3}'], ids=["too deep", "empty", "no list"])
def test_a_damaged_report_is_refused_with_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(BadArguments, match="name a report.json that `run` wrote"):
        leg.main([str(tmp_path / "report.json"), str(tmp_path / "harness")])
