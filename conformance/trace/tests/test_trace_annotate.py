"""Traces of other tools: read, annotated in a copy, and never changed."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit.places import KIT
from conformance.trace.annotate import _from_torch, _nsys_devices
from conformance.trace.records import Device


def annotate(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(KIT), "trace", "annotate", *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=3600)


def nsys_export(path: Path) -> Path:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "alpha"), (2, "beta")])
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
                         "correlationId INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "
                         "blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER)")
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 4, 1, 1, 128, 1, 1, 16)", [
            (100_000, 120_000, 1, 1), (110_000, 130_000, 2, 2), (140_000, 150_000, 3, 1), (190_000, 200_000, 4, 2)])
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
                         "correlationId INTEGER)")
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (132000, 133000, 0, 7, 9)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER)")
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?)", [
            (1, 2, 1), (3, 4, 2), (5, 6, 3), (185_000, 187_000, 4)])
    return path


def test_an_nsight_systems_export_gets_reasons_by_correlation(tmp_path: Path) -> None:
    source = nsys_export(tmp_path / "report.sqlite")
    before = source.read_bytes()
    done = annotate(source, "--json", "--output", tmp_path / "copy.sqlite")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    reasons = {(p["primary"], p["dependent"]): {r["reason"] for r in p["why_not"]} for p in content["pairs"]}
    assert reasons == {("alpha", "beta"): {"host-bound"}, ("beta", "alpha"): {"between"}}
    copy = sqlite3.connect(tmp_path / "copy.sqlite")
    rows = copy.execute("SELECT correlationId, primaryCorrelationId, overlapNs, gapNs, reasons FROM PDL_PAIRS")
    assert sorted(rows) == [(2, 1, 10_000, 0, ""), (3, 2, 0, 10_000, "between"), (4, 3, 0, 40_000, "host-bound")]
    assert source.read_bytes() == before


def torch_trace() -> dict[str, object]:
    def kernel(name: str, ts: float, dur: float, correlation: int, external: int) -> dict[str, object]:
        return {"ph": "X", "cat": "kernel", "name": name, "ts": ts, "dur": dur, "pid": 0, "tid": 7, "args": {
            "correlation": correlation, "External id": external, "stream": 7, "device": 0, "grid": [4, 1, 1], "block": [128, 1, 1],
            "registers per thread": 16, "shared memory": 0}}

    return {"deviceProperties": [{
                "id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32,
                "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472}],
            "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 5, "args": {"External id": 41}},
                            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 3, "args": {"correlation": 5}},
                            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 5, "dur": 3, "args": {"correlation": 6}},
                            kernel("alpha", 20.0, 30.0, 5, 41), kernel("beta", 52.5, 10.0, 6, 41)]}


@pytest.mark.parametrize("packed", [False, True])
def test_a_pytorch_trace_gets_reasons_and_operators(tmp_path: Path, packed: bool) -> None:
    text = json.dumps(torch_trace()).encode()
    source = tmp_path / "trace.json"
    source.write_bytes(gzip.compress(text) if packed else text)
    done = annotate(source, "--json", "--output", tmp_path / "copy.json", "--html", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    pair = json.loads(done.stdout)["pairs"][0]
    assert pair["why_not"][0]["reason"] == "asked-unknown" and pair["gap_us"]["p50"] == 2.5 and pair["ranges"] == ["aten::mm"]
    copy = json.loads((tmp_path / "copy.json").read_text())
    annotated = [event["args"] for event in copy["traceEvents"] if event["name"] == "beta"]
    assert annotated[0]["PDL gap us"] == 2.5 and annotated[0]["PDL why not"].startswith("asked-unknown")
    assert (tmp_path / "page.html").is_file()


def test_what_is_neither_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("not JSON")
    assert annotate(tmp_path / "x.json").returncode == 64
    (tmp_path / "y.json").write_text("{}")
    done = annotate(tmp_path / "y.json")
    assert done.returncode == 64 and "traceEvents" in done.stderr
    sqlite3.connect(tmp_path / "z.sqlite").execute("CREATE TABLE t (x)").connection.commit()
    done = annotate(tmp_path / "z.sqlite")
    assert done.returncode == 64 and "CUPTI_ACTIVITY_KIND_KERNEL" in done.stderr
    assert annotate(tmp_path / "none").returncode == 64
    for name, data in (("deep", b"[" * 100_000), ("cut", gzip.compress(b"{}" * 500)[:20]), ("bad", b"\x1f\x8b\x08\0" + b"x" * 40)):
        (tmp_path / name).write_bytes(data)
        assert annotate(tmp_path / name).returncode == 64, name


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source = nsys_export(tmp_path / "report.sqlite")
    done = annotate(source, "--output", source)
    assert done.returncode == 64 and "is there already" in done.stderr


def test_a_device_is_described_by_what_the_file_says_of_it() -> None:
    """Without it nothing is said of room."""
    h200 = Device("NVIDIA H200", 132, 90, 32, 2048, 65536, 233472, 32, 1024)
    assert _from_torch(torch_trace())[1] == {0: h200}
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE TARGET_INFO_GPU (id, name, smMajor, smMinor, computeMajor, computeMinor, smCount, maxWarpsPerSm, "
                         "maxBlocksPerSm, maxRegistersPerSm, maxShmemPerSm)")
        database.executemany(f"INSERT INTO TARGET_INFO_GPU VALUES ({', '.join('?' * 11)})", [
            (3, "NVIDIA H200", 1, 1, 9, 0, 132, 64, 32, 65536, 233472), (4, "NVIDIA H200", 9, 0, None, None, 132, 64, 32, 65536, 233472)])
        assert _nsys_devices(database, {"TARGET_INFO_GPU"}) == {3: h200, 4: h200} and _nsys_devices(database, set()) == {}


def test_work_of_a_pytorch_trace_is_known_by_its_correlation() -> None:
    found = _from_torch(torch_trace())[0]
    assert [(work.correlation, work.kind, work.launched) for work in found] == [(5, "kernel", 4000), (6, "kernel", 8000)]
    nameless: Any = {"traceEvents": [{"ph": "X", "cat": "gpu_memset", "ts": 1}, {"ph": "X", "cat": "cuda_runtime", "ts": 1}]}
    (one,) = _from_torch(nameless)[0]
    assert (one.correlation, one.kind, one.launched, one.run.grid) == (0, "memset", None, (1, 1, 1))
