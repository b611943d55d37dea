"""From the analysis of one kernel to its findings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pdlkit.lint.declarations import Declaration, ordinal_of, within
from pdlkit.lint.elf import KernelInfo
from pdlkit.lint.findings import Finding
from pdlkit.lint.flow import Flow
from pdlkit.lint.hints import hints_of
from pdlkit.lint.lifetimes import used_after_wait
from pdlkit.lint.opcodes import READS, WRITES, Kind, is_readonly
from pdlkit.lint.program import Program
from pdlkit.lint.states import CLUSTER, FRESH, SIBLING, SIGNALLED, Access, Result
from pdlkit.lint.values import Root
from pdlkit.lint.waits import Analysis

_BY_KIND = {
    Kind.LOAD: "read-before-wait", Kind.GENERIC_LOAD: "read-before-wait",
    Kind.STORE: "write-before-wait", Kind.GENERIC_STORE: "write-before-wait",
    Kind.ATOMIC: "atomic-before-wait", Kind.GENERIC_ATOMIC: "atomic-before-wait",
    Kind.ASYNC_LOAD: "async-copy-before-wait", Kind.ASYNC_STORE: "async-copy-before-wait",
    Kind.TEXTURE: "texture-before-wait",
}
_VERBS = {
    Kind.LOAD: "read", Kind.GENERIC_LOAD: "read", Kind.STORE: "written", Kind.GENERIC_STORE: "written",
    Kind.ATOMIC: "changed by an atomic operation", Kind.GENERIC_ATOMIC: "changed by an atomic operation",
    Kind.ASYNC_LOAD: "copied from", Kind.ASYNC_STORE: "copied to", Kind.TEXTURE: "read as a texture",
}
_OWN_SYMBOL = re.compile(r"__cudart_|_ZTV|\$str|__unnamed|__const|\w+\$\d+$")


class Judge:
    """Writes the findings of one kernel; `names` are (file, image, arch, mangled, demangled)."""

    def __init__(self, program: Program, names: tuple[str, str | None, str, str, str], overlapping: bool,
                 declarations: Iterable[Declaration]) -> None:
        self.program, self.overlapping = program, overlapping
        self.file, self.image, self.arch, self.kernel, self.demangled = names
        self.info: KernelInfo = program.info(self.kernel)
        self.declarations = [
            d for d in declarations if d.kernel.search(self.kernel) or d.kernel.search(self.demangled)
        ]
        self.findings: list[Finding] = []
        self.waits = False

    def add(self, rule: str, message: str, section: str | None = None, index: int | None = None,
            roots: frozenset[Root] = frozenset()) -> Finding:
        offset, source, instruction = None, None, None
        place = self.kernel
        if section is not None and index is not None:
            flow = self.program.flow(section)
            assert flow is not None
            function = flow.function
            offset = function.addresses[index]
            source = function.line_of(index)
            instruction = f"{function.opcodes[index]} {function.operands[index]}".strip()
            place = section
        where = f"{self.file}: {self.arch} {place}" + ("" if offset is None else f"+0x{offset:04x}")
        if source is not None:
            where += f" ({source[0]}:{source[1]})"
        ordinals = sorted({o for r in roots if (o := self._ordinal(r)) is not None})
        finding = Finding(rule, self.kernel, self.demangled, self.file, self.arch, message, where, offset, section,
                          source, instruction, ordinals, self.image)
        self.findings.append(finding)
        return finding

    def _ordinal(self, root: Root) -> int | None:
        base = root[1] if root[0] == "via" else root
        return ordinal_of(base[1], self.info) if base[0] == "param" else None

    # judging -------------------------------------------------------------------------------------------------------
    def judge(self) -> list[Finding]:
        program, kernel = self.program, self.kernel
        waits = self.waits = program.closure_has(kernel, Kind.WAIT)
        if self.overlapping and 0 < program.cubin.virtual_sm < 90:
            self.add("no-device-half", f"compiled for compute_{program.cubin.virtual_sm}; named overlapping")
            return self.findings
        if waits:
            self._judge_waiting(Analysis(program, kernel).run())
        elif self.overlapping:
            self._judge_without_wait()
        self.findings += hints_of(self, waits)
        return self.findings

    def _judge_without_wait(self) -> None:
        """No wait in sight: an error, unless code that lint cannot see might contain one."""
        touched, unseen = self.program.closure_touches(self.kernel)
        if unseen:
            self._unresolved(unseen)
            return
        what = f"{touched} instruction{'s' if touched != 1 else ''} can touch global memory" if touched else \
            "it touches no global memory, but later kernels may rely on its order"
        self.add("no-wait", f"named overlapping, and has no wait; {what}")

    def _judge_waiting(self, result: Result) -> None:
        for key in sorted(result.accesses):
            self._judge_access(result.accesses[key])
        for section, index in sorted(result.prefetches):
            self.add("prefetch-before-wait", "a prefetch is issued before the wait", section, index)
        for section, index in sorted(result.unknown):
            flow = self.program.flow(section)
            assert flow is not None
            self.add("unknown-opcode", f"{flow.function.opcodes[index]} is not in lint's tables", section, index)
        self._unresolved(result.unresolved_calls)
        touching = any(f.id != "ordered-by-mbarrier" for f in self.findings)
        if result.exits and not touching:
            section, index = min(result.exits)
            self.add("exit-without-wait", "some threads end without a wait", section, index)

    def _unresolved(self, calls: Iterable[tuple[str, int, str]]) -> None:
        """Each callee once, where it is called first."""
        first: dict[str, tuple[str, int]] = {}
        for section, index, what in sorted(calls):
            first.setdefault(what, (section, index))
        for what, (section, index) in first.items():
            where = "before the wait" if self.waits else "in which a wait may be"
            self.add("unresolved-call", f"a call of {what}, {where}", section, index)

    def _judge_access(self, access: Access) -> None:
        flow = self.program.flow(access.section)
        assert flow is not None
        opcode = flow.function.opcodes[access.index]
        reads = access.kind in READS
        if self._declared(access, reads):
            return
        if reads and self._constant_table(access, opcode):
            if not all(self._compilers_own(r) for r in access.roots):
                self.add("read-only-variable", f"{self._subject(access)} is read before the wait", access.section,
                         access.index, access.roots)
            return
        rule = self._rule(access)
        message = self._message(access, rule, flow)
        self.add(rule, message, access.section, access.index, access.roots)
        if access.kind in (Kind.LOAD, Kind.GENERIC_LOAD) and rule != "ordered-by-mbarrier" and access.reaches_wait:
            use = used_after_wait(flow, access.index)
            if use is not None:
                self.add("value-across-wait", f"what was read from {self._subject(access)} before the wait, at "
                         f"+0x{flow.function.addresses[access.index]:04x}, is used after it", access.section, use,
                         access.roots)

    def _rule(self, access: Access) -> str:
        if access.states == {SIGNALLED} and access.kind is not Kind.ASYNC_LOAD:
            return "ordered-by-mbarrier"
        if FRESH in access.states:
            return _BY_KIND[access.kind] if access.reaches_wait else "path-without-wait"
        return _BY_KIND[access.kind] if access.reaches_wait and not access.states & {SIBLING, CLUSTER, SIGNALLED} \
            else "partial-wait"

    def _message(self, access: Access, rule: str, flow: Flow) -> str:
        verb = _VERBS[access.kind]
        subject = self._subject(access)
        if rule == "partial-wait":
            scope = "of the cluster" if access.states == {CLUSTER} else "of the block"
            text = f"{subject} is {verb} by threads that do not wait; other threads {scope} do, but no barrier lies between"
        elif rule == "path-without-wait":
            text = f"{subject} is {verb} on a path that never waits"
        elif rule == "ordered-by-mbarrier":
            text = f"{subject} is {verb} behind a barrier object in shared memory, without an own wait"
        else:
            text = f"{subject} is {verb} before the wait"
        if is_readonly(flow.function.opcodes[access.index]):
            text += ", through the read-only path"
        callers = {context[-1][0] for context in access.contexts if context}
        if callers and access.section != self.kernel:
            text += f" (called from {', '.join(sorted(callers))})"
        return text

    # what is accessed ----------------------------------------------------------------------------------------------
    def _subject(self, access: Access) -> str:
        direct = sorted({n for r in access.roots if r[0] == "param" and (n := self._named(r)) is not None})
        through = sorted({n for r in access.roots if r[0] == "via" and (n := self._named(r)) is not None} - set(direct))
        names = sorted({str(r[1]) for r in access.roots if r[0] == "symbol"})
        parts = [f"parameter {o}" for o in direct]
        parts += [f"memory reached through parameter {o}" for o in through]
        parts += [f"variable {n}" for n in names]
        if not parts and any(r[0] == "via" and r[1][0] == "symbol" for r in access.roots):
            parts = [f"memory reached through variable {r[1][1]}" for r in sorted(access.roots) if r[0] == "via"
                     and r[1][0] == "symbol"]
        if not parts and any(r[0] == "bank" for r in access.roots):
            parts = ["memory that a __constant__ variable points to"]
        return " or ".join(parts) or "global memory (address not followed)"

    def _named(self, root: Root) -> str | None:
        """The parameter's number, and where in it the pointer stands if it is a struct."""
        ordinal, base = self._ordinal(root), root[1] if root[0] == "via" else root
        if ordinal is None:
            return None
        member = within(base[1], self.info) // 8 * 8
        struct = any(p.ordinal == ordinal - 1 and p.size > 8 for p in self.info.parameters)
        return f"{ordinal} (byte {member})" if struct else str(ordinal)

    def _declared(self, access: Access, reads: bool) -> bool:
        relevant = [r for r in access.roots if r[0] in ("param", "via", "symbol")]
        if not relevant:
            return False
        used = []
        for root in relevant:
            declaration = next((d for d in self.declarations if d.covers(root, self.info) and (reads or d.writes)), None)
            if declaration is None:
                return False
            used.append(declaration)
        for declaration in used:
            declaration.used.add(self.kernel)
        reasons = "; ".join(sorted({d.because for d in used}))
        self.add("declared-independent", f"{self._subject(access)} is {_VERBS[access.kind]} without a wait, declared "
                 f"independent because: {reasons}", access.section, access.index, access.roots)
        return True

    def _compilers_own(self, root: Root) -> bool:
        """Its tables and texts, and the empty objects of debug code, which have a number behind a dollar sign."""
        return root[0] == "symbol" and bool(_OWN_SYMBOL.match(str(root[1])))

    def _constant_table(self, access: Access, opcode: str) -> bool:
        """Only addresses of initialised module variables, read as the compiler reads constants."""
        own = bool(access.roots) and all(self._compilers_own(r) for r in access.roots)
        variables = bool(access.roots) and all(
            r[0] == "symbol" and r[1] in self.program.cubin.initialised_symbols for r in access.roots
        )
        return own or (variables and is_readonly(opcode))


def judged_kinds() -> frozenset[Kind]:
    return READS | WRITES
