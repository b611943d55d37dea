"""`python3 conformance stress zoo`: the detector's own proof on this GPU: planted bugs are found and named, twins never."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pdlkit.arguments import Parser
from pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from pdlkit.gpu_query import query
from pdlkit.stress import zoo_server
from pdlkit.stress.options import seed_of
from pdlkit.stress.plan import GRAPH_HOLD_NS, Plan, separating_sets
from pdlkit.stress.search import nearest, search
from pdlkit.stress.zoo_server import Entry, Server

EAGER_HOLD_NS = {"stream": 20_000, "stream eager": 150_000}  # launched from C++, from Python
ENOUGH = 0.99


@dataclass
class Line:
    """One bug in the table."""

    name: str
    bug: str
    shape: str
    path: str
    runs: int = 0
    natural: int = 0          # wrong runs with nothing held
    shown: int = 0            # runs that at least one plan of a default session makes go wrong
    best_plan: int = 0        # wrong runs under the best single plan
    twin_runs: int = 0
    twin_wrong: int = 0
    expected: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)

    def good(self) -> bool:
        """Shown, named and not imagined."""
        return self.shown >= ENOUGH * self.runs and self.named == sorted(self.expected) and self.twin_wrong == 0


def plans(entry: Entry, which: str, seed: int, hold_ns: int | None) -> list[Plan]:
    """The plans of one seed of a default session of `stress`."""
    kernels = entry.kernels(which)
    length = hold_ns or EAGER_HOLD_NS.get(entry.path, GRAPH_HOLD_NS)
    base = Plan(seed, lengths=dict.fromkeys(kernels, length))
    found = [replace(base, hold=held) for held in separating_sets(kernels, seed)]
    return [*found, replace(base, hold=frozenset(kernels), mixed=True)]


def examine(server: Server, entry: Entry, given: object) -> Line:
    """Everything about one bug and its twin."""
    line = Line(entry.name, entry.bug, entry.shape, entry.path, given.runs, expected=entry.races)
    kernels = entry.kernels("bug")
    server.use(Plan(off=True), kernels)
    line.natural = server.run(entry, "bug", given.runs).count("X")
    shown = [False] * given.runs
    failing = []
    for plan in plans(entry, "bug", given.seed, given.hold):
        server.use(plan, kernels)
        marks = server.run(entry, "bug", given.runs)
        shown = [before or mark == "X" for before, mark in zip(shown, marks)]
        line.best_plan = max(line.best_plan, marks.count("X"))
        failing += [plan] if "X" in marks else []
    line.shown = sum(shown)
    _name(server, entry, line, failing, given.confirm)
    _twin(server, entry, line, given)
    return line


def _name(server: Server, entry: Entry, line: Line, failing: list[Plan], confirm: int) -> None:
    kernels = entry.kernels("bug")

    def fails(plan: Plan) -> bool:
        server.use(plan, kernels)
        return "X" in server.run(entry, "bug", confirm)

    found = search([plan for plan in failing if not plan.mixed] or failing, sorted(kernels), fails)
    near, others = nearest(found.races, kernels)
    line.named = sorted(f"{race.primary}>{'+'.join(race.dependents)}" for race in near)
    line.also = sorted(f"{race.primary}>{'+'.join(race.dependents)}" for race in others)
    line.unexplained = found.unexplained


def _twin(server: Server, entry: Entry, line: Line, given: object) -> None:
    chosen = plans(entry, "twin", given.seed, given.hold)
    for number, plan in enumerate(chosen):
        share = given.twin_runs * (number + 1) // len(chosen) - given.twin_runs * number // len(chosen)
        server.use(plan, entry.kernels("twin"))
        marks = server.run(entry, "twin", share)
        line.twin_runs += len(marks)
        line.twin_wrong += marks.count("X")


def cost(server: Server, given: object) -> dict[str, dict[str, float]]:
    """A chain of 1,000 launch-bound graph kernels, with waits and PDL and without: microseconds per replay."""
    found = {}
    for kind, kernel in (("pdl", "chain"), ("plain", "chain_plain")):
        server.use(Plan(off=True), [kernel])
        plain = float(server.ask(f"cost {kind} 1000")["us"])
        # as a session does it: only kernels that the next launch may overlap are held
        held = frozenset([kernel]) if kind == "pdl" else frozenset()
        server.use(Plan(given.seed, hold=held, lengths={kernel: given.hold or GRAPH_HOLD_NS}), [kernel])
        stressed = float(server.ask(f"cost {kind} 1000")["us"])
        found[kind] = {"plain_us": plain, "stressed_us": stressed, "ratio": stressed / plain if plain else 0.0}
    return found


def _parser() -> Parser:
    parser = Parser("stress zoo", "Plant PDL bugs and their corrected twins on this GPU; count what is shown, named and imagined.")
    parser.add_argument("--runs", type=int, default=100, metavar="N", help="runs per bug and plan (default %(default)s)")
    parser.add_argument("--twin-runs", type=int, default=1000, metavar="N", help="runs per twin (default %(default)s)")
    parser.add_argument("--confirm", type=int, default=5, metavar="N", help="runs per question of the bisection (default %(default)s)")
    parser.add_argument("--seed", default="1", metavar="HEX", help="64 bits (default %(default)s)")
    parser.add_argument("--hold", type=int, metavar="NS", help=f"hold (default {GRAPH_HOLD_NS} in graphs, longer in streams)")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this bug (repeatable)")
    parser.add_argument("--arch", metavar="CC", help="build for this architecture, such as 90 (default: the GPU's)")
    parser.add_argument("--build-only", action="store_true", help="compile the zoo and stop (needs no GPU)")
    parser.add_argument("--no-triton", action="store_true", help="leave the Triton pair out")
    parser.add_argument("--output", metavar="FILE", help="write the report as JSON here")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    return parser


def _device() -> dict[str, object]:
    """The first GPU as the driver names it."""
    found = query()
    if "error" in found or not found["devices"]:
        raise SetupImpossible(f"there is no NVIDIA GPU here ({found.get('error', 'the driver lists none')}); "
                              "--build-only --arch 90 compiles the zoo without one")
    return {**found["devices"][0], "driver": found["driver"]}  # type: ignore[index]


def _row(line: Line) -> str:
    named = "right" if line.named == sorted(line.expected) else f"WRONG: {', '.join(line.named) or 'nobody'}"
    return (f"{line.name:<18} {line.bug:<4} {line.path:<13} {line.natural:>4}/{line.runs:<5} {line.shown:>4}/{line.runs:<5} "
            f"{line.twin_wrong:>3}/{line.twin_runs:<6} {named}")


def _servers(given: object, command: list[str]) -> list[list[str]]:
    commands = [command]
    script = zoo_server.SOURCES / "zoo_triton.py"
    if not given.no_triton and script.is_file():
        commands.append([sys.executable, str(script)])
    return commands


def _examine_all(given: object, commands: list[list[str]], folder: Path, stream: object) -> dict[str, object]:
    report: dict[str, object] = {"seed": f"{given.seed:016x}", "lines": [], "skipped": []}
    for number, command in enumerate(commands):
        server = Server(command, folder / f"session-{number}")
        try:
            for entry in server.entries():
                if given.only and entry.name not in given.only:
                    continue
                line = examine(server, entry, given)
                print(_row(line), file=stream, flush=True)
                report["lines"].append({**asdict(line), "good": line.good()})  # type: ignore[attr-defined]
            if number == 0:
                report["cost"] = cost(server, given)
        except SetupImpossible as error:
            if number == 0:
                raise
            report["skipped"].append(str(error))  # type: ignore[attr-defined]
            print(f"skipped: {error}", file=stream, flush=True)
        finally:
            server.close()
    return report


def main(argv: list[str]) -> int:
    """0 if every bug is shown and named and no twin ever fails."""
    given = _parser().parse_args(argv)
    if min(given.runs, given.twin_runs, given.confirm) < 1:
        raise BadArguments("--runs, --twin-runs and --confirm take 1 or more")
    given.seed = seed_of(given.seed)
    stream = sys.stderr if given.json else sys.stdout
    folder = zoo_server.work_folder()
    began = time.monotonic()
    device = {} if given.build_only and given.arch else _device()
    command = zoo_server.build(folder, given.arch or str(device["cc"]))
    print(f"built in {time.monotonic() - began:.1f} s", file=stream, flush=True)
    if given.build_only:
        return OK
    print(f"{'bug':<18} {'like':<4} {'path':<13} {'natural':>10} {'shown':>10} {'twin wrong':>10} named by bisection", file=stream)
    report = {"device": device} | _examine_all(given, _servers(given, command), folder, stream)
    report["seconds"] = time.monotonic() - began
    good = sum(line["good"] for line in report["lines"])  # type: ignore[union-attr]
    print(f"{good} of {len(report['lines'])} bugs shown, named and twin silent; {report['seconds']:.0f} s; "  # type: ignore[arg-type]
          f"cost of a 1,000-kernel graph: {json.dumps(report.get('cost'))}", file=stream)
    text = json.dumps(report, indent=2)
    if given.output:
        Path(given.output).write_text(text + "\n", encoding="utf-8")
    if given.json:
        print(text)
    return OK if good == len(report["lines"]) else FAILED  # type: ignore[arg-type]
