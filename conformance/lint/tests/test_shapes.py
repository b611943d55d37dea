"""The machine code of the shapes of conformance/lint/shapes, and that the check of it can fail."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from conformance.lint.shapes import check_shapes, compilers
from conformance.lint.shapes.check_shapes import Seen, Wanted
from conformance.pdlkit.places import ROOT

_SHAPES = Path(check_shapes.__file__).parent
_Code = dict[str, Seen]
_Built = dict[tuple[str, str], _Code]


def _faults(code: _Code, way: str = "-O3") -> list[str]:
    return [f"{shape}: {text}" for shape, wanted in check_shapes.wanted_shapes().items()
            for text in check_shapes.faults(shape, wanted, code, way)]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> _Built:
    compiler = compilers.nvcc(compilers.installed_nvcc())
    folder = tmp_path_factory.mktemp("shapes")
    return {(a, w): check_shapes.read_code(compiler.compile(check_shapes.SOURCE, a, w, folder)) for a, w in check_shapes.QUICK}


@pytest.fixture
def shapes(code: _Built) -> _Code:
    return dict(code["sm_90", "-O3"])


def test_safe_shapes_hold(code: _Built) -> None:
    assert len(check_shapes.wanted_shapes()) >= 55
    assert [f"{a} {w}, {text}" for (a, w), seen in code.items() for text in _faults(seen, w)] == []


def test_every_kernel_is_judged(code: _Built) -> None:
    """A pair that a macro makes is not forgotten, nor is a twin."""
    expected = {f"{twin}_{shape}" for shape in check_shapes.wanted_shapes() for twin in ("safe", "plain")}
    for seen in code.values():
        assert set(seen) == expected | {f"danger_{shape}" for shape in check_shapes.danger_shapes()}


def test_the_widest_loads_are_used(code: _Built) -> None:
    """128 bits on sm_90; what 32 bytes become is the compiler's choice, but the check knows loads of 256 bits."""
    seen = code["sm_90", "-O3"]["safe_single4"]
    assert [check_shapes.bits_of(o) for o in seen.loads] == [128] == [check_shapes.bits_of(o) for o in seen.stores]
    assert check_shapes.bits_of("LDG.E.ENL2.256") == 256


@pytest.mark.parametrize(("shape", "word"), [
    ("one_warp", "before the wait"), ("first_turn", "before the wait"), ("two_reads", "32 bits read instead of 64"),
    ("store_before", "32 bits written instead of 64"), ("stores_around_trigger", "became"), ("straight", "read-only")])
def test_the_check_can_fail(shapes: _Code, shape: str, word: str) -> None:
    """What nvcc 13.0 makes of the dangerous form (facts F34 to F36b) is not taken for the safe one."""
    shapes[f"safe_{shape}"] = shapes[f"danger_{shape}"]
    assert any(text.startswith(f"{shape}: ") and word in text for text in _faults(shapes))


@pytest.mark.parametrize(("change", "word"), [
    ({"loads": ["LDG.E.64", "LDG.E.64"]}, "loads of [64, 64] bits"), ({"stores": ["STG.E.64", "STG.E.64"]}, "stores of [64, 64] bits"),
    ({"loads": ["LD.E.128"]}, "1 generic loads"), ({"stores": ["ST.E.128"]}, "1 generic stores"), ({"instructions": 99}, "99 instructions"),
    ({"early": 1}, "1 accesses"), ({"loads": ["LDG.E.128.CONSTANT"]}, "read-only")])
def test_worse_than_the_twin_is_seen(shapes: _Code, change: dict[str, object], word: str) -> None:
    """And what the twin does as well is no fault of the fresh pointer: some compilers copy a struct in two halves."""
    shapes["safe_vector"] = dataclasses.replace(shapes["safe_vector"], **change)  # type: ignore[arg-type]
    assert any(word in text for text in _faults(shapes))
    if "without" in (text := " ".join(_faults(shapes))) and "early" not in change:
        shapes["plain_vector"] = shapes["safe_vector"]
        assert _faults(shapes) == [], text


def test_a_spoilt_twin_does_not_excuse(shapes: _Code) -> None:
    shapes["safe_two_reads"] = shapes["plain_two_reads"] = shapes["danger_two_reads"]
    assert any("32 bits read instead of 64" in text for text in _faults(shapes))
    shapes["safe_straight"] = shapes["danger_one_warp"]
    assert list(check_shapes.faults("straight", Wanted(32, 32, 0), shapes, "-G"))  # at -G the order still counts


@pytest.mark.parametrize(("old", "new", "shape"), [
    ('asm volatile("" : "+l"(address) : : "memory");', "", "one_warp: 1 accesses"),
    ("static_cast<pdl_type *>(__cvta_global_to_generic(address))", "(pdl_type *)address", "one_warp: 1 generic loads"),
    ("return pdl_fresh(pointer);", "return pointer;", "wait_block: "),
    ("    __syncthreads();\n", "", "wait_block: "),
    ("#define PDL_RESTRICT\n", "#define PDL_RESTRICT __restrict__\n", "restrict_macro: 1 accesses"),
    ('asm volatile("griddepcontrol.wait;" ::: "memory");', "", "neither wait nor trigger"),
    ('asm volatile("griddepcontrol.launch_dependents;" ::: "memory");\n    PDL', "PDL", "stores_around_trigger: "),
])
def test_a_broken_header_is_seen(tmp_path: Path, old: str, new: str, shape: str) -> None:
    """Each promise of pdl_device.cuh about machine code, broken in a copy."""
    text = (ROOT / "pdl_device.cuh").read_text()
    assert old in text
    (tmp_path / "pdl_device.cuh").write_text(text.replace(old, new))
    for used in (_SHAPES / "device_words.h", check_shapes.TYPES):
        shutil.copy(used, tmp_path)
    source = Path(shutil.copy(check_shapes.SOURCE, tmp_path))
    seen = check_shapes.read_code(compilers.nvcc(compilers.installed_nvcc()).compile(source, "sm_90", "-O3", tmp_path))
    found = _faults(seen)
    assert any(shape in text for text in found), found


def test_danger_is_recorded_for_every_shape(code: _Built) -> None:
    for seen in code.values():
        assert all(check_shapes.became(shape, seen) for shape in check_shapes.danger_shapes())


def test_the_record_tells_faults_failures_and_differences() -> None:
    dangers = dict.fromkeys(check_shapes.danger_shapes(), "kept")
    worse = {**dangers, "straight": "read-only"}

    def outcome(compiler: str, way: str, dangers: dict[str, str], faults: list[str], loads: str) -> check_shapes.Outcome:
        return check_shapes.Outcome(compiler, "sm_90", way, 1, faults, 0, {"vector": loads}, dangers)

    text = check_shapes.as_markdown(
        [outcome("one 1", "-O3", dangers, [], "1 x 128"), outcome("one 2", "-O3", dangers, [], "1 x 128"),
         outcome("other", "-O3", worse, ["vector: 1 generic loads"], "2 x 64"), outcome("other", "-G", dangers, [], "2 x 64")],
        ["another, sm_90 -O3: nvcc: no such target"])
    assert "| dangerous shape | one 1, one 2 | other |" in text
    assert "| straight | kept | read-only; -G kept |" in text
    assert "| vector | 1 x 128 | 2 x 64 |" in text
    assert "- other: vector: 1 generic loads (sm_90 -O3)" in text and "- another, sm_90 -O3: nvcc: no such target" in text
