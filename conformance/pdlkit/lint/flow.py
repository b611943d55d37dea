"""Basic blocks of one code section, and where each of them can go."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

from pdlkit.lint.opcodes import CONTROL, Kind, kind_of
from pdlkit.lint.sass import Function, branch_targets
from pdlkit.lint.values import split_operands

_LABEL = re.compile(r"`\(([^()]+)\)")
_BARRIER_REGISTER = re.compile(r"\b(B\d+)\b")
_STOPS = frozenset({Kind.EXIT, Kind.RETURN, Kind.TRAP})


class _Kinds(dict[str, Kind]):
    def __missing__(self, opcode: str) -> Kind:
        self[opcode] = kind = kind_of(opcode)
        return kind


_KINDS = _Kinds()


@dataclass(slots=True)
class Block:
    start: int  # indices of instructions
    end: int  # behind the last
    last: Kind = Kind.PLAIN  # of the last instruction, if it is a control transfer
    falls: int | None = None  # block behind it, if control can fall through
    jumps: list[int] = field(default_factory=list)
    callee: str | None = None  # label of a direct call; "" for an indirect one
    unresolved: bool = False  # an indexed branch without a target list
    in_loop: bool = False

    def successors(self) -> list[int]:
        return ([self.falls] if self.falls is not None else []) + self.jumps


class Flow:
    """The control-flow graph of one section."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.kinds = [_KINDS[o] for o in function.opcodes]
        self.notable = [i for i, k in enumerate(self.kinds) if k is not Kind.PLAIN]
        self._control = [i for i in self.notable if self.kinds[i] in CONTROL]
        self._sync_targets = self._reconvergence_targets()
        self.blocks = self._cut()
        self.block_at = {b.start: n for n, b in enumerate(self.blocks)}
        self._connect()
        self._loops_known = False

    # building ------------------------------------------------------------------------------------------------------
    def label_index(self, operands: str) -> int | None:
        found = _LABEL.search(operands)
        return self.function.labels.get(found.group(1)) if found else None

    def _reconvergence_targets(self) -> dict[str, list[int]]:
        """B register -> indices to which its BSSYs send the threads."""
        targets: dict[str, list[int]] = {}
        for index, opcode in enumerate(self.function.opcodes):
            if opcode.startswith("BSSY"):
                register = _BARRIER_REGISTER.search(self.function.operands[index])
                target = self.label_index(self.function.operands[index])
                if register and target is not None:
                    targets.setdefault(register.group(1), []).append(target)
        return targets

    def _targets_of(self, index: int) -> list[int]:
        kind, operands = self.kinds[index], self.function.operands[index]
        if kind is Kind.RECONVERGE:
            register = _BARRIER_REGISTER.search(operands)
            known = self._sync_targets.get(register.group(1), []) if register else []
            return [] if not known or index + 1 in known else [t for t in known if t > index] or known
        if kind is Kind.INDEXED_BRANCH:
            labels = branch_targets(operands) or []
            return sorted({self.function.labels[t] for t in labels if t in self.function.labels})
        if kind in (Kind.BRANCH, Kind.COLLECTIVE):
            target = self.label_index(operands)
            if target is None or (kind is Kind.COLLECTIVE and self._runs_through(index, target)):
                return []
            return [target]
        return []

    def _runs_through(self, index: int, target: int) -> bool:
        """A collective section is executed in line, up to its ENDCOLLECTIVE just before the target."""
        return index < target <= index + 64 and "ENDCOLLECTIVE" in self.function.opcodes[index:target]

    def _cut(self) -> list[Block]:
        count = len(self.kinds)
        self._jump_targets = {i: self._targets_of(i) for i in self._control}
        leaders = {0, *self.function.labels.values()}
        leaders.update(i + 1 for i in self.notable if self.kinds[i] is Kind.WAIT)  # a conditional wait parts two states
        for index, targets in self._jump_targets.items():
            leaders.add(index + 1)
            leaders.update(targets)
        cuts = sorted(leader for leader in leaders if leader < count)
        return [Block(a, b) for a, b in zip(cuts, [*cuts[1:], count], strict=True)]

    def _connect(self) -> None:
        for number, block in enumerate(self.blocks):
            index = block.end - 1
            behind = number + 1 if number + 1 < len(self.blocks) else None
            kind = self.kinds[index]
            if kind not in CONTROL:
                block.falls = behind
                continue
            block.last = kind
            block.jumps = [self.block_at[t] for t in self._jump_targets[index] if t in self.block_at]
            guarded = bool(self.function.predicates[index]) and self.function.predicates[index] != "PT"
            if kind is Kind.RECONVERGE:
                block.falls = None if block.jumps else behind
            elif kind is Kind.CALL:
                found = _LABEL.search(self.function.operands[index])
                register = bool(re.match(r"\s*U?R\d", self.function.operands[index]))
                block.callee = "" if register or not found else found.group(1)
                block.falls = behind
            elif kind is Kind.INDEXED_BRANCH:
                block.unresolved = not block.jumps
                block.falls = behind if guarded else None
            elif kind is Kind.BRANCH:
                block.falls = behind if guarded or self.extra_predicate(index) or self.is_divergent_jump(index) else None
            elif kind is Kind.COLLECTIVE or guarded or self.extra_predicate(index):
                block.falls = behind

    def is_divergent_jump(self, index: int) -> bool:
        """BRA.DIV and BRA.CONV jump as the warp happens to be, not by a predicate."""
        return ".DIV" in self.function.opcodes[index] or ".CONV" in self.function.opcodes[index] or (
            ".ANY" in self.function.opcodes[index] and not self.function.predicates[index]
        )

    def extra_predicate(self, index: int) -> str | None:
        """The predicate operand of a transfer (BRA.U !UP0, target; EXIT P2), besides its guard."""
        for operand in split_operands(self.function.operands[index].split("`")[0].replace(" ", ",")):
            if re.fullmatch(r"!?U?P\d", operand):
                return operand
        return None

    # asking --------------------------------------------------------------------------------------------------------
    def notable_in(self, block: Block) -> list[int]:
        return self.notable[bisect_left(self.notable, block.start) : bisect_left(self.notable, block.end)]

    def block_of_label(self, label: str) -> int | None:
        index = self.function.labels.get(label)
        return None if index is None else self.block_at.get(index)

    @cached_property
    def order(self) -> list[int]:
        """The place of each block in an order in which, loops aside, a block comes before those that it leads to."""
        place, found = [-1] * len(self.blocks), 0
        for root in range(len(self.blocks)):
            stack = [(root, 0)] if place[root] == -1 else []
            while stack:
                number, position = stack.pop()
                if position == 0:
                    place[number] = -2  # on the way
                successors = self.blocks[number].successors()
                child = next((k for k in range(position, len(successors)) if place[successors[k]] == -1), None)
                if child is None:
                    place[number], found = found, found + 1
                else:
                    stack += [(number, child + 1), (successors[child], 0)]
        return [found - at for at in place]

    def mark_loops(self) -> None:
        """Set in_loop of every block on a cycle (strongly connected components, without recursion)."""
        if self._loops_known:
            return
        self._loops_known = True
        for component in strongly_connected([b.successors() for b in self.blocks]):
            if len(component) > 1 or component[0] in self.blocks[component[0]].successors():
                for number in component:
                    self.blocks[number].in_loop = True


def strongly_connected(successors: list[list[int]]) -> list[list[int]]:
    """Tarjan's components of a graph given as successor lists."""
    order: list[int] = [-1] * len(successors)
    low = [0] * len(successors)
    on_stack = [False] * len(successors)
    stack: list[int] = []
    components: list[list[int]] = []
    counter = 0
    for root in range(len(successors)):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = low[node] = counter
                counter += 1
                stack.append(node)
                on_stack[node] = True
            descended = False
            for at in range(position, len(successors[node])):
                child = successors[node][at]
                if order[child] < 0:
                    work += [(node, at + 1), (child, 0)]
                    descended = True
                    break
                if on_stack[child]:
                    low[node] = min(low[node], order[child])
            if descended:
                continue
            if low[node] == order[node]:
                component: list[int] = []
                while True:
                    member = stack.pop()
                    on_stack[member] = False
                    component.append(member)
                    if member == node:
                        break
                components.append(component)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return components
