"""The digest that ties a recorded result to the judged code."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.pdlkit import sources
from conformance.pdlkit.places import ROOT

C = '#define A 1 /* one */\nint f(void) { return A; } // "f"\nconst char *s = "a  /* b */", c = \'x\';\n'
PYTHON = '"""Judges."""\nimport json\n\ndef f(x):\n    """Says."""\n    assert x\n    return x > 2  # two\n'
TOML = '[[rule]]\nid = "A"\nclass = "derived"\ntext = "one"\n'


def digest() -> str:
    """Of the files as they are now: a run asks once and keeps the answer."""
    sources.digest.cache_clear()
    return sources.digest()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "harness").mkdir()
    for name, text in (("harness/main.c", C), ("verdicts.py", PYTHON), ("rules.toml", TOML)):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(sources, "JUDGED", ("harness", "verdicts.py", "rules.toml"))
    monkeypatch.setattr(sources, "BUILD", tmp_path / "build")
    yield tmp_path
    sources.digest.cache_clear()


@pytest.mark.parametrize(("name", "old", "new"), [
    ("harness/main.c", "/* one */", "/* two\n lines */"), ("harness/main.c", '// "f"', "// it's"),
    ("harness/main.c", "{ return", "{\n\n  return"),
    ("verdicts.py", "# two", "# three"), ("verdicts.py", "Says.", "Tells."), ("verdicts.py", "import json", "import re"),
    ("rules.toml", '"one"', '"two"'), ("rules.toml", "[[rule]]", "# a comment\n[[rule]]")])
def test_comments_layout_and_prose_change_nothing(tree: Path, name: str, old: str, new: str) -> None:
    before, text = digest(), (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))
    assert digest() == before


@pytest.mark.parametrize(("name", "old", "new"), [
    ("harness/main.c", "A 1", "A 2"), ("harness/main.c", "a  /*", "a /*"), ("harness/main.c", "/* b */", "/* c */"),
    ("harness/main.c", "#define A 1 /* one */\nint", "#define A 1 int"),
    ("harness/main.c", "'x'", "'y'"),
    ("verdicts.py", "> 2", ">= 2"), ("verdicts.py", "assert x", "assert not x"), ("rules.toml", "derived", "measured")])
def test_what_decides_changes_the_digest(tree: Path, name: str, old: str, new: str) -> None:
    before, text = digest(), (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))
    assert digest() != before


def test_the_digest_is_worked_out_once_for_the_same_files(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    with monkeypatch.context() as patch:
        patch.setattr(sources, "digest_of", lambda files: pytest.fail("it is kept"))
        assert digest() == before
    (tree / "verdicts.py").write_text(PYTHON.replace("> 2", ">= 2"))
    assert digest() != before


def test_another_way_to_work_it_out_is_not_answered_by_what_was_kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, other = digest(), tree / "sources.py"
    monkeypatch.setattr(sources, "digest_of", lambda files: "0123456789abcdef")
    other.write_bytes(Path(sources.__file__).read_bytes())
    monkeypatch.setattr(sources, "__file__", str(other))
    assert digest() == before
    other.write_bytes(other.read_bytes() + b"\n")
    assert digest() == "0123456789abcdef"


@pytest.mark.parametrize("damage", ["other digest", "cut", "not text", "writable by others", "a link", "a folder", "folder of others"])
def test_what_was_kept_is_not_believed_if_it_is_damaged_or_others_could_have_written_it(tree: Path, damage: str) -> None:
    before, kept = digest(), tree / "build" / "cache" / "sources" / "digest"
    read = kept.read_text().split()[0]
    kept.write_text(f"{read} 0123456789abcdef\n")
    assert digest() == "0123456789abcdef", "the file is where this test takes it to be"
    if damage in ("cut", "not text", "other digest"):
        kept.write_bytes({"cut": f"{read} 0123".encode(), "not text": b"\xff", "other digest": b"0" * 64 + b" 0123456789abcdef\n"}[damage])
    elif damage == "writable by others":
        kept.chmod(0o666)
    elif damage == "a link":
        kept.symlink_to(kept.rename(tree / "moved"))
    elif damage == "a folder":
        kept.unlink()
        kept.mkdir()
    else:
        kept.parent.rename(tree / "elsewhere")
        kept.parent.symlink_to(tree / "elsewhere")
    assert digest() == before


def test_a_moved_file_is_the_same_and_an_added_one_is_not(tree: Path) -> None:
    before = digest()
    (tree / "harness" / "deeper").mkdir()
    (tree / "harness" / "main.c").rename(tree / "harness" / "deeper" / "other.c")
    assert digest() == before
    (tree / "harness" / "tests").mkdir()
    (tree / "harness" / "tests" / "test.c").write_text("int x;")
    assert digest() == before, "what no device runs does not judge"
    (tree / "harness" / "new.c").write_text(C)
    assert digest() != before, "also where it says what another one says"


KINDS = (".c", ".h", ".cu", ".cuh", ".py", ".toml")


def code_below(*folders: str) -> set[str]:
    """Files of these kinds, found as the code under test does not look for them; without what tests and what only the model runs."""
    found = set[str]()
    for folder in folders:
        for place, below, names in os.walk(ROOT / folder):
            below[:] = [name for name in below if name not in ("tests", "on_model")]
            found |= {Path(place, name).relative_to(ROOT).as_posix() for name in names if name.endswith(KINDS)}
    return found


def test_nothing_that_judges_is_left_out() -> None:
    """Else --resume, soak, submit and replay would take the records of other code for those of this."""
    programs = code_below("conformance/harness", "conformance/kernels")
    assert {"conformance/harness/main.c", "conformance/kernels/given.cu", "conformance/kernels/given_moves.h"} <= programs
    assert {path.relative_to(ROOT).as_posix() for path in sources.judged_files(ROOT)} == programs | {
        "pdl.h", "pdl_device.cuh", "conformance/rules.toml", "conformance/pdlkit/generate_cases.py", "conformance/pdlkit/records.py",
        "conformance/pdlkit/rules.py", "conformance/pdlkit/supervise.py", "conformance/pdlkit/verdicts.py"}


@pytest.mark.parametrize("suffix", KINDS)
def test_a_file_of_every_kind_is_read(tmp_path: Path, suffix: str) -> None:
    file, said = tmp_path / f"judging{suffix}", set[str]()
    for text in ("x = 1", "x = 2"):
        file.write_text(text)
        said.add(sources.digest_of([file]))
    assert len(said) == 2 and sources.digest_of([]) not in said


def keys_of(value: object) -> set[str]:
    """Every key of a TOML value."""
    if isinstance(value, dict):
        return set(value) | keys_of(list(value.values()))
    return {key for entry in value for key in keys_of(entry)} if isinstance(value, list) else set()


def test_of_the_rule_book_only_prose_is_left_out(tmp_path: Path) -> None:
    file, left_out = tmp_path / "rules.toml", set[str]()
    for key in keys_of(tomllib.loads((ROOT / "conformance" / "rules.toml").read_text())):
        said = set[str]()
        for value in ("one", "two"):
            file.write_text(f'[[rule]]\n{key} = "{value}"\n')
            said.add(sources.digest_of([file]))
        left_out |= {key} if len(said) == 1 else set()
    assert left_out == {"note", "source", "text", "untestable", "no_device"}


def test_only_reports_are_compared(tmp_path: Path) -> None:
    for name, suite in (("a", {"sources": "0123456789abcdef"}), ("b", {})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": "pdl-report/1", "suite": suite}))
    (tmp_path / "c.json").write_text("[1]")
    (tmp_path / "d.json").write_text("{")
    assert sources.recorded(tmp_path) == [("a.json", "0123456789abcdef"), ("b.json", None), ("d.json", None)]


@pytest.mark.parametrize("made_by", sources.EARLIER)
def test_an_earlier_commit_has_the_code_that_a_record_names(made_by: str, tmp_path: Path) -> None:
    assert made_by in {digest for _, digest in sources.recorded()}, "no record is of it any more: it can go"
    got = subprocess.run(["git", "archive", "--format=zip", f"--output={tmp_path / 'tree.zip'}", sources.EARLIER[made_by], *sources.JUDGED],
                         cwd=ROOT, capture_output=True)
    if got.returncode != 0:
        pytest.skip("this copy of the tree has no such commit")
    with zipfile.ZipFile(tmp_path / "tree.zip") as file:
        file.extractall(tmp_path)
    assert sources.digest_of(sources.judged_files(tmp_path)) == made_by
