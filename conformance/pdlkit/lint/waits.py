"""The analysis: which accesses can a thread make before it, or its block, has waited?

Every path from the entry is followed until the thread has waited; what happens then is of no interest. On the way the
evaluator keeps what conditions say, so a path that contradicts itself (warp 0 here, not warp 0 there) does not count,
and addresses are followed back to parameters. Calls are walked as if they were inlined.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from pdlkit.lint import conditions as cond
from pdlkit.lint.evaluator import Evaluator, Image, Registers
from pdlkit.lint.flow import Block, Flow
from pdlkit.lint.memory import forget_shared
from pdlkit.lint.opcodes import ACCESSES, GENERIC, Kind
from pdlkit.lint.program import COPY_CALL, SYSTEM_CALLS, Program
from pdlkit.lint.reaching import mark_reaching, waits_before_barrier
from pdlkit.lint.signals import Range, Signals, barrier_range, leaves
from pdlkit.lint.states import AHEAD, CLUSTER, FRESH, SIBLING, SIGNALLED, WAITED, Access, Context, Edges, Node, Result, passed_by
from pdlkit.lint.values import (
    CLUSTER_REGISTERS,
    UNKNOWN,
    VARIES_BY_BLOCK,
    VARIES_BY_THREAD,
    Root,
    any_of,
    leaf_varies,
    parse_operand,
    pure_window,
    split_operands,
)

_STATES_PER_NODE = 24
_VISITS, _VISITS_PER_NODE = 6_000, 3  # more, and conditions are not kept apart
_MAX_DEPTH = 16
_ROUNDS = 4  # of learning which conditions to keep

_SPLIT = "@split"  # in the registers of a state: a branch that threads leave in different ways lies behind it
_OBJECTS = frozenset({Kind.MBARRIER, Kind.SIGNAL, Kind.ASYNC_LOAD})  # a bulk copy signals when it is complete
_MEETINGS = frozenset({Kind.BARRIER, Kind.CLUSTER_BARRIER, Kind.MBARRIER})  # behind which others' stores are seen
_WRITE_REGISTERS = ACCESSES | {Kind.MBARRIER, Kind.SIGNAL, Kind.UNKNOWN}

_SPLIT_VALUE = (None, frozenset[Root](), 0)


def _asks_for_block(formula: Any) -> bool:
    """Whether blocks of one cluster can answer differently."""
    return leaf_varies(formula, (), CLUSTER_REGISTERS)


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
        self._signals: Signals | None = None  # of threads that waited; None: not asked yet, so any barrier helps
        self._gathered = Signals()
        self._follow_waited = False
        self._asked_signals = False
        self._will_wait: dict[Node, bool] = {}
        self._waits_later: dict[Node, bool] = {}
        self._places: dict[Node, tuple[float, ...]] = {}
        self._pushed = 0
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
        if self._asked_signals:
            self._judge_signals()
        mark_reaching(self.program, self.edges, self.result.accesses.values())
        return self.result

    def _judge_signals(self) -> None:
        """Gather what threads signal that waited, then what those signal that they release, until nothing is added."""
        simplified = self.result.simplified
        self._follow_waited, self._signals = True, Signals()
        for _ in range(_ROUNDS):
            self._gathered = Signals()
            self._propagate()
            if self._gathered == self._signals:
                break
            self._signals = self._gathered
        self._follow_waited = False
        if not self._propagate():
            self._keep_facts = False
            self._propagate()
            simplified = True
        self.result.simplified = simplified

    def _propagate(self) -> bool:
        """Follow all paths to a fixed point; False if there are too many to keep conditions apart."""
        self.result = Result()
        self.states: dict[Node, dict[Any, tuple[cond.Facts, Registers]]] = {}
        self._entered: dict[Context, set[tuple[str, int]]] = {}  # what runs in this context was called at
        self._returned: dict[tuple[str, int], set[int]] = {}  # how far along calls of this function return
        self._awaiting: dict[tuple[str, int], list[tuple[Edges, Node, int, cond.Facts, Registers]]] = {}
        self._queue: list[tuple[tuple[float, ...], int, Node, Any]] = []  # a heap: first what leads to the rest
        self._queued: set[tuple[Node, Any]] = set()
        self._enter(((), self.kernel, 0), FRESH, {}, {})
        visits = 0
        while self._queue:
            _, _, node, key = heappop(self._queue)
            self._queued.discard((node, key))
            found = self.states[node].get(key)
            if found is None:
                continue
            visits += 1
            if self._keep_facts and visits > _VISITS + _VISITS_PER_NODE * len(self.edges):
                return False
            self._walk(node, key[0], dict(found[0]), dict(found[1]))
        return True

    def _enter(self, node: Node, wait: int, facts: cond.Facts, regs: Registers) -> None:
        table = self.states.setdefault(node, {})
        matters = self.program.liveness(node[1], self._until_wait(node[1])).entering[node[2]]
        if matters is not None:
            gone, regs = regs.keys() - matters, dict(regs)
            for name in gone:
                if name is not _SPLIT and not isinstance(name, tuple):
                    del regs[name]
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
            self._pushed += 1
            heappush(self._queue, (self._place(node), self._pushed, node, key))

    def _until_wait(self, section: str) -> bool:
        """Whether only code before the wait is followed there: what waiters signal lies behind it, and callees begin anywhere."""
        return section == self.kernel and not self._follow_waited

    def _place(self, node: Node) -> tuple[float, ...]:
        """Calls come where they return to, and just before that."""
        if node not in self._places:
            outer = [self.program.flow(section) for section, _ in node[0]] + [self.program.flow(node[1])]
            blocks = [block for _, block in node[0]] + [node[2]]
            places = [f.order[b] - 0.5 for f, b in zip(outer, blocks, strict=True) if f is not None]
            self._places[node] = (*places[:-1], places[-1] + 0.5)
        return self._places[node]

    def _join(self, old: Registers, new: Registers) -> Registers | None:
        """What holds in both; None if that is no less than the old."""
        if old.items() <= new.items():
            return None
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
                    joined = (value[0] if same else any_of(value[0], other[0]), value[1] | other[1],
                              value[2] | other[2] | (split and not same))
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
        matters = self.program.liveness(section, self._until_wait(section)).matters
        edges = self.edges.setdefault(node, Edges()) if self._learning else Edges()
        edges.events.clear()
        for index in range(block.start, block.end):
            kind, guard = kinds[index], function.predicates[index]
            if kind is Kind.PLAIN:
                if not matters[index]:
                    continue
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
        if kind in _MEETINGS:
            forget_shared(regs)
        if kind is Kind.BARRIER or kind is Kind.CLUSTER_BARRIER or kind is Kind.BARRIER_ARRIVE:
            return self._barrier(flow, index, kind, wait, facts, regs, edges)
        if kind in _OBJECTS:
            wait = self._object(flow, index, kind, wait, regs)
        if wait == WAITED:
            return wait, facts
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
        if self._follow_waited and formula is not None:
            self._follow_waiters(node, formula, facts, regs, edges)
        cases = [(f, v) for known, v in self._cases(formula, varies, facts)
                 if (f := cond.assume(formula, False, known) if formula is not None else known) is not None]
        if not cases:
            return (WAITED, facts) if self._follow_waited else None
        # of several cases the one in which nobody waits says most; what is known of it is not kept apart
        states = [passed_by(wait, v) for _, v in cases]
        return min(states), cases[0][0] if len(cases) == 1 else facts

    def _follow_waiters(self, node: Node, formula: Any, facts: cond.Facts, regs: Registers, edges: Edges) -> None:
        """Behind a conditional wait go those that waited, besides those that did not; a wait ends its block."""
        context, section, number = node
        flow, there = self.program.flow(section), cond.assume(formula, True, facts)
        behind = flow.blocks[number].falls if flow is not None else None
        if there is not None and behind is not None:
            self._go(edges, (context, section, behind), WAITED, there, regs)

    def _barrier(
        self, flow: Flow, index: int, kind: Kind, wait: int, facts: cond.Facts, regs: Registers, edges: Edges
    ) -> tuple[int, cond.Facts] | None:
        if kind is Kind.CLUSTER_BARRIER:
            edges.events.append(("barrier", 0))
            safe = wait in (SIBLING, CLUSTER, SIGNALLED)
            return ((WAITED, facts) if self._follow_waited else None) if safe else (wait, facts)
        number, whole = self._barrier_id(flow, index, facts, regs)
        if wait == WAITED:
            self._gathered.barriers.add(number)
        if wait == WAITED or kind is Kind.BARRIER_ARRIVE:
            return wait, facts
        if whole:
            edges.events.append(("barrier", 0))
        if wait not in (SIBLING, SIGNALLED) and (whole or wait != AHEAD):
            return wait, facts
        if not whole:
            self._asked_signals = True
            if self._signals is not None and not self._signals.reaches_barrier(number, bool(self.max_threads)):
                return wait, facts
        return (WAITED, facts) if self._follow_waited else None

    def _barrier_id(self, flow: Flow, index: int, facts: cond.Facts, regs: Registers) -> tuple[Range | None, bool]:
        """(the numbers that the barrier can have or None, whether all threads of the block take part)."""
        operands = [o for o in split_operands(flow.function.operands[index])[:2] if parse_operand(o)[0] != "pred"]
        found = [self.evaluator.value(regs, o)[0] for o in operands]
        if len(set(operands)) == 1 and len(operands) == 2 and found[0] is not None:  # number and threads in one register
            found = _unpacked(found[0])
        for base in leaves(found[0]) if found else ():
            self._sites.setdefault(base, set()).add((flow.function.name, index))
        if len(found) < 2:
            return (barrier_range(found[0], facts) if found else (0, 0)), True
        count = found[1]
        whole = count is not None and count[0] == "k" and 0 < self.max_threads <= count[1]
        return barrier_range(found[0], facts), bool(whole)

    def _object(self, flow: Flow, index: int, kind: Kind, wait: int, regs: Registers) -> int:
        """A thread waits for a barrier object in shared memory, or signals one."""
        address = self.evaluator.object_address(regs, flow.function.opcodes[index], flow.function.operands[index])
        if wait in (WAITED, SIGNALLED) and kind is not Kind.MBARRIER:
            self._gathered.objects.add(address)
        if kind is Kind.MBARRIER and wait in (SIBLING, AHEAD) and not self._passes_at_once(flow, index, regs):
            self._asked_signals = True
            if self._signals is None or self._signals.reaches_object(address):
                return SIGNALLED
        return wait

    def _passes_at_once(self, flow: Flow, index: int, regs: Registers) -> bool:
        """A producer's first wait for an empty stage asks for the phase before the first, and nobody has signalled yet."""
        phase = self.evaluator.value(regs, split_operands(flow.function.operands[index])[-1])[0]
        return phase is not None and phase[0] == "k" and phase[1] != 0

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
        if kind is Kind.BRANCH or kind is Kind.RETURN:
            self._branch(node, flow, block, formula, varies, wait, facts, regs, edges)
            return
        taken = cond.assume(formula, True, facts) if formula is not None else facts
        passed = cond.assume(formula, False, facts) if formula is not None else facts
        edges.varies |= varies
        edges.traps = kind is Kind.TRAP and block.falls is None
        if taken is not None:
            if kind is Kind.EXIT and wait != WAITED:
                self.result.exits.add((section, index))
            elif kind is Kind.CALL:
                self._call(node, flow, block, wait, taken, dict(regs), edges)
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
        behind: list[Node] = [] if block.falls is None else [(context, section, block.falls)]
        jumps: list[Node] = [(context, section, t) for t in block.jumps]
        if block.last is Kind.RETURN:
            jumps = [(context[:-1], *context[-1])] if context else []
        for known, split in self._cases(formula, varies, facts):
            taken = cond.assume(formula, True, known) if formula is not None else known
            passed = cond.assume(formula, False, known) if formula is not None else known
            for target, there in [(j, taken) for j in jumps] + [(b, passed) for b in behind]:
                if there is not None and not self._outside_cluster(wait, there):
                    towards = self._towards(target, jumps + behind, wait, split)
                    if block.last is Kind.RETURN and target in jumps:
                        self._note_return(context, towards)
                    self._go(edges, target, towards, there, regs)

    def _cases(self, formula: Any, varies: int, facts: cond.Facts) -> list[tuple[cond.Facts, int]]:
        """What is the same for the whole block is settled first; only the rest divides its threads."""
        if formula is None or formula[0] == "k" or not varies or self._learning:
            return [(facts, varies)]
        parts = cond.atoms(formula)
        same = [a for a in parts if not leaf_varies(a, self.image.varying_sites)] if len(parts) > 1 else []
        settled: list[tuple[cond.Facts, int]] = [(facts, varies)]
        for atom in sorted(same[:3], key=_asks_for_block):  # what blocks answer differently leaves waiters in others
            left = varies & VARIES_BY_BLOCK if _asks_for_block(atom) else 0
            both = [(cond.assume(atom, value, f), v) for f, v in settled for value in (True, False)]
            settled = [(f, min(v, left) if cond.truth(formula, f) is not None else v) for f, v in both if f is not None]
        return settled

    def _outside_cluster(self, wait: int, facts: cond.Facts) -> bool:
        """Where there is no cluster there is one rank, and nobody passes by the wait of another."""
        flag = ("in", self.image.cluster_flag, "u", 1, 1)
        return wait == CLUSTER and cond.truth(flag, facts) is False

    def _towards(self, target: Node, everywhere: list[Node], wait: int, varies: int) -> int:
        """The state after choosing one way of a branch that other threads may leave in another way."""
        if not varies or wait in (WAITED, SIBLING, SIGNALLED) or self._learning:
            return wait
        others = any(waits_before_barrier(t, self.edges, self._will_wait) for t in everywhere if t != target)
        if others and not waits_before_barrier(target, self.edges, self._will_wait):
            return passed_by(wait, varies)
        if wait == FRESH and not others and not waits_before_barrier(target, self.edges, self._waits_later, True):
            later = any(waits_before_barrier(t, self.edges, self._waits_later, True) for t in everywhere if t != target)
            return AHEAD if later else wait
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
            recursive = target is not None and behind is not None and (section, behind[2]) in context
            if target is None or written is not None or recursive or len(context) >= _MAX_DEPTH:
                self._after_skipped_call(regs, written, None if block.in_loop else (section, index, context))
                if recursive and target is not None and behind is not None:
                    self._await_return(target, edges, behind, wait, facts, regs)
                elif behind is not None:
                    self._go(edges, behind, wait, facts, regs)
                continue
            inner = context if behind is None else (*context, (section, behind[2]))
            self._entered.setdefault(inner, set()).add(target)
            self._go(edges, (inner, target[0], target[1]), wait, facts, dict(regs))

    def _await_return(
        self, target: tuple[str, int], edges: Edges, behind: Node, wait: int, facts: cond.Facts, regs: Registers
    ) -> None:
        """A recursive call is not walked again: it returns as far along as an outer one does, once that is known."""
        self._awaiting.setdefault(target, []).append((edges, behind, wait, facts, dict(regs)))
        for returned in sorted(self._returned.get(target, ())):
            self._go(edges, behind, max(wait, returned), facts, dict(regs))

    def _note_return(self, context: Context, wait: int) -> None:
        for target in self._entered.get(context, ()):
            states = self._returned.setdefault(target, set())
            if wait not in states:
                states.add(wait)
                for edges, behind, before, facts, regs in list(self._awaiting.get(target, ())):
                    self._go(edges, behind, max(before, wait), facts, dict(regs))

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
            if block.callee.startswith(COPY_CALL):
                self._copy_call(context, section, index, wait, regs)
                return [None]
            found = self.program.resolve(section, block.callee)
            if found is None and wait != WAITED:
                self.result.unresolved_calls.add((section, index, f"`{block.callee}`, which is not in this file"))
            return [found]
        operand = split_operands(flow.function.operands[index].replace("`", ",").replace(" ", ","))[0]
        roots = self.evaluator.value(regs, operand)[1]
        symbols = {root[1] for root in roots if root[0] == "symbol"}
        if symbols and all(str(s).startswith(COPY_CALL) for s in symbols):
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
        if wait in (WAITED, SIGNALLED):
            self._gathered.objects.add(None)
        if wait == WAITED:
            return
        found = self.result.accesses.setdefault((section, index), Access(section, index, Kind.ASYNC_LOAD))
        found.states.add(wait)
        found.contexts.add(context)
        for number in range(4, 12):
            found.roots |= frozenset(r for r in regs.get(f"R{number}", UNKNOWN)[1] if r[0] != "window")


def _unpacked(both: Any) -> list[Any]:
    """The number and the threads of a barrier that stand in one register, as threads << 16 | number & 15."""
    if both[0] == "k":
        return [("k", both[1] & 15), ("k", both[1] >> 16)]
    if both[0] == "op" and both[2] == "lop248" and both[3][0] == "k" and both[4] == ("k", 15):
        return [both[5], ("k", both[3][1] >> 16)]
    return [None, None]


def _survives_call(name: str) -> bool:
    """Registers that a callee keeps by the calling convention."""
    return name.startswith("R") and name[1:].isdigit() and 16 <= int(name[1:]) <= 31 or name.startswith("UR")
