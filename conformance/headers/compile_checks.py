"""Compile checks of pdl.h and pdl_device.cuh: one check per call, none of them runs anything on a GPU.

Exit codes: 0 the check holds, 1 it does not, 77 a compiler or library it needs is missing.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.headers.break_headers import BREAKS, ROOT

SKIP = 77
UNITS = Path(__file__).resolve().parent / "units"

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]
C_WARNINGS = [*WARNINGS, "-Wstrict-prototypes"]
CXX_WARNINGS = [*WARNINGS, "-Wold-style-cast"]
C_STANDARDS = ["c99", "c11", "c17"]
CXX_STANDARDS = ["c++11", "c++14", "c++17", "c++20"]
FEATURES = ["OVERLAP", "MEM_SYNC_DOMAIN", "LAUNCH_COMPLETION_EVENT", "GRAPH_EDGES", "PARAM_INFO", "CARVEOUT"]
VARIANTS = [[], ["-DPDL_DEBUG=1"], [f"-DPDL_HAS_{name}=0" for name in FEATURES]]


class Missing(Exception):
    """A compiler or library is not there, so the check says nothing."""


class Broken(Exception):
    """The check does not hold."""


@dataclass(frozen=True)
class Place:
    """Where the headers, the toolkit and a scratch folder are."""

    headers: Path
    cuda: Path
    work: Path

    @property
    def toolkit_includes(self) -> Path:
        return self.cuda / "include"


def find(name: str, place: Place | None = None) -> str:
    bundled = str(place.cuda / "bin" / name) if place else None
    found = (bundled and shutil.which(bundled)) or shutil.which(name)
    if not found:
        raise Missing(f"{name} is not installed")
    return found


def call(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def must_pass(command: list[str]) -> str:
    done = call(command)
    if done.returncode != 0:
        raise Broken(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def must_fail(command: list[str], pattern: str) -> None:
    done = call(command)
    if done.returncode == 0:
        raise Broken(f"compiled, but should not: {' '.join(command)}")
    if not re.search(pattern, done.stderr):
        raise Broken(f"failed, but not with '{pattern}': {' '.join(command)}\n{done.stderr}")


def host(compiler: str, place: Place, standard: str, source: Path, *flags: str) -> list[str]:
    """A host compile to nowhere, with the toolkit as system headers."""
    language = "c++" if standard.startswith("c++") else "c"
    return [find(compiler), f"-std={standard}", *flags, "-I", str(place.headers), "-isystem", str(place.toolkit_includes),
            "-x", language, "-c", str(source), "-o", os.devnull]


def nvcc(place: Place, target: str, source: Path, *flags: str, output: str = os.devnull) -> list[str]:
    """A strict compile for one architecture, or for several with spaces between them."""
    numbers = [arch.removeprefix("sm_") for arch in target.split()]
    code = [f"-gencode=arch=compute_{number},code=[sm_{number},compute_{number}]" for number in numbers]
    return [find("nvcc", place), *code, "-std=c++17", "-Werror", "all-warnings", "-Xcompiler",
            "-Wall,-Wextra,-Werror", "-I", str(place.headers), *flags, "-c", str(source), "-o", output]


# ---- warnings ----

def check_warnings(compiler: str, place: Place) -> None:
    """Every standard and variant, without a warning."""
    if "++" in compiler:
        sources, standards, flags = ["host_all.c", "host_typed.cpp"], CXX_STANDARDS, CXX_WARNINGS
    else:
        sources, standards, flags = ["host_all.c"], C_STANDARDS, C_WARNINGS
    for standard, source, variant in itertools.product(standards, sources, VARIANTS):
        must_pass(host(compiler, place, standard, UNITS / source, *flags, *variant))


def check_plain_include(compiler: str, place: Place) -> None:
    """C11 without -isystem: nothing of ours is added to what the toolkit does by itself."""
    must_pass([find(compiler), "-std=c11", *C_WARNINGS, "-I", str(place.headers), "-I", str(place.toolkit_includes),
               "-c", str(UNITS / "host_all.c"), "-o", os.devnull])


NVCC_TARGETS = "sm_80 sm_90 sm_100 sm_120"
NVCC_FLAGS: dict[str, list[str]] = {"plain": [], "rdc": ["-rdc=true"], "debug": ["-G"]}


def check_nvcc(flags: list[str], target: str, place: Place) -> None:
    """All of the device half, for these architectures by one call: what the host compiler does takes half of it."""
    must_pass(nvcc(place, target, UNITS / "device_all.cu", *flags))


def check_old_toolkits(place: Place) -> None:
    """The headers of other toolkits, as far as PDL_TOOLKIT_INCLUDES (a path list) names them."""
    folders = [Path(name) for name in os.environ.get("PDL_TOOLKIT_INCLUDES", "").split(os.pathsep) if name]
    if not folders:
        raise Missing("PDL_TOOLKIT_INCLUDES names no include folders of other toolkits")
    for folder, (compiler, standard, source) in itertools.product(
            folders, [("gcc", "c99", "host_all.c"), ("g++", "c++11", "host_typed.cpp")]):
        if not (folder / "cuda_runtime_api.h").is_file():
            raise Broken(f"{folder} has no cuda_runtime_api.h")
        other = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", str(place.headers), "-isystem", str(folder)]
        language = "c++" if source.endswith("cpp") else "c"
        for variant in VARIANTS[:2]:
            must_pass([find(compiler), f"-std={standard}", *other, *variant, "-x", language, "-c", str(UNITS / source),
                       "-o", os.devnull])


# ---- vendoring: copies, names, symbols ----

def copy_with(place: Place, folder: str, old: str, new: str) -> Path:
    """A copy of pdl.h in which one text is another."""
    text = (place.headers / "pdl.h").read_text(encoding="utf-8")
    if old not in text:
        raise Broken(f"pdl.h does not contain '{old}'")
    target = place.work / folder / "pdl.h"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace(old, new), encoding="utf-8")
    return target


def check_copies_in_one_unit(place: Place) -> None:
    """Another minor version is silent, another major one is an error that says what to do."""
    now = re.search(r"#define PDL_VERSION_MINOR \d+", (place.headers / "pdl.h").read_text(encoding="utf-8"))
    minor = copy_with(place, "minor", now[0] if now else "#define PDL_VERSION_MINOR", "#define PDL_VERSION_MINOR 99")
    major_text = copy_with(place, "major", "#define PDL_VERSION_MAJOR 0", "#define PDL_VERSION_MAJOR 1")
    major_text.write_text(major_text.read_text(encoding="utf-8").replace("PDL_VERSION_MAJOR != 0", "PDL_VERSION_MAJOR != 1"),
                          encoding="utf-8")
    for other, standard in itertools.product((minor, major_text), ("c99", "c++11")):
        unit = place.work / f"copies_{other.parent.name}.c"
        for first, second in ((place.headers / "pdl.h", other), (other, place.headers / "pdl.h")):
            unit.write_text(f'#include "{first}"\n#include "{second}"\n', encoding="utf-8")
            command = host("g++" if "+" in standard else "gcc", place, standard, unit, *WARNINGS)
            if other is minor:
                must_pass(command)
            else:
                must_fail(command, "different major version")


def check_includes(place: Place) -> None:
    """Included twice, and inside extern "C"."""
    must_pass(host("gcc", place, "c99", UNITS / "twice.c", *C_WARNINGS))
    must_pass(host("g++", place, "c++11", UNITS / "twice.c", *CXX_WARNINGS))
    must_pass(host("g++", place, "c++11", UNITS / "inside_extern_c.cpp", *CXX_WARNINGS))


def check_includes_nvcc(place: Place) -> None:
    twice = place.work / "twice.cu"
    shutil.copy(UNITS / "twice.c", twice)
    must_pass(nvcc(place, "sm_90", twice))


def hostile_unit(place: Place, name: str, includes: list[str]) -> Path:
    unit = place.work / name
    lines = ["cuda_runtime_api.h", "stddef.h", "stdlib.h"]
    unit.write_text("".join(f"#include <{line}>\n" for line in lines)
                    + f'#include "{UNITS / "hostile_macros.h"}"\n'
                    + "".join(f'#include "{line}"\n' for line in includes), encoding="utf-8")
    return unit


def check_hostile_macros(place: Place) -> None:
    """Names that other headers define as macros do not reach our code."""
    unit = hostile_unit(place, "hostile.c", ["pdl.h"])
    must_pass(host("gcc", place, "c99", unit, *C_WARNINGS))
    must_pass(host("g++", place, "c++11", unit, *CXX_WARNINGS))


def check_hostile_macros_nvcc(place: Place) -> None:
    unit = hostile_unit(place, "hostile.cu", ["pdl.h", "pdl_device.cuh"])
    must_pass(nvcc(place, "sm_90", unit))


def symbols(place: Place, command: list[str], name: str) -> str:
    target = place.work / name
    must_pass([*command[:-1], str(target)])
    return must_pass([find("nm"), str(target)])


def check_no_symbols(compiler: str, place: Place) -> None:
    """A unit that includes pdl.h and uses nothing has an empty symbol table, also without optimisation."""
    standard = "c++11" if "++" in compiler else "c99"
    for level in ("-O0", "-O2"):
        found = symbols(place, host(compiler, place, standard, UNITS / "nothing.c", level), f"nothing_{compiler}.o")
        if found.strip():
            raise Broken(f"{compiler} {level} leaves symbols:\n{found}")


def check_no_symbols_nvcc(place: Place) -> None:
    target = str(place.work / "nothing_nvcc.o")
    must_pass(nvcc(place, "sm_90", UNITS / "nothing.cu", output=target))
    found = must_pass([find("nm"), target])
    if "pdl" in found.replace("nothing", ""):
        raise Broken(f"nvcc leaves symbols:\n{found}")


# ---- what must not compile ----

def refused(place: Place, name: str, standard: str, body: str, pattern: str, *flags: str) -> None:
    unit = place.work / name
    unit.write_text('#include "pdl.h"\n' + body, encoding="utf-8")
    must_fail(host("g++" if "+" in standard else "gcc", place, standard, unit, *flags), pattern)


def check_refusals(place: Place) -> None:
    """Ignored results, a wrong number or type of typed arguments, a toolkit that is too old."""
    ignored = "void f(pdl_kernel *k, const void *a);\nvoid f(pdl_kernel *k, const void *a) { pdl_kernel_init(k, a); }\n"
    for standard in ("c99", "c++11", "c++17"):
        refused(place, f"ignored_{standard}.c", standard, ignored, "unused-result", "-Werror")
    typed = ("void k(int, float *);\ncudaError_t f(pdl_kernel *p, const pdl_options *o, float *x)\n"
             "{{ return pdl_launch(p, k, 1, 1, 0, 0, o, {}); }}\n")
    refused(place, "few.cpp", "c++11", typed.format("1"), "no matching function")
    refused(place, "many.cpp", "c++11", typed.format("1, x, x"), "no matching function")
    refused(place, "wrong.cpp", "c++11", typed.format("1, 2.0"), "cannot convert .?double|double")
    old = place.work / "old" / "cuda_runtime_api.h"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text("#define CUDART_VERSION 11070\n", encoding="utf-8")
    refused(place, "old.c", "c99", "", "needs CUDA Toolkit 11.8", "-I", str(old.parent))
    must_fail(nvcc(place, "sm_90", UNITS / "device_all.cu", "-DPDL_HAS_DEVICE=0"), "set by pdl_device.cuh alone")


# ---- text ----

def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise Broken(sentence)


def check_text(place: Place) -> None:
    """One version, one block for toolkits, the includes, the sizes, no reserved names."""
    host_text = (place.headers / "pdl.h").read_text(encoding="utf-8")
    device_text = (place.headers / "pdl_device.cuh").read_text(encoding="utf-8")
    numbers = [re.search(rf"#define PDL_VERSION_{part} (\d+)", host_text) for part in ("MAJOR", "MINOR", "PATCH")]
    version = ".".join(found.group(1) if found else "?" for found in numbers)
    expect(host_text.startswith(f"/* pdl.h - v{version} - "), f"line 1 of pdl.h does not say v{version}")
    expect(device_text.startswith(f"/* pdl_device.cuh - v{version} - "), f"line 1 of pdl_device.cuh does not say v{version}")

    before, _, rest = host_text.partition("/* ---- toolkit differences")
    block, _, after = rest.partition("/* ---- language")
    expect("CUDART_VERSION" in block, "the block of toolkit differences is gone")
    expect("CUDART_VERSION" not in before + after.replace("\\", ""), "CUDART_VERSION outside the block of toolkit differences")
    expect("CUDART_VERSION" not in device_text, "CUDART_VERSION in pdl_device.cuh")

    includes = re.findall(r"^\s*#\s*include\s+(\S+)", host_text, re.M)
    expect(includes == ["<cuda_runtime_api.h>", "<stddef.h>", "<stdlib.h>"], f"pdl.h includes {includes}")
    expect(not re.search(r"^\s*#\s*include", device_text, re.M), "pdl_device.cuh includes something")
    gates = re.findall(r"__CUDA_ARCH__\s*[<>=!][^\n]*", re.sub(r"/\*.*?\*/", "", device_text, flags=re.S))
    expect(gates == ["__CUDA_ARCH__ >= 900"], f"pdl_device.cuh gates on {gates}")

    expect(len(host_text.splitlines()) <= 3000, "pdl.h has more than 3000 lines")
    expect(len(device_text.splitlines()) <= 320, "pdl_device.cuh has more than 320 lines")
    for statement in re.findall(r"^\s*(asm\b.*)$", device_text, re.M):
        ordered = "memory" in statement or statement.startswith(("asm volatile(\"mov", "asm volatile(\"{"))
        expect("asm volatile(" in statement and ordered, f"a compiler may move accesses across this, or remove it: {statement}")
    names = set(re.findall(r"^#define (\w+)", host_text + device_text, re.M))
    expect(all(name.startswith("PDL_") for name in names), f"macros without PDL_: {sorted(names)}")
    reserved = re.findall(r"\b(?:pdl__\w*|_pdl\w*|_PDL\w*|PDL__\w*)", host_text + device_text)
    expect(not reserved, f"reserved names: {reserved}")


def check_breaks(place: Place) -> None:
    """Each entry of break_headers.py still finds what it breaks, in the headers of this tree."""
    stale = [f"{change.what} ({change.noticed_by})" for change in BREAKS
             if change.old not in (ROOT / change.file).read_text(encoding="utf-8")]
    expect(not stale, "break_headers.py breaks what is no longer there: " + ", ".join(stale))


def check_features(place: Place) -> None:
    """PDL_HAS_* are 0 or 1 in #if, as they come and when set from outside; with -Wundef, so they exist."""
    unit = place.work / "features.c"
    body = "".join(f"#if PDL_HAS_{name} != 0 && PDL_HAS_{name} != 1\n#error {name}\n#endif\n" for name in FEATURES)
    unit.write_text('#include "pdl.h"\n' + body, encoding="utf-8")
    for flags in ([], [f"-DPDL_HAS_{name}=0" for name in FEATURES]):
        must_pass(host("gcc", place, "c99", unit, *C_WARNINGS, *flags))
    unit.write_text('#include "pdl.h"\n' + "".join(f"#if PDL_HAS_{name}\n#error {name}\n#endif\n" for name in FEATURES),
                    encoding="utf-8")
    must_pass(host("gcc", place, "c99", unit, *C_WARNINGS, *[f"-DPDL_HAS_{name}=0" for name in FEATURES]))


SINCE = {"OVERLAP": 11080, "MEM_SYNC_DOMAIN": 12000, "LAUNCH_COMPLETION_EVENT": 12030, "GRAPH_EDGES": 12030, "PARAM_INFO": 12040,
         "CARVEOUT": 12050}


def check_feature_versions(place: Place) -> None:
    """Each PDL_HAS_* begins with the toolkit that brought it: preprocessed only, with a toolkit that is nothing but its version."""
    unit, toolkit = place.work / "since.c", place.work / "cuda_runtime_api.h"
    for version in sorted({version + step for version in SINCE.values() for step in (-1, 0)} - {11079}):
        toolkit.write_text(f"#define CUDART_VERSION {version}\n", encoding="utf-8")
        unit.write_text('#include "pdl.h"\n' + "".join(
            f"#if PDL_HAS_{name} != {int(version >= since)}\n#error {name} with {version}\n#endif\n" for name, since in SINCE.items()),
            encoding="utf-8")
        must_pass([find("gcc"), "-E", "-I", str(place.work), "-I", str(place.headers), str(unit), "-o", os.devnull])


# ---- device code ----

def count_instructions(ptx: str) -> tuple[int, int]:
    return ptx.count("griddepcontrol.wait"), ptx.count("griddepcontrol.launch_dependents")


def check_ptx(place: Place) -> None:
    """copy: one trigger and one wait; the other two: one wait and one barrier. Below compute_90: the barriers only."""
    for arch, expected in (("compute_80", (0, 0)), ("compute_90", (3, 1)), ("compute_120", (3, 1))):
        target = place.work / f"{arch}.ptx"
        command = [find("nvcc", place), f"-arch={arch}", "-I", str(place.headers), "-ptx", str(UNITS / "device_all.cu")]
        must_pass([*command, "-o", str(target)])
        ptx = target.read_text(encoding="utf-8")
        expect(count_instructions(ptx) == expected, f"{arch}: (waits, triggers) is {count_instructions(ptx)}, not {expected}")
        expect(ptx.count("bar.sync") == 2, f"{arch}: pdl_wait_block without its barrier")
        if arch != "compute_80":
            check_waiting_bodies(arch, function(ptx, "one_waits"), function(ptx, "restricted"))


def check_erased_mark(place: Place) -> None:
    """An image whose waits are gone has the mark, whatever it says that it was compiled for; other images have none."""
    for code, marked in (("arch=compute_80,code=sm_80", True), ("arch=compute_80,code=sm_90", True), ("arch=compute_90,code=sm_90", False)):
        target = place.work / "mark.cubin"
        must_pass([find("nvcc", place), "-gencode", code, "-I", str(place.headers), "-cubin", str(UNITS / "device_all.cu"),
                   "-o", str(target)])
        expect((b"pdl_wait_erased" in target.read_bytes()) == marked,
               f"{code}: the mark of erased waits is {'missing' if marked else 'there'}")


def check_target_guard(place: Place) -> None:
    """PDL_TARGET_GUARD: an error or a warning below compute_90, nothing from there on and nothing in host code."""
    unit = UNITS / "device_all.cu"
    must_fail(nvcc(place, "sm_80", unit, "-DPDL_TARGET_GUARD=2"), "add sm_90")
    must_fail(nvcc(place, "sm_80", unit, "-DPDL_TARGET_GUARD=1"), "add sm_90")  # warnings are errors here
    lenient = [find("nvcc", place), "-arch=sm_80", "-I", str(place.headers), "-c", str(unit), "-o", os.devnull]
    must_fail([*lenient, "-DPDL_TARGET_GUARD=2"], "add sm_90")
    done = call([*lenient, "-DPDL_TARGET_GUARD=1"])
    expect(done.returncode == 0 and "add sm_90" in done.stderr, "PDL_TARGET_GUARD=1 is not a warning")
    for value in ("0", "1", "2"):
        must_pass(nvcc(place, "sm_90", unit, f"-DPDL_TARGET_GUARD={value}"))
    must_pass(nvcc(place, "sm_80", unit, "-DPDL_TARGET_GUARD=0"))


def check_without_cuda(place: Place) -> None:
    """pdl_device.cuh in host compilers, in C and C++: every function is there and does nothing; as HIP, with its attributes."""
    unit = UNITS / "without_cuda.cpp"
    for compiler in ("g++", "clang++"):
        command = [find(compiler), "-std=c++11", *CXX_WARNINGS, "-I", str(place.headers), str(unit), "-o", str(place.work / "without")]
        must_pass(command)
        must_pass([str(place.work / "without")])
    plain = place.work / "without.c"
    plain.write_text('#include "pdl_device.cuh"\n#if defined(PDL_DEVICE_) || defined(PDL_STRESS_)\n#error its own macros stay\n#endif\n'
                     '#define TEXT_OF(macro) #macro\n#define TEXT(macro) TEXT_OF(macro)\n'
                     'typedef char promised[sizeof(TEXT(PDL_RESTRICT)) == sizeof("__restrict__") ? 1 : -1];\n'
                     'int main(void) { pdl_trigger(); pdl_wait(); return PDL_HAS_DEVICE; }\n', encoding="utf-8")
    for compiler in ("gcc", "clang"):
        must_pass([find(compiler), "-std=c99", *C_WARNINGS, "-I", str(place.headers), str(plain), "-o", str(place.work / "without")])
        must_pass([str(place.work / "without")])
    seen = must_pass([find("g++"), "-E", "-P", "-D__HIP__=1", "-I", str(place.headers), str(UNITS / "without_cuda.cpp")])
    device = seen.count("static __attribute__((device)) inline ")
    expect((device, seen.count("__syncthreads();")) == (4, 1), f"as HIP, {device} of 4 functions are for the device, or no barrier")
    hip = place.work / "hip.cpp"
    hip.write_text("#define __HIP__ 1\n#define __device__ __attribute__((device))\nextern \"C\" __device__ void __syncthreads();\n"
                   '#include "pdl_device.cuh"\n__device__ float f(float *p) { pdl_trigger(); pdl_wait(); return *pdl_wait_block(p); }\n',
                   encoding="utf-8")
    must_pass([find("clang++"), "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-U__CUDACC__", "-Wno-unknown-cuda-version",
               "-Wno-builtin-macro-redefined", "-I", str(place.headers), "-fsyntax-only", str(hip)])


def check_order(place: Place) -> None:
    """Accesses stay on their side of wait and trigger, no load is promised to be constant, one thread of a block waits."""
    target = place.work / "order.ptx"
    for arch in ("compute_90", "compute_120"):
        must_pass([find("nvcc", place), f"-arch={arch}", "-I", str(place.headers), "-ptx", str(UNITS / "device_order.cu"),
                   "-o", str(target)])
        ptx = target.read_text(encoding="utf-8")
        for name, wanted in (("reads_on_both_sides", ["ld", "wait", "ld", "st"]), ("is_fresh_twice", ["ld", "wait", "ld", "st"]),
                             ("stores_on_both_sides", ["st", "launch_dependents", "st"]),
                             ("shares_code_with_old_targets", ["wait", "ld", "st"]), ("one_thread_of_a_block", ["wait", "st"])):
            body = function(ptx, name)
            found = re.findall(r"\b(ld|st)\.global|griddepcontrol\.(wait|launch_dependents)", body)
            expect([access or control for access, control in found] == wanted, f"{arch}: {name} has {found}, not {wanted}")
            expect(".nc" not in body, f"{arch}: {name} reads through the cache for constants")
        axes = set(re.findall(r"%tid\.(\w)", function(ptx, "one_thread_of_a_block")))
        expect(axes == {"x", "y", "z"}, f"{arch}: which thread waits depends on {sorted(axes)} alone")


def function(ptx: str, name: str) -> str:
    body = ptx[re.search(rf"\.entry \w*{name}", ptx).start():]  # type: ignore[union-attr]
    return body[:body.index("\n}")]


def check_waiting_bodies(arch: str, one_waits: str, restricted: str) -> None:
    barrier = one_waits.index("bar.sync")
    expect(0 < one_waits.index("griddepcontrol.wait") < barrier, f"{arch}: the barrier is not behind the wait")
    loads = [found.start() for found in re.finditer(r"\bld\.global", one_waits)]
    expect(bool(loads) and min(loads) > barrier, f"{arch}: a load is above the barrier, or generic")
    late = re.findall(r"\bld\.global\S*", restricted[restricted.index("bar.sync"):])
    expect(late == ["ld.global.f32"], f"{arch}: behind the wait, fresh pointers should load once and plainly, not {late}")
    addresses = re.findall(r"\bld\.global\S*\s+\S+, \[(%\w+)\]", restricted)
    expect(len(set(addresses)) == 2, f"{arch}: the compiler knows what a fresh pointer points to: both loads are from {addresses}")


def check_nvrtc(place: Place) -> None:
    """pdl_device.cuh alone, without an include path."""
    library = load_nvrtc(place)
    kernel = ('\nextern "C" __global__ void k(float *o, const float *i)\n'
              "{ pdl_trigger(); pdl_wait(); const float *f = pdl_wait_block(i); pdl_fresh(o)[0] = f[0]; }\n")
    source = (place.headers / "pdl_device.cuh").read_text(encoding="utf-8") + kernel
    for arch, expected in ((80, (0, 0)), (90, (2, 1)), (100, (2, 1)), (120, (2, 1))):
        ptx = compile_nvrtc(library, source, f"compute_{arch}")
        expect(count_instructions(ptx) == expected, f"compute_{arch}: (waits, triggers) is {count_instructions(ptx)}")


def load_nvrtc(place: Place) -> ctypes.CDLL:
    folders = [place.cuda / "lib64", place.cuda / "targets" / "x86_64-linux" / "lib"]
    for path in itertools.chain.from_iterable(sorted(folder.glob("libnvrtc.so*")) for folder in folders):
        for builtins in sorted(path.parent.glob("libnvrtc-builtins.so*")):  # looked up by name alone: found if loaded before
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(path))
    raise Missing("libnvrtc is not in this toolkit")


def compile_nvrtc(library: ctypes.CDLL, source: str, arch: str) -> str:
    program = ctypes.c_void_p()
    if library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"pdl_device.cu", 0, None, None) != 0:
        raise Broken("nvrtcCreateProgram failed")
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={arch}".encode(), b"-std=c++17")
    status = library.nvrtcCompileProgram(program, 2, options)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    library.nvrtcGetProgramLog(program, log)
    text = log.value.decode()
    if status != 0 or "warning" in text:
        raise Broken(f"NVRTC, {arch}:\n{text}")
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value + 1)
    library.nvrtcGetPTX(program, ptx)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


# ---- command line ----

def checks() -> dict[str, Callable[[Place], None]]:
    from conformance.headers import link_checks  # it needs what stands above

    table: dict[str, Callable[[Place], None]] = {
        "copies-in-one-unit": check_copies_in_one_unit, "includes": check_includes, "includes-nvcc": check_includes_nvcc,
        "hostile-macros": check_hostile_macros, "hostile-macros-nvcc": check_hostile_macros_nvcc,
        "no-symbols-nvcc": check_no_symbols_nvcc, "refusals": check_refusals, "text": check_text, "breaks": check_breaks,
        "erased-mark": check_erased_mark, "target-guard": check_target_guard, "without-cuda": check_without_cuda,
        "features": check_features, "feature-versions": check_feature_versions,
        "ptx": check_ptx, "order": check_order, "nvrtc": check_nvrtc, "old-toolkits": check_old_toolkits,
    }
    table |= link_checks.CHECKS
    for name in ("gcc", "clang", "g++", "clang++"):
        table[f"warnings-{name}"] = partial(check_warnings, name)
        table[f"no-symbols-{name}"] = partial(check_no_symbols, name)
    for name in ("gcc", "clang"):
        table[f"plain-include-{name}"] = partial(check_plain_include, name)
    for name, flags in NVCC_FLAGS.items():
        table[f"nvcc-{name}"] = partial(check_nvcc, flags, NVCC_TARGETS)
    return table


def main(argv: list[str] | None = None) -> int:
    table = checks()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=sorted(table))
    parser.add_argument("--headers", type=Path, required=True, help="folder of pdl.h and pdl_device.cuh")
    parser.add_argument("--cuda", type=Path, required=True, help="root of the CUDA toolkit")
    parser.add_argument("--work", type=Path, required=True, help="scratch folder")
    options = parser.parse_args(argv)
    place = Place(options.headers.resolve(), options.cuda.resolve(), options.work.resolve() / options.check)
    place.work.mkdir(parents=True, exist_ok=True)
    try:
        table[options.check](place)
    except Missing as reason:
        print(f"skipped: {reason}")
        return SKIP
    except Broken as reason:
        print(reason)
        return 1
    return 0
