"""Calls the scanner (scanner/scan.c): does an opcode stand anywhere in an image?"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from conformance.lint import analyser
from conformance.pdlkit.compiled import Recipe
from conformance.pdlkit.places import prebuilt

WAIT, TRIGGER = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
SCANNED = frozenset({90, 100, 101, 103, 107, 110, 120, 121})  # architectures for which those two were checked
PREBUILT_NAME = "pdl-lint-scan.so"  # as the installed package carries it
_SOURCE = Path(__file__).resolve().with_name("scanner") / "scan.c"
_RECIPE = Recipe("lint-scan.so", [_SOURCE], ["-std=c11", "-O3", "-shared", "-fPIC", _SOURCE], "lint's scanner")


@cache
def _library() -> ctypes.CDLL:
    """The scanner as a library; other threads of Python run while it does."""
    path = prebuilt(PREBUILT_NAME) or analyser.made(_RECIPE)
    library = ctypes.CDLL(str(path))
    library.pdl_scan.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint16, ctypes.c_uint16]
    library.pdl_scan.restype = ctypes.c_int
    return library


def may_wait_or_trigger(image: bytes, sm: int) -> bool:
    """Whether the image may hold a wait or a trigger; never false where it does."""
    return sm not in SCANNED or bool(_library().pdl_scan(image, len(image), WAIT, TRIGGER))
