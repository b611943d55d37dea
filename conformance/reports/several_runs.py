"""What a report says of other runs than its own: of the GPUs of one machine, and of the rounds of a soak."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.pdlkit.many_gpus import EXITS, word, worst
from conformance.pdlkit.verdicts import bound95, shape_bound95

Report = Mapping[str, Any]


def _same(told: float | None, right: float | None) -> bool:
    return told == right if told is None or right is None else math.isclose(told, right, rel_tol=1e-12)


def _machine_problems(report: Report) -> Iterator[str]:
    machine = report["machine"]
    rows = machine["gpus"]
    verdict = worst(row["verdict"] for row in rows)
    if word(report["verdict"]) != verdict or report["exit"] != EXITS[verdict]:
        yield f"machine: its GPUs make it {verdict}, and the report says {report['verdict']}, {report['exit']}"
    for row in rows:
        if EXITS.get(word(row["verdict"])) != row["exit"]:
            yield f"machine: {row['gpu']} is {row['verdict']}, which does not exit with {row['exit']}"
    if sum(group["gpus"] for group in machine["pooled"]) != sum(row["report"] is not None for row in rows):
        yield "machine: its pools hold another number of GPUs than left a report"
    own = {rule["id"]: rule["exercised"] or 0 for rule in report["rules"] if rule["status"] == "PASS"}
    for group in machine["pooled"]:
        for rule, entry in group["rules"].items():
            if not _same(entry["bound95"], bound95(entry["exercised"])):
                yield f"machine: the bound of {rule} does not follow from its {entry['exercised']} trials"
            if group["model"] == report["device"].get("name") and entry["exercised"] < own.get(rule, 0):
                yield f"machine: {rule} has fewer trials in all than on the GPU that decides"


def _soak_problems(report: Report) -> Iterator[str]:
    soak = report["soak"]
    if not 1 <= soak["worst_round"] <= soak["rounds"]:
        yield f"soak: round {soak['worst_round']} is the worst of {soak['rounds']}"
    if soak["exercised"] < report["pooled"]["exercised"] or soak["shapes"] < report["pooled"]["shapes"]:
        yield "soak: all rounds have fewer trials or shapes than the worst one"
    if soak["wall_s"] + 0.1 < report["run"]["wall_s"]:
        yield "soak: all rounds took less time than the worst one"
    for name, right in (("bound95", bound95(soak["exercised"])), ("shape_bound95", shape_bound95(soak["shapes"]))):
        if soak[name] is not None and not _same(soak[name], right):
            yield f"soak: {name} does not follow from its trials and shapes"
    if (soak["bound95"] is None) != (soak["shape_bound95"] is None):
        yield "soak: one bound without the other"
    if not {entry["rule"] for entry in report.get("waived") or []} <= set(soak.get("waived", [])) and "waived" in soak:
        yield "soak: a rule was waived in the worst round, and not in the soak"


def several_problems(report: Report) -> Iterator[str]:
    """Where what is said of the machine or of the soak contradicts itself, or the report that it stands in."""
    if "machine" in report:
        yield from _machine_problems(report)
    if "soak" in report:
        yield from _soak_problems(report)
