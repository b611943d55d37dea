"""pdl.h with every host compiler of this machine, and, on demand, with those of other Debian suites.

    python3 conformance dev compilers [--cuda ROOT] [--quick]
    python3 conformance dev compilers --roots FOLDER --record compilers.md [--mirror ADDRESS]      (as root, with debootstrap)

All warnings are errors; C99 to C23, C++11 to C++23 as far as the compiler goes. 0 no complaint, 1 a complaint, 77 no compiler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.headers import compile_checks as checks
from conformance.packaging.toolkits import C_COMPILERS, NotApplicable, host_cell, standards, toolkit_version
from conformance.pdlkit.places import KIT, ROOT

SKIP = 77
INSIDE = "PDL_COMPILERS_INSIDE"
SUITES = {
    "bullseye": ("gcc-9", "gcc-10"), "bookworm": ("gcc-11", "gcc-12", "clang-13", "clang-14", "clang-15", "clang-16", "clang-19"),
    "trixie": ("gcc-13", "gcc-14", "clang-17", "clang-18"), "sid": ("gcc-15", "clang-21"),
}


def packages(compiler: str) -> list[str]:
    """The Debian packages that make the compiler and its C++ half."""
    return [compiler, compiler.replace("gcc", "g++")] if compiler.startswith("gcc") else [compiler]


def try_all(names: Sequence[str], headers: Path, cuda: Path, quick: bool) -> dict[str, str]:
    """One cell per compiler that is on PATH."""
    cells = {}
    with tempfile.TemporaryDirectory() as work:
        place = checks.Place(headers, cuda, Path(work))
        for name in names:
            if shutil.which(name):
                try:
                    cells[name] = f"ok {host_cell(place, name, checks.VARIANTS[:1] if quick else checks.VARIANTS)}"
                except NotApplicable as reason:
                    cells[name] = f"- {reason}"
                except checks.Broken as reason:
                    cells[name] = "FAIL"
                    print(f"{name}: {reason}", file=sys.stderr)
                print(f"{name}: {cells[name]}", flush=True)
    return cells


# ---- compilers of other suites: each in its own root, called through a wrapper on PATH ----

def make_root(suite: str, folder: Path, mirror: Sequence[str]) -> Path:
    """A debootstrap root with the suite's compilers."""
    root = folder / f"compilers-{suite}"
    if not (root / "complete").is_file():
        wanted = ",".join(name for compiler in SUITES[suite] for name in packages(compiler))
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={wanted}", suite, str(root), *mirror], check=True)
        (root / "complete").write_text("yes\n")
    return root


def wrappers(root: Path, suite: str, folder: Path) -> Path:
    """A folder with one script per compiler that calls it inside the root."""
    folder.mkdir(parents=True, exist_ok=True)
    for compiler in SUITES[suite]:
        for name in (compiler, compiler.replace("gcc", "g++").replace("clang", "clang++")):
            script = folder / name
            script.write_text(f'#!/bin/sh\nexec chroot {root} /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C {name} "$@"\n')
            script.chmod(0o755)
    return folder


def enter(root: Path, suite: str, options: argparse.Namespace) -> dict[str, str]:
    """Run this command again in a mount namespace where the root sees the headers, the toolkit and the scratch folder."""
    bin_folder = wrappers(root, suite, options.roots / "bin" / suite)
    mounts = [f"mkdir -p {root}{path} && mount --bind {path} {root}{path}" for path in
              (options.headers.resolve(), options.cuda.resolve(), ROOT, Path(tempfile.gettempdir()))]
    script = "; ".join([f"mount --rbind /dev {root}/dev", *mounts, 'exec "$@"'])
    argv = [sys.executable, "-B", str(KIT), "dev", "compilers", "--cuda", str(options.cuda.resolve()),
            "--headers", str(options.headers.resolve())]
    environment = {**os.environ, INSIDE: " ".join(SUITES[suite]), "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["unshare", "--mount", "/bin/sh", "-ec", script, "sh", *argv], env=environment, stdout=subprocess.PIPE, text=True,
                          check=False)
    print(done.stdout, end="", flush=True)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)


def record(path: Path, cells: dict[str, str], version: int) -> None:
    """The Markdown table."""
    lines = ["# pdl.h with host compilers", "",
             "Written by compilers.py, never by hand. `ok n`: n compiles with all warnings as errors. Toolkit "
             f"{version // 1000}.{version % 1000 // 10}.", "", "| compiler | from | standards | |", "|---|---|---|---|"]
    for suite, names in SUITES.items():
        for name in names:
            spans = ", ".join(f"{group[0]} to {group[-1]}" for group in standards(name))
            lines.append(f"| {name} | Debian {suite} | {spans} | {cells.get(name, 'not run')} |")
    lines += ["| MSVC | | | not run: it needs Windows. The headers use no GNU extension where `__GNUC__` is not defined |", ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compile pdl.h with many host compilers.")
    parser.add_argument("--headers", type=Path, default=ROOT, help="folder of pdl.h")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    parser.add_argument("--quick", action="store_true", help="without PDL_DEBUG and PDL_HAS_*")
    parser.add_argument("--roots", type=Path, help="folder for debootstrap roots: the compilers of other suites, too")
    parser.add_argument("--mirror", action="append", default=[], help="debootstrap's mirror")
    parser.add_argument("--only", action="append", default=[], help="with --roots: name of a suite")
    parser.add_argument("--record", type=Path, help="with --roots: Markdown file for the table")
    options = parser.parse_args(argv)
    os.environ["LC_ALL"] = "C"
    if options.roots is None:
        inside = os.environ.get(INSIDE)
        cells = try_all(inside.split() if inside else C_COMPILERS, options.headers, options.cuda, options.quick)
    else:
        options.roots = options.roots.resolve()
        cells = {}
        for suite in options.only or SUITES:
            if f"VERSION_CODENAME={suite}" in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
                cells |= try_all(SUITES[suite], options.headers, options.cuda, options.quick)
            else:
                cells |= enter(make_root(suite, options.roots, options.mirror), suite, options)
    if options.record:
        record(options.record, cells, toolkit_version(options.cuda))
    if not cells:
        print("skipped: no compiler with a version in its name")
        return SKIP
    return 1 if any(text == "FAIL" for text in cells.values()) else 0
