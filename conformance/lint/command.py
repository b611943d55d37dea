"""The command line of lint."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from conformance.lint import output
from conformance.lint.declarations import load
from conformance.lint.findings import RULES
from conformance.lint.linter import Options, lint_files
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import BadArguments

_EPILOG = """\
exit codes: 0 clean, 1 findings above hint, 2 a file could not be analysed (and no finding), 64 bad arguments,
69 set-up impossible. A kernel is judged if it has a wait or is named by --overlapping.
What lint can and cannot see: conformance/lint/README.md"""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        "lint", "Finds accesses to global memory before, or without, the wait on some path, in .cubin, .fatbin, .o, .a,\n"
        ".so, executables and .ptx. Needs no GPU.", epilog=_EPILOG)
    parser.add_argument("files", metavar="FILE", nargs="*")
    parser.add_argument("--overlapping", metavar="REGEX",
                        help="kernels that are launched with overlap: searched in the mangled and the demangled name")
    parser.add_argument("--independent", metavar="TOML", action="append", default=[],
                        help="declarations of early reads that are right: [[independent]] kernel, parameter, because")
    parser.add_argument("--arch", metavar="SM", action="append", default=[],
                        help="only this architecture of a container, e.g. sm_90; may be repeated")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="JSON on stdout and nothing else there")
    form.add_argument("--sarif", action="store_true", help="SARIF 2.1.0 on stdout and nothing else there")
    parser.add_argument("--no-hints", action="store_true", help="leave hints out of the text")
    parser.add_argument("--timing", action="store_true", help="how fast it was, on stderr")
    parser.add_argument("--list-rules", action="store_true", help="every finding there is, with its severity")
    return parser


def _pattern(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise BadArguments(f"--overlapping: {error}") from None


def _architectures(values: list[str]) -> frozenset[int]:
    numbers = [re.fullmatch(r"(?:sm_)?(\d+)[af]?", v) for v in values]
    if not all(numbers):
        raise BadArguments("--arch wants a name such as sm_90")
    return frozenset(int(n.group(1)) for n in numbers if n)


def main(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.list_rules:
        for name, rule in RULES.items():
            print(f"{rule.severity:<8} {name:<24} {rule.title}")
        return 0
    if not arguments.files:
        raise BadArguments("name at least one FILE (see --help)")
    options = Options(_pattern(arguments.overlapping), [d for p in arguments.independent for d in load(Path(p))],
                      _architectures(arguments.arch))
    report = lint_files([Path(f) for f in arguments.files], options)
    if arguments.json:
        output.say(output.dump(output.as_json(report)), "utf-8")
    elif arguments.sarif:
        output.say(output.dump(output.as_sarif(report)), "utf-8")
    else:
        output.say(output.as_text(report, hints=not arguments.no_hints))
    for file, message in report.unreadable:
        print(output.visible(f"lint: {file}: {message}"), file=sys.stderr)
    if options.overlapping is not None and not report.named:
        print(f"lint: --overlapping {options.overlapping.pattern}: no kernel matches", file=sys.stderr)
    if arguments.timing:
        rate = report.instructions / report.own_seconds if report.own_seconds else 0
        print(f"lint: {report.instructions} instructions, own code {report.own_seconds:.2f} s ({rate:,.0f}/s), "
              f"disassembler {report.disassembler_seconds:.2f} s", file=sys.stderr)
    return output.exit_code(report)
