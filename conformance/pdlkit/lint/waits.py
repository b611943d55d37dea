"""The analysis: which accesses can a thread make before it, or its block, has waited?

Every path from the entry is followed until the thread has waited; what happens then is of no interest. On the way the
evaluator keeps what conditions say, so a path that contradicts itself (warp 0 here, not warp 0 there) does not count,
and addresses are followed back to parameters. Calls are walked as if they were inlined.

A path's state:
    FRESH     nobody is known to have waited
    SIBLING   this thread passed by a wait that other threads of its block execute; a block-wide barrier makes it safe
    CLUSTER   the same, but threads of another block of the cluster wait; a cluster barrier makes it safe
    SIGNALLED as SIBLING, then released by an object in shared memory (mbarrier): maybe safe, maybe not
    WAITED    only followed when the ids of barriers that waiters arrive at are wanted
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pdlkit.lint import conditions as cond
from pdlkit.lint.evaluator import Evaluator, Image, Registers
from pdlkit.lint.flow import Block, Flow
from pdlkit.lint.opcodes import ACCESSES, GENERIC, Kind
from pdlkit.lint.program import COPY_CALL, SYSTEM_CALLS, Program
from pdlkit.lint.values import (
    UNKNOWN,
    VARIES_BY_BLOCK,
    VARIES_BY_THREAD,
    Root,
    leaf_varies,
    parse_operand,
    pure_window,
    split_operands,
)

FRESH, CLUSTER, SIBLING, SIGNALLED, WAITED = 0, 1, 2, 3, 4
_STATES_PER_NODE = 24
_VISITS = 60_000
_MAX_DEPTH = 16
_ROUNDS = 4  # of learning which conditions to keep

_SPLIT = "@split"  # in the registers of a state: a branch that threads leave in different ways lies behind it
_WRITE_REGISTERS = ACCESSES | {Kind.MBARRIER, Kind.UNKNOWN}

_SPLIT_VALUE = (None, frozenset[Root](), 0)

Context = tuple[tuple[str, int], ...]  # (section, block to return to), innermost last
Node = tuple[Context, str, int]


@dataclass
class Access:
    """One instruction that some path reaches without a wait."""

    section: str
    index: int
    kind: Kind
    states: set[int] = field(default_factory=set)
    roots: frozenset[Root] = frozenset()
    contexts: set[Context] = field(default_factory=set)
    reaches_wait: bool = False


@dataclass
class Edges:
    """How one node can be left, gathered on the first pass."""

    targets: set[Node] = field(default_factory=set)
    varies: int = 0
    events: list[tuple[str, int]] = field(default_factory=list)  # ("wait", varies) or ("barrier", 0), in order


@dataclass
class Result:
    accesses: dict[tuple[str, int], Access] = field(default_factory=dict)
    prefetches: set[tuple[str, int]] = field(default_factory=set)
    unknown: set[tuple[str, int]] = field(default_factory=set)
    unresolved_calls: set[tuple[str, int, str]] = field(default_factory=set)
    exits: set[tuple[str, int]] = field(default_factory=set)  # exits without a wait
    waits: set[tuple[str, int]] = field(default_factory=set)
    simplified: bool = False  # too many paths: conditions were not kept apart


class Analysis:
    """One kernel of one program."""

    def __init__(self, program: Program, kernel: str) -> None:
        self.program, self.kernel = program, kernel
        info = program.info(kernel)
        self.max_threads = info.max_threads
        self.image = Image(program.cubin, kernel, info)
        self.evaluator = Evaluator(self.image)
        self.edges: dict[Node, Edges] = {}
        self._sites: dict[Any, set[tuple[str, int]]] = {}  # base of a fact -> where it is asked
        self._kept: set[Any] = set()
        self._learning = True
        self._keep_facts = False
        self._arrivals: set[Any] | None = None  # barrier ids that waiters arrive at; None: any
        self._follow_waited = False
        self._asked_named = False
        self._will_wait: dict[Node, bool] = {}
        self.result = Result()

    # driving -------------------------------------------------------------------------------------------------------
    def run(self) -> Result:
        if self.program.flow(self.kernel) is None:
            return self.result
        self._propagate()  # first pass: branches, conditions, what is stored to local memory
        self._learning = False
        self._keep_facts = True
        for number in range(_ROUNDS):
            kept = {base for base, places in self._sites.items() if len(places) > 1}
            if number and kept == self._kept:
                break
            self._kept = kept  # conditions kept apart let more conditions be told
            if not self._propagate():
                self._keep_facts = False
                self._propagate()
                self.result.simplified = True
                break
        if self._asked_named:
            self._check_named_barriers()
        self._mark_reaching()
        return self.result

    def _check_named_barriers(self) -> None:
        """A barrier of some warps helps only if a thread that waited arrives at it."""
        simplified = self.result.simplified
        self._follow_waited, self._arrivals = True, set()
        gathered: set[Any] = set()
        self._gathered = gathered
        self._propagate()
        self._follow_waited, self._arrivals = False, gathered
        if not self._propagate():
            self._keep_facts = False
            self._propagate()
            simplified = True
        self.result.simplified = simplified

    def _propagate(self) -> bool:
        """Follow all paths to a fixed point; False if there are too many to keep conditions apart."""
        self.result = Result()
        self.states: dict[Node, dict[Any, tuple[cond.Facts, Registers]]] = {}
        self._queue: deque[tuple[Node, Any]] = deque()
        self._queued: set[tuple[Node, Any]] = set()
        self._enter(((), self.kernel, 0), FRESH, {}, {})
        visits = 0
        while self._queue:
            node, key = self._queue.popleft()
            self._queued.discard((node, key))
            found = self.states[node].get(key)
            if found is None:
                continue
            visits += 1
            if visits > _VISITS and self._keep_facts:
                return False
            self._walk(node, key[0], dict(found[0]), dict(found[1]))
        return True

    def _enter(self, node: Node, wait: int, facts: cond.Facts, regs: Registers) -> None:
        table = self.states.setdefault(node, {})
        kept = {k: v for k, v in facts.items() if k in self._kept} if self._keep_facts else {}
        key = (wait, frozenset(kept.items()))
        if key not in table and len(table) >= _STATES_PER_NODE:
            key, kept = (wait, frozenset()), {}
        old = table.get(key)
        if old is not None:
            merged = self._join(old[1], regs)
            if merged is None:
                return
            regs = merged
        table[key] = (kept, regs)
        if (node, key) not in self._queued:
            self._queued.add((node, key))
            self._queue.append((node, key))

    def _join(self, old: Registers, new: Registers) -> Registers | None:
        """What holds in both; None if that is no less than the old."""
        merged, changed = {}, False
        split = _SPLIT in old and _SPLIT in new  # then a difference is one between threads
        for name, value in old.items():
            other = new.get(name)
            if other is None:
                changed = True
                continue
            if other is not value and other != value:
                if len(value) == 2:
                    same = value[0] == other[0]
                    joined: Any = (value[0] if same else None, value[1] | other[1] | (split and not same))
                else:
                    same = value[0] == other[0]
                    joined = (value[0] if same else None, value[1] | other[1], value[2] | other[2] | (split and not same))
                if joined != value:
                    changed, value = True, joined
            merged[name] = value
        return merged if changed else None

    # one block -----------------------------------------------------------------------------------------------------
    def _walk(self, node: Node, wait: int, facts: cond.Facts, regs: Registers) -> None:
        context, section, number = node
        flow = self.program.flow(section)
        assert flow is not None
        block = flow.blocks[number]
        flow.mark_loops()
        function, kinds = flow.function, flow.kinds
        edges = self.edges.setdefault(node, Edges()) if self._learning else Edges()
        edges.events.clear()
        for index in range(block.start, block.end):
            kind, guard = kinds[index], function.predicates[index]
            if kind is Kind.PLAIN:
                site = None if block.in_loop else (section, index, context)
                self.evaluator.execute(regs, function.opcodes[index], function.operands[index], guard, site)
                continue
            formula, varies = self.evaluator.predicate(regs, guard) if guard else (cond.TRUE, 0)
            self._note_site(formula, section, index)
            decided = cond.truth(formula, facts) if formula is not None else None
            if decided is False:
                continue
            if index == block.end - 1 and block.last is not Kind.PLAIN:
                self._leave(node, flow, block, wait, facts, regs, edges)
                return
            outcome = self._event(node, flow, index, kind, (formula, varies, decided), wait, facts, regs, edges)
            if outcome is None:
                return
            wait, facts = outcome
            if kind in _WRITE_REGISTERS:
                site = None if block.in_loop else (section, index, context)
                self.evaluator.execute(regs, function.opcodes[index], function.operands[index], guard, site)
        if block.falls is not None:
            self._go(edges, (context, section, block.falls), wait, facts, regs)

    def _note_site(self, formula: Any, section: str, index: int) -> None:
        if formula is not None:
            for base in cond.bases(formula):
                self._sites.setdefault(base, set()).add((section, index))

    def _go(self, edges: Edges, target: Node, wait: int, facts: cond.Facts, regs: Registers) -> None:
        edges.targets.add(target)
        self._enter(target, wait, facts, regs)

    def _event(
        self, node: Node, flow: Flow, index: int, kind: Kind, guard: tuple[Any, int, bool | None], wait: int,
        facts: cond.Facts, regs: Registers, edges: Edges,
    ) -> tuple[int, cond.Facts] | None:
        """A notable instruction inside a block; the new state, or None if the path needs no more attention."""
        formula, varies, decided = guard
        if kind is Kind.WAIT:
            return self._wait(node, index, guard, wait, facts, regs, edges)
        if kind is Kind.BARRIER or kind is Kind.CLUSTER_BARRIER or kind is Kind.BARRIER_ARRIVE:
            return self._barrier(flow, index, kind, wait, facts, regs, edges)
        if wait == WAITED:
            return wait, facts
        if kind is Kind.MBARRIER:
            return (SIGNALLED if wait == SIBLING else wait), facts
        if kind in ACCESSES:
            self._access(node, flow, index, kind, wait, regs)
        elif kind is Kind.PREFETCH:
            self.result.prefetches.add((node[1], index))
        elif kind is Kind.UNKNOWN:
            self.result.unknown.add((node[1], index))
        return wait, facts

    def _wait(
        self, node: Node, index: int, guard: tuple[Any, int, bool | None], wait: int, facts: cond.Facts,
        regs: Registers, edges: Edges,
    ) -> tuple[int, cond.Facts] | None:
        formula, varies, decided = guard
        self.result.waits.add((node[1], index))
        if decided or formula == cond.TRUE:
            edges.events.append(("wait", VARIES_BY_THREAD))
            return (WAITED, facts) if self._follow_waited else None
        edges.events.append(("wait", varies))
        cases = [(f, v) for known, v in self._cases(formula, varies, facts)
                 if (f := cond.assume(formula, False, known) if formula is not None else known) is not None]
        if not cases:
            return (WAITED, facts) if self._follow_waited else None
        # of several cases the one in which nobody waits says most; what is known of it is not kept apart
        states = [_passed_by(wait, v) for _, v in cases]
        return min(states), cases[0][0] if len(cases) == 1 else facts

    def _barrier(
        self, flow: Flow, index: int, kind: Kind, wait: int, facts: cond.Facts, regs: Registers, edges: Edges
    ) -> tuple[int, cond.Facts] | None:
        if kind is Kind.CLUSTER_BARRIER:
            edges.events.append(("barrier", 0))
            safe = wait in (SIBLING, CLUSTER, SIGNALLED)
            return ((WAITED, facts) if self._follow_waited else None) if safe else (wait, facts)
        name, whole = self._barrier_id(flow.function.operands[index], regs)
        if wait == WAITED:
            self._gathered.add(name)
            return wait, facts
        if kind is Kind.BARRIER_ARRIVE:
            return wait, facts
        if whole:
            edges.events.append(("barrier", 0))
        if wait not in (SIBLING, SIGNALLED):
            return wait, facts
        if not whole:
            self._asked_named = True
            if self._arrivals is not None and not {name, None} & self._arrivals and name is not None:
                return wait, facts
        return (WAITED, facts) if self._follow_waited and whole else ((wait, facts) if self._follow_waited else None)

    def _barrier_id(self, operand_text: str, regs: Registers) -> tuple[int | None, bool]:
        """(the barrier's number or None, whether all threads of the block take part)."""
        operands = split_operands(operand_text)
        numbers: list[int | None] = []
        for operand in operands[:2]:
            if parse_operand(operand)[0] == "pred":
                break
            expression = self.evaluator.value(regs, operand)[0]
            numbers.append(expression[1] if expression is not None and expression[0] == "k" else None)
        if len(numbers) < 2:
            return (numbers[0] if numbers else 0), True
        count = numbers[1]
        return numbers[0], bool(count and self.max_threads and count >= self.max_threads)

    def _access(self, node: Node, flow: Flow, index: int, kind: Kind, wait: int, regs: Registers) -> None:
        context, section, _ = node
        roots, _ = self._address_roots(flow, index, regs)
        if kind in GENERIC and pure_window(roots):
            return
        found = self.result.accesses.setdefault((section, index), Access(section, index, kind))
        found.states.add(wait)
        found.roots |= roots
        found.contexts.add(context)

    def _address_roots(self, flow: Flow, index: int, regs: Registers) -> tuple[frozenset[Root], int]:
        opcode = flow.function.opcodes[index]
        parts = [p for p in flow.function.operands[index].split(", ") if "[" in p]
        if not parts:
            return frozenset(), 0
        # copies between memories have two addresses; the global one is that of the source or the destination
        from_second = opcode.startswith(("LDGSTS", "UBLKCP.S", "UTMALDG")) and len(parts) > 1
        return self.evaluator.address(regs, parts[1] if from_second else parts[0])

    # leaving a block -----------------------------------------------------------------------------------------------
    def _leave(
        self, node: Node, flow: Flow, block: Block, wait: int, facts: cond.Facts, regs: Registers, edges: Edges
    ) -> None:
        context, section, _ = node
        index = block.end - 1
        kind, guard = block.last, flow.function.predicates[index]
        formula, varies = self.evaluator.predicate(regs, guard) if guard else (cond.TRUE, 0)
        extra = flow.extra_predicate(index)
        if extra is not None:
            second, second_varies = self.evaluator.predicate(regs, extra)
            varies |= second_varies
            formula = cond.conjunction(formula, second) if formula is not None and second is not None else None
            self._note_site(formula, section, index)
        if kind is Kind.BRANCH:
            self._branch(node, flow, block, formula, varies, wait, facts, regs, edges)
            return
        taken = cond.assume(formula, True, facts) if formula is not None else facts
        passed = cond.assume(formula, False, facts) if formula is not None else facts
        edges.varies |= varies
        if taken is not None:
            if kind is Kind.EXIT and wait != WAITED:
                self.result.exits.add((section, index))
            elif kind is Kind.CALL:
                self._call(node, flow, block, wait, taken, dict(regs), edges)
            elif kind is Kind.RETURN:
                self._return(context, wait, taken, regs, edges)
            elif kind in (Kind.INDEXED_BRANCH, Kind.RECONVERGE, Kind.COLLECTIVE):
                self._jump(node, flow, block, wait, taken, regs, edges)
        guarded = guard != "" or extra is not None
        if kind is Kind.CALL and not guarded:
            return
        falls = block.falls is not None and (guarded or kind in (Kind.RECONVERGE, Kind.COLLECTIVE))
        if falls and (passed is not None or kind in (Kind.RECONVERGE, Kind.COLLECTIVE)):
            target = (context, section, block.falls)
            self._go(edges, target, wait, passed if passed is not None else facts, regs)  # type: ignore[arg-type]

    def _jump(
        self, node: Node, flow: Flow, block: Block, wait: int, facts: cond.Facts, regs: Registers, edges: Edges
    ) -> None:
        context, section, _ = node
        index = block.end - 1
        targets: list[Node] = [(context, section, t) for t in block.jumps]
        if block.last is Kind.INDEXED_BRANCH:
            operand = split_operands(flow.function.operands[index].replace(" ", ","))[0]
            edges.varies |= self.evaluator.value(regs, operand)[2]
            if block.unresolved:
                self.result.unresolved_calls.add((section, index, "an indexed branch whose targets are not listed"))
        for target in targets:
            self._go(edges, target, self._towards(target, targets, wait, edges.varies), facts, regs)

    def _branch(
        self, node: Node, flow: Flow, block: Block, formula: Any, varies: int, wait: int, facts: cond.Facts,
        regs: Registers, edges: Edges,
    ) -> None:
        context, section, _ = node
        index = block.end - 1
        if flow.is_divergent_jump(index) or ".ANY" in flow.function.opcodes[index]:
            formula, varies = None, varies
        edges.varies |= varies
        if formula is not None and formula[0] == "k" and not self._learning and node in self.edges:
            varies |= self.edges[node].varies  # decided on this path; other threads come here with another value
        if varies:
            regs[_SPLIT] = _SPLIT_VALUE
        everywhere: list[Node] = [(context, section, t) for t in block.successors()]
        for known, split in self._cases(formula, varies, facts):
            taken = cond.assume(formula, True, known) if formula is not None else known
            passed = cond.assume(formula, False, known) if formula is not None else known
            ways: list[tuple[Node, cond.Facts | None]] = [((context, section, t), taken) for t in block.jumps]
            if block.falls is not None:
                ways.append(((context, section, block.falls), passed))
            for target, there in ways:
                if there is not None and not self._outside_cluster(wait, there):
                    self._go(edges, target, self._towards(target, everywhere, wait, split), there, regs)

    def _cases(self, formula: Any, varies: int, facts: cond.Facts) -> list[tuple[cond.Facts, int]]:
        """What is the same for the whole block is settled first; only the rest divides its threads."""
        if formula is None or formula[0] == "k" or not varies or self._learning:
            return [(facts, varies)]
        cases = [facts]
        parts = cond.atoms(formula)
        same = [a for a in parts if not leaf_varies(a, self.image.varying_sites)] if len(parts) > 1 else []
        for atom in same[:3]:
            both = [cond.assume(atom, value, f) for f in cases for value in (True, False)]
            cases = [f for f in both if f is not None]
        return [(f, varies if cond.truth(formula, f) is None else 0) for f in cases]

    def _outside_cluster(self, wait: int, facts: cond.Facts) -> bool:
        """Where there is no cluster there is one rank, and nobody passes by the wait of another."""
        flag = ("in", self.image.cluster_flag, "u", 1, 1)
        return wait == CLUSTER and cond.truth(flag, facts) is False

    def _towards(self, target: Node, everywhere: list[Node], wait: int, varies: int) -> int:
        """The state after choosing one way of a branch that other threads may leave in another way."""
        if not varies or wait in (WAITED, SIBLING, SIGNALLED) or self._learning:
            return wait
        others = any(self._waits_before_barrier(t) for t in everywhere if t != target)
        if others and not self._waits_before_barrier(target):
            return _passed_by(wait, varies)
        return wait

    def _call(
        self, node: Node, flow: Flow, block: Block, wait: int, facts: cond.Facts, regs: Registers, edges: Edges
    ) -> None:
        context, section, _ = node
        index = block.end - 1
        behind: Node | None = None if block.falls is None else (context, section, block.falls)
        targets = self._call_targets(context, flow, block, index, regs, wait)
        for target in targets:
            written = None
            if target is not None:
                written = self.program.written_if_harmless(*target)
            recursive = len(context) >= _MAX_DEPTH or (behind is not None and (section, behind[2]) in context)
            if target is None or written is not None or recursive:
                self._after_skipped_call(regs, written, None if block.in_loop else (section, index, context))
                if behind is not None:
                    self._go(edges, behind, wait, facts, regs)
                continue
            inner = context if behind is None else (*context, (section, behind[2]))
            self._go(edges, (inner, target[0], target[1]), wait, facts, dict(regs))

    def _after_skipped_call(self, regs: Registers, written: frozenset[str] | None, site: Any) -> None:
        """What a callee that is not walked leaves: results that may differ as its arguments did."""
        if written is None:
            for name in list(regs):
                if not isinstance(name, str) or not _survives_call(name):
                    regs.pop(name, None)
            return
        varies = 0
        for number in range(4, 16):
            varies |= regs.get(f"R{number}", UNKNOWN)[2]
        for name in written:
            regs[name] = self.evaluator.fresh(name, site, frozenset(), varies)

    def _call_targets(
        self, context: Context, flow: Flow, block: Block, index: int, regs: Registers, wait: int
    ) -> list[tuple[str, int] | None]:
        """Where a call may go; None stands for code that touches nothing of ours, or that nobody can see."""
        section = flow.function.name
        if block.callee:
            if block.callee in SYSTEM_CALLS:
                return [None]
            found = self.program.resolve(section, block.callee)
            if found is None and wait != WAITED:
                self.result.unresolved_calls.add((section, index, f"`{block.callee}`, which is not in this file"))
            return [found]
        operand = split_operands(flow.function.operands[index].replace("`", ",").replace(" ", ","))[0]
        roots = self.evaluator.value(regs, operand)[1]
        symbols = {root[1] for root in roots if root[0] == "symbol"}
        if symbols and all(str(s).startswith(COPY_CALL) for s in symbols):
            if wait != WAITED:
                self._copy_call(context, section, index, wait, regs)
            return [None]
        if symbols and len(symbols) == len(roots):
            if symbols <= SYSTEM_CALLS:
                return [None]
            found_all = [self.program.resolve(section, name) for name in sorted(symbols)]
            if all(f is not None for f in found_all):
                return list(found_all)
        targets: list[tuple[str, int] | None] = list(self.program.indirect_targets(section))
        if not targets and wait != WAITED:
            self.result.unresolved_calls.add((section, index, "a function pointer of unknown value"))
        return targets or [None]

    def _copy_call(self, context: Context, section: str, index: int, wait: int, regs: Registers) -> None:
        """Some bulk copies are calls of the driver on sm_120; the addresses are in the argument registers."""
        found = self.result.accesses.setdefault((section, index), Access(section, index, Kind.ASYNC_LOAD))
        found.states.add(wait)
        found.contexts.add(context)
        for number in range(4, 12):
            found.roots |= frozenset(r for r in regs.get(f"R{number}", UNKNOWN)[1] if r[0] != "window")

    def _return(self, context: Context, wait: int, facts: cond.Facts, regs: Registers, edges: Edges) -> None:
        if context:
            section, block = context[-1]
            self._go(edges, (context[:-1], section, block), wait, facts, regs)

    # questions about the graph -------------------------------------------------------------------------------------
    def _waits_before_barrier(self, start: Node) -> bool:
        """Whether some thread that gets here surely waits before it reaches a block-wide barrier or its end.

        At a branch that threads leave in different ways one way suffices; at one that the whole block leaves alike,
        each way has to lead to a wait. Ways back in a loop are left out.
        """
        if start in self._will_wait:
            return self._will_wait[start]
        open_nodes: set[Node] = set()
        stack: list[tuple[Node, bool]] = [(start, False)]
        while stack:
            node, done = stack.pop()
            if node in self._will_wait:
                continue
            edges = self.edges.get(node)
            if edges is None:
                self._will_wait[node] = False
                continue
            early = _first_event(edges.events)
            if early is not None:
                self._will_wait[node] = early
                continue
            if not done:
                open_nodes.add(node)
                stack.append((node, True))
                stack += [(t, False) for t in edges.targets if t not in self._will_wait and t not in open_nodes]
                continue
            open_nodes.discard(node)
            answers = [self._will_wait[t] for t in edges.targets if t in self._will_wait]
            self._will_wait[node] = bool(answers) and (any(answers) if edges.varies else all(answers))
        return self._will_wait[start]

    def _mark_reaching(self) -> None:
        """Which recorded accesses can be followed by a wait of the same thread."""
        before: dict[Node, set[Node]] = {}
        work: list[Node] = []
        for node, edges in self.edges.items():
            for target in edges.targets:
                before.setdefault(target, set()).add(node)
            if any(event == "wait" for event, _ in edges.events):
                work.append(node)
        reaching = set(work)
        while work:
            for node in before.get(work.pop(), ()):
                if node not in reaching:
                    reaching.add(node)
                    work.append(node)
        blocks = {(n[1], n[2]) for n in reaching}
        waiting = {(n[1], n[2]) for n, e in self.edges.items() if any(k == "wait" for k, _ in e.events)}
        later = {(n[1], n[2]) for n in self.edges if any(t in reaching for t in self.edges[n].targets)}
        for access in self.result.accesses.values():
            flow = self.program.flow(access.section)
            assert flow is not None
            number = next(i for i, b in enumerate(flow.blocks) if b.start <= access.index < b.end)
            here = (access.section, number)
            block = flow.blocks[number]
            behind = any(flow.kinds[i] is Kind.WAIT for i in range(access.index, block.end))
            access.reaches_wait = here in later or (here in waiting and behind) or (here in blocks and behind)


def _passed_by(wait: int, varies: int) -> int:
    if wait in (WAITED, SIBLING, SIGNALLED) or not varies:
        return wait
    return CLUSTER if varies & VARIES_BY_BLOCK else SIBLING  # a block all of whose threads pass by has no waiter of its own


def _first_event(events: list[tuple[str, int]]) -> bool | None:
    """Whether the first event that decides is a wait; None if none decides."""
    for event, varies in events:
        if event == "barrier":
            return False
        if varies:
            return True
    return None


def _survives_call(name: str) -> bool:
    """Registers that a callee keeps by the calling convention."""
    return name.startswith("R") and name[1:].isdigit() and 16 <= int(name[1:]) <= 31 or name.startswith("UR")
