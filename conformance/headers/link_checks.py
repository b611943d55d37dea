"""Checks of pdl.h that link and run: sanitizers, link-time optimisation, two versions in one program, one shared object, -rdc.

Part of compile_checks.py, which has the command line.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.headers.break_headers import ROOT
from conformance.headers.compile_checks import CXX_WARNINGS, UNITS, Broken, Missing, Place, call, find, must_pass, nvcc

HEADERS = UNITS.parent
MODEL = HEADERS.parent / "model"
C_PROGRAMS = ("prepare", "launch", "refusals", "explain", "driver", "events", "attributes", "estimate", "estimate_measured", "graph",
              "graph_findings", "off_path")
CXX_PROGRAMS = {"typed": (), "one_line": ("one_line_other.cpp",)}
ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
THREAD = ("-fsanitize=thread",)


def model_objects(place: Place, compiler: str, flags: Sequence[str]) -> list[str]:
    """The model and the kernels of the contract programs, compiled with these flags."""
    listed = re.search(r"set\(PDL_MODEL_SOURCES\s+([^)]*)\)", (MODEL / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert listed is not None
    objects = []
    for source in (*(MODEL / name for name in listed[1].split()), HEADERS / "kernels.c"):
        objects.append(str(place.work / f"{source.stem}.o"))
        must_pass([find(compiler), "-std=gnu11", "-O0", "-g", *flags, "-I", str(MODEL), "-I", str(HEADERS), "-isystem",
                   str(place.toolkit_includes), "-c", str(source), "-o", objects[-1]])
    return objects


def run_program(place: Place, compiler: str, flags: Sequence[str], sources: Sequence[str], objects: Sequence[str]) -> None:
    """Compile a contract program and run it; anything on a sanitizer's list is an error."""
    program = place.work / Path(sources[0]).stem
    standard = "c++11" if sources[0].endswith("cpp") else "gnu11"
    must_pass([find(compiler), f"-std={standard}", "-O0", "-g", *flags, "-I", str(place.headers), "-I", str(MODEL), "-I", str(HEADERS),
               "-isystem", str(place.toolkit_includes), *(str(HEADERS / name) for name in sources), *objects, "-lpthread", "-lm",
               "-o", str(program)])
    # the model switches stacks and keeps its memory to the end
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=0"
    must_pass([str(program)])


def check_sanitizers(compiler: str, place: Place) -> None:
    """Every contract program under the address and undefined sanitizers."""
    plus = {"gcc": "g++", "clang": "clang++"}[compiler]
    objects = model_objects(place, compiler, ADDRESS)
    for name in C_PROGRAMS:
        run_program(place, compiler, ADDRESS, [f"{name}.c"], objects)
    for name, others in CXX_PROGRAMS.items():
        run_program(place, plus, ADDRESS, [f"{name}.cpp", *others], objects)


def check_threads(place: Place) -> None:
    """pdl_launch and pdl::launch from 64 host threads, and pdl::launch in two threads in an order that only its own table knows,
    under the thread sanitizer."""
    objects = model_objects(place, "gcc", THREAD)
    run_program(place, "gcc", THREAD, ["threads.c"], objects)
    for name in ("one_line_order.cpp", "one_line_devices.cpp"):
        run_program(place, "g++", THREAD, [name], objects)


def check_odr(place: Place) -> None:
    """Two minor versions with other layouts in one program, optimised while linking: no type is defined twice."""
    text = (place.headers / "pdl.h").read_text(encoding="utf-8")
    other = re.sub(r"#define PDL_VERSION_MINOR \d+", "#define PDL_VERSION_MINOR 99", text)
    for name in ("pdl_kernel", "pdl_options", "pdl_estimate", "pdl_refusal", "pdl_graph_edge"):
        other = other.replace(f"}} {name};", f"    char of_another_version[24];\n}} {name};")
    other = other.replace("    const pdl_options *options_;\n", "    const pdl_options *options_;\n    char of_another_version[24];\n")
    folder = place.work / "other"
    folder.mkdir(exist_ok=True)
    (folder / "pdl.h").write_text(other, encoding="utf-8")
    use = ("pdl_kernel kernel{0}; pdl_options options{0}; pdl_estimate estimate{0}; pdl_refusal refusal{0}; pdl_graph_edge edge{0};\n"
           "void k(int);\ncudaError_t use{0}(cudaStream_t s);\n"
           "cudaError_t use{0}(cudaStream_t s) {{ return pdl::launch(k, 1, 1, 0, s, pdl::overlap, {0}); }}\n")
    stubs = ("void k(int) {}\nint main() { return use1(nullptr) != cudaSuccess || use2(nullptr) != cudaSuccess; }\n")
    flags = ["-std=c++11", "-O2", "-flto", "-Wodr", "-Wlto-type-mismatch", "-Werror", "-isystem", str(place.toolkit_includes)]
    first, second = place.work / "first.cpp", place.work / "second.cpp"
    first.write_text('#include "pdl.h"\ncudaError_t use2(cudaStream_t s);\n' + use.format(1) + stubs, encoding="utf-8")
    second.write_text('#include "pdl.h"\n' + use.format(2), encoding="utf-8")
    objects = model_objects(place, "gcc", ())
    must_pass([find("g++"), *flags, "-I", str(place.headers), "-c", str(first), "-o", str(place.work / "first.o")])
    must_pass([find("g++"), *flags, "-I", str(folder), "-c", str(second), "-o", str(place.work / "second.o")])
    done = call([find("g++"), *flags, str(place.work / "first.o"), str(place.work / "second.o"), *objects, "-lpthread", "-lm", "-o",
                 str(place.work / "both")])
    if done.returncode != 0:
        raise Broken(done.stderr)


def check_static(place: Place) -> None:
    """PDL_API=static: no warning for functions that nobody uses, in any compiler."""
    for compiler, standard in (("gcc", "c99"), ("clang", "c99"), ("g++", "c++11"), ("clang++", "c++11")):
        language = "c++" if "++" in compiler else "c"
        must_pass([find(compiler), f"-std={standard}", *[flag for flag in CXX_WARNINGS if language == "c++" or "old-style" not in flag],
                   "-DPDL_API=static", "-I", str(place.headers), "-isystem", str(place.toolkit_includes), "-x", language, "-c",
                   str(UNITS / "nothing.c"), "-o", os.devnull])


def public_names() -> set[str]:
    """The C functions of the recorded API: what the header itself says could be as wrong as its symbols."""
    text = (ROOT / "conformance" / "packaging" / "api.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^c (?!macro )[\w ]*?\*?\b(pdl_\w+)\(", text, re.M))


def check_shared_object(place: Place) -> None:
    """PDL_API=extern: one shared object whose symbols are the public names only; used by declare-only files and by ctypes."""
    base = ["-isystem", str(place.toolkit_includes), "-I", str(place.headers)]
    for compiler, standard, language in (("gcc", "c99", "c"), ("g++", "c++11", "c++")):
        library = place.work / f"libpdl_{language.strip('+')}{len(language)}.so"
        must_pass([find(compiler), f"-std={standard}", "-shared", "-fPIC", "-O1", "-DPDL_API=extern", *base, "-x", language,
                   str(UNITS / "nothing.c"), "-o", str(library)])
        listed = must_pass([find("nm"), "-D", "--defined-only", str(library)])
        found = {line.split()[-1] for line in listed.splitlines()} - {"_init", "_fini"}
        if found != public_names() or not found:
            raise Broken(f"{compiler}: the shared object has other symbols: {sorted(found ^ public_names())}")
        user = place.work / f"user.{'cpp' if language == 'c++' else 'c'}"
        user.write_text('#include "pdl.h"\nint main(void) { return pdl_reason_string(PDL_REASON_NONE)[0] == \'n\' ? 0 : 1; }\n',
                        encoding="utf-8")
        program = place.work / "user"
        must_pass([find(compiler), f"-std={standard}", "-DPDL_DECLARE_ONLY", *base, str(user), str(library),
                   "-Wl,--unresolved-symbols=ignore-all",
                   f"-Wl,-rpath,{place.work}", "-o", str(program)])
        must_pass([str(program)])
    loaded = ctypes.CDLL(str(place.work / "libpdl_c1.so"), mode=os.RTLD_LAZY)
    loaded.pdl_reason_string.restype = ctypes.c_char_p
    if b"PDL_DISABLE" not in loaded.pdl_reason_string(1):
        raise Broken("ctypes cannot call pdl_reason_string")


def check_reload(place: Place) -> None:
    """A library with kernels is unloaded and another is loaded at its address: its answers are asked for anew."""
    objects = model_objects(place, "gcc", ("-fPIC",))
    flags = ["-std=c++11", "-O1", "-fPIC", "-I", str(place.headers), "-I", str(MODEL), "-I", str(HEADERS),
             "-isystem", str(place.toolkit_includes)]
    runtime = place.work / "libruntime.so"
    must_pass([find("gcc"), "-shared", *objects, "-lpthread", "-lm", "-o", str(runtime)])
    libraries = []
    for name, ptx in (("waits", "90"), ("erased", "80")):
        libraries.append(str(place.work / f"lib{name}.so"))
        must_pass([find("g++"), *flags, f"-DPTX={ptx}", "-shared", str(UNITS / "plugin.cpp"), str(runtime), f"-Wl,-rpath,{place.work}",
                   "-o", libraries[-1]])
    program = place.work / "reload"
    must_pass([find("g++"), *flags, "-rdynamic", str(UNITS / "reload.cpp"), str(runtime), f"-Wl,-rpath,{place.work}", "-ldl", "-o",
               str(program)])
    done = call([str(program), *libraries])
    if done.returncode == 77:
        raise Missing("no library was loaded at the address of another one")
    if done.returncode != 0:
        raise Broken(f"an answer of an unloaded library was used again\n{done.stdout}{done.stderr}")


def check_rdc(place: Place) -> None:
    """pdl::launch in two files with -rdc=true, as C++11 to C++20, whole and as separate compilation."""
    for standard in ("-std=c++11", "-std=c++17", "-std=c++20"):
        for unit in ("one_line.cu", "one_line_other.cu"):
            command = [word for word in nvcc(place, "sm_90", UNITS / unit, "-rdc=true") if not word.startswith("-std=")]
            must_pass([*command, standard])
    must_pass([find("nvcc", place), "-arch=sm_90", "-rdc=true", "-I", str(place.headers), "-cudart", "shared", str(UNITS / "one_line.cu"),
               str(UNITS / "one_line_other.cu"), "-o", str(place.work / "rdc")])


CHECKS: dict[str, Callable[[Place], None]] = {
    "sanitizers-gcc": lambda place: check_sanitizers("gcc", place), "sanitizers-clang": lambda place: check_sanitizers("clang", place),
    "sanitizers-threads": check_threads, "odr": check_odr, "static": check_static, "shared-object": check_shared_object,
    "reload": check_reload, "rdc": check_rdc,
}
