"""The estimate of room in Python beside the one in pdl.h: the same answer for a thousand pairs of launches."""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.pdlkit.places import ROOT
from conformance.pdlkit.toolchain import cuda_headers, find_nvcc
from conformance.trace import room
from conformance.trace.records import Device

H200 = Device("H200", 132, 90, 32, 2048, 65536, 228 * 1024, 32, 1024)
LIMITS = [None, room.BLOCK_SLOTS, room.THREADS, room.REGISTERS, room.SHARED, room.CARVEOUT]


def _launch(draw: random.Random) -> tuple[int, ...]:
    registers = draw.choice([8, 16, 24, 32, 40, 63, 64, 96, 128, 168, 255])
    threads = draw.choice([32, 64, 100, 128, 256, 384, 512])
    blocks = draw.choice([1, 4, 131, 132, 133, 264, 528, 1000, 4224])
    shared = draw.choice([0, 0, 0, 1024, 4096, 20000, 49152, 100000, 227 * 1024])
    static = draw.choice([0, 0, 1024, 4096]) if shared < 200000 else 0
    return registers, static, shared, blocks, threads, draw.choice([-1, -1, 0, 16, 50, 100])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    headers = cuda_headers(find_nvcc())
    if headers is None:
        pytest.skip("cuda_runtime_api.h is not there, and without it pdl.h does not compile")
    target = tmp_path_factory.mktemp("estimate") / "estimate"
    source = Path(__file__).with_name("estimate.c")
    subprocess.run(["cc", "-std=c11", "-O1", f"-I{ROOT}", f"-isystem{headers}", "-Wno-unused-function", "-o", target, source], check=True)
    return target


def test_the_estimate_is_the_one_of_pdl_h(program: Path) -> None:
    draw = random.Random(1)
    pairs = [(_launch(draw), _launch(draw)) for _ in range(1000)]
    text = "".join(" ".join(map(str, [*first, *second])) + "\n" for first, second in pairs)
    answers = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(pairs)
    compared, limits = 0, set()
    for (first, second), line in zip(pairs, answers, strict=True):
        error, limit, there, fit, waves = map(int, line.split())
        mine = room.estimate(H200, *(room.Blocks((s[3], 1, 1), (s[4], 1, 1), s[0], s[1], s[2], s[5]) for s in (first, second)))
        if error:
            assert mine is None, (first, second)
            continue
        assert mine == room.Room(LIMITS[limit], there, fit, waves), (first, second)
        compared += 1
        limits.add(mine.limit)
    assert compared > 500 and limits >= {None, room.THREADS, room.SHARED, room.CARVEOUT, room.REGISTERS}


def test_a_device_that_is_not_described_gives_no_estimate() -> None:
    launch = room.Blocks((1, 1, 1), (32, 1, 1), 8, 0, 0)
    assert room.estimate(Device(), launch, launch) is None


def test_blocks_count_in_every_dimension_and_a_carve_out_that_is_not_given_is_the_driver_s() -> None:
    flat, deep = (room.Blocks(grid, (256, 1, 1), 32, 0, 40_000) for grid in ((1320, 1, 1), (11, 12, 10)))
    assert flat.carveout == -1 and room.estimate(H200, flat, flat) == room.estimate(H200, deep, deep)
    line, box, small = (room.Blocks((1, 1, 1), block, 32, 0, 0) for block in ((256, 1, 1), (16, 2, 8), (16, 2, 2)))
    assert [room.resident(H200, one) for one in (line, box, small)] == [8, 8, 32]
    assert room.estimate(H200, deep, flat) != room.estimate(H200, replace(deep, grid=(11, 12, 1)), flat)
