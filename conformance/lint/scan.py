"""Looks for opcodes without a disassembler (reader/scan.c): does one stand anywhere in an image?"""

from __future__ import annotations

import ctypes

from conformance.lint.reader_library import library

WAIT, TRIGGER = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
SCANNED = frozenset({90, 100, 101, 103, 107, 110, 120, 121})  # architectures for which those two were checked


def may_wait_or_trigger(image: bytes | bytearray, sm: int) -> bool:
    """Whether the image may hold a wait or a trigger; never false where it does."""
    if sm not in SCANNED:
        return True
    start = image if isinstance(image, bytes) else ctypes.byref(ctypes.c_char.from_buffer(image))
    return bool(library().pdl_scan(start, len(image), WAIT, TRIGGER))
