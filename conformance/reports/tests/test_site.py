"""The site: every rule has its page, what nobody recorded is unknown, every link leads somewhere, and nothing damaged goes in."""

from __future__ import annotations

import copy
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conformance.pdlkit import places
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.rules import load
from conformance.reports import prose, site
from conformance.reports.change_fields import redigested
from conformance.reports.record import Configuration, Recorded, configurations
from conformance.reports.tests.made_reports import failed, recorded, subset


@pytest.fixture(autouse=True)
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a network: the pages of the record are plain text."""

    def missing(_packages: object) -> Path:
        raise SetupImpossible("no network in this test")

    monkeypatch.setattr(prose, "ensure_venv", missing)


class Links(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.targets += [str(given["href"])] if given.get("href") and tag == "a" else []
        self.ids |= {str(given["id"])} if given.get("id") else set()


def results(folder: Path, **reports: dict[str, Any]) -> Path:
    """A folder of results."""
    folder.mkdir()
    for name, report in reports.items():
        (folder / f"{name}.json").write_text(json.dumps(report))
    return folder


def test_the_site_of_the_recorded_results_is_whole(tmp_path: Path) -> None:
    site.make(places.KIT / "results", tmp_path / "site")
    pages = {path.relative_to(tmp_path / "site").as_posix(): Links(path) for path in (tmp_path / "site").rglob("*.html")}
    for rule in load(places.RULES).rules:
        assert f"rules/{rule.id}.html" in pages
    for name, page in pages.items():
        assert "script" not in page.tags
        for target in page.targets:
            address, _, anchor = target.partition("#")
            path = (tmp_path / "site" / name).parent / address if address else tmp_path / "site" / name
            assert path.is_file(), (name, target)
            if anchor:
                assert anchor in pages[path.resolve().relative_to((tmp_path / "site").resolve()).as_posix()].ids, (name, target)


def test_what_nobody_recorded_is_unknown_and_nothing_else(tmp_path: Path) -> None:
    folder = results(tmp_path / "results", part=subset("ATTR-05"))
    site.make(folder, tmp_path / "site")
    index = json.loads((tmp_path / "site" / "index.json").read_text())
    answered = [rule["id"] for rule in index["rules"] if rule["results"]]
    assert answered == ["ATTR-05"] and len(index["rules"]) == len(load(places.RULES).rules)
    assert index["rules"][1]["results"]["h200-580.159.04-13.0.88"]["status"] == "PASS"
    page = (tmp_path / "site" / "rules" / "WAIT-01.html").read_text()
    assert "holds" not in page and page.count(">unknown<") >= 6 and "H100, GH200" in page
    assert ">holds<" in (tmp_path / "site" / "rules" / "ATTR-05.html").read_text()


def test_a_failure_in_any_report_of_a_configuration_is_shown(tmp_path: Path) -> None:
    bad = failed(recorded())
    case = next(test for test in bad["tests"] if test["status"] == "FAIL" and test["forbidden"])
    case["outcomes"].update(fresh=case["outcomes"]["fresh"] - 64, poison=64)
    rule = case["rule"]
    folder = results(tmp_path / "results", good=recorded())
    found = configurations(folder)
    found[0].reports.append(Recorded("bad.json", bad, "0"))
    answer = found[0].answer(rule)
    assert answer is not None and answer.status == "FAIL"


@pytest.mark.parametrize(
    ("statuses", "shown"),
    [
        (("PASS", "FAIL"), 1),
        (("HANG", "PASS"), 0),
        (("PASS", "CRASH", "PASS"), 1),
        (("PASS", "DEVICE_LOST"), 1),
        (("KIT_ERROR", "PASS"), 0),
        (("FAIL", "HANG"), 1),
        (("CRASH", "FAIL"), 0),
        (("INCONCLUSIVE", "PASS"), 1),
        (("PASS", "PASS"), 1),
        (("NOT_RUN", "INCONCLUSIVE"), 1),
    ],
)
def test_what_is_shown_of_a_rule_is_its_worst_failure_or_its_best_proof(statuses: tuple[str, ...], shown: int) -> None:
    """Of equal ones, the report with more trials: here the last."""
    rows = [{"id": "A", "status": status, "exercised": number, "cases": 1} for number, status in enumerate(statuses)]
    reports = [Recorded(str(number), {"rules": [{**row, "id": "B"}, row]}, "0") for number, row in enumerate(rows)]
    answer = Configuration("G", 90, "580", "13.0", reports).answer("A")
    assert answer is not None and (answer.recorded.name, answer.status) == (str(shown), statuses[shown])
    assert Configuration("G", 90, "580", "13.0", reports).answer("C") is None


def test_a_rule_that_is_gone_keeps_its_address(tmp_path: Path) -> None:
    report = json.loads(json.dumps(subset("ATTR-05")).replace("ATTR-05", "ATTR-77"))
    site.make(results(tmp_path / "results", old=redigested(report)), tmp_path / "site")
    assert "no longer" in (tmp_path / "site" / "rules" / "ATTR-77.html").read_text()


def test_a_damaged_result_stops_the_site(tmp_path: Path) -> None:
    report = copy.deepcopy(recorded())
    report["rules"][0]["exercised"] += 1
    folder = results(tmp_path / "results", damaged=report)
    with pytest.raises(BadArguments, match="has no place in the record"):
        site.make(folder, tmp_path / "site")
    (folder / "damaged.json").write_text("{")
    with pytest.raises(BadArguments, match="damaged.json"):
        site.make(folder, tmp_path / "site")


def test_neither_a_changed_report_nor_one_that_contradicts_itself_is_recorded(tmp_path: Path) -> None:
    """The digest tells of any change, and a new digest of the same numbers does not make them follow."""
    report = subset("ATTR-05")
    changed = {**report, "host": {**report["host"], "cores": report["host"]["cores"] + 1}}
    contradicting = copy.deepcopy(report)
    contradicting["rules"][0]["exercised"] += 1
    for name, wrong in (("changed", changed), ("contradicting", redigested(contradicting))):
        with pytest.raises(BadArguments, match="has no place in the record"):
            configurations(results(tmp_path / name, wrong=wrong))
    assert len(configurations(results(tmp_path / "right", right=redigested(changed)))) == 1


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    folder = results(tmp_path / "results", part=subset("ATTR-05"))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    with pytest.raises(BadArguments, match="was not made by"):
        site.make(folder, theirs)
    assert (theirs / "thesis.txt").read_text() == "years of work"
    site.make(folder, tmp_path / "site")
    shutil.rmtree(tmp_path / "site" / "rules")
    assert site.make(folder, tmp_path / "site") > 100


def test_what_was_found_in_the_wild_has_its_page(tmp_path: Path) -> None:
    folder = results(tmp_path / "results", part=subset("ATTR-05"))
    (folder / "field").mkdir()
    (folder / "field" / "one.md").write_text("# A library\n\nreads <script>before</script> the wait\n")
    site.make(folder, tmp_path / "site")
    page = tmp_path / "site" / "wild.html"
    assert "A library" in page.read_text() and "script" not in Links(page).tags


def test_no_result_at_all_is_a_site_of_unknowns(tmp_path: Path) -> None:
    site.make(results(tmp_path / "results"), tmp_path / "site")
    assert json.loads((tmp_path / "site" / "index.json").read_text())["configurations"] == []
    with pytest.raises(BadArguments, match="no such folder"):
        site.make(tmp_path / "nowhere", tmp_path / "site")
