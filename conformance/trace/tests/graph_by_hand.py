"""A program that builds a graph of three kernels by hand, changes a node of the instantiation, and launches it.
Its argument is an image for the stand-in driver."""

from __future__ import annotations

import ctypes
import sys


class Parameters(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("arguments", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


driver = ctypes.PyDLL("libcuda.so.1")
module, graph, executable, stream = (ctypes.c_void_p() for _ in range(4))
driver.cuInit(0)
assert driver.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()) == 0
driver.cuStreamCreate(ctypes.byref(stream), 1)
driver.cuGraphCreate(ctypes.byref(graph), 0)
length = ctypes.c_uint(20000)
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(length), ctypes.addressof(length))
nodes: list[ctypes.c_void_p] = []
parameters: list[Parameters] = []
for name in (b"gate", b"first", b"second"):
    function, node = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
    parameters.append(Parameters(function, (ctypes.c_uint * 3)(1, 1, 1), (ctypes.c_uint * 3)(32, 1, 1), 0, ctypes.addressof(arguments)))
    before = (ctypes.c_void_p * 1)(nodes[-1] if nodes else None)
    assert driver.cuGraphAddKernelNode_v2(ctypes.byref(node), graph, before, len(nodes[-1:]), ctypes.byref(parameters[-1])) == 0
    nodes.append(node)
assert driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)) == 0
for _ in range(5):
    assert driver.cuGraphExecKernelNodeSetParams_v2(executable, nodes[1], ctypes.byref(parameters[1])) == 0
    assert driver.cuGraphLaunch(executable, stream) == 0
    driver.cuStreamSynchronize(stream)
