"""Compile the shapes of shapes.cu and types.cuh and read the machine code.

    python3 conformance dev check-shapes                   what the tests run: nvcc, sm_90 and sm_120, -O3; sm_90 -G
    python3 conformance dev check-shapes --full            every architecture, every way, nvcc, NVRTC and clang
    python3 conformance dev check-shapes --full --toolkits FOLDER --record
                                                                  every toolkit 13.x of PyPI (installed below FOLDER) and
                                                                  clang, and write shapes.md

SAFE shapes are asserted against their PLAIN twins, DANGER shapes are recorded; shapes.cu says what that means. Needs nvcc; NVRTC
and clang 19 or newer only with --full; no GPU.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint.analyser import Question, analyse
from conformance.lint.results import KernelResult
from conformance.lint.shapes.compilers import (
    ARCHITECTURES,
    WAYS,
    Compiler,
    CompilerFailed,
    clang_here,
    from_pypi,
    installed_nvcc,
    nvcc,
    nvrtc_here,
)
from conformance.pdlkit.cuda_programs import output_of, tool
from conformance.pdlkit.elf import Cubin
from conformance.pdlkit.places import ROOT

HERE = Path(__file__).resolve().parent
SOURCE, TYPES, RECORD = HERE / "shapes.cu", HERE / "types.cuh", HERE / "shapes.md"
_SAFE = re.compile(r"^SAFE\((\w+), (\d+), (\d+), (\d+)\)", re.MULTILINE)
_COPY = re.compile(r"^(?:COPY|DOUBLE)\((\w+), .+, (\d+)\)$", re.MULTILINE)
_DANGER = re.compile(r"^DANGER\((\w+)\)", re.MULTILINE)
_LOADS = frozenset({"LOAD", "GENERIC_LOAD"})
_STORES = frozenset({"STORE", "GENERIC_STORE", "ATOMIC", "GENERIC_ATOMIC"})
_ORDER = {"FENCE": "F", "TRIGGER": "T", "WAIT": "W"} | dict.fromkeys(_STORES, "S")
_GLOBAL = ("LDG", "STG", "REDG", "ATOMG")
_WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}
QUICK = [("sm_90", "-O3"), ("sm_120", "-O3"), ("sm_90", "-G")]
DEBUG = "-G"  # functions are called and objects copied through the stack: only what runs early can be told
WITHOUT = "without pdl_fresh()"
_OWN_EARLY = {"two_reads": 1, "store_before": 1}  # accesses that a DANGER shape has above the wait by its source


@dataclass(frozen=True)
class Wanted:
    """What the source of a SAFE shape says: bits read and written at least, accesses above the wait."""

    read: int
    written: int
    early: int


@dataclass
class Seen:
    """What the machine code of one kernel has."""

    loads: list[str] = field(default_factory=list)  # opcodes
    stores: list[str] = field(default_factory=list)  # with atomics
    early: int = 0
    instructions: int = 0  # from the wait on; how ptxas forms an address ahead of it is its choice
    order: str = ""  # of stores (S), fences (F), triggers (T) and waits (W)


def wanted_shapes() -> dict[str, Wanted]:
    text = SOURCE.read_text() + TYPES.read_text()
    wanted = {m[0]: Wanted(*map(int, m[1:])) for m in _SAFE.findall(text)}
    return wanted | {name: Wanted(int(bits), int(bits), 0) for name, bits in _COPY.findall(text)}


def danger_shapes() -> list[str]:
    return _DANGER.findall(SOURCE.read_text())


def read_code(cubin: Path) -> dict[str, Seen]:
    """Every kernel of a cubin."""
    image = Cubin.load(cubin)
    listing = output_of([str(tool("nvdisasm")), "-c", str(cubin)])
    answer = analyse(Question.of(image, image.kernels), [listing], code=True)
    return {kernel: _counted(answer.kernels[kernel]) for kernel in image.kernels}


def _counted(result: KernelResult) -> Seen:
    kinds = [kind for _, kind in result.code]
    last = max(i for i, kind in enumerate(kinds) if kind == "EXIT")
    first = kinds.index("WAIT") if "WAIT" in kinds else 0
    seen = Seen(early=len(result.accesses) if result.waits else 0,
                instructions=sum(opcode != "NOP" for opcode, _ in result.code[first : last + 1]))
    for opcode, kind in result.code:
        if kind in _LOADS:
            seen.loads.append(opcode)
        elif kind in _STORES:
            seen.stores.append(opcode)
        seen.order += _ORDER.get(kind, "")
    return seen


def bits_of(opcode: str) -> int:
    """That its data has in each thread."""
    widths = [_WIDTHS[part] for part in opcode.split(".") if part in _WIDTHS]
    return min((w for w in widths if w < 32), default=max(widths, default=32))


def is_readonly(opcode: str) -> bool:
    return "CONSTANT" in opcode.split(".")


def _widths(opcodes: list[str]) -> list[int]:
    return sorted(bits_of(o) for o in opcodes)


def _generic(opcodes: list[str]) -> int:
    return sum(not o.startswith(_GLOBAL) for o in opcodes)


def faults(shape: str, wanted: Wanted, code: dict[str, Seen], way: str) -> Iterator[str]:
    """What is wrong with a safe shape: first what its source says, of both twins, then the one against the other."""
    safe, plain = code[f"safe_{shape}"], code[f"plain_{shape}"]
    for twin, seen in (("", safe), (f"{WITHOUT}, ", plain)):
        if seen.early != wanted.early:
            yield f"{twin}{seen.early} accesses can run before the wait instead of {wanted.early}"
        if way != DEBUG:
            yield from (twin + text for text in _lost(shape, wanted, seen))
    if way != DEBUG:
        yield from _worse(safe, plain, may_add=way not in ("-O3", "-O2"))


def _lost(shape: str, wanted: Wanted, seen: Seen) -> Iterator[str]:
    for word, opcodes, bits in (("read", seen.loads, wanted.read), ("written", seen.stores, wanted.written)):
        if sum(_widths(opcodes)) < bits:
            yield f"{sum(_widths(opcodes))} bits {word} instead of {bits}"
    if not set(seen.order) & set("WT"):
        yield "neither wait nor trigger is left"
    if shape == "stores_around_trigger" and not re.fullmatch(r"SF+TS", seen.order):
        yield f"store, fence, trigger, store became {seen.order}"


def _worse(safe: Seen, plain: Seen, may_add: bool) -> Iterator[str]:
    if any(is_readonly(o) for o in safe.loads):
        yield "a load is read-only"
    for word, mine, its in (("loads", safe.loads, plain.loads), ("stores", safe.stores, plain.stores)):
        if _widths(mine) != _widths(its):
            yield f"{word} of {_widths(mine)} bits, {_widths(its)} {WITHOUT}"
        if _generic(mine) > _generic(its):
            yield f"{_generic(mine)} generic {word}, {_generic(its)} {WITHOUT}"
    if not may_add and safe.instructions > plain.instructions:
        yield f"{safe.instructions} instructions, {plain.instructions} {WITHOUT}"


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
    """One compiler, architecture and way, all sources."""

    compiler: str
    architecture: str
    way: str
    judged: int = 0
    faults: list[str] = field(default_factory=list)
    added: int = 0  # instructions by which the worst safe shape is longer than its twin
    loads: dict[str, str] = field(default_factory=dict)  # safe shape -> its loads, as words
    dangers: dict[str, str] = field(default_factory=dict)


def check(compiler: Compiler, architecture: str, way: str, folder: Path) -> Outcome:
    code = read_code(compiler.compile(SOURCE, architecture, way, folder))
    outcome = Outcome(compiler.name, architecture, way)
    for shape, wanted in wanted_shapes().items():
        safe = code[f"safe_{shape}"]
        outcome.judged += 1
        outcome.faults += [f"{shape}: {text}" for text in faults(shape, wanted, code, way)]
        outcome.added = max(outcome.added, safe.instructions - code[f"plain_{shape}"].instructions)
        counts = Counter(bits_of(o) for o in safe.loads)
        outcome.loads[shape] = " + ".join(f"{n} x {bits}" for bits, n in sorted(counts.items(), reverse=True))
    outcome.dangers = {shape: became(shape, code) for shape in danger_shapes()}
    return outcome


class Kept:
    """Outcomes in files, so that an interrupted run goes on. They are of one state of the sources and of what judges them."""

    def __init__(self, folder: Path) -> None:
        lint = HERE.parent
        mine = [HERE / name for name in ("device_words.h", "check_shapes.py", "compilers.py")]
        judged = [SOURCE, TYPES, ROOT / "pdl_device.cuh", *mine, *lint.glob("*.py"), *lint.glob("analysis/**/*.[ch]")]
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(judged))).hexdigest()
        self.folder = folder / f"outcomes-{digest[:16]}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def outcome(self, compiler: Compiler, architecture: str, way: str, work: Path) -> Outcome:
        kept = self.folder / f"{compiler.name} {architecture} {way}.json"
        if kept.is_file():
            return Outcome(**json.loads(kept.read_text()))
        outcome = check(compiler, architecture, way, work)
        kept.write_text(json.dumps(dataclasses.asdict(outcome)))
        return outcome


def check_all(compilers: list[Compiler], chosen: list[tuple[str, str]], kept: Path) -> tuple[list[Outcome], list[str]]:
    """Two compilations at a time."""
    outcomes, failed = [], []
    store = Kept(kept)

    def check_ways(compiler: Compiler, architecture: str) -> list[Outcome | str]:
        done: list[Outcome | str] = []
        for way in (w for a, w in chosen if a == architecture):
            try:
                done.append(store.outcome(compiler, architecture, way, Path(work)))
            except CompilerFailed as error:
                done.append(f"{compiler.name}, {architecture} {way}: {error}")
        return done

    with tempfile.TemporaryDirectory(prefix="pdl-shapes-") as work, ThreadPoolExecutor(2) as workers:
        pairs = itertools.product(compilers, dict.fromkeys(a for a, _ in chosen))
        for outcome in itertools.chain.from_iterable(workers.map(lambda pair: check_ways(*pair), pairs)):
            if isinstance(outcome, str):
                failed.append(outcome)
                print(outcome, flush=True)
                continue
            outcomes.append(outcome)
            print(f"{outcome.compiler}, {outcome.architecture} {outcome.way}: {outcome.judged} safe shapes, "
                  f"{len(outcome.faults)} faults", flush=True)
            print("".join(f"    {text}\n" for text in outcome.faults), end="", flush=True)
    return outcomes, failed


def _alike(names: list[str], answers: Callable[[str], object]) -> list[list[str]]:
    """Compilers with the same answers, together."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(repr(answers(name)), []).append(name)
    return list(groups.values())


def _danger_cell(outcomes: list[Outcome], shape: str) -> str:
    """What it became at -O3, and at the other ways where that differs; `/` parts what differs by architecture."""
    by_way = {w: " / ".join(sorted({o.dangers[shape] for o in outcomes if o.way == w})) for w in dict.fromkeys(o.way for o in outcomes)}
    usual = next(iter(by_way.values()))
    return "; ".join([usual, *(f"{way} {words}" for way, words in by_way.items() if words != usual)])


def _loads_cell(outcomes: list[Outcome], shape: str) -> str:
    by_loads: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.way == "-O3":
            by_loads.setdefault(outcome.loads[shape], []).append(outcome.architecture)
    return "; ".join(words if len(by_loads) == 1 else f"{words} ({', '.join(where)})" for words, where in by_loads.items())


def _table(head: str, names: list[str], outcomes: list[Outcome], shapes: list[str], cell: Callable[[list[Outcome], str], str],
           only_where_different: bool = False) -> list[str]:
    def column(name: str) -> list[str]:
        return [cell([o for o in outcomes if o.compiler == name], shape) for shape in shapes]

    groups = _alike(names, column)
    columns = [column(group[0]) for group in groups]
    lines = [f"| {head} | " + " | ".join(", ".join(group) for group in groups) + " |", "|---|" + "---|" * len(groups)]
    for shape, *cells in zip(shapes, *columns, strict=True):
        if not only_where_different or len(set(cells)) > 1 or any(";" in c for c in cells):
            lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    return ["", *lines]


def as_markdown(outcomes: list[Outcome], failed: list[str]) -> str:
    """The recorded table."""
    names = list(dict.fromkeys(o.compiler for o in outcomes))
    lines = ["# What compilers make of the shapes", "",
             "Written by check_shapes.py, never by hand. A SAFE shape has every load plain, below the wait and its barrier, "
             "and as wide as its",
             "PLAIN twin, the same code without `pdl_fresh()` and restrict; at -O3 and -O2 nothing is added behind the wait. "
             "At -G only the order is",
             "asserted, because objects are copied through the stack there. Architectures: "
             f"{', '.join(dict.fromkeys(o.architecture for o in outcomes))}; ptxas: "
             f"{', '.join(dict.fromkeys(o.way for o in outcomes))}.", "",
             "`added`: instructions behind the wait by which the longest SAFE shape exceeds its twin, where ptxas forms the "
             "address of a fresh",
             "pointer again in each turn of a loop or keeps it in registers of its own.", "",
             "| compiler | compilations | safe shapes in each | faults | added at -O3, -O2 | at -O1 | at -O0 "
             "|", "|---|---|---|---|---|---|---|"]
    for name in names:
        mine = [o for o in outcomes if o.compiler == name]
        added = [max((o.added for o in mine if o.way in ways), default=0) for ways in (("-O3", "-O2"), ("-O1",), ("-O0",))]
        faults = sum(len(o.faults) for o in mine)
        lines.append(f"| {name} | {len(mine)} | {mine[0].judged} | {faults} | " + " | ".join(map(str, added)) + " |")
    lines += ["", "DANGER shapes are not asserted, and a compiler that keeps one today owes that to nobody. What they became at -O3, "
              "and at another way where that", "differs; `/` parts what differs by architecture."]
    lines += _table("dangerous shape", names, outcomes, danger_shapes(), _danger_cell)
    lines += ["", "How many loads of how many bits a SAFE shape has at -O3, and so its twin, where that depends on the compiler or the "
              "architecture. clang 19", "copies a struct by 64 bits at a time, with or without a fresh pointer; it uses 128 where the "
              "members are computed with."]
    lines += _table("safe shape", names, outcomes, list(outcomes[0].loads), _loads_cell, only_where_different=True)
    wrong: dict[str, list[str]] = {}
    for outcome in outcomes:
        for text in outcome.faults:
            wrong.setdefault(f"{outcome.compiler}: {text}", []).append(f"{outcome.architecture} {outcome.way}")
    lines += ["", *(f"- {text} ({', '.join(where)})" for text, where in wrong.items()), *(f"- {text}" for text in failed)]
    return "\n".join(lines).rstrip() + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every architecture and way, NVRTC and clang too")
    parser.add_argument("--toolkits", type=Path, metavar="FOLDER",
                        help="nvcc and NVRTC of every toolkit 13.x of PyPI in place of this machine's; they are installed here, and what "
                             "was judged is kept here, so that an interrupted run goes on")
    parser.add_argument("--only", metavar="REGEX", default="", help="compilers whose name has this, such as 'clang' or '13\\.5'")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    arguments = parser.parse_args(argv)
    compilers = from_pypi(arguments.toolkits, arguments.only) if arguments.toolkits else [nvcc(installed_nvcc())]
    if arguments.full:
        compilers += ([] if arguments.toolkits else nvrtc_here()) + clang_here()
    compilers = [c for c in compilers if re.search(arguments.only, c.name)]
    chosen = list(itertools.product(ARCHITECTURES, WAYS)) if arguments.full else QUICK
    with tempfile.TemporaryDirectory(prefix="pdl-shapes-") as folder:
        outcomes, failed = check_all(compilers, chosen, arguments.toolkits or Path(folder))
    if arguments.record:
        RECORD.write_text(as_markdown(outcomes, failed))
    return 1 if failed or not outcomes or any(o.faults for o in outcomes) else 0
