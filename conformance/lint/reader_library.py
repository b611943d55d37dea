"""Loads the C reader: the rewriter's reader of fat binaries (rewrite/fatbin.c) and the scan for opcodes (reader/scan.c), as one library.

Compressed images are unpacked by the machine's own libzstd and liblz4, or by those of the pinned packages. Other threads of Python
run while the library works.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from conformance.lint import analyser
from conformance.pdlkit.compiled import Recipe
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT, prebuilt
from conformance.pdlkit.venv import ensure_venv

PREBUILT_NAME = "pdl-lint-reader.so"  # as the installed package carries it
_REWRITE = KIT / "rewrite"
_SOURCES = (_REWRITE / "fatbin.c", _REWRITE / "cubin.c", Path(__file__).resolve().with_name("reader") / "scan.c")
_HEADERS = tuple(_REWRITE / name for name in ("fatbin.h", "fatbin_layout.h", "cubin.h"))
_RECIPE = Recipe("lint-reader.so", [*_SOURCES, *_HEADERS], ["-std=gnu11", "-O3", "-shared", "-fPIC", "-I", _REWRITE, *_SOURCES],
                 "lint's reader of fat binaries")
_PACKAGES = {"zstd": "zstandard", "lz4": "lz4"}
_FUNCTIONS = {"zstd": "ZSTD_decompress", "lz4": "LZ4_decompress_safe"}


class Entry(ctypes.Structure):
    """struct fatbin_entry of rewrite/fatbin.h."""

    _fields_ = [("kind", ctypes.c_uint), ("architecture", ctypes.c_uint), ("variant", ctypes.c_char), ("compression", ctypes.c_int),
                ("head", ctypes.c_void_p), ("payload", ctypes.c_void_p), ("head_size", ctypes.c_size_t),
                ("payload_size", ctypes.c_size_t), ("stored", ctypes.c_size_t), ("contents", ctypes.c_size_t)]


@cache
def library() -> ctypes.CDLL:
    """The reader."""
    found = ctypes.CDLL(str(prebuilt(PREBUILT_NAME) or analyser.made(_RECIPE)))
    text, size, out = ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p)
    sizes, entry = ctypes.POINTER(size), ctypes.POINTER(Entry)
    found.fatbin_find.restype, found.fatbin_find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, size, sizes, sizes, out]
    found.fatbin_next.restype, found.fatbin_next.argtypes = ctypes.c_int, [ctypes.c_void_p, size, sizes, entry, out]
    found.fatbin_doubt.restype, found.fatbin_doubt.argtypes = text, [entry]
    found.fatbin_unpack.restype, found.fatbin_unpack.argtypes = text, [entry, ctypes.c_void_p]
    found.fatbin_use_decompressors.restype, found.fatbin_use_decompressors.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    found.pdl_scan.restype, found.pdl_scan.argtypes = ctypes.c_int, [ctypes.c_void_p, size, ctypes.c_uint16, ctypes.c_uint16]
    return found


@cache
def offer_decompressor(name: str) -> None:
    """Hands the reader a decompressor, zstd or lz4, when the first image needs it."""
    function = ctypes.cast(getattr(_decompressor(name), _FUNCTIONS[name]), ctypes.c_void_p)
    library().fatbin_use_decompressors(function if name == "lz4" else None, function if name == "zstd" else None)


@cache
def _decompressor(name: str) -> ctypes.CDLL:
    """The machine's own library, else that of the pinned package, in this very Python or in a venv."""
    for file in (f"lib{name}.so.1", ctypes.util.find_library(name)):
        try:
            if file:
                return ctypes.CDLL(file)
        except OSError:
            continue
    package = _PACKAGES[name]
    beside = _offering(name, (path for entry in sys.path if entry for path in sorted(Path(entry).glob(f"{package}/**/*.so"))))
    if beside is not None:
        return beside
    venv = ensure_venv("decompressors").parent.parent
    found = _offering(name, sorted(venv.glob("lib/python*/site-packages/**/*.so")))
    if found is not None:
        return found
    package = "libzstd1" if name == "zstd" else "liblz4-1"
    raise SetupImpossible(f"compressed images need lib{name} (Debian and Ubuntu: apt-get install {package})")


def _offering(name: str, files: Iterable[Path]) -> ctypes.CDLL | None:
    """The first of these libraries that can unpack."""
    for file in files:
        try:
            found = ctypes.CDLL(str(file))
        except OSError:
            continue
        if hasattr(found, _FUNCTIONS[name]):
            return found
    return None
