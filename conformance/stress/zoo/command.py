"""`python3 conformance stress zoo`: proof on this GPU that planted bugs are found and named, and corrected twins are not."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import FAILED, OK, BadArguments, SetupImpossible
from conformance.pdlkit.gpu_query import query
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.sources import digest_of
from conformance.pdlkit.toolchain import dotted, find_nvcc
from conformance.stress.options import seed_of
from conformance.stress.plan import GRAPH_HOLD_NS
from conformance.stress.zoo import server as zoo_server
from conformance.stress.zoo.examine import Amount, Examiner, Line, cost
from conformance.stress.zoo.server import Entry, Server, ZooError

SCHEMA = "pdl-stress-zoo/1"


def _parser() -> Parser:
    parser = Parser("stress zoo", "Plant PDL bugs and their corrected twins on this GPU; count what is shown, named and imagined.")
    parser.add_argument("--runs", type=int, default=100, metavar="N", help="runs per bug and plan (default %(default)s)")
    parser.add_argument("--twin-runs", type=int, default=1000, metavar="N", help="runs per twin (default %(default)s)")
    parser.add_argument("--confirm", type=int, default=5, metavar="N", help="runs per question of the bisection (default %(default)s)")
    parser.add_argument("--seed", default="1", metavar="HEX", help="64 bits (default %(default)s)")
    parser.add_argument("--hold", type=int, metavar="NS", help=f"hold (default {GRAPH_HOLD_NS} in graphs, by the pace in streams)")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this bug (repeatable)")
    parser.add_argument("--arch", metavar="CC", help="build for this architecture, such as 90 (default: the GPU's)")
    parser.add_argument("--build-only", action="store_true", help="compile the zoo and stop (needs no GPU)")
    parser.add_argument("--no-triton", action="store_true", help="leave the Triton pair out")
    parser.add_argument("--stop-after", type=float, metavar="S", help="begin no further bug after so many seconds")
    parser.add_argument("--output", metavar="FILE", help="write the report as JSON here, after each bug")
    parser.add_argument("--resume", action="store_true", help="keep the good lines of --output that were made with the same numbers")
    parser.add_argument("--json", action="store_true", help="nothing but JSON on stdout")
    return parser


def _driver_version() -> str | None:
    """The driver's version as nvidia-smi prints it."""
    try:
        nvml, text = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.create_string_buffer(96)
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
            return text.value.decode()
    except (OSError, AttributeError):
        pass
    return None


def _device() -> dict[str, object]:
    """The first GPU as the driver names it."""
    found = query()
    devices = found.get("devices")
    if not isinstance(devices, list) or not devices:
        raise SetupImpossible(f"there is no NVIDIA GPU here ({found.get('error', 'the driver lists none')}); "
                              "--build-only --arch 90 compiles the zoo without one")
    nvcc = find_nvcc()
    return {**devices[0], "driver": _driver_version(), "driver_api": found["driver"],
            "toolkit": dotted(nvcc.version) if nvcc else None}


def sources_hash(*more: Path) -> str:
    """Changes whenever what decides does, so that --resume never mixes two states and a record says what made it.

    That is the zoo, the detector, the injection library, the rewriter with the code it puts in, and what the kernels include. Comments,
    layout, docstrings, tests and `pdl-rewrite`, which the zoo does not run, decide nothing. The code that only `trace` puts in stands in
    the same table, stubs.c, and counts: nothing shows that it is apart, and a whole zoo takes half a minute.
    """
    tool, rewriter = zoo_server.SOURCES.parent, zoo_server.SOURCES.parent.parent / "rewrite"
    files = [*zoo_server.SOURCES.iterdir(), *tool.glob("*.py"), tool / "ptx" / "hold_code.py", *tool.glob("injection/*"),
             *rewriter.glob("*.[ch]"), *rewriter.glob("injection/*"), ROOT / "pdl_device.cuh", *more]
    return digest_of(path for path in files if path != rewriter / "main.c")


def _row(line: Line) -> str:
    if line.error:
        return f"{line.name:<18} {line.bug:<4} {line.path:<13} ERROR: {line.error}"
    if line.impossible_here():
        return (f"{line.name:<18} {line.bug:<4} {line.path:<13} {line.natural:>4}/{line.runs:<5} {line.shown:>4}/{line.runs:<5} "
                f"{line.twin_wrong:>3}/{line.twin_runs:<6} cannot show here: {line.candidate}")
    labels = f" ({', '.join(sorted(set(line.labels.values())))})"
    named = f"right{labels}" if line.right() else f"WRONG: {', '.join(line.named) or 'nobody'}{labels}"
    if line.header is not None:
        named += f"; PDL_STRESS {line.header}/{line.runs}, twin {line.header_twin}"
    same = "" if line.hold_0_same else "; twin DIFFERS with a hold of 0"
    return (f"{line.name:<18} {line.bug:<4} {line.path:<13} {line.natural:>4}/{line.runs:<5} {line.shown:>4}/{line.runs:<5} "
            f"{line.twin_wrong:>3}/{line.twin_runs:<6} {named}{same}")


@dataclass
class Session:
    """All bugs of the zoo, one after the other; the report on disk is complete after each of them."""

    amount: Amount
    stream: TextIO
    output: Path | None
    until: float
    only: list[str] | None = None
    report: dict[str, object] = field(default_factory=dict)
    lines: list[dict[str, object]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Print a line for the user."""
        print(text, file=self.stream, flush=True)

    def good(self) -> int:
        """How many bugs are shown and named with a silent twin."""
        return sum(bool(line["good"]) for line in self.lines)

    def bugs(self) -> int:
        """How many bugs can show on this GPU."""
        return sum(not line["impossible_here"] for line in self.lines)

    def keep(self) -> None:
        """Write the report as it is now."""
        self.report |= {"lines": self.lines, "skipped": self.skipped, "good": self.good(), "bugs": self.bugs()}
        if self.output:
            fresh = self.output.with_name(f"{self.output.name}.{os.getpid()}")
            fresh.write_text(json.dumps(self.report, indent=1) + "\n", encoding="utf-8")
            fresh.replace(self.output)

    def examine(self, plain: Server, stressed: Server, header: Server | None = None) -> None:
        """Every bug of one pair of programs."""
        try:
            entries, skipped = stressed.entries()
        except ZooError as error:
            self.skipped[Path(stressed.command[-1]).name] = str(error)
            self.say(f"skipped: {error}")
            return self.keep()
        self.skipped |= skipped
        for name, why in skipped.items():
            self.say(f"skipped: {name}: {why}")
        done = {line["name"] for line in self.lines}
        for entry in entries:
            if (self.only is None or entry.name in self.only) and entry.name not in done:
                self._one(plain, stressed, header, entry)
        self.keep()

    def _one(self, plain: Server, stressed: Server, header: Server | None, entry: Entry) -> None:
        if time.monotonic() > self.until:
            self.skipped[entry.name] = "the time given by --stop-after was over"
            return
        examiner = Examiner(plain, stressed, entry, self.amount, header)
        try:
            examiner.examine()
        except ZooError as error:
            examiner.line.error = str(error)
        self.say(_row(examiner.line))
        self.lines.append(examiner.line.report())
        self.keep()

    def cost(self, plain: Server, stressed: Server, hold_ns: int | None) -> None:
        """Measure what the detector adds to the running time."""
        try:
            self.report["cost_of_1000_graph_kernels"] = found = cost(plain, stressed, self.amount.seed, hold_ns)
            self.say("cost of a chain of 1,000 graph kernels: " + "; ".join(
                f"{kind}: {times['plain_us']:.0f} us, stressed {times['ratio']:.2f}x" for kind, times in found.items()))
        except ZooError as error:
            self.skipped["cost"] = str(error)
            self.say(f"skipped: cost: {error}")
        self.keep()


def _groups(given: argparse.Namespace, commands: dict[str, list[str]], folder: Path) -> list[list[Server]]:
    """Plain, stressed, and, where there is one, the build with PDL_STRESS."""
    groups = [[Server(commands["plain"], folder / "plain", False), Server(commands["stressed"], folder / "stressed", True),
               Server(commands["header"], folder / "header", False)]]
    script = zoo_server.SOURCES / "zoo_triton.py"
    if not given.no_triton:
        python = [sys.executable, str(script)]
        # PyTorch's own kernels would take long to load eagerly, and Triton's are loaded before they are counted
        groups.append([Server(python, folder / "plain-triton", False, True), Server(python, folder / "stressed-triton", True, True)])
    return groups


def _resumed(path: Path | None, report: dict[str, object]) -> list[dict[str, object]]:
    """The good lines of an earlier report on the same device, sources and numbers."""
    if path is None or not path.is_file():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))
    if any(before.get(name) != report[name] for name in ("schema", "device", "amount", "sources")):
        return []
    return [line for line in before["lines"] if line["good"]]


def _checked(given: argparse.Namespace) -> Amount:
    if min(given.runs, given.twin_runs, given.confirm) < 1:
        raise BadArguments("--runs, --twin-runs and --confirm take 1 or more")
    if given.resume and not given.output:
        raise BadArguments("--resume needs --output, the file to go on with")
    return Amount(given.runs, given.twin_runs, given.confirm, seed_of(given.seed), given.hold)


def main(argv: list[str]) -> int:
    """0 if every bug is shown and named, no twin ever fails and nothing had to be skipped."""
    given = _parser().parse_args(argv)
    amount = _checked(given)
    stream = sys.stderr if given.json else sys.stdout
    folder, began = zoo_server.work_folder(), time.monotonic()
    device = {} if given.build_only and given.arch else _device()
    commands = zoo_server.build(folder, given.arch or str(device["cc"]))
    print(f"built in {time.monotonic() - began:.1f} s", file=stream, flush=True)
    if given.build_only:
        return OK
    report: dict[str, object] = {"schema": SCHEMA, "device": device, "sources": sources_hash(), "amount": {**amount.__dict__}}
    output = Path(given.output) if given.output else None
    until = began + given.stop_after if given.stop_after else float("inf")
    session = Session(amount, stream, output, until, given.only, report, _resumed(output, report) if given.resume else [])
    groups = _groups(given, commands, folder)
    for server in [server for group in groups for server in group]:
        server.start()  # the imports of PyTorch run beside the first bugs; none of them touches the GPU yet
    session.say(f"{'bug':<18} {'like':<4} {'path':<13} {'natural':>10} {'shown':>10} {'twin wrong':>10} named by bisection")
    for number, group in enumerate(groups):
        session.examine(*group)
        if number == 0 and not given.only:
            session.cost(group[0], group[1], given.hold)
        for server in group:
            server.close()
    seconds = time.monotonic() - began
    report["seconds"] = seconds
    session.keep()
    good, bugs = session.good(), session.bugs()
    session.say(f"{good} of {bugs} bugs shown and named with a silent twin; "
                f"{len(session.lines) - bugs} cannot show here; {len(session.skipped)} skipped; {seconds:.0f} s")
    if given.json:
        print(json.dumps(report, indent=1))
    return OK if bugs and good == bugs and not session.skipped else FAILED
