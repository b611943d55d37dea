"""The headers against every CUDA Toolkit and compiler: one command, one generated table.

    python3 conformance dev toolkits --prefixes FOLDER --record toolkits.md [--only 12.3]...

Installs the runtime headers, NVRTC, ptxas and, where there is one, nvcc of each toolkit from its Python packages into a
throw-away prefix; compiles pdl.h with each compiler of this machine, pdl_device.cuh with nvcc, else NVRTC and ptxas, and with
clang as a CUDA compiler; runs the host tests on the model where the model builds. Needs a network the first time, no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.headers import compile_checks as checks
from conformance.packaging import api
from conformance.packaging.versions import CLAUSES, Check, holds
from conformance.pdlkit.packages import complete_toolkit
from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.venv import pip_python

HERE = Path(__file__).resolve().parent

HOST_TESTS = ("prepare", "launch", "refusals", "explain", "events", "attributes", "estimate", "estimate_measured", "threads", "off_path",
              "graph", "graph_check", "graph_findings")
C_COMPILERS = ("gcc-9", "gcc-10", "gcc-11", "gcc-12", "gcc-13", "gcc-14", "gcc-15", "clang-13", "clang-14", "clang-15", "clang-16",
               "clang-17", "clang-18", "clang-19", "clang-21")
BASELINE = '#include <cuda_runtime_api.h>\n#include <stdlib.h>\nint baseline_(void);\nint baseline_(void) { return 0; }\n'


@dataclass(frozen=True)
class Toolkit:
    """A toolkit's packages, pinned; no pin means the newest."""

    name: str
    packages: tuple[str, ...]


def _old(name: str, cu: str, runtime: str, nvcc: str) -> Toolkit:
    return Toolkit(name, (f"nvidia-cuda-runtime-{cu}=={runtime}", f"nvidia-cuda-nvcc-{cu}=={nvcc}", f"nvidia-cuda-nvrtc-{cu}=={nvcc}"))


def _new(name: str, runtime: str, nvcc: str, cccl: str) -> Toolkit:
    pins = {"runtime": runtime, "nvcc": nvcc, "crt": nvcc, "nvrtc": nvcc, "cccl": cccl}
    packages = [f"nvidia-cuda-{part}{pin}" for part, pin in pins.items()]
    return Toolkit(name, (*packages, f"nvidia-nvvm{nvcc}"))


TOOLKITS = (
    _old("11.8", "cu11", "11.8.89", "11.8.89"), _old("12.0", "cu12", "12.0.146", "12.0.140"), _old("12.3", "cu12", "12.3.101", "12.3.107"),
    _old("12.6", "cu12", "12.6.77", "12.6.85"), _old("12.9", "cu12", "12.9.79", "12.9.86"),
    _new("13.0", "==13.0.96", "==13.0.88", "==13.0.85"), _new("newest", "", "", ""),
)


# ---- prefixes ----

def install(toolkit: Toolkit, folder: Path) -> Path:
    """The toolkit as one root with bin, include and lib64; made once."""
    root = folder / toolkit.name
    if (root / "complete").is_file():
        return (root / "complete").resolve().parent
    shutil.rmtree(root, ignore_errors=True)
    target = root / "packages"
    pip = [str(pip_python()), "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--root-user-action=ignore"]
    subprocess.run([*pip, "--target", str(target), *toolkit.packages], check=True)
    for part in sorted((target / "nvidia").iterdir()):
        if part.is_dir() and part.name != "__pycache__":
            shutil.copytree(part, root, dirs_exist_ok=True)
    shutil.rmtree(target)
    if (root / "lib" / "libcudart.so.13").is_file():
        complete_toolkit(root)
    elif not (root / "lib64").exists():
        (root / "lib64").symlink_to("lib")
    (root / "complete").write_text("yes\n")
    return root


def toolkit_version(root: Path) -> int:
    """CUDART_VERSION, such as 12030."""
    text = (root / "include" / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    return int(re.findall(r"#define +CUDART_VERSION +([0-9]+)", text)[0])


# ---- cells ----

class NotApplicable(Exception):
    """This combination cannot work; the text is the reason."""


def standards(compiler: str) -> tuple[list[str], list[str]]:
    """The standards of C and of C++ that a compiler knows, of C99 to C23 and C++11 to C++23."""
    family, _, number = compiler.partition("-")
    version = int(number or 0)
    c, cxx = list(checks.C_STANDARDS), list(checks.CXX_STANDARDS)
    if family == "gcc" and version < 10:
        cxx[cxx.index("c++20")] = "c++2a"
    if family == "clang" or version >= 9:
        c.append("c2x")
    if family == "clang" or version >= 11:
        cxx.append("c++2b")
    return c, cxx


def host_cell(place: checks.Place, compiler: str, variants: Sequence[list[str]] = checks.VARIANTS) -> str:
    """pdl.h in all language standards, without a warning; n compiles."""
    plus = compiler.replace("gcc", "g++").replace("clang", "clang++")
    c, cxx = standards(compiler)
    plan = [(compiler, standard, "host_all.c", checks.C_WARNINGS) for standard in c]
    if shutil.which(plus):
        plan += [(plus, standard, source, checks.CXX_WARNINGS) for standard in cxx for source in ("host_all.c", "host_typed.cpp")]
    for name, standard, source, flags in plan:
        for variant in variants:
            needs_baseline(place, partial(_host_command, name, place, standard, (*flags, *variant)), checks.UNITS / source)
    return f"{len(plan) * len(variants)}"


def _host_command(compiler: str, place: checks.Place, standard: str, flags: Sequence[str], unit: Path) -> list[str]:
    return checks.host(compiler, place, standard, unit, *flags)


def needs_baseline(place: checks.Place, command: Callable[[Path], list[str]], unit: Path) -> None:
    """Compile a unit; if the toolkit's own header fails, too, this combination cannot work."""
    done = checks.call(command(unit))
    if done.returncode == 0:
        return
    baseline = place.work / f"baseline{unit.suffix}"
    baseline.write_text(BASELINE, encoding="utf-8")
    alone = checks.call(command(baseline))
    if alone.returncode != 0:
        reason = next((line for line in alone.stderr.splitlines() if "error" in line), "it fails")
        raise NotApplicable(f"the toolkit's header alone: {reason.rpartition('error: ')[2][:80]}")
    raise checks.Broken(f"{' '.join(command(unit))}\n{done.stderr}")


def model_cell(place: checks.Place) -> str:
    """The host tests of the headers, built with this toolkit and run on the model."""
    if toolkit_version(place.cuda) < 12030:
        raise NotApplicable("the model needs edge data, 12.3")
    kit, objects = HERE.parent, place.work / "model"
    objects.mkdir(exist_ok=True)
    base = ["gcc", "-std=gnu11", "-O1", "-I", str(place.headers), "-I", str(kit / "model"), "-I", str(kit / "headers"), "-isystem",
            str(place.toolkit_includes)]
    listed = re.search(r"set\(PDL_MODEL_SOURCES\s+([^)]*)\)", (kit / "model" / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert listed is not None
    for source in (kit / "model" / name for name in listed[1].split()):
        checks.must_pass([*base, "-c", str(source), "-o", str(objects / f"{source.stem}.o")])
    parts = [str(path) for path in sorted(objects.glob("*.o"))]
    for test, stream in itertools.product(HOST_TESTS, ([], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"])):
        program = str(place.work / test)
        sources = [str(kit / "headers" / f"{name}.c") for name in (test, "kernels")]
        checks.must_pass([*base, *stream, *sources, *parts, "-o", program, "-lpthread", "-lm"])
        checks.must_pass([program])
    return f"{2 * len(HOST_TESTS)}"


def lacks_cell(place: checks.Place) -> str:
    """What the toolkit lacks is cudaErrorNotSupported when it is asked for; with the toolkit's own runtime library."""
    program = str(place.work / "lacks")
    library = next(iter(sorted((place.cuda / "lib").glob("libcudart.so.*"))), None)
    if library is None:
        raise NotApplicable("no runtime library")
    checks.must_pass(["gcc", "-std=c99", *checks.C_WARNINGS, "-I", str(place.headers), "-isystem", str(place.toolkit_includes),
                      str(HERE / "sources" / "lacks.c"), str(library), f"-Wl,-rpath,{library.parent}", "-o", program])
    return checks.must_pass([program]).strip()


def api_cell(place: checks.Place) -> str:
    """Names and layouts are the recorded ones, whatever the toolkit."""
    found = api.describe(place.headers, place.toolkit_includes, place.work)
    if found != api.recorded()[2]:
        raise checks.Broken("names or layouts differ from api.txt:\n" + "\n".join(found))
    return f"{len(found)}"


def nvcc_cell(place: checks.Place) -> str:
    """Both headers through nvcc, without a warning."""
    if not (place.cuda / "bin" / "nvcc").is_file():
        raise NotApplicable("PyPI has no nvcc of this version")
    for flags in checks.NVCC_FLAGS.values():
        checks.check_nvcc(flags, checks.NVCC_TARGETS, place)
    return "12"


def load_builtins(cuda: Path) -> None:
    """NVRTC looks for this library by name only, so it is loaded first, from wherever it is."""
    for path in sorted((cuda / "lib").glob("libnvrtc-builtins.so*")):
        ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


KERNEL = ('\nextern "C" __global__ void k(float *o, const float *i)\n'
          "{ pdl_trigger(); pdl_wait(); const float *f = pdl_wait_block(i); pdl_fresh(o)[0] = f[0]; }\n")


def nvrtc_cell(place: checks.Place) -> str:
    """pdl_device.cuh alone under NVRTC, then ptxas of the same version; counts the instructions."""
    load_builtins(place.cuda)
    library = checks.load_nvrtc(place)
    source = (place.headers / "pdl_device.cuh").read_text(encoding="utf-8") + KERNEL
    version = toolkit_version(place.cuda)
    targets = [80, 90, *([100, 120] if version >= 12080 else [])]
    for target in targets:
        ptx = place.work / f"{target}.ptx"
        ptx.write_text(checks.compile_nvrtc(library, source, f"compute_{target}"), encoding="utf-8")
        expected = (0, 0) if target < 90 else (2, 1)
        found = checks.count_instructions(ptx.read_text(encoding="utf-8"))
        checks.expect(found == expected, f"compute_{target}: (waits, triggers) is {found}, not {expected}")
        checks.must_pass([str(place.cuda / "bin" / "ptxas"), f"-arch=sm_{target}", "-Werror", str(ptx), "-o", str(place.work / "a.cubin")])
    return f"{len(targets)}"


def clang_cell(place: checks.Place) -> str:
    """Both headers through clang 19 as a CUDA compiler."""
    compiler = shutil.which("clang++-19")
    if not compiler:
        raise NotApplicable("clang 19 is not installed")
    unit = HERE.parent / "headers" / "units" / "device_all.cu"
    for arch in ("sm_80", "sm_90"):
        def command(source: Path, arch: str = arch) -> list[str]:
            return [compiler, "-x", "cuda", "-std=c++17", f"--cuda-path={place.cuda}", f"--cuda-gpu-arch={arch}", "-Wall", "-Wextra",
                    "-Werror", "-Wno-unknown-cuda-version", "-I", str(place.headers), "-S", "--cuda-device-only", str(source), "-o",
                    str(place.work / f"clang-{arch}.ptx")]
        needs_baseline(place, command, unit)
        text = (place.work / f"clang-{arch}.ptx").read_text(encoding="utf-8")
        found = checks.count_instructions(text)  # clang may copy a wait into two branches
        checks.expect(found == (0, 0) if arch == "sm_80" else found[0] >= 2 and found[1] >= 1, f"{arch}: (waits, triggers) is {found}")
    return "2"


def version_cell(place: checks.Place, check: Check) -> str:
    """A clause about what came with which toolkit."""
    return holds(place.cuda, toolkit_version(place.cuda), place.work, check)


# ---- the table ----

def rows() -> dict[str, Callable[[checks.Place], str]]:
    """The function that fills each row, by the row's name."""
    table: dict[str, Callable[[checks.Place], str]] = {}
    for compiler in C_COMPILERS:
        if shutil.which(compiler):
            table[f"pdl.h, {compiler}"] = partial(host_cell, compiler=compiler)
    table |= {"names and layouts": api_cell, "host tests on the model": model_cell, "what is lacking is refused": lacks_cell,
              "both headers, nvcc": nvcc_cell, "device header, NVRTC + ptxas": nvrtc_cell, "both headers, clang 19": clang_cell}
    for clause, (text, check) in CLAUSES.items():
        table[f"{clause} {text}"] = partial(version_cell, check=check)
    return table


def column(root: Path, headers: Path, work: Path) -> dict[str, str]:
    """All cells of one toolkit; runs in its own process, because two versions of NVRTC cannot share one."""
    cells = {}
    for name, fill in rows().items():
        place = checks.Place(headers, root, work / re.sub(r"\W+", "-", name)[:40])
        shutil.rmtree(place.work, ignore_errors=True)
        place.work.mkdir(parents=True)
        try:
            cells[name] = f"ok {fill(place)}".strip()
        except (NotApplicable, checks.Missing) as reason:
            cells[name] = f"- {reason}"
        except checks.Broken as reason:
            cells[name] = "FAIL"
            print(f"{root.name}: {name}: {reason}", file=sys.stderr)
    return cells


def render(columns: dict[str, dict[str, str]], versions: dict[str, str]) -> str:
    """The Markdown table; the reasons for impossible cells follow it, numbered."""
    names = list(columns)
    notes: list[str] = []
    lines = ["# The headers against toolkits and compilers", "",
             "Written by toolkits.py, never by hand. `ok n`: n compiles, runs or lines without a complaint. A number in brackets: not",
             "applicable, with the reason below. Each toolkit comes from NVIDIA's Python packages; no GPU is used.", "",
             f"| | {' | '.join(versions[name] for name in names)} |", f"|---|{'---|' * len(names)}"]
    for row in next(iter(columns.values())):
        cells = []
        for name in names:
            text = columns[name][row]
            if text.startswith("- "):
                if text[2:] not in notes:
                    notes.append(text[2:])
                text = f"[{notes.index(text[2:]) + 1}]"
            cells.append(text)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"{number}. {note}" for number, note in enumerate(notes, 1)), ""])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The headers against toolkits and compilers.")
    parser.add_argument("--prefixes", type=Path, required=True, help="folder for the throw-away prefixes")
    parser.add_argument("--record", type=Path, help="Markdown file for the table")
    parser.add_argument("--headers", type=Path, default=ROOT, help="folder of pdl.h and pdl_device.cuh")
    parser.add_argument("--only", action="append", default=[], help="name of a toolkit: 12.3 or newest")
    parser.add_argument("--column", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    os.environ["LC_ALL"] = "C"  # compilers quote in plain ASCII
    if options.column:
        print(json.dumps(column(options.column, options.headers.resolve(), options.prefixes.resolve() / "work" / options.column.name)))
        return 0
    columns, versions = {}, {}
    for toolkit in TOOLKITS:
        if options.only and toolkit.name not in options.only:
            continue
        root = install(toolkit, options.prefixes.resolve())
        number = toolkit_version(root)
        versions[toolkit.name] = f"{number // 1000}.{number % 1000 // 10}{' (newest)' if toolkit.name == 'newest' else ''}"
        argv = [sys.executable, "-B", str(KIT), "dev", "toolkits", "--prefixes", str(options.prefixes),
                "--headers", str(options.headers), "--column", str(root)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
        columns[toolkit.name] = json.loads(done.stdout)
        print(f"{toolkit.name}: {sum(text.startswith('ok') for text in columns[toolkit.name].values())} ok, "
              f"{sum(text == 'FAIL' for text in columns[toolkit.name].values())} failed", flush=True)
    if options.record:
        options.record.write_text(render(columns, versions), encoding="utf-8")
    return 1 if any(text == "FAIL" for cells in columns.values() for text in cells.values()) else 0
