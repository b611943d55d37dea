"""Calls the scanner (scanner/scan.c): does an opcode stand anywhere in an image?"""

from __future__ import annotations

import ctypes
import hashlib
from functools import lru_cache
from pathlib import Path

from conformance.lint import analyser
from conformance.pdlkit.compiled import compile_to
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolchain import find_c_compiler

WAIT, TRIGGER = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
SCANNED = frozenset({90, 100, 101, 103, 110, 120, 121})  # architectures for which those two were checked
_SOURCE = Path(__file__).resolve().with_name("scanner") / "scan.c"
_FLAGS = ("-std=c11", "-O3", "-shared", "-fPIC")


@lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """The scanner as a library; other threads of Python run while it does."""
    compiler = find_c_compiler()
    words = _SOURCE.read_bytes() + (compiler.words().encode(errors="replace") if compiler else b"")
    name = f"scan-{hashlib.sha256(words).hexdigest()[:12]}.so"
    path = analyser.made_earlier(name)
    if path is None:
        if compiler is None:
            raise SetupImpossible("there is no C compiler on PATH, with which lint builds its scanner once "
                                  "(Debian and Ubuntu: apt-get install gcc, or set CC)")
        path = compile_to(analyser.writable_folder() / name, compiler, [*_FLAGS, _SOURCE], "lint's scanner")
    library = ctypes.CDLL(str(path))
    library.pdl_scan.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint16, ctypes.c_uint16]
    library.pdl_scan.restype = ctypes.c_int
    return library


def may_wait_or_trigger(image: bytes, sm: int) -> bool:
    """Whether the image may hold a wait or a trigger; never false where it does."""
    return sm not in SCANNED or bool(_library().pdl_scan(image, len(image), WAIT, TRIGGER))
