"""Argument parsing that ends with exit 64 and one sentence, the same for every command."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import PROGRAM


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises instead of exiting with 2, and accepts no abbreviated option."""

    def __init__(self, command: str, description: str, **more: object) -> None:
        super().__init__(
            prog=f"{PROGRAM} {command}", description=description, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter, **more,  # type: ignore[arg-type]
        )

    def error(self, message: str) -> NoReturn:
        raise BadArguments(f"{message} (see {self.prog} --help)")


def amount(text: str) -> float:
    """A length of time or the like: above 0, and neither infinite nor no number, which no clock can count to."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and below 1e9")
    return value
