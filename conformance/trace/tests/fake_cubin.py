"""Makes ELF files that look like cubins: kernels of chosen instructions, for what reads machine code and for the stand-in driver."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

NOTHING, WAIT, TRIGGER, EXIT = 0x918, 0x82E, 0x82D, 0x94D
_HEADER, _SECTION, _SYMBOL = 64, 64, 24


def cubin(kernels: Mapping[str, Sequence[int]]) -> bytes:
    """One image; each kernel is a list of opcodes."""
    strings = bytearray(b"\0")

    def text(name: str) -> int:
        strings.extend(name.encode() + b"\0")
        return len(strings) - len(name) - 1

    body, sections, symbols = bytearray(), [struct.pack("<IIQQQQIIQQ", *[0] * 10)], [bytes(_SYMBOL)]
    for number, (name, codes) in enumerate(kernels.items(), 1):
        code = b"".join(struct.pack("<QQ", opcode, 0) for opcode in codes)
        sections.append(struct.pack("<IIQQQQIIQQ", text(f".text.{name}"), 1, 6, 0, _HEADER + len(body), len(code), 0, 0, 128, 0))
        symbols.append(struct.pack("<IBBHQQ", text(name), 0x12, 0x10, number, 0, len(code)))
        body += code
    count = len(sections)
    table = b"".join(symbols)
    sections.append(struct.pack("<IIQQQQIIQQ", text(".symtab"), 2, 0, 0, _HEADER + len(body), len(table), count + 1, 0, 8, _SYMBOL))
    body += table
    name_at = text(".strtab")
    sections.append(struct.pack("<IIQQQQIIQQ", name_at, 3, 0, 0, _HEADER + len(body), len(strings), 0, 0, 1, 0))
    body += strings
    at = _HEADER + len(body)
    head = b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at, 90, _HEADER, 0, 0, _SECTION, len(sections), count + 1)
    return head + bytes(body) + b"".join(sections)


def with_parts(before_wait: int | None, triggers_at: int | None, length: int = 80) -> list[int]:
    """A kernel's opcodes: the wait after so many instructions, the trigger after so many; None for none."""
    codes = [NOTHING] * (length - 1) + [EXIT]
    if before_wait is not None:
        codes[before_wait] = WAIT
    if triggers_at is not None:
        codes[triggers_at] = TRIGGER
    return codes


def module(folder: Path, name: str, ptx: int) -> Path:
    """A module for the stand-in driver: the zoo's kernels, and the image that CUPTI would hand out."""
    kernels = {  # registers, static shared memory, trigger after, wait after
        "gate": (8, 0, None, None), "first": (8, 0, 2, None), "first_silent": (8, 0, None, None), "second": (8, 0, None, 60),
        "second_waits_first": (8, 0, None, 4), "second_shared": (8, 4096, None, 60), "second_unloaded": (8, 0, None, 60)}
    image = folder / f"{name}.image"
    modern = ptx >= 90
    image.write_bytes(cubin({kernel: with_parts(wait if modern else None, trigger if modern else None)
                             for kernel, (_, _, trigger, wait) in kernels.items()}))
    lines = [f"image {image}"]
    for kernel, (registers, shared, trigger, wait) in kernels.items():
        lines.append(f"{kernel} {registers} {shared} {ptx} {int(modern and trigger is not None)} {int(modern and wait is not None)}")
    path = folder / f"{name}.module"
    path.write_text("".join(line + "\n" for line in lines))
    return path
