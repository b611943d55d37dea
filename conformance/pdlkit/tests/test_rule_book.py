"""The rule book covers what it has to: every clause of the documents, every class of real bugs, every mutant it declares."""

from __future__ import annotations

import re

import pytest

from conformance.pdlkit import places
from conformance.pdlkit.rules import RuleBook, load

# How many clauses of the documents each group has; the ids run from 01 on without a gap. A rule beyond them needs no entry here.
CLAUSES = {"ATTR": 14, "TRIG": 12, "WAIT": 13, "MEM": 9, "EVT": 14, "EDGE": 33, "COMP": 15, "FWD": 6, "FB": 7, "TOOL": 5, "VER": 9}

# Bugs of kernels and of how they wait, trigger and hang: B01 to B53. Those that no mutant plants, and why.
BUGS = 53
NOT_PLANTED = {
    "B31": "the compiler dies: nothing runs",
    "B44": "an open question, no known bug: MEM-01c and MEM-01d measure it",
    "B47": "the cause was not found",
    "B48": "no bug of a kernel: FWD-03a runs the situation",
    "B49": "the cause was not found",
    "B50": "the cause was not found",
    "B51": "the kernel that hung was the victim of another one",
    "B52": "an architecture's launch failure, cause unknown; COMP-01 runs clusters",
    "B53": "folklore that contradicts the documents: WAIT-10 and TRIG-10 run what it warns of",
}


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load(places.RULES)


@pytest.mark.parametrize("group", CLAUSES)
def test_every_clause_is_a_rule(group: str, book: RuleBook) -> None:
    """With a case, or with the reason why there is none (the loader refuses a rule that has neither)."""
    wanted = [f"{group}-{number:02d}" for number in range(1, CLAUSES[group] + 1)]
    assert [clause for clause in wanted if book.rule(clause) is None] == []


def test_a_letter_stands_behind_the_id_of_a_rule(book: RuleBook) -> None:
    """A rule's id is its clause's, with a letter where one clause makes several rules; groups beyond the clauses are the kit's own."""
    for rule in book.rules:
        number = rule.id.split("-")[1]
        assert not number[2:] or book.rule(rule.id[:-1]), f"{rule.id} has a letter, but there is no {rule.id[:-1]}"


def test_every_rule_names_the_clauses_it_comes_from(book: RuleBook) -> None:
    for rule in book.rules:
        named = re.findall(r"PDL-([A-Z]+-[0-9]{2})", rule.source)
        assert named, f"{rule.id}: its source names no clause"


def test_every_bug_is_planted_or_has_its_reason(book: RuleBook) -> None:
    planted = {bug for tag in book.tags.values() for bug in tag.source}
    wanted = {f"B{number:02d}" for number in range(1, BUGS + 1)}
    assert sorted(wanted - planted - set(NOT_PLANTED)) == []
    assert sorted(planted & set(NOT_PLANTED)) == [], "planted now: take it off the list"


def test_every_tag_is_used(book: RuleBook) -> None:
    used = {tag for case in book.cases for tag in (*case.mutants, *case.controls)}
    assert [tag.tag for tag in book.tags.values() if tag.kind != "broken_wait" and tag.tag not in used] == []


def test_what_runs_on_a_gpu_only_is_said_where_it_is_needed(book: RuleBook) -> None:
    """Every family of a case has its file, and one that the model lacks has no case without `gpu_only`."""
    for case in book.cases:
        source = (places.KERNELS / f"{case.family}.cu").read_text(encoding="utf-8")
        if f"#ifdef PDL_MODEL\nIMAGE_WITHOUT_PAIRS({case.family})" in source:
            assert case.gpu_only, f"{case.name}: the model has no kernels of {case.family}"


def test_the_changelog_counts_what_there_is(book: RuleBook) -> None:
    sections = (places.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    told = next(section for section in sections if section.startswith(f"{book.suite} "))
    rules = re.search(r"(\d+) rules with (\d+)\s+cases, (\d+)\s+of them", told)
    assert rules and [int(n) for n in rules.groups()] == [len(book.rules), len(book.cases), sum(bool(r.cases) for r in book.rules)]
    table = (places.KIT / "model" / "devices.md").read_text(encoding="utf-8").split("\n|---|---|---|\n")[1].split("\n\n")[0]
    devices = re.search(r"(\d+) broken devices", told)
    assert devices and int(devices[1]) == len(table.splitlines())
