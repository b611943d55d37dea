"""`submit`: what was recorded goes in, any single changed field is refused, and what the check cannot see is exactly what it says."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.pdlkit import sources
from conformance.pdlkit.places import KIT, SCHEMA
from conformance.pdlkit.report import inconsistencies
from conformance.reports import submission, submit
from conformance.reports.recomputed import recomputed_problems
from conformance.reports.submission import digest_problems, name_problems, place_for, read_strictly
from conformance.reports.tests.made_reports import recorded, redigested, subset

RESULTS = [KIT / "results" / name for name, _ in sources.recorded()]
Path_ = tuple[str | int, ...]

# Fields that follow from no other, as `submit --help` says: whoever changes one and the digest is not caught.
UNSEEN = re.compile(
    r"run/(started|wall_s|profile|seed|device|argv.*|only.*)|suite/(version|sources|git|dirty|rules_hash)|toolchain.*|device/(name|cc|sms|uuid_hash|tick_ns)|driver.*|"
    r"host/(os|kernel|architecture|cpu|cores|python)|static_check|processes.*|"
    r"rules/\*/(text|source)|"
    r"tests/\*/(family|wall_s|code_hash|plan_hash|expected_hash|reason|resolution_ns|schedules|shapes|sm_pairs|sm_pairs_possible|survived_x.*|"
    r"kernels.*|answers.*|trials/(witnessed|cut_short|planned)|outcomes/overlap)|"
    r"tests/\*/(mutants|controls|broken_waits)/\*/(kills|trials|exercised|must_die|x_ns|reason|image|tag|kernels.*)|"
    r"contested/\*.*|paths/\*.*"
)


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value of a JSON tree that is no container."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path, value


def changed(value: Any) -> Any:
    """Another value of the same kind, as close as can be."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.0001 + 1e-9
    if value is None:
        return 1
    return {
        "PASS": "INCONCLUSIVE",
        "KILLED": "SURVIVED",
        "FAIL": "INCONCLUSIVE",
        "documented": "measured",
        "derived": "documented",
        "measured": "derived",
        "CONFORMS": "UNPROVEN",
        "INCONCLUSIVE": "NOT_RUN",
    }.get(value, value + "0")


def with_change(report: dict[str, Any], path: Path_) -> dict[str, Any]:
    """The report with one leaf changed."""
    other = copy.deepcopy(report)
    place: Any = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = changed(place[path[-1]])
    return other


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_every_recorded_report_is_accepted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert submit.main([str(path)]) == 0
    assert "accepted" in capsys.readouterr().out


def test_there_are_recorded_reports() -> None:
    assert len(RESULTS) >= 2


def test_any_single_changed_field_breaks_the_digest() -> None:
    report = subset("ATTR-05", "EDGE-14", "WAIT-06")
    assert list(digest_problems(report)) == []
    paths = [path for path, _ in leaves(report)]
    assert len(paths) > 400
    for path in paths:
        assert list(digest_problems(with_change(report, path))), path


def test_a_field_removed_or_added_breaks_the_digest() -> None:
    report = subset("ATTR-05")
    for key in report["tests"][0]:
        other = copy.deepcopy(report)
        del other["tests"][0][key]
        assert list(digest_problems(other)), key
    assert list(digest_problems({**report, "tests": report["tests"][:-1]}))
    assert list(digest_problems({**report, "tests": report["tests"][::-1]}))
    assert list(digest_problems({**report, "more": 1}))


def test_with_a_new_digest_only_what_follows_from_nothing_else_goes_unseen() -> None:
    report = subset("ATTR-03", "WAIT-01", "EDGE-14", "WAIT-06", "ATTR-09")
    assert list(recomputed_problems(report)) == [] and inconsistencies(report) == []
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    tried: dict[str, bool] = {}
    for path, _ in leaves(report):
        pattern = "/".join("*" if isinstance(key, int) else key for key in path)
        if pattern in tried or pattern == "run/id":
            continue
        other = redigested(with_change(report, path))
        tried[pattern] = bool(not schema.is_valid(other) or inconsistencies(other) or list(recomputed_problems(other)))
    assert len(tried) > 120
    unseen = sorted(pattern for pattern, caught in tried.items() if not caught)
    assert [pattern for pattern in unseen if not UNSEEN.fullmatch(pattern)] == []
    for pattern in (
        "verdict",
        "exit",
        "tests/*/status",
        "tests/*/bound95",
        "tests/*/trials/exercised",
        "tests/*/outcomes/fresh",
        "rules/*/exercised",
        "rules/*/bound95",
        "rules/*/killed",
        "mutation_score/killed",
        "tests/*/mutants/*/status",
    ):
        assert tried[pattern], pattern


@pytest.mark.parametrize(
    "text",
    [
        "on node17.cluster.internal",
        "in /home/jane/pdl/build",
        "jane@lab",
        "10.1.2.3",
        "GPU-6b1b2c3d-1234-5678-9abc-def012345678",
        "(/srv/pdl/conformance)",
        "00:1a:2b:3c:4d:5e",
    ],
)
def test_a_name_anywhere_is_refused(text: str) -> None:
    for place in (("reasons",), ("findings",), ("run", "argv")):
        report = subset("ATTR-05")
        target: Any = report
        for key in place:
            target = target[key]
        target.append(text)
        assert list(name_problems(report)), (place, text)


def test_recorded_reports_hold_no_name() -> None:
    assert list(name_problems(recorded())) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["device"].update(kind="model"), "is of the model"),
        (lambda r: r["run"].update(plant="hang"), "planted"),
        (lambda r: r["host"].update(interposers=["LD_PRELOAD"]), "between the kit"),
        (lambda r: r["suite"].update(dirty=True, sources="0" * 16), "not committed"),
        (lambda r: r["driver"].update(version=None), "driver's version"),
        (lambda r: r.update(verdict="INVALID", exit=70), "INVALID"),
    ],
)
def test_what_has_no_place_in_the_record_is_refused(change: Any, message: str) -> None:
    report = recorded()
    change(report)
    assert any(message in text for text in submission.fitness_problems(report))


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}', "", "\xff"])
def test_json_that_readers_take_differently_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_strictly(text.encode("latin-1"))


def test_the_command_refuses_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = with_change(recorded(), ("rules", 0, "exercised"))
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert submit.main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "refused" in out and "not the digest" in out and "its cases give" in out
    (tmp_path / "report.json").write_text("[]")
    assert submit.main([str(tmp_path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["accepted"] is False


def test_the_place_says_gpu_driver_toolkit_and_profile() -> None:
    assert place_for(recorded()) == "h200-580.159.04-13.0.88-full.json"
