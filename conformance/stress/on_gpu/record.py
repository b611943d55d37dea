"""What rewriting costs, changes and reaches on this GPU, and what stressed runs of real programs find.

    python3 -m conformance.stress.on_gpu.record --python PYTHON --output FILE [--only PART]... [--beside PART]... [--part-limit S]

PYTHON is one that has PyTorch and Triton. The parts, in this order:

    clean    correct runs under stress: how many digests of their copies to the host differ from a plain run's
    gpus     a correct and a racing program that use two GPUs from one process
    nccl     the same with a process for each of two GPUs, and a collective of NCCL between the kernels
    mps      a correct and a racing program under an MPS server, which is started and ended here
    cub      CUB and Thrust, each plan of PLANS: what was computed, and whether every launch was of a kernel that was rewritten
    triton   the same of a chain of Triton kernels with PDL, in a graph
    torch    the same of PyTorch: eagerly, in a graph, compiled (cuBLASLt, cuDNN, cuFFT, Triton)
    torch-nccl  the same of PyTorch with NCCL, a process for each of two GPUs; NCCL's own kernels are not held
    sort     `stress` on CUB's merge sort of the installed toolkit: its finding and its kind (facts F47)
    find     `stress` on the programs of cub and triton
    steps    `stress` on the PyTorch program (without compiling it)

FILE is complete after each step of a part, and keeps the parts of earlier runs, each with the digest of the sources that made it.
--beside names parts that run at the same time on the second GPU. Three parts need two GPUs: gpus, nccl and torch-nccl.
Exit code: 0 if every part ran and was as it should be, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import SubprocessError, TimeoutExpired
from threading import Lock

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.cuda_programs import compile_for_this_gpu
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.gpu_query import query
from conformance.pdlkit.mps import mps_server
from conformance.pdlkit.places import KIT, ROOT
from conformance.stress.detector import WAIT_FOR_OTHERS
from conformance.stress.injection import library as injection
from conformance.stress.options import matches
from conformance.stress.oracle import Copies, read_copies
from conformance.stress.program import Calibration, read_calibration
from conformance.stress.zoo.command import sources_hash

HERE = Path(__file__).parent
CLEAN, CUB, NCCL = HERE / "clean_chain.cu", HERE / "cub_thrust.cu", HERE / "nccl_chain.cu"
MERGE_SORT = KIT / "results" / "field" / "reproducers" / "cub_merge_sort.cu"
TRITON_CHAIN = KIT / "trace" / "samples" / "triton_chain.py"
PLANS = {"plain": "0 0 0 1", "empty plan": "64 0 0 1", "trigger and hold at entry": "3 15000 5000 7"}
PROCESSES, RUNS = 20, 50
CLEAN_PLANS = ("* 3 15000 5000 {n}\n", "* 1 0 0 1\nfill 3 15000 5000 {n}\n", "* 1 0 0 1\nmix 3 15000 5000 {n}\n",
               "* 1 0 0 1\nshift 3 15000 5000 {n}\n")
# The machines are virtual: their GPUs may be linked without the multicast that NCCL would try first.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0"}
Part = dict[str, object]


class Failed(Exception):
    """A part could not be measured; the message says why."""


class Programs:
    """CUDA programs as machine code for this GPU, each compiled once, all of them at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock, self._started = folder, Lock(), dict[Path, Future[str]]()
        self._pool = ThreadPoolExecutor(8)

    def start(self, source: Path) -> Future[str]:
        """Begin to compile it, if nobody has."""
        with self._lock:
            if source not in self._started:
                self._started[source] = self._pool.submit(self._compile, source)
            return self._started[source]

    def _compile(self, source: Path) -> str:
        program = self._folder / source.stem
        compile_for_this_gpu(source, program, "-O2")
        return str(program)


@dataclass(frozen=True)
class Place:
    """Where a session keeps what it makes, its Python with PyTorch, and how long one program and one part may take."""

    folder: Path
    python: str
    limit_s: float
    programs: Programs
    until: float = float("inf")                              # the end of this part's time, by time.monotonic
    more: dict[str, str] = field(default_factory=dict)       # environment of every program

    def new(self, name: str) -> Path:
        """A folder that is not there yet."""
        return Path(tempfile.mkdtemp(prefix=name, dir=self.folder))

    def output(self, argv: list[str], environment: dict[str, str] | None = None, fine: tuple[int, ...] = (0,)) -> str:
        """What the program prints; it has to end well and in time. Its start is said, so that a log cut off shows where the time went."""
        limit = min(self.limit_s, self.until - time.monotonic())
        if limit <= 0:
            raise Failed("the time of this part was over")
        print(f"  {time.strftime('%H:%M:%S')} {shlex.join(argv[-6:])}", file=sys.stderr, flush=True)
        try:
            done = run_tool(argv, timeout=limit, environment={**(environment or os.environ), **self.more}, cwd=ROOT)
        except TimeoutExpired as error:
            said = (error.stderr or b"").decode(errors="replace").strip()[-1000:]
            raise Failed(f"{Path(argv[0]).name} did not end in {limit:.0f} s; it had said: {said or 'nothing'}") from None
        if done.returncode not in fine:
            said = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")[-2000:]
            raise Failed(f"{Path(argv[0]).name} ended with {done.returncode}: {said or 'it said nothing'}")
        return done.stdout.decode(errors="replace")

    def caches(self) -> dict[str, str]:
        """Compiled Triton kernels are kept for the runs of one session, and for no other."""
        return {"TRITON_CACHE_DIR": str(self.folder / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")}

    def nccl(self) -> str:
        """The NCCL that PyTorch brings, or else the system's."""
        ask = "import pathlib, sys; print(*(p for d in sys.path for p in pathlib.Path(d).glob('nvidia/*/lib/libnccl.so.2')))"
        return next(iter(self.output([self.python, "-c", ask]).split()), "libnccl.so.2")

    def compiled(self, source: Path) -> str:
        """A CUDA program, as soon as it is compiled."""
        return self.programs.start(source).result()


Steps = Iterator[Part]  # what a part has found so far; kept after each step

# ---- digests of clean runs ------------------------------------------------------------------------------------------


def _environment(folder: Path, plan: str, **more: Path) -> dict[str, str]:
    file = folder / "plan"
    file.write_text(plan)
    return injection.environment(eager_loading=False) | {"PDL_STRESS_PLAN": str(file)} | {name: str(path) for name, path in more.items()}


def _copies(place: Place, argv: list[str], plan: str, more: dict[str, str]) -> Copies:
    folder = place.new("clean")
    place.output(argv, _environment(folder, plan, PDL_STRESS_DIGESTS=folder / "copies") | more)
    return read_copies(folder / "copies")


def _clean_runs(place: Place, argv: list[str], processes: int, more: dict[str, str]) -> Part:
    """Correct runs under stress: how many of their copies to the host differ from a plain run's."""
    right = _copies(place, argv, "* 0 0 0 1\n", more)
    injection.library()  # compiled once, not by each thread
    with ThreadPoolExecutor(min(5, os.cpu_count() or 1)) as pool:
        stressed = list(pool.map(lambda n: _copies(place, argv, CLEAN_PLANS[n % 4].format(n=n + 1), more), range(processes)))
    wrong = sum((right - copies).total() for copies in stressed)
    return {"processes": processes, "runs": processes * RUNS, "copies": processes * right.total(), "different": wrong,
            "good": bool(right) and wrong == 0}


def clean(place: Place) -> Steps:
    """At least 1,000 clean runs."""
    yield _clean_runs(place, [place.compiled(CLEAN), str(RUNS)], PROCESSES, {})


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


def _under_plans(place: Place, argv: list[str], more: dict[str, str] | None = None) -> Steps:
    """A program that prints, last, a digest or a line of JSON with one, under each plan. Kernels that wait for others are not held."""
    found: dict[str, Part] = {}
    alone: dict[str, str] = {}
    for name, numbers in PLANS.items():
        folder = place.new("plan")
        plan = f"calibrate\n* {numbers}\n" + "".join(alone.values())
        environment = _environment(folder, plan, PDL_STRESS_RECORDS=folder / "records") | place.caches() | (more or {})
        began = time.monotonic()
        last = place.output(argv, environment).splitlines()[-1]
        said = json.loads(last) if last.startswith("{") else {"digest": last}
        seen = read_calibration(folder / "records")
        found[name] = {**said, "seconds": time.monotonic() - began, **reached(seen)}
        alone = {kernel.name: f"{kernel.name} 0 0 0 1\n" for kernel in seen.kernels.values()
                 if kernel.cooperative or matches(WAIT_FOR_OTHERS, kernel.name)}
        yield {"plans": found, "left_alone_when_held": sorted(alone)}
    empty = found["empty plan"]
    named = all(entry["why"] for entry in empty["not_reached"].values()) and not empty["launches_without_a_name"]  # type: ignore[attr-defined]
    same = found["plain"]["digest"] == empty["digest"]
    yield {"same_bits_with_an_empty_plan": same,
           "same_bits_in_all": len({str(entry["digest"]) for entry in found.values()}) == 1,
           "good": same and bool(empty["launches"]) and named}


def cub(place: Place) -> Steps:
    """CUB and Thrust."""
    return _under_plans(place, [place.compiled(CUB)])


def triton(place: Place) -> Steps:
    """A chain of Triton kernels."""
    return _under_plans(place, [place.python, str(TRITON_CHAIN), "pdl"])


def torch(place: Place) -> Steps:
    """PyTorch."""
    return _under_plans(place, [place.python, str(HERE / "torch_steps.py")])


def torch_nccl(place: Place) -> Steps:
    """PyTorch, a process per GPU. A hold in a kernel of NCCL could starve the other process."""
    return _under_plans(place, [place.python, str(HERE / "nccl_steps.py")], NO_MULTICAST)


# ---- what stressed runs find ----------------------------------------------------------------------------------------


def _stress(place: Place, argv: list[str], more: dict[str, str] | None = None, options: tuple[str, ...] = ()) -> Part:
    """What `stress` says of the program, with one seed."""
    began = time.monotonic()
    command = [sys.executable, "conformance", "stress", "--json", "--seed", "1", "--seeds", "1", "--plain-runs", "2", "--confirm", "1",
               "--timeout", "60", *options, "--", *argv]
    said = json.loads(place.output(command, {**os.environ, **place.caches(), **(more or {})}, (0, 1, 2)))
    kept = ("code", "sentence", "labels", "not_rewritten", "left_alone", "hangs", "passed_on", "notes", "runs", "stressed_runs",
            "failed_runs", "copies", "stable_copies", "natural", "plain_s", "stressed_s", "unexplained")
    return {**{name: said[name] for name in kept}, "kernels": len(said["kernels"]), "seconds": time.monotonic() - began}


def sort(place: Place) -> Steps:
    """The merge sort that CUDA 13.0 ships reads two words before its wait; later versions do not."""
    said = _stress(place, [place.compiled(MERGE_SORT)])
    yield {**said, "good": said["code"] in (0, 1)}


def find(place: Place) -> Steps:
    """The programs of `cub` and `triton`. Everything they wait for is right, so a finding is one of their library's, or a false one."""
    first = _stress(place, [place.python, str(TRITON_CHAIN), "pdl"])
    yield {"triton": first}
    second = _stress(place, [place.compiled(CUB)])
    yield {"cub": second, "good": first["code"] == 0 == second["code"]}


def steps(place: Place) -> Steps:
    """PyTorch, eagerly and in a graph."""
    said = _stress(place, [place.python, str(HERE / "torch_steps.py"), "short"])
    yield {**said, "good": said["code"] == 0}


def _right_and_racing(place: Place, argv: list[str], more: dict[str, str]) -> Steps:
    """Correct runs stay right, and the race of the same program is found and named."""
    right = _clean_runs(place, argv, 4, more)
    yield {"clean": right}
    race = _stress(place, [*argv, "race"], more)
    named = "shift_early reads" in str(race["sentence"]) and "mix_quiet" in str(race["sentence"])
    yield {"race": race, "good": bool(right["good"]) and race["code"] == 1 and named}


def mps(place: Place) -> Steps:
    """Under an MPS server."""
    try:
        with mps_server(place.new("mps")) as variables:
            yield from _right_and_racing(place, [place.compiled(CLEAN), str(RUNS), "1"], variables)
    except (OSError, SubprocessError) as error:
        raise Failed(f"the MPS server did not start: {error}") from error


def gpus(place: Place) -> Steps:
    """Two GPUs in one process."""
    return _right_and_racing(place, [place.compiled(CLEAN), str(RUNS), "2"], {})


def nccl(place: Place) -> Steps:
    """A process per GPU, with NCCL between their kernels: the same, and a session on the right program leaves NCCL's kernels alone.

    Kernels are loaded lazily, because NCCL has hundreds that are not used. Only the race's primary is held, to save runs.
    """
    argv = [place.compiled(NCCL), place.nccl(), "20"]
    right = _stress(place, argv, NO_MULTICAST, ("--lazy-loading",))
    left = any("nccl" in name.lower() for name in right["left_alone"])  # type: ignore[attr-defined]
    yield {"stressed": right, "left_alone": left}
    race = _stress(place, [*argv, "race"], NO_MULTICAST, ("--lazy-loading", "--only", "mix_quiet"))
    named = "shift_early reads" in str(race["sentence"]) and "mix_quiet" in str(race["sentence"])
    yield {"race": race, "good": right["code"] == 0 and left and race["code"] == 1 and named}


PARTS: dict[str, Callable[[Place], Steps]] = {
    "clean": clean, "gpus": gpus, "nccl": nccl, "mps": mps, "cub": cub, "triton": triton, "torch": torch, "torch-nccl": torch_nccl,
    "sort": sort, "find": find, "steps": steps,
}
FOR_TWO_GPUS = ("gpus", "nccl", "torch-nccl")
COMPILED = {"clean": CLEAN, "gpus": CLEAN, "mps": CLEAN, "nccl": NCCL, "cub": CUB, "find": CUB, "sort": MERGE_SORT}


def _row(name: str, part: Part) -> str:
    """A line of the table."""
    words = ["good" if part.get("good") else "LOOK"]
    words += [str(part[key]) for key in ("error", "sentence") if part.get(key)]
    for plan, entry in part.get("plans", {}).items():  # type: ignore[attr-defined]
        words.append(f"{plan}: {entry['digest']}, {entry['launches_of_rewritten_kernels']} of {entry['launches']} launches")
    for key in ("stressed", "race", "cub", "triton"):
        if isinstance(inner := part.get(key), dict):
            words.append(f"{key}: {inner['code']} {inner['sentence']}")
    for clean_part in (part, part.get("clean", {})):
        if isinstance(clean_part, dict) and "different" in clean_part:
            words.append(f"{clean_part['different']} copies of {clean_part['copies']} different in {clean_part['runs']} clean runs")
    return f"{name:<10}{float(str(part['seconds'])):>6.0f} s  " + "; ".join(words)


class Record:
    """The file: one entry per part, written after each step; the parts of earlier runs stay."""

    def __init__(self, path: Path, device: object, gpus_here: int) -> None:
        self._path, self._lock = path, Lock()
        self.good: dict[str, bool] = {}
        self._kept: Part = {"schema": "pdl-rewrite-on-gpu/3", "device": device, "gpus": gpus_here}
        self._parts: dict[str, Part] = {}
        before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if before.get("device") == device:
            self._parts = {name: {"sources": before.get("sources"), "gpus": before.get("gpus"), **part}
                           for name, part in before["parts"].items()}

    def _write(self) -> None:
        with self._lock:
            self._path.write_text(json.dumps({**self._kept, "parts": self._parts}, indent=1) + "\n", encoding="utf-8")

    def measure(self, name: str, part: Callable[[Place], Steps], place: Place) -> None:
        """One part."""
        began = time.monotonic()
        found: Part = {"good": False, "sources": sources_hash(*HERE.iterdir()), "gpus": self._kept["gpus"]}
        self._parts[name] = found
        try:
            for step in part(place):
                found |= step
                found["seconds"] = round(time.monotonic() - began, 1)
                self._write()
        except (Failed, SetupImpossible, OSError, ValueError, KeyError, IndexError) as error:
            found |= {"error": str(error) or type(error).__name__, "good": False}
        found["seconds"] = round(time.monotonic() - began, 1)
        self.good[name] = found["good"] is True
        self._write()
        print(_row(name, found), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch and Triton (default: this one)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, action="append", metavar="PART", help="only this part (repeatable)")
    parser.add_argument("--beside", choices=[name for name in PARTS if name not in FOR_TWO_GPUS], action="append", metavar="PART",
                        default=[], help="this part at the same time, on the second GPU (repeatable)")
    parser.add_argument("--limit", type=float, default=3600.0, metavar="S", help="for each program (default %(default)s)")
    parser.add_argument("--part-limit", type=float, default=float("inf"), metavar="S", help="for each part (default: none)")
    return parser.parse_args()


def main() -> int:
    """0 if every part is as it should be."""
    given = _options()
    devices = query().get("devices")
    if not isinstance(devices, list) or not devices:
        raise SystemExit("there is no NVIDIA GPU here")
    if given.beside and len(devices) < 2:
        raise SystemExit("--beside needs a second GPU")
    chosen = given.only or [name for name in PARTS if name not in given.beside and (name not in FOR_TWO_GPUS or len(devices) > 1)]
    record = Record(given.output, devices[0], len(devices))
    injection.library()  # before the first limit runs
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder, ThreadPoolExecutor(2) as lanes:
        place = Place(Path(folder), given.python, given.limit, Programs(Path(folder)))
        second = replace(place, more={"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")[1]})
        for name in [*chosen, *given.beside]:
            if name in COMPILED:
                place.programs.start(COMPILED[name])

        def lane(names: list[str], where: Place) -> None:
            for name in names:
                record.measure(name, PARTS[name], replace(where, until=time.monotonic() + given.part_limit))

        for running in [lanes.submit(lane, chosen, place), lanes.submit(lane, given.beside, second)]:
            running.result()
    return 0 if all(record.good.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
