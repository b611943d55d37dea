"""The first version of `dev mutate-kit`, which conformance/mutation replaced; nothing calls it any more.

It stays until the next recording, because the digest that ties the recorded reports to their code covers this folder.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.model import golden
from conformance.pdlkit import places
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, InvalidRun, KitExit

C_FILES = tuple(f"conformance/harness/{name}.c" for name in (
    "ask", "batch", "judge", "oracle", "part", "plan", "run_case", "tally", "variants", "programs/program_draw", "programs/program_judge"))
C_TESTS = ("oracle_test", "judge_test", "tally_test", "batch_test", "decisions_test")
PYTHON_FILES = {
    "conformance/pdlkit/verdicts.py": ("test_verdicts", "test_waivers"),
    "conformance/pdlkit/waivers.py": ("test_waivers",),
    "conformance/pdlkit/records.py": ("test_records", "test_verdicts"),
    "conformance/pdlkit/resume.py": ("test_resume",),
    "conformance/pdlkit/supervise.py": ("test_run", "test_supervise"),
    "conformance/pdlkit/axes.py": ("test_axes",),
}
LIVING = places.KIT / "harness" / "mutants_that_live.toml"
TEST_S = 600.0

_C_SWAPS = ((r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<= )<(?= )", "<="), (r"(?<= )>(?= )", ">="), (r"&&", "||"),
            (r"\|\|", "&&"), (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"\breturn 1;", "return 0;"),
            (r"\breturn 0;", "return 1;"), (r"(?<=[( ])!(?=[a-z(])", ""), (r"(?<=[ (,])([1-9][0-9]?)(?=[ ),;])", "more"))
_PYTHON_SWAPS = ((r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<= )<(?= )", "<="), (r"(?<= )>(?= )", ">="),
                 (r"\band\b", "or"), (r"\bor\b", "and"), (r"\bis None\b", "is not None"), (r"\bis not None\b", "is None"),
                 (r"\bnot in\b", "in"), (r"(?<!not )(?<!for )\bin\b(?= [(A-Z_])", "not in"), (r"\bnot (?!in\b)", ""),
                 (r"\bTrue\b", "False"), (r"\bFalse\b", "True"), (r"\bany\(", "all("), (r"\ball\(", "any("),
                 (r"(?<=[ (,])([1-9][0-9]?)(?=[ ),:]|$)", "more"))


@dataclass(frozen=True)
class Change:
    """One line, made different."""

    file: str
    line: int
    old: str
    new: str

    def words(self) -> str:
        """Where it is and what it says."""
        return f"{self.file}:{self.line}: {self.old.strip()}  ->  {self.new.strip()}"


def _code_lines(text: str, python: bool) -> Iterator[tuple[int, str]]:
    """Lines that act: no comments, texts, declarations or directives."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if python:
            quotes = bare.count('"""')
            was, inside = inside, inside ^ (quotes % 2 == 1)
            if was or inside or quotes or not bare or bare.startswith(("#", "import ", "from ", "@", "class ", "def ")):
                continue
        elif not line.startswith("    ") or bare.startswith(("/*", "*", "//")):
            continue
        yield number, line


def _without_texts(line: str) -> str:
    """The line with its string literals blanked, same length."""
    return re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line)


def changes_of(file: str, text: str) -> list[Change]:
    """Every change that is tried on this file."""
    python = file.endswith(".py")
    found = []
    for number, line in _code_lines(text, python):
        bare = _without_texts(line).partition("/*" if not python else "  #")[0]
        for pattern, put in _PYTHON_SWAPS if python else _C_SWAPS:
            for match in re.finditer(pattern, bare):
                new = str(int(match[1]) + 1) if put == "more" else put
                found.append(Change(file, number, line, line[:match.start()] + new + line[match.end():]))
        if not python and re.fullmatch(r"\s+[a-z][\w>.\[\]-]* (?:=|\+=|\|=|&=) [^;]*;|\s+[a-z_]+\([^;]*\);", bare.rstrip()):
            found.append(Change(file, number, line, re.match(r"\s*", line)[0] + ";"))  # type: ignore[index]
    return found


class Copy:
    """A copy of the tree in which one line at a time is another."""

    def __init__(self, work: Path) -> None:
        self.root = work / "tree"
        if not self.root.exists():
            shutil.copytree(places.ROOT, self.root, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__", "results"))
        self.build = work / "build"
        self._recorded: dict[str, str] = json.loads(golden.FILE.read_text(encoding="utf-8"))

    def configure(self) -> None:
        """A build of the model with the unit tests."""
        self._must("cmake", "-S", str(self.root), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release", "-DPDL_BUILD_EXAMPLES=OFF",
                   "-DPDL_KIT_CUDA=OFF", "-DPDL_KIT_MODEL=ON", "-DPDL_KIT_HOST_TESTS=ON")
        self._must(*self._make())
        why = self._c_fault()
        if why is not None:
            raise InvalidRun(f"without any change, {why}: nothing could be told")

    def _make(self) -> tuple[str, ...]:
        return ("cmake", "--build", str(self.build), "--parallel", "2", "--target", *C_TESTS, "pdl-harness-model")

    def _must(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise InvalidRun(f"{command[0]} fails in the copy: {done.stdout[-600:]}{done.stderr[-600:]}")

    def _quiet(self, command: Sequence[str], where: Path) -> bool:
        try:
            return subprocess.run(command, cwd=where, capture_output=True, stdin=subprocess.DEVNULL, timeout=TEST_S).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def _c_fault(self) -> str | None:
        for test in C_TESTS:
            path = next(self.build.rglob(test), None)
            if path is None or not self._quiet([str(path)], self.root):
                return f"{test} fails"
        try:
            other = golden.first_difference(self.build / "pdl-harness-model", self._recorded)
        except (InvalidRun, ValueError, subprocess.TimeoutExpired) as error:
            return f"the harness cannot be read: {error}"
        return f"the records of {other} differ" if other else None

    def notices(self, change: Change) -> str | None:
        """What notices this change; None if nothing does."""
        path = self.root / change.file
        kept = path.read_text(encoding="utf-8")
        lines = kept.splitlines(keepends=True)
        lines[change.line - 1] = change.new + "\n"
        path.write_text("".join(lines), encoding="utf-8")
        try:
            if change.file.endswith(".py"):
                tests = [f"conformance/pdlkit/tests/{name}.py" for name in PYTHON_FILES[change.file]]
                there = [name for name in tests if (self.root / name).is_file()]
                passed = self._quiet([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *there], self.root)
                return None if passed else "a unit test fails"
            if not self._quiet(self._make(), self.root):
                return "it does not compile"
            return self._c_fault()
        finally:
            path.write_text(kept, encoding="utf-8")


def explained() -> dict[tuple[str, str, str], str]:
    """Survivors whose reason is known: (file, old line, new line) to the reason."""
    entries = tomllib.loads(LIVING.read_text(encoding="utf-8")).get("mutant", []) if LIVING.is_file() else []
    return {(entry["file"], entry["old"].strip(), entry["new"].strip()): entry["why"] for entry in entries}


def choose(files: Sequence[str], count: int, seed: int) -> list[Change]:
    """A sample of all changes of these files; the same seed gives the same ones."""
    everything = [change for file in files for change in changes_of(file, (places.ROOT / file).read_text(encoding="utf-8"))]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def _files(only: str | None) -> list[str]:
    known = [*C_FILES, *PYTHON_FILES]
    chosen = [file for file in known if only is None or file.endswith(only)]
    if not chosen:
        raise InvalidRun(f"--file {only}: no such file is changed; these are: {', '.join(known)}")
    return chosen


def mutate(options: argparse.Namespace, work: Path) -> int:
    """Try the chosen changes; 0 or 1."""
    changes, reasons = choose(_files(options.file), options.count, options.seed), explained()
    copy = Copy(work)
    if any(change.file.endswith(".c") for change in changes):
        copy.configure()
    lived: list[Change] = []
    known = 0
    for number, change in enumerate(changes, 1):
        by = copy.notices(change)
        why = reasons.get((change.file, change.old.strip(), change.new.strip()))
        if by is None and why is None:
            lived.append(change)
            print(f"SURVIVED {change.words()}", flush=True)
        known += by is None and why is not None
        print(f"{number} of {len(changes)}: {by or why or 'nothing noticed it'}", file=sys.stderr, flush=True)
    print(f"{len(changes)} changes: {len(changes) - len(lived) - known} noticed, {known} explained, {len(lived)} survived")
    return FAILED if lived else OK


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="mutation run of the kit's own logic", allow_abbrev=False)
    parser.add_argument("--count", type=int, default=60, metavar="N", help="how many changes are tried (60)")
    parser.add_argument("--seed", type=lambda text: int(text, 16), default=1, metavar="HEX", help="which ones (1)")
    parser.add_argument("--file", metavar="NAME", help="only files whose path ends so")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the copy and its build here")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        if options.work:
            options.work.mkdir(parents=True, exist_ok=True)
            return mutate(options, options.work.resolve())
        with tempfile.TemporaryDirectory() as folder:
            return mutate(options, Path(folder))
    except KitExit as stop:
        print(f"mutate-kit: {stop}", file=sys.stderr)
        return stop.code
