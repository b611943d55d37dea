"""What people read at the end of a run: nothing that went wrong is left out, and nothing is said that was not shown."""

from __future__ import annotations

import io
from typing import Any

import pytest

from conformance.pdlkit import display
from conformance.pdlkit.replay_token import Token

GPU = {"kind": "gpu", "name": "NVIDIA H100", "cc": 90, "sms": 132}


def rule(name: str = "WAIT-01", **more: Any) -> dict[str, Any]:
    return {"id": name, "class": "documented", "status": "PASS", "proving": 1, "source": "PTX ISA 9.7.13", "exercised": 64,
            "bound95": 0.046, "shape_bound95": 0.1, "resolution_ns": 250, "killed": 1, "applicable": 2, "broken_waits_killed": 0,
            "schedules": 5, "shapes": 4, "sm_pairs": 3, "sm_pairs_possible": 16, **more}


def entry(name: str = "WAIT-01.store.widened.stream", **more: Any) -> dict[str, Any]:
    rule, _, window, path = name.split(".")
    return {"name": name, "rule": rule, "window": window, "path": path, "class": "documented", "proving": True, "status": "PASS",
            "trials": {"run": 64, "exercised": 60}, "broken_waits": [], "triage": [], **more}


def report(**more: Any) -> dict[str, Any]:
    return {"device": GPU, "driver": {"version": "580.1"}, "toolchain": {"nvcc": "13.0"}, "suite": {"version": "0.3"},
            "run": {"device": "cuda:1", "seed": "0x5", "profile": "quick", "wall_s": 2.0, "only": []}, "rules": [rule()],
            "tests": [entry()], "paths": [], "findings": [], "reasons": [], "verdict": "CONFORMS",
            "mutation_score": {"killed": 1, "applicable": 2}, **more}


def block(**more: Any) -> str:
    return display.verdict_block(report(**more), "out/report.json", False)


@pytest.mark.parametrize(("device", "name", "said"), [
    (GPU, "cuda:1", "GPU 1  NVIDIA H100  cc 9.0  132 SMs  driver 580.1  CUDA 13.0  seed 0x5  profile quick  suite 0.3"),
    ({"kind": "gpu"}, "cuda", "GPU 0  unknown  driver 580.1  CUDA 13.0"), ({"kind": "gpu", "cc": "odd"}, "cuda", "GPU 0  unknown  cc odd"),
    ({"kind": "model"}, "model", "the model, no GPU  seed"),
    ({"kind": "model"}, "model:shared", "the model, no GPU (broken device `shared`)")])
def test_the_headline_says_on_what(device: dict[str, Any], name: str, said: str) -> None:
    assert display.headline(report(device=device, run={**report()["run"], "device": name})).startswith(said)


def test_each_rule_has_its_row_where_something_was_judged() -> None:
    text = block(rules=[rule(), rule("EDGE-09", status="FAIL", bound95=None)])
    assert " WAIT-01  documented  PASS " in text and " EDGE-09  documented  FAIL " in text and " p95: a fault of this probability" in text
    assert " p95: " not in block(rules=[rule(bound95=None)])
    assert "WAIT-01" not in block(verdict="NOT_APPLICABLE") and "WAIT-01" not in block(rules=[])


@pytest.mark.parametrize(("more", "said"), [
    ({"status": "PASS"}, "saw nothing forbidden in 60 exercised trials, and shows no power to see it (64 run)"),
    ({"status": "INCONCLUSIVE", "trials": {"run": 64, "exercised": 0}}, "proves nothing: not one trial was exercised (64 run)"),
    ({"status": "FAIL"}, None), ({"status": "NOT_SUPPORTED"}, None), ({"status": "PASS", "class": "measured"}, None),
    ({"status": "PASS", "proving": True}, None)])
def test_a_window_that_only_observes_is_said_to_prove_nothing(more: dict[str, Any], said: str | None) -> None:
    seen = display.unproven_windows(report(tests=[entry("WAIT-01.store.natural.stream", **{"proving": False, **more})]))
    assert seen == ([f"WAIT-01 in the natural window {said}"] if said else [])


def test_a_path_is_named_where_another_path_of_the_window_is_proven() -> None:
    seen = display.unproven_windows(report(tests=[entry(), *(entry(f"WAIT-01.store.widened.{path}", proving=False)
                                                             for path in ("captured", "captured", "built"))]))
    assert [line.partition(" window ")[0] for line in seen] == ["WAIT-01 in the widened/captured", "WAIT-01 in the widened/built"]
    assert "120 exercised" in seen[0] and "(128 run)" in seen[0]


@pytest.mark.parametrize(("more", "told"), [
    ({"applicable": 0}, True), ({}, False), ({"applicable": 0, "broken_waits_killed": 1}, False), ({"applicable": 0, "proving": 0}, False),
    ({"applicable": 0, "status": "FAIL"}, False)])
def test_a_rule_that_passed_with_nothing_planted_is_told(more: dict[str, Any], told: bool) -> None:
    assert [line.rpartition(": ")[2] for line in display.untold_power(report(rules=[rule(**more)]))] == ["WAIT-01"] * told


def test_broken_waits_that_survived_are_told_with_their_rule() -> None:
    waits = [{"tag": tag, "status": status} for tag, status in (("early-8", "SURVIVED"), ("early-9", "KILLED"), ("early-7", "SURVIVED"))]
    said = display.survivors(report(rules=[rule(), rule("MEM-01")], tests=[entry(broken_waits=waits)]))
    assert len(said) == 1 and said[0].startswith("WAIT-01: ") and said[0].endswith(": early-7, early-8")


def test_each_capability_is_told_with_what_fails_in_it() -> None:
    rows = [{"capability": "streams", "verdict": "CONFORMS", "failing": ["EDGE-33"], "unproven": [], "holding": 3},
            {"capability": "graphs", "verdict": "VIOLATES", "failing": ["A-1", "A-2"], "unproven": ["A-3"], "holding": 0},
            {"capability": "events", "verdict": "CONFORMS", "failing": [], "unproven": [], "holding": 4}]
    said = display.capabilities(report(capabilities=rows, waived=[{"rule": "EDGE-33"}]))
    assert [line.split(maxsplit=2) for line in said] == [
        ["streams", "CONFORMS", "EDGE-33 (waived) fails; the other 3 rules hold"],
        ["graphs", "VIOLATES", "A-1, A-2 fail; A-3 unproven; the other 0 rules hold"], ["events", "CONFORMS", "4 rules hold"]]


@pytest.mark.parametrize(("more", "said"), [
    ({}, "CONFORMS"), ({"device": {"kind": "model"}}, "CONFORMS (model, no GPU)"),
    ({"waived": [{"rule": "A-1"}]}, "CONFORMS (waived: A-1)"),
    ({"soak": {"waived": ["A-2", "A-1"]}, "waived": [{"rule": "A-1"}]}, "CONFORMS (waived: A-1, A-2)"),
    ({"machine": {"gpus": [{"waived": []}, {"waived": ["A-3"]}]}}, "CONFORMS (waived: A-3)"),
    ({"device": {"kind": "model"}, "waived": [{"rule": "A-1"}], "verdict": "UNPROVEN"}, "UNPROVEN (model, no GPU; waived: A-1)")])
def test_a_verdict_is_never_told_without_what_weakens_it(more: dict[str, Any], said: str) -> None:
    assert display.verdict_line(report(**more)) == said


def test_pools_and_launches_are_told_where_there_are_any() -> None:
    nothing = report(pooled={"bound95": None}, axes={"ran": 0})
    assert display.pooled(nothing) == display.launches(nothing) == display.pooled(report()) == display.launches(report()) == []
    some = report(pooled={"exercised": 1000, "bound95": 0.003, "shapes": 30, "shape_bound95": 0.1},
                  axes={"ran": 9, "pairs": [7, 8], "triples": [1, 2], "missing": list("abcde"), "excluded": ["x"]})
    assert display.pooled(some) == [" all visibility rules together: 1,000 exercised, p95 <= 3.0e-03; 30 shapes, p95 <= 1.0e-01"]
    said, = display.launches(some)
    assert "7 of 8 pairs and 1 of 2 core triples" in said and "; not run: a; b; c; d; 1 pairs" in said


def test_the_block_shows_each_part_and_says_how_many_reasons_it_leaves_out() -> None:
    said = block(verdict="VIOLATES", reasons=[f"{number} " + "x" * 300 for number in range(10)], findings=["odd"], waivers_idle=["idle"],
                 waived=[{"rule": "A-1", "expires": "2027", "reason": "known", "cases": [{"name": "A-1.a", "status": "FAIL"}]}],
                 static_check="left out: no code", run={**report()["run"], "only": ["WAIT-*"]},
                 tests=[entry(triage=[{"tag": "attroff", "kills": 1000, "trials": 2000}]), entry("MEM-01.a.b.c", status="INCONCLUSIVE"),
                        entry("MEM-02.a.b.c", status="NOT_SUPPORTED"), entry("MEM-03.a.b.c", proving=False)])
    lines = said.splitlines()
    assert [len(line) for line in lines if line.startswith(" reason   ")][:8] == [len(" reason   ") + 240] * 8
    for line in (" reason   ... and 2 more in the report", " finding  odd", " waiver   idle", " waived   A-1.a FAIL; until 2027: known",
                 " note     static check left out: no code", " triage   WAIT-01.store.widened.stream: attroff 1,000 of 2,000 wrong",
                 "VERDICT  VIOLATES (waived: A-1)   1 of 2 proving cases passed, mutation score 1/2, 2.0 s",
                 "only WAIT-*: the other rules were not judged", "report   out/report.json"):
        assert line in lines, said
    assert "judged by" not in said


def test_what_a_run_did_not_show_is_noted() -> None:
    said = block(rules=[rule(applicable=0)], tests=[entry(broken_waits=[{"tag": "early-8", "status": "SURVIVED"}]),
                                                    entry("WAIT-01.store.natural.stream", proving=False)])
    notes = [line.removeprefix(" note     ") for line in said.splitlines() if line.startswith(" note ")]
    assert [note[:14] for note in notes] == ["passed with no", "WAIT-01: these", "WAIT-01 in the"]


def test_what_conforms_is_told_with_the_texts_that_it_was_judged_by() -> None:
    rules = [rule(), rule("A-1", source="CUDA Programming Guide 2.3 and 4.5; PTX ISA 9.7.1"),
             rule("A-2", source="Runtime API 6.5", status="FAIL"), rule("A-3", source="Runtime API 6.6", **{"class": "measured"})]
    assert "judged by  PTX ISA 9.7.1, 9.7.13; CUDA Programming Guide 2.3, 4.5" in block(rules=rules).splitlines()
    silent = block(verdict="NOT_APPLICABLE", capabilities=[{"capability": "streams", "verdict": "NOT_APPLICABLE", "failing": [],
                                                            "unproven": [], "holding": 0}])
    assert "WAIT-01" not in silent and " part " not in silent and " part     streams" in block(capabilities=[
        {"capability": "streams", "verdict": "CONFORMS", "failing": [], "unproven": [], "holding": 1}])


def test_only_verdicts_have_colours() -> None:
    head, row = display.table(("verdict", "PASS"), [("FAIL", "10")], 1, colours=True)
    assert head == " verdict  PASS" and row == " \033[1;31mFAIL   \033[0m    10"
    assert display.table(("verdict", "n"), [("FAIL", "10")], 1) == [" verdict   n", " FAIL     10"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_of_a_run_counts_what_ended_and_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for stream, live in ((Terminal(), True), (io.StringIO(), False)):
        progress = display.Progress(7, stream)
        for status in ("PASS", "FAIL"):
            progress.record("f", {"record": "begin", "case": "a"})
            progress.record("f", {"record": "case", "case": "a", "status": status})
            progress.record("f", {"record": "end", "case": "a"})
        progress.record("g", {"record": "begin", "case": "b"})
        assert stream.getvalue().rpartition("\r\033[K")[2].startswith("[2/7, 1 FAIL] ") is live and stream.getvalue().endswith("b") is live
        progress._drawn = 0.0  # long ago
        progress.record("g", {"record": "progress", "case": "b", "done": 3, "planned": 4, "part": "base"})
        assert stream.getvalue().endswith("b  75% base") is live
        progress.close()
        assert stream.getvalue().endswith("\r\033[K") is live and bool(stream.getvalue()) is live


def test_the_first_forbidden_trial_of_each_failing_case_can_be_replayed() -> None:
    forbidden = [{"batch": 3, "slot": 9}, {"batch": 4, "slot": 1}]
    said = report(tests=[entry(status="FAIL", forbidden=forbidden), entry(forbidden=forbidden), entry(status="FAIL", forbidden=[])])
    said["suite"]["sources"], said["run"]["plant"] = "0123456789abcdef", None
    tokens = [Token.parse(text) for text in display.first_tokens(said)]
    assert [(token.case, token.batch, token.slot) for token in tokens] == [("WAIT-01.store.widened.stream", 3, 9)]
