"""`python3 conformance stress rewrite IN OUT`: rewrite one file: PTX, a cubin or a fat binary."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments, SetupImpossible
from conformance.pdlkit.output_folder import in_one_step
from conformance.pdlkit.read_report import Unreadable, read_plain
from conformance.rewrite import library as machine_code
from conformance.stress import options as stress_options
from conformance.stress.plan import NOTHING
from conformance.stress.ptx.rewriter import Outcome, rewrite

NOTHING_DONE = 2
_ELF, _CONTAINER = b"\x7fELF", b"\x50\xed\x55\xba"


def _parser() -> Parser:
    parser = Parser("stress rewrite", "Give every kernel of a file its own trigger and a bounded hold at its entry.")
    parser.add_argument("source", metavar="IN", help="PTX, a cubin or a fat binary; - for PTX from standard input")
    parser.add_argument("target", metavar="OUT", help="where to write it; - for PTX to standard output")
    parser.add_argument("--seed", default="0", metavar="HEX", help="chooses each block's delay (default 0)")
    parser.add_argument("--hold", type=int, default=stress_options.DEFAULT_HOLD_NS, metavar="NS",
                        help="longest hold, 0 for the trigger alone (default %(default)s)")
    parser.add_argument("--least", type=int, default=0, metavar="NS", help="shortest hold (default %(default)s)")
    parser.add_argument("--only", metavar="REGEX", help="only kernels whose name, mangled or not, matches")
    parser.add_argument("--exempt", metavar="REGEX", help="leave these kernels alone")
    parser.add_argument("--protect", metavar="REGEX", help="give these kernels a wait at entry")
    parser.add_argument("--after-wait", action="store_true", help="hold after each wait, too")
    parser.add_argument("--before-exit", action="store_true", help="hold before each exit, too")
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    return parser


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else read_plain(Path(name))
    except OSError as error:
        raise BadArguments(f"cannot read standard input: {error.strerror}") from error
    except Unreadable as reason:
        raise BadArguments(f"cannot read {name}: {reason}") from None


def _write(name: str, text: str) -> None:
    data = text.encode("utf-8", errors="surrogateescape")
    try:
        if name == "-":
            sys.stdout.buffer.write(data)
        else:
            with in_one_step(Path(name)) as draft:
                draft.write_bytes(data)
    except OSError as error:
        raise BadArguments(f"cannot write {name}: {error.strerror}") from error


@dataclass
class Report:
    """The report on a rewritten file."""

    rewritten: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    raised: list[str] = field(default_factory=list)
    fence_before_trigger: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    triggering: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """The report as lines of text."""
        lines = [f"raised {what}" for what in self.raised]
        lines += [f"left alone: {name}: {why}" for name, why in sorted(self.left.items())]
        return lines + [f"fence right before a trigger in {name}: if it publishes its stores that way, which is legal, exempt it by name"
                        for name in self.fence_before_trigger]


def _of_ptx(outcome: Outcome) -> Report:
    return Report(outcome.rewritten, outcome.left, outcome.raised, outcome.fenced, outcome.waiting, outcome.triggering)


def _tool(arguments: list[str]) -> tuple[list[dict[str, object]], str]:
    """The lines that the rewriter printed, and its error messages."""
    done = subprocess.run([str(machine_code.tool()), *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, NOTHING_DONE):
        raise SetupImpossible(done.stderr.strip() or f"the rewriter ended with exit code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.strip()


def rewrite_machine_code(source: Path, target: Path, chosen: stress_options.Options) -> Report:
    """A cubin or fat binary: one call lists its kernels, the next rewrites them by a plan that names each."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan")
        plan.write_text("* 0 0 0 1\n")
        kernels, _ = _tool([str(source), str(Path(folder, "out")), "--plan", str(plan)])
        lines = []
        for name in dict.fromkeys(str(entry["kernel"]) for entry in kernels if "kernel" in entry):
            settings = chosen.choose(name)
            if isinstance(settings, str):
                report.left[name] = settings
            words = (NOTHING if isinstance(settings, str) else settings).words(name)
            lines.append(" ".join(map(str, (name, *words))))
        plan.write_text("\n".join(lines) + "\n")
        outcomes, complaint = _tool([str(source), str(target), "--plan", str(plan)])
    for entry in outcomes:
        if "image" in entry:
            report.left[str(entry["image"])] = str(entry["passed_on"])
        elif entry["rewritten"]:
            report.rewritten.append(str(entry["kernel"]))
        elif entry.get("refusal"):
            report.left[str(entry["kernel"])] = str(entry["refusal"])
        for word, into in (("waits", report.waiting), ("triggers", report.triggering)):
            into += [str(entry["kernel"])] if entry.get(word) else []
    report.left |= {"*": complaint.rpartition(": ")[2]} if complaint else {}
    return report


def main(argv: list[str]) -> int:
    """0 if a kernel was rewritten, 2 if none could be (the output is then the input)."""
    given = _parser().parse_args(argv)
    if given.json and given.target == "-":
        raise BadArguments("--json and a rewritten file cannot both go to standard output")
    chosen = stress_options.checked(stress_options.Options(
        seed=stress_options.seed_of(given.seed), hold_ns=given.hold, least_ns=given.least, only=given.only,
        exempt=given.exempt, protect=given.protect, after_wait=given.after_wait, before_exit=given.before_exit))
    data = _read(given.source)
    if data[:4] in (_ELF, _CONTAINER):
        if "-" in (given.source, given.target):
            raise BadArguments("machine code is read from a file and written to a file, not to or from a pipe")
        report = rewrite_machine_code(Path(given.source), Path(given.target), chosen)
    else:
        outcome = rewrite(data.rstrip(b"\0").decode("utf-8", errors="surrogateescape"), chosen.choose)
        _write(given.target, outcome.text)
        report = _of_ptx(outcome)
    if given.json:
        print(json.dumps(report.__dict__, indent=2))
    else:
        for line in report.notes():
            print(f"stress rewrite: {line}", file=sys.stderr)
        print(f"stress rewrite: {len(report.rewritten)} kernels rewritten", file=sys.stderr)
    return OK if report.rewritten else NOTHING_DONE
