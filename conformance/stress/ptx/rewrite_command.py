"""`python3 conformance stress rewrite IN.ptx OUT.ptx`: rewrite a file ahead of assembly."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments
from conformance.stress import options as stress_options
from conformance.stress.ptx.rewriter import Outcome, rewrite

NOTHING_DONE = 2


def _parser() -> Parser:
    parser = Parser("stress rewrite", "Give every kernel of a PTX file its own trigger and a bounded hold at its entry.")
    parser.add_argument("source", metavar="IN.ptx", help="PTX to read, - for standard input")
    parser.add_argument("target", metavar="OUT.ptx", help="where to write it, - for standard output")
    parser.add_argument("--seed", default="0", metavar="HEX", help="chooses each block's delay (default 0)")
    parser.add_argument("--hold", type=int, default=stress_options.DEFAULT_HOLD_NS, metavar="NS",
                        help="longest hold, 0 for the trigger alone (default %(default)s)")
    parser.add_argument("--least", type=int, default=0, metavar="NS", help="shortest hold (default %(default)s)")
    parser.add_argument("--only", metavar="REGEX", help="only kernels whose name, mangled or not, matches")
    parser.add_argument("--exempt", metavar="REGEX", help="leave these kernels alone")
    parser.add_argument("--protect", metavar="REGEX", help="give these kernels a wait at entry")
    parser.add_argument("--after-wait", action="store_true", help="hold after each wait, too")
    parser.add_argument("--before-exit", action="store_true", help="hold before each exit, too")
    parser.add_argument("--tunable", action="store_true",
                        help="read the numbers at run time from a module variable, as the compiler wrappers do")
    parser.add_argument("--json", action="store_true", help="report as JSON on stdout")
    return parser


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadArguments(f"cannot read {name}: {error.strerror}") from error
    return data.rstrip(b"\0").decode("utf-8", errors="surrogateescape")


def _write(name: str, text: str) -> None:
    data = text.encode("utf-8", errors="surrogateescape")
    try:
        if name == "-":
            sys.stdout.buffer.write(data)
        else:
            Path(name).write_bytes(data)
    except OSError as error:
        raise BadArguments(f"cannot write {name}: {error.strerror}") from error


def notes(outcome: Outcome) -> list[str]:
    """What a person has to know about a rewritten file."""
    lines = [f"raised {what}" for what in outcome.raised]
    lines += [f"left alone: {name}: {why}" for name, why in sorted(outcome.left.items())]
    lines += [f"fence right before a trigger in {name}: if it publishes that way, which is legal, exempt it by name"
              for name in outcome.fenced]
    return lines


def as_json(outcome: Outcome) -> dict[str, object]:
    """The report without the text."""
    return {"rewritten": outcome.rewritten, "left": outcome.left, "raised": outcome.raised,
            "fence_before_trigger": outcome.fenced, "waiting": outcome.waiting, "triggering": outcome.triggering}


def main(argv: list[str]) -> int:
    """0 if a kernel was rewritten, 2 if none could be (the output is then the input)."""
    given = _parser().parse_args(argv)
    if given.json and given.target == "-":
        raise BadArguments("--json and PTX cannot both go to standard output")
    chosen = stress_options.checked(stress_options.Options(
        seed=stress_options.seed_of(given.seed), hold_ns=given.hold, least_ns=given.least, only=given.only,
        exempt=given.exempt, protect=given.protect, after_wait=given.after_wait, before_exit=given.before_exit))
    outcome = rewrite(_read(given.source), chosen.choose, given.tunable)
    _write(given.target, outcome.text)
    if given.json:
        print(json.dumps(as_json(outcome), indent=2))
    else:
        for line in notes(outcome):
            print(f"stress rewrite: {line}", file=sys.stderr)
        print(f"stress rewrite: {len(outcome.rewritten)} kernels rewritten", file=sys.stderr)
    return OK if outcome.rewritten else NOTHING_DONE
