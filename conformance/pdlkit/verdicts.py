"""The verdict of a case, of a rule and of a run. Pure functions; design by table, tested by table.

Green must be earned here a second time: a PASS of the harness that its own counts and variants do not carry is a
KIT_ERROR, never a PASS.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.pdlkit import exits
from conformance.pdlkit.records import CaseLog, Record
from conformance.pdlkit.rules import CAPABILITIES, EVENTS, Case, Tag

CASE_VERDICTS = (
    "KIT_ERROR", "DEVICE_LOST", "CRASH", "HANG", "FAIL", "NOT_RUN", "INCONCLUSIVE", "PASS", "NOT_SUPPORTED",
)  # worst first; what a rule says is its worst case
RUN_VERDICTS = {
    "CONFORMS": exits.CONFORMS, "VIOLATES": exits.VIOLATES, "UNPROVEN": exits.UNPROVEN, "INVALID": exits.INVALID,
    "NOT_APPLICABLE": exits.NOT_APPLICABLE,
}
_WRONG_WORDS = ("stale", "poison", "misplaced", "torn", "foreign")
FORBIDDEN = {
    "visibility": _WRONG_WORDS,
    "start": ("early_start", *_WRONG_WORDS),
    "progress": _WRONG_WORDS,
    "api": (),
}
ALLOWED = {"wrong": _WRONG_WORDS}  # what a word of rules.toml's `allowed` stands for
JUDGING_CLASSES = ("documented", "derived")
KILLS_FLOOR = 12  # JUDGE_KILLS and JUDGE_FLOOR_PERCENT of harness/judge.h
EXERCISED_PERCENT = 80


@dataclass(frozen=True)
class CaseResult:
    """One case with its final verdict."""

    case: Case
    status: str
    reason: str | None
    record: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[Record, ...] = ()
    forbidden: tuple[Record, ...] = ()
    wall_s: float = 0.0

    def trials(self, key: str) -> int:
        """A count of the case's trials, 0 where it gave none."""
        return int(self.record.get("trials", {}).get(key, 0))

    @property
    def exercised(self) -> int:
        """Trials that meant something."""
        return self.trials("exercised")


def bound95(exercised: int) -> float | None:
    """Upper 95 % bound of the chance of a forbidden outcome per trial, none having been seen."""
    return None if exercised <= 0 else -math.expm1(math.log(0.05) / exercised)


def shape_bound95(shapes: int) -> float | None:
    """The same for a fault that hangs on the shape of the launch: 3 over the distinct shapes, as repeating one proves nothing new."""
    return None if shapes <= 0 else min(1.0, 3.0 / shapes)


def judge_case(case: Case, log: CaseLog | None, tags: Mapping[str, Tag], on_model: bool = False) -> CaseResult:
    """What the records of one case amount to, of a GPU or of the model."""
    if log is None:
        return CaseResult(case, "NOT_RUN", "no child was started for it")
    kept: dict[str, Any] = {
        "record": log.verdict or {}, "variants": tuple(log.variants), "forbidden": tuple(log.forbidden),
        "wall_s": log.wall_s,
    }
    problems = list(log.problems)
    if log.complete and log.casualty is None:
        problems += contradictions(case, log, tags, on_model)
    if problems:
        return CaseResult(case, "KIT_ERROR", "; ".join(problems), **kept)
    status, why = log.casualty, log.casualty_reason
    if status is None and not log.complete:
        status, why = "CRASH" if log.began else "NOT_RUN", "there is no completion record"
    if status is not None:
        if log.forbidden:  # once is enough, however its child ended
            return CaseResult(case, "FAIL", f"{len(log.forbidden)} forbidden trials were recorded before this: {status}, {why}", **kept)
        if log.wrong:
            return CaseResult(case, "FAIL", f"{log.wrong}; after this: {status}, {why}", **kept)
        return CaseResult(case, status, why, **kept)
    assert log.verdict is not None
    reason = log.verdict.get("reason")
    if log.verdict["status"] == "FAIL" and not reason:
        reason = _failure_words(case, log.verdict)
    return CaseResult(case, log.verdict["status"], reason, **kept)


def _failure_words(case: Case, record: Mapping[str, Any]) -> str:
    """k of n, by kind of wrong outcome."""
    bad = {name: record["outcomes"].get(name, 0) for name in forbidden_outcomes(case)}
    kinds = ", ".join(f"{name} {count:,}" for name, count in bad.items() if count)
    return f"{kinds or 'wrong'} in {record['trials']['run']:,} trials"


def forbidden_count(case: Case, record: Mapping[str, Any]) -> int:
    """Forbidden outcomes that this record counts."""
    outcomes = record.get("outcomes", {})
    return sum(int(outcomes.get(name, 0)) for name in forbidden_outcomes(case))


def forbidden_outcomes(case: Case) -> tuple[str, ...]:
    """The names of what this case's trials must not show: its kind's, without what the documents permit."""
    permitted = {name for outcome in case.allowed for name in ALLOWED.get(outcome, (outcome,))}
    return tuple(name for name in FORBIDDEN[case.kind] if name not in permitted)


def contradictions(case: Case, log: CaseLog, tags: Mapping[str, Tag], on_model: bool) -> list[str]:
    """What in a complete case cannot be true together."""
    record = log.verdict or {}
    status = record["status"]
    found = list(_identity_problems(case, record))
    bad = forbidden_count(case, record)
    if status != "FAIL" and (bad or log.forbidden):
        found.append(f"it says {status} beside {bad or len(log.forbidden)} forbidden outcomes")
    if status != "FAIL" and log.wrong:
        found.append(f"it says {status} beside a wrong answer: {log.wrong}")
    if log.error and status != "HANG":
        found.append(f"it says {status} although {log.error}")
    if status in ("NOT_SUPPORTED", "HANG"):
        return found
    found += _count_problems(case, record)
    if status == "FAIL" and forbidden_outcomes(case) and not bad:
        found.append("it says FAIL without a forbidden outcome")
    found += _variant_problems(case, log.variants, tags)
    found += [f"{v['kind']} {v['tag']} is called NOT_APPLICABLE, which only broken waits on the model are" for v in log.variants
              if v.get("status") == "NOT_APPLICABLE" and not (on_model and v["kind"] == "broken_wait")]
    if status == "PASS":
        found += _power_problems(case, log.variants) if case.proving else ["it says PASS, but only observes"]
    return found


def _count_problems(case: Case, record: Mapping[str, Any]) -> Iterable[str]:
    trials, outcomes = record["trials"], record["outcomes"]
    exercised, run, planned = trials["exercised"], trials["run"], trials["planned"]
    if not exercised <= run <= planned:
        yield "its counts do not add up: exercised, run and planned must not shrink in this order"
    if case.kind != "api" and sum(outcomes.get(word, 0) for word in ("fresh", *_WRONG_WORDS)) != run:
        yield "its counts do not add up: every trial that ran has one outcome for its words"
    if record["status"] != "PASS":
        return
    if exercised == 0:
        yield "it says PASS without one exercised trial"
    elif case.kind != "api" and exercised * 100 < planned * EXERCISED_PERCENT:
        yield f"it says PASS with {exercised:,} of {planned:,} trials exercised; the floor is {EXERCISED_PERCENT} %"


def _identity_problems(case: Case, record: Mapping[str, Any]) -> Iterable[str]:
    for key, want in (
        ("rule", case.rule), ("class", case.rule_class), ("kind", case.kind), ("window", case.window),
        ("path", case.path), ("proving", case.proving),
    ):
        if key in record and record[key] != want:
            yield f"its record says {key} {record[key]!r}, the rule book says {want!r}"


def _power_problems(case: Case, variants: Iterable[Record]) -> list[str]:
    """A PASS whose detection power was not shown in the same run."""
    seen: dict[tuple[str, str], Record] = {(v["kind"], v["tag"]): v for v in variants}
    found = []
    for kind, names in (("mutant", case.mutants), ("control", case.controls)):
        for name in names:
            record = seen.get((kind, name))
            if record is None:
                found.append(f"it says PASS, but its {kind} {name} was never run")
            elif record["status"] == "SURVIVED":
                found.append(f"it says PASS, but {kind} {name} survived")
    return [*found, *_broken_wait_problems([v for (kind, _), v in seen.items() if kind == "broken_wait"])] if case.broken_waits else found


def _broken_wait_problems(sweep: list[Record]) -> Iterable[str]:
    judged = [v for v in sweep if v["status"] != "NOT_APPLICABLE"]
    if not sweep:
        yield "it says PASS, but no broken wait was run"
    elif judged and not any(v["status"] == "KILLED" for v in judged):
        yield "it says PASS, but every broken wait survived"
    largest = max((v for v in judged if v.get("x_ns")), key=lambda v: v["x_ns"], default=None)
    for v in judged:
        if v["status"] == "SURVIVED" and (v.get("must_die") or v is largest):
            yield f"it says PASS, but the broken wait {v['tag']}, which must die, survived"


def _variant_problems(case: Case, variants: Iterable[Record], tags: Mapping[str, Tag]) -> Iterable[str]:
    """What in the records of mutants, controls and broken waits cannot be true."""
    listed = {"mutant": case.mutants, "control": case.controls}
    seen = set[tuple[str, str]]()
    for record in variants:
        kind, name, status = record["kind"], record["tag"], record["status"] if record["kind"] != "triage" else None
        tag = tags.get(name)
        candidate = tag is not None and tag.equivalent_candidate is not None
        if (kind, name) in seen:
            yield f"{kind} {name} was recorded twice"
        seen.add((kind, name))
        if name not in listed.get(kind, (name,)):
            yield f"it ran {kind} {name}, which the rule book does not list for it"
        if record["kills"] > record["trials"]:
            yield f"{kind} {name} has more kills than trials"
        if status == "KILLED" and record["kills"] < (1 if candidate else KILLS_FLOOR):
            yield f"{kind} {name} is called KILLED with {record['kills']} kills"
        if status == "EQUIVALENT_HERE" and not candidate:
            yield f"{kind} {name} is called EQUIVALENT_HERE, but the rule book names it no candidate"


def worst(statuses: Iterable[str]) -> str:
    """The worst of these case verdicts."""
    return min(statuses, key=CASE_VERDICTS.index, default="NOT_RUN")


@dataclass(frozen=True)
class RunVerdict:
    """The verdict of a run, with the sentences that explain it."""

    verdict: str
    reasons: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()  # rules whose failures a waiver took out of this verdict

    @property
    def exit(self) -> int:
        """The exit code of `run`."""
        return RUN_VERDICTS[self.verdict]


def judge_run(
    results: Iterable[CaseResult], problems: Iterable[str] = (), interposers: Iterable[str] = (), waived: Iterable[str] = (),
    waived_crashes: Iterable[str] = (),
) -> RunVerdict:
    """INVALID, else VIOLATES, else UNPROVEN, else CONFORMS; NOT_APPLICABLE if nothing could run.

    `waived` names rules whose FAIL or HANG is a known defect, `waived_crashes` those whose CRASH is one: it decides nothing, and the
    verdict names the rule.
    """
    everything = list(results)
    findings = tuple(
        f"{r.case.name} ({r.case.rule_class}): {r.status}" + (f", {r.reason}" if r.reason else "")
        for r in everything if r.case.rule_class == "measured" and r.status in ("FAIL", "HANG")
    )
    invalid = [*problems, *(f"{r.case.name}: {r.reason}" for r in everything if r.status == "KIT_ERROR")]
    if invalid:
        return RunVerdict("INVALID", tuple(invalid), findings)
    bad = [r for r in everything if _violates(r)]
    crashes = set(waived_crashes)
    known = [r for r in bad if r.case.rule in set(waived)] + [r for r in everything if r.status == "CRASH" and r.case.rule in crashes]
    named = tuple(dict.fromkeys(r.case.rule for r in known))
    violations = tuple(
        f"{r.case.name}: {r.status} of a {r.case.rule_class} rule" + (f", {r.reason}" if r.reason else "")
        for r in bad if r not in known
    )
    if violations:
        return RunVerdict("VIOLATES", violations, findings, named)
    if all(r.status == "NOT_SUPPORTED" for r in everything):
        reasons = dict.fromkeys(r.reason or "no reason given" for r in everything)
        return RunVerdict("NOT_APPLICABLE", tuple(reasons), findings)
    unproven = [
        f"{r.case.name}: {r.status}" + (f", {r.reason}" if r.reason else "")
        for r in everything if r not in known
        if r.status in ("CRASH", "DEVICE_LOST", "NOT_RUN")
        or (r.case.proving and r.status not in ("PASS", "NOT_SUPPORTED"))
    ]
    if not any(r.case.proving and r.status == "PASS" for r in everything):
        unproven.append("no proving case passed, so nothing was proven")
    unproven += [f"{name} stands between the kit and the device, so a pass would prove nothing" for name in interposers]
    if unproven:
        return RunVerdict("UNPROVEN", tuple(unproven), findings, named)
    return RunVerdict("CONFORMS", (), findings, named)


def _violates(result: CaseResult) -> bool:
    return result.case.rule_class in JUDGING_CLASSES and result.status in ("FAIL", "HANG")


def judge_capabilities(
    results: Iterable[CaseResult], waived: Iterable[str] = (), waived_crashes: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """What a run says of streams, captured graphs, built graphs and events, each by itself; only those that it asked about."""
    parts: dict[str, list[CaseResult]] = {name: [] for name in (*CAPABILITIES.values(), EVENTS)}
    for result in results:
        parts[result.case.capability].append(result)
    found = []
    for name, part in parts.items():
        verdict = judge_run(part, (), (), waived, waived_crashes).verdict
        proving = dict.fromkeys(r.case.rule for r in part if r.case.proving and r.status != "NOT_SUPPORTED")
        failing = dict.fromkeys(r.case.rule for r in part if _violates(r))
        unproven = dict.fromkeys(r.case.rule for r in part
                                 if r.case.proving and r.status not in ("PASS", "NOT_SUPPORTED") and not _violates(r))
        open_rules = [rule for rule in unproven if rule not in failing]
        if part:
            found.append({
                "capability": name, "verdict": verdict, "failing": list(failing), "unproven": open_rules,
                "holding": len([rule for rule in proving if rule not in failing and rule not in open_rules]),
            })
    return found
