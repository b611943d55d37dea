"""Compare the registers that lint says each instruction writes with nvdisasm's own view, its table of register live ranges.

    python3 conformance dev check-registers FILE... [--images N]   cubins, libraries; N: at most so many images of each file

A register that lint does not see written keeps a value that is gone; one that lint wrongly sees written loses a value. A register that
nvdisasm neither marks as written nor as kept is not compared: nobody reads it.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from conformance.lint.analyser import Question, analyse
from conformance.lint.disassembly import code_sections
from conformance.lint.images import open_images
from conformance.lint.processes import output_of
from conformance.lint.sources import Image
from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.elf import KernelInfo

_FILES = {"GPR": "R", "PRED": "P", "UGPR": "UR", "UPRED": "UP"}
_CALLS = ("CALL", "JCAL")
_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+((?:@!?U?P\w+ +)?([A-Z0-9_.a-z]+)[^;]*);.*?// \|(.*)")
_TABLE = re.compile(r"\s+// \|(.*)")


@dataclass(frozen=True)
class Marks:
    """One instruction in nvdisasm's table."""

    text: str
    opcode: str
    written: frozenset[str]
    kept: frozenset[str]  # registers that hold the same value before and after it, and are read later


def marks_of(section: str) -> Iterator[Marks]:
    """Of each instruction in nvdisasm's narrow table."""
    names: list[str] = []
    starts: list[int] = []
    for line in section.splitlines():
        instruction = _INSTRUCTION.match(line)
        if instruction is None:
            table = _TABLE.match(line)
            cells = table[1].split("|") if table else []
            if any(cell.strip() in _FILES for cell in cells):
                names = [cell.strip() for cell in cells]
            elif any(re.match(r" +# \d", cell) for cell in cells):
                starts = [cell.find("# ") + 2 for cell in cells]
            continue
        cells = zip(names, starts, instruction[3].split("|"), strict=False)
        marks = {f"{_FILES[name]}{column - start}": mark for name, start, cell in cells
                 if name in _FILES for column, mark in enumerate(cell) if column >= start}
        yield Marks(instruction[1].strip(), instruction[2], frozenset(r for r, mark in marks.items() if mark in "^x"),
                    frozenset(r for r, mark in marks.items() if mark == ":"))


@dataclass
class Comparison:
    compared: Counter[str] = field(default_factory=Counter)  # opcodes
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)  # (opcode, what) -> the first example

    def of_instruction(self, mine: set[str], marks: Marks) -> None:
        """An instruction with the registers that lint says it writes."""
        if marks.opcode.startswith(_CALLS):  # the callee writes, and lint follows it
            return
        self.compared[marks.opcode] += 1
        missed, more = marks.written - mine, mine & marks.kept
        if marks.opcode.startswith("LDGSTS"):  # it reads its predicate, which may stand negated there, and nvdisasm marks it as written
            missed = frozenset(r for r in missed if not r.startswith("P"))
        for registers, what in ((missed, "lint does not see it write"), (more, "only lint sees it write")):
            if registers:
                self.wrong.setdefault((marks.opcode, what), f"{', '.join(sorted(registers))} in {marks.text}")


def compare(comparison: Comparison, sm: int, listing: bytes) -> None:
    """All instructions of a listing with the table of live ranges."""
    parts = code_sections(listing)
    question = Question(sm, {name: KernelInfo() for name in parts}, entries=sorted(parts))
    rows = analyse(question, parts.values(), code=True).rows
    for name, part in parts.items():
        ours = [set(registers) for registers in json.loads(rows[name])["written"]]
        theirs = list(marks_of(bytes(part).decode()))
        if len(ours) != len(theirs):
            comparison.wrong[name, "is read differently"] = f"{len(theirs)} instructions, of which lint reads {len(ours)}"
            continue
        for mine, marks in zip(ours, theirs, strict=True):
            comparison.of_instruction(mine, marks)


def _listing(image: Image, workplace: Path) -> bytes:
    path = image.path
    if path is None:
        path = workplace / "image.cubin"
        path.write_bytes(image.cubin.data)
    return output_of([str(tool("nvdisasm")), "-c", "-lrm", "narrow", str(path)])


def check(files: Iterable[Path], images: int | None) -> Comparison:
    """Whole files."""
    comparison = Comparison()
    with tempfile.TemporaryDirectory(prefix="pdl-registers-") as folder:
        for file in files:
            for image in islice(open_images(file, Path(folder), frozenset()), images):
                compare(comparison, image.cubin.sm, _listing(image, Path(folder)))
    return comparison


def main(argv: list[str] | None = None) -> int:
    """1 if lint and nvdisasm differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+", type=Path)
    parser.add_argument("--images", type=int, help="at most so many of each file")
    arguments = parser.parse_args(argv)
    found = check(arguments.file, arguments.images)
    for (opcode, what), example in sorted(found.wrong.items()):
        print(f"{opcode}: {what}: {example}")
    print(f"{sum(found.compared.values())} instructions, {len(found.compared)} opcodes compared, {len(found.wrong)} differences")
    return 1 if found.wrong else 0
