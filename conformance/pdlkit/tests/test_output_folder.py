"""--output: nothing that the user owns is removed, cut or written through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.output_folder import MARK, claim, forget, in_one_step
from conformance.pdlkit.tests.kit_runs import run_fake

CASE = ("--only", "ATTR-05")


def test_a_new_an_empty_and_an_own_folder_are_taken(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert run_fake(folder, {}, *CASE).code == 0
    assert (folder / MARK).is_file()
    (folder / "notes.txt").write_text("mine")
    (folder / "repro_mine.cu").write_text("mine")
    (folder / "repro.cu").write_text("of an earlier run")
    assert run_fake(folder, {}, *CASE).code == 0
    assert (folder / "notes.txt").read_text() == (folder / "repro_mine.cu").read_text() == "mine" and not (folder / "repro.cu").exists()


@pytest.mark.parametrize("name", ["notes.txt", "records.jsonl", "report.json", "repro.cu", "images/0123456789abcdef.cubin"])
def test_a_folder_with_files_of_others_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    ran = run_fake(tmp_path / "out", {}, *CASE)
    assert ran.code == 64 and "this command did not make" in ran.err and path.read_text() == "mine"
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == [path]


@pytest.mark.parametrize("name", ["records.jsonl", "families.jsonl", "report.json", "repro.cu", "images"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_is_written_through_a_link_or_a_pipe(kind: str, name: str, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir() if name == "images" else target.write_text("mine")
    if name == "images":
        (target / "0123456789abcdef.cubin").write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    claim(folder)
    (folder / name).symlink_to(target) if kind == "link" else os.mkfifo(folder / name)
    ran = run_fake(folder, {}, *CASE)
    assert ran.code == 64 and name in ran.err
    assert (target / "0123456789abcdef.cubin" if name == "images" else target).read_text() == "mine"


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_an_empty_name_is_refused(text: str, tmp_path: Path) -> None:
    from conformance.pdlkit import run

    with pytest.raises(BadArguments, match="--output"):
        run.parser().parse_args(["--output", text])


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ran = run_fake(tmp_path / "out", {}, *CASE)
    assert ran.code == 64 and (tmp_path / "out").read_text() == "mine"


def test_only_names_that_the_kit_gives_are_removed(tmp_path: Path) -> None:
    gone = ["report.json", "report.html", "repro.cu", "repro-WAIT-01.store.widened.stream.cu", "images/0123456789abcdef.cubin"]
    kept = ["repro_x.cu", "repro.cu.bak", "images/mine.cubin", "other/report.json", "report.json.old"]
    for name in [*gone, *kept]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    forget(tmp_path)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)


def test_a_file_is_kept_until_the_new_one_is_whole(tmp_path: Path) -> None:
    kept, link = tmp_path / "baseline.json", tmp_path / "link"
    kept.write_text("mine")
    kept.chmod(0o640)
    link.symlink_to(kept)
    with pytest.raises(OSError, match="full"), in_one_step(kept) as draft:
        draft.write_text("half of")
        raise OSError("the disk is full")
    assert kept.read_text() == "mine" and {path.name for path in tmp_path.iterdir()} == {"baseline.json", "link"}
    with in_one_step(link) as draft:
        draft.write_text("new")
    assert kept.read_text() == "new" and kept.stat().st_mode & 0o777 == 0o640 and link.is_symlink()


def test_what_is_no_plain_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with in_one_step(pipe) as place:
        place.write_text("through")
    assert os.read(reader, 100) == b"through" and [path.name for path in tmp_path.iterdir()] == ["pipe"]
    os.close(reader)


@pytest.mark.parametrize("what", ["lint.command", "lint.baseline"])
def test_lint_loses_no_file_to_a_full_disk(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kept"
    file.write_text("mine")

    def full(path: Path, text: str, **_: object) -> int:
        with path.open("w") as opened:
            opened.write(text[:1])
        raise OSError(28, "No space left on device")

    def until_full() -> Iterator[str]:
        yield "n"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    module = import_module(f"conformance.{what}")
    with pytest.raises(SetupImpossible, match="No space left"):
        module._write(str(file), until_full()) if what == "lint.command" else module.write(file, [])
    assert file.read_bytes() == b"mine"
