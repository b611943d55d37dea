"""Calls the scanner (scanner/scan.c): does an opcode stand anywhere in an image?"""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from pathlib import Path

from conformance.lint import analyser
from conformance.pdlkit.compiled import compile_to
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import prebuilt
from conformance.pdlkit.toolchain import find_c_compiler

WAIT, TRIGGER = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
SCANNED = frozenset({90, 100, 101, 103, 110, 120, 121})  # architectures for which those two were checked
PREBUILT_NAME = "pdl-lint-scan.so"  # as the installed package carries it
_SOURCE = Path(__file__).resolve().with_name("scanner") / "scan.c"
_FLAGS = ("-std=c11", "-O3", "-shared", "-fPIC")


@cache
def _library() -> ctypes.CDLL:
    """The scanner as a library; other threads of Python run while it does."""
    path = prebuilt(PREBUILT_NAME) or _compiled()
    library = ctypes.CDLL(str(path))
    library.pdl_scan.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint16, ctypes.c_uint16]
    library.pdl_scan.restype = ctypes.c_int
    return library


def _compiled() -> Path:
    """The scanner, compiled if it was not before."""
    compiler = find_c_compiler()
    words = _SOURCE.read_bytes() + (compiler.words().encode(errors="replace") if compiler else b"")
    name = f"scan-{hashlib.sha256(words).hexdigest()[:12]}.so"
    path = analyser.made_earlier(name)
    if path is None:
        if compiler is None:
            raise SetupImpossible("there is no C compiler on PATH, with which lint builds its scanner once "
                                  "(Debian and Ubuntu: apt-get install gcc, or set CC)")
        path = compile_to(analyser.writable_folder() / name, compiler, [*_FLAGS, _SOURCE], "lint's scanner")
    return path


def may_wait_or_trigger(image: bytes, sm: int) -> bool:
    """Whether the image may hold a wait or a trigger; never false where it does."""
    return sm not in SCANNED or bool(_library().pdl_scan(image, len(image), WAIT, TRIGGER))
