"""--output: nothing that the user owns is removed, cut or written through."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.output_folder import MARK, claim, forget
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
