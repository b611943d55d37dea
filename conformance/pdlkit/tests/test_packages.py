"""Build tools from packages: what is said when they cannot be had, and what is made of them when they can."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from conformance.pdlkit import packages
from conformance.pdlkit.exits import SetupImpossible


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty build folder, and no package to be had."""
    monkeypatch.setattr(packages, "BUILD", tmp_path)
    monkeypatch.setattr(packages, "venv_place", lambda pins: tmp_path / "venv" / str(len(pins)))

    def refuse(_pins: object) -> Path:
        raise SetupImpossible("the Python packages a could not be installed (noise / ERROR: no index). With a network they are")

    monkeypatch.setattr(packages, "ensure_venv", refuse)
    return tmp_path


@pytest.mark.parametrize(("driver", "words"), [
    (11080, "install a newer driver"), (12000, "install CUDA Toolkit 12.3,"), (12040, "install CUDA Toolkit 12.4,"),
    (12090, "install CUDA Toolkit 12.9,"), (12100, "install CUDA Toolkit 12.10,"),
])
def test_an_older_driver_is_told_its_toolkit(driver: int, words: str, build: Path) -> None:
    with pytest.raises(SetupImpossible, match=words):
        packages.make_toolkit(driver)


@pytest.mark.parametrize("driver", [None, 13000, 13020])
def test_without_a_network_the_sentence_says_what_to_install_where(driver: int | None, build: Path) -> None:
    with pytest.raises(SetupImpossible) as caught:
        packages.make_toolkit(driver)
    for word in ("CUDA Toolkit", "12.3 or newer", "CUDA_HOME", "PDL_WHEELS", "pip failed: no index"):
        assert word in str(caught.value)
    assert "noise" not in str(caught.value)


def test_ninja_without_a_network_names_the_debian_package(build: Path) -> None:
    with pytest.raises(SetupImpossible, match="ninja-build.*PDL_WHEELS.*pip failed: no index"):
        packages.make_ninja()


def test_a_toolkit_of_packages_is_found_only_when_complete(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = packages.venv_place(packages.TOOLKIT) / "lib" / "python3.11" / "site-packages" / "nvidia" / "cu13"
    (root / "lib").mkdir(parents=True)
    assert packages.toolkit_root() is None
    monkeypatch.setattr(packages, "ensure_venv", lambda _pins: build)
    assert packages.make_toolkit(None) == root == packages.toolkit_root()
    assert (root / "lib64").resolve() == root / "lib" and (root / "lib" / "libcudart.so").is_symlink()
    packages.complete_toolkit(root)  # again, without harm


def test_xxhash_comes_out_of_the_source_archive(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(argv: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        with tarfile.open(Path(argv[argv.index("--dest") + 1], "xxhash-3.5.0.tar.gz"), "w:gz") as archive:
            entry = tarfile.TarInfo("xxhash-3.5.0/deps/xxhash/xxhash.h")
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"/**"))
        return subprocess.CompletedProcess(argv, 0, "", "")

    monkeypatch.setattr(packages, "_pip", lambda: build)
    monkeypatch.setattr(packages.subprocess, "run", download)
    assert (packages.make_xxhash() / "xxhash.h").read_bytes() == b"/**"
    assert packages.make_xxhash() == packages.xxhash_folder()


def test_a_failed_download_of_xxhash_says_where_to_put_it(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_pip", lambda: build)
    monkeypatch.setattr(packages.subprocess, "run", lambda argv, **_more: subprocess.CompletedProcess(argv, 1, "", "no route\n"))
    with pytest.raises(SetupImpossible) as caught:
        packages.make_xxhash()
    for word in ("no route", "libxxhash-dev", "XXHASH_INCLUDE_DIR"):
        assert word in str(caught.value)
    assert packages.xxhash_folder() is None
