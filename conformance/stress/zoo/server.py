"""Builds the zoo of planted bugs and talks to a running one."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.pdlkit.children import Kept
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.stress.detector import LATENT
from conformance.stress.injection import library as injection
from conformance.stress.plan import GRAPH_HOLD_NS, Plan
from conformance.stress.program import read_calibration

SOURCES = KIT / "stress" / "zoo"
ANSWER_S = 60.0  # the longest answer is a thousand runs of some tens of microseconds, or the first import of PyTorch
CLOSING_S = 5.0  # for a program to end at the end of its input


class ZooError(Exception):
    """One program of the zoo failed; the others may go on."""


@dataclass(frozen=True)
class Entry:
    """A planted bug and its twin, as the zoo lists them."""

    name: str
    bug: str
    shape: str
    path: str
    bug_kernels: list[str]
    twin_kernels: list[str]
    races: list[str]
    candidate: str = ""
    label: str = LATENT

    def kernels(self, which: str) -> list[str]:
        """Each kernel once, by first launch."""
        return list(dict.fromkeys(self.bug_kernels if which == "bug" else self.twin_kernels))


@dataclass(frozen=True)
class Runs:
    """The answer to one `run` line."""

    marks: str      # one character per run: . right, X wrong
    us: float       # of one run
    expected: str   # hash of the right words

    @property
    def wrong(self) -> int:
        """How many runs went wrong."""
        return self.marks.count("X")


def _call(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        error = next((line for line in lines if "error" in line), lines[0] if lines else argv[0])
        raise SetupImpossible(f"the zoo does not build: {error}")


def _toolkit() -> Path:
    nvcc = find_nvcc()
    if nvcc is None:
        raise SetupImpossible("nvcc is not there; put the CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
    return nvcc.path


def build(folder: Path, arch: str) -> dict[str, list[str]]:
    """Command lines of the zoo for this architecture (90, 100, ...): machine code only, as nvcc makes it, and with PDL_STRESS."""
    nvcc = str(_toolkit())
    folder.mkdir(parents=True, exist_ok=True)
    code = f"-gencode=arch=compute_{arch},code=sm_{arch}"
    loaded = SOURCES / "zoo_loaded.cu"
    jobs, links = [[nvcc, "-O3", code, "-c", str(SOURCES / "zoo_bare.cu"), "-o", str(folder / "zoo_bare.o")]], []
    in_header = [nvcc, f"-DPDL_STRESS={GRAPH_HOLD_NS}"]
    for name, compiler in (("zoo", [nvcc]), ("zoo-header", in_header)):
        objects = [str(folder / f"{name}.o"), str(folder / f"{name}_old.o")]
        jobs.append([*compiler, "-O3", "-std=c++17", code, "-c", str(SOURCES / "zoo.cu"), "-o", objects[0]])
        jobs.append([*compiler, "-O3", "-gencode", f"arch=compute_80,code=sm_{arch}", "-c", str(SOURCES / "zoo_old.cu"),
                     "-o", objects[1]])
        objects.append(str(folder / "zoo_bare.o"))
        links.append([nvcc, code, *objects, "-o", str(folder / name), "-ldl"])
    jobs.append([nvcc, f"-arch=compute_{arch}", "-ptx", str(loaded), "-o", str(folder / "zoo_loaded.ptx")])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(_call, jobs))
        list(pool.map(_call, links))
    inputs = [str(folder / "zoo_loaded.ptx"), str(loaded)]
    return {"plain": [str(folder / "zoo"), *inputs], "header": [str(folder / "zoo-header"), *inputs],
            "stressed": [str(folder / "zoo"), *inputs]}


def _with_nvrtc(environment: dict[str, str]) -> dict[str, str]:
    """The loader's path with the toolkit's libraries after what is there, for the programs that use NVRTC."""
    found = find_nvcc()
    if found is None:
        return environment
    home = found.path.resolve().parent.parent
    places = [environment.get("LD_LIBRARY_PATH", ""), str(home / "lib64"), str(home / "targets" / "x86_64-linux" / "lib")]
    return environment | {"LD_LIBRARY_PATH": ":".join(filter(None, places))}


@dataclass
class Server:
    """A program that answers lines (the zoo, or the Triton one). It is started on the first question, and again after it has died."""

    command: list[str]
    folder: Path
    stressed: bool
    lazy_loading: bool = False
    baked: Plan | None = None  # the plan is compiled into the code and never changes
    kernels: tuple[str, ...] = ()
    child: Kept | None = None
    _buffer: bytes = field(default=b"", repr=False)

    def start(self) -> None:
        """Start the program; a stressed one with the injection library preloaded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.plan_file = self.folder / "zoo.plan"
        (self.baked or Plan(off=True, live=True)).write(self.plan_file, self.kernels)
        if self.stressed:
            environment = injection.environment(not self.lazy_loading) | {
                "PDL_STRESS_PLAN": str(self.plan_file), "PDL_STRESS_RECORDS": str(self.folder / "records.jsonl")}
        else:
            environment = injection.plain_environment() | {"TRITON_CACHE_DIR": str(self.folder / "triton")}
            environment |= {} if self.lazy_loading else {"CUDA_MODULE_LOADING": "EAGER"}
        with (self.folder / "stderr.txt").open("wb") as errors:
            self.child = Kept(self.command, environment=_with_nvrtc(environment), stdin=subprocess.PIPE, stderr=errors)
        self._buffer = b""

    def ask(self, line: str) -> dict[str, object]:
        """Send one line and return the JSON line that answers it."""
        if self.child is None:
            self.start()
        assert self.child and self.child.process.stdin
        try:
            self.child.process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            pass
        return self._answer(line)

    def _line(self) -> bytes:
        """The next line of the program; empty at the end of its output. ZooError if it says nothing for too long."""
        assert self.child and self.child.process.stdout
        stdout = self.child.process.stdout
        until = time.monotonic() + ANSWER_S
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise ZooError(f"no answer in {ANSWER_S:.0f} s")
            part = os.read(stdout.fileno(), 1 << 16)
            if not part:
                return b""
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _answer(self, question: str) -> dict[str, object]:
        try:
            text = self._line()
            while text and not text.startswith(b"{"):
                text = self._line()
            answer: dict[str, object] = json.loads(text) if text else {"error": "it ended"}
        except (ZooError, ValueError) as error:
            answer = {"error": str(error)}
        if "error" in answer:
            self.close()
            said = (self.folder / "stderr.txt").read_text(errors="replace").strip().splitlines()
            raise ZooError(f"{Path(self.command[0]).name}: `{question}`: {answer['error']}" + (f" ({said[-1]})" if said else ""))
        return answer

    def entries(self) -> tuple[list[Entry], dict[str, str]]:
        """The zoo's entries, and those that cannot run here with the reason."""
        found, skipped = [], {}
        answer = self.ask("list")
        while "end" not in answer:
            if "skipped" in answer:
                skipped[str(answer["skipped"])] = str(answer["why"])
            else:
                found.append(Entry(**answer))  # type: ignore[arg-type]
            answer = self._answer("list")
        return found, skipped

    def use(self, plan: Plan, kernels: Iterable[str]) -> None:
        """Make this plan the current one for these kernels."""
        if self.child is None:
            self.start()
        replace(plan, live=True).write(self.plan_file, kernels)
        if not self.ask("reload")["reloaded"]:
            raise ZooError("the injection library was not loaded into the zoo (LD_PRELOAD had no effect)")

    def with_plan(self, plan: Plan, kernels: Iterable[str]) -> Server:
        """The same program, not started yet, with this plan in its code."""
        return Server(self.command, self.folder.with_name(self.folder.name + "-baked"), True, self.lazy_loading, plan, tuple(kernels))

    def own_triggers(self) -> frozenset[str]:
        """The kernels launched so far that trigger by themselves."""
        found = read_calibration(self.folder / "records.jsonl").kernels
        return frozenset(name for name, kernel in found.items() if kernel.triggers)

    def run(self, entry: Entry, which: str, count: int) -> Runs:
        """Run the bug or its twin `count` times."""
        answer = self.ask(f"run {entry.name} {which} {count}")
        return Runs(str(answer["runs"]), float(answer["us"]), str(answer["expected"]))  # type: ignore[arg-type]

    def close(self) -> None:
        """Let the program end, which it does at the end of its input, and kill it if it does not."""
        child, self.child = self.child, None
        if child is None:
            return
        assert child.process.stdin and child.process.stdout
        child.process.stdin.close()
        try:
            child.process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            pass
        child.stop()
        child.process.stdout.close()


def work_folder() -> Path:
    """Where the zoo is built."""
    return injection.work_folder() / "zoo"
