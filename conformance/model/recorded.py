"""The command line of what is recorded of the model's harness: compare it with what the harness does now, or record that."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from conformance.model import on_model
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, KitExit

T = TypeVar("T")
SHOWN = 40  # differences that are printed


def compare_or_write(
    name: str, description: str, file: Path, ask: Callable[[Path], T], differences: Callable[[T, T], list[str]], argv: list[str] | None,
    sampled: Callable[[Path, int], T] | None = None
) -> int:
    """The exit code of `dev NAME`: 1 if what `ask` says of the harness differs from the file, unless that is written anew.

    `sampled` asks one question of N only.
    """
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true", help="record instead of comparing")
    if sampled:
        how.add_argument("--sample", type=int, choices=range(2, 17), metavar="N", help="compare one of N (2 to 16)")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        harness = on_model.harness_at(options.harness)
        now = sampled(harness, options.sample) if sampled and options.sample else ask(harness)
    except KitExit as stop:
        print(f"{name}: {stop}", file=sys.stderr)
        return stop.code
    if options.write:
        file.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        return OK
    wrong = differences(now, json.loads(file.read_text(encoding="utf-8")))
    print("\n".join(wrong[:SHOWN]), end="\n" if wrong else "")
    if wrong:
        print(f"{len(wrong)} differences; if the change was meant, `python3 conformance dev {name} --write` records it")
    return FAILED if wrong else OK
