"""Writes the records of a fleet that does not exist, with planted outliers and nodes that died, to test `fleet report`."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from conformance.fleet.records import Plan, sealed
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments

GPUS_PER_NODE, RULES, FAMILIES, TRIALS = 8, 60, 24, 61_440
RATES = (0.0, 0.31, 0.97, 1.0)  # overlap rates as recorded: some rules never overlap, some always
SPREAD = 0.02                   # of the logarithm of times between GPUs of one model


def _gpu(dice: random.Random, node: int, ordinal: int, planted: float) -> dict[str, object]:
    """One GPU's record; `planted` moves one of its rates by so many standard errors, and one of its times."""
    rules, families = {}, {}
    for index in range(RULES):
        rate = RATES[index % len(RATES)]
        expected, error = TRIALS * rate, math.sqrt(TRIALS * rate * (1.0 - rate))
        overlaps = round(dice.gauss(expected, error))
        if planted and index == 1:  # exactly so far out, whatever chance would have added
            overlaps = round(expected + planted * error)
        rules[f"RULE-{index:02d}"] = [TRIALS, TRIALS, min(TRIALS, max(0, overlaps))]
    for index in range(FAMILIES):
        deviation = planted if planted and index == 0 else dice.gauss(0.0, 1.0)
        families[f"family{index:02d}"] = (1.0 + index) * math.exp(SPREAD * deviation)
    return {
        "record": "gpu", "task": node, "attempt": "0-0", "gpu": f"{node:06d}:{ordinal}", "node": f"node{node:06d}", "ordinal": ordinal,
        "finished": "2026-01-01T00:00:00Z", "model": "simulated", "driver": "1.0", "verdict": "CONFORMS", "exit": 0, "reasons": [],
        "run": f"{node}-{ordinal}", "sources": None, "failed": [], "kinds": dict.fromkeys(rules, "visibility"), "rules": rules,
        "families": families,
    }


def write(folder: Path, gpus: int, outliers: int, lost: int, errors: float, seed: int) -> None:
    """`truth.json` says what was planted: GPUs that are outliers, and nodes whose attempt was cut short."""
    nodes, dice = math.ceil(gpus / GPUS_PER_NODE), random.Random(seed)
    if outliers + lost * GPUS_PER_NODE > gpus:
        raise BadArguments("there are not so many GPUs: --outliers plus 8 for each of --lost must not exceed --gpus")
    Plan(nodes, "cuda", "quick", None, (), None).write(folder)
    order = list(range(nodes))
    dice.shuffle(order)
    dead = set(order[:lost])
    alive = [(node, ordinal) for node in sorted(set(range(nodes)) - dead) for ordinal in range(GPUS_PER_NODE)]
    planted = set(dice.sample(alive, outliers))
    for node in range(nodes):
        lines = [sealed({"record": "begin", "task": node, "attempt": "0-0", "node": f"node{node:06d}"})]
        for ordinal in range(min(GPUS_PER_NODE, gpus - node * GPUS_PER_NODE)):
            sign = errors if dice.random() < 0.5 else -errors
            lines.append(sealed(_gpu(dice, node, ordinal, sign if (node, ordinal) in planted else 0.0)))
        if node in dead:
            cut = dice.randrange(1, len(lines))
            lines = [*lines[:cut], lines[cut][: len(lines[cut]) // 2]]  # in the middle of a line, as a dying node leaves it
        else:
            lines.append(sealed({"record": "end", "task": node, "attempt": "0-0"}))
        (folder / "records" / f"{node}-0-0.jsonl").write_text("".join(lines), encoding="utf-8")
    truth = {"outliers": sorted(f"{node:06d}:{ordinal}" for node, ordinal in planted), "lost": sorted(dead)}
    (folder / "truth.json").write_text(json.dumps(truth) + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """The part `simulate`."""
    parser = Parser("fleet simulate", "write the records of a made-up fleet, to test `report`")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--outliers", type=int, default=20)
    parser.add_argument("--lost", type=int, default=10, help="nodes that died while writing")
    parser.add_argument("--errors", type=float, default=6.0, help="standard errors by which outliers differ")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    write(options.folder, options.gpus, options.outliers, options.lost, options.errors, options.seed)
    return OK
