"""Small images made by hand: real enough for the rewriter, and available on a machine without a toolkit."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

Instruction = tuple[int, int]
STACK: Instruction = (0x00000A00FF017B82, 0x000E220000000800)  # LDC R1, c[0x0][0x28]
WAIT: Instruction = (0x000000000000782E, 0x000FE20000000000)
TRIGGER: Instruction = (0x000000000000782D, 0x000FE20000000000)
EXIT: Instruction = (0x000000000000794D, 0x000FEA0003800000)
NOP: Instruction = (0x0000000000007918, 0x000FC00000000000)
ADD: Instruction = (0x0000000100007836, 0x000FCA0000000000)  # VIADD R0, R0, 0x1


def guarded(instruction: Instruction, predicate: int) -> Instruction:
    """Under @P<predicate>."""
    return instruction[0] & ~0xF000 | predicate << 12, instruction[1]


def waiting_for(instruction: Instruction, barriers: int) -> Instruction:
    """With this mask of barriers to wait for."""
    return instruction[0], instruction[1] | barriers << 52


def relative(opcode: int, at: int, to: int) -> Instruction:
    """A branch (0x947), call (0x944) or the like from one instruction to another, both by number."""
    value = (16 * (to - at - 1)) // 4 & (1 << 56) - 1
    return (opcode | 0x7000 | (value & 0xFF) << 16 | (value >> 8 & 0x3FFFFFFF) << 34, 0x000FEA0003800000 | value >> 38 & 0x3FFFF)


@dataclass
class Kernel:
    """One kernel with its own section."""

    name: str
    code: list[Instruction]
    registers: int = 16
    exits: list[int] = field(default_factory=list)          # offsets
    relocations: list[tuple[int, str]] = field(default_factory=list)  # offset, symbol
    parameter_base: int = 0x210
    value: int = 0
    entry: bool = True
    frame: int | None = None  # bytes of its stack; None: the image does not say


@dataclass
class _Section:
    name: str
    kind: int
    data: bytes
    flags: int = 0
    link: int = 0
    info: int = 0
    align: int = 1


def _attribute(code: int, value: bytes) -> bytes:
    return struct.pack("<BBH", 4, code, len(value)) + value


def _code(kernel: Kernel) -> bytes:
    raw = b"".join(struct.pack("<QQ", *instruction) for instruction in kernel.code)
    return raw + struct.pack("<QQ", *NOP) * (-len(raw) // 16 % 8)


def cubin(kernels: list[Kernel], architecture: int = 90, padding: int = 0) -> bytes:
    """An image of ABI version 8 with symbols, .nv.info, code, relocations and two program headers."""
    names = {kernel.name: 1 + number for number, kernel in enumerate(kernels)}
    strings = b"\0" + b"".join(kernel.name.encode() + b"\0" for kernel in kernels)
    first_code = 5
    symbols = bytes(24)
    for number, kernel in enumerate(kernels):
        symbols += struct.pack("<IBBHQQ", strings.index(b"\0" + kernel.name.encode() + b"\0") + 1, 0x12, 0x10 * kernel.entry,
                               first_code + number, kernel.value, len(_code(kernel)) - kernel.value)
    info = b"".join(_attribute(0x2F, struct.pack("<II", names[k.name], k.registers)) for k in kernels if k.registers)
    info += b"".join(_attribute(code, struct.pack("<II", names[k.name], k.frame)) for k in kernels if k.frame is not None
                     for code in (0x11, 0x12))
    sections = [_Section("", 0, b""), _Section(".shstrtab", 3, b""), _Section(".strtab", 3, strings),
                _Section(".symtab", 2, symbols, link=2, align=8), _Section(".nv.info", 0x70000000, info, link=3, align=4)]
    for kernel in kernels:
        sections.append(_Section(f".text.{kernel.name}", 1, _code(kernel), 6, 3, names[kernel.name], 128))
    for number, kernel in enumerate(kernels):
        own = _attribute(0x0A, struct.pack("<IHH", 0, kernel.parameter_base, 8)) if kernel.parameter_base else b""
        own += _attribute(0x1C, struct.pack(f"<{len(kernel.exits)}I", *kernel.exits))
        sections.append(_Section(f".nv.info.{kernel.name}", 0x70000000, own, 0x40, 3, first_code + number, 4))
        if kernel.relocations:
            rows = b"".join(struct.pack("<QQq", at, names[symbol] << 32 | 0x38, 0) for at, symbol in kernel.relocations)
            sections.append(_Section(f".rela.text.{kernel.name}", 4, rows, 0x40, 3, first_code + number, 8))
    return _link(sections, architecture, padding)


def _link(sections: list[_Section], architecture: int, padding: int) -> bytes:
    names = b"".join(section.name.encode() + b"\0" for section in sections)
    sections[1].data = names
    out, offsets = bytearray(64), []
    for section in sections:
        out += bytes(-len(out) % section.align)
        offsets.append(len(out))
        out += section.data
    code = [(offset, len(s.data)) for offset, s in zip(offsets, sections, strict=True) if s.name.startswith(".text.")]
    out += bytes(padding) + bytes(-(len(out) + padding) % 8)
    section_table, at = len(out), 0
    for section, offset in zip(sections, offsets, strict=True):
        out += struct.pack("<IIQQQQIIQQ", at, section.kind, section.flags, 0, offset if section.kind else 0, len(section.data),
                           section.link, section.info, section.align, 24 if section.kind == 2 else 0)
        at += len(section.name) + 1
    program_table = len(out)
    begin, end = code[0][0], code[-1][0] + code[-1][1]
    out += struct.pack("<IIQQQQQQ", 6, 4, program_table, 0, 0, 112, 112, 8)
    out += struct.pack("<IIQQQQQQ", 1, 5, begin, 0, 0, end - begin, end - begin, 8)
    out[:64] = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, 190, 1, 0, program_table, section_table,
                           0x06000004 | architecture << 8, 64, 56, 2, 64, len(sections), 1)
    return bytes(out)


def entry(kind: int, architecture: int, payload: bytes, flags: int = 0x11, contents: int = 0) -> bytes:
    """One image of a fat binary; `contents` is given where the payload is compressed."""
    stored = len(payload)
    payload += bytes(-len(payload) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(payload), stored if contents else 0, 0, 8, 1, architecture, 0, 0, flags, 0,
                       contents) + payload


def container(*entries: bytes) -> bytes:
    """A fat binary."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
