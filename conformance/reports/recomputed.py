"""Recomputes what a report derives from its own counts: verdicts, bounds, the rules' rows, the score, the tables, the run's verdict.

The functions are those with which `run` made the report. A report of this code is held against this rule book; its sentences only
if the book has not been reworded since. For a report of other code the book is rebuilt from the report itself: its rows still have to
agree with its cases, and what only a rule book knows is not checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.pdlkit import places, sources
from conformance.pdlkit.ambiguities import contested
from conformance.pdlkit.eager import compare
from conformance.pdlkit.records import CaseLog
from conformance.pdlkit.report import RunFacts, mutation_score, rule_entry, without_folders
from conformance.pdlkit.rules import Case, Rule, RuleBook, RulesError, Tag, load
from conformance.pdlkit.verdicts import CaseResult, bound95, contradictions, judge_capabilities, judge_run

Report = Mapping[str, Any]
_NO_TRIALS = (0, 0, 0, 0)
_LISTS = ("mutants", "controls", "broken_waits", "triage")


def _own_book() -> RuleBook | None:
    try:
        return load(places.RULES)
    except (OSError, RulesError):
        return None


def _case_of(test: Mapping[str, Any], allowed: tuple[str, ...]) -> Case:
    """The case as the report tells it."""
    return Case(
        rule=test["rule"],
        rule_class=test["class"],
        kind=test["kind"],
        core=test["core"],
        family=test["family"],
        pair=test["name"].split(".")[1],
        window=test["window"],
        path=test["path"],
        proving=test["proving"],
        broken_waits=bool(test["broken_waits"]),
        gpu_only=False,
        min_cc=0,
        min_toolkit=0,
        trials=_NO_TRIALS,
        mutants=tuple(v["tag"] for v in test["mutants"]),
        controls=tuple(v["tag"] for v in test["controls"]),
        allowed=allowed,
    )


def _book_of(report: Report) -> RuleBook:
    """A rule book with what the report says of its rules. Its measured rules allow what they must not forbid."""
    cases: dict[str, list[Case]] = {}
    tags: dict[str, Tag] = {}
    for test in report["tests"]:
        allowed = ("wrong", "early_start") if test["class"] == "measured" and test["status"] != "FAIL" else ()
        cases.setdefault(test["rule"], []).append(_case_of(test, allowed))
        for variant in (*test["mutants"], *test["controls"]):
            equal = variant["reason"] if variant["status"] == "EQUIVALENT_HERE" else None
            known = tags.get(variant["tag"])
            if known is None or equal:
                tags[variant["tag"]] = Tag(variant["tag"], variant["kind"], "", (), equivalent_candidate=equal)
    rules = tuple(
        Rule(
            id=rule["id"],
            rule_class=rule["class"],
            kind=rule["kind"],
            core=rule["core"],
            text=rule["text"],
            source=rule["source"],
            min_cc=0,
            min_toolkit=0,
            note=None,
            untestable=None,
            no_device=None,
            cases=tuple(cases.get(rule["id"], ())),
        )
        for rule in report["rules"]
    )
    return RuleBook(
        report["suite"]["version"], report["suite"]["rules_hash"], tags, rules, {case.name: case for rule in rules for case in rule.cases}
    )


def _log_of(test: Mapping[str, Any]) -> CaseLog:
    """The records that the case's entry was made from."""
    verdict = {key: test[key] for key in ("status", "reason", "trials", "outcomes")}
    return CaseLog(
        test["name"],
        began=True,
        ended=True,
        verdict=verdict,
        variants=[v for name in _LISTS for v in test[name]],
        forbidden=list(test["forbidden"]),
    )


def _result_of(test: Mapping[str, Any], case: Case) -> CaseResult:
    keys = ("trials", "outcomes", "resolution_ns", "schedules", "shapes", "sm_pairs", "sm_pairs_possible")
    record = {key: test[key] for key in keys if key in test}
    return CaseResult(
        case, test["status"], test["reason"], record, tuple(v for name in _LISTS for v in test[name]), tuple(test["forbidden"])
    )


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-12)
    return type(first) is type(second) and first == second


def _differences(where: str, said: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[str]:
    for key, value in right.items():
        if key in said and not _same(said[key], value):
            yield f"{where}: its {key} is {_short(said[key])}, and its cases give {_short(value)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _test_problems(test: Mapping[str, Any], book: RuleBook, own: bool, on_gpu: bool) -> Iterator[str]:
    name, trials = test["name"], test["trials"]
    case = book.case(name)
    if case is None:
        yield f"{name}: the rule book has no such case"
        return
    if own:
        identity = {
            "rule": case.rule,
            "class": case.rule_class,
            "kind": case.kind,
            "core": case.core,
            "family": case.family,
            "window": case.window,
            "path": case.path,
            "proving": case.proving,
        }
        yield from (f"{name}: its {key} is not the rule book's" for key, value in identity.items() if test[key] != value)
    if not name.startswith(f"{test['rule']}.") or name.split(".")[2:] != [test["window"], test["path"]]:
        yield f"{name}: its name is not its rule, window and path"
    if test["status"] in ("PASS", "FAIL", "INCONCLUSIVE") and "before this:" not in (test["reason"] or ""):
        yield from (f"{name}: {text}" for text in contradictions(case, _log_of(test), book.tags))
    expected = bound95(trials["exercised"]) if test["status"] == "PASS" and case.kind != "api" and on_gpu else None
    yield from _differences(name, test, {"bound95": expected})
    for key, most in (("schedules", trials["run"]), ("shapes", trials["run"]), ("sm_pairs", test.get("sm_pairs_possible"))):
        if isinstance(test.get(key), int) and isinstance(most, int) and test[key] > most:
            yield f"{name}: its {key} are more than there can be"
    for key in ("witnessed", "cut_short"):
        if trials.get(key, 0) > trials["run"]:
            yield f"{name}: it counts more trials {key.replace('_', ' ')} than run"
    if case.kind != "api" and test["outcomes"].get("overlap", 0) > trials["run"]:
        yield f"{name}: more trials overlapped than were run"


def _facts(report: Report, book: RuleBook, results: list[CaseResult]) -> RunFacts:
    return RunFacts(
        book=book,
        device=report["run"]["device"],
        profile=report["run"]["profile"],
        seed=0,
        argv=[],
        only=[],
        started="",
        wall_s=0.0,
        results=results,
        verdict=judge_run(results),
        start={},
        toolchain={},
        host={},
        interposers=[],
        problems=[],
        processes=[],
        code=None,
    )


def _run_problems(report: Report, book: RuleBook, results: list[CaseResult], own: bool) -> Iterator[str]:
    """The rows of the rules, the score, the verdict with its sentences."""
    stated = {rule["id"]: rule for rule in report["rules"]}
    for test in report["tests"]:
        for key in ("class", "kind", "core"):
            if test["rule"] in stated and test[key] != stated[test["rule"]][key]:
                yield f"{test['name']}: its {key} is not its rule's"
    facts = _facts(report, book, results)
    rows = {rule.id: row for rule in book.rules if (row := rule_entry(facts, rule))}
    listed = [rule["id"] for rule in report["rules"]]
    if sorted(rows) != sorted(listed):
        yield "its rules are not those of its cases"
    for rule in report["rules"]:
        if rule["id"] in rows:
            right = {key: value for key, value in rows[rule["id"]].items() if key not in sources.PROSE or _same_words(book, report)}
            yield from _differences(rule["id"], rule, right)
    yield from _differences("the mutation score", report["mutation_score"], mutation_score(results))
    verdict = judge_run(results, report["problems"])
    said = {
        "verdict": verdict.verdict,
        "exit": verdict.exit,
        "reasons": [without_folders(text) for text in verdict.reasons],
        "findings": [without_folders(text) for text in verdict.findings],
    }
    if not report.get("waived"):
        if own:
            said["capabilities"] = judge_capabilities(results)
        yield from _differences("the run", report, said)
    if own:
        tests = list(report["tests"])
        yield from _differences("the report", report, {"contested": contested(tests), "paths": compare(tests)})


def _same_words(book: RuleBook, report: Report) -> bool:
    return bool(book.digest == report["suite"]["rules_hash"])


def recomputed_problems(report: Report) -> Iterator[str]:
    """What the report says and its own counts do not."""
    own_book = _own_book()
    own = own_book is not None and (_same_words(own_book, report) or report["suite"].get("sources") == sources.digest())
    book = own_book if own and own_book is not None else _book_of(report)
    results = []
    for test in report["tests"]:
        yield from _test_problems(test, book, own, report["device"]["kind"] == "gpu")
        case = book.case(test["name"])
        if case is not None:
            results.append(_result_of(test, case))
    yield from _run_problems(report, book, results, own)
