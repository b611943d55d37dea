"""trace --inside: which kernels record, what their records say, and what is concluded from them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.places import KIT
from conformance.rewrite import library as rewriter
from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Instruction, Kernel, cubin
from conformance.trace.inside import plan
from conformance.trace.inside.findings import RAN_ON, find
from conformance.trace.inside.records import Block, Launch, Recorded, launches_of, read_process
from conformance.trace.records import Device
from conformance.trace.records import Kernel as TracedKernel
from conformance.trace.timeline import Run
from conformance.trace.zoo.command import build_zoo

HERE = Path(__file__).parent
SET_REGISTERS: Instruction = (0x00000028000079C8, 0x000FC000080E0500)


def kernel(name: str, *middle: Instruction) -> Kernel:
    return Kernel(name, [STACK, *middle, ADD, EXIT], exits=[16 * (len(middle) + 2)])


@pytest.fixture(scope="module")
def place(stand_in: Path) -> Path:
    others = [kernel(name) for name in ("gate", "first_silent", "second_shared", "second_unloaded", "second_waits_first")]
    (stand_in / "inside.cubin").write_bytes(cubin([*others, kernel("first", TRIGGER, ADD), kernel("second", ADD, WAIT)]))
    (stand_in / "odd.cubin").write_bytes(cubin([*others, kernel("first", TRIGGER, SET_REGISTERS), kernel("second", ADD, WAIT)]))
    return stand_in


def on_stand_in(place: Path) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": str(place), "PDL_TRACE_CUPTI": str(place / "libcuda.so.1")}


def trace(place: Path, *options: str, image: str = "inside.cubin", variant: str = "fixed") -> subprocess.CompletedProcess[str]:
    command = [str(build_zoo()), "not-asked", variant, str(place / image), str(place / image)]
    return subprocess.run([sys.executable, str(KIT), "trace", "--once", "--inside", *options, "--", *command], capture_output=True,
                          text=True, check=False, timeout=3600, env=on_stand_in(place))


def as_json(place: Path, **more: Any) -> dict[str, Any]:
    done = trace(place, "--json", **more)
    assert done.returncode == 0, done.stderr
    inside = json.loads(done.stdout)["inside"]
    assert isinstance(inside, dict)
    return inside


def test_the_blocks_of_a_pair_that_overlaps_are_seen_to_wait(place: Path) -> None:
    inside = as_json(place)
    pair = next(one for one in inside["pairs"] if (one["primary"], one["dependent"]) == ("first", "second"))
    assert pair["asked"] and pair["triggers"] and pair["waits"] and pair["launches"] == 20
    assert pair["standing_us"] > 0 and pair["lead_us"] > pair["prologue_us"] and pair["late_us"] == 0
    assert "only work moved ahead of the wait would gain" in pair["text"]
    assert RAN_ON in inside["notes"] and inside["not_recorded"] == {} and inside["launches_kept_in_part"] == 0
    assert inside["launches"] == inside["launches_in_the_traced_run"] and "left no record" not in " ".join(inside["notes"])


def test_a_pair_that_does_not_ask_is_told_so_first(place: Path) -> None:
    pair = next(one for one in as_json(place, variant="broken")["pairs"] if one["dependent"] == "second")
    assert not pair["asked"] and "overlap is not asked for" in pair["text"]


def test_the_table_says_on_which_gpus_recording_ran_and_fits_the_terminal(place: Path, tmp_path: Path) -> None:
    done = trace(place, "--html", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "recording ran on H200s" in " ".join(done.stdout.split()) and "us in the wait" in " ".join(done.stdout.split())
    page = (tmp_path / "page.html").read_text()
    assert RAN_ON in page and "Inside the kernels" in page


def test_a_kernel_that_cannot_record_is_named_with_its_reason(place: Path) -> None:
    inside = as_json(place, image="odd.cubin")
    assert "changes its own number of registers" in inside["not_recorded"]["first"]
    assert [one for one in inside["pairs"] if "first" in (one["primary"], one["dependent"])] == []


@pytest.mark.parametrize("end", ["keep", "reset"])
def test_the_records_are_there_whichever_of_context_and_process_ends_first(place: Path, end: str) -> None:
    words = [str(HERE / "resets_context.py"), str(place / "inside.cubin"), end]
    done = subprocess.run([sys.executable, str(KIT), "trace", "--once", "--inside", "--json", "--", sys.executable, *words],
                          capture_output=True, text=True, check=False, timeout=3600, env=on_stand_in(place))
    assert done.returncode == 0, done.stderr
    inside = json.loads(done.stdout)["inside"]
    assert inside["launches"] == 2
    assert ("ended the context of the records" in " ".join(inside["notes"])) == (end == "reset")
    assert "failed with error" not in " ".join(inside["notes"])


def test_kernels_of_another_context_do_not_record_and_are_listed(place: Path) -> None:
    words = [str(HERE / "resets_context.py"), str(place / "inside.cubin"), "other"]
    done = subprocess.run([sys.executable, str(KIT), "trace", "--once", "--inside", "--json", "--", sys.executable, *words],
                          capture_output=True, text=True, check=False, timeout=3600, env=on_stand_in(place))
    assert done.returncode == 0, done.stderr
    inside = json.loads(done.stdout)["inside"]
    assert inside["launches"] == 2 and inside["launches_kept_in_part"] == 0  # those of the first context
    assert "in another context" in inside["not_recorded"]["second"]
    assert "ended with code" not in " ".join(inside["notes"])


def test_times_of_the_host_alone_do_not_say_which_kernels_follow_each_other(place: Path) -> None:
    done = trace(place, "--no-times")
    assert done.returncode == 64 and "--inside needs the times" in done.stderr


DEVICE = Device("GPU", 132, 90, 32, 2048, 65536, 228 << 10, 32, 1024)


def run(registers: int | None, threads: int, shared: int = 0) -> Run:
    return Run(1, 0, 0, TracedKernel("k", registers, 0), (1000, 1, 1), (threads, 1, 1), shared, 0, 1)


@pytest.mark.parametrize(("registers", "threads", "shared", "fits"), [
    (8, 1024, 0, True), (26, 1024, 0, True), (27, 1024, 0, False), (32, 256, 0, False),
    (32, 256, 100 << 10, True),   # shared memory leaves room for two blocks only, whatever their registers
    (40, 128, 0, False), (64, 1024, 0, False), (58, 1024, 0, True), (250, 128, 0, True)])
def test_a_kernel_records_only_if_as_many_blocks_fit_as_before(registers: int, threads: int, shared: int, fits: bool) -> None:
    assert (plan.why_not(DEVICE, run(registers, threads, shared)) == "") == fits


def test_why_a_kernel_does_not_record_is_said_with_both_numbers() -> None:
    assert plan.why_not(DEVICE, run(27, 1024)) == (
        "with the registers for recording 1 instead of 2 of its blocks fit on a multiprocessor")


def test_what_is_not_known_is_not_risked() -> None:
    assert "did not say" in plan.why_not(DEVICE, run(None, 32)) and "did not say" in plan.why_not(None, run(8, 32))
    assert "not known" in plan.why_not(Device(), run(8, 32))


@pytest.mark.parametrize("had", [1, 8, 17, 18, 19, 20, 21, 31, 32, 100, 247, 248])
def test_the_rewriter_gives_a_kernel_as_many_registers_as_the_plan_counts_with(tmp_path: Path, had: int) -> None:
    (tmp_path / "in").write_bytes(cubin([Kernel("k", [STACK, WAIT, EXIT], had)]))
    (tmp_path / "plan").write_text(plan.text(["k"]))
    done = subprocess.run([rewriter.tool(), tmp_path / "in", tmp_path / "out", "--plan", tmp_path / "plan"], capture_output=True, text=True)
    assert json.loads(done.stdout)["registers"] == plan.registers_with_record(had)


def block(start: int, begun: int, ended: int, trigger: int, leaves: int) -> Block:
    return Block(start, begun, ended, trigger, leaves, 0)


def launch(name: str, *blocks: Block) -> Launch:
    return Launch(name, 1, len(blocks), dict(enumerate(blocks)))


def conclude(first: Launch, second: Launch) -> Any:
    return find([Recorded([first, second])], {("a", "b"): True}, {}).findings[0]


def test_a_late_trigger_is_told_with_what_an_earlier_one_could_hide() -> None:
    # released 1000 ns ahead of its end; the dependent arrives after 700 and needs 2000 for its prologue
    found = conclude(launch("a", block(0, 0, 0, 8000, 10000), block(0, 0, 0, 9000, 9900)), launch("b", block(9700, 11700, 11800, 0, 14000)))
    assert found.gain_us == pytest.approx(1.7) and "an earlier trigger could hide up to 1.70 us more" in found.sentence()


def test_a_primary_without_a_trigger_releases_at_its_last_exit() -> None:
    found = conclude(launch("a", block(0, 0, 0, 0, 10000)), launch("b", block(10600, 11000, 11100, 0, 12000)))
    assert found.typical("lead") == 0 and "the primary has none" in found.sentence()


def test_blocks_that_stand_in_the_wait_leave_nothing_for_the_trigger() -> None:
    found = conclude(launch("a", block(0, 0, 0, 1000, 10000)),
                     launch("b", block(2000, 2500, 10600, 0, 12000), block(2000, 2600, 10700, 0, 12000)))
    assert found.gain_us == 0 and found.typical("parked") == pytest.approx(16.2) and found.typical("response") == pytest.approx(0.6)
    assert "up to 8.10 us" in found.sentence()


def row(grid: int, number: int, blocks: int, warp: int, warps: int, *times: int) -> tuple[int, ...]:
    start, begun, ended, trigger, leaves = times
    return (start, grid, number, 0, blocks, warps << 16 | warp << 24 | 5, begun, ended, trigger, leaves)


def test_a_block_is_its_first_warps_start_and_its_last_warps_exit() -> None:
    rows = [row(9, 0, 1, 0, 2, 110, 130, 200, 0, 300), row(9, 0, 1, 1, 2, 100, 140, 190, 150, 280), (0,) * 10]
    (found,) = launches_of(rows, {0: "k"})
    one = found.blocks[0]
    assert found.complete and (one.start, one.wait_begun, one.wait_ended, one.trigger, one.exit) == (100, 130, 200, 150, 300)
    assert one.multiprocessor == 5


def test_a_record_of_no_grid_or_of_a_kernel_without_a_name_is_left_out() -> None:
    rows = [row(0, 7, 1, 0, 1, 100, 0, 0, 0, 300), (9, 0) + row(9, 0, 1, 0, 1, 100, 0, 0, 0, 300)[2:]]
    (found,) = launches_of([rows[1], (0, *rows[1][1:]), (*rows[1][:3], 5, *rows[1][4:])], {0: "k"})
    assert found.complete and found.name == "k"


def ring(path: Path, rows: list[tuple[int, ...]], begun: int) -> None:
    path.write_bytes(struct.pack("<Q56x", begun) + b"".join(struct.pack("<QQIIIIQQQQ", *one) for one in rows) + b"cut off")


def test_each_replay_of_a_node_is_a_launch_of_its_own_though_its_number_stays() -> None:
    rows = [row(9, block, 2, warp, 2, 1000 * replay + 10 * warp + 1, 0, 0, 0, 1000 * replay + 500) for replay in range(3)
            for warp, block in ((0, 0), (0, 1), (1, 1), (1, 0))]
    found = list(launches_of(rows, {0: "k"}))
    assert [(one.start, one.complete) for one in found] == [(1, True), (1001, True), (2001, True)]


def test_of_a_full_ring_the_newest_launches_are_kept_and_the_lost_warps_counted(tmp_path: Path) -> None:
    lines = tmp_path / "process-7-0.jsonl"
    lines.write_text('{"inside":"number","number":0,"name":"k"}\n')
    newest = [row(grid, block, 2, 0, 1, 100 * grid, 0, 0, 0, 100 * grid + 5) for grid, block in ((3, 1), (4, 0), (4, 1), (5, 0), (5, 1))]
    ring(tmp_path / "inside-7.records", newest[3:] + newest[:3], 12)  # room for 5, so the oldest stands at 12 % 5
    found = read_process(lines)
    assert [one.grid for one in found.launches] == [4, 5] and (found.partial, found.warps, found.dropped) == (1, 12, 7)
    assert "7 of 12 warps' records were taken" in " ".join(find([found], {}, {}).notes)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_what_is_left_of_a_replay_takes_no_records_of_the_next_one(tmp_path: Path, left: int) -> None:
    lines = tmp_path / "process-7-0.jsonl"
    lines.write_text('{"inside":"number","number":0,"name":"k"}\n')
    rows = [row(9, block, 4, 0, 1, 1000 * replay + block, 0, 0, 0, 1000 * replay + 500) for replay in (1, 2, 3) for block in range(4)]
    size = 8 + left  # the ring has room for two replays and the last blocks of the one before
    newest = rows[-size:]
    oldest = 12 % size
    ring(tmp_path / "inside-7.records", newest[size - oldest :] + newest[: size - oldest], 12)
    found = read_process(lines)
    assert [(one.start, one.end) for one in found.launches] == [(2000, 2500), (3000, 3500)]
    assert (found.partial, found.dropped) == (1, 12 - size)


def test_the_time_that_recording_a_start_takes_is_no_part_of_the_prologue() -> None:
    held = (100, 9, 0, 40 << 12, 1, 1 << 16, 190, 300, 0, 500)
    (found,) = launches_of([held], {0: "k"})
    step = find([Recorded([launch("a", block(0, 0, 0, 0, 250)), found])], {("a", "k"): True}, {}).findings[0].steps[0]
    assert step.prologue == 50  # 90 from the start to the wait, of which 40 went into the record


@pytest.mark.parametrize("rows", [
    [row(9, 0, 2, 0, 1, 1, 0, 0, 0, 5)],                                    # a block is missing
    [row(9, 0, 1, 0, 2, 1, 0, 0, 0, 5)],                                    # a warp is missing
    [row(9, 0, 1, 0, 1, 1, 0, 0, 0, 0)]])                                   # a warp without an exit
def test_a_launch_of_which_a_part_is_missing_is_left_out(rows: list[tuple[int, ...]], tmp_path: Path) -> None:
    lines = tmp_path / "process-7-0.jsonl"
    lines.write_text('{"inside":"number","number":0,"name":"k"}\n')
    ring(tmp_path / "inside-7.records", rows, len(rows))
    found = read_process(lines)
    assert found.launches == [] and found.partial == 1
    assert "left out" in find([found], {}, {}).notes[-1]


def test_launches_that_left_no_record_are_told_but_for_kernels_that_do_not_record() -> None:
    launches = [launch("a", block(0, 0, 0, 0, 10)), launch("a", block(20, 0, 0, 0, 30))]
    found = find([Recorded(launches, partial=3)], {}, {"b": "why"}, {"a": 40, "b": 7})
    assert found.launched == 40 and "about 35 launches left no record" in found.notes[-1]
    assert "left no record" not in " ".join(find([Recorded(launches)], {}, {}, {"a": 2}).notes)


@pytest.mark.parametrize("kept", [None, b"", b"cut off", struct.pack("<Q56x", 0)])
def test_a_process_that_recorded_nothing_is_read_whatever_it_left(kept: bytes | None, tmp_path: Path) -> None:
    lines = tmp_path / "process-7-0.jsonl"
    lines.write_bytes(b'\xff no line\n{"inside":"number","number":0,"name":"k"}\n{"inside":"lost","why":"x"}\n')
    if kept is not None:
        (tmp_path / "inside-7.records").write_bytes(kept)
    found = read_process(lines)
    assert (found.launches, found.partial, found.dropped, found.troubles) == ([], 0, 0, ["x"])
