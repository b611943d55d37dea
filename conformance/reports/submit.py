"""The command `submit`: checks a result before it goes into the public record, and says where it goes."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import FAILED, OK
from conformance.reports.submission import BLIND, place_for, problems, read_submission

_MOST = 20


def parser() -> Parser:
    """The command line of `submit`."""
    made = Parser(
        "submit",
        "check a report.json before it goes into the public record; nothing is sent anywhere",
        epilog=(
            "exit codes: 0 it can go in, 1 it is refused, 64 bad arguments. Checked: the schema, the digest over the whole report, every\n"
            "number and verdict that follows from others, and that nothing names a machine, a person or a place. What the check cannot\n"
            "see:\n" + "\n".join(f"  - {text}" for text in BLIND)
        ),
    )
    made.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a report.json, or the folder that holds it")
    made.add_argument("--json", action="store_true", help="JSON on stdout, nothing else")
    return made


def _checked(path: Path) -> tuple[list[str], str | None]:
    """What is wrong with this file, and the name it would get."""
    report = read_submission(path / "report.json" if path.is_dir() else path)
    if isinstance(report, str):
        return [report], None
    found = list(problems(report))
    return found, None if found else place_for(report)


def main(argv: list[str]) -> int:
    """Check every file."""
    options = parser().parse_args(argv)
    answers = {str(path): _checked(path) for path in options.files}
    if options.json:
        print(
            json.dumps(
                [{"file": name, "accepted": not wrong, "problems": wrong, "place": place} for name, (wrong, place) in answers.items()],
                indent=1,
            )
        )
    else:
        for name, (wrong, place) in answers.items():
            print(f"{name}: " + ("refused" if wrong else f"accepted; it goes to conformance/results/{place}"))
            print(
                "".join(f"  {text}\n" for text in wrong[:_MOST]) + (f"  and {len(wrong) - _MOST} more\n" if len(wrong) > _MOST else ""),
                end="",
            )
    return FAILED if any(wrong for wrong, _ in answers.values()) else OK
