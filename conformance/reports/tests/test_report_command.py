"""`report`: every form of a report says what the report says, and nothing else; damaged and hostile reports are survived."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.verdicts import CASE_VERDICTS
from conformance.reports import complete, page
from conformance.reports import report as command
from conformance.reports.complete import report_schema, shape_problem
from conformance.reports.content import STATUSES, VERDICTS, capability_rows, notes, plain, status_words, verdict_words
from conformance.reports.interchange import fate, write_ctrf, write_junit
from conformance.reports.markdown import write_markdown, write_summary
from conformance.reports.page import write_page
from conformance.reports.tests.made_reports import failed, recorded, with_cases

VOID = {"meta", "link", "br", "rect", "line"}


class Outline(HTMLParser):
    """Checks that a page is well nested, and keeps what a test asks for."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.links: list[str] = []
        self.headings: list[int] = []
        self.text: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        given = dict(attrs)
        if given.get("id"):
            self.ids[str(given["id"])] += 1
        self.links += [str(given[key]) for key in ("href", "src") if given.get(key)]
        assert not any(key.startswith("on") for key in given)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def strings_of(value: Any) -> list[str]:
    """Every string of a JSON value."""
    if isinstance(value, dict):
        return [text for key, entry in value.items() for text in (key, *strings_of(entry))]
    if isinstance(value, list):
        return [text for entry in value for text in strings_of(entry)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("count", [0, 1, 300, 3000])
def test_a_page_of_any_size_is_whole(count: int) -> None:
    report = with_cases(count)
    outline = Outline(write_page(report))
    assert outline.tags["script"] == 0
    assert all(link.startswith("#") or link == "data:," for link in outline.links)
    assert all(link[1:] in outline.ids for link in outline.links if link.startswith("#"))
    assert max(outline.ids.values(), default=1) == 1
    assert outline.headings[0] == 1 and outline.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(outline.headings, outline.headings[1:], strict=False))
    text = "".join(outline.text)
    assert all(rule["id"] in text for rule in report["rules"])
    assert all(test["name"].partition(".")[2] in text for test in report["tests"])


def test_a_page_shows_verdict_reason_timeline_and_triage() -> None:
    report = failed(recorded())
    page = write_page(report)
    text = "".join(Outline(page).text)
    assert "VIOLATES" in text and report["reasons"][0] in text
    assert "wait returns 485 ns" in text and "last store 1,286 ns" in text and "too-early" in page
    assert "attribute-off" in text and "3 of 64" in text
    assert "too-early" not in re.sub("<style>.*?</style>", "", write_page(recorded()), flags=re.S)


def test_nothing_is_said_that_the_report_does_not_say() -> None:
    """Every number of the page with three digits or more stands in the report, or is a sum over its cases."""
    report = with_cases(40)
    known = {match.replace(",", "") for text in [json.dumps(report)] for match in re.findall(r"[0-9]+", text)}
    known |= {str(len(report["tests"])), str(len(report["rules"]))}
    sums: Counter[str] = Counter()
    for test in report["tests"]:
        sums[f"run {test['rule']}"] += test["trials"]["run"]
        sums[f"exercised {test['rule']}"] += test["trials"]["exercised"]
        sums[f"overlap {test['rule']}"] += test["outcomes"].get("overlap", 0)
        for variant in (*test["mutants"], *test["controls"], *test["broken_waits"]):
            sums[f"kills {variant['kind']} {variant['tag']}"] += variant["kills"]
            sums[f"trials {variant['kind']} {variant['tag']}"] += variant["trials"]
        for window in {test["window"], f"{test['window']}/{test['path']}"}:
            sums[f"{test['rule']} {window} run"] += test["trials"]["run"]
            sums[f"{test['rule']} {window} exercised"] += test["trials"]["exercised"]
    known |= {str(value) for value in sums.values()}
    text = " ".join(Outline(write_page(report)).text)
    shown = {
        match.replace(",", "") for match in re.findall(r"(?<![\w.])[0-9]{1,3}(?:,[0-9]{3})+(?![\w.])|(?<![\w.-])[0-9]{3,}(?![\w.-])", text)
    }
    assert shown - known == set()


def test_hostile_text_stays_text() -> None:
    report = failed(recorded())
    hostile = "</style><script>alert(1)</script> \u0000 ]]> | `x` \ud800 \u202e \" onload='x'"
    report["tests"][0]["reason"] = hostile
    report["rules"][0]["text"] = hostile
    report["reasons"] = [hostile]
    report["device"]["name"] = hostile
    outline = Outline(write_page(report))
    assert outline.tags["script"] == 0 and outline.tags["style"] == 1
    ElementTree.fromstring(write_junit(report).encode("utf-8", "replace"))
    json.loads(write_ctrf(report))
    assert "<script" not in write_markdown(report)


def test_unknown_parts_of_a_newer_report_are_shown() -> None:
    report = recorded()
    report["capabilities"] = {"streams": {"verdict": "CONFORMS", "rules": 20}, "built graphs": "VIOLATES"}
    report["waived"] = [{"rule": "EDGE-33", "until": "2030-01-01"}]
    report["pooled"] = {"visibility": {"bound95": 1e-07}}
    report["rules"][0]["bound95_shapes"] = 0.00123
    text = "".join(Outline(write_page(report)).text)
    assert "built graphs" in text and "waived: EDGE-33" in text and "1e-07" in text and "1.2e-03" in text
    assert "built graphs" in write_markdown(report) and "EDGE-33" in write_summary(report)


def test_a_page_says_what_other_drivers_did() -> None:
    """A rule that fails here and held on another driver is new; both stand in one row. Rules without a difference are left out."""
    report = failed(recorded())
    bad = next(rule["id"] for rule in report["rules"] if rule["status"] == "FAIL")
    rules = {rule["id"]: "PASS" if rule["id"] == bad else rule["status"] for rule in report["rules"]}
    report["other_drivers"] = [
        {
            "gpu": "NVIDIA B200",
            "driver": "590.1",
            "toolkit": "13.1",
            "started": "2026-01-02T03:04:05Z",
            "verdict": "CONFORMS",
            "rules": rules,
        }
    ]
    page = write_page(report)
    section = page[page.index('id="part-drivers"') :].partition("</section>")[0]
    assert "NVIDIA B200, driver 590.1" in section and section.count("<tr>") == 2
    assert f'href="#{bad}"' in section and ">FAIL<" in section and ">PASS<" in section
    assert 'id="part-drivers"' not in write_page(recorded())


@pytest.mark.parametrize(("here", "there", "shown"), [
    ("PASS", ["PASS", "PASS"], False), ("PASS", ["PASS", None], False), ("PASS", ["INCONCLUSIVE", "PASS"], True), ("FAIL", ["FAIL"], True),
    ("FAIL", [None], True), ("INCONCLUSIVE", [None, "PASS"], True), ("PASS", ["CRASH"], True)])
def test_a_rule_that_any_driver_answers_otherwise_is_in_the_table(here: str, there: list[str | None], shown: bool) -> None:
    report = recorded()
    report["rules"] = [{**report["rules"][0], "id": "R-1", "class": "derived", "status": here}]
    report["other_drivers"] = [{"gpu": "G", "driver": "1", "toolkit": "13.0", "started": "2026-01-02T03:04:05Z", "verdict": "CONFORMS",
                                "rules": {"R-1": said} if said else {}} for said in there]
    assert ("#R-1" in str(page._other_drivers(report))) is shown
    report["rules"][0]["class"] = "measured"
    assert "#R-1" not in str(page._other_drivers(report))


@pytest.mark.parametrize(("answers", "said"), [
    ({}, "This run does not decide it."), ({"neither": 3}, "This run does not decide it."),
    ({"A": 2, "neither": 1}, "follows claim A: one."),
    ({"B": 1}, "follows claim B: two."), ({"A": 2, "B": 3}, "claim A in 2 of the cases, claim B in 3 of the cases.")])
def test_which_claim_a_device_follows_is_said(answers: dict[str, int], said: str) -> None:
    assert page._follows(Counter(answers), {"A": "one", "B": "two"}).endswith(said)
    rows = [{"id": "AMB-1", "question": "what?", "claim_a": "one", "claim_b": "two", "case": f"C-{number}", "follows": name, "counts": "c",
             "bound": "b"} for name, count in answers.items() for number in range(count)]
    shown = str(page._contested({"contested": rows}))
    assert (said in shown and all(row["case"] in shown for row in rows)) if rows else shown == "None"


def test_markdown_fits_an_issue_and_says_what_is_left_out() -> None:
    text = write_markdown(with_cases(3000))
    assert len(text) <= 65_536 and "left out" in text
    assert "left out" not in write_markdown(with_cases(10))


@pytest.mark.parametrize("status", STATUSES)
def test_a_summary_names_every_rule_that_went_wrong(status: str) -> None:
    report = recorded()
    report["rules"] = [{**report["rules"][0], "id": "R-1", "status": status}]
    named = "Rules that did not pass" in write_summary(report)
    assert named == (status not in ("PASS", "NOT_SUPPORTED", "INCONCLUSIVE")) and named == ("| R-1 |" in write_summary(report))


def test_a_pass_without_any_planted_bug_is_told() -> None:
    rule = {"id": "A-01", "status": "PASS", "proving": 1, "applicable": 0, "broken_waits_killed": 0}
    others = [{**rule, "id": "B-01", **more} for more in ({"applicable": 1}, {"broken_waits_killed": 1}, {"proving": 0})]
    (said,) = notes({"rules": [rule, *others], "tests": [], "paths": []})
    assert said.endswith("with power from the model's broken devices only: A-01")


@pytest.mark.parametrize("form", [write_summary, write_markdown, write_page])
def test_nothing_that_went_wrong_is_left_out(form: Callable[[Any], str]) -> None:
    report = recorded()
    said = {key: [f"{key} one", f"{key} two"] for key in ("problems", "reasons", "findings")}
    waived = [{"rule": "EDGE-33", "reason": "waived one", "expires": "2099-01-01", "cases": []}]
    capabilities = [{"capability": "streams", "verdict": "VIOLATES", "failing": ["EDGE-33", "WAIT-01"], "unproven": ["MEM-01"],
                     "holding": 3}]
    text = form({**report, **said, "waived": waived, "capabilities": capabilities}).replace("\\", "")
    assert all(line in text for lines in said.values() for line in lines) and "waived one" in text
    assert "failing: EDGE-33 (waived), WAIT-01; unproven: MEM-01; 3 rules hold" in text and "WAIT-01 (waived)" not in text
    assert [text.count(word) for word in ("failing: ", "unproven: ", "rules hold", "holding: ", "capability: ")] == [1, 1, 1, 0, 0]


def test_any_value_has_its_line_of_text() -> None:
    said: list[tuple[Any, str]] = [
        ({"a": [1, "b"], "c": None}, "a 1, b, c –"), ([], ""), (True, "yes"), (False, "no"), (12, "12"), ("x", "x")]
    assert [plain(value) for value, _ in said] == [text for _, text in said]


def test_a_capability_is_told_by_its_name_with_what_fails_in_it() -> None:
    """From a list or a table; a rule that a waiver excuses says so."""
    entry = {"verdict": "UNPROVEN", "failing": ["A-1", "A-2"], "unproven": ["B-1"], "holding": 1234, "more": True}
    words = "failing: A-1 (waived), A-2; unproven: B-1; 1,234 rules hold; more: yes"
    waived = [{"rule": "A-1"}, "odd"]
    for key in ("name", "capability", "id"):
        assert capability_rows({"capabilities": [{key: "streams", **entry}], "waived": waived}) == [("streams", "UNPROVEN", words)]
    assert capability_rows({"capabilities": {"streams": entry}, "waived": waived}) == [("streams", "UNPROVEN", words)]
    assert capability_rows({"capabilities": ["plain", {"status": "PASS", "failing": [], "other": None}]}) == [
        ("plain", "plain", ""), ("", "PASS", "")]
    assert capability_rows({}) == []


def test_cases_are_counted_apart_from_findings() -> None:
    report = recorded()
    classes = [("documented", "FAIL"), ("derived", "FAIL"), ("derived", "CRASH"), ("measured", "FAIL"), ("documented", "PASS")]
    report["tests"] = [{**report["tests"][0], "class": name, "status": status} for name, status in classes]
    assert status_words(report) == "2 FAIL, 1 CRASH, 1 PASS; in measured rules 1 FAIL"
    for status in CASE_VERDICTS:
        report["tests"] = [{**report["tests"][0], "class": "derived", "status": status}]
        assert status_words(report) == f"1 {status}"


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_run_with_waivers_does_not_say_that_every_rule_held(verdict: str) -> None:
    report = {**recorded(), "verdict": verdict}
    waived = {**report, "waived": [{"rule": "EDGE-33", "reason": "r", "expires": "2099-01-01", "cases": []}]}
    assert verdict_words(report) == VERDICTS[verdict]
    assert ("Every other" in verdict_words(waived)) == (verdict == "CONFORMS") == (verdict_words(waived) != VERDICTS[verdict])


def test_junit_and_ctrf_count_alike() -> None:
    report = failed(recorded())
    root = ElementTree.fromstring(write_junit(report))
    summary = json.loads(write_ctrf(report))["results"]["summary"]
    cases = list(root.iter("testcase"))
    assert len(cases) == len(report["tests"]) == summary["tests"] == int(root.attrib["tests"])
    assert len(list(root.iter("failure"))) == summary["failed"] == int(root.attrib["failures"]) == 1
    assert len(list(root.iter("skipped"))) == summary["skipped"]
    assert sum(int(suite.attrib["tests"]) for suite in root.iter("testsuite")) == len(cases)
    report["run"].update(started="2026-01-02T03:04:05Z", wall_s=1.5)
    summary = json.loads(write_ctrf(report))["results"]["summary"]
    assert (summary["start"], summary["stop"]) == (1767323045000, 1767323046500)


FATES = {  # of a proving case; the class of its rule matters for the first two only
    "FAIL": "failed",
    "HANG": "failed",
    "PASS": "passed",
    "INCONCLUSIVE": "failed",
    "CRASH": "error",
    "DEVICE_LOST": "error",
    "KIT_ERROR": "error",
    "NOT_RUN": "error",
    "NOT_SUPPORTED": "skipped",
}


@pytest.mark.parametrize("status", FATES)
def test_every_status_has_its_fate(status: str) -> None:
    assert set(FATES) == set(STATUSES)
    for name in ("documented", "derived"):
        assert fate({"status": status, "class": name, "proving": True}) == FATES[status]
    observing = {"INCONCLUSIVE": "skipped"}.get(status, FATES[status])
    assert fate({"status": status, "class": "derived", "proving": False}) == observing
    measured = "skipped" if status in ("FAIL", "HANG") else observing
    assert fate({"status": status, "class": "measured", "proving": False}) == measured


def test_each_status_is_counted_once_in_other_forms() -> None:
    """In one rule, and twice that often in another one."""
    report = recorded()
    proving = next(test for test in report["tests"] if test["proving"] and test["class"] == "derived")
    report["tests"] = [
        {**proving, "rule": rule, "status": status, "reason": None}
        for rule, times in (("R-1", 1), ("R-2", 2))
        for status in FATES
        for _ in range(times)
    ]
    root = ElementTree.fromstring(write_junit(report))
    ends = ("tests", "failures", "errors", "skipped")
    assert [[int(part.attrib[end]) for end in ends] for part in (root, *root)] == [[27, 9, 12, 3], [9, 3, 4, 1], [18, 6, 8, 2]]
    assert [sum(1 for _ in root.iter(tag)) for tag in ("testcase", "failure", "error", "skipped")] == [27, 9, 12, 3]
    results = json.loads(write_ctrf(report))["results"]
    counts = Counter(test["status"] for test in results["tests"])
    assert counts == {"passed": 3, "failed": 21, "skipped": 3}
    assert {name: results["summary"][name] for name in ("tests", "pending", "other", *counts)} == {
        "tests": 27,
        "pending": 0,
        "other": 0,
        **counts,
    }


def test_green_is_earned_in_other_forms_too() -> None:
    """A proving case without proof is no success there, and neither is a crash; a finding in a measured rule is no failure."""
    report = recorded()
    proving = next(test for test in report["tests"] if test["proving"] and test["status"] == "PASS")
    proving.update(status="INCONCLUSIVE", bound95=None, reason="too little was exercised")
    crashed = next(test for test in report["tests"] if test["proving"] and test["status"] == "PASS")
    crashed.update(status="CRASH", bound95=None, reason="died of SIGSEGV")
    root = ElementTree.fromstring(write_junit(report))
    assert [entry.attrib["message"] for entry in root.iter("failure")] == ["INCONCLUSIVE: too little was exercised"]
    assert [entry.attrib["message"] for entry in root.iter("error")] == ["CRASH: died of SIGSEGV"]
    findings = [test for test in report["tests"] if test["class"] == "measured" and test["status"] == "FAIL"]
    assert findings and len(list(root.iter("failure"))) == 1


def test_the_command_writes_what_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_text(json.dumps(with_cases(3)))
    assert command.main([str(tmp_path)]) == 0
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    arguments = [word for name in ("html", "markdown", "junit", "ctrf") for word in (f"--{name}", str(tmp_path / name))]
    assert command.main([str(tmp_path / "report.json"), *arguments, "--github"]) == 0
    assert all((tmp_path / name).stat().st_size > 300 for name in ("html", "markdown", "junit", "ctrf"))
    assert "CONFORMS" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(("words", "summary", "right"), [
    ("--markdown -", False, True), ("--markdown - --html -", False, False), ("--github", False, True),
    ("--markdown - --github", False, False), ("--markdown - --github", True, True), ("--ctrf - --junit - --github", True, False)])
def test_one_form_alone_goes_to_stdout(words: str, summary: bool, right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_text(json.dumps(with_cases(1)))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if summary:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    if right:
        assert command.main([str(tmp_path), *words.split()]) == 0
    else:
        with pytest.raises(BadArguments, match="only one form"):
            command.main([str(tmp_path), *words.split()])
    assert not (tmp_path / "report.html").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "pdl-report/1"}', '{"schema": "other/1"}', "\x80", '{"schema": "pdl-report/1", "run": 3}']
)
def test_what_is_no_report_is_told_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadArguments, match=re.escape(str(file))):
        command.main([str(file)])


def test_a_report_with_a_part_removed_is_told_not_shown(tmp_path: Path) -> None:
    for key in recorded():
        report = with_cases(2)
        if key in ("paths", "contested", "static_check"):
            continue
        del report[key]
        (tmp_path / "report.json").write_text(json.dumps(report))
        with pytest.raises(BadArguments):
            command.main([str(tmp_path)])


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.pop("verdict"),
        lambda report: report["tests"][1].pop("status"),
        lambda report: report.update(tests={}),
        lambda report: report.update(schema="pdl-report/2"),
        lambda report: report.update(verdict="FINE"),
        lambda report: report["tests"][1].update(status="FINE"),
        lambda report: report["tests"][1]["trials"].update(run=True),
        lambda report: report["tests"][1].update(wall_s=True),
        lambda report: report["tests"][1]["trials"].update(run="64"),
        lambda report: report["device"].update(name=5),
    ],
)
def test_a_part_of_another_shape_is_found_wherever_it_stands(change: Callable[[Any], Any]) -> None:
    report = with_cases(2)
    assert shape_problem(report, report_schema()) is None
    change(report)
    assert shape_problem(report, report_schema()) is not None


def test_a_report_that_the_reader_lets_pass_is_still_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complete, "read_report", lambda _: {**with_cases(1), "verdict": "FINE"})
    with pytest.raises(BadArguments, match="is not a complete report: verdict is 'FINE'"):
        complete.read_complete(tmp_path)


def test_an_output_that_cannot_be_written_is_bad_arguments(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(with_cases(1)))
    with pytest.raises(BadArguments, match="cannot be written"):
        command.main([str(tmp_path), "--html", str(tmp_path / "missing" / "page.html")])


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_plain_file_is_replaced(kind: str, tmp_path: Path) -> None:
    """/dev/stdout is such a link; root would have lost it."""
    (tmp_path / "report.json").write_text(json.dumps(with_cases(1)))
    (tmp_path / "precious").write_text("mine")
    out = tmp_path / "out"
    if kind == "link":
        out.symlink_to("precious")
    elif kind == "pipe":
        os.mkfifo(out)
    else:
        out.mkdir()
    with pytest.raises(BadArguments, match="is a link or not a plain file"):
        command.main([str(tmp_path), "--markdown", str(out)])
    assert (tmp_path / "precious").read_text() == "mine" and (out.is_symlink() or not out.is_file())
