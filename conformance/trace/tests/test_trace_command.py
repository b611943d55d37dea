"""The whole command on the stand-in driver: what it prints and writes, and what it says where it cannot."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.places import KIT
from conformance.trace.report import WIDTH
from conformance.trace.zoo.command import build_zoo


def trace(stand_in: Path, *options: str, program: str = "not-asked", variant: str = "broken", cupti: bool = True,
          environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(build_zoo()), program, variant, str(stand_in / "new.module"), str(stand_in / "old.module")]
    variables = {**os.environ, "LD_LIBRARY_PATH": str(stand_in), **(environment or {})}
    if cupti:
        variables["PDL_TRACE_CUPTI"] = str(stand_in / "libcuda.so.1")
    return subprocess.run([sys.executable, str(KIT), "trace", *options, "--", *command], env=variables, capture_output=True, text=True,
                          timeout=3600, check=False)


def as_json(stand_in: Path, *options: str, **more: Any) -> dict[str, Any]:
    done = trace(stand_in, "--json", *options, **more)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert isinstance(content, dict)
    return content


def pair_in(content: dict[str, Any], primary: str = "first", dependent: str = "second") -> dict[str, Any]:
    return next(p for p in content["pairs"] if p["primary"] == primary and p["dependent"] == dependent)


def test_the_table_tells_the_reason_and_fits_the_terminal(stand_in: Path) -> None:
    done = trace(stand_in)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    assert re.search(r"first > second\n.*stream, 20 runs, asked: no", done.stdout)
    assert "not-asked: the launch does not carry the attribute [F5, ATTR-03]" in done.stdout
    assert "recoverable" in done.stdout and "own cost" in done.stdout


def test_the_json_has_each_pair_with_its_distribution(stand_in: Path) -> None:
    content = as_json(stand_in, "--once")
    pair = pair_in(content)
    assert pair["launches"] == 20 and pair["overlapping"] == 0 and pair["asked"] == {"no": 20}
    assert pair["why_not"][0]["reason"] == "not-asked" and pair["gap_us"]["p50"] > 0
    assert content["presence"] is None and content["command_exit"] == 0
    fixed = pair_in(as_json(stand_in, "--once", variant="fixed"))
    assert fixed["overlapping"] == 20 and fixed["overlap_us"]["p50"] > 20 and fixed["why_not"] == []
    assert fixed["recoverable_us_per_step"] == 0 < pair["recoverable_us_per_step"]


def test_a_graph_is_taken_step_by_step_and_its_nodes_are_places(stand_in: Path) -> None:
    content = as_json(stand_in, "--once", program="full-edge", variant="fixed")
    assert content["steps"]["name"] == "launch of graph 0" and content["steps"]["count"] == 20
    assert pair_in(content)["places"] == {"graph 0: 1 to 2": 20} and pair_in(content)["asked"] == {"edge": 20}
    assert content["critical_path"]["kernels"] == 3
    some = as_json(stand_in, "--once", "--steps", "5:15", program="full-edge", variant="fixed")
    assert some["steps"]["count"] == 10


def test_one_of_n_launches_of_a_graph_is_timed(stand_in: Path) -> None:
    content = as_json(stand_in, "--once", "--sample", "4", program="full-edge", variant="fixed")
    assert content["steps"]["count"] == 5 and pair_in(content)["launches"] == 5 and content["notes"] == []


def test_the_page_the_perfetto_file_and_the_launches_file(stand_in: Path, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("page.html", "perfetto.json", "launches.jsonl")]
    done = trace(stand_in, "--once", "--html", files[0], "--perfetto", files[1], "--launches", files[2], variant="fixed")
    assert done.returncode == 0, done.stderr
    page = Path(files[0]).read_text(encoding="utf-8")
    data = json.loads(page.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])
    assert len(data["runs"]["start"]) == 67 and data["names"] and not re.search(r"https?://", page)
    assert "default-src 'none'" in page
    events = json.loads(Path(files[1]).read_text(encoding="utf-8"))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == 67 and {event["ph"] for event in events} == {"M", "X", "s", "f"}
    by_row: dict[int, float] = {}
    for event in sorted(slices, key=lambda event: event["ts"]):  # slices of one row must not overlap, or viewers drop them
        assert event["ts"] >= by_row.get(event["tid"], -1.0) - 1e-6
        by_row[event["tid"]] = event["ts"] + event["dur"]
    launches = [json.loads(line) for line in Path(files[2]).read_text(encoding="utf-8").splitlines()]
    second = next(entry for entry in launches if entry["kernel"] == "second" and entry["overlap"] is True)
    assert second["launches"] == 20 and second["behind"] == ["first"] and re.fullmatch(r"[0-9a-f]{16}", second["image"])


def test_without_times_the_ways_of_asking_are_still_noted(stand_in: Path) -> None:
    content = as_json(stand_in, "--no-times", cupti=False)
    assert content["kernels"] == 0 and content["pairs"] == []


def test_a_program_without_cuda_is_said_to_be_one(stand_in: Path) -> None:
    done = subprocess.run([sys.executable, str(KIT), "trace", "--once", "--", "true"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PDL_TRACE_CUPTI": str(stand_in / "libcuda.so.1")}, timeout=3600)
    assert done.returncode == 69
    assert "nothing was traced: the program ended with code 0; it made no call of libcuda: it uses no CUDA" in done.stderr


def test_a_program_that_launches_nothing_is_reported_with_its_exit_code(stand_in: Path) -> None:
    done = trace(stand_in, "--once", program="no-such-program")
    assert done.returncode == 69 and "ended with code 64" in done.stderr


@pytest.mark.parametrize(("options", "said"), [
    (["--html", "/no/such/folder/page.html", "--", "true"], "the folder of /no/such/folder/page.html is not there"),
    (["--steps", "a", "--", "true"], "--steps takes two numbers"),
    (["--step", "(", "--", "true"], "is not a regular expression"),
    (["--sample", "0", "--", "true"], "--sample takes 1 or more"),
    (["--timeout", "-1", "--", "true"], "argument --timeout: '-1' is not a number above 0"),
    (["--", "no-such-program-anywhere"], "is not a program that can be run"),
    ([], "there is no command to run"),
])
def test_bad_arguments_are_named(options: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, str(KIT), "trace", *options], capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 64 and said in done.stderr


def test_cupti_that_is_not_there_is_said_before_anything_runs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(KIT), "trace", "--", "touch", str(tmp_path / "ran")], capture_output=True, text=True,
                          check=False, env={**os.environ, "PDL_TRACE_CUPTI": str(tmp_path / "none.so")}, timeout=3600)
    assert done.returncode == 69 and "PDL_TRACE_CUPTI names" in done.stderr and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_cache_folder_that_the_loader_cannot_name_is_refused_before_anything_runs(tmp_path: Path, name: str) -> None:
    done = subprocess.run([sys.executable, str(KIT), "trace", "--", "touch", str(tmp_path / "ran")], capture_output=True, text=True,
                          check=False, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / name)}, timeout=3600)
    assert done.returncode == 69 and "has a space or a colon" in done.stderr and "set XDG_CACHE_HOME" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_records_are_kept_where_asked_and_private(stand_in: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert trace(stand_in, "--once", "--keep", str(kept)).returncode == 0
    records = list((kept / "traced").glob("process-*.jsonl"))
    assert len(records) == 1 and stat.S_IMODE(kept.stat().st_mode) == 0o700 and stat.S_IMODE(records[0].stat().st_mode) == 0o600
    again = trace(stand_in, "--once", "--keep", str(kept))
    assert again.returncode == 64 and "is not empty" in again.stderr


def test_only_the_chosen_rank_is_traced(stand_in: Path) -> None:
    assert as_json(stand_in, "--once", "--rank", "1", environment={"RANK": "1"})["kernels"] > 0
    done = trace(stand_in, "--once", "--rank", "0", environment={"RANK": "1"})
    assert done.returncode == 69 and "nothing was traced" in done.stderr


def test_each_process_is_traced_by_itself(stand_in: Path) -> None:
    zoo = f"{build_zoo()} not-asked broken {stand_in / 'new.module'} {stand_in / 'old.module'}"
    variables = {**os.environ, "LD_LIBRARY_PATH": str(stand_in), "PDL_TRACE_CUPTI": str(stand_in / "libcuda.so.1")}
    done = subprocess.run([sys.executable, str(KIT), "trace", "--json", "--once", "--", "sh", "-c", f"{zoo} & {zoo}; wait"], env=variables,
                          capture_output=True, text=True, check=False, timeout=3600)
    content = json.loads(done.stdout)
    assert content["processes"] == 2 and content["kernels"] == 2 * 67 and pair_in(content)["launches"] == 40


def test_forked_workers_with_threads_that_end_by_exit_lose_nothing(stand_in: Path) -> None:
    variables = {**os.environ, "LD_LIBRARY_PATH": str(stand_in), "PDL_TRACE_CUPTI": str(stand_in / "libcuda.so.1")}
    program = [sys.executable, str(Path(__file__).with_name("launches_of_workers.py")), str(stand_in / "new.module")]
    done = subprocess.run([sys.executable, str(KIT), "trace", "--json", "--once", "--", *program], env=variables, capture_output=True,
                          text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["processes"] == 2 and content["kernels"] == 2 * 2 * 20 and content["notes"] == []
    assert pair_in(content)["launches"] == 40 and pair_in(content, "second", "first")["launches"] == 36
    assert sum(load["name"].startswith("process") for load in content["time"]) == 4  # two streams in each of two processes


def test_diff_says_what_a_change_did(stand_in: Path, tmp_path: Path) -> None:
    for name, variant in (("old", "broken"), ("new", "fixed")):
        (tmp_path / name).write_text(trace(stand_in, "--json", "--once", program="full-edge", variant=variant).stdout)

    def diff(old: str, new: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(KIT), "trace", "diff", str(tmp_path / old), str(tmp_path / new)], capture_output=True,
                              text=True, check=False, timeout=3600)

    better = diff("old", "new")
    assert better.returncode in (0, 3) and "overlap in 0 -> 100 %" in better.stdout and "not-asked -> nothing in the way" in better.stdout
    assert diff("old", "old").returncode == 0
    (tmp_path / "bad").write_text("{}")
    assert diff("old", "bad").returncode == 64
