"""A program that launches one kernel in each way, and puts each kind of event on its stream. Its argument is a module for the
stand-in driver."""

from __future__ import annotations

import ctypes
import sys

COOPERATIVE, CLUSTER, SERIALIZATION, EVENT, COMPLETION_EVENT, UPDATABLE, CARVEOUT = 2, 4, 6, 7, 12, 13, 14
DISABLE_TIMING = 2


class Value(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("cluster", ctypes.c_uint * 3), ("event", ctypes.c_void_p), ("room", ctypes.c_char * 64)]


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", Value)]


class Configuration(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


driver = ctypes.PyDLL("libcuda.so.1")
module, function, stream, event, graph = (ctypes.c_void_p() for _ in range(5))
driver.cuInit(0)
assert driver.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()) == 0
assert driver.cuModuleGetFunction(ctypes.byref(function), module, b"first") == 0
driver.cuStreamCreate(ctypes.byref(stream), 1)
length = ctypes.c_uint(1000)
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(length), ctypes.addressof(length))


def launch(*attributes: tuple[int, object]) -> None:
    made = (Attribute * (len(attributes) + 1))()
    for place, (number, value) in enumerate(attributes):
        made[place].id = number
        name = "cluster" if number == CLUSTER else "event" if number in (EVENT, COMPLETION_EVENT) else "number"
        setattr(made[place].value, name, (ctypes.c_uint * 3)(*value) if isinstance(value, tuple) else value)
    shape = Configuration((ctypes.c_uint * 3)(2, 3, 4), (ctypes.c_uint * 3)(32, 1, 2), 16, stream, ctypes.addressof(made), len(attributes))
    assert driver.cuLaunchKernelEx(ctypes.byref(shape), function, arguments, None) == 0


def record(flags: int) -> None:
    assert driver.cuEventCreate(ctypes.byref(event), flags) == 0
    assert driver.cuEventRecord(event, stream) == 0


class Parameters(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("arguments", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def kernel_node(of: ctypes.c_void_p) -> ctypes.c_void_p:
    node = ctypes.c_void_p()
    asked = Parameters(function, (ctypes.c_uint * 3)(2, 1, 1), (ctypes.c_uint * 3)(32, 1, 1), 16, ctypes.addressof(arguments))
    assert driver.cuGraphAddKernelNode_v2(ctypes.byref(node), of, None, ctypes.c_size_t(0), ctypes.byref(asked)) == 0
    return node


def graphs() -> None:
    """A graph whose second node is a child graph of two kernels with an edge of its own kind; it is updated between two launches."""
    child, node, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuGraphCreate(ctypes.byref(graph), 0)
    driver.cuGraphCreate(ctypes.byref(child), 0)
    inner = [kernel_node(child) for _ in range(2)]
    edge = (ctypes.c_ubyte * 8)(2, 3, 1)
    assert driver.cuGraphAddDependencies_v2(child, ctypes.byref(inner[0]), ctypes.byref(inner[1]), edge, ctypes.c_size_t(1)) == 0
    before = (ctypes.c_void_p * 1)(kernel_node(graph))
    assert driver.cuGraphAddChildGraphNode(ctypes.byref(node), graph, before, ctypes.c_size_t(1), child) == 0
    assert driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)) == 0
    assert driver.cuGraphLaunch(executable, stream) == 0
    assert driver.cuGraphExecUpdate_v2(executable, graph, ctypes.byref(node)) == 0
    assert driver.cuGraphLaunch(executable, stream) == 0


if sys.argv[2] == "graphs":
    graphs()
    sys.exit()
if sys.argv[2] == "sampled":
    for _ in range(4):
        launch()
        launch()
        driver.cuStreamSynchronize(stream)
    sys.exit()
record(DISABLE_TIMING)
record(0)
launch()
for attribute in (SERIALIZATION, COOPERATIVE, UPDATABLE):
    for number in (0, 1):
        launch((attribute, number))
launch((CLUSTER, (1, 1, 1)))
launch((CLUSTER, (1, 2, 1)))
launch((EVENT, event))
launch((COMPLETION_EVENT, event))
launch((CARVEOUT, 30))
launch((SERIALIZATION, 1), (CARVEOUT, 0))
plain = (function, *map(ctypes.c_uint, (2, 3, 4, 32, 1, 2, 16)), stream, arguments)
assert driver.cuLaunchKernel(*plain, None) == 0
assert driver.cuLaunchCooperativeKernel(*plain) == 0
driver.cuEventDestroy_v2(event)
record(DISABLE_TIMING)  # the same handle, and another kind
driver.cuEventDestroy_v2(event)
record(0)
assert driver.cuStreamWaitEvent(stream, event, 0) == 0
assert driver.cuMemsetD32Async(ctypes.c_uint64(0), 0, ctypes.c_size_t(1), stream) == 0
assert driver.cuStreamBeginCapture_v2(stream, 0) == 0
launch()
assert driver.cuMemsetD32Async(ctypes.c_uint64(0), 0, ctypes.c_size_t(1), stream) == 900  # the stand-in captures kernels only
assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
