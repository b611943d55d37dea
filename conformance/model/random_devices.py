"""Draws broken devices from the model's grammar and looks whether one of them would be called conforming.

    python3 conformance dev random-devices --seed 1 --count 200 [--harness PATH]

A device is r-SIDE-FEATURE[-FEATURE]-EFFECT (model/drawn.h). Each runs the cases of profile smoke. One that CONFORMS is judged by
a witness: programs of other seeds, many more of them. Where a legal program then differs, the device has escaped; where none does,
its features never meet in a way that anything could see, and it is not counted. Exit 0: none escaped; 1: they are named.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.model import on_model
from conformance.model.on_model import BROKEN, Device
from conformance.pdlkit.drawn_devices import COUNT, draw, grammar
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, KitExit
from conformance.pdlkit.rules import Case, RuleBook

WITNESS_SEEDS = (0xA11CE, 0xB0B, 0xCAFE)
PROGRAMS = "programs"


def _notices(harness: Path, book: RuleBook, name: str, profile: str, seed: int, families: Sequence[Sequence[Case]]) -> str | None:
    """The first case that this device does not pass."""
    device = Device(name, "", False)
    for cases in families:
        for result in on_model.run_family(harness, book, device, profile, seed, cases):
            if result.status in BROKEN and result.case.rule_class != "measured":
                return result.case.name
    return None


def ordered_families(book: RuleBook) -> list[list[Case]]:
    """Programs first: they see most, and the first fault ends the search."""
    families = on_model.by_family(on_model.capable(book))
    return [families[PROGRAMS], *(cases for family, cases in families.items() if family != PROGRAMS)]


def judge(harness: Path, book: RuleBook, name: str, seed: int) -> tuple[str, str]:
    """noticed, escaped or unseen, and by what."""
    families = ordered_families(book)
    by = _notices(harness, book, name, "smoke", seed, families)
    if by is not None:
        return "noticed", by
    for other in WITNESS_SEEDS:
        witness = _notices(harness, book, name, "quick", other, families[:1])
        if witness is not None:
            return "escaped", f"{witness} with seed {other:x}, profile quick"
    return "unseen", "no program of any seed differs"


def summary(said: Mapping[str, tuple[str, str]]) -> list[str]:
    """What the command prints."""
    counts = {what: sum(found == what for found, _ in said.values()) for what in ("noticed", "escaped", "unseen")}
    lines = [f"model:{name} escaped: {by} shows it" for name, (found, by) in said.items() if found == "escaped"]
    lines += [f"model:{name} is not counted: {by}" for name, (found, by) in said.items() if found == "unseen"]
    return [*lines, f"{len(said)} devices drawn: {counts['noticed']} noticed, {counts['escaped']} escaped, "
                    f"{counts['unseen']} that no legal program shows"]


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="broken devices drawn from a grammar", allow_abbrev=False)
    parser.add_argument("--seed", type=lambda text: int(text, 16), default=1, metavar="HEX", help="which devices are drawn (1)")
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help="how many (200)")
    parser.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        book, harness = on_model.load_book(), on_model.harness_at(options.harness)
        names = draw(grammar(harness), options.seed, options.count)
        with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
            said = {}
            for name, found in zip(names, pool.map(lambda name: judge(harness, book, name, options.seed), names), strict=True):
                said[name] = found
                print(f"{len(said)} of {len(names)}: {name} {found[0]}, {found[1]}", file=sys.stderr, flush=True)
    except KitExit as stop:
        print(f"random-devices: {stop}", file=sys.stderr)
        return stop.code
    print("\n".join(summary(said)))
    return FAILED if any(found == "escaped" for found, _ in said.values()) else OK
