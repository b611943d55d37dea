"""Makes stubs.c: the code that the rewriter puts into kernels, assembled by ptxas once for each architecture.

    python3 conformance/rewrite/make_stubs.py            write stubs.c anew (needs ptxas and nvdisasm)
    python3 conformance/rewrite/make_stubs.py --check    compare it with what this ptxas makes

Each piece is assembled as a kernel that ends in a marker (a second trigger). The kernel's own set-up of the stack pointer and
everything from the marker on are cut off. What is left must be able to stand at a kernel's entry, where every register is dead:
it has no exit, every branch stays inside, no barrier is pending when it ends, and ptxas lists no offset in it
that the driver would have to know. Numbers that a plan fills in are assembled as constants that occur nowhere else.

Some pieces are changed after that, because they use registers that the rewriter chooses. RECORD writes the first half of a
warp's record and ends in two moves, whose targets the rewriter fills in: they keep the record's address. STAMP writes the time to
that address. It is three instructions: read the clock, store, wait until the store has read its registers. The store is the
form without a descriptor, because a descriptor would need a uniform register, and none is known to be free inside a kernel;
compiled library kernels of every architecture here use this form too.

Where the registers for that would cost occupancy, the address lies in 64 bytes of the thread's own stack: KEEP puts it there,
FRAME moves the kernel's stack below it, SPILLED borrows four registers for a STAMP and gives them back, and LEAVING is a STAMP ahead of
an exit, where no register has to be given back. The rewriter adds the size of the kernel's own frame to their offsets.

RECORD holds one warp-wide instruction (SHFL), which ptxas lists. The list is not extended: tools that put such instructions
into code that is loaded already (NVBit) tell the driver nothing of them either.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ARCHITECTURES = ("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_110", "sm_120", "sm_121")
HOLES = {0x5EED0001: "LEAST", 0x5EED0002: "SPAN", 0x5EED0003: "SEED", 0x5EED0004: "WORDS_LOW", 0x5EED0005: "WORDS_HIGH",
         0x5EED0006: "SLEEP", 0x5EED0007: "RECORDS_LOW", 0x5EED0008: "RECORDS_HIGH", 0x5EED0009: "RECORDS_MASK", 0x5EED000A: "NUMBER"}
MARKER = 0x82D  # PREEXIT
EXIT, BRANCH, BRANCH_UNIFORM = 0x94D, 0x947, 0x547
CLOCK, STORE, STORE_WITHOUT_DESCRIPTOR = 0x805, 0x986, 0x386
NOP, MOVE = 0x7918, 0x7202  # under no predicate, all registers 0
LOAD_CONSTANT, LOAD_LOCAL, STORE_LOCAL = 0xB82, 0x983, 0x387
STACK, BORROWED, ROOM = 1, 4, 64  # the stack pointer; the first of four registers; bytes of the stack
KEPT_BY_HARDWARE = 2  # of the registers that an image states
BARRIER = 5  # of the six that an instruction can set; any will do, because they count
LISTS_ALLOWED = {0x1C}  # exits: the one that is listed is cut off
LISTS_OF_RECORD = {0x28}  # cooperative instructions: see above
LISTS = {0x1C, 0x1D, 0x28, 0x31, 0x34, 0x39, 0x46}

# The block's number, and how many blocks come after it. Only the last ones can still run when a dependent starts, because it
# starts when all have triggered; holding the ones before costs time and finds nothing. At most 2,048 threads and 32 blocks
# share a multiprocessor.
LAST_WAVE = """
 mov.u32 b, %ctaid.z;  mov.u32 m, %nctaid.y;  mov.u32 a, %ctaid.y;  mad.lo.u32 b, b, m, a;
 mov.u32 m, %nctaid.x; mov.u32 a, %ctaid.x;   mad.lo.u32 b, b, m, a;
 mov.u32 a, %nctaid.y; mul.lo.u32 m, m, a;    mov.u32 a, %nctaid.z; mul.lo.u32 m, m, a;
 sub.u32 m, m, b;
 mov.u32 n, %nsmid;    mul.lo.u32 a, n, 32;   setp.gt.u32 p, m, a;
 @p bra DONE;
 mul.lo.u32 n, n, 2048;
 mov.u32 k, %ntid.x;   mov.u32 a, %ntid.y;    mul.lo.u32 k, k, a;   mov.u32 a, %ntid.z; mul.lo.u32 k, k, a;
 mul.wide.u32 t, m, k; cvt.u64.u32 s, n;      setp.gt.u64 p, t, s;
 @p bra DONE;
"""

# least + hash(block, seed) * span, then a loop that is bounded in time and in turns. A block's number is below 2^31, so its
# highest bit is always 0; a constant that is joined with it is not folded into others by ptxas.
OPAQUE_ZERO = " mov.u32 z, %ctaid.x; shr.u32 z, z, 31;\n"
DELAY = """
 mul.lo.u32 b, b, 0x85EBCA6B; xor.b32 b, b, {seed};
 shr.u32 a, b, 15; xor.b32 b, b, a; mul.lo.u32 b, b, 0xC2B2AE35; shr.u32 a, b, 16; xor.b32 b, b, a;
 mul.hi.u32 b, b, {span}; {least} add.u32 b, b, a;
 cvt.u64.u32 d, b; shr.u32 b, b, 4; add.u32 b, b, 64; mov.u32 n, 0;
 mov.u64 s, %globaltimer;
TURN:
 nanosleep.u32 40;
 mov.u64 t, %globaltimer; sub.u64 t, t, s; add.u32 n, n, 1;
 setp.lt.u64 p, t, d; setp.lt.and.u32 p, n, b, p;
 @p bra TURN;
DONE:
"""

# The numbers come from four words in memory.
LIVE = """
 xor.b32 b, z, 0x5EED0004; xor.b32 m, z, 0x5EED0005; mov.b64 s, {b, m};
 ld.volatile.global.v4.u32 {f, l, w, e}, [s];
 and.b32 a, f, 1; setp.eq.u32 p, a, 0; @p bra TRIGGERED; griddepcontrol.launch_dependents;
TRIGGERED:
 and.b32 a, f, 4; setp.eq.u32 p, a, 0; @p bra WAITED; griddepcontrol.wait;
WAITED:
 and.b32 a, f, 2; setp.eq.u32 p, a, 0; @p bra DONE;
"""

# One record of 64 bytes per warp: start, the grid's number; block, the kernel's number, blocks, and warp, warps and
# multiprocessor in one word; then the times of wait begun, wait ended, trigger and exit, which are 0 until STAMP writes them. A warp's
# first lane counts the records up, in the 8 bytes that stand 64 ahead of the first one: each warp gets the next place, whatever
# launch it belongs to. How long that took, until the code below is nearly through, stands above the kernel's 12 bits.
RECORD = """
 mov.u64 t, %globaltimer; mov.u64 d, 0;
 xor.b32 l, z, 0x5EED0007; xor.b32 w, z, 0x5EED0008; mov.b64 s, {l, w};
 mov.u32 a, %laneid; setp.eq.u32 p, a, 0; @p atom.global.sys.add.u64 d, [s+-64], 1;
 mov.u32 k, %ntid.x;   mov.u32 m, %ntid.y;    mov.u32 a, %tid.z;    mov.u32 b, %tid.y;    mad.lo.u32 b, a, m, b;
 mov.u32 a, %tid.x;    mad.lo.u32 b, b, k, a; shr.u32 b, b, 5;
 mul.lo.u32 k, k, m;   mov.u32 a, %ntid.z;    mul.lo.u32 k, k, a;   add.u32 k, k, 31;     shr.u32 k, k, 5;
 mov.u32 e, %smid;     shl.b32 a, k, 16;      or.b32 e, e, a;       shl.b32 a, b, 24;     or.b32 e, e, a;
 mov.u32 f, %ctaid.z;  mov.u32 m, %nctaid.y;  mov.u32 a, %ctaid.y;  mad.lo.u32 f, f, m, a;
 mov.u32 n, %nctaid.x; mov.u32 a, %ctaid.x;   mad.lo.u32 f, f, n, a;
 mul.lo.u32 n, n, m;   mov.u32 m, %nctaid.z;  mul.lo.u32 n, n, m;
 cvt.u32.u64 b, d;     shfl.sync.idx.b32 b, b, 0, 31, -1;
 xor.b32 a, z, 0x5EED0009; and.b32 b, b, a;   mad.wide.u32 s, b, 64, s;
 mov.u64 d, %globaltimer;  sub.u64 d, d, t;   cvt.u32.u64 k, d;     min.u32 k, k, 0xFFFFF; shl.b32 k, k, 12;
 xor.b32 a, z, 0x5EED000A; or.b32 a, a, k;    mov.u64 d, %gridid;
 st.global.v2.u64 [s], {t, d}; st.global.v4.u32 [s+16], {f, a, n, e};
 mov.u32 a, 0; st.global.v4.u32 [s+32], {a, a, a, a}; st.global.v4.u32 [s+48], {a, a, a, a};
"""
STAMP = " mov.b64 s, {z, z}; mov.u64 t, %globaltimer; st.global.u64 [s], t;"

# One instruction of each kind that these four pieces are made of.
ON_STACK = " .local .align 16 .b8 room[64];\n" + OPAQUE_ZERO + """
 mov.u64 t, %globaltimer; mov.u64 s, room; mov.u32 a, %laneid; mul.wide.u32 d, a, 8; add.u64 d, d, s; st.local.u64 [d], t;
 bar.sync 0; xor.b32 a, a, 1; mul.wide.u32 d, a, 8; add.u64 d, d, s; ld.local.u64 t, [d]; mov.b64 s, {z, z}; st.global.u64 [s], t;
"""

PIECES = {
    "TRIGGER": "griddepcontrol.launch_dependents;",
    "WAIT": "griddepcontrol.wait;",
    "HOLD": OPAQUE_ZERO + LAST_WAVE + DELAY.format(least="xor.b32 a, z, 0x5EED0001;", span="0x5EED0002", seed="0x5EED0003"),
    "SLEEP": "nanosleep.u32 0x5EED0006;",
    "RECORD": OPAQUE_ZERO + RECORD,
    "STAMP": OPAQUE_ZERO + STAMP,
    **dict.fromkeys(("KEEP", "FRAME", "SPILLED", "LEAVING"), ON_STACK),
    "LIVE": OPAQUE_ZERO + LIVE + LAST_WAVE + DELAY.format(least="mov.u32 a, l;", span="w", seed="e"),
}

PTX = """.version 9.0
.target {target}
.address_size 64
.visible .entry stub() {{
 .reg .pred p;
 .reg .b32 a, b, m, n, k, f, l, w, e, z;
 .reg .b64 d, s, t;
{body}
 griddepcontrol.launch_dependents;
 ret;
}}
"""


class Unfit(Exception):
    """What ptxas made cannot stand at a kernel's entry; the message says why."""


@dataclass(frozen=True)
class Piece:
    code: list[tuple[int, int]]
    registers: int
    parameter_base: int  # in constant bank 0; it moves when the layout of that bank does
    holes: list[tuple[int, str]]


@dataclass(frozen=True)
class Assembled:
    text: bytes
    registers: int
    parameter_base: int
    lists: dict[int, bytes]


def _sections(image: bytes) -> dict[str, bytes]:
    table, count, names = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * i) for i in range(count)]
    base = rows[names][4]
    return {image[base + r[0] : image.index(b"\0", base + r[0])].decode(): image[r[4] : r[4] + r[5]] for r in rows if r[1] != 8}


def _attributes(raw: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + 4 <= len(raw):
        form, code, size = struct.unpack_from("<BBH", raw, at)
        at += 4
        value = raw[at : at + size] if form == 4 else struct.pack("<H", size)
        at += size if form == 4 else 0
        found.append((code, value))
    return found


def _assemble(body: str, target: str, folder: Path) -> Assembled:
    source, image = folder / "stub.ptx", folder / "stub.cubin"
    source.write_text(PTX.format(target=target, body=body))
    subprocess.run(["ptxas", f"-arch={target}", "-O3", str(source), "-o", str(image)], check=True)
    sections = _sections(image.read_bytes())
    registers = next(struct.unpack("<II", value)[1] for code, value in _attributes(sections[".nv.info"]) if code == 0x2F)
    kernel = dict(_attributes(sections[".nv.info.stub"]))
    bank = sections[".nv.constant0.stub"]  # it has no parameters, so it ends where they would begin
    return Assembled(sections[".text.stub"], registers, len(bank), {code: kernel[code] for code in LISTS & kernel.keys()})


def opcode(low: int) -> int:
    return low & 0xFFF


def target_of(index: int, low: int, high: int) -> int:
    """The instruction that a relative branch goes to."""
    value = low >> 16 & 0xFF | (low >> 34) << 8 | (high & 0x3FFFF) << 38
    value -= (value >> 55) << 56
    return index + 1 + value * 4 // 16


def control(high: int) -> tuple[int, int, int]:
    """(barrier set when written, barrier set when read, barriers waited for)."""
    return high >> 46 & 7, high >> 49 & 7, high >> 52 & 63


def _check(code: list[tuple[int, int]]) -> None:
    pending: set[int] = set()
    for index, (low, high) in enumerate(code):
        if opcode(low) == EXIT:
            raise Unfit("there is an exit in it")
        writes, reads, waits = control(high)
        pending = {b for b in pending if not waits >> b & 1} | ({writes, reads} - {7})
        if opcode(low) in (BRANCH, BRANCH_UNIFORM):
            to = target_of(index, low, high)
            if not 0 <= to <= len(code):
                raise Unfit(f"a branch at {index} leaves it")
            skipped = {b for _, between in code[index + 1 : to] for b in pending if control(between)[2] >> b & 1}
            if skipped:
                raise Unfit(f"a branch at {index} may skip a wait for barriers {sorted(skipped)}")
    if pending:
        raise Unfit(f"barriers {sorted(pending)} are still pending at its end")


def _with_control(high: int, stall: int, read_barrier: int = 7, waits: int = 0, write_barrier: int = 7) -> int:
    """The upper half of an instruction with this control, and not more than ptxas's own longest stall."""
    return high & ~(0x1FFFFF << 41) | stall << 41 | write_barrier << 46 | read_barrier << 49 | waits << 52


def _keeping_reads(code: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stores set a barrier when they have read their registers, and the end waits for it: what follows may write those."""
    kept = [(low, high & ~(7 << 49) | BARRIER << 49 if opcode(low) == STORE else high) for low, high in code]
    return [*kept, (NOP, _with_control(0, 2, waits=1 << BARRIER))]


def _record(code: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ends in two moves of the address that the stores used; the rewriter fills in where to."""
    addresses = {low >> 24 & 0xFF for low, _ in code if opcode(low) == STORE}
    if len(addresses) != 1:
        raise Unfit("its stores do not share one address register")
    address = addresses.pop()
    moves = [(MOVE | (address + half) << 32, _with_control(0xF00, 6)) for half in (0, 1)]
    return _keeping_reads([*code, *moves])


def _stamp(code: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Clock, store, wait; all registers 0, for the rewriter to fill in."""
    (clock,) = (one for one in code if opcode(one[0]) == CLOCK)
    (store,) = (one for one in code if opcode(one[0]) == STORE)
    if control(clock[1])[0] != 7:
        raise Unfit("reading the clock sets a barrier")
    without_descriptor = store[1] & ~(0x3F | 1 << 12 | 3 << 26)
    return [(clock[0] & ~(0xFF << 16), _with_control(clock[1], 11)),
            ((store[0] & 0xF000) | STORE_WITHOUT_DESCRIPTOR, _with_control(without_descriptor, 4, BARRIER)),
            (NOP, _with_control(0, 2, waits=1 << BARRIER))]


Instruction = tuple[int, int]
_AT_BARRIER = 1 << BARRIER
# All barriers, because a load into a borrowed register may be under way, and time for what has no barrier.
_SETTLE = [(NOP, _with_control(0, 15, waits=0x3F)), *[(NOP, _with_control(0, 15))] * 3]
_WAIT = (NOP, _with_control(0, 2, waits=_AT_BARRIER))


class _OnStack:
    """The instructions on the stack, from one of each kind; offsets without the kernel's own frame."""

    def __init__(self, code: list[Instruction]) -> None:
        self.of = {kind: next(one for one in code if opcode(one[0]) == kind) for kind in (STORE_LOCAL, LOAD_LOCAL)}
        self.add = next(one for one in code if one[0] >> 32 == 2**32 - ROOM and one[0] >> 16 & 0xFF == STACK)
        self.clock, self.stamp, _ = _stamp(code)

    def save(self, register: int, offset: int) -> Instruction:
        low, high = self.of[STORE_LOCAL]
        return low & 0xFFFF | STACK << 24 | register << 32 | (offset & 0xFFFFFF) << 40, _with_control(high, 4, BARRIER)

    def load(self, register: int, offset: int, waits: int = 0) -> Instruction:
        low, high = self.of[LOAD_LOCAL]
        return low & 0xFFFF | register << 16 | STACK << 24 | offset << 40, _with_control(high, 4, waits=waits, write_barrier=BARRIER)

    def frame(self) -> list[Instruction]:
        return [(self.add[0], _with_control(self.add[1], 6, waits=0x3F))]

    def clock_and_store(self, clock_waits: int) -> tuple[Instruction, Instruction]:
        (clock, clock_high), (store, store_high) = self.clock, self.stamp
        return ((clock | (BORROWED + 2) << 16, clock_high | clock_waits << 52),
                (store | BORROWED << 24 | (BORROWED + 2) << 32, store_high | _AT_BARRIER << 52))

    def spilled(self) -> list[Instruction]:
        clock, store = self.clock_and_store(_AT_BARRIER)
        first, second = BORROWED, BORROWED + 2
        return [*_SETTLE, self.save(first, 8), self.save(second, 16), clock, self.load(first, 0), store,
                self.load(first, 8, _AT_BARRIER), self.load(second, 16), _WAIT]

    def leaving(self) -> list[Instruction]:
        clock, store = self.clock_and_store(0)
        return [*_SETTLE, clock, self.load(BORROWED, 0), store, _WAIT]


def _keep(code: list[Instruction], stack: Instruction) -> list[Instruction]:
    """`stack`: the load of the stack pointer, with which every kernel begins."""
    low, high = _OnStack(code).save(BORROWED, -ROOM)
    return [(stack[0], _with_control(stack[1], 4, write_barrier=BARRIER)), (low, high | _AT_BARRIER << 52), _WAIT]


CHANGES: dict[str, Callable[[list[Instruction], Instruction], list[Instruction]]] = {
    "RECORD": lambda code, _: _record(code), "STAMP": lambda code, _: _stamp(code), "KEEP": _keep,
    "FRAME": lambda code, _: _OnStack(code).frame(), "SPILLED": lambda code, _: _OnStack(code).spilled(),
    "LEAVING": lambda code, _: _OnStack(code).leaving()}


def make(name: str, target: str, folder: Path) -> Piece:
    """One piece for one architecture."""
    body = PIECES[name]
    made = _assemble(body, target, folder)
    unknown = made.lists.keys() - LISTS_ALLOWED - (LISTS_OF_RECORD if name == "RECORD" else set())
    if unknown and body != ON_STACK:
        raise Unfit(f"ptxas lists offsets in it under {[hex(code) for code in unknown]}")
    code = [struct.unpack_from("<QQ", made.text, at) for at in range(0, len(made.text), 16)]
    end = max(i for i, (low, _) in enumerate(code) if opcode(low) == MARKER)
    if opcode(code[0][0]) != LOAD_CONSTANT or code[0][0] >> 16 & 0xFF != 1:
        raise Unfit("it does not begin with the load of the stack pointer")
    stack, *code = code[:end]
    if name in CHANGES:
        code = CHANGES[name](code, stack)
    _check(code)
    holes = [(i, name) for i, (low, _) in enumerate(code) for value, name in HOLES.items() if low >> 32 == value]
    wanted = {name for value, name in HOLES.items() if f"{value:X}" in body.upper()}
    if {name for _, name in holes} != wanted:
        raise Unfit(f"of the numbers {sorted(wanted)} only {sorted({name for _, name in holes})} stand in the code")
    return Piece(code, made.registers if body != ON_STACK else BORROWED + 4 + KEPT_BY_HARDWARE, made.parameter_base, holes)


def _c_piece(name: str, piece: Piece) -> str:
    words = [f"{{0x{low:016x}, 0x{high:016x}}}," for low, high in piece.code]
    rows = "".join(f"    {' '.join(words[i : i + 3])}\n" for i in range(0, len(words), 3))
    holes = ", ".join(f"{{{i}, HOLE_{hole}}}" for i, hole in piece.holes) or "{0, HOLE_NONE}"
    return (f"static const struct instruction {name}_code[] = {{\n{rows}}};\nstatic const struct stub {name} = {{\n"
            f"    {name}_code, sizeof {name}_code / sizeof {name}_code[0], {piece.registers}, {len(piece.holes)}, {{{holes}}}}};\n\n")


def source(version: str, pieces: dict[str, dict[str, Piece]]) -> str:
    """The text of stubs.c: each different piece once, and a row for each number that an image states as its architecture."""
    out = ["/* stubs.c - code put into kernels, made by make_stubs.py; do not edit\n *\n"
           f" * Assembled by ptxas: {version}\n */\n#include \"stubs.h\"\n\n"]
    seen: dict[str, str] = {}
    rows: dict[int, str] = {}
    for arch in ARCHITECTURES:
        fields = []
        for name in PIECES:
            own = f"{name.lower()}_{arch}"
            text = _c_piece("X", pieces[arch][name])
            if seen.setdefault(text, own) == own:
                out.append(_c_piece(own, pieces[arch][name]))
            fields.append(f"&{seen[text]}")
        number = int(re.sub("[^0-9]", "", arch))
        row = f"    {{{number}, 0x{pieces[arch]['HOLD'].parameter_base:x},\n     {{{', '.join(fields)}}}}},\n"
        if rows.setdefault(number, row) != row:
            raise Unfit(f"the code for {arch} differs from that of another target with the same number")
    out.append("const struct stubs all_stubs[] = {\n" + "".join(rows.values()) + "};\n"
               "const unsigned stubs_count = sizeof all_stubs / sizeof all_stubs[0];\n")
    return "".join(out)


def main() -> int:
    """0 if it was written, or is as it should be; 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file that is there")
    given = parser.parse_args()
    said = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    version = next(line for line in said.splitlines() if "release" in line)
    with tempfile.TemporaryDirectory() as folder:
        try:
            pieces = {arch: {name: make(name, arch, Path(folder)) for name in PIECES} for arch in ARCHITECTURES}
            text = source(version, pieces)
        except Unfit as error:
            print(f"make_stubs: {error}", file=sys.stderr)
            return 1
    place = Path(__file__).with_name("stubs.c")
    if given.check:
        return 0 if place.read_text(encoding="utf-8") == text else 1
    place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
