"""Lint against the labelled corpus, and against the labels turned round."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.lint.corpus import judge_corpus
from conformance.pdlkit.toolchain import find_nvcc

_FOUND = find_nvcc()  # also one that was fetched as a package
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"


def test_the_corpus_is_large_enough() -> None:
    wanted = judge_corpus.labels()
    assert len(wanted) >= 150
    hard = ("warps.cu", "pipelines.cu", "classes.cu", "calls.cu", "branches.cu", "partial.cu", "persistent.cu", "groups.cu",
            "objects.cu", "paths.cu", "library.cu", "dispatch.cu", "split.cu", "turns.cu", "overflow.cu", "system.cu")
    shapes = {shape for name in hard for _, shape, _ in judge_corpus._LABEL.findall((judge_corpus.CORPUS / name).read_text())}
    assert len(shapes) >= 40


@pytest.mark.parametrize(("architecture", "way"), judge_corpus.QUICK)
def test_every_bug_is_found_and_no_twin_blamed(architecture: str, way: str, tmp_path: Path) -> None:
    every = 1 if (architecture, way) == judge_corpus.QUICK[0] else 5
    _, wrong = judge_corpus.judge(Path(_NVCC), architecture, way, tmp_path, every=every, quickly=True)
    assert wrong == []


def test_what_is_known_to_be_judged_wrongly_stands_in_the_readme() -> None:
    lines = (judge_corpus.HERE.parent / "README.md").read_text().splitlines()
    for (architecture, way), kernels in judge_corpus.KNOWN_WRONG.items():
        for kernel in kernels:
            assert kernel in judge_corpus.labels()
            assert any(f"`{kernel}`" in line and architecture in line and way in line for line in lines), (kernel, architecture, way)


def test_the_comparison_can_fail(tmp_path: Path) -> None:
    straight = [source for source in judge_corpus.sources() if source.stem == "straight"]
    cubins = judge_corpus.compile_corpus(Path(_NVCC), "sm_90", "-O3", tmp_path, straight)
    report = judge_corpus.lint_corpus(cubins)
    turned = {k: frozenset({"partial-wait"}) if not v else frozenset() for k, v in judge_corpus.labels().items()
              if any(x.kernel == k for x in report.verdicts)}
    assert len(judge_corpus.compare(report, turned)) == len(turned)


def test_the_record_reads_back() -> None:
    cells = {("sm_90", "-G"): (3, 1, 400), ("sm_120", "-O3"): (5, 0, 60)}
    text = judge_corpus.as_markdown(cells)
    assert judge_corpus.recorded(text) == cells
    assert judge_corpus.recorded(text.replace(" planted bugs", "9 planted bugs")) == {}  # of another corpus
