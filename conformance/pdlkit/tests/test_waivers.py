"""Waivers: what they take out of a verdict, what they must never hide, and how a slip in their file is told."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from conformance.pdlkit import places, waivers
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import load as load_rules
from conformance.pdlkit.tests.kit_runs import run_fake
from conformance.pdlkit.tests.test_verdicts import case
from conformance.pdlkit.verdicts import CaseResult, judge_capabilities, judge_run, shape_bound95
from conformance.pdlkit.waivers import DriverRange, Waiver

BOOK = load_rules(places.RULES)
TODAY = date(2026, 12, 1)
ENTRY = {"rule": '"WAIT-05"', "device": '"*"', "driver": '"*"', "reason": '"seen on one driver"', "expires": "2099-01-01"}


def text(**changed: str) -> str:
    return "[[waiver]]\n" + "".join(f"{key} = {value}\n" for key, value in {**ENTRY, **changed}.items() if value)


def waiver(rule: str = "WAIT-01", device: str = "NVIDIA H*", driver: str = ">=580, <590", expires: date = TODAY) -> Waiver:
    return Waiver(rule, device, DriverRange.read(driver), "known", expires)


@pytest.mark.parametrize(("bounds", "driver", "holds"), [
    ("580.159.04", "580.159.04", True), ("580.159.04", "580.159.4", True), ("580.159.04", "580.159.05", False),
    (">=580", "580.159.04", True), (">=580", "579.9", False), (">580", "580", False), (">580", "580.0.1", True), ("<590", "590", False),
    ("<590", "589.99", True), ("<=580", "580.0", True), ("<=580", "580.1", False), (">=580, <590", "585", True),
    (">=580, <590", "590.1", False), (">=580, <590", "570.1", False), ("*", None, True), ("580", None, False), ("580", "unknown", False),
    (">=580", "580.159.04-beta", False),
    ("580", "580.159.04", False), ("580.159", "580.159.04", False), ("580.159.04", "580.159", False),
])
def test_driver_ranges(bounds: str, driver: str | None, holds: bool) -> None:
    assert DriverRange.read(bounds).holds(driver) is holds


FAILED = CaseResult(case(), "FAIL", "poison 3")
GOOD = CaseResult(case("derived", rule="MEM-01"), "PASS", None)


def test_a_waiver_that_matches_is_applied() -> None:
    applied = waivers.apply([waiver()], [FAILED, GOOD], "NVIDIA H200", "580.159.04", TODAY)
    assert applied.rules == ("WAIT-01",) and applied.notes == ()
    assert applied.entries[0]["cases"] == [{"name": "WAIT-01.store.widened.stream", "status": "FAIL"}]
    hung = waivers.apply([waiver()], [CaseResult(case(), "HANG", None), GOOD], "NVIDIA H200", "580.159.04", TODAY)
    late = waivers.apply([waiver("MEM-08"), waiver()], [FAILED, GOOD], "NVIDIA H200", "580.159.04", TODAY)
    assert late.rules == ("WAIT-01",) and len(late.notes) == 1, "one that does nothing ends nothing"
    assert hung.rules == ("WAIT-01",) and hung.entries[0]["cases"][0]["status"] == "HANG"


@pytest.mark.parametrize(("changed", "device", "driver", "said"), [
    ({"expires": date(2026, 11, 30)}, "NVIDIA H200", "580.1", "expired on 2026-11-30"),
    ({}, "NVIDIA B200", "580.1", "this device is NVIDIA B200"),
    ({}, None, "580.1", "this device is unknown"),
    ({}, "NVIDIA H200", "590", "this driver is 590"),
    ({}, "NVIDIA H200", None, "this driver is unknown"),
    ({"rule": "MEM-01"}, "NVIDIA H200", "580.1", "matched no failure"),
])
def test_a_waiver_that_does_nothing_says_why(changed: dict[str, object], device: str | None, driver: str | None, said: str) -> None:
    applied = waivers.apply([waiver(**changed)], [FAILED, GOOD], device, driver, TODAY)  # type: ignore[arg-type]
    assert applied.rules == () and applied.entries == () and len(applied.notes) == 1 and said in applied.notes[0]
    assert applied.notes[0].startswith(f"the waiver of {changed.get('rule', 'WAIT-01')} for NVIDIA H*, driver >=580, <590 ")


def test_every_case_that_a_waiver_helped_is_told() -> None:
    both = [FAILED, CaseResult(case(pair="overwrite"), "HANG", None)]
    (entry,) = waivers.apply([waiver()], [*both, GOOD], "NVIDIA H200", "580", TODAY).entries
    assert entry["cases"] == [{"name": result.case.name, "status": result.status} for result in both]


def test_only_failures_of_judging_rules_are_waived() -> None:
    others = [CaseResult(case(), status, None) for status in ("INCONCLUSIVE", "CRASH", "DEVICE_LOST", "NOT_RUN", "KIT_ERROR", "PASS")]
    measured = CaseResult(case("measured", False), "FAIL", None)
    for result in [*others, measured]:
        assert waivers.apply([waiver()], [result], "NVIDIA H200", "580", TODAY).rules == ()


def test_what_is_waived_decides_nothing_and_is_named() -> None:
    verdict = judge_run([FAILED, GOOD], (), (), ["WAIT-01"])
    assert (verdict.verdict, verdict.exit, verdict.waived, verdict.reasons) == ("CONFORMS", 0, ("WAIT-01",), ())


@pytest.mark.parametrize(("other", "expected"), [
    ("FAIL", "VIOLATES"), ("HANG", "VIOLATES"), ("INCONCLUSIVE", "UNPROVEN"), ("CRASH", "UNPROVEN"), ("NOT_RUN", "UNPROVEN"),
    ("DEVICE_LOST", "UNPROVEN"), ("KIT_ERROR", "INVALID"),
])
def test_a_waiver_hides_nothing_else(other: str, expected: str) -> None:
    both = [FAILED, GOOD, CaseResult(case(rule="MEM-08"), other, "why")]
    assert judge_run(both, (), (), ["WAIT-01"]).verdict == expected
    same_rule = [FAILED, GOOD, CaseResult(case(pair="overwrite"), other, "why")]
    if other not in ("FAIL", "HANG"):  # the waived rule's own case that crashed or was not run is no known defect
        assert judge_run(same_rule, (), (), ["WAIT-01"]).verdict == expected


@pytest.mark.parametrize("status", ["FAIL", "HANG", "CRASH"])
def test_a_waiver_is_for_one_rule_and_not_for_those_whose_ids_begin_so(status: str) -> None:
    known, other = CaseResult(case(rule="EDGE-33"), status, "why"), CaseResult(case(rule="EDGE-33a"), status, "why")
    expected = "UNPROVEN" if status == "CRASH" else "VIOLATES"
    for waived, results in (("EDGE-33", [known, other, GOOD]), ("EDGE-33a", [known, other, GOOD]), ("EDGE-33", [other, GOOD])):
        rules = ([waived], ()) if status != "CRASH" else ((), [waived])
        assert judge_run(results, (), (), *rules).verdict == expected, waived
    kept = Waiver("EDGE-33", "*", DriverRange.read("*"), "known", TODAY, status == "CRASH")
    applied = waivers.apply([kept], [other, GOOD], "NVIDIA H200", "580", TODAY)
    assert (applied.rules, applied.crashes, applied.entries) == ((), (), ())


def test_nothing_proven_but_what_is_waived_is_unproven() -> None:
    assert judge_run([FAILED], (), (), ["WAIT-01"]).verdict == "UNPROVEN"


def test_a_crash_is_waived_only_by_name() -> None:
    crashed = CaseResult(case(rule="SAME-03"), "CRASH", "SIGSEGV")
    plain, crash = waiver("SAME-03"), Waiver("SAME-03", "NVIDIA H*", DriverRange.read("*"), "known", TODAY, True)
    assert waivers.apply([plain], [crashed, GOOD], "NVIDIA H200", "580", TODAY).rules == ()
    applied = waivers.apply([crash], [crashed, GOOD], "NVIDIA H200", "580", TODAY)
    assert (applied.rules, applied.crashes) == ((), ("SAME-03",))
    assert judge_run([crashed, GOOD], (), (), (), ["SAME-03"]).verdict == "CONFORMS"
    assert judge_run([crashed, GOOD], (), (), (), ["SAME-03"]).waived == ("SAME-03",)
    assert judge_run([crashed, GOOD], (), (), ["SAME-03"]).verdict == "UNPROVEN"
    failed = CaseResult(case(rule="SAME-03", pair="x"), "FAIL", None)
    assert waivers.apply([crash], [failed], "NVIDIA H200", "580", TODAY).rules == ()
    assert judge_run([failed, GOOD], (), (), (), ["SAME-03"]).verdict == "VIOLATES"
    assert judge_run([crashed, failed, GOOD], (), (), (), ["SAME-03"]).verdict == "VIOLATES", "a waived crash hides no failure beside it"
    gone = waivers.apply([crash], [CaseResult(case(rule="SAME-03"), "DEVICE_LOST", "gone"), GOOD], "NVIDIA H200", "580", TODAY)
    assert (gone.crashes, gone.entries, len(gone.notes)) == ((), (), 1)
    late = waivers.apply([crash], [crashed, GOOD], "NVIDIA H200", "580", TODAY + timedelta(days=1))
    assert (late.crashes, len(late.notes)) == ((), 1)
    for status in ("INCONCLUSIVE", "NOT_RUN", "DEVICE_LOST", "KIT_ERROR", "HANG"):
        assert judge_run([CaseResult(case(rule="SAME-03"), status, "x"), GOOD], (), (), (), ["SAME-03"]).verdict != "CONFORMS", status


SLIPS = [
    ({"crash": '"yes"'}, "`crash` must be true or false"),
    ({"rule": ""}, "`rule` is missing"), ({"rule": '"WAIT-98"'}, "no rule WAIT-98"), ({"rule": '"ATTR-02"'}, "measured"),
    ({"reason": '" "'}, "`reason` must be a text that is not empty"), ({"expires": '"2027-01-01"'}, "must be a date"),
    ({"expires": "2027-01-01T00:00:00"}, "must be a date"), ({"driver": '"about 580"'}, "`driver` holds `about 580`"),
    ({"driver": '">=580 <590"'}, "`driver` holds `>=580 <590`"),
    ({"driver": '"580.*"'}, "`driver` holds `580.*`"), ({"driver": '"*, <590"'}, "`driver` holds `*`"),
    ({"devise": '"*"'}, "unknown key `devise`"), ({"device": "3"}, "`device` must be a text"),
]


@pytest.mark.parametrize(("changed", "said"), SLIPS, ids=[said for _, said in SLIPS])
def test_slips_are_named(changed: dict[str, str], said: str, tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text(**changed))
    with pytest.raises(BadArguments, match=r"\[\[waiver\]\] number 1") as told:
        waivers.load(file, BOOK)
    assert said in str(told.value)


@pytest.mark.parametrize(("content", "said"), [("[[waiver", "invalid TOML"), ("waive = 1", "unknown key `waive`"),
                                               ("waiver = 1", "two brackets"), ("waiver = [1]", "number 1 must be a table")])
def test_files_that_are_none(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text(content)
    with pytest.raises(BadArguments, match=said.replace("[", r"\[")):
        waivers.load(file, BOOK)
    with pytest.raises(BadArguments, match="No such file"):
        waivers.load(tmp_path / "none.toml", BOOK)


@pytest.mark.parametrize(("changed", "crash"), [({}, False), ({"crash": "false"}, False), ({"crash": "true"}, True)])
def test_a_crash_is_waived_only_where_the_file_says_so(changed: dict[str, str], crash: bool, tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text(**changed))
    assert [waiver.crash for waiver in waivers.load(file, BOOK)] == [crash]


def test_the_committed_file_is_sound() -> None:
    known = waivers.load(places.KIT / "waivers.toml", BOOK)
    assert known and all(w.driver.bounds and "*" not in w.device for w in known), "a committed waiver names what it was seen on"


def test_run_takes_waivers(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text())
    only = ("--only=WAIT-0?", "--only=MEM-01")
    without = run_fake(tmp_path / "a", {"WAIT-05": "fail"}, *only)
    waived = run_fake(tmp_path / "b", {"WAIT-05": "fail"}, *only, "--waive", str(file))
    assert (without.code, waived.code) == (1, 0)
    assert "CONFORMS (model, no GPU; waived: WAIT-05)" in waived.out
    assert {s for n, s in waived.statuses().items() if n.startswith("WAIT-05")} == {"FAIL"}
    assert "WAIT-05 (waived) fails" in waived.out and "WAIT-05.rewait.widened.captured FAIL" in waived.out
    idle = run_fake(tmp_path / "c", {"MEM-01": "fail"}, *only, "--waive", str(file))
    assert idle.code == 1 and "matched no failure" in idle.out
    assert run_fake(tmp_path / "d", {}, "--waive", str(tmp_path / "none")).code == 64


def test_a_verdict_per_capability() -> None:
    results = [
        CaseResult(case(rule="WAIT-01"), "PASS", None), CaseResult(case(rule="EDGE-33", path="built"), "FAIL", "x"),
        CaseResult(case(rule="EDGE-01", path="built"), "PASS", None),
        CaseResult(case(rule="WAIT-01", path="captured"), "INCONCLUSIVE", "y"),
        CaseResult(case(rule="EVT-01", path="stream", events=True), "PASS", None),
    ]
    said = {entry["capability"]: entry for entry in judge_capabilities(results)}
    assert {name: entry["verdict"] for name, entry in said.items()} == {
        "streams": "CONFORMS", "captured graphs": "UNPROVEN", "built graphs": "VIOLATES", "events": "CONFORMS"}
    assert said["built graphs"]["failing"] == ["EDGE-33"] and said["built graphs"]["holding"] == 1
    assert said["captured graphs"]["unproven"] == ["WAIT-01"] and said["captured graphs"]["holding"] == 0
    waived = {entry["capability"]: entry["verdict"] for entry in judge_capabilities(results, ["EDGE-33"])}
    assert waived["built graphs"] == "CONFORMS" and waived["captured graphs"] == "UNPROVEN"


def test_the_bound_for_shapes() -> None:
    assert (shape_bound95(0), shape_bound95(2), shape_bound95(3000)) == (None, 1.0, 0.001)


def test_a_waiver_is_for_the_device_that_it_names() -> None:
    """A device whose name only begins so, or is written otherwise, is another one."""
    said = [waivers.apply([waiver(device="NVIDIA H200")], [FAILED], name, "580.159.04", TODAY).rules
            for name in ("NVIDIA H200", "NVIDIA H200 NVL", "nvidia h200")]
    assert said == [(FAILED.case.rule,), (), ()]
