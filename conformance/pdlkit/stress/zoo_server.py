"""Builds the zoo of planted bugs and talks to a running one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pdlkit.exits import SetupImpossible
from pdlkit.places import KIT
from pdlkit.stress import injection, nvcc_wrapper
from pdlkit.stress.options import Options
from pdlkit.stress.plan import Plan
from pdlkit.toolchain import find_nvcc

SOURCES = KIT / "stress" / "zoo"


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

    def kernels(self, which: str) -> list[str]:
        """Each kernel once, by first launch."""
        return list(dict.fromkeys(self.bug_kernels if which == "bug" else self.twin_kernels))


def _call(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise SetupImpossible(f"the zoo does not build: {lines[0] if lines else argv[0]}")


def build(folder: Path, arch: str) -> list[str]:
    """The command line of the zoo, built for this architecture (90, 100, ...) by the nvcc wrapper."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise SetupImpossible("nvcc is not there; put the CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
    folder.mkdir(parents=True, exist_ok=True)
    wrapper = [sys.executable, str(Path(__file__).resolve().parent), "nvcc", str(nvcc.path)]
    objects = [str(folder / "zoo.o"), str(folder / "zoo_old.o")]
    _call([*wrapper, "-O3", "-std=c++17", f"-arch=sm_{arch}", "-c", str(SOURCES / "zoo.cu"), "-o", objects[0]])
    _call([*wrapper, "-O3", "-gencode", f"arch=compute_80,code=sm_{arch}", "-c", str(SOURCES / "zoo_old.cu"), "-o", objects[1]])
    _call([str(nvcc.path), f"-arch=sm_{arch}", *objects, "-o", str(folder / "zoo"), "-ldl"])
    loaded = SOURCES / "zoo_loaded.cu"
    _call([str(nvcc.path), "-arch=compute_90", "-ptx", str(loaded), "-o", str(folder / "zoo_loaded.ptx")])
    return [str(folder / "zoo"), str(folder / "zoo_loaded.ptx"), str(loaded)]


class Server:
    """A program that answers lines (the zoo, or the Triton one), with the injection library in front of it."""

    def __init__(self, command: list[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.plan_file, self.folder = folder / "zoo.plan", folder
        self.errors = (folder / "stderr.txt").open("wb")
        Plan(off=True).write(self.plan_file, ())
        environment = injection.environment(folder, command, Options()) | {
            "PDL_STRESS_PLAN": str(self.plan_file), "PDL_STRESS_RECORDS": str(folder / "records.jsonl")}
        self.child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.errors, text=True)

    def ask(self, line: str) -> dict[str, object]:
        """One line there, one JSON line back."""
        assert self.child.stdin
        try:
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass
        return self._answer(line)

    def _answer(self, line: str) -> dict[str, object]:
        assert self.child.stdout
        text = self.child.stdout.readline()
        while text and not text.startswith("{"):
            text = self.child.stdout.readline()
        answer = json.loads(text) if text else {"error": "it ended"}
        if "error" in answer:
            self.errors.flush()
            said = (self.folder / "stderr.txt").read_text(errors="replace").strip().splitlines()
            raise SetupImpossible(f"{Path(self.child.args[0]).name}: `{line}`: {answer['error']}"  # type: ignore[index]
                                  + (f" ({said[-1]})" if said else ""))
        return answer

    def entries(self) -> list[Entry]:
        """What the zoo holds."""
        found = []
        answer = self.ask("list")
        while "end" not in answer:
            found.append(Entry(**answer))  # type: ignore[arg-type]
            answer = self._answer("list")
        return found

    def use(self, plan: Plan, kernels: list[str]) -> None:
        """Put this plan into force for the kernels."""
        plan.write(self.plan_file, kernels)
        if not self.ask("reload")["reloaded"]:
            raise SetupImpossible("the injection library is not in front of the zoo (LD_PRELOAD had no effect)")

    def run(self, entry: Entry, which: str, count: int) -> str:
        """One character per run: . right, X wrong."""
        return str(self.ask(f"run {entry.name} {which} {count}")["runs"])

    def close(self) -> None:
        """End the program."""
        if self.child.stdin:
            self.child.stdin.close()
        try:
            self.child.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.child.kill()
        self.errors.close()


def work_folder() -> Path:
    """Where the zoo is built."""
    return nvcc_wrapper.work_folder() / "zoo"
