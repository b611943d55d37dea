"""Rewrites PTX: every kernel of the plan gets its trigger and its hold; what cannot be rewritten is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.stress.ptx import hold_code, ptx_scan
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, Settings

LEAST_VERSION = (7, 8)
LEAST_TARGET = 90


@dataclass
class Outcome:
    """The new text and what the report says about it."""

    text: str
    rewritten: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)  # kernel (or "*"): why it was left alone
    raised: list[str] = field(default_factory=list)
    fenced: list[str] = field(default_factory=list)     # fence right before a trigger
    waiting: list[str] = field(default_factory=list)
    triggering: list[str] = field(default_factory=list)


Chooser = Callable[[str], Settings | str]  # a kernel's settings, or the sentence that says why it is left alone


def _architecture(target: str) -> int | None:
    match = re.search(r"sm_(\d+)", target)
    return int(match[1]) if match else None


def _header(module: ptx_scan.Module, out: Outcome) -> list[tuple[int, int, str]]:
    """Replacements that raise version and target to what PDL needs; none, and a reason, if that is impossible."""
    if module.version is None or module.target is None:
        out.left["*"] = "it has no .version and .target: not a PTX module"
        return []
    edits = []
    arch = _architecture(module.target)
    if arch is None:
        out.left["*"] = f"its target `{module.target}` names no sm_ architecture"
        return []
    if module.version < LEAST_VERSION:
        if ptx_scan.unsynced_shuffle(module):
            out.left["*"] = "it uses shfl or vote without .sync, which PTX 7.8 does not accept"
            return []
        edits.append((*module.version_span, f".version {LEAST_VERSION[0]}.{LEAST_VERSION[1]}"))
        out.raised.append(f".version {module.version[0]}.{module.version[1]} to {LEAST_VERSION[0]}.{LEAST_VERSION[1]}")
    if arch < LEAST_TARGET:
        raised = re.sub(r"sm_\d+\w?", f"sm_{LEAST_TARGET}", module.target, count=1)
        edits.append((*module.target_span, raised))
        out.raised.append(f".target sm_{arch} to sm_{LEAST_TARGET}")
    return edits


def _kernel_edits(module: ptx_scan.Module, kernel: ptx_scan.Kernel, settings: Settings,
                  fresh: Callable[[], int]) -> list[tuple[int, int, str]]:
    """The insertions for one kernel."""
    name = kernel.name
    edits = []
    edits.append((kernel.opens, kernel.opens, hold_code.entry(fresh(), name, settings)))
    if settings.flags & AFTER_WAIT:
        for place in ptx_scan.waits(module, kernel):
            edits.append((place, place, hold_code.inner(fresh(), name, settings, AFTER_WAIT)))
    if settings.flags & BEFORE_EXIT:
        for place, unless in ptx_scan.exits(module, kernel):
            edits.append((place, place, hold_code.inner(fresh(), name, settings, BEFORE_EXIT, unless)))
    return edits


def _counter() -> Callable[[], int]:
    count = iter(range(1 << 60))
    return lambda: next(count)


def rewrite(text: str, choose: Chooser) -> Outcome:
    """The module with `choose(name)` applied to each kernel.

    Kernels without a body are declarations and are not reported. The result differs from the input only by
    insertions and, if they were too old, by the two header lines.
    """
    out = Outcome(text)
    module = ptx_scan.scan(text)
    edits = _header(module, out)
    out.waiting = ptx_scan.owners(module, module.waits)
    out.triggering = ptx_scan.owners(module, module.triggers)
    out.fenced = sorted(ptx_scan.fence_then_trigger(module))
    if "*" in out.left:
        reason = out.left.pop("*")
        out.left = {kernel.name: reason for kernel in module.kernels} or {"*": reason}
        return out
    fresh = _counter()
    for kernel in module.kernels:
        settings = "it has been rewritten before" if text.startswith(hold_code.MARK, kernel.opens) else choose(kernel.name)
        if isinstance(settings, str):
            out.left[kernel.name] = settings
            continue
        edits += _kernel_edits(module, kernel, settings, fresh)
        out.rewritten.append(kernel.name)
    if not out.rewritten:
        out.raised = []
        return out
    out.text = _apply(text, edits)
    return out


def _apply(text: str, edits: list[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    at = 0
    edits.sort(key=lambda edit: edit[:2])
    for start, end, new in edits:
        pieces += (text[at:start], new)
        at = end
    pieces.append(text[at:])
    return "".join(pieces)
