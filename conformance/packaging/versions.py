"""What each toolkit brings for programmatic launches, clause by clause: the history that pdl.h's one version block relies on."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conformance.headers import compile_checks as checks

NEVER = 10**6


@dataclass(frozen=True)
class Snippet:
    """C that compiles from toolkit `first` on, and before toolkit `last`."""

    text: str
    first: int
    last: int = NEVER


Check = tuple[Snippet, ...] | Callable[[Path, Path], str]


def _is(condition: str) -> str:
    return f"int check[{condition} ? 1 : -1];"


def _attribute(name: str, number: int, first: int) -> Snippet:
    return Snippet(_is(f"cudaLaunchAttribute{name} == {number}"), first)


def _call(text: str, first: int, last: int = NEVER) -> Snippet:
    return Snippet(f"cudaError_t f(cudaGraph_t g, cudaGraphNode_t *n, cudaStream_t s) {{ return {text}; }}", first, last)


PTX = """.version {version}
.target sm_90
.address_size 64
.visible .entry k()
{{
    griddepcontrol.wait;
    griddepcontrol.launch_dependents;
    ret;
}}
"""


def _ptx_version(cuda: Path, work: Path) -> str:
    """ptxas takes griddepcontrol from PTX 7.8 on, and refuses it in PTX 7.7."""
    ptxas, unit = str(cuda / "bin" / "ptxas"), work / "version.ptx"
    for version, taken in (("7.7", False), ("7.8", True)):
        unit.write_text(PTX.format(version=version), encoding="utf-8")
        done = checks.call([ptxas, "-arch=sm_90", str(unit), "-o", str(work / "version.cubin")])
        checks.expect((done.returncode == 0) == taken, f"PTX {version} taken: {done.returncode == 0}\n{done.stderr}")
    return ""


def _intrinsics_under_nvrtc(cuda: Path, work: Path) -> str:
    """NVRTC does not know CUDA's own wait without an include."""
    library = checks.load_nvrtc(checks.Place(work, cuda, work))
    try:
        checks.compile_nvrtc(library, 'extern "C" __global__ void k() { cudaGridDependencySynchronize(); }', "compute_90")
    except checks.Broken as words:
        checks.expect("cudaGridDependencySynchronize" in str(words), f"NVRTC fails for another reason: {words}")
        return "undeclared"
    return "declared"


def _intrinsics_text(cuda: Path, work: Path) -> str:
    """CUDA's own trigger and wait, where the header shows them: the same two instructions in the same words."""
    text = (cuda / "include" / "cuda_device_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    found = re.findall(r'asm volatile\("griddepcontrol\.(\w+);"([^;]*)\);', text)
    expected = [("launch_dependents", ":::"), ("wait", ':::"memory"')]
    checks.expect(found in ([], expected), f"the intrinsics are {found}")
    return "" if found else "not in it"


CLAUSES: dict[str, tuple[str, Check]] = {
    "VER-01": ("launch attributes 6, 7 and cudaLaunchKernelExC: 11.8", (
        _attribute("ProgrammaticStreamSerialization", 6, 11080), _attribute("ProgrammaticEvent", 7, 11080),
        Snippet("cudaError_t (*f)(const cudaLaunchConfig_t *, const void *, void **) = cudaLaunchKernelExC;", 11080))),
    "VER-02": ("griddepcontrol: PTX 7.8", _ptx_version),
    "VER-03": ("memory-sync domains, attributes 9, 10: 12.0", (
        _attribute("MemSyncDomainMap", 9, 12000), _attribute("MemSyncDomain", 10, 12000))),
    "VER-04": ("edge data, lossy query, capture to graph, attribute 12: 12.3", (
        Snippet(_is("sizeof(cudaGraphEdgeData) == 8"), 12030), Snippet(_is("cudaErrorLossyQuery == 402"), 12030),
        _attribute("LaunchCompletionEvent", 12, 12030),
        Snippet(_is("cudaGraphKernelNodePortProgrammatic == 1 && cudaGraphDependencyTypeProgrammatic == 1"), 12030),
        _call("cudaStreamBeginCaptureToGraph(s, g, 0, 0, 0, cudaStreamCaptureModeGlobal)", 12030))),
    "VER-05": ("attributes 13: 12.4; 14: 12.5; 11: 12.8; 16: 13.0; 17, 18: 13.2", (
        _attribute("DeviceUpdatableKernelNode", 13, 12040), _attribute("PreferredSharedMemoryCarveout", 14, 12050),
        _attribute("PreferredClusterDimension", 11, 12080), _attribute("NvlinkUtilCentricScheduling", 16, 13000),
        _attribute("PortableClusterSizeMode", 17, 13020), _attribute("SharedMemoryMode", 18, 13020))),
    "VER-06": ("_v2 graph names: 12.3 to 12.9; edge data in the plain names: 13.0", (
        _call("cudaGraphAddDependencies_v2(g, n, n, 0, 1)", 12030, 13000), _call("cudaGraphAddDependencies(g, n, n, 1)", 0, 13000),
        _call("cudaGraphAddDependencies(g, n, n, 0, 1)", 13000), _call("cudaGraphGetEdges_v2(g, n, n, 0, 0)", 12030, 13000),
        _call("cudaGraphGetEdges(g, n, n, 0, 0)", 13000))),
    "VER-08": ("CUDA's own wait under NVRTC, without an include", _intrinsics_under_nvrtc),
    "VER-09": ("CUDA's own wait and trigger in its header", _intrinsics_text),
}


def holds(cuda: Path, version: int, work: Path, check: Check) -> str:
    """Empty or a word for the cell if this toolkit is as the clause says; Broken if it is not."""
    if callable(check):
        return check(cuda, work)
    for number, snippet in zip(itertools.count(), check):
        unit = work / f"snippet{number}.c"
        unit.write_text(f"#include <cuda_runtime_api.h>\n{snippet.text}\n", encoding="utf-8")
        done = checks.call(["gcc", "-std=c11", "-Werror=implicit-function-declaration", "-fsyntax-only", "-isystem",
                            str(cuda / "include"), str(unit)])
        expected = snippet.first <= version < snippet.last
        checks.expect((done.returncode == 0) == expected, f"{snippet.text} compiles: {done.returncode == 0}\n{done.stderr}")
    return ""
