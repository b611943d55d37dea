"""The smallest program that differs becomes a stand-alone one: of work in streams, and of graphs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit import places
from conformance.pdlkit.repro import programs
from conformance.pdlkit.rules import load
from conformance.pdlkit.toolchain import find_nvcc
from conformance.pdlkit.verdicts import CaseResult

CASES = {case.rule: case for case in load(places.RULES).cases if case.family == "programs"}
KERNEL = "blocks 12 threads 64 cluster 1 shared 0 arguments 0"
STREAMS = (f"0 kernel first {KERNEL} event trigger, 1 copy to the host in lane 1 reads 0, 2 memset, 3 host, "
           "4 kernel waits attribute late blocks 8 threads 32 cluster 2 shared 1024 arguments 300 urgent remote carveout 100 "
           "event none reads 0 2; 0>1:0,0,0 0>4:1,0,1")
GRAPH = f"0 kernel first {KERNEL}, 1 empty, 2 kernel waits {KERNEL} reads 0; 0>1:0,0,0 0>2:1,0,1"


def told(rule: str, answer: str) -> CaseResult:
    return CaseResult(CASES[rule], "FAIL", None, record={"answers": [{"what": programs.ANSWER, "answer": answer}]})


def program(rule: str, answer: str) -> str:
    text = programs.program(told(rule, answer), 0x5EED, "repro.cu", "90")
    assert text is not None and "$" not in text
    return text


LAUNCHED = {way: program("SAME-02", f"{way}: step 4 has a wrong word: {STREAMS}") for way in programs._STREAM_WAYS if way != "captured"}
TEXTS = LAUNCHED | {
    "captured": program("SAME-02", f"captured; instantiated twice: step 4 has a wrong word: {STREAMS}"),
    "one lane": program("SAME-02", "launched: step 1 has a wrong word: "
                                   f"0 kernel legacy {KERNEL} event none, 1 kernel legacy {KERNEL} event none reads 0;"),
    "legacy, captured": program("SAME-02", "captured; instantiated: step 1 has a wrong word: "
                                           f"0 kernel legacy {KERNEL} event none, 1 kernel in lane 1 {KERNEL} event none reads 0;"),
} | {way: program("SAME-01", f"{way}; instantiated: 0>1 was to be 0,0,0 and is 1,0,1: {GRAPH}") for way in programs._GRAPH_WAYS}


@pytest.mark.parametrize(("source", "array", "ways"), [("program_graph.c", "graph_way_name", programs._GRAPH_WAYS),
                                                       ("program_stream.c", "stream_way_name", programs._STREAM_WAYS)])
def test_each_way_is_one_that_the_harness_names(source: str, array: str, ways: dict[str, str]) -> None:
    """Else a difference in that way would be described in words only."""
    text = (places.KIT / "harness" / "programs" / source).read_text(encoding="utf-8")
    names = re.search(rf"{array}\[\w+\] = \{{(.*?)\}};", text, re.DOTALL)
    assert names is not None and set(ways) <= set(re.findall(r'"([^"]+)"', names[1]))


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_short_and_stands_alone(name: str) -> None:
    assert len(TEXTS[name].splitlines()) <= 230
    assert set(re.findall(r"#include [<\"]([^>\"]+)", TEXTS[name])) == {"stdio.h", "string.h", "cuda_runtime.h"}


def test_a_step_is_launched_as_it_was_told() -> None:
    rows = re.search(r"step\[STEPS\] = \{\n(.*?)\n\};", TEXTS["launched"], re.DOTALL)
    assert rows is not None
    assert rows.group(1).splitlines() == [
        "    { KERNEL, 0, 0, 0, FIRST, 12, 64, 1, 0, 0, 0, 0, -1, TRIGGER, 0, 0 },",
        "    { COPY, 1, 0, 0, NEVER, 1, 1, 1, 0, 0, 0, 0, -1, NONE, 1, 1 },",
        "    { MEMSET, 0, 0, 0, NEVER, 1, 1, 1, 0, 0, 0, 0, -1, NONE, 0, 0 },",
        "    { HOST, 0, 0, 0, NEVER, 1, 1, 1, 0, 0, 0, 0, -1, NONE, 1, 0 },",
        "    { KERNEL, 0, 1, 1, LATE, 8, 32, 2, 0, 1, 1, 1024, 100, NONE, 0, 5 },",
    ]
    assert "link_[LINKS + 1] = { { 0, 1, NONE }, { 0, 4, TRIGGER } };" in TEXTS["launched"] and "more[1 + 300]" in TEXTS["launched"]


def test_the_first_lane_is_the_stream_of_the_way() -> None:
    assert "lane[0] = cudaStreamLegacy;" in TEXTS["launched in the legacy default stream"]
    assert "cudaStreamPerThread" in TEXTS["launched in the per-thread default stream"]
    assert "CAPTURED = 1" in TEXTS["captured"] and "CAPTURED = 0" in TEXTS["launched"]
    assert "CAPTURED = 0" in TEXTS["legacy, captured"], "the harness launches it, too"
    assert "lane[0] = cudaStreamLegacy, lane[2]" in TEXTS["one lane"] and "&lane[k], cudaStreamDefault" in TEXTS["one lane"]


def test_a_graph_is_made_in_its_way() -> None:
    assert all(f"make({name}, words" in TEXTS[way] for way, name in programs._GRAPH_WAYS.items())
    assert "step[STEPS] = { { 1, 0 }, { 0, 0 }, { 1, 1 } };" in TEXTS["a child graph"]


@pytest.mark.parametrize("answer", [
    f"launched: step 0 has a wrong word: {STREAMS}", f"launched: a stream that waits for events does not end: {STREAMS}",
    f"launched: step 9 has a wrong word: {STREAMS}",
    f"a clone of a clone; instantiated: wrong: {GRAPH}", "launched: wrong: 0 kernel, 1 await; 0>1:0,0,0", "launched", "",
    f"a clone; instantiated: step 2 has a wrong word: {GRAPH}; after the graph 3 kernel waits attribute {KERNEL}",
    "launched: wrong: 0 kernel waits;",  # of a longer program it is not told how each step is launched
])
def test_what_no_template_can_write_gives_none(answer: str) -> None:
    assert programs.program(told("SAME-02", answer), 1, "repro.cu", "90") is None


def test_the_first_difference_that_can_be_written_is() -> None:
    answers = [{"what": programs.ANSWER, "answer": f"{way}: step 4 has a wrong word: {STREAMS}"} for way in ("unknown", "launched")]
    result = CaseResult(CASES["SAME-02"], "FAIL", None, record={"answers": answers})
    assert programs.program(result, 0x5EED, "repro.cu", "90") == TEXTS["launched"]


def test_they_compile(tmp_path: Path) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("nvcc is not here, so no program was compiled")
    for i, name in enumerate(("captured", "one lane", "launched in a stream of high priority", "the body of a conditional node")):
        file = tmp_path / f"p{i}.cu"
        file.write_text(TEXTS[name])
        done = subprocess.run([str(nvcc.path), "-arch=sm_90", "-Werror", "all-warnings", "-c", "-o", str(tmp_path / "p.o"), str(file)],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"
