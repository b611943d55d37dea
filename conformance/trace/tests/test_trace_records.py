"""What is read back: ranges, damaged files, steps, and the unions of times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.trace import page, session
from conformance.trace.records import (
    ASKED_CLUSTER,
    ASKED_COMPLETION_EVENT,
    ASKED_COOPERATIVE,
    ASKED_EVENT,
    ASKED_OVERLAP,
    ASKED_UPDATABLE,
    FIRST_OF_KERNEL,
    IN_CAPTURE,
    NOT_SAMPLED,
    Edge,
    HostEvent,
    Kernel,
    Process,
    Range,
    Stream,
    read_process,
)
from conformance.trace.report import clipped, short_name
from conformance.trace.summary import summarise, union_us
from conformance.trace.timeline import Run, Timeline, join

HERE = Path(__file__).parent


def test_nvtx_calls_arrive_as_ranges(tmp_path: Path) -> None:
    variables = {**os.environ, "PDL_TRACE_FOLDER": str(tmp_path), "PDL_TRACE_TIMES": "0"}
    subprocess.run([sys.executable, HERE / "nvtx_calls.py", session.library()], env=variables, check=True, timeout=3600)
    process = read_process(next(tmp_path.glob("process-*.jsonl")))
    assert [(r.what, r.text) for r in process.ranges] == [
        ("push", 'step "1"'), ("start", "epoch"), ("push", "layer"), ("pop", ""), ("end", ""), ("pop", "")]
    assert process.ended and process.damaged == 0


def called(stand_in: Path, folder: Path, what: str, **variables: str) -> Process:
    """The process that made calls by hand on the stand-in driver."""
    environment = {**os.environ, "LD_PRELOAD": str(session.library()), "LD_LIBRARY_PATH": str(stand_in), "PDL_TRACE_FOLDER": str(folder)}
    subprocess.run([sys.executable, HERE / "calls_by_hand.py", stand_in / "new.module", what], env={**environment, **variables}, check=True,
                   timeout=3600)
    return read_process(next(folder.glob("process-*.jsonl")))


def test_each_call_is_noted_as_what_it_asked_for(stand_in: Path, tmp_path: Path) -> None:
    process = called(stand_in, tmp_path, "all", PDL_TRACE_TIMES="0")
    first, *launches = (event for event in process.events if event.operation == "launch")
    assert first.flags == FIRST_OF_KERNEL and [launch.flags for launch in launches] == [
        0, ASKED_OVERLAP, 0, ASKED_COOPERATIVE, 0, ASKED_UPDATABLE, 0, ASKED_CLUSTER, ASKED_EVENT, ASKED_COMPLETION_EVENT, 0, ASKED_OVERLAP,
        0, ASKED_COOPERATIVE, IN_CAPTURE]
    assert [launch.carveout for launch in launches] == [-2] * 10 + [30, 0] + [-2] * 3
    assert {(launch.grid, launch.block, launch.shared, launch.code) for launch in launches} == {((2, 3, 4), (32, 1, 2), 16, 0)}
    others = [event for event in process.events if event.operation not in ("launch", "capture_begin", "capture_end")]
    assert [(event.operation, event.code, event.flags) for event in others] == [
        ("event", 0, 0), ("timed_event", 0, 0), ("event", 0, 0), ("timed_event", 0, 0), ("wait_event", 0, 0), ("memset", 0, 0),
        ("memset", 900, IN_CAPTURE)]
    assert {event.detail for event in [*others[1:5], *launches[8:10]]} == {others[1].detail} and others[0].detail != others[1].detail


def test_records_that_cupti_dropped_are_told(stand_in: Path, tmp_path: Path) -> None:
    for number, dropped in (("0", False), ("3", True)):
        (tmp_path / number).mkdir()
        process = called(stand_in, tmp_path / number, "sampled", PDL_TRACE_CUPTI=str(stand_in / "libcuda.so.1"), STAND_IN_DROPS=number)
        assert (process.dropped > 0) is dropped


def test_a_graph_is_noted_with_its_child_graphs_and_again_when_it_was_updated(stand_in: Path, tmp_path: Path) -> None:
    process = called(stand_in, tmp_path, "graphs", PDL_TRACE_TIMES="0")
    assert [event.detail for event in process.events if event.operation == "graph"] == [0, 1] and set(process.graphs) == {0, 1}
    for graph in process.graphs.values():
        assert [(node.index, node.parent, node.kind) for node in graph.nodes] == [
            (0, -1, "kernel"), (1, -1, "graph"), (2, 1, "kernel"), (3, 1, "kernel")]
        assert graph.edges == [Edge(2, 3, 2, 3, 1), Edge(0, 1)]
        assert {(node.kernel, node.grid, node.block, node.shared) for node in graph.nodes if node.kind == "kernel"} == {
            (0, (2, 1, 1), (32, 1, 1), 16)}


def test_one_of_n_stretches_between_synchronisations_is_timed(stand_in: Path, tmp_path: Path) -> None:
    process = called(stand_in, tmp_path, "sampled", PDL_TRACE_CUPTI=str(stand_in / "libcuda.so.1"), PDL_TRACE_SAMPLE="2")
    launches = [event for event in process.events if event.operation == "launch"]
    assert [not launch.flags & NOT_SAMPLED for launch in launches] == [True, True, False, False] * 2
    assert len(process.activities) == 4 and {activity.registers for activity in process.activities} == {process.kernels[0].registers}


def test_a_file_that_ends_in_the_middle_of_a_line_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "process-1-0.jsonl"
    rows = [{"process": 1, "program": "p", "rank": "", "began": 1, "environment": {}}, ["memset", 0, 5, 6, 1, 0, 0, 0, 0]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '["launch",1,2')
    process = read_process(path)
    assert len(process.events) == 1 and process.damaged == 1 and not process.ended
    timeline = Timeline(process, [], [], 0, 0)
    assert any("ended without warning" in note for note in summarise([timeline], [], None).notes)


@pytest.mark.parametrize("line", ["[]", "{}", "null", "[1]", '["launch"]', '["node",7,0,-1,"kernel",1]', '["K",1]', "\x00\xff"])
def test_no_line_makes_reading_fail(tmp_path: Path, line: str) -> None:
    path = tmp_path / "process-1-0.jsonl"
    path.write_text(line + "\n")
    assert read_process(path).damaged == 1


def run(start: int, end: int, stream: int = 0, name: str = "k") -> Run:
    return Run(1, 0, stream, Kernel(name), (1, 1, 1), (32, 1, 1), 0, start, end)


def test_a_union_counts_overlapping_time_once() -> None:
    assert union_us([run(0, 2000), run(1000, 3000), run(5000, 6000)]) == 4.0
    assert union_us([]) == 0.0


def test_launches_get_the_ranges_that_they_were_made_in() -> None:
    process = Process(pid=1, streams={0: Stream(0, 0, 7, "created")}, times="CUPTI", ended=True)
    marks = [("push", 10, "step"), ("push", 20, "layer 0"), ("pop", 40, ""), ("pop", 60, "")]
    process.ranges = [Range(what, time, 1, 0, text) for what, time, text in marks]
    launches = enumerate([(30, 1), (50, 1), (55, 2), (70, 1)])
    process.events = [HostEvent("launch", n, begin, begin + 1, thread, 0, 0) for n, (begin, thread) in launches]
    timeline = join(process)
    for item in timeline.items:
        item.runs = [run(item.event.begin * 1000, item.event.begin * 1000 + 500)]
    timeline.runs = [item.runs[0] for item in timeline.items]
    from conformance.trace.timeline import _name_ranges

    _name_ranges(process, timeline.items)
    assert [r.range for r in timeline.runs] == ["step / layer 0", "step", "", ""]
    summary = summarise([timeline], [], "^layer")
    assert summary.steps.count == 1 and summary.step_us == 0.5


def test_the_page_keeps_hostile_names_inside_its_data(tmp_path: Path) -> None:
    timeline = Timeline(Process(pid=1, times="CUPTI", ended=True), [], [run(0, 1000, name="</script><script>alert(1)</script>")], 0, 0)
    summary = summarise([timeline], [], None)
    page.write(tmp_path / "page.html", page.data(summary, [timeline], [], None, ["x"]))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 2 and "alert(1)" in text


@pytest.mark.parametrize(("name", "short"), [
    ("_Z13link_of_chainP6stampsj", "link_of_chain"),
    ("void at::native::vectorized_elementwise_kernel<4, at::native::Functor<float> >(int, float*)", "vectorized_elementwise_kernel"),
    ("nvjet_sm90_tst_64x8", "nvjet_sm90_tst_64x8"), ("", ""), ("operator()", "operator"),
])
def test_names_are_shortened_to_what_a_person_would_say(name: str, short: str) -> None:
    assert short_name(name) == short


def test_long_names_lose_their_middle() -> None:
    assert clipped("abcdefghij", 10) == "abcdefghij" and len(clipped("abcdefghijk", 10)) == 10
