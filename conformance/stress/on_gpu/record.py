"""What rewriting costs, changes and reaches on this GPU, and what stressed runs of real programs find.

    python3 -m conformance.stress.on_gpu.record --python PYTHON --output FILE [--only PART]... [--stop-after S]

PYTHON is one that has PyTorch and Triton. The parts, in this order:

    clean    correct runs under stress: how many digests of their copies to the host differ from a plain run's
    cub      CUB and Thrust, each plan of PLANS: what was computed, and whether every launch was of a kernel that was rewritten
    triton   the same of a chain of Triton kernels with PDL, in a graph
    torch    the same of PyTorch: eagerly, in a graph, compiled (cuBLASLt, cuDNN, cuFFT, Triton)
    sort     `stress` on CUB's merge sort of the installed toolkit: its finding and its kind (facts F47)
    find     `stress` on the programs of cub and triton
    steps    `stress` on the PyTorch program (without compiling it)
    mps      a correct and a racing program under an MPS server, which is started and ended here
    gpus     a correct and a racing program that use two GPUs from one process
    nccl     PyTorch with NCCL, a process for each of two GPUs: with each plan that holds nothing, then `stress` on it

FILE is complete after each part. The last two need two GPUs. Exit code: 0 if every part ran and was as it should be, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import SubprocessError, TimeoutExpired

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.cuda_programs import compile_for_this_gpu
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.gpu_query import query
from conformance.pdlkit.mps import mps_server
from conformance.pdlkit.places import KIT, ROOT
from conformance.stress.injection import library as injection
from conformance.stress.oracle import read_copies
from conformance.stress.program import Calibration, read_calibration
from conformance.stress.zoo.command import sources_hash

HERE = Path(__file__).parent
MERGE_SORT = KIT / "results" / "field" / "reproducers" / "cub_merge_sort.cu"
TRITON_CHAIN = KIT / "trace" / "samples" / "triton_chain.py"
PLANS = {"plain": "0 0 0 1", "empty plan": "64 0 0 1", "trigger and hold at entry": "3 15000 5000 7"}
CALM = ("plain", "empty plan")
PROCESSES, RUNS = 20, 50
CLEAN_PLANS = ("* 3 15000 5000 {n}\n", "* 1 0 0 1\nfill 3 15000 5000 {n}\n", "* 1 0 0 1\nmix 3 15000 5000 {n}\n",
               "* 1 0 0 1\nshift 3 15000 5000 {n}\n")
Part = dict[str, object]


class Failed(Exception):
    """A part could not be measured; the message says why."""


@dataclass(frozen=True)
class Place:
    """Where a session keeps what it makes, its Python with PyTorch, and the limit of one program."""

    folder: Path
    python: str
    limit_s: float

    def new(self, name: str) -> Path:
        """A folder that is not there yet."""
        return Path(tempfile.mkdtemp(prefix=name, dir=self.folder))

    def output(self, argv: list[str], environment: dict[str, str] | None = None, fine: tuple[int, ...] = (0,)) -> str:
        """What the program prints; it has to end well and in time. Its start is said, so that a log cut off shows where the time went."""
        print(f"  {time.strftime('%H:%M:%S')} {shlex.join(argv[-6:])}", file=sys.stderr, flush=True)
        try:
            done = run_tool(argv, timeout=self.limit_s, environment=environment, cwd=ROOT)
        except TimeoutExpired:
            raise Failed(f"{Path(argv[0]).name} did not end in {self.limit_s:.0f} s") from None
        if done.returncode not in fine:
            said = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")[-2000:]
            raise Failed(f"{Path(argv[0]).name} ended with {done.returncode}: {said or 'it said nothing'}")
        return done.stdout.decode(errors="replace")

    def caches(self) -> dict[str, str]:
        """Compiled Triton kernels are kept for the runs of one session, and for no other."""
        return {"TRITON_CACHE_DIR": str(self.folder / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")}

    def compiled(self, source: Path) -> str:
        """A CUDA program as machine code for this GPU."""
        program = self.folder / source.stem
        if not program.exists():
            compile_for_this_gpu(source, program, "-O2")
        return str(program)


# ---- digests of clean runs ------------------------------------------------------------------------------------------


def _environment(folder: Path, plan: str, **more: Path) -> dict[str, str]:
    file = folder / "plan"
    file.write_text(plan)
    return injection.environment(eager_loading=False) | {"PDL_STRESS_PLAN": str(file)} | {name: str(path) for name, path in more.items()}


def _copies(place: Place, argv: list[str], plan: str, more: dict[str, str]) -> dict[int, object]:
    folder = place.new("clean")
    place.output(argv, _environment(folder, plan, PDL_STRESS_DIGESTS=folder / "copies") | more)
    return dict(read_copies(folder / "copies"))


def _clean_runs(place: Place, processes: int, devices: int = 1, more: dict[str, str] | None = None) -> Part:
    """Correct runs under stress: how many of their copies to the host differ from a plain run's."""
    argv = [place.compiled(HERE / "clean_chain.cu"), str(RUNS), str(devices)]
    right = _copies(place, argv, "* 0 0 0 1\n", more or {})
    injection.library()  # compiled once, not by each thread
    with ThreadPoolExecutor(min(5, os.cpu_count() or 1)) as pool:
        stressed = list(pool.map(lambda n: _copies(place, argv, CLEAN_PLANS[n % 4].format(n=n + 1), more or {}), range(processes)))
    wrong = sum(copies.get(number) != copy for copies in stressed for number, copy in right.items())
    return {"processes": processes, "runs": processes * RUNS * devices, "copies": processes * len(right), "different": wrong,
            "good": bool(right) and wrong == 0}


def clean(place: Place) -> Part:
    """At least 1,000 clean runs."""
    return _clean_runs(place, PROCESSES)


# ---- the same bits, every kernel reached ----------------------------------------------------------------------------


def reached(seen: Calibration) -> Part:
    """Which launches were of kernels that were rewritten, and why the others were not."""
    launches = {kernel.name: kernel.eager + kernel.captured + kernel.built for kernel in seen.kernels.values()}
    missed = {kernel.name: {"launches": launches[kernel.name], "why": kernel.why} for kernel in seen.kernels.values()
              if launches[kernel.name] and not kernel.rewritten}
    return {"kernels": sum(count > 0 for count in launches.values()), "launches": sum(launches.values()),
            "launches_of_rewritten_kernels": sum(count for name, count in launches.items() if name not in missed),
            "not_reached": missed, "launches_without_a_name": seen.unknown_launches, "graph_launches": seen.graph_launches,
            "passed_on": seen.passed}


def _under_plans(place: Place, argv: list[str], plans: tuple[str, ...] = tuple(PLANS)) -> Part:
    """A program that prints, last, a digest or a line of JSON with one, under each plan."""
    found: dict[str, Part] = {}
    for name in plans:
        folder = place.new("plan")
        environment = _environment(folder, f"calibrate\n* {PLANS[name]}\n", PDL_STRESS_RECORDS=folder / "records") | place.caches()
        began = time.monotonic()
        last = place.output(argv, environment).splitlines()[-1]
        said = json.loads(last) if last.startswith("{") else {"digest": last}
        found[name] = {**said, "seconds": time.monotonic() - began, **reached(read_calibration(folder / "records"))}
    empty = found["empty plan"]
    named = all(entry["why"] for entry in empty["not_reached"].values()) and not empty["launches_without_a_name"]  # type: ignore[attr-defined]
    same = found["plain"]["digest"] == empty["digest"]
    return {"plans": found, "same_bits_with_an_empty_plan": same,
            "same_bits_in_all": len({str(entry["digest"]) for entry in found.values()}) == 1,
            "good": same and bool(empty["launches"]) and named}


def cub(place: Place) -> Part:
    """CUB and Thrust."""
    return _under_plans(place, [place.compiled(HERE / "cub_thrust.cu")])


def triton(place: Place) -> Part:
    """A chain of Triton kernels."""
    return _under_plans(place, [place.python, str(TRITON_CHAIN), "pdl"])


def torch(place: Place) -> Part:
    """PyTorch."""
    return _under_plans(place, [place.python, str(HERE / "torch_steps.py")])


# ---- what stressed runs find ----------------------------------------------------------------------------------------


def _stress(place: Place, argv: list[str], more: dict[str, str] | None = None, options: tuple[str, ...] = ()) -> Part:
    """What `stress` says of the program, with one seed."""
    began = time.monotonic()
    command = [sys.executable, "conformance", "stress", "--json", "--seed", "1", "--seeds", "1", "--plain-runs", "2", "--confirm", "1",
               *options, "--", *argv]
    said = json.loads(place.output(command, {**os.environ, **place.caches(), **(more or {})}, (0, 1, 2)))
    kept = ("code", "sentence", "labels", "not_rewritten", "left_alone", "hangs", "passed_on", "notes", "runs", "stressed_runs",
            "failed_runs", "copies", "stable_copies", "natural", "plain_s", "stressed_s", "unexplained")
    return {**{name: said[name] for name in kept}, "kernels": len(said["kernels"]), "seconds": time.monotonic() - began}


def sort(place: Place) -> Part:
    """The merge sort that CUDA 13.0 ships reads two words before its wait; later versions do not."""
    said = _stress(place, [place.compiled(MERGE_SORT)])
    return {**said, "good": said["code"] in (0, 1)}


def find(place: Place) -> Part:
    """The programs of `cub` and `triton`. Everything they wait for is right, so a finding is one of their library's, or a false one."""
    found = {"cub": _stress(place, [place.compiled(HERE / "cub_thrust.cu")]),
             "triton": _stress(place, [place.python, str(TRITON_CHAIN), "pdl"])}
    return {**found, "good": all(said["code"] == 0 for said in found.values())}


def steps(place: Place) -> Part:
    """PyTorch, eagerly and in a graph."""
    said = _stress(place, [place.python, str(HERE / "torch_steps.py"), "short"], options=("--plain-runs", "2"))
    return {**said, "good": said["code"] == 0}


def _right_and_racing(place: Place, devices: int, more: dict[str, str]) -> Part:
    """Correct runs stay right, and a race on the last device is found and named."""
    right = _clean_runs(place, 4, devices, more)
    race = _stress(place, [place.compiled(HERE / "clean_chain.cu"), "20", str(devices), "race"], more)
    named = "shift_early reads" in str(race["sentence"]) and "mix_quiet" in str(race["sentence"])
    return {"clean": right, "race": race, "good": bool(right["good"]) and race["code"] == 1 and named}


def mps(place: Place) -> Part:
    """Under an MPS server."""
    try:
        with mps_server(place.new("mps")) as variables:
            return _right_and_racing(place, 1, variables)
    except (OSError, SubprocessError) as error:
        raise Failed(f"the MPS server did not start: {error}") from error


def gpus(place: Place) -> Part:
    """Two GPUs in one process."""
    return _right_and_racing(place, 2, {})


def nccl(place: Place) -> Part:
    """A process per GPU. A hold in a kernel of NCCL could starve the other process; `stress` leaves them alone by itself."""
    argv = [place.python, str(HERE / "nccl_steps.py")]
    found = _under_plans(place, argv, CALM)
    said = _stress(place, argv, options=("--compare-outputs", "--timeout", "60"))
    left = any("nccl" in name.lower() for name in said["left_alone"])  # type: ignore[attr-defined]
    return {**found, "stressed": said, "good": bool(found["good"]) and said["code"] == 0 and left}


PARTS: dict[str, Callable[[Place], Part]] = {
    "clean": clean, "cub": cub, "triton": triton, "torch": torch, "sort": sort, "find": find, "steps": steps, "mps": mps, "gpus": gpus,
    "nccl": nccl,
}
FOR_TWO_GPUS = ("gpus", "nccl")


def _row(name: str, part: Part) -> str:
    """A line of the table."""
    words = ["good" if part.get("good") else "LOOK"]
    words += [str(part[key]) for key in ("error", "sentence") if part.get(key)]
    for plan, entry in part.get("plans", {}).items():  # type: ignore[attr-defined]
        words.append(f"{plan}: {entry['digest']}, {entry['launches_of_rewritten_kernels']} of {entry['launches']} launches")
    for key in ("stressed", "race", "cub", "triton"):
        if isinstance(inner := part.get(key), dict):
            words.append(f"{key}: {inner['code']} {inner['sentence']}")
    if "runs" in part and "different" in part:
        words.append(f"{part['different']} copies of {part['copies']} different in {part['runs']} clean runs")
    return f"{name:<8}{float(str(part['seconds'])):>6.0f} s  " + "; ".join(words)


def _measured(part: Callable[[Place], Part], place: Place) -> Part:
    began = time.monotonic()
    try:
        found = part(place)
    except (Failed, SetupImpossible, OSError, ValueError, KeyError, IndexError) as error:
        found = {"error": str(error) or type(error).__name__, "good": False}
    return {**found, "seconds": round(time.monotonic() - began, 1)}


def main() -> int:
    """0 if every part is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch and Triton (default: this one)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, action="append", metavar="PART", help="only this part (repeatable)")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="S", help="begin no further part after so many seconds")
    parser.add_argument("--limit", type=float, default=3600.0, metavar="S", help="for each program (default %(default)s)")
    given = parser.parse_args()
    devices = query().get("devices")
    if not isinstance(devices, list) or not devices:
        raise SystemExit("there is no NVIDIA GPU here")
    chosen = given.only or [name for name in PARTS if name not in FOR_TWO_GPUS or len(devices) > 1]
    parts: dict[str, Part] = {}
    record = {"schema": "pdl-rewrite-on-gpu/2", "device": devices[0], "gpus": len(devices), "sources": sources_hash(), "parts": parts}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        place = Place(Path(folder), given.python, given.limit)
        for name in chosen:
            if time.monotonic() - began > given.stop_after:
                parts[name] = {"error": "the time given by --stop-after was over", "good": False, "seconds": 0}
            else:
                parts[name] = _measured(PARTS[name], place)
            print(_row(name, parts[name]), flush=True)
            given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0 if all(part["good"] for part in parts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
