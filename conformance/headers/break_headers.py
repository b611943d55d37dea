"""Breaks pdl.h and pdl_device.cuh on purpose, one line at a time, and shows that the named test notices.

A test that cannot fail proves nothing: every check of compile_checks.py and every promise that a contract program tests has
a break here. Run by hand (a few minutes): python3 conformance dev break-headers [--only PATTERN] [--build DIR]
compile.old-toolkits needs PDL_TOOLKIT_INCLUDES (include folders of other toolkits) in the environment, or it is skipped.
Exit codes: 0 every break was noticed, 1 one was not, 70 a break no longer applies, does not build, or its test is skipped.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conformance.headers.graph_breaks import CHECK, EDGES

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
    Break("an unused static helper", HOST, "PDL_API int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_API int pdl_impl_switched_on", "compile.warnings-gcc"),
    Break("an unused static helper", HOST, "PDL_API int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_API int pdl_impl_switched_on", "compile.warnings-clang"),
    Break("a C cast", HOST, "shared = s->kernel->static", "shared = (unsigned long long)s->kernel->static", "compile.warnings-g++"),
    Break("a C cast", HOST, "shared = s->kernel->static", "shared = (unsigned long long)s->kernel->static", "compile.warnings-clang++"),
    Break("a narrowing conversion", HOST, "PDL_IMPL_CAST(unsigned, there)", "there", "compile.warnings-gcc"),
    Break("an old prototype", HOST, "PDL_API int pdl_impl_switched_on", "PDL_API int pdl_impl_old() { return 0; }\nPDL_API int pdl_impl_switched_on", "compile.plain-include-gcc"),
    Break("an unused static helper", HOST, "PDL_API int pdl_impl_switched_on", "static int pdl_impl_unused(void) { return 0; }\nPDL_API int pdl_impl_switched_on", "compile.plain-include-clang"),
    Break("the wrong initialiser in C++", HOST, "#define PDL_ZERO {}", "#define PDL_ZERO {0}", "compile.warnings-g++"),
    Break("a mix-up in the debug path only", HOST, "size_t offset, size;", "int offset, size;", "compile.warnings-gcc"),
    Break("a name that only new toolkits have", HOST, "#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 12050)", "#define PDL_HAS_CARVEOUT (CUDART_VERSION >= 11080)", "compile.old-toolkits"),
    Break("an unused device variable", DEVICE, "#if PDL_HAS_DEVICE\n    PDL_STRESS_(true);", "    int unused;\n#if PDL_HAS_DEVICE\n    PDL_STRESS_(true);", "compile.nvcc-sm_80"),
    Break("an instruction that does not exist", DEVICE, "griddepcontrol.wait;", "griddepcontrol.waits;", "compile.nvcc-sm_90"),
    Break("an instruction that does not exist", DEVICE, "griddepcontrol.wait;", "griddepcontrol.waits;", "compile.nvcc-sm_100"),
    Break("an instruction that does not exist", DEVICE, "griddepcontrol.wait;", "griddepcontrol.waits;", "compile.nvcc-sm_120"),
    Break("no gate", DEVICE, "&& __CUDA_ARCH__ >= 900", "", "compile.nvcc-sm_80"),
    Break("volatile pointers", DEVICE, "const volatile void *any = pointer;", "const void *any = pointer;", "compile.nvcc-sm_90"),
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
    Break("a template parameter called T", DEVICE, "template <typename pdl_type>\nstatic __device__ __forceinline__ pdl_type *pdl_fresh(pdl_type *pointer)", "template <typename T>\nstatic __device__ __forceinline__ T *pdl_fresh(T *pointer)", "compile.hostile-macros-nvcc"),
    *[Break("a global", HOST, "PDL_API int pdl_impl_switched_on", "int pdl_impl_state;\nPDL_API int pdl_impl_switched_on", f"compile.no-symbols-{name}") for name in ("gcc", "clang", "g++", "clang++", "nvcc")],
    Break("results that may be ignored", HOST, "#define PDL_NODISCARD __attribute__((warn_unused_result))", "#define PDL_NODISCARD", "compile.refusals"),
    Break("a wrong number of typed arguments", HOST, "static_assert(sizeof...(pdl_params) == sizeof...(pdl_args)", "static_assert(true", "compile.refusals"),
    Break("a toolkit that is too old", HOST, "#if CUDART_VERSION < 11080", "#if CUDART_VERSION < 11000", "compile.refusals"),
    Break("a device switch from outside", DEVICE, "#error \"PDL_HAS_DEVICE is set", "#undef PDL_HAS_DEVICE\n//", "compile.refusals"),
    Break("a feature that cannot be set", HOST, "#ifndef PDL_HAS_CARVEOUT", "#undef PDL_HAS_CARVEOUT\n#ifndef PDL_HAS_CARVEOUT", "compile.features"),
    Break("a feature that is a version", HOST, "#define PDL_HAS_GRAPH_EDGES (CUDART_VERSION >= 12030)", "#define PDL_HAS_GRAPH_EDGES CUDART_VERSION", "compile.features"),
    Break("a version test elsewhere", HOST, "#if PDL_HAS_CARVEOUT", "#if CUDART_VERSION >= 12050", "compile.text"),
    Break("a version forgotten in line 1", DEVICE, "pdl_device.cuh - v0.", "pdl_device.cuh - v9.", "compile.text"),
    Break("one more include", HOST, "#include <stdlib.h>", "#include <stdlib.h>\n#include <stdio.h>", "compile.text"),
    Break("a list of architectures", DEVICE, "&& __CUDA_ARCH__ >= 900", "&& (__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)", "compile.text"),
    Break("a reserved name", HOST, "typedef struct pdl_shape {", "typedef struct pdl__shape {", "compile.text"),
    # prepare
    Break("the machine code decides", HOST, "filled.ptx_version = attributes.ptxVersion", "filled.ptx_version = attributes.binaryVersion", "contract.prepare"),
    Break("the target is not looked at", HOST, ": filled.ptx_version < 90  ", ": filled.ptx_version < 10  ", "contract.prepare"),
    Break("the device is not looked at", HOST, ": filled.cc < 90  ", ": filled.cc < 10  ", "contract.prepare"),
    Break("PDL_DISABLE=0 disables", HOST, "&& !(value[0] == '0' && value[1] == '\\0')", "", "contract.prepare"),
    Break("PDL_DISABLE= disables", HOST, "value[0] != '\\0' && ", "", "contract.prepare"),
    Break("PDL_DISABLE is not read", HOST, "pdl_impl_switched_on(\"PDL_DISABLE\") ?", "0 ?", "contract.prepare"),
    Break("an old description after an error", HOST, "    *kernel = filled;\n    PDL_IMPL_TRY(", "    PDL_IMPL_TRY(", "contract.prepare"),
    Break("NULL is prepared", HOST, "func != NULL || ptx_version > 0 ? cudaGetDevice", "1 ? cudaGetDevice", "contract.prepare"),
    Break("an error of a query is lost", HOST, "        PDL_IMPL_TRY(cudaDeviceGetAttribute(&values[i]", "        (void)(cudaDeviceGetAttribute(&values[i]", "contract.prepare"),
    Break("a limit of another axis", HOST, "PDL_IMPL_CAST(unsigned, values[3 + i])", "PDL_IMPL_CAST(unsigned, values[i])", "contract.prepare"),
    Break("a reason without a sentence", HOST, "reason < sizeof(texts)", "reason + 1 < sizeof(texts)", "contract.prepare"),
    Break("the last error is taken", HOST, "            return pdl_impl_error; ", "            return cudaGetLastError(); ", "contract.prepare"),
    # launch
    Break("overlap without being asked", HOST, "return kernel->can_overlap && options->overlap != 0", "return kernel->can_overlap", "contract.launch"),
    Break("overlap without being asked, by the short way", HOST, "    if (o->overlap != 0) {\n        pdl_impl_add(&attr", "    if (1) {\n        pdl_impl_add(&attr", "contract.launch"),
    Break("a value of 0, by the short way", HOST, "pdl_impl_add(&attr, &count, cudaLaunchAttributeProgrammaticStreamSerialization)\n            ->programmaticStreamSerializationAllowed = 1", "pdl_impl_add(&attr, &count, cudaLaunchAttributeProgrammaticStreamSerialization)\n            ->programmaticStreamSerializationAllowed = 0", "contract.launch"),
    Break("overlap without a wait, by the short way", HOST, " || !kernel->can_overlap ||", " ||", "contract.launch"),
    Break("the short way for everything", HOST, " || !pdl_impl_only_overlap(o) ||", " ||", "contract.launch"),
    Break("any shape by the short way", HOST, "o->overlap > 2 || pdl_impl_check_shape(kernel, grid, block, o)", "o->overlap > 2", "contract.refusals"),
    Break("an unknown overlap by the short way", HOST, "        o->overlap > 2 || pdl_impl_check_shape", "        pdl_impl_check_shape", "contract.refusals"),
    Break("a debug check that is skipped", HOST, "    if (PDL_DEBUG || kernel == NULL", "    if (kernel == NULL", "contract.debug"),
    Break("overlap without a wait", HOST, "return kernel->can_overlap && options", "return options", "contract.launch"),
    Break("a value of 0", HOST, "->programmaticStreamSerializationAllowed = 1", "->programmaticStreamSerializationAllowed = 0", "contract.launch"),
    Break("the kill switch is an error", HOST, "&& !PDL_IMPL_IS(kernel->reason, PDL_REASON_DISABLED) &&", "&&", "contract.launch"),
    Break("a cluster axis of 0", HOST, "o->cluster_y != 0 ? o->cluster_y : 1", "o->cluster_y", "contract.launch"),
    Break("no cooperative launch", HOST, "if (o->cooperative) {", "if (0) {", "contract.launch"),
    Break("priority 0 is none", HOST, "if (o->has_priority) {", "if (o->priority) {", "contract.launch"),
    Break("the wrong domain", HOST, "o->mem_sync_domain, PDL_DOMAIN_REMOTE) ?", "o->mem_sync_domain, PDL_DOMAIN_DEFAULT) ?", "contract.launch"),
    Break("101 percent", HOST, "PDL_IMPL_IS(o->carveout, PDL_CARVEOUT_NO_SHARED) ? 0 : o->carveout", "o->carveout", "contract.launch"),
    Break("further attributes are dropped", HOST, "    for (i = 0; i < o->num_attrs; i++) {\n        attrs[count++] = o->attrs[i];\n    }\n", "    (void)i;\n", "contract.launch"),
    Break("attributes are looked at with a count of 0", HOST, "(o->num_attrs != 0 && o->attrs == NULL)", "(o->attrs != NULL && o->attrs[0].id == 9)", "contract.launch"),
    Break("too few entries", HOST, "PDL_CARVEOUT_NO_SHARED, 16,", "PDL_CARVEOUT_NO_SHARED, 15,", "contract.launch"),
    Break("one CUDA call too many", HOST, "    config.gridDim = grid;", "    (void)cudaPeekAtLastError();\n    config.gridDim = grid;", "contract.launch"),
    Break("the stream is lost", HOST, "    config.stream = stream;\n", "", "contract.launch"),
    Break("shared memory is lost", HOST, "    config.dynamicSmemBytes = shared_bytes;\n", "", "contract.launch"),
    Break("a record behind a failed launch", HOST, "    PDL_IMPL_TRY(pdl_impl_launch_with(kernel,", "    (void)(pdl_impl_launch_with(kernel,", "contract.launch"),
    # refusals
    Break("a kernel of the driver", HOST, "(kernel->func == NULL && launching)", "0", "contract.refusals"),
    Break("an axis of 0", HOST, "grid.x - 1 >= k->max_grid[0]", "grid.x > k->max_grid[0]", "contract.refusals"),
    Break("an axis that is too large", HOST, "grid.z - 1 >= k->max_grid[2]", "grid.z == 0", "contract.refusals"),
    Break("too many threads", HOST, "* block.z > threads ?", "* block.z > 1024 ?", "contract.refusals"),
    Break("too many threads, in z", HOST, "* block.y * block.z > threads ?", "* block.y > threads ?", "contract.refusals"),
    Break("a cluster that does not divide", HOST, "(o->cluster_x != 0 && grid.x % o->cluster_x != 0) || ", "", "contract.refusals"),
    Break("a cluster that does not divide, in z", HOST, "(o->cluster_z != 0 && grid.z % o->cluster_z != 0)", "0", "contract.refusals"),
    *[Break(f"an unknown value of {value}", HOST, old, new, "contract.refusals") for value, old, new in (
        ("overlap", "        PDL_OVERLAP_REQUIRED, PDL_EVENT", "        99, PDL_EVENT"), ("event_trigger", "PDL_EVENT_AT_BLOCK_START, 1,", "99, 1,"),
        ("event_only", "BLOCK_START, 1, 1, 1,", "BLOCK_START, 99, 1, 1,"), ("cooperative", "BLOCK_START, 1, 1, 1,", "BLOCK_START, 1, 99, 1,"),
        ("has_priority", "BLOCK_START, 1, 1, 1,", "BLOCK_START, 1, 1, 99,"), ("mem_sync_domain", "PDL_DOMAIN_REMOTE, PDL", "99, PDL"),
        ("carveout", "PDL_CARVEOUT_NO_SHARED, 16", "199, 16"), ("num_attrs", "PDL_CARVEOUT_NO_SHARED, 16", "PDL_CARVEOUT_NO_SHARED, 99"))],
    *[Break("a contradiction", HOST, text, "0", "contract.refusals") for text in (
        "(o->event_trigger != 0 && o->event == NULL)", "(o->priority != 0 && o->has_priority == 0)",
        "(o->event_only != 0 && o->event == NULL && o->launch_completion_event == NULL)",
        "(o->event != NULL && o->event == o->launch_completion_event)", "(o->num_attrs != 0 && o->attrs == NULL)")],
    *[Break(f"attribute {number} twice", HOST, "launching ? 0x75d4 : 0x55d4", f"(launching ? 0x75d4 : 0x55d4) & ~{1 << number}", "contract.refusals")
      for number in (2, 4, 6, 7, 8, 10, 12, 14)],
    Break("a handle that is lost", HOST, "launching ? 0x75d4 : 0x55d4", "0x55d4", "contract.refusals"),
    Break("required overlap that cannot be had", HOST, "!= NULL : 1)", "!= NULL : 0)", "contract.refusals"),
    Break("an event into nowhere", HOST, "return event != NULL ? cudaEventCreateWithFlags(event", "return 1 ? cudaEventCreateWithFlags(event", "contract.refusals"),
    # events
    Break("an event with timing", HOST, "(event, cudaEventDisableTiming)", "(event, cudaEventDefault)", "contract.events"),
    Break("the event is dropped", HOST, "if (o->event != NULL && !carried) {", "if (0) {", "contract.events"),
    Break("the launch-completion event is dropped", HOST, "o->launch_completion_event != NULL && !(carried", "0 && !(carried", "contract.events"),
    Break("the event is recorded twice", HOST, "if (o->event != NULL && !carried) {", "if (o->event != NULL) {", "contract.events"),
    Break("the event is recorded before the launch", HOST, "    PDL_IMPL_TRY(pdl_impl_launch_with(kernel,", "    PDL_IMPL_TRY(pdl_impl_record_behind(kernel, o, stream));\n    return (pdl_impl_launch_with(kernel,", "contract.events"),
    Break("always at the trigger", HOST, "PDL_IMPL_IS(o->event_trigger, PDL_EVENT_AT_BLOCK_START);", "0;", "contract.events"),
    Break("event_only starts early", HOST, "if (!o->event_only) {", "if (1) {", "contract.events"),
    Break("an error of a record is lost", HOST, "        PDL_IMPL_TRY(cudaEventRecord(o->event, stream));", "        (void)cudaEventRecord(o->event, stream);", "contract.events"),
    # other launchers
    Break("capacity is not looked at", HOST, "count > capacity || (count", "(count", "contract.attributes"),
    Break("a kernel nobody prepared", HOST, " || (!kernel->can_overlap && kernel->reason == 0) ||", " ||", "contract.attributes"),
    Break("13 for nobody", HOST, "launching ? 0x75d4 : 0x55d4", "0x75d4", "contract.attributes"),
    Break("a count after an error", HOST, "    *num_attrs = 0;\n", "", "contract.attributes"),
    Break("records without a check", HOST, "    PDL_IMPL_TRY(pdl_impl_check(kernel, o, 0));\n    return pdl_impl_record", "    return pdl_impl_record", "contract.attributes"),
    # estimate
    Break("block slots", HOST, "    side->block.of[0] = 1;\n", "", "contract.estimate"),
    Break("threads in warps", HOST, "(threads + sm->of[5] - 1) / sm->of[5] * sm->of[5]", "threads", "contract.estimate"),
    Break("registers in steps", HOST, "+ 7u) / 8u * 8u", "+ 0u)", "contract.estimate"),
    Break("shared memory", HOST, "    side->block.of[3] = shared +", "    side->block.of[3] =", "contract.estimate"),
    Break("the most loaded multiprocessor", HOST, "blocks <= wave ? last / sm.of[4] :", "blocks <= wave ? (last + sm.of[4] - 1) / sm.of[4] :", "contract.estimate"),
    Break("the first wave counts", HOST, "last = (blocks - 1) % wave + 1;", "last = blocks < wave ? blocks : wave;", "contract.estimate"),
    Break("a last wave that spreads evenly", HOST, "blocks <= wave ? last / sm.of[4] :", "1 ? last / sm.of[4] :", "contract.estimate"),
    Break("waves", HOST, "(blocks - 1) / wave + 1", "blocks / wave + 1", "contract.estimate"),
    Break("too small a split", HOST, "first.split < second.least ||", "", "contract.estimate_measured"),
    Break("too large a split", HOST, "|| first.split > second.most ?", "?", "contract.estimate"),
    Break("the primary's own blocks in its split", HOST, "        sm.of[3] = first.split;\n", "", "contract.estimate"),
    Break("an idle multiprocessor", HOST, "if (fit != 0 && there != 0) {", "if (fit != 0) {", "contract.estimate"),
    Break("room for all blocks", HOST, "side->least = all;", "side->least = one;", "contract.estimate"),
    Break("a split of its own", HOST, "shared != 0 ? all + 1 : 4096", "shared != 0 ? all : 4096", "contract.estimate"),
    Break("a split without shared memory", HOST, "(side->alone < 8 ? side->alone : 8)", "8", "contract.estimate_measured"),
    Break("a carve-out is a need", HOST, "side->least = pdl_impl_split(sm, asked) < all ? pdl_impl_split(sm, asked) : all;", "side->least = pdl_impl_split(sm, asked);", "contract.estimate_measured"),
    Break("a carve-out without CUDA's own", HOST, "asked * side->block.of[3] / shared : asked", "asked : asked", "contract.estimate_measured"),
    Break("splits of any size", HOST, "splits[i] * 1024ull < bytes", "0", "contract.estimate_measured"),
    Break("the function's own carve-out", HOST, "of_launch == 0 ? s->kernel->preferred_carveout :", "of_launch == 0 ? -1 :", "contract.estimate"),
    *[Break(f"reason {name}", HOST, f"? PDL_REASON_{name}", "? PDL_REASON_NONE", "contract.estimate") for name in (
        "NOT_ASKED", "DEVICES", "NO_TRIGGER", "BLOCKING", "COOPERATIVE")],
    Break("sizes that wrap around", HOST, "s->shared_bytes < absurd ? s->shared_bytes : absurd", "s->shared_bytes + (absurd - absurd)", "contract.estimate"),
    Break("a block that no multiprocessor holds", HOST, "return side->alone == 0 ? cudaErrorInvalidConfiguration :", "return 0 ? cudaErrorInvalidConfiguration :", "contract.estimate"),
    # the rest
    Break("another device", HOST, "return device != kernel->device ? cudaErrorInvalidDevice", "return 0 ? cudaErrorInvalidDevice", "contract.debug"),
    Break("a wrong number of arguments", HOST, " && num_args != (size_t)kernel->num_params", " && num_args > 99", "contract.debug"),
    Break("no arguments at all", HOST, "args == NULL && kernel->num_params > 0 ?", "0 ?", "contract.debug"),
    Break("the error of counting stays", HOST, "count = PDL_IMPL_IS(cudaGetLastError(),", "count = PDL_IMPL_IS(cudaPeekAtLastError(),", "contract.debug"),
    Break("counting takes a pending error", HOST, "if (!cudaPeekAtLastError()) {", "{", "contract.debug"),
    Break("a launch that writes into the kernel", HOST, "    config.gridDim = grid;", "    ((pdl_kernel *)(size_t)kernel)->num_params = (int)count;\n    config.gridDim = grid;", "contract.threads"),
    Break("always the legacy stream", HOST, "config.stream = stream;", "config.stream = stream != NULL ? stream : cudaStreamLegacy;", "contract.per_thread_stream"),
    Break("no launch-completion events, and none behind", HOST, "!(carried && PDL_HAS_LAUNCH_COMPLETION_EVENT)", "!carried", "contract.off_path"),
    Break("no carve-out, and no error", HOST, "return !PDL_HAS_CARVEOUT && o->carveout != 0 ?", "return 0 ?", "contract.off_path"),
    Break("no domains, and no error", HOST, "if (!PDL_HAS_MEM_SYNC_DOMAIN && o->mem_sync_domain != 0) {", "if (0) {", "contract.off_path"),
    Break("no overlap, and no reason", HOST, ": !PDL_HAS_OVERLAP ", ": 0 ", "contract.off_path"),
    Break("required launch-completion events", HOST, "!PDL_HAS_LAUNCH_COMPLETION_EVENT && o->launch_completion_event != NULL : 1", "0 : 1", "contract.off_path"),
    Break("another function's type", HOST, "kernel == nullptr || kernel->func != reinterpret_cast<const void *>(func)", "kernel == nullptr", "contract.typed"),
    Break("typed arguments to a null kernel", HOST, "kernel == nullptr || kernel->func", "kernel->func", "contract.typed"),
    Break("linker symbols", HOST, "#define PDL_API static inline", "#define PDL_API __attribute__((weak, noinline))", "copies.c"),
    Break("linker symbols of templates", HOST, "#define PDL_API static inline", "#define PDL_API inline __attribute__((noinline))", "copies.cxx"),
    *[Break(what, HOST, old, new, noticed_by) for what, old, new, noticed_by in (*EDGES, *CHECK)],
]


def broken(text: str, change: Break) -> str | None:
    return text.replace(change.old, change.new, 1) if change.old in text else None


def run(command: list[str]) -> int:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def verdict_of(change: Break, build: Path) -> str:
    """Builds what the test needs and runs it. A contract program has to fail when run; that it does not build is no proof."""
    if not change.noticed_by.startswith("compile."):
        if run(["cmake", "--build", str(build), "--target", f"headers_{change.noticed_by}"]) != 0:
            return "does not build"
    test = ["ctest", "--test-dir", str(build), "-R", f"^headers\\.{re.escape(change.noticed_by)}$"]
    done = subprocess.run(test, capture_output=True, text=True, check=False)
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
