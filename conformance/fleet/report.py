"""Verdicts per GPU, per driver and model, the bounds of the pooled trials, and the GPUs that differ beyond chance."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.fleet.outliers import FALSE_DISCOVERY_RATE, FEWEST_FOR_SPREAD, find
from conformance.fleet.records import Fleet, read
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.many_gpus import COUNTED_KINDS, EXITS, pooled, word, worst

_SHOWN = 40
_GPU_KEYS = ("gpu", "node", "ordinal", "model", "driver", "verdict", "reasons", "failed")
POOLED_KINDS = ("visibility", "start")  # rules of which trials are counted


def _counted(gpu: dict[str, Any]) -> tuple[str, str, dict[str, int]]:
    rules = {rule: passed for rule, (_, passed, _) in gpu["rules"].items() if gpu["kinds"].get(rule) in COUNTED_KINDS}
    return gpu["model"], gpu["driver"], rules


def _group(pool: dict[str, Any], gpus: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One driver and model: what is pooled, with verdicts and failed cases."""
    failed = Counter(case for gpu in gpus for case in gpu["failed"])
    return {**pool, "verdict": worst(gpu["verdict"] for gpu in gpus), "verdicts": dict(Counter(word(gpu["verdict"]) for gpu in gpus)),
            "failed": {case: count for case, count in failed.most_common(_SHOWN)}}


def build(fleet: Fleet) -> dict[str, Any]:
    """The report as data. A bound is pooled over GPUs of one driver and model, never over all."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for gpu in fleet.gpus:
        groups[(gpu["model"], gpu["driver"])].append(gpu)
    outliers, tests = find(fleet.gpus)
    undone = sorted(set(range(fleet.plan.tasks)) - fleet.done())
    verdict = worst(gpu["verdict"] for gpu in fleet.gpus)
    if undone:
        verdict = worst([verdict, "UNPROVEN"])
    return {
        "schema": "pdl-fleet-report/1", "verdict": verdict, "exit": EXITS[verdict], "tasks": fleet.plan.tasks, "tasks_not_done": undone,
        "damaged_lines": fleet.damaged_lines, "lost": fleet.lost(),
        "groups": [_group(pool, groups[(pool["model"], pool["driver"])]) for pool in pooled(map(_counted, fleet.gpus))],
        "gpus": [{key: gpu[key] for key in _GPU_KEYS} for gpu in fleet.gpus],
        "outliers": [outlier.__dict__ for outlier in outliers],
        "outlier_test": {"tests": tests, "false_discovery_rate": FALSE_DISCOVERY_RATE, "correction": "Benjamini and Hochberg",
                         "fewest_peers_for_times": FEWEST_FOR_SPREAD},
    }


def text(report: dict[str, Any]) -> str:
    """The report for a terminal: what is bad first, each list cut with a count."""
    lines = [f"FLEET  {report['verdict']}  {len(report['gpus'])} GPUs, {report['tasks'] - len(report['tasks_not_done'])} of "
             f"{report['tasks']} tasks done"]
    lines += [f"  lost: {text}" for text in report["lost"][:_SHOWN]]
    lines += [f"  {report['damaged_lines']} damaged lines were left out"] if report["damaged_lines"] else []
    for group in report["groups"]:
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(group["verdicts"].items()))
        bounds = [rule["bound95"] for rule in group["rules"].values() if rule["bound95"]]
        pooled = f"; pooled bound per rule at most {max(bounds):.1e}" if bounds else ""
        lines.append(f"  {group['model']}, driver {group['driver']}: {told}{pooled}")
        lines += [f"    {case} fails on {count} of {group['gpus']}" for case, count in group["failed"].items()]
    bad = [gpu for gpu in report["gpus"] if word(gpu["verdict"]) != "CONFORMS"]
    lines += [f"  GPU {gpu['gpu']} on {gpu['node']}: {gpu['verdict']}: {'; '.join(gpu['reasons'][:2])}" for gpu in bad[:_SHOWN]]
    lines += [f"  and {len(bad) - _SHOWN} more GPUs without CONFORMS (--json lists all)"] if len(bad) > _SHOWN else []
    found = report["outliers"]
    lines += [f"  outlier: GPU {o['gpu']} on {o['node']}: {o['measure']} {o['value']:.4g}, peers {o['peers']:.4g} "
              f"({o['errors']:+.1f} standard errors, p {o['p']:.1e})" for o in found[:_SHOWN]]
    lines += [f"  and {len(found) - _SHOWN} more outliers (--json lists all)"] if len(found) > _SHOWN else []
    test = report["outlier_test"]
    lines.append(f"  {test['tests']} comparisons with peers of the same model and driver, corrected by {test['correction']}: "
                 f"{100 * test['false_discovery_rate']:.0f} % of the outliers are expected to be chance")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """The part `report`; the exit code is that of the worst GPU, UNPROVEN while tasks are missing."""
    parser = Parser("fleet report", "verdicts per GPU, driver and model, pooled bounds, outliers",
                    epilog=("exit codes as of run: 0 CONFORMS, 1 VIOLATES, 2 UNPROVEN (also while tasks are missing), 70 INVALID, "
                            "77 NOT_APPLICABLE"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="the report as JSON on stdout")
    options = parser.parse_args(argv)
    report = build(read(options.folder))
    print(json.dumps(report, indent=1, allow_nan=False) if options.json else text(report))
    return int(report["exit"])
