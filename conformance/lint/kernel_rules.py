"""From the analysis of one kernel to its findings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from conformance.lint.declarations import Chain, Declaration, ordinal_of, within
from conformance.lint.findings import Finding, Step, number_alike
from conformance.lint.hints import hints_of
from conformance.lint.results import READS, Access, KernelResult, Origin, Place
from conformance.lint.summary import ERASED_WAIT, ImageSummary
from conformance.pdlkit.elf import KernelInfo

_BY_KIND = {
    "LOAD": "read-before-wait", "GENERIC_LOAD": "read-before-wait",
    "STORE": "write-before-wait", "GENERIC_STORE": "write-before-wait",
    "ATOMIC": "atomic-before-wait", "GENERIC_ATOMIC": "atomic-before-wait",
    "ASYNC_LOAD": "async-copy-before-wait", "ASYNC_STORE": "async-copy-before-wait",
    "TEXTURE": "texture-before-wait",
}
_VERBS = {
    "LOAD": "read", "GENERIC_LOAD": "read", "STORE": "written", "GENERIC_STORE": "written",
    "ATOMIC": "changed by an atomic operation", "GENERIC_ATOMIC": "changed by an atomic operation",
    "ASYNC_LOAD": "copied from", "ASYNC_STORE": "copied to", "TEXTURE": "read as a texture",
}
_UNDER_CONDITION = ("path-without-wait", "partial-wait")  # only for these does it matter how the branch to the wait is decided
_LIFTED = ("the source reads it after the wait, and the compiler moved it above: take __restrict__, const __restrict__ and __ldg away "
           "from this pointer, and read through pdl_fresh()")
_PERHAPS_LIFTED = ("it is a read-only load, which the compiler may move above the wait: if the source reads it after the wait, take "
                   "__restrict__ and __ldg away and read through pdl_fresh(); else move it below (compile with -lineinfo to see its line)")
_WRITTEN_ABOVE = ("the source reads it above the wait: move the read below pdl_wait(); if no earlier grid writes that memory, declare it "
                  "independent")
_TURN = ("the wait stands in a loop, and a turn comes here before any turn has waited: wait ahead of the loop, or in its first turn above "
         "this access")
_TURN_OR_LIFTED = (f"{_TURN}. If the first turn does wait above it, the compiler moved the read: take __restrict__ and __ldg away, and "
                   "read through pdl_fresh()")
_OWN_SYMBOL = re.compile(r"__cudart_|_ZTV|\$str|__unnamed|__const|\w+\$\d+$")


def stands_above(access: Place, wait: Place) -> bool | None:
    """Whether the source has the access above the wait: their lines are compared in the innermost file that calls both. None:
    the line information does not say."""
    inlined_into = {file: line for file, line in wait.lines}  # of several lines in one file the outermost counts
    for file, line in reversed(access.lines):
        if file in inlined_into and inlined_into[file] != line:
            return line < inlined_into[file]
    return None


class KernelRules:
    """Writes the findings of one kernel; `names` are (file, image, arch, mangled, demangled)."""

    def __init__(self, cubin: ImageSummary, names: tuple[str, str | None, str, str, str], overlapping: str | None,
                 declarations: Iterable[Declaration], chains: Iterable[Chain] = ()) -> None:
        self.cubin, self.overlapping = cubin, overlapping is not None
        self.overlapping_because = overlapping or ""
        self.file, self.image, self.arch, self.kernel, self.demangled = names
        self.info: KernelInfo = cubin.kernel_info(self.kernel)
        self.declarations = [
            d for d in declarations if d.kernel.search(self.kernel) or d.kernel.search(self.demangled)
        ]
        self.chains = [c for c in chains if c.kernels.search(self.kernel) or c.kernels.search(self.demangled)]
        self.result: KernelResult | None = None
        self.findings: list[Finding] = []
        self._ordinals: dict[frozenset[Origin], list[int]] = {}  # what was found out of origins; many accesses share theirs
        self._subjects: dict[frozenset[Origin], str] = {}
        self.condition: str | None = None  # the parameters that decide whether this kernel waits

    def add(self, rule: str, message: str, place: Place | None = None, origins: frozenset[Origin] = frozenset()) -> Finding:
        finding = Finding(rule, self.kernel, self.demangled, self.file, self.arch, message, place, message, image=self.image)
        finding.imprecise = place is not None and self.result is not None and self.result.imprecise
        if origins not in self._ordinals:
            self._ordinals[origins] = sorted({o for r in origins if (o := self._ordinal(r)) is not None})
        finding.parameters = list(self._ordinals[origins])
        self.findings.append(finding)
        return finding

    def _ordinal(self, origin: Origin) -> int | None:
        base = origin[1] if origin[0] == "via" else origin
        return ordinal_of(base[1], self.info) if base[0] == "param" else None

    # judging -------------------------------------------------------------------------------------------------------
    def judge(self, result: KernelResult) -> list[Finding]:
        virtual = self.cubin.virtual_sm
        self.result = result
        if self.overlapping and 0 < virtual < 90:
            self.add("no-device-half", f"compiled for compute_{virtual}; {self.overlapping_because}")
            if self.cubin.erased_waits:
                self._add_erased_wait()
            return self.findings
        if result.waits:
            self._judge_waiting(result)
        elif self.overlapping:
            self._judge_without_wait(result)
        for rule, message, place in hints_of(result, self.overlapping):
            self.add(rule, message, place).imprecise = False  # they say where something stands, whichever path leads there
        self._judge_chain(result)
        number_alike(self.findings)
        return self.findings

    def _judge_chain(self, result: KernelResult) -> None:
        """What a kernel of a declared chain promises: it waits, and it does so before it triggers."""
        for chain in self.chains:
            chain.used.add(self.kernel)
            if not result.waits and not result.unseen:
                self.add("chain-without-wait", f"{chain.source} says that this kernel belongs to a chain, and it never waits")
            elif result.waits and result.end is not None:
                self._add_end(chain, result.end)
            for place in result.early_triggers if result.waits else ():
                finding = self.add("trigger-before-wait", f"it triggers before it has waited, in the chain of {chain.source}", place)
                finding.path = [Step("the wait", wait) for wait in result.wait_places[:1]]

    def _add_end(self, chain: Chain, end: Place) -> None:
        finding = self.add("chain-without-wait", f"{chain.source} says that this kernel belongs to a chain, and whole blocks can end here "
                           "without a wait; if all do, the next kernel does not wait for the one before this", end)
        if self.result is not None:
            finding.path = [Step("the wait", wait) for wait in self.result.wait_places[:1]]
        if self.condition is not None:
            finding.condition = self.condition
            finding.message += f"; {self.condition} decides whether the kernel waits"

    def _judge_without_wait(self, result: KernelResult) -> None:
        """No wait in sight: an error, unless code that lint cannot see might contain one."""
        if self.cubin.erased_waits:
            self._add_erased_wait()
            return
        if result.unseen:
            self._unresolved(result.unseen, "in which a wait may be")
            return
        touched = result.touched
        what = f"{touched} instruction{'s' if touched != 1 else ''} can touch global memory" if touched else \
            "it touches no global memory, but later kernels may rely on its order"
        self.add("no-wait", f"{self.overlapping_because}, and has no wait; {what}")

    def _add_erased_wait(self) -> None:
        self.add("erased-wait", f"{self.overlapping_because}, and has no wait; the image holds {ERASED_WAIT}, the mark of waits that "
                 "compiled to nothing below compute_90")

    def _judge_waiting(self, result: KernelResult) -> None:
        if result.deciders is not None:
            self.condition = " and ".join(sorted({self._byte_of(o) for o in result.deciders.offsets}))
        for access in result.accesses:
            self._judge_access(access)
        for place in result.prefetches:
            self.add("prefetch-before-wait", "a prefetch is issued before the wait", place)
        for place, opcode in result.unknown:
            self.add("unknown-opcode", f"{opcode} is not in lint's tables", place)
        self._unresolved(result.unresolved, "before the wait")
        touching = any(f.id != "ordered-by-mbarrier" for f in self.findings)
        if result.exit is not None and not touching:
            self.add("exit-without-wait", "some threads end without a wait", result.exit)

    def _unresolved(self, calls: Iterable[tuple[Place, str]], where: str) -> None:
        """Each callee once, where it is called first."""
        first: dict[str, Place] = {}
        for place, what in calls:
            first.setdefault(what, place)
        for what, place in first.items():
            self.add("unresolved-call", f"a call of {what}, {where}", place)

    def _judge_access(self, access: Access) -> None:
        reads = access.kind in READS
        if self._declared(access, reads):
            return
        if reads and self._constant_table(access):
            if not all(self._compilers_own(r) for r in access.origins):
                self.add("read-only-variable", f"{self._subject(access)} is read before the wait", access.place, access.origins)
            return
        rule = self._rule(access)
        finding = self.add(rule, self._message(access, rule), access.place, access.origins)
        finding.subject = self._subject(access)
        finding.path = self._path(access)
        finding.cause = self._cause(access, rule)
        if self.condition is not None and rule in _UNDER_CONDITION and not access.decided - {"SIGNALLED"}:
            finding.condition = self.condition
            verb = "decide" if " and " in self.condition else "decides"
            finding.message += f"; {self.condition} {verb} whether the kernel waits"
        loads = access.kind in ("LOAD", "GENERIC_LOAD") and rule != "ordered-by-mbarrier" and access.reaches_wait
        if loads and access.used is not None:
            finding.message += "; what it read is used after the wait" if rule == "partial-wait" else ", and used after it"

    def _path(self, access: Access) -> list[Step]:
        """Where other threads, or this one later, wait; what leads past the wait; where the value is used."""
        steps = []
        if access.passed is not None:
            steps.append(Step("the path goes past the wait here", access.passed))
        waits = self.result.wait_places if self.result else ()
        later = [wait for wait in waits if wait.section != access.place.section or wait.offset > access.place.offset]
        steps += [Step("the wait" if access.reaches_wait else "where other threads wait", wait) for wait in (later or waits)[:1]]
        if access.used is not None and access.reaches_wait:
            steps.append(Step("what was read is used here", access.used))
        return steps

    def _cause(self, access: Access, rule: str) -> str | None:
        """Advice by the source: the access stands above the wait, a turn of a loop comes to it first, or the compiler moved it."""
        if rule not in _BY_KIND.values() or not self.result or not self.result.wait_places:
            return None
        above = {above for wait in self.result.wait_places if (above := stands_above(access.place, wait)) is not None}
        fixed = ".STRONG" in access.place.instruction  # volatile and atomic reads stay where they are
        if True not in above and self.result.hints.wait_in_loop is not None:
            return _TURN if rule != "read-before-wait" or fixed else _TURN_OR_LIFTED
        if rule != "read-before-wait" or (fixed and True not in above):
            return None
        if not above:
            return _PERHAPS_LIFTED if access.readonly else None
        return _WRITTEN_ABOVE if True in above else _LIFTED

    def _rule(self, access: Access) -> str:
        if access.states == {"SIGNALLED"} and access.kind != "ASYNC_LOAD":
            return "ordered-by-mbarrier"
        if "FRESH" in access.states:
            return _BY_KIND[access.kind] if access.reaches_wait else "path-without-wait"
        return _BY_KIND[access.kind] if access.reaches_wait and not access.states & {"SIBLING", "CLUSTER", "SIGNALLED"} \
            else "partial-wait"

    def _message(self, access: Access, rule: str) -> str:
        verb = _VERBS[access.kind]
        subject = self._subject(access)
        if rule == "partial-wait":
            scope = "of this or another block" if access.states == {"CLUSTER"} else "of the block"
            text = (f"{subject} is {verb} by threads that have not waited; other threads {scope} wait, but no barrier orders this behind "
                    "their wait")
        elif rule == "path-without-wait":
            text = f"{subject} is {verb} on a path that never waits"
        elif rule == "ordered-by-mbarrier":
            text = f"{subject} is {verb} after a barrier object in shared memory, without a wait of this thread"
        else:
            text = f"{subject} is {verb} before the wait"
        if access.readonly:
            text += ", through the read-only path"
        if access.callers and access.place.section != self.kernel:
            text += f" (called from {', '.join(access.callers)})"
        return text

    # what is accessed ----------------------------------------------------------------------------------------------
    def _subject(self, access: Access) -> str:
        if access.origins not in self._subjects:
            self._subjects[access.origins] = self._subject_of(access.origins)
        return self._subjects[access.origins]

    def _subject_of(self, origins: frozenset[Origin]) -> str:
        direct = sorted({n for r in origins if r[0] == "param" and (n := self._named(r)) is not None})
        through = sorted({n for r in origins if r[0] == "via" and (n := self._named(r)) is not None} - set(direct))
        names = sorted({str(r[1]) for r in origins if r[0] == "symbol"})
        parts = [f"parameter {o}" for o in direct]
        parts += [f"memory reached through parameter {o}" for o in through]
        parts += [f"variable {n}" for n in names]
        if not parts and any(r[0] == "via" and r[1][0] == "symbol" for r in origins):
            parts = [f"memory reached through variable {r[1][1]}" for r in sorted(origins) if r[0] == "via"
                     and r[1][0] == "symbol"]
        if not parts and any(r[0] == "bank" for r in origins):
            parts = ["memory that a __constant__ variable points to"]
        return " or ".join(parts) or "global memory (address not followed)"

    def _named(self, origin: Origin) -> str | None:
        """The parameter's number, and where in it the pointer stands if it is a struct."""
        ordinal, base = self._ordinal(origin), origin[1] if origin[0] == "via" else origin
        if ordinal is None:
            return None
        member = within(base[1], self.info) // 8 * 8
        struct = any(p.ordinal == ordinal - 1 and p.size > 8 for p in self.info.parameters)
        return f"{ordinal} (byte {member})" if struct else str(ordinal)

    def _byte_of(self, offset: int) -> str:
        """The parameter, and which byte of it if it is a struct."""
        parameter = next((p for p in self.info.parameters if p.offset <= offset < p.offset + p.size), None)
        if parameter is None:
            return f"byte {offset} of the parameters"
        return f"parameter {parameter.ordinal + 1}" + (f" (byte {offset - parameter.offset})" if parameter.size > 8 else "")

    def _declared(self, access: Access, reads: bool) -> bool:
        if not self.chains and not self.declarations:
            return False
        chain = next((c for c in self.chains if reads and access.reaches_wait and not c.predecessor & self._numbers(access)), None)
        if chain is not None:
            self.add("declared-independent", f"{self._subject(access)} is {_VERBS[access.kind]} before the wait, in the chain of "
                     f"{chain.source}: {chain.because}", access.place, access.origins)
            return True
        relevant = [r for r in access.origins if r[0] in ("param", "via", "symbol")] if self.declarations else []
        if not relevant:
            return False
        used = []
        for origin in relevant:
            declaration = next((d for d in self.declarations if d.covers(origin, self.info) and (reads or d.writes)), None)
            if declaration is None:
                return False
            used.append(declaration)
        for declaration in used:
            declaration.used.add(self.kernel)
        reasons = "; ".join(sorted({d.because for d in used}))
        self.add("declared-independent", f"{self._subject(access)} is {_VERBS[access.kind]} without a wait, declared "
                 f"independent because: {reasons}", access.place, access.origins)
        return True

    def _numbers(self, access: Access) -> set[int]:
        """Of the parameters through which it is reached."""
        return {o for origin in access.origins if (o := self._ordinal(origin)) is not None}

    def _compilers_own(self, origin: Origin) -> bool:
        """Its tables and texts, and the empty objects of debug code, which have a number after a dollar sign."""
        return origin[0] == "symbol" and bool(_OWN_SYMBOL.match(str(origin[1])))

    def _constant_table(self, access: Access) -> bool:
        """Only addresses of initialised module variables, read as the compiler reads constants."""
        own = bool(access.origins) and all(self._compilers_own(r) for r in access.origins)
        variables = bool(access.origins) and all(
            r[0] == "symbol" and r[1] in self.cubin.initialised_symbols for r in access.origins
        )
        return own or (variables and access.readonly)
