"""Builds report.json: what was run, with what, on what, and what it proved. No host name, no user name, no path."""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import sources
from conformance.pdlkit.ambiguities import contested
from conformance.pdlkit.axes import coverage
from conformance.pdlkit.eager import compare
from conformance.pdlkit.evidence import Evidence, kernels_of
from conformance.pdlkit.machine_code import METHOD, MachineCode
from conformance.pdlkit.other_drivers import other_drivers
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.records import Record
from conformance.pdlkit.rules import Rule, RuleBook
from conformance.pdlkit.verdicts import CaseResult, RunVerdict, bound95, judge_capabilities, shape_bound95, worst
from conformance.pdlkit.waivers import NOTHING, Applied

SCHEMA_NAME = "pdl-report/1"
UNCHECKED = "not finished"  # `static_check` until `run` has put there what lint compared with the hardware
_DEVICE_KEYS = ("name", "cc", "sms", "uuid_hash", "tick_ns")
_CASE_KEYS = ("survived_x", "schedules", "shapes", "answers", "sm_pairs", "sm_pairs_possible", "plan_hash", "expected_hash", "kernels")
_VARIANT_KEYS = ("kind", "tag", "status", "kills", "trials", "exercised", "must_die", "x_ns", "reason", "image")


@dataclass(frozen=True)
class RunFacts:
    """Everything the report is made from."""

    book: RuleBook
    device: str
    profile: str
    seed: int
    argv: list[str]
    only: list[str]
    started: str
    wall_s: float
    results: list[CaseResult]
    verdict: RunVerdict
    start: Record
    toolchain: dict[str, Any]
    host: dict[str, Any]
    interposers: list[str]
    problems: list[str]
    processes: list[Record]
    code: MachineCode | None
    driver: dict[str, Any] = field(default_factory=dict)
    plant: str | None = None
    evidence: dict[str, Evidence] = field(default_factory=dict)
    waivers: Applied = NOTHING

    @property
    def on_model(self) -> bool:
        """The run judged the model, so it is no evidence about hardware."""
        return self.device.startswith("model")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "--no-optional-locks", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=20,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def suite_facts(book: RuleBook) -> dict[str, Any]:
    """Which kit this is."""
    status = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "version": book.suite, "rules_hash": book.digest, "sources": sources.digest(), "git": _git("rev-parse", "HEAD"),
        "dirty": None if status is None else bool(status),
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def device_facts(facts: RunFacts) -> dict[str, Any]:
    """The device as the harness described it."""
    described = facts.start.get("device")
    source = described if isinstance(described, dict) else {}
    found = {key: _finite(source[key]) for key in _DEVICE_KEYS if key in source}
    return {"kind": "model" if facts.on_model else "gpu", **found}


def driver_facts(facts: RunFacts) -> dict[str, Any]:
    """Driver and runtime versions; 13000 is CUDA 13.0."""
    names = {"driver": "cuda", "runtime": "runtime", "toolkit": "toolkit"}
    found = {name: facts.start[key] for key, name in names.items() if isinstance(facts.start.get(key), int)}
    return {**facts.driver, **found}


def _code_hash(facts: RunFacts, result: CaseResult) -> str | None:
    return None if facts.code is None else facts.code.code_hash(kernels_of(result))


def _variant_entry(record: Record) -> dict[str, Any]:
    """A variant; one launched although pdl.h would refuse its image keeps what the attribute queries said of it."""
    entry = {key: _finite(record.get(key)) for key in _VARIANT_KEYS}
    refused = [k for k in record.get("kernels") or [] if not k.get("can_overlap", True)]
    return {**entry, "kernels": refused} if refused else entry


def test_entry(facts: RunFacts, result: CaseResult) -> dict[str, Any]:
    """One case in the report."""
    case, record = result.case, result.record
    clean = result.status == "PASS" and not facts.on_model and case.kind != "api"
    trials = record.get("trials", {})
    variants = [_variant_entry(v) for v in result.variants]
    entry: dict[str, Any] = {
        "name": case.name, "rule": case.rule, "class": case.rule_class, "kind": case.kind, "core": case.core,
        "family": case.family, "window": case.window, "path": case.path, "proving": case.proving,
        "status": result.status, "reason": without_folders(result.reason),
        "trials": {key: int(trials.get(key, 0)) for key in ("planned", "run", "exercised", "witnessed", "cut_short")},
        "outcomes": {name: int(count) for name, count in record.get("outcomes", {}).items()},
        "bound95": bound95(result.exercised) if clean else None,
        "resolution_ns": record.get("resolution_ns"),
        "schedules": record.get("schedules"), "sm_pairs": record.get("sm_pairs"),
        "code_hash": _code_hash(facts, result),
        "mutants": [v for v in variants if v["kind"] == "mutant"],
        "controls": [v for v in variants if v["kind"] == "control"],
        "broken_waits": [v for v in variants if v["kind"] == "broken_wait"],
        "triage": [v for v in variants if v["kind"] == "triage"],
        "forbidden": [{k: v for k, v in f.items() if k not in ("record", "case")} for f in result.forbidden],
        "wall_s": _finite(record.get("wall_s", round(result.wall_s, 3))),
    }
    if case.name in facts.evidence:
        entry["images"] = [{**i, "lint": without_folders(i["lint"])} for i in facts.evidence[case.name].images]
    entry.update({key: record[key] for key in _CASE_KEYS if key in record and key not in entry})
    return entry


def rule_entry(facts: RunFacts, rule: Rule) -> dict[str, Any] | None:
    """What the run says about a rule: its worst case, its proving cases counted together."""
    results = [r for r in facts.results if r.case.rule == rule.id]
    if not results:
        return None
    proving = [r for r in results if r.case.proving]
    status = worst(r.status for r in (proving or results))
    bad = [r.status for r in results if r.status not in ("PASS", "NOT_SUPPORTED", "INCONCLUSIVE")]
    status = worst([status, *bad])
    passed = [r for r in proving if r.status == "PASS"]
    exercised = sum(r.exercised for r in passed)
    resolutions = [r.record["resolution_ns"] for r in passed if r.record.get("resolution_ns") is not None]
    judged = [v for r in proving for v in r.variants if v["kind"] in ("mutant", "control")]
    return {
        "id": rule.id, "class": rule.rule_class, "kind": rule.kind, "core": rule.core, "text": rule.text,
        "source": rule.source, "status": status, "cases": len(results), "proving": len(proving),
        "exercised": exercised,
        "bound95": bound95(exercised) if status == "PASS" and not facts.on_model and rule.kind != "api" else None,
        "shape_bound95": _shape_bound(facts, status, rule.kind, passed),
        "resolution_ns": max(resolutions) if resolutions else None,
        "killed": sum(v["status"] == "KILLED" for v in judged),
        "applicable": sum(v["status"] in ("KILLED", "SURVIVED") for v in judged),
        "broken_waits_killed": sum(
            v["status"] == "KILLED" for r in proving for v in r.variants if v["kind"] == "broken_wait"),
        "schedules": sum(int(r.record.get("schedules") or 0) for r in passed),
        "shapes": sum(int(r.record.get("shapes") or 0) for r in passed),
        "sm_pairs": max((int(r.record.get("sm_pairs") or 0) for r in passed), default=0),
        "sm_pairs_possible": max((int(r.record.get("sm_pairs_possible") or 0) for r in passed), default=0),
    }


def _shapes(results: Iterable[CaseResult]) -> int:
    return sum(int(r.record.get("shapes") or 0) for r in results)


def _shape_bound(facts: RunFacts, status: str, kind: str, passed: list[CaseResult]) -> float | None:
    return shape_bound95(_shapes(passed)) if status == "PASS" and not facts.on_model and kind != "api" else None


def pooled(facts: RunFacts) -> dict[str, Any]:
    """Both bounds over all visibility rules together, for a fault that could have shown in the trials of each."""
    passed = [r for r in facts.results if r.case.kind == "visibility" and r.case.rule_class != "measured" and r.case.proving
              and r.status == "PASS"]
    failed = any(r.status != "PASS" for r in facts.results
                 if r.case.kind == "visibility" and r.case.rule_class != "measured" and r.case.proving and r.status != "NOT_SUPPORTED")
    exercised, shapes = sum(r.exercised for r in passed), _shapes(passed)
    clean = not facts.on_model and not failed
    return {
        "exercised": exercised, "shapes": shapes, "bound95": bound95(exercised) if clean else None,
        "shape_bound95": shape_bound95(shapes) if clean else None,
    }


_ROWS = "rows of the covering array that ran"  # of harness/programs


def _rows_that_ran(answer: str, rows: int) -> set[int]:
    """`all of 30`, or `all but 3 7`."""
    numbers = {int(number) for number in re.findall(r"[0-9]+", answer)}
    return set(range(min(rows, max(numbers, default=0)))) if answer.startswith("all of") else set(range(rows)) - numbers


def axes_entry(facts: RunFacts) -> dict[str, Any]:
    """Which pairs and triples of launch features ran, which did not, and which cannot."""
    rows = facts.book.axes.rows
    ran: set[int] = set()
    for result in facts.results:
        for row in result.record.get("answers") or ():
            if row["what"] == _ROWS:
                ran |= _rows_that_ran(row["answer"], len(rows))
    said = coverage(facts.book.axes, [rows[i] for i in sorted(ran)])
    return {
        "rows": len(rows), "ran": len(ran), "pairs": list(said.pairs), "triples": list(said.triples),
        "missing": list(said.missing) if ran else [], "excluded": list(said.excluded),
    }


def mutation_score(results: Iterable[CaseResult]) -> dict[str, Any]:
    """Planted bugs killed, over the applicable ones; the others by name."""
    rows = [(r.case.name, v) for r in results for v in r.variants if v["kind"] == "mutant"]

    def named(status: str) -> list[str]:
        return sorted(f"{case}: {v['tag']}" for case, v in rows if v["status"] == status)

    return {
        "killed": sum(v["status"] == "KILLED" for _, v in rows),
        "applicable": sum(v["status"] in ("KILLED", "SURVIVED") for _, v in rows),
        "survived": named("SURVIVED"), "equivalent": named("EQUIVALENT_HERE"),
        "not_applicable": named("NOT_APPLICABLE"),
    }


def scrub(argument: str) -> str:
    """An argument without the folders of this machine."""
    return re.sub(r"(?:[^\s=,]*/)+([^\s/=,]*)", r"\1", argument)


def without_folders(text: str | None) -> str | None:
    """A sentence in which absolute paths are cut to their last part."""
    return None if text is None else re.sub(r"(?<![\w.])/(?:[^\s/:'\"]+/)+", "", text)


def _sentences(texts: Iterable[str]) -> list[str]:
    return [without_folders(text) or "" for text in texts]


def _other_drivers(facts: RunFacts) -> list[dict[str, Any]]:
    """Of no use to a run on the model, or to one that judged nothing."""
    gpu = device_facts(facts).get("name")
    return other_drivers(gpu, facts.driver.get("version")) if gpu and not facts.on_model else []


def build_report(facts: RunFacts) -> dict[str, Any]:
    """The whole report."""
    toolchain = dict(facts.toolchain)
    if facts.code is not None:
        toolchain["code"] = {
            "method": METHOD, "architectures": facts.code.architectures(), "unreadable_images": facts.code.unreadable}
    tests = [test_entry(facts, result) for result in facts.results]
    report: dict[str, Any] = {
        "schema": SCHEMA_NAME,
        "run": {
            "started": facts.started, "wall_s": round(facts.wall_s, 3), "profile": facts.profile,
            "seed": f"0x{facts.seed:016x}", "device": facts.device, "argv": [scrub(a) for a in facts.argv],
            "only": facts.only, "plant": facts.plant,
        },
        "suite": suite_facts(facts.book), "toolchain": toolchain, "device": device_facts(facts),
        "driver": driver_facts(facts), "host": {**facts.host, "interposers": facts.interposers},
        "rules": [entry for rule in facts.book.rules if (entry := rule_entry(facts, rule))],
        "tests": tests,
        "contested": contested(tests),
        "paths": compare(tests),
        "mutation_score": mutation_score(facts.results), "static_check": UNCHECKED,
        "processes": facts.processes, "problems": _sentences(facts.problems),
        "findings": _sentences(facts.verdict.findings),
        "capabilities": judge_capabilities(facts.results, facts.waivers.rules, facts.waivers.crashes),
        "pooled": pooled(facts), "axes": axes_entry(facts),
        "waived": list(facts.waivers.entries), "waivers_idle": _sentences(facts.waivers.notes),
        "other_drivers": _other_drivers(facts),
        "reasons": _sentences(facts.verdict.reasons), "verdict": facts.verdict.verdict, "exit": facts.verdict.exit,
    }
    return identified(report)


def identified(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report with run.id, the digest of everything else in it: whatever is added to a report comes before this."""
    run = {key: value for key, value in report["run"].items() if key != "id"}
    digest = hashlib.sha256(json.dumps({**report, "run": run}, sort_keys=True).encode()).hexdigest()
    return {**report, "run": {**run, "id": f"sha256:{digest[:32]}"}}


def inconsistencies(report: Mapping[str, Any]) -> list[str]:
    """Counts in a report that do not add up; the runner turns any of these into INVALID."""
    found = []
    for test in report["tests"]:
        trials = test["trials"]
        if test["status"] == "PASS" and not trials["exercised"] <= trials["run"] <= trials["planned"]:
            found.append(f"{test['name']}: exercised, run and planned do not add up")
    mutants = [m for t in report["tests"] for m in t["mutants"]]
    score = report["mutation_score"]
    if score["killed"] != sum(m["status"] == "KILLED" for m in mutants):
        found.append("the mutation score counts other kills than the tests")
    named = len(score["survived"]) + len(score["equivalent"]) + len(score["not_applicable"])
    if score["killed"] + named != len(mutants):
        found.append("the mutation score does not cover every mutant that was run")
    names = [test["name"] for test in report["tests"]]
    if len(set(names)) != len(names):
        found.append("a case is reported twice")
    if sum(rule["cases"] for rule in report["rules"]) != len(names):
        found.append("rules and tests do not count the same cases")
    return found


def write_report(report: Mapping[str, Any], folder: Path) -> Path:
    """Write report.json in one step, so that nobody reads half of it; the draft's name is never one that is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    draft, final = folder / f"report.json.{secrets.token_hex(8)}.draft", folder / "report.json"
    try:
        with open(draft, "x", encoding="utf-8") as file:
            file.write(json.dumps(report, indent=1, allow_nan=False) + "\n")
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)
    return final
