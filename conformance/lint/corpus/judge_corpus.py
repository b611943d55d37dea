"""Compile the labelled corpus and compare lint's findings with the labels.

    python3 conformance dev judge-corpus                  what the tests run: sm_90 and sm_120 -O3, sm_90 -G
    python3 conformance dev judge-corpus --full --record  every architecture and every way of compiling; writes corpus.md
    python3 conformance dev judge-corpus --only sm_100:-G  with --record, the other cells of corpus.md stay

Needs nvcc, a C compiler, and a network or the toolkit's nvdisasm; no GPU. Ends with 1 if a bug was missed or a twin was blamed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from conformance.lint.declarations import Chain
from conformance.lint.findings import above_hint
from conformance.lint.linter import Options, Report, lint_files
from conformance.pdlkit.toolkit import toolkit_program

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

CORPUS, RECORD = HERE, HERE / "corpus.md"
ARCHITECTURES = ("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_110", "sm_120")
WAYS = {"-O3": [], "-O2": [], "-O1": [], "-O0": [], "-G": ["-G"], "-rdc": ["-O3", "-rdc=true"],
        "-Ofc": ["-Ofc=max"]}  # -O: of ptxas
# What lint is known to judge wrongly, by architecture and way; ../README.md says what lint reports. Asserted like the rest: an
# entry that no longer disagrees has to go.
KNOWN_WRONG: dict[tuple[str, str], frozenset[str]] = {}
QUICK = (("sm_90", "-O3"), ("sm_120", "-O3"), ("sm_90", "-G"))  # the tests judge the first whole, of the others every fifth file
Cells = dict[tuple[str, str], tuple[int, int, int]]  # (architecture, way) -> kernels judged, disagreements, instructions
_making: defaultdict[Path, Lock] = defaultdict(Lock)  # PTX that several cells share
_LABEL = re.compile(r'^(BUG|OK)\((\w+)(?:, "([^"]*)")?\)', re.MULTILINE)


@dataclass(frozen=True)
class Disagreement:
    kernel: str
    what: str


def sources(every: int = 1) -> list[Path]:
    """The corpus's files, or every n-th of them."""
    return sorted(CORPUS.glob("*.cu"))[::every]


def labels(files: Iterable[Path] | None = None) -> dict[str, frozenset[str]]:
    """Kernel -> the findings of which one must be there; empty for a corrected twin."""
    found: dict[str, frozenset[str]] = {}
    for source in sources() if files is None else files:
        for kind, shape, wanted in _LABEL.findall(source.read_text()):
            name = ("bug_" if kind == "BUG" else "ok_") + shape
            if name in found:
                raise ValueError(f"{source.name}: {name} is there twice")
            found[name] = frozenset(wanted.split("|")) if kind == "BUG" else frozenset()
    return found


def _call(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{what}: {(done.stderr + done.stdout).strip()}")


def together(files: Iterable[Path], folder: Path) -> list[Path]:
    """The same kernels in few sources: nvcc and nvdisasm take longer to start than for most of the files."""
    files = list(files)
    headers = sorted({line for file in files for line in file.read_text().splitlines() if line.startswith("#include")})
    spaces = [f'namespace of_{file.stem} {{\n#include "{file}"\n}}' for file in files]
    unit = folder / "together.cu"
    unit.write_text("\n".join([*headers, *spaces, ""]))
    return [unit]


def compile_one(nvcc: Path, source: Path, architecture: str, way: str, folder: Path) -> Path:
    """The cubin of one source; a failure is an error with the compiler's words."""
    nvcc = Path(shutil.which(nvcc) or nvcc)
    cubin = folder / f"{source.stem}.{architecture}{way}.cubin"
    newest = max(source.stat().st_mtime, (CORPUS / "corpus.h").stat().st_mtime)
    if cubin.is_file() and cubin.stat().st_mtime > newest:
        return cubin  # only in a folder of the user's
    command = [str(nvcc), "-std=c++17", f"-arch={architecture}", "-w", "-lineinfo", "-I", str(ROOT), "-I", str(CORPUS)]
    if WAYS[way]:
        _call([*command, *WAYS[way], "-cubin", "-o", str(cubin), str(source)], f"{source.name} for {architecture} {way}")
        return cubin
    ptx = folder / f"{source.stem}.{architecture}.ptx"  # one for all levels of ptxas
    with _making[ptx]:
        if not ptx.is_file() or ptx.stat().st_mtime <= newest:
            _call([*command, "-O3", "-ptx", "-o", str(ptx), str(source)], f"{source.name} for {architecture}")
    _call([str(nvcc.parent / "ptxas"), f"-arch={architecture}", way, "-lineinfo", "-o", str(cubin), str(ptx)],
          f"{source.name} for {architecture} {way}")
    return cubin


def compile_corpus(nvcc: Path, architecture: str, way: str, folder: Path, files: Sequence[Path]) -> list[Path]:
    """One cubin for each source."""
    with ThreadPoolExecutor(_cores()) as pool:
        return list(pool.map(lambda source: compile_one(nvcc, source, architecture, way, folder), files))


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def lint_corpus(cubins: list[Path]) -> Report:
    """Kernels named chained are those of a declared chain."""
    chain = Chain("the corpus", re.compile("^(bug|ok)_chained_"), "they read what the kernel before the last one wrote", frozenset({2}))
    return lint_files(cubins, Options(overlapping=re.compile("^(bug|ok)_"), chains=[chain]))


def compare(report: Report, wanted: dict[str, frozenset[str]], known: frozenset[str] = frozenset()) -> list[Disagreement]:
    """Missed bugs, blamed twins, kernels without a verdict, files that could not be read; `known` ones have to be wrong."""
    found = _disagreements(report, wanted)
    wrong = {d.kernel for d in found}
    fresh = [Disagreement(k, "is judged rightly now; take it from the list of known ones") for k in sorted(known - wrong)]
    return [d for d in found if d.kernel not in known] + fresh


def _disagreements(report: Report, wanted: dict[str, frozenset[str]]) -> list[Disagreement]:
    wrong = [Disagreement(file, message) for file, message in report.unreadable]
    verdicts = {v.kernel: v for v in report.verdicts if v.judged}
    for kernel, expected in sorted(wanted.items()):
        if kernel not in verdicts:
            wrong.append(Disagreement(kernel, "was not judged"))
            continue
        found = above_hint(verdicts[kernel].findings)
        if expected and not expected & {f.id for f in found}:
            said = ", ".join(sorted({f.id for f in found})) or "nothing"
            wrong.append(Disagreement(kernel, f"wanted {' or '.join(sorted(expected))}, lint said {said}"))
        elif not expected and found:
            wrong.append(Disagreement(kernel, f"a corrected twin: {found[0].id} at {found[0].where}: {found[0].message}"))
    return wrong


def judge(nvcc: Path, architecture: str, way: str, folder: Path, every: int = 1,
          quickly: bool = False) -> tuple[Report, list[Disagreement]]:
    """One cell of the table; with `every`, of each n-th file only; `quickly`: of the files put together."""
    files = sources(every)
    cubins = compile_corpus(nvcc, architecture, way, folder, together(files, folder) if quickly else files)
    report, wanted = lint_corpus(cubins), labels(files)
    return report, compare(report, wanted, KNOWN_WRONG.get((architecture, way), frozenset()) & wanted.keys())


def recorded(text: str) -> Cells:
    """The cells of a recorded table; none if it is of another corpus."""
    cells: Cells = {}
    lines = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    for way, *found in lines[1:] if _size() in text else []:
        for architecture, cell in zip(lines[0][1:], found, strict=True):
            if cell != "not run":
                judged, wrong, instructions = map(int, cell.replace("*", "").split(","))
                cells[architecture, way] = (judged, wrong, instructions)
    return cells


def _size() -> str:
    wanted = labels()
    bugs = sum(map(bool, wanted.values()))
    return f"{len(wanted)} kernels, {bugs} planted bugs and {len(wanted) - bugs} corrected twins."


def as_markdown(cells: Cells) -> str:
    """The recorded table: one line for each way, one column for each architecture."""
    architectures = [a for a in ARCHITECTURES if any(a == c[0] for c in cells)]
    known = "; ".join(f"{a} {w}: {', '.join(sorted(k))}" for (a, w), k in KNOWN_WRONG.items() if (a, w) in cells) or "none"
    lines = ["# Lint against its corpus", "",
             f"Written by judge_corpus.py, never by hand: {_size()}",
             "A cell: kernels judged, those of them judged wrongly (bugs missed, bugs found under a wrong rule, twins blamed; the known "
             "ones included), instructions. A cell that was not run since the corpus changed says so.", "",
             f"Known to be judged wrongly, so that the tests demand just these: {known}.", "",
             "| | " + " | ".join(architectures) + " |", "|---|" + "---|" * len(architectures)]
    for way in (w for w in WAYS if any(w == c[1] for c in cells)):
        found = [cells.get((a, way)) for a in architectures]
        lines.append(f"| {way} | " + " | ".join("not run" if c is None else f"{c[0]}, **{c[1]}**, {c[2]}" for c in found) + " |")
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all architectures, all ways")
    parser.add_argument("--only", metavar="SM:WAY", action="append", default=[])
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}, the table of the results")
    parser.add_argument("--nvcc", default=toolkit_program("nvcc") or "nvcc")
    parser.add_argument("--jobs", type=int, default=_cores(), help="how many files are compiled at once; as many as there are cores")
    parser.add_argument("--folder", type=Path, help="keep the machine code here, and use again what is newer than its source")
    arguments = parser.parse_args(argv)
    chosen = [(a, w) for a in ARCHITECTURES for w in WAYS] if arguments.full else list(QUICK)
    if arguments.only:
        chosen = [(a, w) for a, _, w in (o.partition(":") for o in arguments.only)]
    bad = 0
    cells = recorded(RECORD.read_text()) if arguments.only and RECORD.is_file() else {}
    nvcc = Path(shutil.which(arguments.nvcc) or arguments.nvcc).resolve()
    with tempfile.TemporaryDirectory(prefix="pdl-corpus-") as place, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = arguments.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        made = {(a, w): [pool.submit(compile_one, nvcc, source, a, w, folder) for source in sources()] for a, w in chosen}
        for (architecture, way), cubins in made.items():
            report = lint_corpus([cubin.result() for cubin in cubins])
            known = KNOWN_WRONG.get((architecture, way), frozenset())
            wrong, judged = compare(report, labels(), known), sum(v.judged for v in report.verdicts)
            print(f"{architecture} {way}: {judged} kernels, {len(wrong)} disagreements besides the {len(known)} known ones, "
                  f"{report.instructions} instructions in {report.own_seconds:.2f} s", flush=True)
            for one in wrong:
                print(f"    {one.kernel}: {one.what}")
            bad += len(wrong)
            cells[architecture, way] = (judged, len(_disagreements(report, labels())), report.instructions)
            if arguments.record:  # after each, so that an interrupted run leaves what it found
                RECORD.write_text(as_markdown(cells))
    return 1 if bad else 0
