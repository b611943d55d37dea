"""Which findings are told together: those of one template, rule and subject; then causes, and kernels that a generator made."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from conformance.lint.findings import ERROR, HINT, WARNING, Finding
from conformance.lint.packed import Told, about

_ANONYMOUS, _PLACEHOLDER = "(anonymous namespace)", "\0"
_BRACKETS = re.compile("([(<>])")
_ORDER = {ERROR: 0, WARNING: 1, HINT: 2}
_FEW = 12  # templates with the same causes that are still told one by one


@dataclass
class Group:
    """Findings that one sentence tells: of one template, rule and subject."""

    template: str
    told: list[Told] = field(default_factory=list)  # of each kernel

    @property
    def first(self) -> Finding:
        return self.told[0].first

    @property
    def count(self) -> int:
        """How many findings they are."""
        return sum(one.count for one in self.told)

    @property
    def cause(self) -> tuple[str, str, str, bool]:
        """Groups of one kernel that share it share their advice."""
        return self.first.id, self.first.condition or "", self.first.advice, self.first.imprecise


@dataclass
class Block:
    """What is told of one template, or of many that are wrong in the same ways."""

    groups: list[Group]

    @property
    def told(self) -> list[Told]:
        return [one for group in self.groups for one in group.told]

    def by_cause(self) -> list[list[Group]]:
        """Groups with the same cause side by side, otherwise in their order."""
        causes: dict[tuple[str, str, str, bool], list[Group]] = {}
        for group in self.groups:
            causes.setdefault(group.cause, []).append(group)
        return list(causes.values())

    @property
    def ways(self) -> frozenset[tuple[str, str, str]]:
        """In which ways it is wrong, wherever and with whatever parameter."""
        return frozenset(group.cause[:3] for group in self.groups)


@lru_cache(maxsize=65536)
def template_of(name: str) -> str:
    """A demangled name without the arguments of its template and of its call: void ns::k<4>(int) is ns::k."""
    depth = 0
    kept: list[str] = []
    for text in _BRACKETS.split(name.replace(_ANONYMOUS, _PLACEHOLDER)):
        if text == "(" and depth == 0:
            break
        depth += text == "<"
        if depth == 0:
            kept.append(text)
        depth -= text == ">" and depth > 0
    short = "".join(kept).strip().removeprefix("void ")
    return (short or name).replace(_PLACEHOLDER, _ANONYMOUS)


def blocks(told: Iterable[Told]) -> list[Block]:
    """Worst first; within a template in the order of the code. Without line information, templates that are wrong in the same
    ways are one block if they are many: a generator made them, and a reader learns nothing from the second one."""
    by_template: dict[str, Block] = {}
    for group in _grouped(told):
        by_template.setdefault(group.template, Block([])).groups.append(group)
    alike: dict[frozenset[tuple[str, str, str]], list[Block]] = {}
    for block in by_template.values():
        if not any(one.lined for one in block.told):
            alike.setdefault(block.ways, []).append(block)
    merged = {id(block): same for same in alike.values() if len(same) > _FEW for block in same}
    out = []
    for block in by_template.values():
        same = merged.get(id(block), [block])
        if same[0] is block:
            out.append(Block(_by_subject(group for one in same for group in one.groups)) if len(same) > 1 else block)
    return out


def _grouped(told: Iterable[Told]) -> list[Group]:
    groups: dict[tuple[str, str, str, str], Group] = {}
    for one in told:
        template = template_of(one.first.demangled)
        key = (template, one.first.id, about(one.first), one.first.condition or "")
        groups.setdefault(key, Group(template)).told.append(one)
    return sorted(groups.values(), key=lambda g: (_ORDER[g.first.severity], g.template))


def _by_subject(groups: Iterable[Group]) -> list[Group]:
    """The groups of several templates, again by rule and subject."""
    found: dict[tuple[object, ...], Group] = {}
    for group in groups:
        found.setdefault((*group.cause, about(group.first)), Group(group.template)).told.extend(group.told)
    return sorted(found.values(), key=lambda g: (_ORDER[g.first.severity], -g.count))
