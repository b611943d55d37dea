#!/usr/bin/env python3
"""Compile the shapes of shapes.cu and read the machine code.

    python3 conformance/codegen/check_shapes.py                   what the tests run: nvcc, sm_90 and sm_120, -O3; sm_90 -G
    python3 conformance/codegen/check_shapes.py --full            every architecture, every way, nvcc, NVRTC and clang
    python3 conformance/codegen/check_shapes.py --full --toolkits FOLDER --record
                                                                  also every toolkit 13.x of PyPI (installed below FOLDER),
                                                                  and write shapes.md

SAFE shapes are asserted, DANGER shapes are recorded. Needs nvcc; NVRTC and clang only with --full; no GPU.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from compilers import ARCHITECTURES, WAYS, Compiler, CompilerFailed, found_here, from_pypi  # noqa: E402
from pdlkit.lint.elf import Cubin  # noqa: E402
from pdlkit.lint.flow import Flow  # noqa: E402
from pdlkit.lint.opcodes import Kind, data_words, is_readonly  # noqa: E402
from pdlkit.lint.program import Program  # noqa: E402
from pdlkit.lint.sass import split_functions  # noqa: E402
from pdlkit.lint.tools import call, tool  # noqa: E402
from pdlkit.lint.waits import Analysis  # noqa: E402

SOURCE, RECORD = HERE / "shapes.cu", HERE / "shapes.md"
_SAFE = re.compile(r"^SAFE\((\w+), (\d+), (\d+), (\d+), (\d+)\)", re.MULTILINE)
_DANGER = re.compile(r"^DANGER\((\w+)\)", re.MULTILINE)
_LOADS = frozenset({Kind.LOAD, Kind.GENERIC_LOAD})
_STORES = frozenset({Kind.STORE, Kind.GENERIC_STORE})
_NARROW = {"U8": 8, "S8": 8, "U16": 16, "S16": 16}
_DEBUG = "-G"  # objects are copied through the stack, by the same instructions: only what runs early means anything
_OWN_EARLY = {"two_reads": 1, "store_before": 1}  # accesses that a DANGER shape has above the wait by its source


@dataclass(frozen=True)
class Wanted:
    loads: int
    bits: int
    stores: int
    early: int


@dataclass
class Seen:
    """What the machine code of one kernel has."""

    loads: list[str] = field(default_factory=list)  # opcodes
    stores: list[str] = field(default_factory=list)
    early: int = 0
    instructions: int = 0  # from the wait on; ahead of it the same address may be formed in one or in two
    order: str = ""  # of stores (S), fences (F) and triggers (T)


def wanted_shapes() -> dict[str, Wanted]:
    return {m[0]: Wanted(*map(int, m[1:])) for m in _SAFE.findall(SOURCE.read_text())}


def danger_shapes() -> list[str]:
    return _DANGER.findall(SOURCE.read_text())


def read_code(cubin: Path) -> dict[str, Seen]:
    """Every kernel of a cubin."""
    texts = dict(split_functions(call([str(tool("nvdisasm")), "-c", str(cubin)])))
    program = Program(Cubin.load(cubin), texts)
    found = {}
    for kernel in program.cubin.kernels:
        flow = program.flow(kernel)
        assert flow is not None
        seen = found[kernel] = _counted(flow)
        if program.closure_has(kernel, Kind.WAIT):
            seen.early = len(Analysis(program, kernel).run().accesses)
    return found


def _counted(flow: Flow) -> Seen:
    seen = Seen()
    function = flow.function
    last = max(i for i, kind in enumerate(flow.kinds) if kind is Kind.EXIT)
    first = next((i for i, kind in enumerate(flow.kinds) if kind is Kind.WAIT), 0)
    seen.instructions = sum(o != "NOP" for o in function.opcodes[first : last + 1])
    for index in flow.notable:
        kind, opcode = flow.kinds[index], function.opcodes[index]
        if kind in _LOADS:
            seen.loads.append(opcode)
        elif kind in _STORES:
            seen.stores.append(opcode)
        seen.order += {Kind.FENCE: "F", Kind.TRIGGER: "T"}.get(kind, "S" if kind in _STORES else "")
    return seen


def bits_of(opcode: str) -> int:
    narrow = next((_NARROW[p] for p in opcode.split(".") if p in _NARROW), 0)
    return narrow or 32 * data_words(opcode)


def faults(shape: str, wanted: Wanted, code: dict[str, Seen], way: str) -> Iterator[str]:
    """What is wrong with a safe shape."""
    seen, plain = code[f"safe_{shape}"], code.get(f"plain_{shape}")
    if seen.early != wanted.early:
        yield f"{seen.early} accesses can run before the wait instead of {wanted.early}"
    if way == _DEBUG:
        return
    if len(seen.stores) != wanted.stores:
        yield f"{len(seen.stores)} stores instead of {wanted.stores}"
    if len(seen.loads) != wanted.loads:
        yield f"{len(seen.loads)} loads instead of {wanted.loads}"
    wrong = [o for o in seen.loads if bits_of(o) != wanted.bits or is_readonly(o)]
    if wrong:
        yield f"{wrong[0]} is not a plain load of {wanted.bits} bits"
    if shape == "stores_around_trigger" and not re.fullmatch(r"SF+TS", seen.order):
        yield f"store, fence, trigger, store became {seen.order}"
    if way != "-O0" and any(not o.startswith("LDG") for o in seen.loads):
        yield "the load is generic"
    if way in ("-O3", "-O2") and plain is not None and seen.instructions > plain.instructions:
        yield f"{seen.instructions} instructions, {plain.instructions} without pdl_fresh()"  # below -O2 loops keep their addresses


def became(shape: str, code: dict[str, Seen]) -> str:
    """What a compiler made of a dangerous shape."""
    seen = code[f"danger_{shape}"]
    words = []
    if shape in ("store_before", "stores_around_trigger") and len(seen.stores) < 2:
        words.append("a store is gone")
    elif shape == "two_reads" and len(seen.loads) < 2:
        words.append("one read for two")
    elif seen.early > _OWN_EARLY.get(shape, 0):
        words.append("above the wait")
    if not words and any(is_readonly(o) for o in seen.loads):
        words.append("read-only")
    return ", ".join(words) or "kept"


@dataclass
class Outcome:
    compiler: str
    architecture: str
    way: str
    faults: list[str]
    dangers: dict[str, str]


def check(compiler: Compiler, architecture: str, way: str, folder: Path) -> Outcome:
    cubin = compiler.compile(SOURCE, architecture, way, folder)
    code = read_code(cubin)
    wrong = [f"{shape}: {text}" for shape, wanted in wanted_shapes().items() for text in faults(shape, wanted, code, way)]
    return Outcome(compiler.name, architecture, way, wrong, {s: became(s, code) for s in danger_shapes()})


def check_all(compilers: list[Compiler], chosen: list[tuple[str, str]]) -> tuple[list[Outcome], list[str]]:
    outcomes, failed = [], []
    with tempfile.TemporaryDirectory(prefix="pdl-shapes-") as folder:
        for compiler in compilers:
            for architecture, way in chosen:
                if way not in compiler.ways:
                    continue
                try:
                    outcome = check(compiler, architecture, way, Path(folder))
                except CompilerFailed as error:
                    failed.append(f"{compiler.name}, {architecture} {way}: {error}")
                    print(f"{failed[-1]}", flush=True)
                    continue
                outcomes.append(outcome)
                print(f"{compiler.name}, {architecture} {way}: {len(wanted_shapes())} safe shapes, {len(outcome.faults)} faults",
                      flush=True)
                for text in outcome.faults:
                    print(f"    {text}", flush=True)
    return outcomes, failed


def as_markdown(outcomes: list[Outcome], failed: list[str]) -> str:
    """The recorded table."""
    compilers = list(dict.fromkeys(o.compiler for o in outcomes))
    lines = ["# What compilers make of the shapes", "",
             "Written by check_shapes.py, never by hand. SAFE shapes: every load plain, of its width, below the wait and its "
             "barrier, nothing", "added. DANGER shapes: what the optimised code became; they are not asserted, and a compiler "
             "that keeps one", "today owes that to nobody.", "", "| compiler | compilations | safe shapes | faults |", "|---|---|---|---|"]
    for name in compilers:
        mine = [o for o in outcomes if o.compiler == name]
        lines.append(f"| {name} | {len(mine)} | {len(wanted_shapes())} | {sum(len(o.faults) for o in mine)} |")
    lines += ["", "| dangerous shape | " + " | ".join(compilers) + " |", "|---|" + "---|" * len(compilers)]
    for shape in danger_shapes():
        cells = []
        for name in compilers:
            words = [o.dangers[shape] for o in outcomes if o.compiler == name and o.way == "-O3"]
            cells.append(" / ".join(sorted(set(words))))
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    lines += ["", "No instruction is added behind the wait at -O3 and -O2; at -O1 and -O0 ptxas forms the address of a fresh pointer "
              "again in", "each turn of a loop. At -G only the order is asserted, because objects are copied through the stack."]
    lines += ["", f"Architectures {', '.join(dict.fromkeys(o.architecture for o in outcomes))}; ptxas "
              f"{', '.join(dict.fromkeys(o.way for o in outcomes))}; the cells are of -O3, `/` parts what differs by architecture.", ""]
    for text in [f"{o.compiler}, {o.architecture} {o.way}: {f}" for o in outcomes for f in o.faults] + failed:
        lines.append(f"- {text}")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every architecture, way and compiler of this machine")
    parser.add_argument("--toolkits", type=Path, metavar="FOLDER", help="also the 13.x toolkits of PyPI, installed here")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args()
    chosen = [(a, w) for a in ARCHITECTURES for w in WAYS] if arguments.full else [("sm_90", "-O3"), ("sm_120", "-O3"), ("sm_90", "-G")]
    with tempfile.TemporaryDirectory(prefix="pdl-compilers-") as folder:
        compilers = found_here(Path(folder))
        if not arguments.full:
            compilers = [c for c in compilers if c.name.startswith("nvcc")][:1]
        if arguments.toolkits is not None:
            compilers += from_pypi(arguments.toolkits, [c.name for c in compilers])
        outcomes, failed = check_all(compilers, chosen)
    if arguments.record:
        RECORD.write_text(as_markdown(outcomes, failed))
    return 1 if failed or not outcomes or any(o.faults for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
