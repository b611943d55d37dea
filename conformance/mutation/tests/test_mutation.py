"""What the mutation runs draw, and what they call a survivor."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.model import golden, watched
from conformance.mutation import kernels, trying
from conformance.mutation.draw import Change, changes_of, choose
from conformance.mutation.explained import Explained
from conformance.mutation.kit import C_FILES, PYTHON_FILES, passed
from conformance.pdlkit import places
from conformance.pdlkit.exits import InvalidRun

C = """/* a == b */
static int f(int a)
{
    int done = 0;

    if (a <= 3 && !g(a, "word"))
        call(a, done);
    return done; // a < b
}
"""
PYTHON = '''"""a == b"""
def f(a: int) -> bool:
    if a is None and a == 3:
        call("a message", "word")
    return any(a)  # a < b
'''


KERNELS = """#include "x.h"
KERNEL(first)
{
    runs_there();
}
NAMED_KERNEL(second)
static int host(void)
{
#ifdef MUTANT_late
    left_out();
#else
    kept();
#endif
#ifndef PDL_MODEL
    left_out();
#endif
#if CUDART_VERSION >= 12080
    kept();
#endif
}
DEVICE_FN int third(int a,
                    int b)
{
    return a < b;
}
DEVICE_FN int fourth(void) { return 4; }
    kept();
"""


LEFT_OUT = """enum way { ONE, TWO, THREE };
static const struct row rows[] = {
    { 1, "a" },
    [TWO] = { 3, 4 },
};
static int f(int a)
{
    for (i = 0; i < n; i++) {
        call(a,
             b);
        if (a)
            c = g(a ? b : c, 0x10);
        else if (b)
            return cudaErrorNotReady;
        else return d;
    }
    switch (a) {
    case ONE: return e;
    case TWO: g(); break;
    }
}
"""
ROWS = """NAMES = ("a", "b")
def f() -> None:
    rows = {
        "a": 1,
        ("c", "d"): 2,
    }
"""


def made_of(file: str, text: str) -> set[str]:
    return {change.new.strip() for change in changes_of(file, text)}


@pytest.mark.parametrize("new", [
    'if (a < 3 && !g(a, "word"))', 'if (a > 3 && !g(a, "word"))', 'if (a <= 3 || !g(a, "word"))', 'if (a <= 3 && g(a, "word"))',
    'if (a <= 4 && !g(a, "word"))', 'if (a <= 2 && !g(a, "word"))', 'if (!(a <= 3 && !g(a, "word")))', "if (0)", "if (1)",
    'if (a <= 3 && !g("word", a))', 'if (a <= 3 && !g(a, ""))', ";", "call(done, a);", "return 1; call(a, done);",
    "return !(done); // a < b",
])
def test_c_is_changed_like_this(new: str) -> None:
    assert new in made_of("x.c", C)


@pytest.mark.parametrize("new", [
    "if a is not None and a == 3:", "if a is None or a == 3:", "if a is None and a != 3:", "if a is None and a == 4:",
    "if not (a is None and a == 3):", "if True:", 'call("word", "a message")', 'call("a message", "")', "pass", "return all(a)  # a < b",
    "return None  # a < b",
])
def test_python_is_changed_like_this(new: str) -> None:
    assert new in made_of("x.py", PYTHON)


@pytest.mark.parametrize(("line", "new"), [
    (3, "/* left out */"), (3, "{ 1},"), (4, "/* left out */"), (4, "[THREE] = { 3, 4 },"), (8, "for (i = 0; i + 1 < n; i++) {"),
    (9, "if (0) call(a,"), (12, "c = g(a ? c : b, 0x10);"), (12, "c = g(a ? b : c, 0x11);"), (14, "return cudaSuccess;"),
    (15, "else ;"), (18, "/* left out */"), (18, "case TWO: return e;"), (19, "/* left out */"), (19, "case TWO: g();"),
    (19, "case THREE: g(); break;"),
])
def test_something_of_c_is_left_out_or_taken_for_another(line: int, new: str) -> None:
    assert new in {change.new.strip() for change in changes_of("x.c", LEFT_OUT) if change.line == line}


def test_only_the_beginning_of_a_statement_is_skipped() -> None:
    assert {change.line for change in changes_of("x.c", LEFT_OUT) if "if (0) " in change.new} == {9}


@pytest.mark.parametrize(("line", "new"), [(4, ""), (4, '"": 1,'), (5, ""), (5, '("c",): 2,')])
def test_a_row_of_python_is_left_out(line: int, new: str) -> None:
    assert new in {change.new.strip() for change in changes_of("x.py", ROWS) if change.line == line}


def test_what_is_no_code_stays() -> None:
    assert {change.line for change in changes_of("x.c", C)} == {4, 6, 7, 8}
    assert {change.line for change in changes_of("x.py", PYTHON)} == {3, 4, 5}


def test_directives_only_where_they_are_asked_for() -> None:
    text = "#if A >= 2\n#endif\n"
    assert not changes_of("x.h", text) and {change.new for change in changes_of("x.h", text, True)} >= {"#if A > 2", "#if A >= 3"}


@pytest.mark.parametrize("file", [*C_FILES, *PYTHON_FILES, "pdl.h", "pdl_device.cuh"])
def test_every_change_applies_to_one_line(file: str) -> None:
    text = (places.ROOT / file).read_text(encoding="utf-8")
    changes = changes_of(file, text, file.startswith("pdl"))
    assert len(changes) > min(50, len(text.splitlines()) // 2)
    for change in changes[::37]:
        lines = change.applied(text).splitlines()
        assert [number for number, (a, b) in enumerate(zip(text.splitlines(), lines, strict=True), 1) if a != b] == [change.line]


def test_of_kernels_the_host_code_of_the_base_image_is_changed() -> None:
    assert [line.strip() for number, line in enumerate(KERNELS.splitlines(), 1) if number in kernels.host_lines(KERNELS)] == [
        '#include "x.h"', "static int host(void)", "{", "kept();", "kept();", "}", "kept();"]
    for file in ("conformance/kernels/joins.cu", "conformance/kernels/joins_lanes.h"):
        lines = (places.ROOT / file).read_text(encoding="utf-8").splitlines()
        changes = kernels.changes(file)
        assert len(changes) > len(lines) and all(lines[change.line - 1] == change.old for change in changes)


def test_a_kernels_file_is_shown_to_the_tests_that_include_it() -> None:
    assert {"readback.cu", "readback_nodes.h", "graph_ask.h"} < kernels.included_by(kernels.TESTS / "readback_test.c")
    assert "joins.cu" not in kernels.included_by(kernels.TESTS / "readback_test.c") and len(kernels.HOST_TESTS) > 10


def test_only_the_asked_families_are_compared() -> None:
    asked = golden.questions({"joins"})
    assert set(asked) == {"model joins", "model:wait-some-blocks joins", "plan joins"} < set(golden.questions())
    assert {case.family for case in watched.cases({"joins", "nested", "handed"})} == {"joins", "nested"}


def test_the_same_seed_draws_the_same() -> None:
    changes = changes_of("x.c", C)
    assert choose(changes, 5, 1) == choose(changes, 5, 1) != choose(changes, 5, 2)
    assert choose(changes, 10**6, 1) == changes


CHANGES = [Change("x.c", 1, " a", " b"), Change("x.c", 2, " c", " d"), Change("x.c", 3, " e", " f")]


def test_a_survivor_needs_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    living = tmp_path / "living.toml"
    living.write_text('[[mutant]]\nfile = "x.c"\nold = "a"\nnew = "b"\nwhy = "because"\n[[mutant]]\nfile = "x.c"\nold = "e"\nwhy = "any"\n')
    (tmp_path / "x.c").write_text("a\n c\n")
    monkeypatch.setattr(trying, "Explained", lambda: Explained(living))
    monkeypatch.setattr(places, "ROOT", tmp_path)
    said = {1: None, 2: "a test", 3: None}
    assert trying.try_all(CHANGES, lambda change: said[change.line]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("3 changes: 1 noticed, 2 explained, 0 survived; 0 more") and second == "explained, and no longer there: x.c: e"
    said[2] = None
    assert trying.try_all(CHANGES, lambda change: said[change.line]) == 1
    assert trying.try_all(CHANGES, lambda _: "does not compile") == 1, "nothing was tried"
    assert capsys.readouterr().out.startswith("SURVIVED x.c:2: c  ->  d\n")
    said = {1: "does not compile", 2: "same machine code", 3: "a test"}
    assert trying.try_all(CHANGES, lambda change: said[change.line]) == 0
    assert "1 changes: 1 noticed, 0 explained, 0 survived; 2 more" in capsys.readouterr().out


def test_every_reason_is_of_a_line_that_is_there() -> None:
    explained = Explained()
    assert explained.entries and not explained.stale(places.ROOT)
    assert all(entry["why"] for entry in explained.entries)


def test_a_skipped_test_notices_nothing_and_stops_nothing() -> None:
    assert {code for code in (0, 77, 1, 2, -11) if passed(code, "test_x", "")} == {0, 77}
    with pytest.raises(InvalidRun, match="cannot run test_x: no such file"):
        passed(4, "test_x", "no such file")
