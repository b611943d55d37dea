"""The harness on the model says the same of each case, from every build, and none of them upsets a sanitizer.

Builds the harness, the model and the kernels with each compiler and level, and compares the records of all families with
those of the reference. What `dev golden` has recorded of a family the reference is not asked again: model.golden compares that
with the reference. Exit 0: the same; 1: not; 77: no other compiler is here.
Usage: python3 conformance dev check-records --harness REFERENCE --work DIR [--seeds N] [--quick] [-- CMAKE_OPTION...]
"""

import argparse
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.model import golden

ROOT = Path(__file__).resolve().parents[3]
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
DEVICES = ("model", "model:wait-some-blocks")  # the second one shows what a FAIL says
ANSWERED = (0, 1, 77)  # exit codes of a harness that has answered: nothing failed, something did, nothing could be asked
HOST_THREADS = "ask"  # its host threads launch at once: what that does to a broken device is the host scheduler's choice,
# and so is how often a mutant of such a case shows


@dataclass(frozen=True)
class Build:
    compiler: str
    flags: str

    @property
    def name(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in f"{self.compiler} {self.flags}")


BUILDS = [
    Build("gcc", "-O0"),
    Build("gcc", "-O2"),
    Build("clang", "-O0"),
    Build("clang", "-O2"),
    Build("gcc", f"-O1 {SANITIZE}"),
    Build("clang", f"-O1 {SANITIZE}"),
    Build("clang", f"-O0 {SANITIZE}"),
]
# Every check in one build. What a sanitizer finds ends it by a trap, without a word: -Og and traps take a third less to compile than -O1
# and words.
QUICK = Build("gcc", "-Og -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer")
QUICK_EVERY = 5  # of the families: they share the code that a FAIL runs through
QUICK_WITHOUT = (  # the longest ones; another case takes the same ways through the code as each of them
    "SAME-01.graphs.widened.built", "MEM-10a.within.widened.stream", "COMP-16.blocks.widened.stream",
)


def step(argv: list[str], what: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{what} fails\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def make(build: Build, work: Path, options: list[str]) -> Path:
    """Debug, so that nothing but these flags decides about optimisation."""
    folder = work / build.name
    step(["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_COMPILER={build.compiler}",
          f"-DCMAKE_C_FLAGS={build.flags}", "-DPDL_BUILD_EXAMPLES=OFF", "-DPDL_KIT_CUDA=OFF", "-DPDL_KIT_HOST_TESTS=OFF",
          "-DPDL_KIT_MODEL=ON", *options], f"configuring {build.name}")
    step(["cmake", "--build", str(folder), "--target", "pdl-harness-model", "--parallel", str(len(os.sched_getaffinity(0)))],
         f"building {build.name}")
    return folder / "pdl-harness-model"


def parts(harness: Path, without: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Options for each family, or for each case of a family of which some are left out."""
    done = subprocess.run([harness, "--list"], capture_output=True, text=True, check=True)
    rows = [row for row in map(json.loads, done.stdout.splitlines()) if row["record"] == "listed"]
    split = {row["family"] for row in rows if row["case"] in without}
    return list(dict.fromkeys(("--family", row["family"], *(["--case", row["case"]] if row["family"] in split else []))
                              for row in rows if row["case"] not in without))


def said(harness: Path, part: tuple[str, ...], device: str, seed: int) -> tuple[str, int, str]:
    """Digest of what it says, its exit code, what it complains about."""
    argv = [str(harness), *part, "--device", device, "--profile", "smoke", "--seed", f"{seed:x}"]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=3600)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
    return golden.digest(records), done.returncode, done.stderr


def expected(recorded: golden.Digests, reference: Path, part: tuple[str, ...], device: str, seed: int) -> tuple[str, tuple[int, ...]]:
    """The digest that was recorded of this part, and each exit code of an answer; else those of the reference."""
    whole = f"{device} {part[1]}" if len(part) == 2 and seed == golden.SEED else ""
    if whole in recorded:
        return recorded[whole], ANSWERED
    digest, code, _ = said(reference, part, device, seed)
    return digest, (code,)


def compare(reference: Path, other: Path, seeds: int, every: int, without: tuple[str, ...]) -> list[str]:
    """What both say of each family; on the broken device of one family of `every`."""
    recorded = json.loads(golden.FILE.read_text(encoding="utf-8"))
    named = parts(reference, without)
    failing = [part for part in named if HOST_THREADS not in part][::every]
    jobs = [(p, d, s) for s in range(1, seeds + 1) for d, those in zip(DEVICES, (named, failing), strict=True) for p in those]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        want = list(pool.map(lambda job: expected(recorded, reference, *job), jobs))
        got = list(pool.map(lambda job: said(other, *job), jobs))
    wrong = []
    for (part, device, seed), (digest, codes), (its, code, complaint) in zip(jobs, want, got, strict=True):
        if its != digest or code not in codes or complaint:
            wrong.append(f"{' '.join(part)}, {device}, seed {seed:x}: exit {code}, "
                         f"{'the same' if its == digest else 'other'} records{': ' + complaint[-1500:] if complaint else ''}")
    return wrong


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--harness", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--quick", action="store_true",
                        help="only gcc with sanitizers, without the longest cases, and a fifth of the families on the broken device")
    parser.add_argument("options", nargs="*", help="for CMake, after --")
    given = parser.parse_args(argv)
    present = [build for build in ([QUICK] if given.quick else BUILDS) if shutil.which(build.compiler)]
    bad = 0
    for build in present:
        less = (QUICK_EVERY, QUICK_WITHOUT) if given.quick else (1, ())
        wrong = compare(given.harness.resolve(), make(build, given.work, given.options), given.seeds, *less)
        print(f"{build.compiler} {build.flags}: {given.seeds} seeds, {len(wrong)} different")
        print("\n".join(wrong[:5]), end="\n" if wrong else "")
        bad += bool(wrong)
    return 1 if bad else 0 if present else 77
