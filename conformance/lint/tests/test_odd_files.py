"""Files that nobody meant to give lint: pipes, archives cut short or of odd members, names of every kind, tools that say half."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from conformance.lint import images
from conformance.lint.command import main
from conformance.lint.linter import DEFECT, Options, Report, lint_files
from conformance.lint.tests.conftest import ROOT
from conformance.pdlkit import cuda_programs as tools
from conformance.pdlkit.exits import SetupImpossible

COMMAND = [sys.executable, str(ROOT / "conformance"), "lint"]


def _judged(report: Report) -> list[str]:
    return [v.kernel for v in report.verdicts if v.judged]


def _said(report: Report) -> str:
    return "; ".join(message for _, message in report.unreadable)


def test_a_pipe_and_a_folder_are_refused_at_once(files: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    report = lint_files([tmp_path / "pipe", tmp_path, Path("a\0b"), files / "k.cubin"], Options())
    assert len(report.unreadable) == 3 and _judged(report) == ["early"]


@pytest.mark.parametrize("suffix", ["cubin", "ptx"])
def test_a_file_that_fits_into_no_memory(files: Path, tmp_path: Path, suffix: str) -> None:
    huge = tmp_path / "huge"
    huge.write_bytes((files / f"k.{suffix}").read_bytes())
    os.truncate(huge, 1 << 40)
    report = lint_files([huge, files / "k.cubin"], Options())
    assert str(1 << 40) in _said(report) and DEFECT not in _said(report) and _judged(report) == ["early"]


def test_code_for_other_architectures_only(files: Path) -> None:
    none = lint_files([files / "k.o"], Options(architectures=frozenset({100, 120})))
    assert _said(none) == "it holds no GPU code for sm_100, sm_120, only for sm_90" and not none.verdicts
    some = lint_files([files / "k.o"], Options(architectures=frozenset({90, 100})))
    assert _judged(some) == ["early"] and not some.unreadable


@pytest.mark.parametrize("name", ["-o", "@k", "a b\nc", "x" * 250, "\udcff\udcfe"])
@pytest.mark.parametrize("suffix", ["cubin", "o", "ptx"])
def test_names_of_every_kind(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, suffix: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes((files / f"k.{suffix}").read_bytes())
    report = lint_files([Path(name)], Options())
    assert _judged(report) == ["early"] and not report.unreadable


@pytest.mark.parametrize("form", ["--json", "--sarif", "--no-hints"])
def test_any_name_can_be_printed_anywhere(files: Path, tmp_path: Path, form: str) -> None:
    file = tmp_path / "\udcff ü\x1b[2J.cubin"
    file.write_bytes((files / "k.cubin").read_bytes())
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run([*COMMAND, form, str(file)], capture_output=True, env=environment)
    assert done.returncode == 1, done.stderr
    assert b"\x1b" not in done.stdout + done.stderr
    content: dict[str, Any] = json.loads(done.stdout.decode()) if form != "--no-hints" else {}
    for run in content.get("runs", ()):
        uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]]
        assert uris and all(re.fullmatch(r"[\w./%~-]+", uri, re.ASCII) for uri in uris)


def test_a_full_disk_behind_stdout(files: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "--json", str(files / "k.cubin")], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 69 and b"Traceback" not in done.stderr


def test_no_temporary_folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", none)
    with pytest.raises(SetupImpossible, match="TMPDIR"):
        lint_files([files / "k.cubin"], Options())


# archives ------------------------------------------------------------------------------------------------------------


def test_an_archive_cut_in_its_second_member(files: Path, tmp_path: Path) -> None:
    whole = (files / "k.a").read_bytes()
    cut = tmp_path / "cut.a"
    cut.write_bytes(whole + whole[8 : len(whole) // 2])
    report = lint_files([cut], Options())
    assert _judged(report) == ["early"] and "ends inside" in _said(report)


def test_an_archive_whose_first_object_is_broken(files: Path, tmp_path: Path) -> None:
    damaged = bytearray((files / "k.o").read_bytes())
    at = damaged.find(b"\x50\xed\x55\xba")
    damaged[at + 4 : at + 16] = b"\xff" * 12
    (tmp_path / "a.o").write_bytes(damaged)
    (tmp_path / "an-object-with-a-long-name.o").write_bytes((files / "k.o").read_bytes())
    subprocess.run(["ar", "qc", "all.a", "a.o", "an-object-with-a-long-name.o"], cwd=tmp_path, check=True)
    report = lint_files([tmp_path / "all.a"], Options())
    assert _judged(report) == ["early"] and "a.o: " in _said(report)


@pytest.mark.parametrize("suffix", ["cubin", "fatbin", "ptx", "a"])
def test_archive_members_that_cuobjdump_passes_by(files: Path, tmp_path: Path, suffix: str) -> None:
    subprocess.run(["ar", "qc", str(tmp_path / "odd.a"), str(files / "k.o"), str(files / f"k.{suffix}")], check=True)
    report = lint_files([tmp_path / "odd.a"], Options())
    assert _judged(report) == ["early", "early"] and not report.unreadable


def test_a_thin_archive_is_named_as_such(files: Path, tmp_path: Path) -> None:
    subprocess.run(["ar", "qcT", str(tmp_path / "thin.a"), str(files / "k.o")], check=True)
    assert "thin archive" in _said(lint_files([tmp_path / "thin.a"], Options()))


def test_two_fatbins_of_which_one_is_cut(files: Path, tmp_path: Path) -> None:
    whole = (files / "k.fatbin").read_bytes()
    (tmp_path / "k.fatbin").write_bytes(whole + whole[: len(whole) // 2])
    report = lint_files([tmp_path / "k.fatbin"], Options())
    assert _judged(report) == ["early"] and "not all of it" in _said(report)


# PTX -----------------------------------------------------------------------------------------------------------------


def test_ptx_as_others_write_it(files: Path, tmp_path: Path) -> None:
    text = (files / "k.ptx").read_text()
    head, separator, rest = text.partition(".target")
    forms = [text.replace("\n", "\r\n"), head.rstrip() + " " + separator + rest,
             head + "/* .target sm_50 */\n" + separator + rest,
             head + "// .target sm_50\n" + separator + rest]
    for form in forms:
        (tmp_path / "k.ptx").write_text(form, newline="")
        report = lint_files([tmp_path / "k.ptx"], Options())
        assert _judged(report) == ["early"] and not report.unreadable, form[:300]


# tools ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("filtered", "said"), [
    ("awk 'NR < 40'", "can read"),  # half of it
    ("sed 's/;$//'", "can read"),  # no line that lint understands
    ("sed 's/.text.early,/.text.other,/'", "nothing of early"),
    ("tr ' -~' '*'", "no code"),
])
def test_a_disassembler_that_says_half(
        files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filtered: str, said: str) -> None:
    false = tmp_path / "nvdisasm"
    false.write_text(f"#!/bin/sh\n'{tools.tool('nvdisasm')}' \"$@\" | {filtered}\n")
    false.chmod(0o755)
    monkeypatch.setattr("conformance.lint.disassembly.tool", lambda _: false)
    monkeypatch.setattr("conformance.lint.words.listings", lambda *_: {})  # it may know the words already
    report = lint_files([files / "k.cubin"], Options())
    assert said in _said(report) and not report.verdicts


def test_kinds_of_files_by_their_first_bytes() -> None:
    assert [images.kind_of_file(head) for head in (b"!<arch>\nx", b"!<thin>\nx", b"\x50\xed\x55\xbax", b"\x7fELF")] == [
        "container", "unknown", "fatbin", "unknown"]


def test_the_command_says_what_is_wrong_and_goes_on(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", str(tmp_path / "absent"), str(files / "k.cubin")]) == 1
    assert json.loads(capsys.readouterr().out)["unreadable"][0]["message"] == "No such file or directory"
