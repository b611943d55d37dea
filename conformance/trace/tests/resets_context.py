"""A program of the driver's interface that launches two kernels, and then one more in a context of its own (`other`) or none, and may
reset its context before it ends. Arguments: the image, and `reset`, `keep` or `other`."""

from __future__ import annotations

import ctypes
import sys

driver = ctypes.PyDLL("libcuda.so.1")
primary, stream = (ctypes.c_void_p() for _ in range(2))
driver.cuInit(0)
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0) == 0
driver.cuStreamCreate(ctypes.byref(stream), 1)
length = ctypes.c_uint(2000)
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(length), ctypes.addressof(length))


def launch(image: str, *names: bytes) -> None:
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoad(ctypes.byref(module), image.encode()) == 0
    for name in names:
        assert driver.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
        assert driver.cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, arguments, None) == 0
    driver.cuStreamSynchronize(stream)


launch(sys.argv[1], b"gate", b"first")
if sys.argv[2] == "other":
    driver.cuCtxPushCurrent_v2(ctypes.c_void_p(0x1234))
    stream = ctypes.c_void_p()  # a stream belongs to its context
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    launch(sys.argv[1], b"second")
if sys.argv[2] == "reset":
    driver.cuDevicePrimaryCtxReset_v2(0)
