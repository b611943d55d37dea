"""Whether a value that was loaded before the wait is used after it."""

from __future__ import annotations

from pdlkit.lint.destinations import destinations_of
from pdlkit.lint.flow import Flow
from pdlkit.lint.opcodes import Kind
from pdlkit.lint.values import split_operands

_LIMIT = 4000  # blocks looked at; enough for any function we have seen


def _mentions(operands: tuple[str, ...], register: str) -> bool:
    for operand in operands:
        at = operand.find(register)
        while at >= 0:
            behind = operand[at + len(register) : at + len(register) + 1]
            before = operand[at - 1 : at] if at else ""
            if not behind.isdigit() and not before.isalnum():
                return True
            at = operand.find(register, at + 1)
    return False


def used_after_wait(flow: Flow, load: int) -> int | None:
    """Index of the first use, behind a wait in the same section, of a register that this instruction loaded."""
    function = flow.function
    loaded, _ = destinations_of(function.opcodes[load], split_operands(function.operands[load]))
    registers = frozenset(n for n in loaded if "P" not in n)
    start = next(n for n, b in enumerate(flow.blocks) if b.start <= load < b.end)
    work: list[tuple[int, int, bool, frozenset[str]]] = [(start, load + 1, False, registers)]
    seen: set[tuple[int, bool, frozenset[str]]] = set()
    while work and len(seen) < _LIMIT:
        number, first, waited, live = work.pop()
        block = flow.blocks[number]
        for index in range(first, block.end):
            if flow.kinds[index] is Kind.WAIT:
                waited = True
                continue
            operands = split_operands(function.operands[index])
            written, sources = destinations_of(function.opcodes[index], operands)
            if waited and any(_mentions(sources, r) for r in live):
                return index
            if not function.predicates[index]:
                live = live - set(written)
            if not live:
                break
        if not live:
            continue
        for successor in block.successors():
            state = (successor, waited, live)
            if state not in seen:
                seen.add(state)
                work.append((successor, flow.blocks[successor].start, waited, live))
    return None
