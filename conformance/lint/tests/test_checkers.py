"""What is told when lint judges a kernel of the corpus, or a compiler makes of a shape, what it should not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.lint.corpus import judge_corpus
from conformance.lint.corpus.judge_corpus import Disagreement
from conformance.lint.shapes import check_shapes


@pytest.mark.parametrize(("wrong", "code"), [([0, 0], 0), ([1, 0], 1), ([0, 1], 1), ([2, 3], 1)])
def test_a_disagreement_in_any_way_of_compiling_is_told(wrong: list[int], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    answers = iter(wrong)
    told: Any = SimpleNamespace(verdicts=[], instructions=0, own_seconds=0.0, unreadable=[])
    for name, value in (("sources", lambda: [Path("k.cu")]), ("compile_one", lambda *_: tmp_path), ("lint_corpus", lambda _: told),
                        ("labels", dict), ("_disagreements", lambda *_: []),
                        ("compare", lambda *_: [Disagreement("k", "was not judged")] * next(answers))):
        monkeypatch.setattr(judge_corpus, name, value)
    assert judge_corpus.main(["--only", "sm_90:O3", "--only", "sm_100:O1", "--folder", str(tmp_path)]) == code
    out = capsys.readouterr().out
    assert out.count("k: was not judged") == sum(wrong) and "sm_90 O3: 0 kernels" in out and "sm_100 O1: 0 kernels" in out


@pytest.mark.parametrize(("faults", "failed", "code"), [
    ([[], []], [], 0), ([["x"], []], [], 1), ([[], ["x"]], [], 1), ([[], []], ["it does not compile"], 1), ([], [], 1)])
def test_a_shape_that_a_compiler_spoils_is_told(faults: list[list[str]], failed: list[str], code: int,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [check_shapes.Outcome("nvcc", "sm_90", "O3", 1, found) for found in faults]
    monkeypatch.setattr(check_shapes, "installed_nvcc", lambda: Path("nvcc"))
    monkeypatch.setattr(check_shapes, "nvcc", lambda _: SimpleNamespace(name="nvcc"))
    monkeypatch.setattr(check_shapes, "check_all", lambda *_: (outcomes, failed))
    assert check_shapes.main([]) == code
