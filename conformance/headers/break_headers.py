"""Breaks pdl.h and pdl_device.cuh on purpose, one line at a time, and shows that the named test notices.

A test that cannot fail proves nothing: every check of compile_checks.py and every promise that a contract program tests has
a break here. Run by hand (a few minutes): python3 conformance dev break-headers [--only PATTERN] [--build DIR]
Exit codes: 0 every break was noticed, 1 one was not, 70 a break no longer applies, does not build, or its test is skipped.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conformance.headers.line_breaks import LINES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOST, DEVICE = "pdl.h", "pdl_device.cuh"


@dataclass(frozen=True)
class Break:
    """One edit: in `file`, the first `old` becomes `new`; the test `noticed_by` has to fail."""

    what: str
    file: str
    old: str
    new: str
    noticed_by: str


BREAKS = [
    # compile_checks.py
    Break("an unused static helper", HOST, "PDL_IMPL int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_IMPL int pdl_impl_switched_on", "compile.warnings-gcc"),
    Break("an unused static helper", HOST, "PDL_IMPL int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_IMPL int pdl_impl_switched_on", "compile.warnings-clang"),
    # g++ does not look for C casts inside extern "C".
    Break("a C cast", HOST, "shared = s->kernel->static", "shared = (unsigned long long)s->kernel->static", "compile.warnings-clang++"),
    Break("a narrowing conversion", HOST, "PDL_IMPL_CAST(unsigned, there)", "there", "compile.warnings-gcc"),
    Break("an old prototype", HOST, "PDL_IMPL int pdl_impl_switched_on", "PDL_IMPL int pdl_impl_old() { return 0; }\nPDL_IMPL int pdl_impl_switched_on", "compile.plain-include-gcc"),
    Break("an unused static helper", HOST, "PDL_IMPL int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_IMPL int pdl_impl_switched_on", "compile.plain-include-clang"),
    Break("the wrong initialiser in C++", HOST, "#define PDL_ZERO {}", "#define PDL_ZERO {0}", "compile.warnings-g++"),
    Break("a mix-up in the debug path only", HOST, "size_t offset, size;", "int offset, size;", "compile.warnings-gcc"),
    Break("a name that only new toolkits have", HOST, "#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 12050)", "#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 11080)", "compile.feature-versions"),
    Break("an unused device variable", DEVICE, "#if PDL_HAS_DEVICE\n    PDL_STRESS_(true);", "    int unused;\n#if PDL_HAS_DEVICE\n    PDL_STRESS_(true);", "compile.nvcc-plain"),
    Break("an instruction that does not exist", DEVICE, "griddepcontrol.wait;", "griddepcontrol.waits;", "compile.nvcc-plain"),
    Break("no gate", DEVICE, "&& __CUDA_ARCH__ >= 900", "", "compile.nvcc-plain"),
    Break("volatile pointers", DEVICE, "const volatile void *any = pointer;", "const void *any = pointer;", "compile.nvcc-plain"),
    Break("an include in the device header", DEVICE, "#ifdef PDL_HAS_DEVICE", "#include <cuda_runtime.h>\n#ifdef PDL_HAS_DEVICE", "compile.nvrtc"),
    Break("the wait below its target only", DEVICE, "__CUDA_ARCH__ >= 900", "__CUDA_ARCH__ >= 1000", "compile.ptx"),
    Break("no trigger", DEVICE, "asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n    PDL_STRESS_(false);", "", "compile.ptx"),
    Break("no trigger", DEVICE, "asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n    PDL_STRESS_(false);", "", "compile.nvrtc"),
    Break("no barrier behind the one wait", DEVICE, "    __syncthreads();\n", "", "compile.ptx"),
    Break("pointers that are not fresh", DEVICE, "asm volatile(\"\" : \"+l\"(address) : : \"memory\");\n    return static_cast<pdl_type *>(__cvta_global_to_generic(address));", "(void)address;\n    return pointer;", "compile.ptx"),
    Break("no guard", HOST, "#define PDL_H_INCLUDED\n", "", "compile.includes"),
    Break("templates inside extern \"C\"", HOST, "extern \"C++\" {", "namespace {", "compile.includes"),
    Break("device templates inside extern \"C\"", DEVICE, "extern \"C++\" {", "namespace {", "compile.includes-nvcc"),
    Break("two majors in one file", HOST, "#if defined(PDL_H_INCLUDED) && PDL_VERSION_MAJOR != 0", "#if 0 && PDL_VERSION_MAJOR != 0", "compile.copies-in-one-unit"),
    Break("a parameter called index", HOST, "pdl_impl_switched_on(const char *name)\n{\n    const char *value = getenv(name);", "pdl_impl_switched_on(const char *index)\n{\n    const char *value = getenv(index);", "compile.hostile-macros"),
    Break("a template parameter called T", DEVICE, "template <typename pdl_type>\nPDL_DEVICE_ pdl_type *pdl_fresh(pdl_type *pointer)", "template <typename T>\nPDL_DEVICE_ T *pdl_fresh(T *pointer)", "compile.hostile-macros-nvcc"),
    *[Break("a global", HOST, "PDL_IMPL int pdl_impl_switched_on", "int pdl_impl_state;\nPDL_IMPL int pdl_impl_switched_on", f"compile.no-symbols-{name}") for name in ("gcc", "clang", "g++", "clang++", "nvcc")],
    Break("results that may be ignored", HOST, "#define PDL_NODISCARD __attribute__((warn_unused_result))", "#define PDL_NODISCARD", "compile.refusals"),
    Break("arguments that are deduced", HOST, "typename pdl_impl_same<pdl_params>::type... args);\n\n/* The same in the place", "pdl_params... args);\n\n/* The same in the place", "compile.rdc"),
    Break("a type that two versions define", HOST, "inline namespace PDL_IMPL_NAMESPACE(pdl_v) {\nextern \"C\" {\n#else", "inline namespace pdl_any {\nextern \"C\" {\n#else", "compile.odr"),
    Break("answers of other libraries", HOST, "begin == nullptr || code < begin ||", "begin == nullptr ||", "compile.reload"),
    Break("a table that is never used", HOST, "begin == nullptr || code < begin ||", "begin != nullptr ||", "compile.reload"),
    Break("an answer that is read without order", HOST, "__atomic_load_n(&entry->answers, __ATOMIC_ACQUIRE)", "entry->answers", "compile.sanitizers-threads"),
    Break("an answer that is written without order", HOST, "__atomic_fetch_or(&entry->answers, static_cast<unsigned long long>(answer) << (2 * device), __ATOMIC_ACQ_REL)", "entry->answers |= static_cast<unsigned long long>(answer) << (2 * device)", "compile.sanitizers-threads"),
    Break("a public function with another linkage", HOST, "PDL_NODISCARD PDL_API cudaError_t pdl_event_create(", "PDL_NODISCARD static inline cudaError_t pdl_event_create(", "compile.shared-object"),
    Break("an inner function with a symbol", HOST, "PDL_IMPL int pdl_impl_switched_on", "PDL_API int pdl_impl_switched_on", "compile.shared-object"),
    Break("a static function that warns", HOST, "PDL_IMPL_UNUSED PDL_API cudaError_t pdl_event_create", "PDL_API cudaError_t pdl_event_create", "compile.static"),
    Break("a read behind the table of splits", HOST, "for (i = 0; i < sizeof(splits); i++) {", "for (i = 0; i <= sizeof(splits); i++) {", "compile.sanitizers-gcc"),
    Break("a size query that adds to a null pointer", HOST, "    if (graph->handles != NULL) {\n        from = graph->handles + graph->num_nodes;\n    }\n", "    from = graph->handles + graph->num_nodes;\n", "compile.sanitizers-clang"),
    Break("no mark of erased waits", DEVICE, ".global .b8 pdl_wait_erased; ", ".global .b8 pdl_wait_other; ", "compile.erased-mark"),
    Break("a mark everywhere", DEVICE, "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n#elif defined(__CUDA_ARCH__)\n", "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n#endif\n#if defined(__CUDA_ARCH__)\n", "compile.erased-mark"),
    Break("a guard that only warns", DEVICE, "PDL_TARGET_GUARD + 0 > 1", "PDL_TARGET_GUARD + 0 > 2", "compile.target-guard"),
    Break("a guard that never warns", DEVICE, "PDL_TARGET_GUARD + 0 > 0\n#warning", "PDL_TARGET_GUARD + 0 > 1\n#warning", "compile.target-guard"),
    Break("a guard where all is well", DEVICE, "#if defined(__CUDA_ARCH__) && !PDL_HAS_DEVICE && defined(PDL_TARGET_GUARD)", "#if defined(__CUDA_ARCH__) && defined(PDL_TARGET_GUARD)", "compile.target-guard"),
    Break("a barrier without CUDA", DEVICE, "#if defined(__CUDACC__) || defined(__HIP__)\n    __syncthreads();\n#endif", "    __syncthreads();", "compile.without-cuda"),
    Break("templates in C", DEVICE, "#ifdef __cplusplus\n/* The same address", "#if 1\n/* The same address", "compile.without-cuda"),
    Break("a toolkit that is too old", HOST, "#if CUDART_VERSION < 11080", "#if CUDART_VERSION < 11000", "compile.refusals"),
    Break("a device switch from outside", DEVICE, "#error \"PDL_HAS_DEVICE is set", "#undef PDL_HAS_DEVICE\n//", "compile.refusals"),
    Break("a feature that cannot be set", HOST, "#ifndef PDL_HAS_CARVEOUT", "#undef PDL_HAS_CARVEOUT\n#ifndef PDL_HAS_CARVEOUT", "compile.features"),
    Break("a feature that is a version", HOST, "#define PDL_HAS_GRAPH_EDGES (CUDART_VERSION >= 12030)", "#define PDL_HAS_GRAPH_EDGES CUDART_VERSION", "compile.features"),
    Break("a feature a version late", HOST, "PDL_HAS_LAUNCH_COMPLETION_EVENT (CUDART_VERSION >= 12030)", "PDL_HAS_LAUNCH_COMPLETION_EVENT (CUDART_VERSION > 12030)", "compile.feature-versions"),
    Break("a version test elsewhere", HOST, "#if PDL_HAS_CARVEOUT", "#if CUDART_VERSION >= 12050", "compile.text"),
    Break("a version forgotten in line 1", DEVICE, "pdl_device.cuh - v0.", "pdl_device.cuh - v9.", "compile.text"),
    Break("one more include", HOST, "#include <stdlib.h>", "#include <stdlib.h>\n#include <stdio.h>", "compile.text"),
    Break("a list of architectures", DEVICE, "&& __CUDA_ARCH__ >= 900", "&& (__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)", "compile.text"),
    Break("a reserved name", HOST, "typedef struct pdl_shape {", "typedef struct pdl__shape {", "compile.text"),
    Break("restrict everywhere", DEVICE, "#define PDL_RESTRICT\n", "#define PDL_RESTRICT __restrict__\n", "compile.order"),
    Break("more than one waits", DEVICE, " && threadIdx.z == 0)", ")", "compile.order"),
    Break("x only", DEVICE, "threadIdx.x == 0 && threadIdx.y == 0 &&", "threadIdx.x == 0 &&", "compile.order"),
    Break("no clobber of the wait", DEVICE, "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n#elif", "    asm volatile(\"griddepcontrol.wait;\");\n#elif", "compile.text"),
    Break("no clobber of the trigger", DEVICE, "    asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n    PDL_STRESS_(false);", "    asm volatile(\"griddepcontrol.launch_dependents;\");\n    PDL_STRESS_(false);", "compile.text"),
    Break("no clobber of fresh", DEVICE, "asm volatile(\"\" : \"+l\"(address) : : \"memory\");", "asm volatile(\"\" : \"+l\"(address));", "compile.text"),
    Break("fresh that may be moved", DEVICE, "asm volatile(\"\" : \"+l\"(address) : : \"memory\");", "asm(\"\" : \"+l\"(address));", "compile.text"),
    Break("block form without fresh", DEVICE, "    return pdl_fresh(pointer);\n", "    return pointer;\n", "compile.ptx"),
    Break("a mark that may be dropped", DEVICE, "asm volatile(\"{ .global .b8", "asm(\"{ .global .b8", "compile.text"),
    Break("HIP as host", DEVICE, "#define PDL_DEVICE_ static __attribute__((device)) inline", "#define PDL_DEVICE_ static inline", "compile.without-cuda"),
    Break("HIP without barrier", DEVICE, "#if defined(__CUDACC__) || defined(__HIP__)\n    __syncthreads();", "#if defined(__CUDACC__)\n    __syncthreads();", "compile.without-cuda"),
    Break("outlined", DEVICE, "#define PDL_DEVICE_ static __device__ __forceinline__", "#define PDL_DEVICE_ static __device__ __noinline__", "compile.order"),
    Break("names left", DEVICE, "#undef PDL_DEVICE_\n", "", "compile.without-cuda"),
    Break("a prepared kernel that a launch writes", HOST, "    if (PDL_DEBUG || kernel == NULL", "    ((pdl_kernel *)(size_t)kernel)->num_params = 77;\n    if (PDL_DEBUG || kernel == NULL", "compile.sanitizers-threads"),
    *[Break(what, HOST, old, new, noticed_by) for what, old, new, noticed_by in LINES],
]


def broken(text: str, change: Break) -> str | None:
    return text.replace(change.old, change.new, 1) if change.old in text else None


CPU_S = 60  # a broken program that loops is ended by the time that it used, which no other load changes


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


def run(command: list[str]) -> int:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def verdict_of(change: Break, build: Path) -> str:
    """Builds what the test needs and runs it. A contract program has to fail when run; that it does not build is no proof."""
    if not change.noticed_by.startswith("compile."):
        if run(["cmake", "--build", str(build), "--target", f"headers_{change.noticed_by}"]) != 0:
            return "does not build"
    test = ["ctest", "--test-dir", str(build), "-R", f"^headers\\.{re.escape(change.noticed_by)}$"]
    done = subprocess.run(test, capture_output=True, text=True, check=False, preexec_fn=_limited)
    if "***Skipped" in done.stdout:
        return "skipped"
    return "noticed" if done.returncode != 0 else "NOT NOTICED"


def try_all(changes: list[Break], headers: Path, build: Path) -> int:
    originals = {name: (ROOT / name).read_text(encoding="utf-8") for name in (HOST, DEVICE)}
    verdicts: list[str] = []
    for change in changes:
        edited = broken(originals[change.file], change)
        for name, text in originals.items():
            (headers / name).write_text(text, encoding="utf-8")
        verdicts.append("does not apply")
        if edited is not None:
            (headers / change.file).write_text(edited, encoding="utf-8")
            verdicts[-1] = verdict_of(change, build)
        print(f"{verdicts[-1]:14} {change.noticed_by:28} {change.what}", flush=True)
    missed = verdicts.count("NOT NOTICED")
    useless = verdicts.count("does not apply") + verdicts.count("does not build") + verdicts.count("skipped")
    print(f"{len(verdicts)} breaks: {verdicts.count('noticed')} noticed, {missed} not, {useless} of no use here or any more")
    return 70 if useless else int(missed != 0)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression over description and test")
    parser.add_argument("--build", type=Path, help="build folder to use again; default: a temporary one")
    options = parser.parse_args(argv)
    changes = [change for change in BREAKS if re.search(options.only, f"{change.what} {change.noticed_by}")]
    with tempfile.TemporaryDirectory() as scratch:
        headers = Path(scratch) / "headers"
        headers.mkdir()
        for name in (HOST, DEVICE):
            (headers / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
        build = options.build or Path(scratch) / "build"
        if run(["cmake", "-S", str(HERE), "-B", str(build), f"-DPDL_HEADER_DIR={headers}"]) != 0:
            raise SystemExit("cmake failed: configure conformance/headers by hand to see why")
        if run(["cmake", "--build", str(build), "-j2"]) != 0 or run(["ctest", "--test-dir", str(build), "-j2"]) != 0:
            raise SystemExit("the tests fail on the unbroken headers")
        return try_all(changes, headers, build)
