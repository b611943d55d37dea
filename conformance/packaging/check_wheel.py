"""Installs the wheel on new, minimal Debian machines and uses it: lint, run, uninstall. On demand: needs root, debootstrap, a network.

    python3 conformance dev check-wheel WHEEL --roots FOLDER [--library FILE.so] [--only bookworm]

A machine is a debootstrap root with python3 and its venv module, and nothing else: no compiler, no CUDA, no C++ runtime. Everything that
is looked at is looked at there. Uninstalling may leave the user's cache, ~/.cache/pdl*, and nothing else. The programs in a wheel of
aarch64 are run under user-mode emulation (--emulate).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.packaging.fresh_machines import LENT, OPTIONAL, SUITES
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible

PACKAGES = "python3,python3-venv,ca-certificates"
_USE = r"""
set -eu
cd /home/checked
python3 -m venv venv
list() { find / -xdev -path /home/checked/out -prune -o -type f -not -path '*/pip/*' -not -path '/usr/lib/python3*' -print | sort; }
list > out/before
venv/bin/pip install -q --disable-pip-version-check /home/checked/in/*.whl
venv/bin/pdl --help > out/help
code=0; venv/bin/pdl doctor > out/doctor.txt 2>&1 || code=$?; echo $code > out/doctor.code
code=0; venv/bin/pdl lint --json in/library.so > out/lint.json 2> out/lint.err || code=$?; echo $code > out/lint.code
code=0; venv/bin/pdl run --device model --profile smoke --seed 1 --output out/run > out/run.txt 2>&1 || code=$?; echo $code > out/run.code
tree=$(venv/bin/python -c 'import pdl_conformance; print(pdl_conformance.include())')
if [ -x "$tree/prebuilt/pdl-harness" ]; then
  code=0; "$tree/prebuilt/pdl-harness" --probe > out/probe.json 2> out/probe.err || code=$?; echo $code > out/probe.code
  code=0; venv/bin/pdl run --device cuda --profile smoke --output out/gpu > out/gpu.txt 2>&1 || code=$?; echo $code > out/gpu.code
fi
venv/bin/python -c 'import time; t = time.perf_counter(); import pdl_conformance; print(time.perf_counter() - t)' > out/import
venv/bin/python -c 'import pdl_conformance, pathlib; print((pathlib.Path(pdl_conformance.include()) / "pdl.h").is_file())' > out/header
venv/bin/pip uninstall -q -y pdl-conformance
venv/bin/pip list --format=json > out/left.json
venv/bin/pip freeze --exclude pip --exclude setuptools | xargs venv/bin/pip uninstall -q -y
find venv -path '*pdl*' > out/left
list > out/after
diff out/before out/after | grep -v '^[0-9]' | grep -v '^> /home/checked/home/[.]cache/pdl' > out/files || true
"""


def root_of(suite: str, folder: Path, mirror: Sequence[str]) -> Path:
    """The debootstrap root, made once."""
    root = folder / suite
    if not (root / "usr/bin/python3").exists():
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root), *mirror], check=True)
    return root


def play(root: Path, wheel: Path, library: Path, out: Path) -> None:
    """Everything of _USE in namespaces of its own, on top of the root and without changing it."""
    with tempfile.TemporaryDirectory() as scratch:
        given = Path(scratch, "in")
        given.mkdir()
        shutil.copy(wheel, given)
        shutil.copy(library, given / "library.so")
        (given / "use.sh").write_text(_USE)
        merged = Path(scratch, "merged")
        mounts = [
            f"mount -t tmpfs tmpfs {scratch}/overlay",
            f"mkdir {scratch}/overlay/top {scratch}/overlay/work",
            f"mount -t overlay overlay -o lowerdir={root},upperdir={scratch}/overlay/top,workdir={scratch}/overlay/work {merged}",
            f"mount -t proc proc {merged}/proc",
            f"mount --rbind /dev {merged}/dev",
            f"mkdir -p {merged}/home/checked/in {merged}/home/checked/out",
            f"mount --bind {given} {merged}/home/checked/in",
            f"mount --bind {out} {merged}/home/checked/out",
        ]
        mounts += [
            f"mkdir -p {merged}{Path(name).parent} && touch {merged}{name} && mount --bind {name} {merged}{name}"
            for name in LENT
            if Path(name).is_file()
        ]
        for folder in (merged, Path(scratch, "overlay")):
            folder.mkdir()
        kept = [f"{name}={value}" for name, value in os.environ.items() if OPTIONAL.fullmatch(name) and name != "PIP_FIND_LINKS"]
        plain = ["PATH=/usr/bin:/bin", "HOME=/home/checked/home", "LANG=C.UTF-8", "PIP_NO_CACHE_DIR=1"]
        inside = f'exec chroot {merged} /usr/bin/env -i "$@" /bin/sh -ec "mkdir -p home/checked/home; exec sh /home/checked/in/use.sh"'
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", "; ".join([*mounts, inside]), "sh", *plain, *kept],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise SetupImpossible(f"{root.name}: the wheel could not be used: {(done.stdout + done.stderr).strip()[-600:]}")


def problems(out: Path) -> list[str]:
    """What on that machine was not as it must be."""

    def said(name: str) -> str:
        return (out / name).read_text().strip()

    found = []
    lint = json.loads(said("lint.json") or "{}")
    if said("lint.code") != "1" or not any(finding.get("id") == "read-before-wait" for finding in lint.get("findings", [])):
        found.append(f"lint did not find the planted bug (exit {said('lint.code')}): {said('lint.err')[-200:]}")
    elif not any("hazard(" in str(finding) for finding in lint["findings"]):
        found.append("lint told no readable name, although the package brings a demangler")
    if said("doctor.code") != "0" or "`run --device model` works" not in said("doctor.txt"):
        found.append(f"doctor did not say that the model can be run (exit {said('doctor.code')}): {said('doctor.txt')[-200:]}")
    if said("run.code") != "0" or "CONFORMS (model, no GPU)" not in said("run.txt"):
        found.append(f"run did not conform (exit {said('run.code')}): {said('run.txt')[-300:]}")
    if not (out / "run" / "report.html").is_file():
        found.append("run wrote no page")
    if (out / "probe.code").exists():
        found += _gpu_problems(out, said)
    if said("header") != "True":
        found.append("the package does not lead to pdl.h")
    if any(entry["name"] == "pdl-conformance" for entry in json.loads(said("left.json"))) or said("left"):
        found.append(f"uninstalling left {said('left')[:300]}")
    if said("files"):
        found.append(f"installing, using and uninstalling changed which files there are: {said('files')[:400]}")
    return found


def _gpu_problems(out: Path, said: Callable[[str], str]) -> list[str]:
    """The harness for GPUs starts where there is no driver, says so, and its run judges nothing."""
    found = []
    probe = json.loads(said("probe.json") or "{}")
    if said("probe.code") != "77" or probe.get("usable") is not False or not str(probe.get("error", "")).startswith("cudaError"):
        found.append(f"the harness for GPUs did not say that there is no driver (exit {said('probe.code')}): {said('probe.err')[-200:]}")
    if said("gpu.code") != "77" or "NOT_APPLICABLE" not in said("gpu.txt"):
        found.append(f"run --device cuda did not say that there is no GPU (exit {said('gpu.code')}): {said('gpu.txt')[-200:]}")
    if not (out / "gpu" / "report.json").is_file():
        found.append("run --device cuda wrote no report")
    return found


_KERNEL = """
__global__ void hazard(const float *in, float *out)
{
    float v = *(const volatile float *)&in[threadIdx.x];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] = v;
}
"""


def make_library(folder: Path) -> Path:
    """A shared library with a planted bug, by this machine's nvcc."""
    source, library = folder / "hazard.cu", folder / "hazard.so"
    source.write_text(_KERNEL)
    done = subprocess.run(
        ["nvcc", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-o", str(library), str(source)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SetupImpossible(f"nvcc makes no library to lint: {done.stderr[-300:]}; --library names one")
    return library


def emulated(wheel: Path, emulator: str, library: Path | None) -> list[str]:
    """What goes wrong with the wheel's programs of another architecture under user-mode emulation; no deadline, because it is slow.

    The harness is called as it is. Lint runs in this machine's Python, and each call of its analysis goes through the emulator.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        programs = folder / "pdl_conformance" / "tree" / "prebuilt"
        for program in programs.glob("pdl-[a-z]*"):
            program.chmod(0o755)
        run = [emulator, str(programs / "pdl-harness-model"), "--device", "model", "--profile", "smoke", "--seed", "1"]
        harness = subprocess.run(run, capture_output=True, text=True)
        for foreign in programs.glob("*.so"):
            foreign.unlink()  # this Python cannot load it; lint makes its own
        analysis = programs / "pdl-lint-analysis"
        analysis.rename(programs / "foreign")
        analysis.write_text(f'#!/bin/sh\nexec {emulator} {programs / "foreign"} "$@"\n')
        analysis.chmod(0o755)
        environment = {**os.environ, "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
        lint = subprocess.run(
            [sys.executable, "-m", "pdl_conformance", "lint", "--json", str(library or make_library(folder))],
            env=environment,
            capture_output=True,
            text=True,
        )
    cases = [json.loads(line) for line in harness.stdout.splitlines() if '"record":"case"' in line]
    bad = [case["case"] for case in cases if case["proving"] and case["status"] not in ("PASS", "NOT_SUPPORTED")]
    found = [f"{name}: a proving case did not pass" for name in bad]
    if not cases or harness.returncode != 0:
        found.append(f"the model's harness ended with {harness.returncode} after {len(cases)} cases: {harness.stderr[-200:]}")
    if lint.returncode != 1 or "read-before-wait" not in lint.stdout:
        found.append(f"lint did not find the planted bug (exit {lint.returncode}): {lint.stderr[-200:]}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Check the wheel on every machine that was asked for."""
    parser = argparse.ArgumentParser(description="Use the wheel on new machines.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--roots", type=Path, help="folder for the debootstrap roots")
    parser.add_argument("--library", type=Path, help="a shared library with a kernel `hazard` that reads before its wait (made with nvcc)")
    parser.add_argument("--only", action="append", default=[], choices=SUITES, help="only this suite")
    parser.add_argument("--mirror", action="append", default=[], help="debootstrap's mirror")
    parser.add_argument("--emulate", metavar="QEMU", help="run the programs inside under this emulator, such as qemu-aarch64-static")
    options = parser.parse_args(argv)
    if options.emulate:
        found = emulated(options.wheel, options.emulate, options.library)
        print("\n".join(found) or f"{options.wheel.name}: its programs run under {options.emulate}")
        return FAILED if found else OK
    if options.roots is None:
        raise SetupImpossible("--roots names the folder for the new machines")
    bad = 0
    for suite, title in SUITES.items():
        if options.only and suite not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out")
            out.mkdir()
            play(
                root_of(suite, options.roots.resolve(), options.mirror),
                options.wheel.resolve(),
                options.library or make_library(Path(folder)),
                out,
            )
            found = problems(out)
            seconds = float((out / "import").read_text())
            gpu = ", the harness for GPUs starts and finds no driver" if (out / "probe.code").exists() else ""
        print(
            "\n".join(f"{title}: {text}" for text in found)
            or f"{title}: lint, run and uninstall work{gpu}; import takes {seconds * 1000:.1f} ms"
        )
        bad += len(found)
    return FAILED if bad else OK


if __name__ == "__main__":
    sys.exit(main())
