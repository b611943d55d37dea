"""Calls the analysis: a C program (analysis/), compiled here once, that follows every path of an image's kernels.

It reads what the cubin says of its kernels and nvdisasm's listing from its standard input, and writes JSON, one line for each
kernel. analysis/analysis.h says what it does; here is how it is made, asked and understood.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

from conformance.lint.processes import run
from conformance.lint.results import KernelResult, kernel_of
from conformance.pdlkit.children import signal_name
from conformance.pdlkit.compiled import Recipe, compiled, ready
from conformance.pdlkit.elf import Cubin, KernelInfo
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import prebuilt
from conformance.pdlkit.toolchain import find_c_compiler

SOURCES = Path(__file__).resolve().with_name("analysis")
FLAGS = ("-std=c11", "-O3", "-I", SOURCES)
PROGRAM = "pdl-lint-analysis"  # as the installed package carries it
LIMIT_S = 3600.0  # for one image
_FIRST_LINE = "pdl-lint-image\t1"
_LARGEST = 2**32 - 1
_SEPARATORS = re.compile(r"[\t\n\r]")


class AnalyserFailed(Exception):
    """The analysis of an image did not end well; the message says how."""


# the program ---------------------------------------------------------------------------------------------------------


def c_files() -> list[Path]:
    """The sources of the analysis, one folder per layer."""
    return sorted(SOURCES.glob("**/*.c"))


def _recipe() -> Recipe:
    return Recipe("lint-analysis", [*c_files(), *SOURCES.glob("**/*.h")], [*FLAGS, *c_files()], "lint's analysis",
                  gcc=("-flto=2",))  # takes a quarter less time then; clang's needs a linker that may be missing


def at_hand() -> bool:
    """Whether the analysis can run: there is a compiler, or it was compiled before."""
    return prebuilt(PROGRAM) is not None or find_c_compiler() is not None or ready(_recipe(), None) is not None


@cache
def program() -> Path:
    """The program's path, compiled if these sources have not been before; SetupImpossible with what to do if that fails."""
    return prebuilt(PROGRAM) or made(_recipe())


def made(recipe: Recipe) -> Path:
    """What the recipe makes, compiled once; without a compiler, what one made earlier from the same sources."""
    compiler = find_c_compiler()
    found = ready(recipe, compiler)
    if found is not None:
        return found
    if compiler is None:
        raise SetupImpossible(f"there is no C compiler on PATH, with which {recipe.what} is compiled once "
                              "(Debian and Ubuntu: apt-get install gcc, or set CC)")
    print(f"compiling {recipe.what} with {compiler.words()}", file=sys.stderr, flush=True)
    return compiled(recipe, compiler)


# what it reads -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """What the analysis has to know of an image besides its listing."""

    sm: int
    kernels: dict[str, KernelInfo]  # those to be judged
    code_tables: dict[str, dict[int, str]] = field(default_factory=dict)  # of those kernels
    entries: Sequence[str] = ()  # all kernels
    constant4: dict[int, str] = field(default_factory=dict)
    functions: Iterable[str] = ()
    addresses: Iterable[str] = ()
    homes: dict[str, tuple[str, int]] = field(default_factory=dict)
    words: dict[str, Sequence[int]] = field(default_factory=dict)  # of constant bank 2 of those kernels
    tables: dict[str, dict[str, int]] = field(default_factory=dict)  # named parts of it

    @classmethod
    def of(cls, cubin: Cubin, kernels: Iterable[str]) -> Question:
        chosen = list(dict.fromkeys(kernels))
        return cls(cubin.sm, {k: cubin.kernel_info(k) for k in chosen}, {k: cubin.code_table(k) for k in chosen},
                   list(dict.fromkeys(cubin.kernels)), cubin.constant4, sorted(cubin.function_names),
                   sorted(cubin.function_addresses), cubin.homes,
                   {k: cubin.constant2(k) for k in chosen}, {k: cubin.tables(k) for k in chosen})

    def lines(self) -> list[str]:
        rows: list[tuple[str | int, ...]] = [("sm", self.sm)]
        for kernel, info in self.kernels.items():
            rows.append(("kernel", kernel, info.parameter_base, info.parameter_bytes, min(info.max_threads, _LARGEST)))
            rows += [("cluster", *info.cluster)] if info.cluster else []
            rows += [("parameter", p.offset, p.size) for p in info.parameters]
            rows += [("code", offset, name) for offset, name in self.code_tables.get(kernel, {}).items()]
            rows += [("word", 4 * i, word) for i, word in enumerate(self.words.get(kernel, ()))]
            rows += [("table", offset, name) for name, offset in self.tables.get(kernel, {}).items() if offset <= _LARGEST]
        rows += [("entry", name) for name in self.entries]
        rows += [("constant4", offset, name) for offset, name in self.constant4.items() if offset <= _LARGEST]
        rows += [("function", name) for name in self.functions]
        rows += [("address", name) for name in self.addresses]
        rows += [("home", name, section, min(index, _LARGEST)) for name, (section, index) in self.homes.items()]
        return [_FIRST_LINE, *("\t".join(_SEPARATORS.sub("?", str(part)) for part in row) for row in rows), "listing"]


# asking --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    kernels: dict[str, KernelResult]  # those that the listing has
    rows: dict[str, str]  # the same as the analysis wrote them: a tenth of what they take when they are read
    instructions: int
    seconds: float  # of one core


def analyse(question: Question, listing: Iterable[bytes | memoryview], code: bool = False) -> Answer:
    """Everything about these kernels; the listing in pieces that follow each other. `code`: with their opcodes."""
    command = [str(program()), *(["--code"] if code else [])]  # compiled ahead of the clock, once
    with tempfile.TemporaryFile() as stream:  # a pipe of this size would be filled in very many steps
        stream.write("\n".join([*question.lines(), ""]).encode(errors="replace"))
        for piece in listing:
            stream.write(piece)
        stream.seek(0)
        output = _run(command, stream)
    try:
        *lines, end = output.decode().splitlines()
        found, last = [_read(line) for line in lines], json.loads(end)
        instructions, seconds = int(last["instructions"]), float(last.get("seconds", 0.0))
    except (LookupError, TypeError, ValueError) as error:
        raise AnalyserFailed(f"what the analysis wrote cannot be read: {type(error).__name__}: {error}") from None
    wanted = {_SEPARATORS.sub("?", kernel): kernel for kernel in question.kernels}
    if {name for name, _ in found} != wanted.keys():
        raise AnalyserFailed("what the analysis wrote is not whole")
    return Answer({wanted[name]: result for name, result in found if result is not None},
                  {wanted[name]: line for (name, _), line in zip(found, lines, strict=True)}, instructions, seconds)


def _read(line: str) -> tuple[str, KernelResult | None]:
    row: dict[str, Any] = json.loads(line)
    return str(row["kernel"]), kernel_of(row)


def _run(command: list[str], stream: IO[bytes]) -> bytes:
    try:
        done = run(command, stream, LIMIT_S)
    except subprocess.TimeoutExpired:
        raise AnalyserFailed(f"the analysis did not end in {LIMIT_S:.0f} s") from None
    except OSError as error:
        raise SetupImpossible(f"{command[0]} cannot be started: {error}") from None
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    code = done.returncode
    how = f"died of {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
    raise AnalyserFailed(f"the analysis {how}{': ' + lines[-1] if lines else ''}")
