"""Recomputes what a report derives from its own counts: verdicts, bounds, the rules' rows, the score, the tables, the run's verdict.

The functions are those with which `run` made the report. A report of this code is held against this rule book; its sentences only
if the book has not been reworded since. For a report of other code the book is rebuilt from the report itself: its rows still have to
agree with its cases, and what only a rule book knows is not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

from conformance.pdlkit import places, sources, waivers
from conformance.pdlkit.ambiguities import contested
from conformance.pdlkit.eager import compare
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.records import CaseLog
from conformance.pdlkit.report import RunFacts, axes_entry, mutation_score, pooled, rule_entry, without_folders
from conformance.pdlkit.rules import Case, Rule, RuleBook, RulesError, Tag, load
from conformance.pdlkit.run import select
from conformance.pdlkit.verdicts import CaseResult, bound95, contradictions, judge_capabilities, judge_run
from conformance.reports.several_runs import several_problems

Report = Mapping[str, Any]
_NO_TRIALS = (0, 0, 0, 0)
_WRONG = ("stale", "poison", "misplaced", "torn", "foreign", "early_start")
_COUNTED = re.compile(rf"\b({'|'.join(_WRONG)}) ([0-9,]*[0-9])")
_LISTS = ("mutants", "controls", "broken_waits", "triage")


@cache
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
    """A rule book with what the report says of its rules. Its measured rules allow what they must not forbid.

    A report does not say of a mutant that was killed whether it may live, and so die in a few trials only: this kit's book does.
    """
    own_book = _own_book()
    cases: dict[str, list[Case]] = {}
    tags: dict[str, Tag] = {}
    for test in report["tests"]:
        allowed = ("wrong", "early_start") if test["class"] == "measured" and test["status"] != "FAIL" else ()
        cases.setdefault(test["rule"], []).append(_case_of(test, allowed))
        for variant in (*test["mutants"], *test["controls"]):
            here = own_book.tags.get(variant["tag"]) if own_book else None
            may_live = here.equivalent_candidate if here else None
            equal = variant["reason"] if variant["status"] == "EQUIVALENT_HERE" else may_live
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
    keys = ("trials", "outcomes", "resolution_ns", "schedules", "shapes", "sm_pairs", "sm_pairs_possible", "answers")
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


def _cut_off(test: Mapping[str, Any]) -> bool:
    """Whether its child ended behind a forbidden trial: its counts, which come last, may be missing."""
    seen = len(test["forbidden"])
    words = f"{seen} forbidden trials were recorded before this: "
    return seen > 0 and test["status"] == "FAIL" and (test["reason"] or "").startswith(words)


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
    if test["status"] in ("PASS", "FAIL", "INCONCLUSIVE", "NOT_SUPPORTED") and not _cut_off(test):
        yield from (f"{name}: {text}" for text in contradictions(case, _log_of(test), book.tags, not on_gpu))
    expected = bound95(trials["exercised"]) if test["status"] == "PASS" and case.kind != "api" and on_gpu else None
    yield from _differences(name, test, {"bound95": expected})
    for key, most in (("schedules", trials["run"]), ("shapes", trials["run"]), ("sm_pairs", test.get("sm_pairs_possible"))):
        if isinstance(test.get(key), int) and isinstance(most, int) and test[key] > most:
            yield f"{name}: its {key} are more than there can be"
    if test["status"] == "FAIL" and case.kind != "api":
        counted = {name: number.replace(",", "") for name, number in _COUNTED.findall(test["reason"] or "")}
        if counted != {name: str(test["outcomes"][name]) for name in _WRONG if test["outcomes"].get(name)}:
            yield f"{name}: its reason counts other outcomes than the case"
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
            right = {key: value for key, value in rows[rule["id"]].items() if key not in sources.PROSE or same_words(book, report)}
            yield from _differences(rule["id"], rule, right)
    right = derived(report, facts, own)
    yield from _differences("the mutation score", report["mutation_score"], right.pop("mutation_score"))
    yield from _differences("the run", report, right)
    if own:
        yield from _selection_problems(report, book)


_AXES: dict[tuple[str, ...], dict[str, Any]] = {}


def _axes(facts: RunFacts) -> dict[str, Any]:
    """axes_entry, which takes a second, once per set of answers: it rests on nothing else."""
    answers = (str(answer) for result in facts.results for answer in result.record.get("answers") or ())
    key = (facts.book.digest, *answers)
    if key not in _AXES:
        _AXES[key] = axes_entry(facts)
    return _AXES[key]


def derived(report: Report, facts: RunFacts, own: bool) -> dict[str, Any]:
    """Every part of a report that follows from its cases, as `run` derives it; what needs the rule book only if the report is of it."""
    applied = _waived(report, facts.results)
    verdict = judge_run(facts.results, report["problems"], report["host"]["interposers"], applied.rules, applied.crashes)
    found: dict[str, Any] = {
        "mutation_score": mutation_score(facts.results),
        "waived": list(applied.entries),
        "verdict": verdict.verdict,
        "exit": verdict.exit,
        "reasons": [without_folders(text) for text in verdict.reasons],
        "findings": [without_folders(text) for text in verdict.findings],
        "pooled": pooled(facts),
    }
    if own:
        tests = list(report["tests"])
        found["capabilities"] = judge_capabilities(facts.results, applied.rules, applied.crashes)
        found.update(contested=contested(tests), paths=compare(tests), axes=_axes(facts))
    return found


def _waived(report: Report, results: list[CaseResult]) -> waivers.Applied:
    """What the waivers that the report names do to its own cases: a waiver of what did not fail comes back without an entry."""
    given = []
    try:
        today = date.fromisoformat(report["run"]["started"][:10])
        for entry in report.get("waived") or []:
            crash = all(case["status"] == "CRASH" for case in entry["cases"])
            expires = date.fromisoformat(entry["expires"])
            given.append(waivers.Waiver(entry["rule"], "*", waivers.DriverRange.read("*"), entry["reason"], expires, crash))
    except ValueError:
        return waivers.NOTHING  # no date: nothing is waived, and the comparison with the report says so
    return waivers.apply(given, results, report["device"].get("name"), None, today)


def _selection_problems(report: Report, book: RuleBook) -> Iterator[str]:
    """The cases are those that `--only` asks for: none of them was left out of the report."""
    try:
        asked = {case.name for case in select(book, report["run"]["only"])}
    except BadArguments as error:
        yield f"run.only: {error}"
        return
    told = {test["name"] for test in report["tests"]}
    yield from (f"{name}: the run was asked for this case, and the report does not tell it" for name in sorted(asked - told)[:5])
    yield from (f"{name}: the run was not asked for this case" for name in sorted(told - asked)[:5])


def _build_problems(report: Report) -> Iterator[str]:
    """What the toolchain, the driver, the processes and the kernels say of each other."""
    toolkit, nvcc = report["driver"].get("toolkit"), report["toolchain"].get("nvcc")
    if toolkit and nvcc and not nvcc.startswith(f"{toolkit // 1000}.{toolkit % 1000 // 10}."):
        yield f"driver.toolkit is {toolkit}, and toolchain.nvcc is {nvcc}"
    ran = {test["family"] for test in report["tests"] if test["trials"]["run"]}
    began = {process["family"] for process in report["processes"]}
    yield from (f"{name}: cases of this family ran, and no process of it is told" for name in sorted(ran - began))
    yield from (f"{name}: a process of this family is told, and no case" for name in sorted(began - {t["family"] for t in report["tests"]}))
    archs = set((report["toolchain"].get("code") or {}).get("architectures") or [])
    for test in report["tests"]:
        for kernel in (*test.get("kernels", []), *(k for variant in test["mutants"] for k in variant.get("kernels", []))):
            if archs and kernel["binary_version"] not in archs and kernel["image"] == "base":
                yield f"{test['name']}: its kernel {kernel['name']} is of sm_{kernel['binary_version']}, which the program does not hold"


def same_words(book: RuleBook, report: Report) -> bool:
    """Whether the report's rule book is this one, word for word."""
    return bool(book.digest == report["suite"]["rules_hash"])


def judged_by(report: Report) -> tuple[RuleBook, bool]:
    """The rule book of this kit if the report is of this code, else the one that the report tells."""
    own_book = _own_book()
    if own_book is not None and (same_words(own_book, report) or report["suite"].get("sources") == sources.digest()):
        return own_book, True
    return _book_of(report), False


def _results(report: Report, book: RuleBook) -> list[CaseResult]:
    pairs = ((test, book.case(test["name"])) for test in report["tests"])
    return [_result_of(test, case) for test, case in pairs if case is not None]


def part_of(report: Report, rules: Sequence[str]) -> dict[str, Any]:
    """The report as if only these rules had been asked for: consistent in itself but for its digest."""
    part = {
        **{key: value for key, value in report.items() if key not in ("machine", "soak")},  # which speak of whole runs
        "tests": [test for test in report["tests"] if test["rule"] in rules],
        "rules": [rule for rule in report["rules"] if rule["id"] in rules],
        "contested": [entry for entry in report["contested"] if entry["case"].partition(".")[0] in rules],
        "paths": [entry for entry in report["paths"] if entry["rule"] in rules],
        "waived": [entry for entry in report.get("waived") or [] if entry["rule"] in rules],
        "run": {**report["run"], "only": list(rules)},
    }
    families = {test["family"] for test in part["tests"]}
    part["processes"] = [process for process in report["processes"] if process["family"] in families]
    book, own = judged_by(part)
    right = derived(part, _facts(part, book, _results(part, book)), own)
    part.update({key: value for key, value in right.items() if key in report})
    return part


def recomputed_problems(report: Report) -> Iterator[str]:
    """What the report says and its own counts do not."""
    book, own = judged_by(report)
    for test in report["tests"]:
        yield from _test_problems(test, book, own, report["device"]["kind"] == "gpu")
    yield from _run_problems(report, book, _results(report, book), own)
    yield from _build_problems(report)
    yield from several_problems(report)
