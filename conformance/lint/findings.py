"""What lint can say: every rule with its severity and advice, and the finding itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from conformance.lint.results import Place

ERROR, WARNING, HINT = "error", "warning", "hint"
_UNSTABLE_NAME = re.compile(r"_GLOBAL__N__[0-9a-f]+(_\d+)?")  # of an anonymous namespace: a digest of the whole source
_MERGED = "lint merged paths of this kernel, because there are too many: look whether this one can be taken"
_OFFSET = re.compile(r"\+0x[0-9a-f]+")


@lru_cache(maxsize=4096)
def _stable(kernel: str) -> str:
    return _UNSTABLE_NAME.sub("_GLOBAL__N_", kernel)


@dataclass(frozen=True)
class LintRule:
    severity: str
    title: str
    advice: str


RULES: dict[str, LintRule] = {
    "read-before-wait": LintRule(
        ERROR, "global memory is read before the wait",
        "move the read below pdl_wait(), through a pointer from pdl_fresh(); if no earlier grid writes that memory, declare it "
        "independent"),
    "write-before-wait": LintRule(
        ERROR, "global memory is written before the wait",
        "move the store below pdl_wait(): the earlier grid may still read or write that memory"),
    "atomic-before-wait": LintRule(
        ERROR, "an atomic operation on global memory before the wait", "move the atomic operation below pdl_wait()"),
    "async-copy-before-wait": LintRule(
        ERROR, "an asynchronous or bulk copy is started before the wait",
        "start the copy below pdl_wait(), in a thread that has waited itself"),
    "texture-before-wait": LintRule(
        ERROR, "a texture or surface is read before the wait",
        "read it below pdl_wait(); if it stands there already, the compiler moved it: make its coordinates depend on a value read "
        "after the wait"),
    "partial-wait": LintRule(
        ERROR, "other threads wait, this one does not, and no block-wide barrier lies between",
        "let every thread call pdl_wait() before this access; or let the waiting threads, after their wait, meet the others above this "
        "access: at a __syncthreads(), or at a named barrier or mbarrier that they signal (a warp barrier is too little)"),
    "path-without-wait": LintRule(
        ERROR, "on this path the thread never waits",
        "call pdl_wait() on this path as well, before this access; without overlap it returns at once"),
    "no-wait": LintRule(
        ERROR, "a kernel that may overlap never waits",
        "call pdl_wait() in every thread before its first access, or launch the kernel without overlap"),
    "no-device-half": LintRule(
        ERROR, "compiled for a virtual architecture below compute_90, where a wait is nothing",
        "compile for compute_90 or newer, or launch the kernel without overlap"),
    "erased-wait": LintRule(
        ERROR, "a kernel that may overlap has no wait, and its image holds code whose waits compiled to nothing",
        "compile every file that is linked into this image for compute_90 or newer (with device LTO: code=lto_90), or launch the kernel "
        "without overlap"),
    "trigger-before-wait": LintRule(
        ERROR, "a kernel of a declared chain triggers before it has waited",
        "move pdl_trigger() below pdl_wait(): later kernels of the chain rely on it that all earlier grids are complete"),
    "chain-without-wait": LintRule(
        ERROR, "a kernel of a declared chain never waits, or can end without a wait",
        "call pdl_wait() before pdl_trigger() and before each return, or take the kernel out of the chain"),
    "unknown-opcode": LintRule(
        WARNING, "an instruction that lint does not know stands before the wait",
        "look it up; if it is harmless, lint's table needs it"),
    "unresolved-call": LintRule(
        WARNING, "before the wait something is called that lint cannot see", "lint the linked program, or call it later"),
    "unused-declaration": LintRule(
        WARNING, "a declaration or suppression matches nothing", "remove it, or correct the kernel, rule or parameter"),
    "read-only-load": LintRule(
        HINT, "read-only loads below the wait: nothing but the compiler's choice keeps them there",
        "read through a pointer from pdl_fresh(), without __restrict__ and without __ldg"),
    "wait-in-loop": LintRule(
        HINT, "the wait stands in a loop", "wait once, ahead of the loop"),
    "trigger-without-wait": LintRule(
        HINT, "triggers and never waits", "right for the first kernel of a chain only"),
    "wait-at-once": LintRule(
        HINT, "waits before it has done anything: there is nothing to overlap",
        "put work that does not depend on the earlier grid ahead of the wait"),
    "never-triggers": LintRule(
        HINT, "waits and never triggers: the next kernel starts when this one ends",
        "call pdl_trigger() as early as the next kernel should be started"),
    "prefetch-before-wait": LintRule(
        HINT, "a prefetch before the wait may fetch what is about to be overwritten",
        "harmless for the result; it may fetch lines twice"),
    "declared-independent": LintRule(
        HINT, "an early access that a declaration covers", "nothing, as long as the declared reason holds"),
    "ordered-by-mbarrier": LintRule(
        HINT, "reached without a wait of this thread, after a barrier object that other threads signal",
        "make sure that the signal comes from a thread that has waited"),
    "fence-then-trigger": LintRule(
        HINT, "a fence just before the trigger: the trigger publishes nothing",
        "let the next kernel wait; with restrict pointers the stores before the fence may already be gone"),
    "store-after-trigger": LintRule(
        HINT, "stores follow the trigger", "right if the next kernel waits; the trigger orders nothing"),
    "exit-without-wait": LintRule(
        HINT, "some threads end without a wait", "harmless if at least one thread of each block waits"),
    "read-only-variable": LintRule(
        HINT, "a constant table of the module is read before the wait", "nothing, as long as no kernel writes it"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One place on the way to a finding, and what happens there."""

    what: str
    place: Place


@dataclass(slots=True)
class Finding:
    id: str
    kernel: str  # mangled
    demangled: str
    file: str  # as named by the user
    arch: str  # sm_90
    message: str
    place: Place | None = None
    subject: str = ""  # what is accessed
    parameters: list[int] = field(default_factory=list)  # counted from 1
    image: str | None = None  # the cubin inside a container
    condition: str | None = None  # it would not be there if these parameters said that the kernel waits
    cause: str | None = None  # advice that fits this finding, in place of the rule's
    path: list[Step] = field(default_factory=list)  # where siblings wait, which branch goes past it, where the value is used
    imprecise: bool = False  # paths were merged, so it may be about one that cannot be taken
    suppressed: str | None = None  # the reason
    known: bool = False  # the baseline has it
    ordinal: int = 0  # among those of this kernel and image that are alike

    @property
    def severity(self) -> str:
        return RULES[self.id].severity

    @property
    def advice(self) -> str:
        return self.cause or RULES[self.id].advice

    @property
    def caution(self) -> str | None:
        """What weakens this finding."""
        return _MERGED if self.imprecise else None

    @property
    def in_full(self) -> str:
        """All that there is to say, for what shows a finding as one text."""
        return f"{self.message}. To do: {self.advice}." + (f" But {self.caution}." if self.caution else "")

    @property
    def counts(self) -> bool:
        """Whether it decides the exit code."""
        return self.severity != HINT and self.suppressed is None and not self.known

    @property
    def offset(self) -> int | None:
        return self.place.offset if self.place else None

    @property
    def section(self) -> str | None:
        return self.place.section if self.place else None

    @property
    def source(self) -> tuple[str, int] | None:
        return self.place.source if self.place else None

    @property
    def instruction(self) -> str | None:
        return self.place.instruction if self.place else None

    @property
    def where(self) -> str:
        """File, architecture and place in one line."""
        if not self.kernel:
            return self.file
        if self.place is None:
            return f"{self.file}: {self.arch} {self.kernel}"
        source = self.place.source
        return (f"{self.file}: {self.arch} {self.place.section}+0x{self.place.offset:04x}"
                + (f" ({source[0]}:{source[1]})" if source else ""))

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What of it survives another build: no offsets, registers, lines, folders or architectures."""
        source = self.source[0].rpartition("/")[2] if self.source else ""
        return _stable(self.kernel), self.id, _OFFSET.sub("", self.subject), source

    @property
    def fingerprint(self) -> str:
        """Equal for the same finding after another build."""
        return hashlib.sha256("\0".join((*self.identity, str(self.ordinal))).encode(errors="replace")).hexdigest()[:24]

    def as_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel, "demangled": self.demangled, "id": self.id, "severity": self.severity,
            "where": self.where, "message": self.message, "advice": self.advice, "file": self.file,
            "image": self.image, "arch": self.arch, "section": self.section, "offset": self.offset,
            "source": {"file": self.source[0], "line": self.source[1]} if self.source else None,
            "inlined_at": [{"file": file, "line": line} for file, line in self.place.inlined_at] if self.place else [],
            "path": [{"what": s.what, "section": s.place.section, "offset": s.place.offset,
                      "source": {"file": s.place.source[0], "line": s.place.source[1]} if s.place.source else None} for s in self.path],
            "instruction": self.instruction, "parameters": self.parameters, "condition": self.condition, "imprecise": self.imprecise,
            "fingerprint": self.fingerprint, "suppressed": self.suppressed, "known": self.known,
        }


def above_hint(findings: Iterable[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity != HINT]


def number_alike(findings: list[Finding]) -> None:
    """Tells findings of one kernel apart that would have the same fingerprint, by their order in the code."""
    seen: dict[tuple[str, str, str, str], int] = {}
    for finding in findings:
        key = finding.identity
        finding.ordinal = seen.get(key, 0)
        seen[key] = finding.ordinal + 1
