"""The digest that ties a recorded result to the judged code."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.pdlkit import sources
from conformance.pdlkit.places import ROOT

C = '#define A 1 /* one */\nint f(void) { return A; } // "f"\nconst char *s = "a  /* b */";\n'
PYTHON = '"""Judges."""\nimport json\n\ndef f(x):\n    """Says."""\n    return x > 2  # two\n'
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
    ("verdicts.py", "> 2", ">= 2"), ("rules.toml", "derived", "measured")])
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
    (tree / "harness" / "new.c").write_text("int x;")
    assert digest() != before


def test_every_judged_place_exists() -> None:
    assert all((ROOT / name).exists() for name in sources.JUDGED)


def test_only_reports_are_compared(tmp_path: Path) -> None:
    for name, suite in (("a", {"sources": "0123456789abcdef"}), ("b", {})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": "pdl-report/1", "suite": suite}))
    (tmp_path / "c.json").write_text("[1]")
    assert sources.recorded(tmp_path) == [("a.json", "0123456789abcdef"), ("b.json", None)]


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
