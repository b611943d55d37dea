"""Imports run one way: tools use the shared rooms, pdlkit uses no tool, no tool uses the insides of another, and none run in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from conformance.pdlkit.places import KIT, ROOT

SHARED = {"pdlkit", "rewrite"}  # rewrite: the one rewriter of machine code, which several tools call
# Rooms that may import from another room. Everything else may import from its own room and from the shared ones only.
ALLOWED = {
    "headers": {"packaging"}, "packaging": {"headers"},  # both test the two headers
    "harness": {"model"},  # the harness's own tests run it on the model
    "mutation": {"model"},  # shows a changed harness to its recorded answers
}
ENTRY_POINTS = {"conformance.__main__", "conformance.dev"}  # they import commands by name, when called


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _sources() -> dict[str, Path]:
    return {_module(path): path for path in sorted(KIT.rglob("*.py"))}


def _imports(path: Path, known: set[str], top_level_only: bool) -> set[str]:
    """The modules of this tree that the file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes: Iterable[ast.AST] = tree.body if top_level_only else ast.walk(tree)
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {name if (name := f"{node.module}.{alias.name}") in known else node.module for alias in node.names}
    return {name for name in found if name.partition(".")[0] == "conformance"}


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _crossings(sources: dict[str, Path]) -> list[str]:
    """Imports that leave their room for another than pdlkit; tests may use what their room may, and pdlkit's tests the fake harness."""
    wrong = []
    for module, path in sources.items():
        if module in ENTRY_POINTS:
            continue
        room = _room(module)
        for name in sorted(_imports(path, set(sources), top_level_only=False)):
            target = _room(name)
            allowed = {room, "pdlkit"} | (SHARED if room not in SHARED else set()) | ALLOWED.get(room, set())
            if name not in ENTRY_POINTS and target not in allowed:
                wrong.append(f"{module} imports {name}")
    return wrong


def test_imports_run_one_way() -> None:
    assert _crossings(_sources()) == []


def test_no_modules_import_in_a_circle() -> None:
    sources = _sources()
    graph = {module: _imports(path, set(sources), top_level_only=True) & set(sources) - {module} for module, path in sources.items()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_crossing_is_noticed(tmp_path: Path) -> None:
    sources = _sources()
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from conformance.lint import linter\n")
    assert _crossings({**sources, "conformance.pdlkit.bad": bad}) == ["conformance.pdlkit.bad imports conformance.lint.linter"]
