"""Build tools from packages: what is said when they cannot be had, and what is made of them when they can."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from conformance.pdlkit import packages, private_folder
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.venv import PipFailed


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder, and no package to be had."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folder, "BUILD", tmp_path / "build")
    monkeypatch.setattr(packages, "complete_venv", lambda _name: None)
    tmp_path.chmod(0o700)

    def refuse(name: str) -> Path:
        raise PipFailed(name, "noise / ERROR: no index")

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
    monkeypatch.setattr(packages, "complete_venv", lambda _name: build)
    root = build / "lib" / "python3.11" / "site-packages" / "nvidia" / "cu13"
    (root / "lib").mkdir(parents=True)
    assert packages.toolkit_root() is None
    monkeypatch.setattr(packages, "ensure_venv", lambda _name: build)
    assert packages.make_toolkit(None) == root == packages.toolkit_root()
    assert (root / "lib64").resolve() == root / "lib" and (root / "lib" / "libcudart.so").is_symlink()
    packages.complete_toolkit(root)  # again, without harm


HEADER = b"/* xxhash.h */"


@pytest.fixture
def archive(build: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip brings an archive that carries HEADER."""
    def download(_python: Path, argv: list[str], _name: str, _environment: dict[str, str]) -> None:
        with tarfile.open(Path(argv[argv.index("--dest") + 1], "xxhash-3.5.0.tar.gz"), "w:gz") as opened:
            entry = tarfile.TarInfo("xxhash-3.5.0/deps/xxhash/xxhash.h")
            entry.size = len(HEADER)
            opened.addfile(entry, io.BytesIO(HEADER))

    monkeypatch.setattr(packages, "pip_python", lambda: Path("python3"))
    monkeypatch.setattr(packages, "run_pip", download)
    monkeypatch.setattr(packages, "XXHASH_DIGEST", hashlib.sha256(HEADER).hexdigest())
    return build


def test_xxhash_comes_out_of_the_source_archive(archive: Path) -> None:
    folder = packages.make_xxhash()
    assert (folder / "xxhash.h").read_bytes() == HEADER
    assert packages.make_xxhash() == folder == packages.xxhash_folder()
    assert sorted(path.name for path in folder.parent.iterdir()) == [".lock", "xxhash"]


def test_a_header_that_was_changed_is_fetched_again(archive: Path) -> None:
    header = packages.make_xxhash() / "xxhash.h"
    header.write_bytes(b"#error changed")
    assert packages.xxhash_folder() is None
    assert packages.make_xxhash() == header.parent and header.read_bytes() == HEADER


def test_an_archive_with_another_header_is_refused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "XXHASH_DIGEST", "0" * 64)
    with pytest.raises(SetupImpossible, match="does not carry the xxhash.h that is expected"):
        packages.make_xxhash()


def test_a_failed_download_of_xxhash_says_where_to_put_it(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise PipFailed("xxhash", "no route")

    monkeypatch.setattr(packages, "pip_python", lambda: Path("python3"))
    monkeypatch.setattr(packages, "run_pip", fail)
    with pytest.raises(SetupImpossible) as caught:
        packages.make_xxhash()
    for word in ("no route", "libxxhash-dev", "XXHASH_INCLUDE_DIR"):
        assert word in str(caught.value)
    assert packages.xxhash_folder() is None
