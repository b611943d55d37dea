"""Where programs of the CUDA Toolkit are looked for, and which one wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pdlkit import packages, toolkit


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine on which nothing names a toolkit, and PATH is one empty folder."""
    for name in ("CUDACXX", *toolkit.ROOTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(packages, "toolkit_root", lambda: None)
    return tmp_path


def put(folder: Path, name: str = "ptxas") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def below(root: Path, name: str = "ptxas") -> list[Path]:
    """What is found on this machine, without what the real one has in its usual folders."""
    return [path for path in toolkit.toolkit_programs(name) if path.is_relative_to(root)]


def test_what_is_named_goes_before_the_path_and_a_package_comes_last(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched, on_path, home = put(machine / "cu13" / "bin"), put(machine / "path"), put(machine / "home" / "bin")
    compiler = put(machine / "named", "nvcc")
    beside = put(machine / "named")
    assert below(machine) == [on_path]
    monkeypatch.setattr(packages, "toolkit_root", lambda: machine / "cu13")
    assert below(machine) == [on_path, fetched]
    monkeypatch.setenv("CUDA_HOME", str(machine / "home"))
    assert below(machine) == [home, on_path, fetched]
    monkeypatch.setenv("CUDACXX", str(compiler))
    assert below(machine) == [beside, home, on_path, fetched] and toolkit.toolkit_program("ptxas") == beside


def test_a_link_to_nvcc_on_the_path_leads_to_its_toolkit(machine: Path) -> None:
    put(machine / "toolkit" / "bin", "nvcc")
    inside = put(machine / "toolkit" / "bin")
    (machine / "path").mkdir()
    (machine / "path" / "nvcc").symlink_to(machine / "toolkit" / "bin" / "nvcc")
    assert below(machine) == [inside]


def test_a_file_that_cannot_be_started_is_passed_over(machine: Path) -> None:
    put(machine / "path").chmod(0o644)
    (machine / "path" / "nvcc").mkdir()
    assert below(machine) == [] == below(machine, "nvcc")
