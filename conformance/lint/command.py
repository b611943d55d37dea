"""The command line of lint."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from conformance.lint import baseline, ci, launches, output, suppressions
from conformance.lint.declarations import Chain, Declaration, load
from conformance.lint.explain import explain
from conformance.lint.findings import RULES
from conformance.lint.images import holds_code
from conformance.lint.json_text import dump
from conformance.lint.judged import ALL, GROUPS, JSON
from conformance.lint.linter import Options, Report, lint_files
from conformance.lint.sarif import as_sarif
from conformance.lint.text import as_text
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.output_folder import in_one_step

_EPILOG = """\
`lint explain RULE` says what a finding means, with a wrong and a right kernel.

exit codes: 0 clean, 1 findings above hint, 2 a file is damaged or could not be analysed (and no finding), 3 no kernel was
judged, or none of those that --overlapping or --launches names, 64 bad arguments, 69 set-up impossible.
A kernel is judged if it has a wait, or if --overlapping, --launches or a declared chain names it.
What lint can and cannot see: conformance/lint/README.md"""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        "lint", "Finds accesses to global memory before, or without, the wait on some path, in .cubin, .fatbin, .o, .a,\n"
        ".so, executables and .ptx. Needs no GPU.", epilog=_EPILOG)
    parser.add_argument("files", metavar="FILE", nargs="*")
    parser.add_argument("--overlapping", metavar="REGEX",
                        help="kernels that are launched with overlap: searched in the mangled and the demangled name")
    parser.add_argument("--launches", metavar="FILE", action="append", default=[],
                        help="a launch log of trace or stress: which kernels were launched with overlap")
    parser.add_argument("--independent", metavar="TOML", action="append", default=[],
                        help="declarations of early accesses that are right: [[independent]] and [[chain]] tables")
    parser.add_argument("--suppress", metavar="TOML", action="append", default=[],
                        help="findings that are accepted, with a reason: [[suppress]] kernel, rule, because")
    parser.add_argument("--baseline", metavar="FILE", action="append", default=[], help="only findings that are not in it fail")
    parser.add_argument("--write-baseline", metavar="FILE", help="write the findings of this run as a baseline")
    parser.add_argument("--arch", metavar="SM", action="append", default=[],
                        help="only this architecture of a container, e.g. sm_90; may be repeated")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="JSON on stdout and nothing else there")
    parser.add_argument("--sarif", metavar="OUT", help="SARIF 2.1.0 into a file; - is stdout")
    form.add_argument("--github", action="store_true", help="annotations of a GitHub workflow on stdout")
    parser.add_argument("--junit", metavar="OUT", help="JUnit XML into a file")
    hints = parser.add_mutually_exclusive_group()
    hints.add_argument("--hints", action="store_true", help="also what is not wrong by itself")
    hints.add_argument("--no-hints", action="store_true", help="no hints, as without --hints")
    parser.add_argument("--not-judged", action="store_true", help="list all kernels that were not judged")
    parser.add_argument("--no-cache", action="store_true", help="analyse everything again")
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


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends lint as SIGINT does: children are stopped and what was written is taken away."""
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _sort_out_sarif(arguments: argparse.Namespace) -> None:
    """`lint --sarif FILE` without another file means stdout; and no file with code is ever written over."""
    out = arguments.sarif
    if out not in (None, "-") and (not arguments.files or holds_code(Path(out))):
        arguments.files.insert(0, out)
        arguments.sarif = "-"
    if arguments.sarif == "-" and (arguments.json or arguments.github):
        raise BadArguments("--sarif - and another form cannot both have stdout; give --sarif a file")


def _options(arguments: argparse.Namespace) -> Options:
    declarations: list[Declaration] = []
    chains: list[Chain] = []
    for path in arguments.independent:
        more, more_chains = load(Path(path))
        declarations += more
        chains += more_chains
    return Options(
        _pattern(arguments.overlapping), declarations, _architectures(arguments.arch),
        launches=launches.load(map(Path, arguments.launches)), chains=chains,
        suppressions=[s for p in arguments.suppress for s in suppressions.load(Path(p))],
        baseline=frozenset().union(*(baseline.load(Path(p)) for p in arguments.baseline)), cached=not arguments.no_cache,
        progress=sys.stderr.isatty(), needs=_needs(arguments))


def _needs(arguments: argparse.Namespace) -> str:
    """What of the findings has to be at hand: less than all of them may be kept in groups and, for JSON, as written."""
    if arguments.sarif or arguments.junit or arguments.github or arguments.write_baseline or (arguments.json and arguments.hints):
        return ALL
    return JSON if arguments.json else GROUPS


def _write(path: str, text: Iterable[str]) -> None:
    try:
        with in_one_step(Path(path)) as draft, draft.open("w", encoding="utf-8", errors="replace") as stream:
            stream.writelines(text)
            stream.write("\n")
    except OSError as error:
        raise SetupImpossible(f"{path}: {error.strerror}") from None


def _print(report: Report, arguments: argparse.Namespace) -> None:
    hints = arguments.hints
    if arguments.json:
        output.say(dump(output.as_json(report, hints)))
    elif arguments.sarif == "-":
        output.say(dump(as_sarif(report, hints)))
    elif arguments.github:
        output.say(ci.as_annotations(report, hints), "utf-8")
    else:
        output.say(as_text(report, hints, arguments.not_judged))
    if arguments.sarif not in (None, "-"):
        _write(arguments.sarif, dump(as_sarif(report, hints)))
    if arguments.junit:
        _write(arguments.junit, [ci.as_junit(report)])


def _say_rest(report: Report, options: Options, arguments: argparse.Namespace) -> None:
    """What is no finding, on stderr."""
    for file, message in report.unreadable:
        print(output.visible(f"lint: {file}: {message}"), file=sys.stderr)
    for note in report.notes:
        print(output.visible(f"lint: {note}"), file=sys.stderr)
    if options.overlapping is not None and report.unmatched:
        print(f"lint: --overlapping {options.overlapping.pattern}: no kernel matches", file=sys.stderr)
    if not any(v.judged for v in report.verdicts) and not report.unreadable:
        print("lint: no kernel was judged: none has a wait, and nothing says that one is launched with overlap (--overlapping, --launches)",
              file=sys.stderr)
    if arguments.timing:
        rate = report.instructions / report.own_seconds if report.own_seconds else 0
        print(f"lint: {report.instructions} instructions, own code {report.own_seconds:.2f} s ({rate:,.0f}/s)", file=sys.stderr)


def main(argv: list[str]) -> int:
    """Lint the files; the exit code of output.exit_code."""
    if argv[:1] == ["explain"] and not Path("explain").exists():
        if len(argv) != 2:
            raise BadArguments("`lint explain` wants one RULE; --list-rules lists them")
        output.say(explain(argv[1]))
        return 0
    arguments = _parser().parse_args(argv)
    if arguments.list_rules:
        for name, rule in RULES.items():
            print(f"{rule.severity:<8} {name:<24} {rule.title}")
        return 0
    _sort_out_sarif(arguments)
    if not arguments.files:
        raise BadArguments("name at least one FILE (see --help)")
    options = _options(arguments)
    with _terminable():
        report = lint_files([Path(f) for f in arguments.files], options)
    if arguments.write_baseline:
        number = baseline.write(Path(arguments.write_baseline), report.each_finding())
        print(f"lint: {number} findings in {arguments.write_baseline}", file=sys.stderr)
    _print(report, arguments)
    _say_rest(report, options, arguments)
    code = output.exit_code(report)
    if arguments.write_baseline and code == output.FOUND:  # the findings are what was asked for
        return output.DAMAGED if report.unreadable else 0
    return code
