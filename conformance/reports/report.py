"""The command `report`: pages and interchange files from one report.json."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments
from conformance.pdlkit.output_folder import check_file, in_one_step
from conformance.reports.complete import read_complete
from conformance.reports.content import Report
from conformance.reports.interchange import write_ctrf, write_junit
from conformance.reports.markdown import write_markdown, write_summary
from conformance.reports.page import write_page

FORMS: dict[str, tuple[Callable[[Report], str], str]] = {
    "html": (write_page, "one HTML file: no script, nothing that is fetched"),
    "markdown": (write_markdown, "Markdown for an issue"),
    "junit": (write_junit, "JUnit XML"),
    "ctrf": (write_ctrf, "Common Test Report Format, JSON"),
}


def parser() -> Parser:
    """The command line of `report`."""
    made = Parser(
        "report",
        "pages and interchange files from one report.json; nothing in them that is not in it",
        epilog="OUT may be - for stdout. Without an option the HTML page is written as report.html beside the report.",
    )
    made.add_argument("file", type=Path, metavar="FILE", help="a report.json, or the folder that holds it")
    for name, (_, what) in FORMS.items():
        made.add_argument(f"--{name}", metavar="OUT", help=what)
    made.add_argument("--github", action="store_true", help="append a summary to $GITHUB_STEP_SUMMARY, or print it where there is none")
    return made


def deliver(text: str, out: str) -> None:
    """Write the text in one step, so that nobody reads half of it; - is stdout."""
    if out == "-":
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        return
    final = Path(out)
    check_file(final)
    try:
        with in_one_step(final) as draft:
            draft.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise BadArguments(f"{out} cannot be written: {error.strerror}; name another place") from None
    print(f"wrote {places.shown(final)}", file=sys.stderr)


def _summary(text: str) -> None:
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        return
    try:
        with open(target, "a", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError as error:
        raise BadArguments(f"GITHUB_STEP_SUMMARY={target} cannot be written: {error.strerror}") from None


def main(argv: list[str]) -> int:
    """Write every form that was asked for."""
    options = parser().parse_args(argv)
    report = read_complete(options.file)
    wanted = {name: out for name in FORMS if (out := getattr(options, name))}
    if list(wanted.values()).count("-") + (options.github and not os.environ.get("GITHUB_STEP_SUMMARY")) > 1:
        raise BadArguments("only one form at a time can go to stdout")
    if not wanted and not options.github:
        folder = options.file if options.file.is_dir() else options.file.parent
        wanted = {"html": str(folder / "report.html")}
    for name, out in wanted.items():
        deliver(FORMS[name][0](report), out)
    if options.github:
        _summary(write_summary(report))
    return OK
