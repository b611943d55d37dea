"""The pages for contributors lead where they say."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import dev
from conformance.pdlkit import reasons
from conformance.pdlkit.exits import OK
from conformance.pdlkit.places import KIT, ROOT, RULES
from conformance.pdlkit.read_report import read_report
from conformance.pdlkit.rules import load
from conformance.pdlkit.verdicts import CASE_VERDICTS, CaseResult, judge_run

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", KIT / "README.md", KIT / "ARCHITECTURE.md",
         KIT / "GLOSSARY.md", KIT / "references.md", *sorted(ROOT.glob("examples/*.md")), *sorted(KIT.glob("*/README.md"))]


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def dead_links(page: Path) -> list[str]:
    """Links of a page that lead to no file or no heading of this tree."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = page.parent / name if name else page
        headings = []
        if anchor and file.suffix == ".md" and file.is_file():
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
        if not file.exists() or (headings and anchor not in map(_anchor, headings)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One two\n[a](gone.md) [b](#one-two) [c](#three) [d](https://example.org)\n")
    assert dead_links(page) == ["gone.md", "#three"]


def test_the_architecture_names_every_room() -> None:
    rooms = {path.name for path in KIT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    named = set(re.findall(r"^\| `(\w+)/` \|", (KIT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.M))
    assert rooms <= named, f"ARCHITECTURE.md has no row for {sorted(rooms - named)}"


def test_every_tool_that_a_page_names_exists() -> None:
    listed = subprocess.run([sys.executable, "conformance", "dev"], cwd=ROOT, capture_output=True, text=True, check=True)
    tools = set(re.findall(r"^  ([a-z-]+) ", listed.stdout, re.M))
    for page in PAGES:
        named = set(re.findall(r"conformance dev ([a-z][a-z-]+)", page.read_text(encoding="utf-8")))
        assert named <= tools, f"{page.name}: {sorted(named - tools)}"


@pytest.mark.parametrize("name", dev.TOOLS)
def test_every_tool_has_help(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [*sys.argv])  # dev.main() writes the program's name there
    try:
        assert dev.main([name, "--help"]) == 0
    except SystemExit as ended:  # argparse's way
        assert not ended.code
    assert re.sub(r"\s+", " ", capsys.readouterr().out).startswith(f"usage: python3 conformance dev {name} ")


def _case(name: str, status: str, proving: bool, **more: Any) -> dict[str, Any]:
    return {"name": name, "class": "documented", "status": status, "proving": proving, "reason": f"because of {name}", "mutants": [],
            **more}


def test_reasons_name_what_stands_in_the_way() -> None:
    report = {"verdict": "UNPROVEN", "run": {"device": "cuda", "profile": "quick", "seed": "0x1"},
              "reasons": ["A-04.weak: INCONCLUSIVE"], "tests": [
        _case("A-01.good", "PASS", True), _case("A-02.absent", "NOT_SUPPORTED", True), _case("A-03.seen", "INCONCLUSIVE", False),
        _case("A-04.weak", "INCONCLUSIVE", True, mutants=[{"tag": "nowait", "status": "SURVIVED"}, {"tag": "war", "status": "KILLED"}]),
        _case("A-05.lost", "NOT_RUN", False)]}
    said = "\n".join(reasons.reasons(report))
    assert "A-04.weak  INCONCLUSIVE\n  because of A-04.weak\n  survived: nowait\n" in said and "A-05.lost  NOT_RUN" in said
    assert said.splitlines()[1] == "reason: A-04.weak: INCONCLUSIVE"
    assert not re.search("A-0[123]", said) and "no case stands in the way" not in said


@pytest.mark.parametrize("status", CASE_VERDICTS)
@pytest.mark.parametrize(("rule_class", "proving"), [("documented", True), ("documented", False), ("measured", False)])
def test_in_the_way_is_what_keeps_a_run_from_conforms(status: str, rule_class: str, proving: bool) -> None:
    case = replace(next(case for case in load(RULES).cases if case.proving), rule_class=rule_class, proving=proving)
    good = CaseResult(replace(case, rule_class="documented", proving=True), "PASS", None)
    verdict = judge_run([good, CaseResult(case, status, None)]).verdict
    assert reasons.in_the_way(_case(case.name, status, proving, **{"class": rule_class})) == (verdict != "CONFORMS")


def test_findings_and_waived_failures_are_not_in_the_way() -> None:
    report = {"verdict": "CONFORMS", "run": {"profile": "quick", "seed": "0x1"}, "reasons": [], "tests": [
        _case("A-01.good", "PASS", True), _case("A-02.finding", "FAIL", False, **{"class": "measured"}), _case("A-03.known", "FAIL", True)],
        "waived": [{"rule": "A-03", "cases": [{"name": "A-03.known", "status": "FAIL"}]}]}
    assert reasons.reasons(report)[1:] == [
        "no case stands in the way; 2 of 3 cases prove something, the others only observe; waived: A-03.known"]


@pytest.mark.parametrize("path", sorted((KIT / "results").glob("*-peer.json")), ids=lambda path: path.name)
def test_a_run_that_proved_nothing_says_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = reasons.reasons(read_report(path))
    assert reasons.main([str(path)]) == OK and capsys.readouterr().out.splitlines() == said
    assert "reason: no proving case passed, so nothing was proven" in said
    assert not any("no case stands in the way" in line for line in said)


@pytest.mark.parametrize("path", sorted((KIT / "results").glob("*-full.json")), ids=lambda path: path.name)
def test_reasons_agree_with_a_recorded_verdict(path: Path) -> None:
    report = read_report(path)
    said = reasons.reasons(report)
    assert [line for line in said if line.startswith("reason: ")] == [f"reason: {text}" for text in report["reasons"]]
    assert any("no case stands in the way" in line for line in said) == (report["verdict"] == "CONFORMS")
    measured = {test["name"] for test in report["tests"] if test["class"] == "measured" and test["status"] in ("FAIL", "HANG")}
    assert not any(line.split("  ")[0] in measured for line in said)
