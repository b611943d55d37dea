"""What the comparisons with recorded answers of the model call a difference, without running the model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conformance.model import golden, on_model, random_devices, recorded, watched
from conformance.model.on_model import Device
from conformance.model.tests import check_records
from conformance.pdlkit import places
from conformance.pdlkit.drawn_devices import Grammar, draw
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, InvalidRun
from conformance.pdlkit.rules import Case, load
from conformance.pdlkit.verdicts import CaseResult

BOOK = load(places.RULES)
ASKED = next(case for case in BOOK.cases if case.rule_class != "measured" and not case.gpu_only)
MEASURED = next(case for case in BOOK.cases if case.rule_class == "measured" and not case.gpu_only)


@pytest.mark.parametrize(("now", "then", "said"), [
    ({"a": "1"}, {"a": "1"}, []),
    ({"a": "2"}, {"a": "1"}, ["a: says something else"]),
    ({"a": "1", "b": "1"}, {"a": "1"}, ["b: is not recorded"]),
    ({"a": "1"}, {"a": "1", "b": "1"}, ["b: is recorded and was not run"]),
])
def test_each_digest_has_to_be_the_recorded_one(now: dict[str, str], then: dict[str, str], said: list[str]) -> None:
    assert golden.differences(now, then) == said


@pytest.mark.parametrize(("now", "then", "said"), [
    ({"a": ["8: .3"]}, {"a": ["8: .3"]}, []),
    ({"a": ["8: .?"]}, {"a": ["8: .3"]}, []),
    ({"a": ["8: .."]}, {"a": ["8: .3"]}, ["a: looks at other words: ['8: ..'] instead of ['8: .3']"]),
    ({"a": ["8: .3"]}, {"a": ["8: .?"]}, ["a: looks at other words: ['8: .3'] instead of ['8: .?']"]),
    ({"a": ["8: .3", "4: 1"]}, {"a": ["8: .3"]}, ["a: looks at other words: ['8: .3', '4: 1'] instead of ['8: .3']"]),
    ({"a": ["8: .3"]}, {"a": ["8: .33"]}, ["a: looks at other words: ['8: .3'] instead of ['8: .33']"]),
    ({"a": [], "b": []}, {"a": []}, ["b: is not recorded"]),
    ({"a": []}, {"a": [], "b": []}, ["b: is recorded and was not run"]),
])
def test_each_watched_word_has_to_have_its_mark(now: watched.Watched, then: watched.Watched, said: list[str]) -> None:
    assert watched.differences(now, then) == said


def test_a_case_that_looks_at_other_words_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "watch", lambda harness, families: {"a": ["8: .."], "b": ["8: .3"]} if families == ["x"] else {})
    assert watched.first_difference(tmp_path, {"a": ["8: .."], "b": ["8: .3"], "c": []}, ["x"]) is None
    assert watched.first_difference(tmp_path, {"a": ["8: .."], "b": ["8: .."]}, ["x"]) == "b"
    assert watched.first_difference(tmp_path, {"a": ["8: .."]}, ["x"]) == "b"


def test_a_family_that_calls_otherwise_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "launching", lambda families: ["a", "b"] if families is None else ["b"])
    monkeypatch.setattr(watched, "_calls", lambda harness, family: [f"{family} of 3"])
    recorded = {"calls of a": ["a of 3"], "calls of b": ["b of 3"]}
    assert watched.other_calls(tmp_path, recorded) is None
    assert watched.other_calls(tmp_path, {**recorded, "calls of a": ["a of 4"]}) == "a"
    assert watched.other_calls(tmp_path, {**recorded, "calls of a": ["a of 4"]}, ["b"]) is None
    assert watched.other_calls(tmp_path, {"calls of a": ["a of 3"]}) == "b"


@pytest.mark.parametrize(("now", "mark"), [
    (None, "!"), ({"status": "PASS", "0 x": "1", "1 y": "1"}, "."), ({"status": "PASS", "0 x": "2", "1 y": "1"}, "-"),
    ({"status": "FAIL", "0 x": "2", "1 y": "1"}, "1"), ({"status": "FAIL", "0 x": "2"}, "2"),
    ({"status": "FAIL", "0 x": "1", "1 y": "1"}, "0"),
])
def test_what_one_falsified_word_does(now: dict[str, str] | None, mark: str) -> None:
    assert watched._mark({"status": "PASS", "0 x": "1", "1 y": "1"}, now) == mark


def test_many_changed_answers_have_one_mark() -> None:
    before = {str(number): "right" for number in range(12)}
    assert watched._mark({**before, "status": "PASS"}, {**dict.fromkeys(before, "wrong"), "status": "FAIL"}) == "9"


def test_a_sample_asks_the_last_word_and_leaves_the_others_open() -> None:
    assert watched._marks([0, 4, 8, 12, 16], 1, str) == "0481216"
    assert watched._marks([0, 4, 8, 12, 16], 3, str) == "?4??16"
    assert watched._bytes(5, None) == [0, 4] and watched._bytes(4 * watched.ALL, None) == list(range(0, 4 * watched.ALL, 4))
    few = watched._bytes(4 * watched.ALL + 4, None)
    assert (few[0], few[-1], len(few)) == (0, 4 * watched.ALL, watched.LOOKS)
    assert watched._bytes(400, 4) == [0, 132, 264, 396] and watched._bytes(16, 4) == [0, 4, 8, 12]


Said = dict[str, object]
SAYS = """#!{python}
import os, signal, sys
for line in {lines!r}: print(line, flush=True)
if {number}: os.kill(os.getpid(), {number})
sys.exit({code})
"""


def saying(folder: Path, *records: Said, code: int = 0, number: int = 0) -> Path:
    """A harness that says this, and ends with this code, or by this signal."""
    harness = folder / "harness"
    lines = [json.dumps(record) for record in records]
    harness.write_text(SAYS.format(python=sys.executable, lines=lines, code=code, number=number))
    harness.chmod(0o755)
    return harness


def test_a_digest_is_of_all_that_was_said_of_cases_in_its_order(tmp_path: Path) -> None:
    one, other, threaded = (Said(record="case", case=name, status="PASS") for name in ("A-01.x", "A-02.x", "WAIT-01a.x"))
    start = Said(record="start", seed="1")
    whole = golden.digest([start, one, other, threaded])
    assert golden.digest([one, other]) == whole
    others: list[list[Said]] = [[one], [other, one], [{**one, "status": "FAIL"}, other], [one, {**other, "kills": 1}], []]
    assert len({whole, *map(golden.digest, others)}) == 6
    asked = golden.questions()
    for device in golden.DEVICES:
        assert asked[f"{device} wait"] == ["--device", device, "--profile", "smoke", "--family", "wait"]
    assert asked["plan wait"] == ["--plan", "--sms", str(golden.GPU_SMS), "--profile", "smoke", "--family", "wait"]
    with pytest.raises(InvalidRun, match="signal 15"):
        golden._records(saying(tmp_path, one, number=15), [])


def test_the_first_question_with_another_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = saying(tmp_path, {"record": "case", "case": "A-01.x"}, code=1)
    monkeypatch.setattr(golden, "questions", lambda families=None: {"one": [], "two": []})
    said = golden.digests(harness)
    assert list(said) == ["one", "two"] and golden.first_difference(harness, said) is None
    assert golden.first_difference(harness, {**said, "two": "other"}) == "two"
    assert golden.first_difference(harness, {"one": said["one"]}) == "two", "what is not recorded differs"


CALLING = """#!{python}
import os, sys
if "PDL_ASKED" in os.environ and {tells}:
    open(os.environ["PDL_ASKED"], "w").write(" ".join(sys.argv[-2:]) + " of 3\\n")
"""


def test_of_families_that_launch_pairs_the_calls_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set(watched.launching(None))
    assert {"wait", "edge", "order", *watched.SLOW} < asked and not {"joins", "readback"} & asked
    assert watched.launching({"wait", "joins"}) == ["wait"]
    harness = tmp_path / "calling"
    harness.write_text(CALLING.format(python=sys.executable, tells=True))
    harness.chmod(0o755)
    assert watched._calls(harness, "wait") == ["--family wait of 3"]
    monkeypatch.setattr(watched, "_told", lambda path: [])
    monkeypatch.setattr(watched, "_run", lambda *words, tell="PDL_WATCHED", **more: words[2].write_text(tell) and [])
    assert watched.watch(harness, families=["edge"]) == {"calls of edge": ["PDL_ASKED"]}
    monkeypatch.undo()
    harness.write_text(CALLING.format(python=sys.executable, tells=True) + "print('{\"case\": \"A\", \"at\": %d}' % os.getpid())\n")
    with pytest.raises(InvalidRun, match="wait says something else from run to run"):
        watched._calls(harness, "wait")
    harness.write_text(CALLING.format(python=sys.executable, tells=False))
    with pytest.raises(InvalidRun, match="does not tell what wait calls"):
        watched._calls(harness, "wait")


def test_a_harness_that_says_what_is_no_record_gives_no_answers(tmp_path: Path) -> None:
    harness = tmp_path / "cut"
    harness.write_text(f"#!{sys.executable}\nprint('{{\"record\": ')\n")
    harness.chmod(0o755)
    assert watched._run(harness, [], tmp_path / "told") is None and watched._mark({}, None) == "!"


def test_of_families_with_broken_waits_these_are_recorded(tmp_path: Path) -> None:
    assert "wait" in watched.waiting(None) and watched.waiting({"wait", "edge"}) == ["wait"]
    case = Said(record="case", case="A-01.x", status="PASS")
    variant = Said(record="variant", case="A-01.x", kind="broken_wait", status="KILLED")
    assert watched._broken_waits(saying(tmp_path, variant, case), "wait") == [golden.digest([variant, case])]
    for records in ([case], [{**variant, "status": "SURVIVED"}, case], [{**variant, "kind": "mutant"}, case]):
        with pytest.raises(InvalidRun, match="no broken wait of wait"):
            watched._broken_waits(saying(tmp_path, *records), "wait")


@pytest.mark.parametrize(("now", "arguments", "code"), [
    (1, [], OK), (2, [], FAILED), (2, ["--sample", "3"], FAILED), (1, ["--sample", "3"], OK), (1, ["--sample", "1"], BAD_ARGUMENTS),
    (2, ["--sample", "3", "--write"], BAD_ARGUMENTS),
])
def test_a_difference_decides_the_exit_code(now: int, arguments: list[str], code: int, tmp_path: Path) -> None:
    file, harness = tmp_path / "kept.json", saying(tmp_path)

    def compare(said: int, *words: str) -> int:
        return recorded.compare_or_write("x", "y", file, lambda harness: said, lambda now, then: [f"{now} {then}"] * (now != then),
                                         ["--harness", str(harness), *words], sampled=lambda harness, sample: said)

    assert compare(1, "--write") == OK and compare(now, *arguments) == code
    assert json.loads(file.read_text()) == 1, "a comparison records nothing"


BUILT = """#!/bin/sh
if [ "$1" = --list ]; then
    for case in one two; do echo '{"record":"listed","family":"f","case":"'$case'"}'; done
else
    SAID='{"record":"case","case":"A-01.x"}'
    echo '{"case":"WAIT-01a.x","n":'$$'}'
    %s
fi
"""


@pytest.mark.parametrize(("says", "wrong"), [
    ("echo $SAID; exit 1", ""), ("echo $SAID; echo $SAID; exit 1", "exit 1, other records"), ("echo $SAID", "exit 0, the same records"),
    ("exit 1", "exit 1, other records"), ("echo $SAID; echo overflow >&2; exit 1", "exit 1, the same records: overflow\n"),
])
def test_another_build_says_the_same_and_upsets_nobody(says: str, wrong: str, tmp_path: Path) -> None:
    reference, other = tmp_path / "reference", tmp_path / "other"
    for harness, words in ((reference, "echo $SAID; exit 1"), (other, says)):
        harness.write_text(BUILT % words)
        harness.chmod(0o755)
    found = check_records.compare(reference, other, 1, 1, ())
    assert found == [f"--family f, {device}, seed 1: {wrong}" for device in check_records.DEVICES if wrong]
    assert check_records.parts(reference, ("two",)) == [("--family", "f", "--case", "one")], "what is left out leaves the others"
    kept = {"model f": "kept"}
    assert check_records.expected(kept, Path("none"), ("--family", "f"), "model", golden.SEED) == ("kept", (0, 1, 77))
    for part, seed in ((("--family", "f"), golden.SEED + 1), (("--family", "f", "--case", "one"), golden.SEED)):
        assert check_records.expected(kept, reference, part, "model", seed)[1] == (1,), "nothing is recorded of that"


def as_it_ends(monkeypatch: pytest.MonkeyPatch, ends: dict[str, tuple[Case, str]]) -> None:
    """How a case of programs ends, by device, seed and profile; what is not named passes."""
    def run_family(harness: Path, book: object, device: Device, profile: str, seed: int, cases: list[Case]) -> list[CaseResult]:
        case, status = ends.get(f"{device.name}, {seed:x}, {profile}", (ASKED, "PASS"))
        return [CaseResult(case, status, None)] if cases[0].family == random_devices.PROGRAMS else []

    monkeypatch.setattr(on_model, "run_family", run_family)


@pytest.mark.parametrize(("case", "status", "seen"), [
    (ASKED, "FAIL", True), (ASKED, "HANG", True), (ASKED, "CRASH", True), (ASKED, "INCONCLUSIVE", False), (ASKED, "PASS", False),
    (MEASURED, "FAIL", False),
])
def test_only_what_judges_notices_a_drawn_device(case: Case, status: str, seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    as_it_ends(monkeypatch, {"r, 1, smoke": (case, status)})
    assert random_devices.judge(Path(), BOOK, "r", 1) == (("noticed", case.name) if seen else ("unseen", "no program of any seed differs"))


@pytest.mark.parametrize("seed", [0xA11CE, 0xB0B, 0xCAFE])
def test_each_witness_shows_that_a_device_escaped(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    as_it_ends(monkeypatch, {f"r, {seed:x}, quick": (ASKED, "FAIL")})
    found = random_devices.judge(Path(), BOOK, "r", 1)
    assert found == ("escaped", f"{ASKED.name} with seed {seed:x}, profile quick")
    said = random_devices.summary({"r": found, "s": ("noticed", "x"), "t": ("unseen", "y"), "u": ("noticed", "x")})
    assert said[0].startswith("model:r escaped: ") and said[1:] == [
        "model:t is not counted: y", "4 devices drawn: 2 noticed, 1 escaped, 1 that no legal program shows"]


def test_every_family_is_asked_and_programs_first() -> None:
    families = random_devices.ordered_families(BOOK)
    assert {case.family for case in families[0]} == {random_devices.PROGRAMS}
    assert sorted(case.name for family in families for case in family) == sorted(case.name for case in BOOK.cases if not case.gpu_only)


@pytest.mark.parametrize(("found", "code"), [("escaped", FAILED), ("noticed", OK), ("unseen", OK)])
def test_a_device_that_escapes_fails_the_command(found: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = saying(tmp_path, {"record": "grammar", "features": "a b c", "effects": "x y"})
    last = draw(Grammar(("a", "b", "c"), ("x", "y")), 7, 5)[-1]
    monkeypatch.setattr(random_devices, "judge", lambda harness, book, name, seed: (found if name == last else "noticed", "it"))
    assert random_devices.main(["--seed", "7", "--count", "5", "--harness", str(harness)]) == code
