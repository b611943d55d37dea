"""The machine code of the shapes of conformance/codegen, and that the check of it can fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_CODEGEN = Path(__file__).resolve().parents[3] / "codegen"
sys.path.insert(0, str(_CODEGEN))

import check_shapes  # noqa: E402
import compilers  # noqa: E402


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, check_shapes.Seen]]:
    compiler = compilers.nvcc(compilers.installed_nvcc())
    folder = tmp_path_factory.mktemp("shapes")
    chosen = (("sm_90", "-O3"), ("sm_120", "-O3"), ("sm_90", "-G"))
    return {(a, w): check_shapes.read_code(compiler.compile(check_shapes.SOURCE, a, w, folder)) for a, w in chosen}


def test_safe_shapes_hold(code: dict[tuple[str, str], dict[str, check_shapes.Seen]]) -> None:
    wanted = check_shapes.wanted_shapes()
    assert len(wanted) >= 15
    wrong = [f"{at}, {shape}: {text}" for at, seen in code.items() for shape, one in wanted.items()
             for text in check_shapes.faults(shape, one, seen, at[1])]
    assert wrong == []


@pytest.mark.parametrize(("shape", "word"), [
    ("one_warp", "before the wait"), ("first_turn", "before the wait"), ("two_reads", "1 loads instead of 2"),
    ("stores_around_trigger", "1 stores instead of 2"), ("straight", "not a plain load")])
def test_the_check_can_fail(code: dict[tuple[str, str], dict[str, check_shapes.Seen]], shape: str, word: str) -> None:
    """What nvcc 13.0 makes of the dangerous form (facts F34 to F36b) is not taken for the safe one."""
    seen = dict(code["sm_90", "-O3"])
    seen[f"safe_{shape}"] = seen[f"danger_{shape}"]
    texts = list(check_shapes.faults(shape, check_shapes.wanted_shapes()[shape], seen, "-O3"))
    assert any(word in text for text in texts), texts


def test_an_added_instruction_is_seen(code: dict[tuple[str, str], dict[str, check_shapes.Seen]]) -> None:
    seen = dict(code["sm_90", "-O3"])
    longer = seen["safe_vector"]
    seen["safe_vector"] = check_shapes.Seen(longer.loads, longer.stores, longer.early, longer.instructions + 1, longer.order)
    texts = list(check_shapes.faults("vector", check_shapes.wanted_shapes()["vector"], seen, "-O3"))
    assert any("without pdl_fresh()" in text for text in texts)


def test_danger_is_recorded_for_every_shape(code: dict[tuple[str, str], dict[str, check_shapes.Seen]]) -> None:
    for seen in code.values():
        assert all(check_shapes.became(shape, seen) for shape in check_shapes.danger_shapes())
