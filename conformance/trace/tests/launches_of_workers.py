"""A program as data loaders and servers are: two forked processes, each with two threads that launch on streams of their own,
and both end by _exit, which runs no handler. Its argument is a module for the stand-in driver."""

from __future__ import annotations

import ctypes
import os
import sys
import threading

PAIRS = 10


class Configuration(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


def work() -> None:
    driver = ctypes.PyDLL("libcuda.so.1")  # calls hold Python's lock: the stand-in knows no threads
    module, context = ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    assert driver.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()) == 0

    def launch(name: bytes, stream: ctypes.c_void_p) -> None:
        function, length = ctypes.c_void_p(), ctypes.c_uint(1000)
        assert driver.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(length), ctypes.addressof(length))
        shape = Configuration((ctypes.c_uint * 3)(1, 1, 1), (ctypes.c_uint * 3)(32, 1, 1), 0, stream, None, 0)
        assert driver.cuLaunchKernelEx(ctypes.byref(shape), function, arguments, None) == 0

    def thread() -> None:
        stream = ctypes.c_void_p()
        driver.cuStreamCreate(ctypes.byref(stream), 1)
        for _ in range(PAIRS):
            launch(b"first", stream)
            launch(b"second", stream)

    threads = [threading.Thread(target=thread) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    children.append(child)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
