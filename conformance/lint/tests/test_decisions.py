"""What lint decides once its findings are there: what counts, what is accepted, and what it exits with. No machine code is needed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.lint import against_hardware, baseline, command, declarations, launches, linter, summary, suppressions
from conformance.lint.against_hardware import Comparison, Shown, hold_against, shown_by
from conformance.lint.cache import Cache
from conformance.lint.ci import as_annotations, as_junit
from conformance.lint.declarations import Chain, Declaration, ordinal_of, within
from conformance.lint.findings import HINT, RULES, Finding, number_alike
from conformance.lint.json_text import dump
from conformance.lint.judged import ALL, GROUPS, JSON, JudgedImage, keep, kept
from conformance.lint.kernel_rules import KernelRules
from conformance.lint.launches import Launches, _Seen
from conformance.lint.linter import KernelVerdict, Options, Report
from conformance.lint.output import as_json, counts, exit_code
from conformance.lint.pipeline import Outcome
from conformance.lint.results import Access, KernelResult, Origin, Place
from conformance.lint.sources import Unreadable
from conformance.lint.summary import ImageSummary, has_erased_waits
from conformance.lint.suppressions import Suppression, allowed_in_source
from conformance.pdlkit.elf import CorruptFile, KernelInfo, Parameter
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import Tag

ERROR_RULE, HINT_RULE = "read-before-wait", "wait-in-loop"
HINTS = {"read-only-load", "wait-in-loop", "trigger-without-wait", "wait-at-once", "never-triggers", "prefetch-before-wait",
         "declared-independent", "ordered-by-mbarrier", "fence-then-trigger", "store-after-trigger", "exit-without-wait",
         "read-only-variable"}


def finding(rule: str = ERROR_RULE, kernel: str = "k", **more: Any) -> Finding:
    return Finding(rule, kernel, f"{kernel}(int)", "f", "sm_90", f"{rule} in {kernel}", **more)


def verdict(*findings: Finding, judged: bool = True, arch: str = "sm_90", kernel: str = "k") -> KernelVerdict:
    return KernelVerdict(kernel, f"{kernel}(int)", "f", None, arch, judged, findings=list(findings))


def report(*verdicts: KernelVerdict, **more: Any) -> Report:
    return Report(list(verdicts), **more)


def test_only_what_is_harmless_by_itself_is_a_hint() -> None:
    assert {name for name, rule in RULES.items() if rule.severity == HINT} == HINTS
    assert all(finding(name).counts is (name not in HINTS) for name in RULES)


def test_every_rule_stands_in_the_readme_by_its_name_and_severity() -> None:
    """A finding of a rule that lost its name ends lint while it judges."""
    rows = re.findall(r"^\| (`[^|]*`) \| (error|warning|hint) \|", (Path(linter.__file__).parent / "README.md").read_text("utf-8"), re.M)
    assert {name: severity for names, severity in rows for name in re.findall(r"`([\w-]+)`", names)} == {
        name: rule.severity for name, rule in RULES.items()}


@pytest.mark.parametrize(("said", "code"), [
    (report(verdict()), 0), (report(verdict(finding(HINT_RULE))), 0), (report(), 3), (report(verdict(judged=False)), 3),
    (report(verdict(judged=False), verdict()), 0), (report(verdict(), verdict(finding())), 1),
    (report(verdict(finding(), finding(HINT_RULE))), 1), (report(verdict(finding(imprecise=True))), 1),
    (report(verdict(finding(suppressed="known"))), 0), (report(verdict(finding(known=True))), 0),
    (report(verdict(finding(suppressed="known"), finding())), 1), (report(verdict(finding(known=True), finding("no-wait"))), 1),
    (report(verdict(), extra=[finding("unused-declaration", "")]), 1), (report(verdict(), unreadable=[("f", "cut")]), 2),
    (report(unreadable=[("f", "cut")]), 2), (report(verdict(finding()), unreadable=[("f", "cut")]), 1),
    (report(verdict(), unmatched=True), 3),
    (report(verdict(), unreadable=[("f", "cut")], unmatched=True), 2), (report(verdict(finding()), unmatched=True), 1),
])
def test_the_exit_code(said: Report, code: int) -> None:
    assert exit_code(said) == code


def test_what_is_counted_is_new_and_not_accepted() -> None:
    others = (finding(HINT_RULE), finding("unresolved-call"), finding(suppressed="x"), finding(known=True))
    said = report(verdict(finding(), finding(), *others))
    assert counts(said.told()) == {"error": 2, "warning": 1, "hint": 1}


def suppression(**more: Any) -> Suppression:
    return Suppression(**{"source": "s", "kernel": re.compile("^k"), "rule": ERROR_RULE, "because": "known", **more})


@pytest.mark.parametrize(("given", "found", "covered"), [
    ({}, finding(), True), ({}, finding("write-before-wait"), False), ({}, finding(kernel="other"), False),
    ({"kernel": re.compile(r"k\(int\)")}, finding(), True), ({"parameter": 2}, finding(parameters=[1, 2]), True),
    ({"parameter": 2}, finding(parameters=[1]), False), ({"parameter": 2}, finding(parameters=[3]), False),
    ({"parameter": 2}, finding(), False),
])
def test_a_suppression_accepts_what_it_names_and_nothing_else(given: dict[str, Any], found: Finding, covered: bool) -> None:
    one = suppression(**given)
    assert one.covers(found) is covered and one.used == ({found.kernel} if covered else set())
    said = report(verdict(found, finding(HINT_RULE, found.kernel), kernel=found.kernel))
    linter._finish(said, Options(suppressions=[suppression(**given)]))
    assert [f.suppressed for f in said.findings if f.kernel] == ["known" if covered else None, None]
    assert [f.id for f in said.extra] == ([] if covered else ["unused-declaration"]) and exit_code(said) == (not covered)


@pytest.mark.parametrize(("comment", "line", "accepted"), [
    *(("allow(read-before-wait) constant", line, line in (3, 4)) for line in (2, 3, 4, 5)), ("allow(read-before-wait)", 3, False),
    ("allow(write-before-wait) constant", 3, False), ("allow(no-wait, read-before-wait) both", 3, True),
    ("forbid(read-before-wait) constant", 3, False),
])
def test_a_comment_accepts_its_rule_at_its_line_with_a_reason(comment: str, line: int, accepted: bool, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(f"\n\nx; // pdl-lint: {comment}\n\n\n")
    places = [Place(".text.k", 16, "LDG", lines) for lines in (((str(source), line),), (("/nowhere.h", 3), (str(source), line)))]
    for place in places:  # the access itself, and one that was inlined there
        found = finding(place=place)
        assert (allowed_in_source(found) is not None) is accepted
        said = report(verdict(found, finding(HINT_RULE, place=place)))
        linter._finish(said, Options())
        assert [f.suppressed is not None for f in said.findings] == [accepted, False] and exit_code(said) == (not accepted)


def test_a_baseline_knows_its_own_findings_and_no_more_of_them(tmp_path: Path) -> None:
    """A second access like the first is new."""
    twice = [finding(subject="p"), finding(subject="p")]
    number_alike(twice)
    first, second = twice
    left_out = [finding(HINT_RULE), finding("no-wait", suppressed="x"), finding("unused-declaration", "")]
    written = [first, *left_out, finding("no-wait", "other")]
    assert baseline.write(tmp_path / "b.json", written) == 2
    known = baseline.load(tmp_path / "b.json")
    assert known == {first.fingerprint, written[-1].fingerprint} and second.fingerprint not in known
    for others, code in (((), 0), ((second,), 1), ((finding("write-before-wait"),), 1), ((finding(kernel="z"),), 1)):
        said = report(verdict(finding(subject="p"), *others))
        linter._finish(said, Options(baseline=known))
        assert exit_code(said) == code
    plain = json.loads((tmp_path / "b.json").read_text())["findings"]
    assert [row["kernel"] for row in plain] == ["k", "other"]


def test_no_two_findings_are_taken_for_one() -> None:
    alike = [finding(), finding(), finding()]
    number_alike(alike)
    others = [finding("no-wait"), finding(kernel="z"), finding(subject="p"), finding(subject="q")]
    assert len({one.fingerprint for one in (*alike, *others)}) == 7


def test_code_for_old_gpus_counts_only_where_there_is_no_better_one() -> None:
    old = verdict(finding("no-device-half"), arch="sm_80")
    alone, beside = report(old), report(verdict(finding("no-device-half"), arch="sm_80"), verdict(arch="sm_90"), verdict(kernel="z"))
    other = report(verdict(arch="sm_90", kernel="z"), verdict(finding("no-device-half"), arch="sm_80"))
    earlier = report(verdict(arch="sm_90"), verdict(finding("no-device-half"), arch="sm_80"))
    for said, first in ((alone, 0), (beside, 0), (other, 0), (earlier, 1)):
        linter._settle_old_images(said, first)
    assert [exit_code(said) for said in (alone, beside, other, earlier)] == [1, 0, 1, 1]
    assert not beside.verdicts[0].judged and beside.verdicts[1].judged


@pytest.mark.parametrize(("sm", "named", "code"), [(80, True, 1), (80, False, 3), (90, True, 2), (90, False, 3)])
def test_a_kernel_without_code_that_is_said_to_overlap_is_told(sm: int, named: bool, code: int) -> None:
    """Below sm_90 its code cannot overlap; from there on it has none, and cannot be judged."""
    nothing = {"result": lambda _: None, "kernel_info": lambda _: None}
    image: Any = SimpleNamespace(kernels=["k"], sm=sm, instructions=0, seconds=0.0, **nothing)
    said = report()
    linter._judge_image("f", None, image, Options(overlapping=re.compile("k" if named else "z")), said)
    assert exit_code(said) == code and len(said.verdicts) == 1 and said.named == named
    assert [f.id for f in said.findings] == ["no-device-half"] * (code == 1)


@pytest.mark.parametrize(("sm", "names", "symbols", "erased"), [
    (90, b"k\0x_pdl_wait_erased_1\0", ("k", "x_pdl_wait_erased_1"), True), (120, b"pdl_wait_erased", ("pdl_wait_erased", "k"), True),
    (89, b"pdl_wait_erased", ("pdl_wait_erased",), False), (90, b"k", ("k",), False), (90, b"pdl_wait_erased", ("k",), False)])
def test_an_image_has_erased_waits_if_a_symbol_says_so(sm: int, names: bytes, symbols: tuple[str, ...], erased: bool) -> None:
    """In an image that can overlap; a name among the texts that no symbol has is of something else."""
    image: Any = SimpleNamespace(sm=sm, section=lambda _: SimpleNamespace(link=1), sections=[b"", names], bytes_of=lambda section: section,
                                 symbols=[SimpleNamespace(name=name) for name in symbols])
    assert has_erased_waits(image) is erased
    for table in (None, SimpleNamespace(link=2)):
        image.section = lambda _, table=table: table
        assert not has_erased_waits(image), "a table without its texts says nothing"


def test_kernels_are_disassembled_in_parts_that_leave_none_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part has all device functions, which any kernel may call, and is no larger than one kernel makes it."""
    sizes = {"a": 6, "b": 4, "c": 1, "d": 20, "f": 9, "z": 9}
    sections = [SimpleNamespace(name=f".text.{name}", size=size) for name, size in sizes.items()]
    image: Any = SimpleNamespace(sections=[*sections, SimpleNamespace(name=".data.c", size=99)], kernels=["d", "c", "b", "a", "z"])
    monkeypatch.setattr(summary, "_CHUNK", 10)
    assert summary._chunks(image, {"a", "b", "c", "d", "f"}) == [{"a", "b", "f"}, {"c", "f"}, {"d", "f"}]


@pytest.mark.parametrize(("printed", "instructions", "told"), [
    ({"a", "b"}, 5, None), ({"a", "b"}, 4, "of 5 instructions"), ({"a"}, 2, "nothing of b$"), (set(), 0, "nothing of a and 1 other"),
    ({"a", "b", "gone"}, 5, None)])
def test_code_that_is_not_printed_or_not_read_is_no_clean_code(printed: set[str], instructions: int, told: str | None) -> None:
    sections = [SimpleNamespace(name=f".text.{name}", size=16 * words) for name, words in (("a", 2), ("b", 3), ("empty", 0))]
    image: Any = SimpleNamespace(sections=sections)
    if told is None:
        summary._demand_all(image, {"a", "b", "empty"}, printed, instructions)
    else:
        with pytest.raises(Unreadable, match=told):
            summary._demand_all(image, {"a", "b", "empty"}, printed, instructions)


def test_an_image_that_could_not_be_analysed_is_told() -> None:
    said, cache = report(verdict()), Cache(None)
    linter._take(Outcome(SimpleNamespace(file="f", inner=None), None, "it is cut"), Options(), said, cache)  # type: ignore[arg-type]
    assert said.unreadable == [("f", "it is cut")] and exit_code(said) == 2
    broken: Any = SimpleNamespace(kernels=["k", "z"], sm=90, instructions=0, seconds=0.0, result=None)  # judging it fails
    linter._take(Outcome(SimpleNamespace(file="g", inner=None), broken), Options(), said, cache)  # type: ignore[arg-type]
    assert len(said.unreadable) == 2 and said.unreadable[1][0] == "g" and len(said.verdicts) == 1


@pytest.mark.parametrize("error", [MemoryError(), CorruptFile("cut"), Unreadable("no image"), OSError("gone")])
def test_a_file_that_cannot_be_opened_is_told(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(linter, "open_file", fails)
    said = linter.lint_files([tmp_path / "a", tmp_path / "b"], Options())
    assert [file for file, _ in said.unreadable] == [str(tmp_path / "a"), str(tmp_path / "b")] and exit_code(said) == 2


@pytest.mark.parametrize(("problems", "left_alone", "ptx", "told"), [
    (["a section is cut"], 0, [], ["a section is cut"]), ([], 0, [], ["no code"]), ([], 1, [], []), ([], 0, ["text"], []),
    (["a section is cut"], 1, [], ["a section is cut"]),
])
def test_what_of_a_file_was_not_looked_at_is_told(problems: list[str], left_alone: int, ptx: list[str], told: list[str]) -> None:
    opened: Any = SimpleNamespace(problems=problems, left_alone=left_alone, ptx=ptx, overlap_calls=[], without_code=lambda _: "no code")
    said = report()
    linter._note_rest(Path("f"), opened, frozenset(), said, 0, 0)
    assert [why for _, why in said.unreadable] == told and bool(said.notes) is bool(left_alone)


def test_a_kernel_is_clean_only_if_none_of_its_findings_counts() -> None:
    assert verdict(finding(HINT_RULE), finding(known=True)).clean
    assert not verdict(finding(HINT_RULE), finding()).clean and not verdict(finding(), finding(HINT_RULE)).clean


def test_a_launch_log_names_what_was_launched_with_overlap(tmp_path: Path) -> None:
    """By an attribute or by an edge; what it does not understand it refuses."""
    log = tmp_path / "launches.jsonl"
    log.write_text("".join(json.dumps({"kernel": name, "overlap": how}) + "\n" for name, how in (("a", True), ("b", "edge"), ("c", False))))
    said = launches.load([log, log])
    assert [said.why_overlapping(name) is not None for name in "abc"] == [True, True, False]
    for bad in ('{"kernel": "a"}', '{"kernel": "a", "overlap": "no"}', '{"overlap": true}', '{"kernel": 1, "overlap": true}', "[]", "{"):
        log.write_text(bad)
        with pytest.raises(BadArguments, match="line 1"):
            launches.load([log])


def test_launches_of_all_logs_are_counted_together(tmp_path: Path) -> None:
    logs = [tmp_path / "one", tmp_path / "two"]
    for log, times, behind in zip(logs, (2, 3), (["a", "b"], ["c", "d"]), strict=True):
        log.write_text(json.dumps({"kernel": "k", "overlap": True, "launches": times, "behind": behind}))
    assert launches.load(logs).why_overlapping("k") == "the launch log says that it was launched with overlap 5 times after a, b, c, ..."


def test_every_file_that_the_command_line_names_counts(tmp_path: Path) -> None:
    """One that got lost would leave a kernel unjudged, or accuse an access that somebody has accepted."""
    words = list[str]()
    for name in ("one", "two"):
        texts = {"launches": json.dumps({"kernel": name, "overlap": True}), "baseline": json.dumps({"findings": [{"fingerprint": name}]}),
                 "suppress": f'[[suppress]]\nkernel = "{name}"\nrule = "no-wait"\nbecause = "known"\n',
                 "independent": f'[[independent]]\nkernel = "{name}"\nparameter = 1\nbecause = "constant"\n'
                                f'[[chain]]\nkernels = "{name}"\nbecause = "ordered"\n'}
        for option, text in texts.items():
            (tmp_path / f"{option}.{name}").write_text(text)
            words += [f"--{option}", str(tmp_path / f"{option}.{name}")]
    said = command._options(command._parser().parse_args([*words, "--arch", "sm_90", "--arch", "100a", "x"]))
    assert set(said.launches.overlapping) == said.baseline == {"one", "two"} and said.architectures == {90, 100}
    patterns = [[one.kernel for one in said.suppressions], [one.kernel for one in said.declarations], [one.kernels for one in said.chains]]
    assert [[pattern.pattern for pattern in found] for found in patterns] == [["one", "two"]] * 3
    with pytest.raises(BadArguments, match="--arch"):
        command._options(command._parser().parse_args(["--arch", "sm_90", "--arch", "new", "x"]))


@pytest.mark.parametrize(("words", "needs"), [
    ("", GROUPS), ("--hints", GROUPS), ("--json", JSON), *((words, ALL) for words in (
        "--json --hints", "--sarif x", "--junit x", "--github", "--write-baseline x"))])
def test_what_of_the_findings_has_to_be_at_hand(words: str, needs: str) -> None:
    for more, cached in (("", True), (" --no-cache", False)):
        said = command._options(command._parser().parse_args((words + more).split()))
        assert (said.needs, said.cached) == (needs, cached)


@pytest.mark.parametrize(("said", "code"), [
    (report(verdict(finding())), 0), (report(verdict()), 0), (report(verdict(finding()), unreadable=[("f", "cut")]), 2),
    (report(verdict(), unreadable=[("f", "cut")]), 2), (report(), 3), (report(verdict(), unmatched=True), 3)])
def test_a_baseline_that_is_written_hides_findings_and_nothing_else(said: Report, code: int, monkeypatch: pytest.MonkeyPatch,
                                                                     tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "lint_files", lambda files, options: said)
    assert command.main(["--write-baseline", str(tmp_path / "b"), "--junit", str(tmp_path / "j"), "--json", "x"]) == code
    assert len(baseline.load(tmp_path / "b")) == sum(1 for one in said.each_finding() if one.counts)
    assert json.loads(capsys.readouterr().out)["schema"] and ElementTree.parse(tmp_path / "j")


def test_what_is_kept_of_an_image_holds_all_its_findings_or_is_not_taken(tmp_path: Path) -> None:
    """Of a run for people only groups are kept, which are not enough for JSON; lines of sources may change and are never kept."""
    def image(**more: Any) -> JudgedImage:
        found = [finding(HINT_RULE), finding(place=Place(".text.k", 16, "LDG", **more)), finding("no-wait")]
        return JudgedImage(3, 0.5, [verdict(*found)])

    tmp_path.chmod(0o700)
    cache = Cache(tmp_path)
    keep(cache, "groups", GROUPS, image())
    keep(cache, "json", JSON, image())
    keep(cache, "lined", JSON, image(lines=(("k.cu", 3),)))
    assert [[kept(cache, key, needs, "f", None) is not None for needs in (GROUPS, JSON)] for key in ("groups", "json", "lined")] == [
        [True, False], [True, True], [False, False]]
    inside = kept(cache, "json", JSON, "libx.so", "k.o: image 2")
    assert inside is not None
    for one in json.loads("".join(map(str, dump(as_json(report(*inside.verdicts), False)))))["findings"]:
        assert (one["file"], one["image"]) == ("libx.so", "k.o: image 2"), "the next file may hold the same image"
    again = kept(cache, "json", JSON, "g", None)
    assert again is not None
    told = json.loads("".join(map(str, dump(as_json(report(*again.verdicts), False)))))
    cache.close()
    assert [(one["id"], one["file"], one["image"]) for one in told["findings"]] == [(ERROR_RULE, "g", None), ("no-wait", "g", None)]


@pytest.mark.parametrize("given", [
    {"overlapping": re.compile("k")}, {"chains": [1]}, {"launches": Launches({"k": _Seen()})}, {"declarations": [1]},
    {"kernels": frozenset({"k"})}, {"suppressions": [1]}, {"baseline": frozenset({"f"})}])
def test_what_is_kept_for_later_runs_was_judged_with_nothing_but_the_image(given: dict[str, Any]) -> None:
    """Else what one run accepts would be clean in the next one, which accepts nothing."""
    assert Options().plain and not Options(**given).plain


@pytest.mark.parametrize(("given", "needs"), [
    ({"cached": True, "needs": GROUPS}, GROUPS), ({"cached": True, "needs": JSON}, JSON), ({"cached": True}, ALL), ({"needs": GROUPS}, ALL),
    ({"cached": True, "needs": GROUPS, "suppressions": [1]}, ALL), ({"cached": True, "needs": JSON, "baseline": frozenset({"f"})}, ALL)])
def test_what_was_kept_is_taken_only_by_a_run_that_accepts_nothing(given: dict[str, Any], needs: str, tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    class Asked(Exception):
        pass

    def made(*more: Any) -> None:
        asked.append(more[-1])
        raise Asked

    monkeypatch.setattr(linter, "Pipeline", made)
    with pytest.raises(Asked):
        linter._lint_file(tmp_path / "f", tmp_path, Options(**given), report(), Cache(None), None)  # type: ignore[arg-type]
    assert asked == [needs]


LOGGED = Launches({"x": _Seen()})


@pytest.mark.parametrize(("options", "named", "unmatched"), [
    (Options(), 0, False), (Options(overlapping=re.compile("x")), 0, True), (Options(overlapping=re.compile("x")), 1, False),
    (Options(launches=LOGGED), 0, True), (Options(launches=LOGGED), 1, False),
])
def test_names_that_match_no_kernel_are_told(options: Options, named: int, unmatched: bool) -> None:
    said = report(verdict(), named=named)
    linter._finish(said, options)
    assert said.unmatched is unmatched and exit_code(said) == (3 if unmatched else 0)
    assert bool(said.notes) is bool(options.launches.overlapping), "x is in no file"


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("kind", ["declarations", "chains"])
def test_a_declaration_that_matches_nothing_is_told(kind: str, used: bool) -> None:
    """It may be misspelt, and then what it should have said something of went unsaid."""
    k = re.compile("k")
    options = Options()
    setattr(options, kind, [SimpleNamespace(used=used, parameters={1}, variables={"v"}, source="s", kernel=k, kernels=k)])
    said = report(verdict())
    linter._finish(said, options)
    assert exit_code(said) == (not used) and [(one.kernel, one.file) for one in said.extra] == [("", "s")] * (not used)


def test_json_holds_every_finding_and_every_kernel_that_was_judged() -> None:
    said = report(verdict(finding(), finding("unresolved-call"), finding(HINT_RULE)), verdict(kernel="fine"),
                  verdict(judged=False, kernel="unasked"), extra=[finding("unused-declaration", "")], unreadable=[("cut", "why")])
    for hints in (False, True):
        told = as_json(said, hints)
        assert [f["id"] for f in told["findings"]] == [ERROR_RULE, "unresolved-call", *[HINT_RULE] * hints, "unused-declaration"]
        assert [(k["kernel"], k["clean"]) for k in told["kernels"]] == [("k", False), ("fine", True)]
        assert told["counts"] == {"error": 1, "warning": 2, "hint": int(hints)}
        assert told["unreadable"] == [{"file": "cut", "message": "why"}]
        assert [k["kernel"] for k in told["not_judged_kernels"]] == ["unasked"]


def test_build_servers_get_every_finding_that_counts() -> None:
    said = report(verdict(finding(), finding("no-wait"), finding(HINT_RULE)), verdict(kernel="fine"),
                  verdict(finding(HINT_RULE), kernel="hint"),
                  verdict(finding(known=True), finding(suppressed="x"), kernel="old"), verdict(judged=False, kernel="unasked"),
                  unreadable=[("cut", "it is damaged")])
    said.verdicts[0].waits = True
    suite = ElementTree.fromstring(as_junit(said)).find("testsuite")
    assert suite is not None and [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["5", "1", "1", "0"]
    assert [(case.get("name"), [end.tag for end in case]) for case in suite] == [
        ("k(int)", ["failure"]), ("fine(int)", []), ("hint(int)", []), ("old(int)", []), ("can be read", ["error"])]
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.text and failure.text.count("To do") == 2
    assert [line.partition("::")[2].partition("::")[0] for line in as_annotations(said, False).splitlines()] == [
        "error title=read-before-wait", "error title=no-wait", "error title=lint cannot read a file"]
    assert sum(line.startswith("::notice") for line in as_annotations(said, True).splitlines()) == 2


# One kernel ----------------------------------------------------------------------------------------------------------

PARAMETERS = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 24), Parameter(2, 40, 4)])
CHAIN = Chain("s", re.compile("k"), "ordered")
HERE = Place(".text.k", 16, "LDG")


def access(readonly: bool = False, reaches_wait: bool = True, origins: frozenset[Origin] = frozenset(), kind: str = "LOAD") -> Access:
    return Access(HERE, kind, readonly, frozenset({"FRESH"}), origins, (), reaches_wait, None, None, frozenset())


def told_of(*accesses: Access, declared: tuple[Declaration, ...] = (), chains: tuple[Chain, ...] = (), **more: Any) -> list[str]:
    image = ImageSummary(90, 90, ["k"], initialised_symbols=frozenset({"table"}))
    rules = KernelRules(image, ("f", None, "sm_90", "k", "k(int)"), None, declared, chains)
    return [one.id for one in rules.judge(KernelResult("k", waits=True, triggers=True, accesses=accesses, **more))]


def test_alike_findings_of_a_kernel_are_told_apart() -> None:
    """Else a baseline with one of them would hide each further one."""
    rules = KernelRules(ImageSummary(90, 90, ["k"]), ("f", None, "sm_90", "k", "k(int)"), None, ())
    later = replace(access(), place=Place(".text.k", 64, "LDG"))
    found = rules.judge(KernelResult("k", waits=True, triggers=True, accesses=(access(), later)))
    assert len(found) == 2 == len({one.fingerprint for one in found})


@pytest.mark.parametrize(("reaches_wait", "said"), [(True, "declared-independent"), (False, "path-without-wait")])
def test_a_chain_is_right_to_read_early_only_where_it_waits_later(reaches_wait: bool, said: str) -> None:
    assert told_of(access(reaches_wait=reaches_wait), chains=(CHAIN,)) == [said]


@pytest.mark.parametrize(("kind", "writes", "said"), [
    ("LOAD", False, "declared-independent"), ("STORE", True, "declared-independent"), ("STORE", False, "write-before-wait"),
    ("ATOMIC", False, "atomic-before-wait"), ("ASYNC_STORE", False, "async-copy-before-wait")])
def test_a_declaration_covers_what_stores_only_if_it_says_so(kind: str, writes: bool, said: str) -> None:
    declared = Declaration("s", re.compile("k"), frozenset(), frozenset({"other"}), "nobody reads it", writes)
    assert told_of(access(kind=kind, origins=frozenset({("symbol", "other")})), declared=(declared,)) == [said]


@pytest.mark.parametrize("overlapping", [None, "it is named"])
@pytest.mark.parametrize(("virtual", "result", "erased", "said"), [
    (90, {}, False, ["no-wait"]), (0, {}, False, ["no-wait"]), (100, {}, False, ["no-wait"]), (89, {}, False, ["no-device-half"]),
    (80, {}, True, ["no-device-half", "erased-wait"]), (90, {}, True, ["erased-wait"]), (89, {"waits": True}, False, ["no-device-half"]),
    (90, {"unseen": ((HERE, "f"),)}, False, ["unresolved-call"]), (90, {"waits": True, "accesses": (access(),)}, False, []),
    (90, {"unseen": ((HERE, "f"),)}, True, ["erased-wait"])])
def test_a_kernel_without_a_wait_is_wrong_only_if_it_is_said_to_overlap(overlapping: str | None, virtual: int, result: dict[str, Any],
                                                                       erased: bool, said: list[str]) -> None:
    """One that waits shows by that that it may overlap."""
    image = ImageSummary(90, virtual, ["k"], erased_waits=erased)
    found = KernelRules(image, ("f", None, "sm_90", "k", "k(int)"), overlapping, ()).judge(
        KernelResult("k", **{"waits": False, "triggers": True, **result}))
    told = [one.id for one in found if one.counts]
    waits = result.get("waits", False) and (overlapping is None or virtual >= 90)
    assert told == (["read-before-wait"] if waits and "accesses" in result else [] if waits or overlapping is None else said)


@pytest.mark.parametrize(("origins", "subject"), [
    ((), "global memory (address not followed)"), ((("bank", 3),), "memory that a __constant__ variable points to"),
    ((("bank", 3), ("symbol", "v")), "variable v"), ((("via", ("symbol", "v")),), "memory reached through variable v"),
    ((("param", 0),), "parameter 1"), ((("via", ("param", 40)),), "memory reached through parameter 3"),
    ((("param", 0), ("via", ("param", 0))), "parameter 1"), ((("symbol", "w"), ("symbol", "v")), "variable v or variable w")])
def test_what_is_accessed_is_named(origins: tuple[Origin, ...], subject: str) -> None:
    image = ImageSummary(90, 90, ["k"], infos={"k": PARAMETERS})
    rules = KernelRules(image, ("f", None, "sm_90", "k", "k(int)"), None, ())
    assert rules._subject(access(origins=frozenset(origins))) == subject == rules._subject_of(frozenset(origins))


def test_the_path_of_a_finding_leads_past_the_wait_to_the_use() -> None:
    def steps(**more: Any) -> list[str]:
        rules = KernelRules(ImageSummary(90, 90, ["k"]), ("f", None, "sm_90", "k", "k(int)"), None, ())
        (found,) = (one for one in rules.judge(KernelResult("k", waits=True, triggers=True, accesses=(replace(access(), **more),),
                                                            wait_places=(Place(".text.k", 32, "ACQBULK"),))) if one.counts)
        return [step.what for step in found.path]

    other = Place(".text.k", 48, "FADD")
    assert steps() == ["the wait"] and steps(passed=other) == ["the path goes past the wait here", "the wait"]
    assert steps(used=other) == ["the wait", "what was read is used here"]
    assert steps(used=other, reaches_wait=False) == ["where other threads wait"]
    for used in (other, None):
        rules = KernelRules(ImageSummary(90, 90, ["k"]), ("f", None, "sm_90", "k", "k(int)"), None, ())
        (found,) = (one for one in rules.judge(KernelResult("k", waits=True, triggers=True, accesses=(replace(access(), used=used),)))
                    if one.counts)
        assert found.message.endswith(", and used after it") is (used is not None)


@pytest.mark.parametrize(("result", "options", "judged"), [
    ({"waits": True}, {}, True), ({}, {}, False), ({}, {"overlapping": re.compile("k")}, True), ({}, {"chains": [CHAIN]}, True),
    ({"waits": True}, {"kernels": frozenset({"k"})}, True)])
def test_a_kernel_is_judged_if_it_waits_or_something_names_it(result: dict[str, Any], options: dict[str, Any], judged: bool) -> None:
    image = ImageSummary(90, 90, ["k", "z"], results={"k": KernelResult("k", **{"waits": False, "triggers": True, **result})},
                         instructions=7, seconds=0.5)
    said = report()
    linter._judge_image("f", None, image, Options(**options), said)
    assert {one.kernel: one.judged for one in said.verdicts} == {"k": judged, **({} if options.get("kernels") else {"z": False})}
    assert (said.instructions, said.own_seconds) == (7, 0.5) and not said.unreadable


@pytest.mark.parametrize(("key", "value", "right"), [
    *((key, value, right) for key in ("parameter", "predecessor") for right, values in (
        (True, (1, [1], [2, 1])), (False, (0, [1, 0], True, "1"))) for value in values),
    ("variable", "v", True), ("variable", ["v", "w"], True), ("variable", 1, False)])
def test_parameters_are_counted_from_1(key: str, value: object, right: bool, tmp_path: Path) -> None:
    head = "[[chain]]\nkernels" if key == "predecessor" else "[[independent]]\nkernel"
    (tmp_path / "d.toml").write_text(f"{head} = 'k'\nbecause = 'r'\n{key} = {json.dumps(value)}\n")
    if right:
        declared, chains = declarations.load(tmp_path / "d.toml")
        assert len(declared) + len(chains) == 1
    else:
        with pytest.raises(BadArguments, match="from 1|a name"):
            declarations.load(tmp_path / "d.toml")


@pytest.mark.parametrize("table", ["independent", "chain", "suppress"])
def test_a_key_that_is_not_known_is_refused(table: str, tmp_path: Path) -> None:
    """It may be misspelt, and then more would be accepted than somebody meant; a name is a text, and a reason is needed."""
    key = "kernels" if table == "chain" else "kernel"
    rows = {key: "'k'", "because": "'r'", **{"independent": {"parameter": "1"}, "chain": {}, "suppress": {"rule": "'no-wait'"}}[table]}
    load = suppressions.load if table == "suppress" else declarations.load
    path = tmp_path / "d.toml"

    def written(**more: str) -> Path:
        path.write_text(f"[[{table}]]\n" + "".join(f"{name} = {value}\n" for name, value in {**rows, **more}.items()))
        return path

    assert load(written())
    for wrong in ({"offset": "8"}, {"paramter": "1"}, {key: "1"}, {key: "'('"}, {"because": "' '"}, {"because": "1"}):
        with pytest.raises(BadArguments, match="d.toml"):
            load(written(**wrong))
    path.write_text("[[other]]\n")
    with pytest.raises(BadArguments):
        load(path)


def test_advice_is_of_the_cause_where_one_is_known() -> None:
    assert finding().advice == RULES[ERROR_RULE].advice and finding(cause="the compiler moved it").advice == "the compiler moved it"


@pytest.mark.parametrize(("readonly", "name", "said"), [
    (True, "table", "read-only-variable"), (False, "table", "read-before-wait"), (True, "other", "read-before-wait")])
def test_a_variable_is_a_constant_only_if_it_is_read_as_one(readonly: bool, name: str, said: str) -> None:
    assert told_of(access(readonly, origins=frozenset({("symbol", name)}))) == [said]


@pytest.mark.parametrize(("states", "said"), [
    (frozenset({"SIGNALLED"}), ["ordered-by-mbarrier", "exit-without-wait"]), (frozenset({"FRESH"}), ["read-before-wait"])])
def test_threads_that_end_without_a_wait_are_told_where_nothing_worse_is(states: frozenset[str], said: list[str]) -> None:
    assert told_of(replace(access(), states=states), exit=HERE) == said


# Against hardware ----------------------------------------------------------------------------------------------------

TAGS = {"late": Tag("late", "kernel", "t", (), lint=("read-before-wait", "no-wait")), "unseen": Tag("unseen", "kernel", "t", ())}


def compared(shown: list[Shown], *verdicts: KernelVerdict, **more: Any) -> Comparison:
    return hold_against(shown, report(*verdicts, **more), TAGS)


PASSED, KILLED = Shown("C", "w_dependent", "base", False), Shown("C", "w_dependent", "late", True)


def test_a_kernel_that_lint_did_not_see_hides_no_other_one() -> None:
    gone = replace(PASSED, kernel="gone")
    one = compared([gone, PASSED, gone], verdict(finding(ERROR_RULE, PASSED.symbol), kernel=PASSED.symbol))
    assert (one.compared, one.absent, len(one.disagreements)) == (1, [gone.symbol] * 2, 1)


@pytest.mark.parametrize(("shown", "findings", "wrong"), [
    (PASSED, (), False), (PASSED, (HINT_RULE,), False), (PASSED, (ERROR_RULE,), True), (PASSED, ("unresolved-call",), True),
    (KILLED, (), True), (KILLED, (HINT_RULE,), True), (KILLED, ("write-before-wait",), True), (KILLED, ("no-wait",), False),
    (KILLED, ("write-before-wait", ERROR_RULE), False),
])
def test_hardware_and_lint_agree_or_it_is_told(shown: Shown, findings: tuple[str, ...], wrong: bool) -> None:
    said = [finding(name, shown.symbol) for name in findings]
    one = compared([shown], verdict(kernel="other"), verdict(*said, kernel=shown.symbol))
    assert (one.compared, one.absent, len(one.disagreements)) == (1, [], wrong)
    both = [verdict(*said, kernel=shown.symbol), verdict(kernel=shown.symbol)]
    for several in (both, both[::-1]):
        assert len(compared([shown], *several).disagreements) == wrong, "of several architectures each one counts"


def test_what_lint_cannot_read_or_find_is_told() -> None:
    lost = compared([PASSED, KILLED], verdict(kernel=PASSED.symbol), unreadable=[("f", "cut")])
    assert (lost.compared, lost.absent, lost.disagreements) == (1, [KILLED.symbol], ["lint cannot read f: cut"])


@pytest.mark.parametrize(("changed", "symbols"), [
    ({}, ["w_dependent_base", "w_dependent_late"]), ({"status": "FAIL"}, ["w_dependent_late"]), ({"proving": False}, ["w_dependent_late"]),
    ({"kind": "start"}, []), ({"mutants": []}, ["w_dependent_base"]),
    *(({"mutants": [{"tag": "late", "status": status}, {"tag": "unseen", "status": "KILLED"}]}, ["w_dependent_base"])
      for status in ("SURVIVED", "EQUIVALENT_HERE", "NOT_APPLICABLE")),
    ({"mutants": [{"tag": "unseen", "status": "KILLED"}, {"tag": "late", "status": "KILLED"}]}, ["w_dependent_base", "w_dependent_late"]),
    ({"kernels": [{"name": "w_primary"}]}, []), ({"kernels": []}, []),
])
def test_what_hardware_showed(changed: dict[str, Any], symbols: list[str]) -> None:
    test = {"name": "C", "kind": "visibility", "status": "PASS", "proving": True, "mutants": [{"tag": "late", "status": "KILLED"}],
            "kernels": [{"name": "w_primary"}, {"name": "w_dependent"}], **changed}
    both = shown_by({"tests": [test, test]}, TAGS)
    assert [one.symbol for one in both] == symbols and [one.killed for one in both] == [symbol.endswith("late") for symbol in symbols]


@pytest.mark.parametrize(("said", "code"), [
    ({"compared": 3, "absent": [], "disagreements": []}, 0), ({"compared": 3, "absent": ["x"], "disagreements": ["odd"]}, 1),
    ({"compared": 0, "absent": ["x"], "disagreements": []}, 1), ({"left_out": "no kernel was proven or killed"}, 1),
])
def test_the_comparison_exits_with_what_it_says(said: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(against_hardware, "answer", lambda *_: said)
    assert against_hardware.main(["report.json", "harness"]) == code
    capsys.readouterr()
    assert against_hardware.main(["--json", "report.json", "harness"]) == 0 and json.loads(capsys.readouterr().out) == said


@pytest.mark.parametrize(("at_hand", "shown", "told"), [
    (False, [PASSED], {"left_out": "nvdisasm, cuobjdump or a C compiler is not on this machine"}),
    (True, [], {"left_out": "no kernel was proven or killed"}), (True, [PASSED], {"compared": 2, "absent": ["a"], "disagreements": ["d"]}),
])
def test_what_run_is_answered(at_hand: bool, shown: list[Shown], told: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*given: object) -> Comparison:
        assert given == (Path("harness"), shown, TAGS)
        return Comparison(2, ["a"], ["d"])

    for name, value in (("programs_at_hand", at_hand), ("read_report", {}), ("shown_by", shown)):
        monkeypatch.setattr(against_hardware, name, lambda *_, value=value: value)
    monkeypatch.setattr(against_hardware, "compare", compared)
    monkeypatch.setattr("conformance.lint.analyser.at_hand", lambda: True)
    assert against_hardware.answer(Path("report.json"), Path("harness"), TAGS) == told


def test_a_byte_of_the_bank_belongs_to_the_parameter_that_it_lies_in() -> None:
    places = {0: (1, 0), 7: (1, 7), 8: (2, 0), 31: (2, 23), 32: (None, 0), 39: (None, 0), 40: (3, 0), 43: (3, 3), 44: (None, 0)}
    assert {at: (ordinal_of(at, PARAMETERS), within(at, PARAMETERS)) for at in places} == places


def test_a_declaration_covers_its_parameters_members_and_variables_alone() -> None:
    def covered(declared: Declaration) -> list[int]:
        found = [at for at in range(48) if declared.covers(("param", at), PARAMETERS)]
        assert found == [at for at in range(48) if declared.covers(("via", ("param", at)), PARAMETERS)]
        return found

    whole = Declaration("s", re.compile("k"), frozenset({1, 3}), frozenset({"v"}), "nobody writes it")
    assert covered(whole) == [*range(8), *range(40, 44)]
    assert whole.covers(("symbol", "v"), PARAMETERS) and not whole.covers(("symbol", "w"), PARAMETERS)
    assert not whole.covers(("load", 0), PARAMETERS)
    assert covered(replace(whole, parameters=frozenset({2}), offsets=frozenset({8}))) == list(range(16, 24))
    assert covered(replace(whole, parameters=frozenset({2}), offsets=frozenset({0, 16}))) == [*range(8, 16), *range(24, 32)]


def test_each_key_of_a_declaration_counts(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text("[[independent]]\nkernel = 'k'\nparameter = [1, 2]\nvariable = 'v'\nwrites = true\noffsets = 8\n"
                                     "because = ' a reason '\n[[chain]]\nkernels = 'c'\npredecessor = 3\nbecause = 'another'\n")
    (declared,), (chain,) = declarations.load(tmp_path / "d.toml")
    assert declared.parameters == {1, 2} and declared.variables == {"v"} and declared.offsets == {8} and declared.writes
    assert (declared.because, chain.because) == ("a reason", "another") and chain.predecessor == {3}


@pytest.mark.parametrize("text", ['{"findings": 1}', "[]", '{"findings": [1]}', "{}", '{"findings": [{}]}', "no JSON"])
def test_what_is_no_baseline_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadArguments, match="--write-baseline makes one"):
        baseline.load(tmp_path / "b.json")
