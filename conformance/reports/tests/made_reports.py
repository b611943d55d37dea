"""Reports to test with: a recorded one, cut or multiplied to any number of cases."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from conformance.reports.change_fields import redigested
from conformance.reports.recomputed import part_of

RECORDED = Path(__file__).with_name("conforming.json")  # what `run` wrote on an H200 before EDGE-33 was asked


@cache
def _text() -> str:
    return RECORDED.read_text(encoding="utf-8")


def recorded() -> dict[str, Any]:
    """A fresh copy of it; to read it again is several times as quick as a deep copy."""
    return dict(json.loads(_text()))


def with_cases(count: int) -> dict[str, Any]:
    """A report of exactly so many cases: the recorded ones, again and again under new names."""
    report = recorded()
    tests, rules = report["tests"], {rule["id"]: rule for rule in report["rules"]}
    report["tests"], report["rules"] = [], []
    for index in range(count):
        test = copy.deepcopy(tests[index % len(tests)])
        turn = index // len(tests)
        old = test["rule"]
        test["rule"] = f"{old.partition('-')[0] + 'X' * turn}-{old.partition('-')[2]}"
        test["name"] = test["name"].replace(old, test["rule"], 1)
        report["tests"].append(test)
        if not any(rule["id"] == test["rule"] for rule in report["rules"][-40:]):
            report["rules"].append({**copy.deepcopy(rules[old]), "id": test["rule"]})
    if count < len(tests):
        report["contested"], report["paths"] = [], []
    return report


def forbidden_trial(store: int = 1286, begin: int = 443, waited: int = 485) -> dict[str, Any]:
    """A forbidden trial as the harness records it."""
    return {
        "image": "base",
        "path": "stream",
        "batch": 3,
        "slot": 5,
        "plan": {"words": 64, "blocks_primary": 1, "blocks_dependent": 2, "threads": 16},
        "state": {"witnessed": 1, "early": 0, "primary_store_ns": store, "dependent_begin_ns": begin, "dependent_waited_ns": waited},
        "seen": {"wrong": 64, "class": "poison", "first": 0, "want": "00000000b29a9b18", "got": "0000000014105921"},
    }


def failed(report: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """The report with one visibility case failed, as the harness would have told it."""
    test = next(test for test in report["tests"][index:] if test["kind"] == "visibility" and test["status"] == "PASS")
    test.update(status="FAIL", bound95=None, reason="poison 64 in 64 trials", forbidden=[forbidden_trial()])
    test["triage"] = [
        {**copy.deepcopy(test["mutants"][0]), "kind": "triage", "tag": "attribute-off", "status": None, "kills": 3, "trials": 64}
    ]
    for rule in report["rules"]:
        if rule["id"] == test["rule"]:
            rule.update(status="FAIL", bound95=None)
    report.update(verdict="VIOLATES", exit=1, reasons=[f"{test['name']}: FAIL of a {test['class']} rule, poison 64 in 64 trials"])
    return report


def subset(*rules: str) -> dict[str, Any]:
    """The recorded run as if only these rules had been asked for: consistent in itself."""
    return redigested(part_of(recorded(), rules))
