"""What a kernel that records times writes, run one thread at a time from the disassembled image: no GPU is needed."""

from __future__ import annotations

import itertools
import re
import struct
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.rewrite import check, library
from conformance.rewrite.make_stubs import SPREAD
from conformance.rewrite.tests.images import ADD, EXIT, TRIGGER, WAIT, Instruction, Kernel, cubin, guarded
from conformance.rewrite.tests.thread import Launch, Thread

ADDRESS, MASK, NUMBER = 0x7F12FFFFFF00, 0xFFF, 77
CLEAR: Instruction = (0x000000FF00007202, 0x000FE20000000F00)  # MOV R0, RZ: at entry no register holds anything yet
# It waits, triggers if P1, leaves early if P2, and ends; its own additions show that no site changes a register of its own.
CODE = [CLEAR, ADD, WAIT, guarded(TRIGGER, 1), guarded(EXIT, 2), ADD, EXIT]


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("record") / "record"
    subprocess.run([library.compiler().path, "-std=gnu11", f"-I{library.HERE}", Path(__file__).with_name("record.c"), *library.CORE,
                    "-o", program], check=True)
    return program


def listing(recorder: Path, tmp_path: Path, architecture: int) -> list[str]:
    """The rewritten kernel's instructions."""
    image = cubin([Kernel("k", CODE, 16, exits=[0x40, 0x60], parameter_base=0x210 if architecture == 90 else 0x380)], architecture)
    done = subprocess.run([recorder, hex(ADDRESS), hex(MASK), str(NUMBER)], input=image, capture_output=True, check=True)
    code = tmp_path / "code.bin"
    code.write_bytes(check.code_sections(done.stdout)["k"])
    try:
        # nvdisasm 13.5 does not end on raw code for SM110; the code for sm_110 is that for sm_100 but for two stall counts
        name = "SM100" if architecture == 110 else f"SM{architecture}"
        text = subprocess.run([tool("nvdisasm"), "-b", name, code], capture_output=True, text=True, check=True).stdout
    except SetupImpossible as why:
        pytest.skip(str(why))
    found = check.parse("\t.section\t.text.k,\n" + text)["k"]
    return [check.at_home(one, 0, 0) for one in found]


SHAPES = [((32, 1, 1), (1, 1, 1)), ((33, 1, 1), (3, 1, 1)), ((16, 3, 2), (2, 3, 4)), ((1, 1, 64), (1, 1, 5)), ((1024, 1, 1), (2, 2, 1))]


@pytest.mark.parametrize("architecture", [90, 100, 103, 110, 120, 121])
@pytest.mark.parametrize(("threads", "blocks"), SHAPES)
def test_every_warp_has_its_own_record_with_what_it_is_and_when(recorder: Path, tmp_path: Path, architecture: int,
                                                                threads: tuple[int, int, int], blocks: tuple[int, int, int]) -> None:
    code, grid = listing(recorder, tmp_path, architecture), 0x300000007
    launch = Launch(threads, blocks, grid, 131, architecture != 90)
    size, warps = threads[0] * threads[1] * threads[2], -(-threads[0] * threads[1] * threads[2] // 32)
    seen: set[int] = set()
    for number, block in enumerate(itertools.product(*(range(n) for n in reversed(blocks)))):
        for warp in range(warps):
            lane = min(32 * warp + 5, size - 1)
            index = (lane % threads[0], lane // threads[0] % threads[1], lane // (threads[0] * threads[1]))
            thread = Thread(launch, (block[2], block[1], block[0]), index, 10_000 * warp, {}, {1} if warp % 2 == 0 else set())
            thread.run(code)
            slot = (number * warps + warp + (grid & 0xFFFFFFFF) * SPREAD) & MASK
            words = [thread.memory.pop(ADDRESS + 64 * slot + 4 * i) for i in range(16)]
            assert not thread.memory and slot not in seen
            seen.add(slot)
            record = struct.unpack("<QQIIIIQQQQ", struct.pack("<16I", *words))
            at = [10_000 * warp + 100 * i for i in range(1, 7)]
            triggers = warp % 2 == 0
            assert record == (at[0], grid, number, NUMBER, blocks[0] * blocks[1] * blocks[2], 131 | warps << 16 | warp << 24,
                              at[1], at[2], at[3] if triggers else 0, at[4] if triggers else at[3])
            assert [one.split()[0] for one in thread.done] == ["ACQBULK", *["PREEXIT"] * triggers, "EXIT"]
            assert thread.registers["R0"] == 2  # the kernel's own two additions, once each


def test_a_thread_that_leaves_early_is_stamped_there(recorder: Path, tmp_path: Path) -> None:
    code = listing(recorder, tmp_path, 90)
    thread = Thread(Launch((32, 1, 1), (1, 1, 1), 1, 0, False), (0, 0, 0), (0, 0, 0), 0, {}, {2})
    thread.run(code)
    assert thread.done == ["ACQBULK 200", "EXIT 400"] and thread.registers["R0"] == 1
    assert thread.memory[ADDRESS + 64 * (SPREAD & MASK) + 56] == 400


def test_a_later_launch_clears_the_times_of_the_one_whose_place_it_takes(recorder: Path, tmp_path: Path) -> None:
    code, memory = listing(recorder, tmp_path, 90), dict[int, int]()
    for grid, clock in ((1, 0), (1 + MASK + 1, 5000)):  # these two share their places
        Thread(Launch((32, 1, 1), (1, 1, 1), grid, 0, False), (0, 0, 0), (0, 0, 0), clock, memory,
               {1} if grid == 1 else set()).run(code)
    place = ADDRESS + 64 * (SPREAD & MASK)
    assert len(memory) == 16 and memory[place] == 5100 and memory[place + 48] == 0  # the second one did not trigger


def test_a_launch_takes_no_records_of_the_launches_just_before_it() -> None:
    source = (KIT / "trace" / "inside" / "injection" / "inside.c").read_text(encoding="utf-8")
    size = 1 << int(re.findall(r"RECORDS = 1 << (\d+)", source)[0])
    begins = (later * SPREAD % size for later in range(1, size))
    share = min(later * min(begin, size - begin) for later, begin in enumerate(begins, 1)) / size
    assert share >= 0.29  # launches that fill this share of the ring are kept whole, whatever their size
