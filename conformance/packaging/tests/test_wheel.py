"""What the wheel says of itself agrees with the tree, and installed code writes nothing into its package."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from conformance.packaging import build_wheel as wheel
from conformance.packaging import manual
from conformance.pdlkit import places
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.venv import pins

PROJECT = tomllib.loads((places.ROOT / "pyproject.toml").read_text())


def test_the_version_is_the_header_s() -> None:
    version = PROJECT["tool"]["scikit-build"]["metadata"]["version"]
    found = re.search(version["regex"], (places.ROOT / version["input"]).read_text(), re.MULTILINE)
    assert found is not None
    assert version["result"].format(**found.groupdict()) == manual.version()
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", manual.version())


def test_what_is_declared_is_what_a_clone_fetches() -> None:
    assert PROJECT["project"]["dependencies"] == [*pins("disassemblers"), *pins("decompressors")]
    assert PROJECT["build-system"]["requires"] == pins("wheel")[:2]


def installed(folder: Path) -> Path:
    """The tree as the wheel lays it, with a program of a name that lint looks for."""
    tree = folder / "site" / "pdl_conformance" / "tree"
    shutil.copytree(places.ROOT / "conformance" / "packaging" / "wheel" / "pdl_conformance", tree.parent)
    for name in ("pdl.h", "pdl_device.cuh"):
        tree.mkdir(exist_ok=True)
        shutil.copy(places.ROOT / name, tree)
    shutil.copytree(
        places.KIT, tree / "conformance", ignore=shutil.ignore_patterns("tests", "results", "__pycache__", "corpus", "third_party")
    )
    (tree / "prebuilt").mkdir()
    (tree / "prebuilt" / "pdl-lint-reader.so").write_bytes(b"")  # pip installs a library without the right to execute it
    program = tree / "prebuilt" / "pdl-lint-analysis"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tree


def pdl(tree: Path, home: Path, *arguments: str, code: str | None = None) -> subprocess.CompletedProcess[str]:
    """The installed command, or a line of Python there."""
    words = ["-c", code] if code else ["-m", "pdl_conformance", *arguments]
    environment = {"PYTHONPATH": str(tree.parents[1]), "HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True)


def files(folder: Path) -> set[Path]:
    """Every file below."""
    return {path for path in folder.rglob("*") if path.is_file()}


def test_installed_it_is_called_pdl_and_writes_nothing_into_the_package(tmp_path: Path) -> None:
    tree, home = installed(tmp_path), tmp_path / "home"
    home.mkdir()
    before = files(tree)
    said = pdl(tree, home, "--help")
    assert said.returncode == 0 and said.stdout.startswith("usage: pdl COMMAND") and "\n  test " not in said.stdout
    assert "pdl diff [-h]" in pdl(tree, home, "diff", "--help").stdout
    assert pdl(tree, home, "list", "WAIT-01").returncode == 0
    assert pdl(tree, home, "test").returncode == 64
    where = pdl(
        tree,
        home,
        code="import sys; from pdl_conformance import TREE; sys.path.insert(0, str(TREE))\n"
        "from conformance.pdlkit import places; from conformance.lint import analyser\n"
        "print(places.BUILD, places.REPORTS, analyser.program(), places.prebuilt('pdl-lint-reader.so'), sep='\\n')",
    ).stdout.splitlines()
    assert where[0].startswith(str(home / ".cache" / "pdl-conformance")) and where[1] == str(home / "pdl-reports")
    assert where[3] == str(tree / "prebuilt" / "pdl-lint-reader.so")
    assert where[2] == str(tree / "prebuilt" / "pdl-lint-analysis")
    assert files(tree) == before and files(home) == set()


def test_installed_doctor_asks_for_no_build_tools(tmp_path: Path) -> None:
    """A machine without CMake and compiler runs what the package brings along; without the harness the same machine runs nothing."""
    tree, home = installed(tmp_path), tmp_path / "home"
    home.mkdir()
    harness = tree / "prebuilt" / "pdl-harness-model"
    code = "import sys; from pdl_conformance.__main__ import main; sys.argv[1:] = ['doctor', '--json']; sys.exit(main())"
    for present in (True, False):
        harness.write_text("#!/bin/sh\n")
        harness.chmod(0o755 if present else 0o644)
        environment = {"PYTHONPATH": str(tree.parents[1]), "HOME": str(home), "PATH": str(home)}
        done = subprocess.run([sys.executable, "-c", code], cwd=home, env=environment, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        assert (done.returncode == 0) is answer["model"] is present
        assert any("CMake" in line for line in answer["advice"]) is not present


def test_in_a_clone_nothing_is_prebuilt() -> None:
    assert not places.INSTALLED and places.BUILD == places.ROOT / "build" and places.prebuilt("pdl-lint-analysis") is None


def test_every_command_is_written_about() -> None:
    commands = importlib.import_module(manual._ENTRY).COMMANDS
    text = manual.whole(commands).format_help()
    for name, (module, what) in commands.items():
        if name in manual._WITHOUT_PARSER:
            continue
        assert name in text and what.split()[0] in text
        parser = manual.parser_of(module)
        assert parser is None or parser.format_help().startswith("usage: ")
    assert manual.parser_of("conformance.reports.diff") is not None


def test_a_wheel_without_a_tag_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty-1.0-py3-none-any.whl"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("empty/__init__.py", "")
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho nothing about a tag\n")
    fake.chmod(0o755)
    with pytest.raises(SetupImpossible, match="names no manylinux tag"):
        wheel.true_tag(fake, empty, "x86_64")
