"""The man page and the shells' completions, from the parsers behind --help: one text for all.

    python3 conformance dev manual --output FOLDER       pdl.1, pdl.bash, _pdl (zsh), pdl.tcsh

shtab writes the completions. It is fetched into a venv; the wheel's build has it at hand and calls this with --here.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments
from conformance.pdlkit.venv import ensure_venv

FILES = {"bash": "pdl.bash", "zsh": "_pdl", "tcsh": "pdl.tcsh"}
_ENTRY = "conformance.pdlkit.entry"  # by name: it knows every command
_WITHOUT_PARSER = ("dev",)


class _Found(BaseException):
    """Carries a command's parser out of it, before the command does anything."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser


@contextmanager
def _stopping_at_the_parser() -> Iterator[None]:
    plain = Parser.parse_args

    def found(self: Parser, *_arguments: object, **_more: object) -> NoReturn:
        raise _Found(self)

    Parser.parse_args = found  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Parser.parse_args = plain  # type: ignore[method-assign]


def parser_of(module: str) -> Parser | None:
    """The parser that a command makes: it is taken from the command at work, so that it is the one behind its --help.

    None: the command has parts with parsers of their own.
    """
    with _stopping_at_the_parser():
        try:
            importlib.import_module(module).main([])
        except _Found as found:
            return found.parser
        except BadArguments:
            pass
    return None


def whole(commands: Mapping[str, tuple[str, str]]) -> argparse.ArgumentParser:
    """One parser with every command below it."""
    top = argparse.ArgumentParser(
        "pdl",
        description="Programmatic dependent launch for CUDA: a conformance kit, and lint and stress for missing "
        "waits. In a clone of the project, `python3 conformance` is the same command.",
    )
    below = top.add_subparsers(metavar="COMMAND", title="commands")
    for name, (module, text) in commands.items():
        if name in _WITHOUT_PARSER:
            continue
        below.add_parser(name, help=text)
        parser = parser_of(module)
        if parser is None:
            continue
        parser.prog = f"pdl {name}"
        if parser.usage:
            parser.usage = parser.usage.replace("python3 conformance", "pdl")
        below.choices[name] = parser
    return top


def _commands_of(top: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    found = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


def _roff(text: str) -> str:
    """Text as it stands, for a manual page."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.splitlines())


def write(folder: Path) -> None:
    """All files; shtab has to be importable here."""
    shtab = importlib.import_module("shtab")
    top = whole(importlib.import_module(_ENTRY).COMMANDS)
    folder.mkdir(parents=True, exist_ok=True)
    for shell, name in FILES.items():
        (folder / name).write_text(shtab.complete(top, shell), encoding="utf-8")
    (folder / "pdl.1").write_text(man_page(top), encoding="utf-8")


def man_page(top: argparse.ArgumentParser) -> str:
    """Each --help as it stands, under its command's name."""
    parts = [f'.TH PDL 1 "" "pdl-conformance {version()}" ""', ".SH NAME", "pdl \\- programmatic dependent launch: conformance kit"]
    for name, command in {"pdl": top, **{f"pdl {name}": command for name, command in _commands_of(top).items()}}.items():
        parts += [f'.SH "{name.upper()}"', ".nf", _roff(command.format_help().rstrip()), ".fi"]
    return "\n".join(parts) + "\n"


def version() -> str:
    """From pdl.h, where it stands."""
    text = (places.ROOT / "pdl.h").read_text(encoding="utf-8")
    found = {
        part: line.split()[2]
        for line in text.splitlines()
        for part in ("MAJOR", "MINOR", "PATCH")
        if line.startswith(f"#define PDL_VERSION_{part} ")
    }
    return ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH"))


def main(argv: Sequence[str] | None = None) -> int:
    """Write them here, or in a venv that has the libraries."""
    parser = argparse.ArgumentParser(description="Write the man page and the shells' completions.")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--here", action="store_true", help="this Python has shtab")
    options = parser.parse_args(argv)
    if options.here:
        write(options.output)
        return OK
    python = ensure_venv("manual")
    command = [str(python), str(places.KIT), "dev", "manual", "--here", "--output", str(options.output)]
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
