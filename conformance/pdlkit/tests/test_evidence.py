"""The evidence of a failure: lint is believed only where it gave an answer, and what is told of a kernel is told of that kernel."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import evidence, places
from conformance.pdlkit.machine_code import Cubin, MachineCode
from conformance.pdlkit.rules import Case, load
from conformance.pdlkit.verdicts import CaseResult

ANSWER: dict[str, Any] = {"compared": 3, "disagreements": []}
CASES = load(places.RULES).cases
Said = dict[str, Any] | str


def ask_as_a_command(code: int, out: bytes, errors: bytes, patch: pytest.MonkeyPatch) -> Said:
    """What ask_lint makes of a lint that ends so."""
    patch.setattr(evidence, "run_tool", lambda argv, timeout: subprocess.CompletedProcess(argv, code, out, errors))
    return evidence.ask_lint(["lint"])


def ask_beside_a_run(code: int, out: bytes, errors: bytes, _patch: pytest.MonkeyPatch) -> Said:
    """What LintBeside makes of it: what it says of the machine code decides whether a run is INVALID."""
    beside = object.__new__(evidence.LintBeside)
    process = SimpleNamespace(returncode=code, communicate=lambda _told, timeout: (out, errors))
    beside.__dict__["kept"] = SimpleNamespace(process=process)
    return beside.compare(Path("report.json"))


both_ways = pytest.mark.parametrize("ask", [ask_as_a_command, ask_beside_a_run])
Ask = Callable[[int, bytes, bytes, pytest.MonkeyPatch], Said]


@both_ways
@pytest.mark.parametrize("code", [0, 1, 3])
def test_lint_that_answers_is_believed(ask: Ask, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(code, json.dumps(ANSWER).encode(), b"", monkeypatch) == ANSWER
    for out in (b"not JSON", b"", b"\xff", b"null", b"[]", b"[1]"):
        assert ask(code, out, b"", monkeypatch) == "lint printed invalid JSON"


@both_ways
@pytest.mark.parametrize("code", [-11, -9, 2, 64, 69, 70])
def test_lint_that_died_or_gave_up_is_not_believed_whatever_it_printed(ask: Ask, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for errors, words in ((b"", "lint cannot run here"), (b"one\nthe last line\n", "lint cannot run here: the last line")):
        assert ask(code, json.dumps(ANSWER).encode(), errors, monkeypatch) == words


def test_lint_beside_a_run_is_told_the_harness_and_answers_on_its_output(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[list[str]]()
    monkeypatch.setattr(evidence, "Kept", lambda argv, stdin: told.append(argv[2:]) if stdin == subprocess.PIPE else None)
    evidence.LintBeside(Path("a harness"))
    assert told == [["dev", "lint-against-hardware", "--json", "-", "a harness"]]


FINDING = {"severity": "error", "id": "PDL001"}


@pytest.mark.parametrize(("answer", "words"), [
    ({"unreadable": [], "findings": [{**FINDING, "kernel": "k"}, {**FINDING, "kernel": "other"}]}, "lint: error PDL001 in k"),
    ({"unreadable": [], "findings": [{**FINDING, "kernel": "k"}] * 2 + [{**FINDING, "kernel": "l"}]},
     "lint: error PDL001 in k; error PDL001 in l"),
    ({"unreadable": [], "findings": [{**FINDING, "kernel": "other"}, FINDING]}, "lint finds nothing"),
    ({"unreadable": [{"message": "cut off"}], "findings": []}, "lint cannot run here: cut off"),
    ({"unreadable": [{"message": "cut off"}], "findings": [{**FINDING, "kernel": "k"}]}, "lint cannot run here: cut off"),
    ("lint did not end", "lint did not end")])
def test_lint_s_words_are_about_the_kernels_of_the_case(answer: Said, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "ask_lint", lambda _arguments: answer)
    assert evidence.lint_words(Path("x.cubin"), {"k", "l"}) == words


def kernel(name: str, version: Any = 90) -> dict[str, Any]:
    return {"name": name, "image": "base", "binary_version": version}


def failed(case: Case, *kernels: dict[str, Any]) -> CaseResult:
    return CaseResult(case, "FAIL", None, record={"kernels": list(kernels)})


@pytest.mark.parametrize("bad", [{"name": "b", "image": "base"}, kernel("b", None), kernel("b", "ninety")])
def test_kernels_are_all_known_or_none_is(bad: dict[str, Any]) -> None:
    """Else the hash over some of them would be told as the case's."""
    assert evidence.kernels_of(failed(CASES[0], kernel("a"), kernel("c"))) == [("a_base", 90), ("c_base", 90)]
    assert evidence.kernels_of(failed(CASES[0], kernel("a"), bad, kernel("c"))) == []


class TwoImages(MachineCode):
    """One image with two kernels, and another one with a third."""

    def __init__(self) -> None:
        both, third = Cubin(90, b"both", {"a_base": b"1", "b_base": b"2"}), Cubin(90, b"third", {"c_base": b"3"})
        self._by_symbol = {("a_base", 90): both, ("b_base", 90): both, ("c_base", 90): third}


def test_an_image_is_saved_once_for_all_kernels_of_the_case_in_it(tmp_path: Path) -> None:
    saved = evidence.save_images(failed(CASES[0], *map(kernel, "abcd")), TwoImages(), tmp_path)
    assert [(path.read_bytes(), cubin.data, symbols) for path, (cubin, symbols) in saved.items()] == [
        (b"both", b"both", {"a_base", "b_base"}), (b"third", b"third", {"c_base"})]


def test_each_image_has_lint_s_word_on_it_and_observing_cases_have_evidence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def word(image: Path, symbols: Collection[str]) -> str:
        return f"{image.read_text()}: {', '.join(sorted(symbols))}"

    monkeypatch.setattr(evidence, "lint_words", word)
    proving = next(case for case in CASES if case.proving)
    observing = next(case for case in CASES if not case.proving)
    results = [failed(proving, kernel("a"), kernel("c")), failed(observing, kernel("b")), CaseResult(CASES[-1], "PASS", None)]
    found = evidence.gather(results, TwoImages(), tmp_path, 1)
    assert {name: [image["lint"] for image in one.images] for name, one in found.items()} == {
        proving.name: ["both: a_base", "third: c_base"], observing.name: ["both: b_base"]}
