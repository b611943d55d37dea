"""nvdisasm's text -> functions with instructions. No meaning is given to anything here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(
    r"^[ \t]+/\*([0-9a-f]{4,})\*/[ \t]+(?:@(!?U?P[0-9T]+)[ \t]+)?([A-Z0-9_.a-z]+)[ \t]*([^;\n]*);"
    r"|^([$\w.@]+):[ \t]*$"
    r'|^\t//## File "([^"]*)", line (\d+)',
    re.MULTILINE,
)
_SECTION = re.compile(r'^\t\.section\t\.text\.([^,\n]+),"[^\n]*$', re.MULTILINE)
_TARGETS = re.compile(r'BRANCH_TARGETS ([^"]*)"')


@dataclass(slots=True)
class Function:
    """One .text section: usually one function, with the device functions that were merged into it as labels."""

    name: str
    entry: bool
    # parallel lists, because a library has millions of instructions
    addresses: list[int] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)  # "", "P0", "!P0", ...
    opcodes: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # label -> index of the instruction behind it
    lines: list[tuple[int, str, int]] = field(default_factory=list)  # (index from which it holds, file, line)

    def line_of(self, index: int) -> tuple[str, int] | None:
        best = None
        for start, file, line in self.lines:
            if start > index:
                break
            best = (file, line)
        return best


def branch_targets(operands: str) -> list[str] | None:
    """Labels in the annotation that nvdisasm gives to an indexed branch, or None if there is none."""
    found = _TARGETS.search(operands)
    return [t.strip() for t in found.group(1).split(",")] if found else None


def split_functions(listing: str) -> Iterator[tuple[str, str]]:
    """(section name without .text., its text) for each code section."""
    marks = list(_SECTION.finditer(listing))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        yield mark.group(1), listing[mark.end() : following.start() if following else len(listing)]


def parse_function(name: str, text: str) -> Function:
    function = Function(name, "STO_CUDA_ENTRY" in text[:2000])
    addresses, predicates = function.addresses, function.predicates
    opcodes, operands = function.opcodes, function.operands
    for address, predicate, opcode, rest, label, file, line in _LINE.findall(text):
        if opcode:
            addresses.append(int(address, 16))
            predicates.append(predicate)
            opcodes.append(opcode)
            operands.append(rest)
        elif label:
            function.labels[label] = len(opcodes)
        else:
            function.lines.append((len(opcodes), file, int(line)))
    return function


def count_instructions(text: str) -> int:
    return text.count("*/  ")
