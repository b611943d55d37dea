"""The same seed gives the same trace from every build, and no build upsets a sanitizer.

Compiles the model with each compiler and level found, runs its tests, and compares what they print.
Usage: python3 conformance dev check-builds --cuda-include DIR --work DIR [--quick]
"""

import argparse
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


@dataclass(frozen=True)
class Build:
    compiler: str
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in " ".join((self.compiler, *self.flags)))


BUILDS = [
    Build("gcc", ("-O0",)),
    Build("gcc", ("-O2",)),
    Build("clang", ("-O0",)),
    Build("clang", ("-O2",)),
    Build("gcc", ("-O1", "-DMODEL_UCONTEXT")),
    Build("gcc", ("-O1", *SANITIZE)),
    Build("clang", ("-O1", *SANITIZE)),
    Build("clang", ("-O0", *SANITIZE)),
]
QUICK = (BUILDS[0], BUILDS[3], BUILDS[-1])  # compiling takes most of the time


def compile_model(build: Build, include: Path, work: Path) -> list[Path]:
    """The model's object files, which all programs of this build share."""
    folder = work / build.name
    folder.mkdir(parents=True, exist_ok=True)
    sources = [s for s in sorted(MODEL.glob("*.c")) if s.name != "litmus.c"]
    command = [build.compiler, "-std=gnu11", *build.flags, f"-I{MODEL}", "-isystem", str(include), "-c"]
    subprocess.run([*command, *map(str, sources)], check=True, cwd=folder)
    return [folder / f"{source.stem}.o" for source in sources]


def link(build: Build, program: Path, model: list[Path], include: Path, work: Path) -> Path:
    out = work / f"{program.stem}-{build.name}"
    command = [build.compiler, "-std=gnu11", *build.flags, f"-I{MODEL}", "-isystem", str(include), str(program)]
    subprocess.run([*command, *map(str, model), "-lpthread", "-o", str(out)], check=True)
    return out


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ends with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def check(build: Build, include: Path, work: Path) -> str:
    tests, model = MODEL / "tests", compile_model(build, include, work)
    for name in ("api.c", "graphs.c", "nested.c"):
        run([str(link(build, tests / name, model, include, work))])
    said = run([str(link(build, tests / "devices.c", model, include, work)), "1", "trace"])
    return said + run([str(link(build, MODEL / "litmus.c", model, include, work)), "--seeds", "50"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuda-include", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="only gcc -O0, clang -O2 and clang with sanitizers at -O0")
    given = parser.parse_args(argv)
    given.work.mkdir(parents=True, exist_ok=True)
    builds = [b for b in BUILDS if shutil.which(b.compiler) and (not given.quick or b in QUICK)]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda b: check(b, given.cuda_include, given.work), builds))
    wrong = [b.name for b, text in zip(builds, said, strict=True) if text != said[0]]
    print(f"{len(builds)} builds, {len(said[0].splitlines())} lines each")
    if wrong:
        print(f"not the same as {builds[0].name}: {', '.join(wrong)}")
    return 1 if wrong or not said[0] else 0
