"""`python3 conformance trace zoo`: every reason for missing overlap as a program on this GPU, named, then confirmed by its absence.

Each program runs twice: broken, where the pair `first` to `second` must be given the expected reason first; and fixed, where the
cause is gone, the pair must overlap more than twice as long (except for waits-first), and the reason must be gone, too.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.compiled import Recipe, compiled
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.private_folder import private_folder
from conformance.pdlkit.toolchain import find_c_compiler, find_nvcc
from conformance.trace import command, session
from conformance.trace.cupti import find_cupti
from conformance.trace.pairs import Pair

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One program and what has to be said of it."""

    name: str
    reason: str
    environment: Mapping[str, str] = field(default_factory=dict)


PROGRAMS = (
    Program("not-asked", "not-asked"), Program("full-edge", "not-asked"), Program("host-bound", "host-bound"),
    Program("no-device-half", "no-device-half"), Program("carve-out", "carve-out"), Program("threads", "no-room"),
    Program("block-slots", "no-room"), Program("shared-memory", "no-room"), Program("never-triggers", "never-triggers"),
    Program("waits-first", "waits-first"), Program("memset", "between"), Program("copy", "between"), Program("host-function", "between"),
    Program("timed-event", "between"), Program("first-launch", "first-launch", {"CUDA_MODULE_LOADING": "LAZY"}),
    Program("cooperative", "cooperative"), Program("too-short", "too-short"),
    Program("event-across-streams", "event-across-streams"), Program("launch-blocking", "launch-blocking", {"CUDA_LAUNCH_BLOCKING": "1"}),
)


@dataclass(frozen=True)
class Seen:
    """What was found in one run of a program."""

    pairs: int
    overlapping: int
    first_reason: str  # of most pairs; empty if there is none
    overlap_us: float  # median


@dataclass(frozen=True)
class Outcome:
    """Both runs of a program."""

    program: str
    expected: str
    broken: Seen
    fixed: Seen

    @property
    def right(self) -> bool:
        """Named, and confirmed by removing the cause."""
        gone = self.fixed.first_reason != self.expected and self.fixed.overlapping * 2 > self.fixed.pairs
        comes = self.fixed.overlap_us > 2 * self.broken.overlap_us or self.expected == "waits-first"
        return bool(self.broken.pairs and self.fixed.pairs and self.broken.first_reason == self.expected and gone and comes)


def _seen(pairs: Iterable[Pair]) -> Seen:
    chosen = [pair for pair in pairs if pair.primary.name.startswith("first") and pair.dependent.name.startswith("second")]
    codes = [pair.reasons[0].code if pair.reasons else "" for pair in chosen]
    overlaps = sorted(pair.overlap_ns / 1000 for pair in chosen)
    return Seen(len(chosen), sum(pair.facts.overlapped for pair in chosen), max(set(codes), key=codes.count) if codes else "",
                overlaps[len(overlaps) // 2] if overlaps else 0.0)


def run_one(program: Program, zoo: Path, kernels: tuple[Path, Path], cupti: Path, folder: Path,
            more: Mapping[str, str] | None = None) -> Outcome:
    """Both runs; `more` is for the environment, so that tests can put a stand-in in the driver's place."""
    found = {}
    for variant in ("broken", "fixed"):
        place = folder / f"{program.name}-{variant}"
        variables = session.environment(place, cupti, None) | dict(more or {})
        variables.pop("CUDA_LAUNCH_BLOCKING", None)
        variables |= program.environment if variant == "broken" else {}
        ran = session.run([str(zoo), program.name, variant, *map(str, kernels)], place, variables, True, 60)
        if ran.code != 0:
            raise SetupImpossible(f"the zoo's program {program.name} ({variant}) ended with {ran.code}")
        pairs, _ = command.pairs_of(command.timelines_of(place), place)
        found[variant] = _seen(pairs)
    return Outcome(program.name, program.reason, found["broken"], found["fixed"])


def build_zoo() -> Path:
    """The program, without kernels."""
    compiler = find_c_compiler()
    if compiler is None:
        raise SetupImpossible("there is no C compiler on PATH for the zoo (Debian and Ubuntu: apt-get install gcc)")
    source = HERE / "zoo.c"
    return compiled(Recipe("trace-zoo", [source], ["-std=gnu11", "-O2", source, "-ldl"], "the zoo of missing overlap"), compiler)


def build_kernels(folder: Path, arch: str) -> tuple[Path, Path]:
    """The kernels for this architecture, and the same compiled from compute_80."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise SetupImpossible("nvcc is not there for the zoo's kernels; put a CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
    made = []
    for virtual in (arch, "80"):
        target = folder / f"kernels-{virtual}.cubin"
        words = [nvcc.path, "-O2", "-cubin", "-gencode", f"arch=compute_{virtual},code=sm_{arch}", "-o", target, HERE / "kernels.cu"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetupImpossible(f"nvcc does not compile the zoo's kernels: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        made.append(target)
    return made[0], made[1]


def main(argv: list[str]) -> int:
    """Run all of it on this GPU."""
    parser = Parser("trace zoo", "Programs without overlap, each for one reason: is it named, and does overlap come once it is gone?")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    parser.add_argument("--only", metavar="NAME", action="append", help=f"one of {', '.join(p.name for p in PROGRAMS)}")
    parser.add_argument("--arch", default="90", metavar="CC", help="compute capability to compile for (default %(default)s)")
    parser.add_argument("--kernels", nargs=2, metavar="CUBIN", help="kernels that were compiled before, and those for compute_80")
    given = parser.parse_args(argv)
    unknown = set(given.only or ()) - {program.name for program in PROGRAMS}
    if unknown:
        raise BadArguments(f"--only: there is no program {', '.join(sorted(unknown))}")
    chosen = [program for program in PROGRAMS if not given.only or program.name in given.only]
    with tempfile.TemporaryDirectory(prefix="zoo-", dir=private_folder("trace")) as name:
        folder = Path(name)
        kernels = (Path(given.kernels[0]), Path(given.kernels[1])) if given.kernels else build_kernels(folder, given.arch)
        outcomes = [run_one(program, build_zoo(), kernels, find_cupti([]), folder) for program in chosen]
    if given.json:
        print(json.dumps([{**asdict(outcome), "right": outcome.right} for outcome in outcomes], indent=1))
    else:
        print(table(outcomes))
    return OK if all(outcome.right for outcome in outcomes) else FAILED


def table(outcomes: Iterable[Outcome]) -> str:
    """For people."""
    lines = [f"{'program':<22}{'expected':<22}{'named':<22}{'overlap broken':>15}{'fixed':>8}"]
    for o in outcomes:
        mark = "" if o.right else "  WRONG"
        lines.append(f"{o.program:<22}{o.expected:<22}{o.broken.first_reason:<22}{o.broken.overlapping:>9}/{o.broken.pairs:<5}"
                     f"{o.fixed.overlapping:>4}/{o.fixed.pairs}{mark}")
    return "\n".join(lines)
