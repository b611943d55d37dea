"""repro.cu: for every pair of the rule book a stand-alone program that nvcc takes with the line in its first comment."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import places, repro
from conformance.pdlkit.rules import Case, load
from conformance.pdlkit.tests.kit_runs import run_fake
from conformance.pdlkit.toolchain import find_nvcc
from conformance.pdlkit.verdicts import CaseResult

DEVICE_TEXT = (places.ROOT / "pdl_device.cuh").read_text()
PLAN: dict[str, Any] = {
    "words": 1024, "blocks_primary": 140, "blocks_dependent": 7, "threads": 128, "hold_ns": 1200, "trigger": "start",
    "trigger_all_threads": True, "witness": True, "withhold": 3, "repeats": 3, "residents": 132, "flags": 0x10,
    "primary_shared_bytes": 100000, "programmatic_primary": True, "broken_wait": "none", "x_ns": 500,
}
BOOK = load(places.RULES)
PROVING = [case for case in BOOK.cases if case.proving]
PAIRS: dict[str, Case] = {
    f"{case.family}.{case.pair}.{case.path}": case
    for case in PROVING if repro.writes(case)
}
STORE = PAIRS["wait.store.captured"]


def result(case: Case, **plan: Any) -> CaseResult:
    record = {"trials": {"run": 100}, "outcomes": {"fresh": 90, "poison": 10}}
    return CaseResult(case, "FAIL", None, record=record, forbidden=({"plan": {**PLAN, **plan}},))


def program(case: Case, **plan: Any) -> str:
    text = repro.program(result(case, **plan), 0x5EED, DEVICE_TEXT)
    assert text is not None
    return text


PROGRAMS = {name: program(case) for name, case in PAIRS.items()} | {
    f"wait.store.{mode}": program(STORE, broken_wait=mode) for mode in repro._MODES
} | {f"wait.store.trigger-{when}": program(STORE, trigger=when, trigger_all_threads=False) for when in ("never", "late")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_short_and_stands_alone(name: str) -> None:
    text = PROGRAMS[name]
    assert len(text.splitlines()) <= repro.LINES_AT_MOST
    assert text.startswith("// nvcc ") and "$" not in text
    assert set(re.findall(r"#include [<\"]([^>\"]+)", text)) <= {"cstdio", "cstdlib", "cuda_runtime.h"}


def test_every_core_rule_has_a_program() -> None:
    covered = {case.rule for case in PAIRS.values()}
    assert {case.rule for case in PROVING if case.core} <= covered


def test_a_pair_it_does_not_know_gives_none_instead_of_a_wrong_one() -> None:
    other = [case for case in PROVING if case.kind == "start" and case.pair not in repro.START_PAIRS]
    assert all(repro.program(result(case), 1, DEVICE_TEXT) is None for case in other)


def test_neither_events_nor_built_graphs_get_a_program_of_another_kind() -> None:
    others = [case for case in PROVING if case.path == "built" or case.family == "event"]
    assert others
    assert all(repro.program(result(case), 1, DEVICE_TEXT) is None for case in others)


def test_a_broken_wait_has_no_wait_in_it_and_a_real_one_has() -> None:
    assert "griddepcontrol.wait" in PROGRAMS["wait.store.captured"]
    for mode in repro._MODES:
        assert "griddepcontrol.wait" not in PROGRAMS[f"wait.store.{mode}"]


def test_start_rules_launch_as_their_pair_does() -> None:
    attributes = {name: re.findall(r"launch\(dependent, DEPENDENT, 0, (-?\d), \d, ", text)[0] for name, text in PROGRAMS.items()}
    assert attributes["launch.plain.stream"] == "-1" and attributes["launch.zero.stream"] == "0"
    assert attributes["trigger.withhold.captured"] == "1"


def compile_as_told(nvcc: Path, folder: Path, text: str, *more: str) -> str:
    """nvcc's complaints about this program, compiled with the line in its first comment and with more flags."""
    folder.mkdir()
    (folder / "repro.cu").write_text(text)
    line = text.splitlines()[0].removeprefix("// ").partition(" && ")[0].split()
    assert line[0] == "nvcc"
    done = subprocess.run([str(nvcc), *line[1:], "-Werror", "all-warnings", *more], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{folder.name}: {done.stderr}"


def together(names: list[str]) -> str:
    """Many programs as one, each in a namespace, because starting the compiler takes longer than any of them."""
    texts = [PROGRAMS[name].splitlines(keepends=True) for name in names]
    bodies = ["".join(line for line in text if not line.startswith("#include")) for text in texts]
    spaces = [f'namespace p{i} {{\n#line 1 "{names[i]}"\n{body}}}\n' for i, body in enumerate(bodies)]
    includes = dict.fromkeys(line for text in texts for line in text if line.startswith("#include"))
    return "".join([texts[0][0], *includes, *spaces, "int main() { return 0; }\n"])


def test_every_program_compiles_with_the_line_in_its_first_comment(tmp_path: Path) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("nvcc is not here, so no repro.cu was compiled")
    names = sorted(PROGRAMS)
    assert len({PROGRAMS[name].splitlines()[0] for name in names}) == 1
    whole = {name: PROGRAMS[name] for name in ("wait.store.captured", "wait.store.early", "launch.plain.stream",
                                                    "trigger.resident.captured")}
    read = ("-c", "-Xcompiler", "-fsyntax-only")  # the host compiler takes longest to make the code of so many programs
    jobs = [("half", together(names[::2]), *read), ("other half", together(names[1::2]), *read), *whole.items()]
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda job: compile_as_told(nvcc.path, tmp_path / job[0], *job[1:]), jobs)
        assert [words for words in said if words] == []


def test_a_trial_that_says_too_little_gives_no_program() -> None:
    assert repro.program(result(STORE, words=0), 1, DEVICE_TEXT) is None
    assert repro.program(CaseResult(STORE, "FAIL", None), 1, DEVICE_TEXT) is None


def test_comments_go_and_strings_stay() -> None:
    assert repro.strip_comments('a /* x\ny */ b // c\n\n"// no /* comment */"\n') == 'a   b\n"// no /* comment */"\n'


def test_a_failing_run_writes_it(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"WAIT-05": "fail"}, "--only", "WAIT-05")
    assert ran.code == 1 and "repro.cu" in ran.out
    assert (tmp_path / "repro.cu").read_text().startswith("// nvcc ")
    assert "planted broken wait" in (tmp_path / "repro.cu").read_text()
    assert run_fake(tmp_path, {}, "--only", "WAIT-05").code == 0
    assert not (tmp_path / "repro.cu").exists(), "a repro of an earlier run must not stay beside a passing report"


def test_triage_is_in_the_report(tmp_path: Path) -> None:
    ran = run_fake(tmp_path, {"WAIT-05": "fail"}, "--only", "WAIT-05")
    assert [v["tag"] for v in ran.report["tests"][0]["triage"]] == ["attroff"]
    assert len(ran.report["tests"][0]["forbidden"]) == 1


def test_nvcc_is_found_where_the_path_has_it() -> None:
    on_path = shutil.which("nvcc")
    found = find_nvcc()
    assert on_path is None or (found is not None and found.version is not None)
