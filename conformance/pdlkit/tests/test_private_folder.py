"""Folders that only this user can write to, and what is compiled into them: what another user could have written is never used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.pdlkit import compiled, private_folder
from conformance.pdlkit.compiled import Recipe
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.private_folder import NAME, Unsafe, check_folder, locked, make_private, trusted_file
from conformance.pdlkit.toolchain import Tool, find_c_compiler

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
ANOTHER_USER = 12345


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder and an empty build folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folder, "BUILD", tmp_path / "build")
    tmp_path.chmod(0o700)
    return tmp_path / "cache"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_the_folder_is_closed_to_others_whatever_the_umask(cache: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        folder = private_folder.private_folder("x")
    finally:
        os.umask(old)
    assert folder == cache / NAME / "x"
    assert mode(folder) == mode(folder.parent) == 0o700
    assert not mode(cache) & 0o022


def test_an_open_folder_is_closed(cache: Path) -> None:
    (cache / NAME / "x").mkdir(parents=True)
    (cache / NAME / "x").chmod(0o777)
    assert mode(private_folder.private_folder("x")) == 0o700


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    (cache / NAME).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (cache / NAME / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unsafe, match="link"):
        check_folder(cache / NAME / "x")
    assert private_folder.private_folder("x") == tmp_path / "build/cache/x"


@as_root
def test_a_folder_of_another_user_is_not_used(cache: Path, tmp_path: Path) -> None:
    (cache / NAME).mkdir(parents=True, mode=0o700)
    os.chown(cache / NAME, ANOTHER_USER, ANOTHER_USER)
    with pytest.raises(Unsafe, match="belongs to another user"):
        make_private(cache / NAME)
    assert private_folder.private_folder("x") == tmp_path / "build/cache/x"


@as_root
def test_a_folder_inside_that_of_another_user_is_not_used(cache: Path) -> None:
    (cache / NAME).mkdir(parents=True, mode=0o700)
    os.chown(cache, ANOTHER_USER, ANOTHER_USER)
    with pytest.raises(Unsafe, match="in which it lies, belongs to another user"):
        make_private(cache / NAME)


def test_a_folder_that_others_can_rename_is_not_used(cache: Path) -> None:
    (cache / NAME).mkdir(parents=True, mode=0o700)
    cache.chmod(0o777)
    with pytest.raises(Unsafe, match="can be written by other users"):
        make_private(cache / NAME)
    cache.chmod(0o1777)  # as /tmp: others cannot rename what is ours
    make_private(cache / NAME)


def test_without_any_place_the_folder_lasts_as_long_as_the_process(tmp_path: Path) -> None:
    code = ("from pathlib import Path; from conformance.pdlkit import private_folder as p; p.BUILD = Path('/proc/none');"
            "folder = p.private_folder('x'); print(folder); assert folder.stat().st_mode & 0o777 == 0o700")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
                          env={**os.environ, "XDG_CACHE_HOME": "/proc/none", "TMPDIR": str(tmp_path)})
    folder = Path(done.stdout.strip())
    assert folder.is_relative_to(tmp_path) and not folder.exists() and not list(tmp_path.glob(f"{NAME}*"))
    assert "nothing is kept for the next time" in done.stderr


def test_a_relative_cache_folder_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert private_folder.private_folder("x") == tmp_path / ".cache" / NAME / "x"


@pytest.mark.parametrize("spoil", ["writable", "link", "second name", "folder"])
def test_a_file_that_others_could_have_written_is_not_trusted(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    path.chmod(0o600)
    assert trusted_file(path) == path
    if spoil == "writable":
        path.chmod(0o620)
    elif spoil == "second name":
        os.link(path, tmp_path / "other")
    else:
        path.rename(tmp_path / "other")
        path.symlink_to("other") if spoil == "link" else path.mkdir()
    assert trusted_file(path) is None


# what is compiled ----------------------------------------------------------------------------------------------------


@pytest.fixture
def compiler() -> Tool:
    found = find_c_compiler()
    if found is None:
        pytest.skip("needs a C compiler")
    return found


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    source = tmp_path / "answer.c"
    source.write_text("int main(void) { return 42; }\n")
    return Recipe("answer.bin", [source], ["-O1", source], "the answer")


def answer(path: Path) -> int:
    return subprocess.run([str(path)], check=False).returncode


def test_a_program_is_compiled_once(recipe: Recipe, compiler: Tool) -> None:
    assert compiled.ready(recipe, compiler) is None
    path = compiled.compiled(recipe, compiler)
    made = path.stat().st_mtime_ns
    assert compiled.compiled(recipe, compiler) == path == compiled.ready(recipe, compiler) == compiled.ready(recipe, None)
    assert path.stat().st_mtime_ns == made and mode(path) == 0o700 and answer(path) == 42
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([".lock", path.name, path.name + ".sha256"])


def test_arguments_for_gcc_are_for_gcc_only(compiler: Tool, tmp_path: Path) -> None:
    source = tmp_path / "answer.c"
    source.write_text("#ifndef ANSWER\n#define ANSWER 1\n#endif\nint main(void) { return ANSWER; }\n")
    recipe = Recipe("answer.bin", [source], [source], "the answer", gcc=("-DANSWER=42",))
    named = {name: Tool(name, compiler.path, compiler.version) for name in ("gcc", "clang")}
    assert {name: answer(compiled.compiled(recipe, tool)) for name, tool in named.items()} == {"gcc": 42, "clang": 1}
    assert compiled.ready(recipe, None) is not None, "found without a compiler"
    assert recipe.digest() != Recipe("answer.bin", [source], [source], "the answer").digest()


def test_a_gcc_that_cannot_use_the_arguments_for_it_compiles_without_them(compiler: Tool, tmp_path: Path) -> None:
    source = tmp_path / "answer.c"
    source.write_text("int main(void) { return 42; }\n")
    recipe = Recipe("answer.bin", [source], [source], "the answer", gcc=("-fno-such-argument",))
    assert answer(compiled.compiled(recipe, Tool("gcc", compiler.path, compiler.version))) == 42


EVIL = b"#!/bin/sh\nexit 66\n"


def test_the_same_sources_in_another_clone_are_not_compiled_again(compiler: Tool, tmp_path: Path) -> None:
    made = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "answer.h").write_text("#define ANSWER 42\n")
        source = folder / "answer.c"
        source.write_text("#include <answer.h>\nint main(void) { return ANSWER; }\n")
        recipe = Recipe("answer.bin", [source, folder / "answer.h"], ["-O1", "-I", folder, source], "the answer")
        made.add(compiled.compiled(recipe, compiler))
    assert len(made) == 1


@pytest.mark.parametrize("damage", ["truncated", "replaced", "without its record", "writable", "link"])
def test_what_is_damaged_is_compiled_again(recipe: Recipe, compiler: Tool, tmp_path: Path, damage: str) -> None:
    path = compiled.compiled(recipe, compiler)
    if damage == "truncated":
        os.truncate(path, 100)
    elif damage == "replaced":
        path.write_bytes(EVIL)
    elif damage == "without its record":
        path.with_name(path.name + ".sha256").unlink()
    elif damage == "writable":
        path.chmod(0o777)
    else:
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
    assert compiled.ready(recipe, compiler) is None
    assert compiled.compiled(recipe, compiler) == path and answer(path) == 42 and compiled.ready(recipe, compiler) == path


@as_root
def test_what_belongs_to_another_user_is_compiled_again(recipe: Recipe, compiler: Tool) -> None:
    path = compiled.compiled(recipe, compiler)
    os.chown(path, ANOTHER_USER, ANOTHER_USER)
    assert compiled.ready(recipe, compiler) is None
    compiled.compiled(recipe, compiler)
    assert path.stat().st_uid == os.geteuid()


def test_other_sources_flags_and_compilers_make_other_programs(recipe: Recipe, compiler: Tool, tmp_path: Path) -> None:
    paths = {compiled.compiled(recipe, compiler)}
    paths.add(compiled.compiled(Recipe("answer.bin", recipe.inputs, ["-O2", *recipe.inputs], "the answer"), compiler))
    wrapper = tmp_path / "cc"
    wrapper.write_text(f'#!/bin/sh\nexec {compiler.path} "$@"\n')
    wrapper.chmod(0o755)
    paths.add(compiled.compiled(recipe, Tool("gcc", wrapper, compiler.version)))
    wrapper.write_text(f'#!/bin/sh\nexec {compiler.path}  "$@"\n')  # an update of the same name and version
    paths.add(compiled.compiled(recipe, Tool("gcc", wrapper, compiler.version)))
    recipe.inputs[0].write_text("int main(void) { return 43; }\n")
    newest = compiled.compiled(recipe, compiler)
    assert len(paths | {newest}) == 5 and answer(newest) == 43


def test_what_does_not_compile_leaves_nothing(recipe: Recipe, compiler: Tool) -> None:
    recipe.inputs[0].write_text("int main(void) { return x; }\n")
    with pytest.raises(SetupImpossible, match="the answer does not compile with .*error:.*; set CC"):
        compiled.compiled(recipe, compiler)
    assert [p.name for p in private_folder.private_folder(compiled.FOLDER).iterdir()] == [".lock"]


def test_who_waits_says_for_what(tmp_path: Path) -> None:
    code = ("import sys; from pathlib import Path; from conformance.pdlkit.private_folder import locked\n"
            "with locked(Path(sys.argv[1]), 'building the harness'): print('held')")
    with locked(tmp_path, "reading"):
        other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert other.stderr is not None and other.stderr.readline() == "waiting for another process that is building the harness\n"
        time.sleep(0.2)
        assert other.poll() is None
    assert other.communicate()[0] == "held\n" and other.returncode == 0
