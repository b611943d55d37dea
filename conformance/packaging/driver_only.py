"""Installs the wheel here, hides every CUDA Toolkit from it, repeats a recorded run and compares. Needs `unshare`; no network.

    python3 conformance dev driver-only WHEEL --like RECORDED.json --output FOLDER [--device cuda]

Profile, seed and choice of cases are those of the recorded report. A toolkit is hidden by an empty folder mounted over it, for the
run alone. That nothing of it is found is then asked of the installed package itself, by the finder that all its commands use.
0 the same verdict and `pdl diff` finds nothing worse, 1 another verdict or something worse.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.output_folder import output_path
from conformance.pdlkit.places import shown
from conformance.pdlkit.read_report import read_report
from conformance.pdlkit.toolkit import toolkit_programs
from conformance.pdlkit.venv import pip_python

PROGRAMS = ("nvcc", "ptxas", "nvdisasm", "cuobjdump")
USUAL = (("/usr/local", "cuda*"), ("/opt", "cuda*"))
KEPT = ("HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
_UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount"]
_HIDE = (
    'while [ "$1" != -- ]; do if [ -d "$1" ]; then mount -t tmpfs -o ro,size=4k hidden "$1"; else mount --bind /dev/null "$1"; fi; '
    'shift; done; shift; exec "$@"'
)
_ASK = (
    "import sys; from pdl_conformance import TREE; sys.path.insert(0, str(TREE))\n"
    "from conformance.pdlkit.toolkit import toolkit_program\n"
    "print(*filter(None, map(toolkit_program, sys.argv[1:])), sep='\\n')"
)


def toolkits() -> list[Path]:
    """The folders of every toolkit of this machine, links followed; a program in a folder that holds more is named alone."""
    found = {path.resolve() for folder, name in USUAL for path in Path(folder).glob(name) if path.is_dir()}
    for program in (path.resolve() for name in PROGRAMS for path in toolkit_programs(name)):
        shared = program.parents[1] in map(Path, ("/", "/usr", "/usr/local"))
        found.add(program if shared else program.parents[1])
    return sorted(found)


def install(wheel: Path, folder: Path) -> Path:
    """A venv with the wheel and nothing else; its Python."""
    python = folder / "bin" / "python"
    pip = [str(pip_python()), "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    for words in ([sys.executable, "-m", "venv", "--without-pip", folder], [*pip, "--no-index", "--no-deps", wheel]):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SetupImpossible(f"{wheel.name} could not be installed: {(done.stdout + done.stderr).strip()[-400:]}")
    return python


def without_toolkit(hidden: Sequence[Path], words: Sequence[str | Path], python: Path) -> subprocess.CompletedProcess[str]:
    """The command in a mount namespace of its own where the folders are empty, with nothing in its environment that leads to them."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment["PATH"] = f"{python.parent}:/usr/bin:/bin"
    libraries = environment.pop("LD_LIBRARY_PATH", "").split(":")
    own = [entry for entry in libraries if entry and not any(Path(entry).resolve().is_relative_to(folder) for folder in hidden)]
    environment |= {"LD_LIBRARY_PATH": ":".join(own)} if own else {}
    command = [*_UNSHARE, "/bin/sh", "-ec", _HIDE, "sh", *map(str, hidden), "--", *map(str, words)]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def run_like(recorded: dict[str, Any], python: Path, hidden: Sequence[Path], device: str, output: Path) -> dict[str, Any]:
    """The report of the same run by the installed package."""
    asked = without_toolkit(hidden, [python, "-c", _ASK, *PROGRAMS], python)
    if asked.returncode != 0 or asked.stdout.strip():
        raise SetupImpossible(f"the toolkit could not be hidden: {asked.stdout.strip() or 'unshare failed'}")
    run = recorded["run"]
    only = [word for pattern in run["only"] for word in ("--only", pattern)]
    words = ["run", "--device", device, "--profile", run["profile"], "--seed", run["seed"], *only, "--output", output]
    done = without_toolkit(hidden, [python.with_name("pdl"), *words], python)
    print(done.stdout, end="")
    if not (output / "report.json").is_file():
        raise SetupImpossible(f"`pdl run` wrote no report; it ended with {done.returncode}")
    return read_report(output / "report.json")


def compared(recorded: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Both verdicts, and each case whose status is another."""
    yield f"recorded {recorded['verdict']}, here {new['verdict']}"
    before = {test["name"]: test["status"] for test in recorded["tests"]}
    after = {test["name"]: test["status"] for test in new["tests"]}
    other = [name for name in before if before[name] != after.get(name)]
    yield f"{len(before) - len(other)} of {len(before)} cases have the recorded status"
    yield from (f"  {name}: recorded {before[name]}, here {after.get(name, 'absent')}" for name in other)


def main(argv: Sequence[str] | None = None) -> int:
    """Install, hide, run, compare."""
    parser = argparse.ArgumentParser(description="Repeat a recorded run from the wheel, with the CUDA Toolkit hidden.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--like", type=Path, required=True, metavar="RECORDED.json", help="the report of the run that is repeated")
    parser.add_argument("--device", default="cuda", help="as of `run` (cuda)")
    parser.add_argument("--output", type=output_path, required=True, metavar="FOLDER", help="where the new report goes")
    options = parser.parse_args(argv)
    if options.output.exists():
        raise BadArguments(f"{shown(options.output)} exists; name a new folder, so that no older report is taken for this one")
    if not options.wheel.is_file():
        raise BadArguments(f"{shown(options.wheel)}: no such wheel; `dev wheel --gpu --output FOLDER` makes one")
    recorded, hidden = read_report(options.like), toolkits()
    with tempfile.TemporaryDirectory() as folder:
        python = install(options.wheel.resolve(), Path(folder, "venv"))
        print(f"hidden: {', '.join(map(str, hidden)) or 'nothing, there is no toolkit here'}", flush=True)
        new = run_like(recorded, python, hidden, options.device, options.output.resolve())
        print("\n".join(compared(recorded, new)), flush=True)
        worse = subprocess.run([python.with_name("pdl"), "diff", options.like, options.output]).returncode == FAILED
    return FAILED if worse or recorded["verdict"] != new["verdict"] else OK
