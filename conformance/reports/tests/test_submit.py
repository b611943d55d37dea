"""`submit`: what was recorded goes in, any single changed field is refused, and what the check cannot see is exactly what it says."""

from __future__ import annotations

import copy
import json
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import sources
from conformance.pdlkit.places import KIT, RULES
from conformance.pdlkit.report import _ROWS as ROWS
from conformance.pdlkit.report import inconsistencies
from conformance.pdlkit.rules import load
from conformance.pdlkit.verdicts import CaseResult
from conformance.reports import recomputed, submission, submit
from conformance.reports.change_fields import blind_to, leaves, pattern, redigested, seen, with_change
from conformance.reports.recomputed import part_of, recomputed_problems
from conformance.reports.several_runs import several_problems
from conformance.reports.submission import digest_problems, name_problems, place_for, read_strictly
from conformance.reports.tests.made_reports import forbidden_trial, recorded, subset

RESULTS = [KIT / "results" / name for name, _ in sources.recorded()]


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


@pytest.mark.parametrize(("file", "rules"), [("full", ("ATTR-03", "WAIT-01")), ("waived", ("EDGE-33a", "SAME-03", "EVT-01"))])
def test_with_a_new_digest_only_what_follows_from_nothing_else_goes_unseen(file: str, rules: tuple[str, ...]) -> None:
    """One field of each kind; `dev change-fields` tries them all."""
    whole = json.loads((KIT / "results" / f"h200-580.159.04-13.0.88-{file}.json").read_text())
    report = redigested(part_of(whole, rules))
    assert list(recomputed_problems(report)) == [] and inconsistencies(report) == []
    unseen_here = blind_to(report)
    tried: dict[str, bool] = {}
    for place, _ in leaves(report):
        name = pattern(place)
        if name not in tried and name != "run/id":
            tried[name] = seen(redigested(with_change(report, place)))
    assert len(tried) > 120
    assert [name for name, caught in tried.items() if not caught and not unseen_here(name)] == []
    for name in (
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
        assert tried[name], name


@pytest.mark.parametrize(("name", "part"), [("quick-2-gpus", "machine"), ("soak", "soak")])
def test_what_is_said_of_several_runs_is_held_against_itself(name: str, part: str) -> None:
    report = json.loads((KIT / "results" / f"h200-580.159.04-13.0.88-{name}.json").read_text())
    assert list(several_problems(report)) == []
    missed = {pattern(place) for place, _ in leaves(report) if place[0] == part and not list(several_problems(with_change(report, place)))}
    assert [field for field in missed if not blind_to(report)(field)] == []


def test_a_machine_s_verdict_is_that_of_its_gpus() -> None:
    report = json.loads((KIT / "results" / "h200-580.159.04-13.0.88-quick-2-gpus.json").read_text())
    rows = report["machine"]["gpus"]
    for wrong in ([{**rows[0], "verdict": "CONFORMS", "exit": 0}] * 2, rows[:1], [{**rows[0], "exit": 0}, rows[1]]):
        assert list(several_problems({**report, "machine": {**report["machine"], "gpus": wrong}}))


def test_a_waiver_of_what_did_not_fail_is_refused() -> None:
    """Else a waiver that somebody writes into a report would turn any verdict into CONFORMS."""
    report = json.loads((KIT / "results" / "h200-580.159.04-13.0.88-quick.json").read_text())
    invented = {
        "rule": "WAIT-01",
        "reason": "none",
        "expires": "2099-01-01",
        "cases": [{"name": "WAIT-01.store.widened.stream", "status": "FAIL"}],
    }
    assert any("waived" in text for text in recomputed_problems({**report, "waived": [invented]}))
    assert any("waived" in text for text in recomputed_problems({**report, "waived": [{**invented, "expires": "never"}]}))
    turned = {**report, "verdict": "CONFORMS", "exit": 0, "reasons": []}
    said = [text.split()[3] for text in recomputed_problems(turned) if text.startswith("the run: ")]
    assert {"verdict", "exit", "reasons"} <= set(said), "nor does an empty field hide what belongs there"


def test_a_waiver_that_had_expired_when_the_run_began_is_refused() -> None:
    whole = json.loads((KIT / "results" / "h200-580.159.04-13.0.88-waived.json").read_text())
    report = part_of(whole, ("EDGE-33a",))
    (entry,) = report["waived"]
    began = date.fromisoformat(report["run"]["started"][:10])
    report["waived"] = [{**entry, "expires": began.isoformat()}]
    assert list(recomputed_problems(report)) == [], "it holds to the end of its day"
    report["waived"] = [{**entry, "expires": (began - timedelta(1)).isoformat()}]
    problems = [text for text in recomputed_problems(report) if text.startswith("the run: ")]
    assert {text.split()[3] for text in problems} >= {"waived", "verdict", "exit"}


@pytest.mark.parametrize("status", ["PASS", "INCONCLUSIVE", "NOT_SUPPORTED"])
@pytest.mark.parametrize("reason", [None, "x; after this: y", "before this: y", "1 forbidden trials were recorded before this: HANG, y"])
def test_no_reason_excuses_a_case_from_its_own_counts(status: str, reason: str | None) -> None:
    """A reason is free text, which whoever edits a report can write."""
    report = subset("ATTR-03")
    test = next(test for test in report["tests"] if test["status"] == "PASS")
    test.update(status=status, reason=reason)
    test["outcomes"].update(poison=5, fresh=test["outcomes"]["fresh"] - 5)
    assert any(text.startswith(test["name"]) and "beside 5 forbidden outcomes" in text for text in recomputed_problems(report))


@pytest.mark.parametrize("status", ["PASS", "INCONCLUSIVE"])
@pytest.mark.parametrize("reason", [None, "1 forbidden trials were recorded before this: CRASH, died of SIGSEGV"])
def test_a_recorded_trial_is_held_against_its_case(status: str, reason: str | None) -> None:
    report = subset("ATTR-03")
    test = next(test for test in report["tests"] if test["status"] == "PASS")
    test.update(status=status, reason=reason, forbidden=[forbidden_trial()])
    assert f"{test['name']}: it says {status} beside 1 forbidden outcomes" in recomputed_problems(report)


def _broken_waits_survive(test: dict[str, Any]) -> None:
    for variant in test["broken_waits"]:
        variant.update(status="SURVIVED", kills=0)


def _nothing_forbidden(test: dict[str, Any]) -> None:
    test.update(status="FAIL", outcomes={**dict.fromkeys(test["outcomes"], 0), "fresh": test["trials"]["run"]})


@pytest.mark.parametrize(
    ("rule_class", "change", "said"),
    [
        ("documented", _broken_waits_survive, "every broken wait survived"),
        ("documented", lambda test: test["broken_waits"][-1].update(kills=10**9), "has more kills than trials"),
        ("documented", lambda test: test["triage"].append({**test["mutants"][0], "kind": "triage", "kills": 10**9}), "more kills than"),
        ("documented", lambda test: test["mutants"].append(dict(test["mutants"][0])), "was recorded twice"),
        ("documented", lambda test: test["mutants"].append({**test["mutants"][0], "tag": "odd", "kills": 3}), "KILLED with 3 kills"),
        ("documented", lambda test: test["mutants"].append({**test["mutants"][0], "tag": "odd", "status": "SURVIVED"}), "odd survived"),
        ("measured", _nothing_forbidden, "it says FAIL without a forbidden outcome"),
    ],
)
def test_a_report_of_other_code_is_held_against_itself(rule_class: str, change: Any, said: str) -> None:
    """The rule book is then made from the report, and what it says of planted bugs still has to be carried by its counts."""
    report = recorded()
    case = next(test for test in report["tests"] if test["class"] == rule_class and test["kind"] == "visibility"
                and (rule_class == "measured" or test["status"] == "PASS" and test["broken_waits"] and test["mutants"]))
    assert not any(text.startswith(case["name"]) for text in recomputed_problems(report))
    change(case)
    assert any(text.startswith(case["name"]) and said in text for text in recomputed_problems(report))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("class", "measured"),
        ("kind", "progress"),
        ("core", None),
        ("family", "odd"),
        ("window", "natural"),
        ("path", "built"),
        ("proving", False),
    ],
)
def test_what_a_report_of_this_code_says_of_a_case_is_what_the_rule_book_says(key: str, value: Any) -> None:
    report = subset("ATTR-05")
    report["suite"]["sources"] = sources.digest()
    test = next(test for test in report["tests"] if test["status"] == "PASS" and test["proving"] and test["path"] != "built")
    name = test["name"]
    assert not any(text.startswith(f"{name}: its") for text in recomputed_problems(report))
    test[key] = not test["core"] if key == "core" else value
    assert f"{name}: its {key} is not the rule book's" in recomputed_problems(report)
    test["name"] = f"{test['rule']}.nobody.widened.stream"
    assert f"{test['name']}: the rule book has no such case" in recomputed_problems(report)


@pytest.mark.parametrize(
    ("old", "new"), [("ATTR-05", "ATTR-04"), (".widened", ".natural"), (".widened", ""), (".stream", ".built"), (".stream", ".stream.more")]
)
def test_a_name_says_its_rule_its_window_and_its_path(old: str, new: str) -> None:
    report = subset("ATTR-05")
    test = next(test for test in report["tests"] if test["name"].endswith(".widened.stream"))
    test["name"] = test["name"].replace(old, new)
    assert any(text.startswith(f"{test['name']}: ") for text in recomputed_problems(report))


def test_what_only_the_model_may_say_is_refused_of_a_gpu_and_the_other_way_round() -> None:
    report = recorded()
    test = next(test for test in report["tests"] if test["status"] == "PASS" and test["broken_waits"])
    kept = copy.deepcopy(test)
    test["broken_waits"][0].update(status="NOT_APPLICABLE", kills=0)
    assert any(text.startswith(test["name"]) and "NOT_APPLICABLE" in text for text in recomputed_problems(report))
    test.update(kept)
    report["device"]["kind"] = "model"
    assert any(text.startswith(f"{test['name']}: its bound95 is") for text in recomputed_problems(report)), "the model has no bounds"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda test: test.update(schedules=test["trials"]["run"] + 1), "its schedules are more than there can be"),
        (lambda test: test.update(shapes=test["trials"]["run"] + 1), "its shapes are more than there can be"),
        (lambda test: test.update(sm_pairs=test["sm_pairs_possible"] + 1), "its sm_pairs are more than there can be"),
        (lambda test: test["trials"].update(witnessed=test["trials"]["run"] + 1), "it counts more trials witnessed than run"),
        (lambda test: test["trials"].update(cut_short=test["trials"]["run"] + 1), "it counts more trials cut short than run"),
        (lambda test: test["outcomes"].update(overlap=test["trials"]["run"] + 1), "more trials overlapped than were run"),
        (lambda test: _fails(test, "stale 4"), "its reason counts other outcomes than the case"),
        (lambda test: _fails(test, "stale 5, poison 1"), "its reason counts other outcomes than the case"),
        (lambda test: _fails(test, "wrong"), "its reason counts other outcomes than the case"),
        (lambda test: _fails(test, None), "its reason counts other outcomes than the case"),
    ],
)
def test_no_count_is_larger_than_what_it_counts(change: Any, said: str) -> None:
    report = subset("WAIT-01")
    test = next(test for test in report["tests"] if test["status"] == "PASS" and test["proving"] and test.get("sm_pairs_possible"))
    change(test)
    assert f"{test['name']}: {said}" in recomputed_problems(report)


def _fails(test: dict[str, Any], reason: str | None) -> None:
    test.update(status="FAIL", reason=reason)
    test["outcomes"].update(stale=5, fresh=test["outcomes"]["fresh"] - 5)


def test_a_failure_that_counts_what_its_case_counts_is_no_contradiction() -> None:
    report = subset("WAIT-01")
    test = next(test for test in report["tests"] if test["status"] == "PASS" and test["proving"])
    _fails(test, "stale 5 in 1,000 trials")
    assert not any("its reason counts" in text for text in recomputed_problems(report))


@pytest.mark.parametrize("key", ["class", "kind", "core"])
def test_a_case_is_of_its_rule_s_kind(key: str) -> None:
    report = subset("WAIT-01")
    test = report["tests"][-1]
    test[key] = {"class": "derived", "kind": "start", "core": not test["core"]}[key]
    assert f"{test['name']}: its {key} is not its rule's" in recomputed_problems(report)


@pytest.mark.parametrize("change", ["missing", "twice", "more"])
def test_every_rule_has_one_row(change: str) -> None:
    report = subset("WAIT-01", "ATTR-05")
    rows = report["rules"]
    report["rules"] = {"missing": rows[:1], "twice": [*rows, rows[0]], "more": [*rows, {**rows[0], "id": "WAIT-02"}]}[change]
    said = "the rule book has no such case" if change == "missing" else "its rules are not those of its cases"
    assert any(text.endswith(said) for text in recomputed_problems(report))


def _own(*rules: str) -> dict[str, Any]:
    """A report that this code could have written."""
    report: dict[str, Any] = {**recorded(), "axes": {}, "pooled": {}, "capabilities": []}
    report["suite"].update(sources=sources.digest())
    return redigested(part_of(report, rules))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verdict", "UNPROVEN"),
        ("exit", 2),
        ("reasons", ["odd"]),
        ("findings", ["odd"]),
        ("pooled", {}),
        ("waived", [{"rule": "WAIT-01", "reason": "none", "expires": "2099-01-01", "cases": []}]),
        ("capabilities", []),
        ("contested", []),
        ("paths", [{}]),
        ("axes", {}),
    ],
)
def test_every_part_that_follows_from_the_cases_is_held_against_them(key: str, value: Any) -> None:
    report = _own("WAIT-01", "ATTR-05")
    assert list(recomputed_problems(report)) == [] and key in report
    assert any(text.startswith(f"the run: its {key} is ") for text in recomputed_problems({**report, key: value}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["driver"].update(toolkit=12090), "driver.toolkit is 12090, and toolchain.nvcc is 13.0.88"),
        (lambda r: r["driver"].update(toolkit=13010), "driver.toolkit is 13010, and toolchain.nvcc is 13.0.88"),
        (lambda r: (r["driver"].update(toolkit=13010), r["toolchain"].update(nvcc="13.10.88")),
         "driver.toolkit is 13010, and toolchain.nvcc is 13.10.88"),
        (lambda r: r.update(processes=r["processes"][1:]), "cases of this family ran, and no process of it is told"),
        (lambda r: r["processes"].append({**r["processes"][0], "family": "odd"}), "a process of this family is told, and no case"),
        (lambda r: r["tests"][0]["kernels"][0].update(binary_version=100), "is of sm_100, which the program does not hold"),
        (lambda r: r["tests"][-1]["kernels"][-1].update(binary_version=100), "is of sm_100, which the program does not hold"),
        (lambda r: r["run"].update(only=["WAIT-01"]), "the run was not asked for this case"),
        (lambda r: r["run"].update(only=["WAIT-01", "ATTR-05", "VER-01"]), "was asked for this case, and the report does not tell it"),
        (lambda r: r["run"].update(only=["WAIT-01", "ATTR-05", "NO-SUCH"]), "run.only: --only NO-SUCH"),
        (lambda r: r.update(machine={"gpus": [], "pooled": []}), "machine: its GPUs make it UNPROVEN"),
    ],
)
def test_what_the_parts_of_a_run_say_of_each_other_fits(change: Any, said: str) -> None:
    report = _own("WAIT-01", "ATTR-05")
    assert list(recomputed_problems(report)) == []
    change(report)
    assert any(said in text for text in recomputed_problems(report))


@pytest.mark.parametrize(
    ("told", "rules", "crashes"), [(["FAIL"], ("A-01",), ()), (["CRASH"], (), ("A-01",)), (["FAIL", "CRASH"], ("A-01",), ())]
)
def test_a_waiver_of_a_crash_is_taken_for_no_other(told: list[str], rules: tuple[str, ...], crashes: tuple[str, ...]) -> None:
    entry = {"rule": "A-01", "reason": "r", "expires": "2099-01-01", "cases": [{"name": "c", "status": status} for status in told]}
    case: Any = SimpleNamespace(rule="A-01", rule_class="documented", name="c")
    results = [CaseResult(case, status, None) for status in ("FAIL", "CRASH")]
    applied = recomputed._waived({"run": {"started": "2026-01-01T"}, "waived": [entry], "device": {"name": "G"}}, results)
    assert (applied.rules, applied.crashes) == (rules, crashes)


@pytest.mark.parametrize(("part", "verdict"), [("problems", "INVALID"), ("interposers", "UNPROVEN")])
def test_a_problem_or_an_interposer_decides_the_verdict(part: str, verdict: str) -> None:
    report = subset("WAIT-01")
    assert report["verdict"] == "CONFORMS" and list(recomputed_problems(report)) == []
    if part == "problems":
        report["problems"] = ["two children met two devices"]
    else:
        report["host"]["interposers"] = ["LD_PRELOAD"]
    assert f"the run: its verdict is 'CONFORMS', and its cases give '{verdict}'" in recomputed_problems(report)


def test_the_launches_of_two_reports_are_not_taken_for_each_other() -> None:
    """What takes long to derive is remembered by all that it rests on."""
    book, results = load(RULES), [load(RULES).cases[0]]
    facts = [
        SimpleNamespace(book=book, results=[CaseResult(results[0], "PASS", None, {"answers": [{"what": ROWS, "answer": answer}]})])
        for answer in ("all but 0 1 2", "all but 5")
    ]
    said: list[Any] = [recomputed._axes(one) for one in facts]  # type: ignore[arg-type]
    assert [entry["rows"] - entry["ran"] for entry in said] == [3, 1]


def test_a_number_of_another_kind_is_another_number() -> None:
    report = subset("ATTR-05")
    report["exit"] = False  # Python takes it for 0
    assert any("its exit is False" in text for text in recomputed_problems(report))


@pytest.mark.parametrize("planted", ["mutants", "controls"])
def test_no_reason_excuses_a_planted_bug_from_its_kills(planted: str) -> None:
    """Also where the report is of other code: only one that may live, and did, says why."""
    report = recorded()
    test = next(test for test in report["tests"] if test["status"] == "PASS" and test[planted])
    test[planted][0].update(status="KILLED", kills=3, reason="it may live")
    assert any(text.startswith(test["name"]) and "is called KILLED with 3 kills" in text for text in recomputed_problems(report))


@pytest.mark.parametrize(
    ("recorded_trials", "told", "contradicts"), [(1, "1", False), (0, "1", True), (0, "0", True), (2, "1", True), (1, "more: 1", True)]
)
def test_a_failure_whose_child_died_before_its_counts_came_needs_a_recorded_trial(
    recorded_trials: int, told: str, contradicts: bool
) -> None:
    report = subset("ATTR-03")
    test = next(test for test in report["tests"] if test["status"] == "PASS")
    zeros: dict[str, Any] = {key: dict.fromkeys(test[key], 0) for key in ("trials", "outcomes")}
    test.update(zeros, status="FAIL", reason=f"{told} forbidden trials were recorded before this: CRASH, died of SIGSEGV")
    test["forbidden"] = [forbidden_trial()] * recorded_trials
    assert (f"{test['name']}: it says FAIL without a forbidden outcome" in recomputed_problems(report)) is contradicts


@pytest.mark.parametrize("told", ["rule book", "judging code"])
def test_a_case_left_out_of_the_report_is_seen(told: str) -> None:
    """With the row of its rule and every sum made to fit, the rule book still knows that it was asked for."""
    whole = json.loads((KIT / "results" / "h200-580.159.04-13.0.88-quick.json").read_text())
    part = part_of(whole, [rule["id"] for rule in whole["rules"] if rule["id"] != "EDGE-33"])
    part["run"]["only"] = []
    book, other = load(RULES).digest, "0" * 16
    # Also where the record is of a rule book before this one, or of this one in other words.
    part["suite"].update({"rules_hash": book} if told == "rule book" else {"rules_hash": other, "sources": sources.digest()})
    assert any("was asked for this case" in text for text in recomputed_problems(part))


@pytest.mark.parametrize(
    "text",
    [
        "on node17.cluster.internal",
        "in /home/jane/pdl/build",
        "jane@lab",
        "10.1.2.3",
        "GPU-6b1b2c3d-1234-5678-9abc-def012345678",
        "of MIG-6b1b2c3d-1234-5678-9abc-def012345678",
        "below /root",
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


@pytest.mark.parametrize(
    ("host", "user", "text", "told"),
    [
        ("node17.attic", "root", "at node17", True),
        ("node17.attic", "root", "node17.attic: lost", True),
        ("node17.attic", "root", "node171, by root", False),
        ("rac", "janedoe", "of janedoe", True),
        ("rac", "janedoe", "janedoes on rac", False),
    ],
)
def test_the_names_of_this_machine_and_its_user_are_refused(
    host: str, user: str, text: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: host)
    monkeypatch.setattr("getpass.getuser", lambda: user)
    for report in ({"reasons": ["odd", text]}, {"problems": [{text: 1}]}):
        assert bool(list(name_problems(report))) is told


def test_recorded_reports_hold_no_name() -> None:
    assert list(name_problems(recorded())) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["device"].update(kind="model"), "is of the model"),
        (lambda r: r["run"].update(plant="hang"), "planted"),
        (lambda r: r["run"].update(plant="broken-wait:500"), "planted"),
        (lambda r: r["run"].update(plant=""), "planted"),
        (lambda r: r["host"].update(interposers=["LD_PRELOAD"]), "between the kit"),
        (lambda r: [r["host"].update(interposers=["LD_PRELOAD"]), r.update(verdict="UNPROVEN", exit=2)], "between the kit"),
        (lambda r: r["suite"].update(dirty=True, sources="0" * 16), "not committed"),
        (lambda r: r["suite"].pop("sources") and r["suite"].update(dirty=True), "not committed"),
        (lambda r: r["driver"].update(version=None), "driver's version"),
        (lambda r: r["driver"].pop("version"), "driver's version"),
        (lambda r: r["device"].pop("name"), "GPU's name"),
        (lambda r: r["device"].update(name=""), "GPU's name"),
        (lambda r: r["device"].pop("cc"), "compute capability"),
        (lambda r: r.update(verdict="INVALID", exit=70), "INVALID"),
        (lambda r: r.update(verdict="NOT_APPLICABLE", exit=77), "NOT_APPLICABLE"),
    ],
)
def test_what_has_no_place_in_the_record_is_refused(change: Any, message: str) -> None:
    report = recorded()
    change(report)
    assert [message in text for text in submission.fitness_problems(report)] == [True]


@pytest.mark.parametrize(
    ("dirty", "code"), [(None, "0" * 16), (False, "0" * 16), (True, sources.digest()), *((True, code) for code in sources.EARLIER)]
)
def test_what_fits_is_not_refused(dirty: bool | None, code: str) -> None:
    report = recorded()
    report["suite"].update(dirty=dirty, sources=code)
    assert list(submission.fitness_problems(report)) == []


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
    assert place_for({**recorded(), "machine": {"gpus": [{}, {}]}}) == "h200-580.159.04-13.0.88-full-2-gpus.json"
    for only, part in ((["WAIT-01"], "WAIT_01"), (["EDGE-1?", "*.built"], "EDGE_1_-_built")):
        some = recorded()
        some["run"]["only"] = only
        assert place_for(some) == f"h200-580.159.04-13.0.88-full-only-{part}.json", "a part is not kept as the whole"
