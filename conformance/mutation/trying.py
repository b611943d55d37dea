"""What the two mutation runs share: their options, and the loop that tries changes and says what lived."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.mutation.draw import Change
from conformance.mutation.explained import Explained
from conformance.pdlkit import places
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, KitExit

UNCOUNTED = ("does not compile", "same machine code")
Notices = Callable[[Change], str | None]


def parser_of(what: str) -> argparse.ArgumentParser:
    """The options that both runs have."""
    parser = argparse.ArgumentParser(description=what, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=60, metavar="N", help="how many changes are tried (60)")
    parser.add_argument("--seed", type=lambda text: int(text, 16), default=1, metavar="HEX", help="which ones (1)")
    parser.add_argument("--file", metavar="NAME", help="only files whose path ends so")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the build here and use it again")
    return parser


def try_all(changes: Sequence[Change], notices: Notices) -> int:
    """Try each change; FAILED if one lives and nobody said why."""
    explained = Explained()
    lived = known = uncounted = 0
    for number, change in enumerate(changes, 1):
        began = time.monotonic()
        by, why = notices(change), explained.reason(change)
        uncounted += by in UNCOUNTED
        known += by is None and why is not None
        if by is None and why is None:
            lived += 1
            print(f"SURVIVED {change.words()}", flush=True)
        print(f"{number} of {len(changes)}, {time.monotonic() - began:.1f} s: {by or why or 'NOTHING NOTICED IT'}: {change.words()}",
              file=sys.stderr, flush=True)
    counted = len(changes) - uncounted
    print(f"{counted} changes: {counted - lived - known} noticed, {known} explained, {lived} survived; "
          f"{uncounted} more do not compile or are the same machine code")
    for entry in explained.stale(places.ROOT):
        print(f"explained, and no longer there: {entry}")
    if changes and not counted:
        print("no change was tried: choose more, or another seed")
    return FAILED if lived or (changes and not counted) else OK


def run(name: str, parser: argparse.ArgumentParser, argv: list[str] | None, mutate: Callable[[argparse.Namespace, Path], int]) -> int:
    """The command: parse, make a work folder, try."""
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        if options.work:
            options.work.mkdir(parents=True, exist_ok=True)
            return mutate(options, options.work.resolve())
        with tempfile.TemporaryDirectory() as folder:
            return mutate(options, Path(folder))
    except KitExit as stop:
        print(f"{name}: {stop}", file=sys.stderr)
        return stop.code
