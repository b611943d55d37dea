"""All code of one cubin, parsed on demand, and what calls can reach."""

from __future__ import annotations

import re
from functools import cached_property

from pdlkit.lint.destinations import destinations_of
from pdlkit.lint.elf import Cubin, KernelInfo
from pdlkit.lint.flow import Block, Flow
from pdlkit.lint.liveness import Liveness, liveness
from pdlkit.lint.opcodes import ACCESSES, Kind
from pdlkit.lint.sass import Function, parse_function
from pdlkit.lint.values import split_operands

# Functions of the driver and the device runtime: they touch none of the user's data by themselves.
SYSTEM_CALLS = frozenset(
    {"vprintf", "malloc", "free", "__assertfail", "__assert_fail", "__nv_aligned_device_malloc",
     "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank"}
)
COPY_CALL = "__cuda_syscall_cp_async_bulk"  # sm_120 copies between shared memory and elsewhere by calling the driver
_SHORT = 64  # instructions of a callee: the conversions and indices that debug code calls for
_BANK4 = re.compile(r"c\[0x4\]\[(0x[0-9a-f]+)\]")
_MOVED = re.compile(r"32@lo\(\(?(?:fun@unified\()?([\w$.]+)")
# What matters of a callee; one with nothing of this only computes.
_RELEVANT = ACCESSES | {Kind.WAIT, Kind.BARRIER, Kind.CLUSTER_BARRIER, Kind.MBARRIER, Kind.SIGNAL, Kind.TRIGGER, Kind.UNKNOWN,
                        Kind.PREFETCH, Kind.BARRIER_ARRIVE}


class Program:
    """The functions of a cubin by section name."""

    def __init__(self, cubin: Cubin, texts: dict[str, str]) -> None:
        self.cubin, self.texts = cubin, texts
        self._functions: dict[str, Function] = {}
        self._flows: dict[str, Flow] = {}
        self._liveness: dict[tuple[str, bool], Liveness] = {}
        self._closures: dict[str, list[str]] = {}
        self._summaries: dict[tuple[str, str], frozenset[str] | None] = {}
        self.instructions_parsed = 0

    def flow(self, name: str) -> Flow | None:
        if name not in self._flows:
            text = self.texts.get(name)
            if text is None:
                return None
            function = self._functions[name] = parse_function(name, text)
            self.instructions_parsed += len(function.opcodes)
            self._flows[name] = Flow(function)
        return self._flows[name]

    def liveness(self, name: str, until_wait: bool) -> Liveness:
        """What matters of the registers in this section, which has been found to be there."""
        key = (name, until_wait)
        if key not in self._liveness:
            self._liveness[key] = liveness(self._flows[name], until_wait)
        return self._liveness[key]

    def info(self, kernel: str) -> KernelInfo:
        return self.cubin.kernel_info(kernel)

    def resolve(self, caller: str, label: str) -> tuple[str, int] | None:
        """Where a call of this label goes: (section, block), or None if it is not in this file."""
        flow = self.flow(caller)
        if flow is not None:
            block = flow.block_of_label(label)
            if block is not None:
                return caller, block
        other = self.flow(label)
        if other is not None and other.blocks:
            return label, 0
        home = self._home_of_label.get(label)
        if home is not None:
            section, index = home
            flow = self.flow(section)
            if flow is not None and index in flow.block_at:
                return section, flow.block_at[index]
        return None

    @cached_property
    def _home_of_label(self) -> dict[str, tuple[str, int]]:
        """Functions that share a section with others: symbol -> (section, instruction index)."""
        homes = {}
        for symbol in self.cubin.symbols:
            if symbol.kind == 2 and 0 < symbol.section < len(self.cubin.sections):
                section = self.cubin.sections[symbol.section].name.removeprefix(".text.")
                homes[symbol.name] = (section, symbol.value // 16)
        return homes

    def indirect_targets(self, caller: str) -> list[tuple[str, int]]:
        """Every function that an indirect call in this section may reach, as far as the file shows."""
        names = set(self.cubin.function_addresses) - set(self.cubin.kernels)
        flow = self.flow(caller)
        if flow is not None:
            direct = {b.callee for b in flow.blocks if b.callee}
            names |= {n for n, (section, _) in self._home_of_label.items()
                      if section == caller and n != caller and n not in direct and "$__internal_" not in n}
        found = {self.resolve(caller, name) for name in sorted(names)}
        return sorted(t for t in found if t is not None)

    def written_if_harmless(self, section: str, block: int) -> frozenset[str] | None:
        """The registers that a callee writes if it only computes and is too long to be walked for its result, else None."""
        key = (section, str(block))
        if key not in self._summaries:
            self._summaries[key] = None  # recursion: not harmless
            self._summaries[key] = self._summarise(section, block)
        return self._summaries[key]

    def _summarise(self, section: str, start: int) -> frozenset[str] | None:
        flow = self.flow(section)
        if flow is None:
            return None
        written: set[str] = set()
        seen, work, length = {start}, [start], 0
        while work:
            block = flow.blocks[work.pop()]
            if any(flow.kinds[i] in _RELEVANT for i in flow.notable_in(block)) or block.unresolved:
                return None
            length += block.end - block.start
            for index in range(block.start, block.end):
                opcode, operands = flow.function.opcodes[index], split_operands(flow.function.operands[index])
                written.update(destinations_of(opcode, operands)[0])
            if block.callee is not None:
                target = self.resolve(section, block.callee) if block.callee else None
                inner = self.written_if_harmless(*target) if target else None
                if inner is None:
                    return None
                written |= inner
            for successor in block.successors():
                if successor not in seen:
                    seen.add(successor)
                    work.append(successor)
        return frozenset(written) if length > _SHORT else None

    def closure(self, kernel: str) -> list[str]:
        """The sections whose code the kernel may reach."""
        if kernel not in self._closures:
            found, work = {kernel: None}, [kernel]
            while work:
                name = work.pop()
                for _, targets in self._calls(name):
                    for target in targets:
                        if target is not None and target[0] not in found:
                            found[target[0]] = None
                            work.append(target[0])
            self._closures[kernel] = list(found)
        return self._closures[kernel]

    def _calls(self, section: str) -> list[tuple[Block, list[tuple[str, int] | None]]]:
        flow = self.flow(section)
        calling = [b for b in flow.blocks if b.callee is not None] if flow is not None else []
        return [(b, [self.resolve(section, b.callee)] if b.callee else list(self.indirect_targets(section))) for b in calling]

    def closure_has(self, kernel: str, kind: Kind) -> bool:
        """Whether any code that the kernel may reach has an instruction of this kind."""
        flows = [self.flow(name) for name in self.closure(kernel)]
        return any(flow.kinds[i] is kind for flow in flows if flow is not None for i in flow.notable)

    def closure_touches(self, kernel: str) -> tuple[int, list[tuple[str, int, str]]]:
        """(instructions that can touch global memory, calls into code that is not in this file)."""
        touched, unseen = 0, []
        for name in self.closure(kernel):
            flow = self.flow(name)
            if flow is None:
                continue
            touched += sum(flow.kinds[i] in ACCESSES for i in flow.notable)
            for block, targets in self._calls(name):
                what = f"`{block.callee}`, which is not in this file" if block.callee else "a function pointer of unknown value"
                if not self._drivers_own(flow, block) and (not targets or None in targets):
                    unseen.append((name, block.end - 1, what))
        return touched, unseen

    def _drivers_own(self, flow: Flow, block: Block) -> bool:
        """A call of the driver: by name, or through a register, and the section takes addresses of no other functions."""
        if block.callee:
            return block.callee in SYSTEM_CALLS or block.callee.startswith(COPY_CALL)
        text = " ".join(o for o in flow.function.operands if "c[0x4]" in o or "32@lo" in o)
        named = [self.cubin.constant4.get(int(p, 16) & ~7, "") for p in _BANK4.findall(text)] + _MOVED.findall(text)
        if re.search(r"c\[0x4\]\[U?R", text):
            named += self.cubin.constant4.values()
        drivers = [n for n in named if n in SYSTEM_CALLS or n.startswith(COPY_CALL)]
        others = [n for n in named if n in self.cubin.function_names and n not in drivers and n != flow.function.name]
        return bool(drivers) and not others
