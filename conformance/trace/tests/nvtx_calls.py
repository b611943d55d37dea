"""What NVTX does with the tracing library: asks it for its functions, then calls them. Run in a process of its own."""

from __future__ import annotations

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
SIZE = 16
pointers = [ctypes.c_void_p() for _ in range(SIZE)]
table = (ctypes.POINTER(ctypes.c_void_p) * SIZE)(*[ctypes.pointer(pointer) for pointer in pointers])


def functions_of(module: int, out: ctypes._Pointer[ctypes.c_void_p], size: ctypes._Pointer[ctypes.c_uint]) -> int:
    if module != 1:  # the core module only
        return 0
    out[0] = ctypes.cast(table, ctypes.c_void_p)
    size[0] = SIZE
    return 1


functions = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))(functions_of)


class Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("functions_of", ctypes.c_void_p)]


callbacks = Callbacks(16, ctypes.cast(functions, ctypes.c_void_p))


def get_table(number: int) -> int | None:
    return ctypes.addressof(callbacks) if number == 1 else None


assert library.InitializeInjectionNvtx2(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(get_table)) == 1
push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(pointers[9].value or 0)
pop = ctypes.CFUNCTYPE(ctypes.c_int)(pointers[11].value or 0)
start = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p)(pointers[5].value or 0)
end = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(pointers[7].value or 0)
push(b'step "1"')
number = start(b"epoch")
push(b"layer")
pop()
end(number)
pop()
