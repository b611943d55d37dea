"""Makes stubs.c: the code that the rewriter puts into kernels, assembled by ptxas once for each architecture.

    python3 conformance/rewrite/make_stubs.py            write stubs.c anew (needs ptxas and nvdisasm)
    python3 conformance/rewrite/make_stubs.py --check    compare it with what this ptxas makes

Each piece is assembled as a kernel that ends in a marker (a second trigger). The kernel's own set-up of the stack pointer and
everything from the marker on are cut off. What is left must be able to stand at a kernel's entry, where every register is dead:
it has no exit, every branch stays inside, everything it waits for has arrived when it ends, and ptxas lists no place in it
that the driver would have to know. Numbers that a plan fills in are assembled as constants that occur nowhere else.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ARCHITECTURES = ("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_110", "sm_120", "sm_121")
HOLES = {0x5EED0001: "LEAST", 0x5EED0002: "SPAN", 0x5EED0003: "SEED", 0x5EED0004: "WORDS_LOW", 0x5EED0005: "WORDS_HIGH",
         0x5EED0006: "SLEEP"}
MARKER = 0x82D  # PREEXIT
EXIT, BRANCH, BRANCH_UNIFORM = 0x94D, 0x947, 0x547
LISTS_ALLOWED = {0x1C}  # exits: the one that is listed is cut off
LISTS = {0x1C, 0x1D, 0x28, 0x31, 0x34, 0x39, 0x46}

# The block's number, and how many blocks follow it. A dependent starts when all blocks have triggered, so only the last
# ones can still run then; holding earlier ones costs time and finds nothing. At most 2,048 threads and 32 blocks
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

PIECES = {
    "TRIGGER": "griddepcontrol.launch_dependents;",
    "WAIT": "griddepcontrol.wait;",
    "HOLD": OPAQUE_ZERO + LAST_WAVE + DELAY.format(least="xor.b32 a, z, 0x5EED0001;", span="0x5EED0002", seed="0x5EED0003"),
    "SLEEP": "nanosleep.u32 0x5EED0006;",
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
            if pending and to > index:
                raise Unfit(f"a branch at {index} may skip a wait for barriers {sorted(pending)}")
    if pending:
        raise Unfit(f"barriers {sorted(pending)} are still pending at its end")


def make(body: str, target: str, folder: Path) -> Piece:
    """One piece for one architecture."""
    made = _assemble(body, target, folder)
    if made.lists.keys() - LISTS_ALLOWED:
        raise Unfit(f"ptxas lists places in it under {[hex(code) for code in made.lists.keys() - LISTS_ALLOWED]}")
    code = [struct.unpack_from("<QQ", made.text, at) for at in range(0, len(made.text), 16)]
    end = max(i for i, (low, _) in enumerate(code) if opcode(low) == MARKER)
    if opcode(code[0][0]) != 0xB82 or code[0][0] >> 16 & 0xFF != 1:
        raise Unfit("it does not begin with the load of the stack pointer")
    code = code[1:end]
    _check(code)
    holes = [(i, name) for i, (low, _) in enumerate(code) for value, name in HOLES.items() if low >> 32 == value]
    wanted = {name for value, name in HOLES.items() if f"{value:X}" in body.upper()}
    if {name for _, name in holes} != wanted:
        raise Unfit(f"of the numbers {sorted(wanted)} only {sorted({name for _, name in holes})} stand in the code")
    return Piece(code, made.registers, made.parameter_base, holes)


def _c_piece(name: str, arch: str, piece: Piece) -> str:
    rows = "".join(f"    {{0x{low:016x}, 0x{high:016x}}},\n" for low, high in piece.code)
    return f"static const struct instruction {name.lower()}_{arch}[] = {{\n{rows}}};\n"


def source(version: str, pieces: dict[str, dict[str, Piece]]) -> str:
    """The text of stubs.c; architectures with the same code share it."""
    out = ["/* stubs.c - code put into kernels, made by make_stubs.py; do not edit\n *\n"
           f" * Assembled by ptxas: {version}\n */\n#include \"stubs.h\"\n\n"]
    seen: dict[str, str] = {}
    table = []
    for arch in ARCHITECTURES:
        fields = []
        for name in PIECES:
            piece = pieces[arch][name]
            text = _c_piece(name, "X", piece)
            if text not in seen:
                seen[text] = f"{name.lower()}_{arch}"
                out.append(_c_piece(name, arch, piece) + "\n")
            holes = ", ".join(f"{{{i}, HOLE_{hole}}}" for i, hole in piece.holes) or "{0, HOLE_NONE}"
            code = seen[text]
            fields.append(f"{{{code}, sizeof {code} / sizeof {code}[0], {piece.registers}, "
                          f"{len(piece.holes)}, {{{holes}}}}}")
        base = pieces[arch]["HOLD"].parameter_base
        table.append(f"    {{\"{arch}\", {int(re.sub('[^0-9]', '', arch))}, 0x{base:x},\n     {{" + ",\n      ".join(fields) + "}},\n")
    out.append("const struct stubs all_stubs[] = {\n" + "".join(table) + "};\n"
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
            pieces = {arch: {name: make(body, arch, Path(folder)) for name, body in PIECES.items()} for arch in ARCHITECTURES}
        except Unfit as error:
            print(f"make_stubs: {error}", file=sys.stderr)
            return 1
    place, text = Path(__file__).with_name("stubs.c"), source(version, pieces)
    if given.check:
        return 0 if place.read_text(encoding="utf-8") == text else 1
    place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
