"""What lint can say: every rule with its severity and advice, and the finding itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ERROR, WARNING, HINT = "error", "warning", "hint"


@dataclass(frozen=True)
class LintRule:
    severity: str
    title: str
    advice: str


RULES: dict[str, LintRule] = {
    "read-before-wait": LintRule(
        ERROR, "global memory is read before the wait",
        "read it below pdl_wait() through a pointer from pdl_fresh(); if nobody writes it, declare it independent"),
    "write-before-wait": LintRule(
        ERROR, "global memory is written before the wait",
        "move the store below pdl_wait(): the earlier grid may still read or write that memory"),
    "atomic-before-wait": LintRule(
        ERROR, "an atomic operation on global memory before the wait", "move it below pdl_wait()"),
    "async-copy-before-wait": LintRule(
        ERROR, "an asynchronous or bulk copy is started before the wait",
        "start it below pdl_wait(); the thread that starts it has to wait itself"),
    "texture-before-wait": LintRule(
        ERROR, "a texture or surface is read before the wait", "read it below pdl_wait()"),
    "partial-wait": LintRule(
        ERROR, "other threads wait, this one does not, and no block-wide barrier lies between",
        "let every thread wait, or put a __syncthreads() between the wait and this access (a warp barrier is too little)"),
    "path-without-wait": LintRule(
        ERROR, "on this path the thread never waits", "wait on every path that touches shared data"),
    "no-wait": LintRule(
        ERROR, "a kernel that may overlap never waits",
        "call pdl_wait() in every thread before its first access, or launch the kernel without overlap"),
    "no-device-half": LintRule(
        ERROR, "compiled for a virtual architecture below compute_90, where a wait is nothing",
        "compile for compute_90 or newer, or launch the kernel without overlap"),
    "value-across-wait": LintRule(
        WARNING, "a value read before the wait is used again after it",
        "read it again below the wait, through a pointer from pdl_fresh()"),
    "unknown-opcode": LintRule(
        WARNING, "an instruction that lint does not know stands before the wait",
        "look it up; if it is harmless, lint's table needs it"),
    "unresolved-call": LintRule(
        WARNING, "before the wait something is called that lint cannot see", "lint the linked program, or call it later"),
    "unused-declaration": LintRule(
        WARNING, "a declaration of independence matches nothing", "remove it, or correct the kernel or parameter"),
    "read-only-load": LintRule(
        HINT, "read-only loads below the wait: only the compiler's good will keeps them there",
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
        HINT, "an early access that a declaration calls independent", "nothing, as long as the declared reason holds"),
    "ordered-by-mbarrier": LintRule(
        HINT, "reached without an own wait, behind a barrier object that other threads signal",
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


@dataclass
class Finding:
    id: str
    kernel: str  # mangled
    demangled: str
    file: str  # as named by the user
    arch: str  # sm_90
    message: str
    where: str
    offset: int | None = None  # in the section
    section: str | None = None
    source: tuple[str, int] | None = None
    instruction: str | None = None
    parameters: list[int] = field(default_factory=list)  # counted from 1
    image: str | None = None  # the cubin inside a container
    condition: str | None = None  # it would not be there if these parameters said that the kernel waits

    @property
    def severity(self) -> str:
        return RULES[self.id].severity

    @property
    def advice(self) -> str:
        return RULES[self.id].advice

    def as_json(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel, "demangled": self.demangled, "id": self.id, "severity": self.severity,
            "where": self.where, "message": self.message, "advice": self.advice, "file": self.file,
            "image": self.image, "arch": self.arch, "section": self.section, "offset": self.offset,
            "source": {"file": self.source[0], "line": self.source[1]} if self.source else None,
            "instruction": self.instruction, "parameters": self.parameters, "condition": self.condition,
        }


def above_hint(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity != HINT]
