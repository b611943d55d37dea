"""Readable names of C++ kernels, from the C++ runtime that is on every machine with a compiler."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import lru_cache

from conformance.pdlkit.places import INSTALLED, PREBUILT


@lru_cache(maxsize=1)
def _demangler() -> tuple[object, object] | None:
    own = str(PREBUILT / "pdl-demangle.so") if INSTALLED else None
    for name in (own, "libstdc++.so.6", "libc++abi.so.1", ctypes.util.find_library("stdc++")):
        try:
            library = ctypes.CDLL(name) if name else None
            if library is None:
                continue
            function = library.pdl_demangle if name == own else library.__cxa_demangle
            function.restype = ctypes.c_void_p
            function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
            free = ctypes.CDLL(None).free
            free.argtypes = [ctypes.c_void_p]
            return function, free
        except (OSError, AttributeError):
            continue
    return None


@lru_cache(maxsize=65536)
def demangled(name: str) -> str:
    """The demangled name, or the name itself if it is not mangled or there is no C++ runtime here."""
    if not name.startswith("_Z"):
        return name
    found = _demangler()
    if found is None:
        return name
    function, free = found
    status = ctypes.c_int()
    raw = function(name.encode(), None, None, ctypes.byref(status))  # type: ignore[operator]
    if not raw:
        return name
    text = ctypes.string_at(raw).decode(errors="replace")
    free(raw)  # type: ignore[operator]
    return text
