"""Names of broken devices drawn from the grammar that the model's harness lists."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.exits import InvalidRun

SIDES = ("to", "from")
COUNT = 200


@dataclass(frozen=True)
class Grammar:
    """The words that names of drawn devices are made of; the harness knows them."""

    features: tuple[str, ...]
    effects: tuple[str, ...]


def grammar(harness: Path) -> Grammar:
    """The grammar of this harness's model."""
    done = subprocess.run([harness, "--list"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if record["record"] == "grammar":
            return Grammar(tuple(record["features"].split()), tuple(record["effects"].split()))
    raise InvalidRun("the model's harness lists no grammar of broken devices")


def draw(words: Grammar, seed: int, count: int) -> list[str]:
    """Names of distinct devices: the same seed gives the same ones."""
    source, names = random.Random(seed), dict[str, None]()
    while len(names) < count:
        features = source.sample(words.features, source.choice((1, 1, 2)))
        names["-".join(("r", source.choice(SIDES), *features, source.choice(words.effects)))] = None
    return list(names)
