"""What a kernel that records times writes, run one thread at a time from the disassembled image: no GPU is needed."""

from __future__ import annotations

import itertools
import struct
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.exits import SetupImpossible
from conformance.rewrite import check, library
from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Instruction, Kernel, cubin, guarded
from conformance.rewrite.tests.thread import STACK_TOP, Launch, Thread

ADDRESS, MASK, NUMBER = 0x7F12FFFFFF00, 0xFFF, 77
COUNTER = ADDRESS - 64
FRAME = 32
SPILL = 4096  # PLAN_SPILL
CLEAR: Instruction = (0x000000FF00007202, 0x000FE20000000F00)  # MOV R0, RZ: at entry no register holds anything yet
# It waits, triggers if P1, leaves early if P2, and ends; its own additions show that no site changes a register of its own.
# Registers 4 to 7 hold something that the kernel needs later, and its stack has a frame.
TAKE_FRAME: Instruction = (0xFFFFFFE001017836, 0x001FE20000000000)  # VIADD R1, R1, -32
FILLED: list[Instruction] = [((0x111 * number) << 32 | number << 16 | 0x7802, 0x000FE20000000F00) for number in range(4, 8)]
USED: list[Instruction] = [(number << 32 | (number + 4) << 16 | 0x7202, 0x000FE20000000F00) for number in range(4, 8)]  # MOV R8, R4
CODE = [CLEAR, *FILLED, ADD, WAIT, guarded(TRIGGER, 1), guarded(EXIT, 2), ADD, *USED, EXIT]


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("record") / "record"
    subprocess.run([library.compiler().path, "-std=gnu11", f"-I{library.HERE}", Path(__file__).with_name("record.c"), *library.CORE,
                    "-o", program], check=True)
    return program


def listing(recorder: Path, tmp_path: Path, architecture: int, spilled: bool = False) -> list[str]:
    """The rewritten kernel's instructions."""
    stack: Instruction = STACK if architecture == 90 else (0x0000DF00FF017B82, STACK[1])
    own = [stack, TAKE_FRAME, *CODE]
    image = cubin([Kernel("k", own, 16, exits=[16 * at for at, one in enumerate(own) if one[0] & 0xFFF == EXIT[0] & 0xFFF],
                          parameter_base=0x210 if architecture == 90 else 0x380, frame=FRAME)], architecture)
    words = [hex(ADDRESS), hex(MASK), str(NUMBER), str(SPILL * spilled)]
    done = subprocess.run([recorder, *words], input=image, capture_output=True, check=True)
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


BEGUN = 5  # warps that have a record already


@pytest.mark.parametrize("architecture", [90, 100, 103, 110, 120, 121])
@pytest.mark.parametrize(("threads", "blocks"), SHAPES)
@pytest.mark.parametrize("spilled", [False, True])
def test_every_warp_has_its_own_record_with_what_it_is_and_when(recorder: Path, tmp_path: Path, architecture: int, spilled: bool,
                                                                threads: tuple[int, int, int], blocks: tuple[int, int, int]) -> None:
    code, grid = listing(recorder, tmp_path, architecture, spilled), 0x300000007
    launch = Launch(threads, blocks, grid, 131, architecture != 90)
    size, warps = threads[0] * threads[1] * threads[2], -(-threads[0] * threads[1] * threads[2] // 32)
    memory = {COUNTER: BEGUN, COUNTER + 4: 0}
    for number, block in enumerate(itertools.product(*(range(n) for n in reversed(blocks)))):
        for warp in range(warps):
            said: dict[str, int] = {}  # what the first lane tells the others
            for lane in sorted({32 * warp, min(32 * warp + 5, size - 1)}):
                index = (lane % threads[0], lane // threads[0] % threads[1], lane // (threads[0] * threads[1]))
                thread = Thread(launch, (block[2], block[1], block[0]), index, 10_000 * warp, memory,
                                {1} if warp % 2 == 0 else set(), lane=lane % 32, said=said)
                thread.run(code)
                assert [one.split()[0] for one in thread.done] == ["ACQBULK", *["PREEXIT"] * (warp % 2 == 0), "EXIT"]
                assert thread.registers["R0"] == 2  # the kernel's own two additions, once each
                used = {name: thread.registers[name] for name in ("R8", "R9", "R10", "R11", "R1")}
                assert used == {"R8": 0x444, "R9": 0x555, "R10": 0x666, "R11": 0x777, "R1": STACK_TOP - FRAME - 64 * spilled}
            slot = BEGUN + number * warps + warp
            words = [memory.pop(ADDRESS + 64 * slot + 4 * i) for i in range(16)]
            record = struct.unpack("<QQIIIIQQQQ", struct.pack("<16I", *words))
            at = [10_000 * warp + 100 * i for i in range(1, 8)]
            triggers = warp % 2 == 0
            assert record == (at[0], grid, number, NUMBER | 100 << 12, blocks[0] * blocks[1] * blocks[2], 131 | warps << 16 | warp << 24,
                              at[2], at[3], at[4] if triggers else 0, at[5] if triggers else at[4])
    assert memory == {COUNTER: BEGUN + warps * blocks[0] * blocks[1] * blocks[2], COUNTER + 4: 0}


@pytest.mark.parametrize("spilled", [False, True])
def test_a_thread_that_leaves_early_is_stamped_there(recorder: Path, tmp_path: Path, spilled: bool) -> None:
    code, memory = listing(recorder, tmp_path, 90, spilled), {COUNTER: 0, COUNTER + 4: 0}
    thread = Thread(Launch((32, 1, 1), (1, 1, 1), 1, 0, False), (0, 0, 0), (0, 0, 0), 0, memory, {2})
    thread.run(code)
    assert thread.done == ["ACQBULK 300", "EXIT 500"] and thread.registers["R0"] == 1
    assert memory[ADDRESS + 56] == 500


def test_a_later_launch_clears_the_times_of_the_one_whose_place_it_takes(recorder: Path, tmp_path: Path) -> None:
    code, memory = listing(recorder, tmp_path, 90), {COUNTER: MASK, COUNTER + 4: 7}
    for grid, clock in ((1, 0), (2, 5000)):
        memory[COUNTER] = MASK  # the second one comes round to the same place
        Thread(Launch((32, 1, 1), (1, 1, 1), grid, 0, False), (0, 0, 0), (0, 0, 0), clock, memory,
               {1} if grid == 1 else set()).run(code)
    place = ADDRESS + 64 * MASK
    assert len(memory) == 18 and memory[place] == 5100 and memory[place + 48] == 0  # the second one did not trigger
    assert memory[COUNTER] == MASK + 1
