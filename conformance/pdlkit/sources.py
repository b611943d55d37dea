"""Ties a recorded result to the code that judged, also where the tree was copied without its history.

The digest covers what decides a verdict: the headers, the harness, the kernels, the rules, and the Python that turns records
into verdicts. It does not depend on where a file lies or what it is called, nor on comments, layout, docstrings and prose.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from conformance.pdlkit.places import BUILD, KIT, ROOT
from conformance.pdlkit.private_folder import Unsafe, draft_of, make_private, trusted_file
from conformance.pdlkit.read_report import Unreadable, read_json

# What is covered. Programs that only measure or test stand elsewhere, or in one of the folders below.
JUDGED = ("pdl.h", "pdl_device.cuh", "conformance/rules.toml", "conformance/harness", "conformance/kernels",
          "conformance/pdlkit/generate_cases.py", "conformance/pdlkit/records.py", "conformance/pdlkit/rules.py",
          "conformance/pdlkit/supervise.py", "conformance/pdlkit/verdicts.py")
NOT_JUDGED = {"tests", "on_model"}
# Judged code of earlier commits that recorded results are still of: its digest, and a commit that has it.
EARLIER = {"14480acf573ffb69": "fac34fc3f88df78f50b478487f652b26796ed31d",
           "21635164079faef2": "f48ad51085198f60d45a61217628b4d9d32b02b3",
           "cc736a40ab64a2b6": "31fb9c4b6371e2029c84980addad1f8f31160b41"}
PROSE = {"note", "source", "text", "untestable", "no_device"}  # keys of rules.toml that people read and nothing evaluates
_C_TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\s{2,}|[^\S \n]""", re.DOTALL)


def _c(text: str) -> str:
    """C without comments and layout; only a preprocessor directive keeps its line."""
    def short(match: re.Match[str]) -> str:
        token = match.group()
        if token[0] in "\"'":
            return token
        return "\n" if token.isspace() and "\n" in token else " "

    bare = _C_TOKEN.sub(short, _C_TOKEN.sub(short, text.replace("\\\n", " ")))  # twice: a comment leaves a space beside others
    lines = (line.strip() for line in bare.split("\n"))
    return "".join(f"\n{line}\n" if line.startswith("#") else f"{line} " if line else "" for line in lines)


class _Silent(ast.NodeTransformer):
    """Drops imports, which name places, and docstrings."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def _dumped(value: object) -> str:
    """A syntax tree as text, the same from every version of Python: ast.dump changes with it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_dumped, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = [f"{name}={_dumped(part)}" for name in value._fields
              if not ((part := getattr(value, name, None)) is None and getattr(type(value), name, ...) is None)]
    if isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and "type_params" not in value._fields:
        fields.append("type_params=[]")  # a field since Python 3.12
    return f"{type(value).__name__}({', '.join(fields)})"


def _python(text: str) -> str:
    return _dumped(_Silent().visit(ast.parse(text)))


def _toml(text: str) -> str:
    def kept(value: object) -> object:
        if isinstance(value, dict):
            return {key: kept(entry) for key, entry in value.items() if key not in PROSE}
        return [kept(entry) for entry in value] if isinstance(value, list) else value

    return json.dumps(kept(tomllib.loads(text)), sort_keys=True, default=str)


_READERS = {".toml": _toml, ".py": _python, ".c": _c, ".h": _c, ".cu": _c, ".cuh": _c}


def judged_files(root: Path) -> Iterator[Path]:
    """Of the tree that lies there."""
    for name in JUDGED:
        place = root / name
        for path in [place] if place.is_file() else place.rglob("*"):
            if path.is_file() and path.suffix in _READERS and not NOT_JUDGED.intersection(path.relative_to(root).parts):
                yield path


def digest_of(files: Iterable[Path]) -> str:
    """16 hexadecimal digits over what each of these files says; files that are neither C, CUDA, Python nor TOML are left out."""
    said = (_READERS[path.suffix](path.read_text(encoding="utf-8")) for path in files if path.suffix in _READERS)
    return hashlib.sha256("".join(sorted(hashlib.sha256(text.encode()).hexdigest() for text in said)).encode()).hexdigest()[:16]


@cache
def digest() -> str:
    """Of the judged files; read once, so one run names one state of the sources."""
    files = sorted(judged_files(ROOT))
    parts = [Path(__file__).read_bytes(), *(path.suffix.encode() + b"\0" + path.read_bytes() for path in files)]
    read = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    try:
        return _kept(make_private(make_private(BUILD / "cache") / "sources") / "digest", read, files)
    except (OSError, ValueError, Unsafe):
        return digest_of(files)


def _kept(place: Path, read: str, files: Iterable[Path]) -> str:
    """The digest as an earlier run kept it, if it had read these very bytes; else it is worked out, which takes longer than all else
    that a short run does, and kept."""
    before, _, said = (place.read_text(encoding="ascii") if trusted_file(place) else "").strip().partition(" ")
    if before == read and re.fullmatch("[0-9a-f]{16}", said):
        return said
    said = digest_of(files)
    with draft_of(place) as draft:
        draft.write_text(f"{read} {said}\n", encoding="ascii")
    return said


def recorded(folder: Path = KIT / "results") -> list[tuple[str, str | None]]:
    """Name and source digest of every recorded report; None: it was recorded before reports had one, or cannot be read."""
    found = list[tuple[str, str | None]]()
    for path in sorted(folder.glob("*.json")):
        try:
            data = read_json(path)
        except Unreadable:
            found.append((path.name, None))
            continue
        if isinstance(data, dict) and data.get("schema") == "pdl-report/1":
            suite = data.get("suite")
            made_by = suite.get("sources") if isinstance(suite, dict) else None
            found.append((path.name, made_by if isinstance(made_by, str) else None))
    return found
