"""The guidance page: sentences computed from the matrix, each naming the cells it rests on. No figure is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pdlkit.bench.matrix import MODES, Cell, Matrix

AXES = {
    "blocks": "blocks", "threads": "threads per block", "shared_kib": "dynamic shared memory, KiB per block",
    "carveout_apart": "carve-out in percent (0: the driver's), every other kernel with 4 KiB of static shared memory",
    "prologue_us": "prologue, us", "main_us": "main part, us", "tail_us": "tail, us", "depth": "kernels in the chain",
    "prologue_short_main_us": "prologue, us, before a main part of 1 us",
    "blocks_empty": "blocks, kernels without any work",
}
PATHS = ("stream", "graph")
WORTH = 1.02  # a gain below 2 % is not worth a sentence


def gain(matrix: Matrix, cell: Cell) -> float:
    """How many times faster than the same shape without PDL."""
    return matrix.plain_of(cell).us / cell.us


def _cite(*cells: Cell) -> str:
    return " [" + "; ".join(f"`{cell.name}`" for cell in cells) + "]"


def _one(matrix: Matrix, path: str, axis: str, mode: str, value: float) -> Cell:
    return next(c for c in matrix.select(path, axis, mode) if c.value == value)


def _trigger(matrix: Matrix, path: str) -> list[str]:
    by_mode = {mode: _one(matrix, path, "base", mode, 0) for mode in MODES}
    best = min(by_mode.values(), key=lambda cell: cell.us)
    figures = ", ".join(f"{mode} {cell.us:.2f} us" for mode, cell in by_mode.items())
    said = [f"Base shape: {figures} per kernel; the best is `{best.mode}`, {best.of_limit:.0%} of the limit." +
            _cite(*by_mode.values())]
    for early in matrix.select(path, "tail_us", "early"):
        late = _one(matrix, path, "tail_us", "late", early.value)
        better = "early" if early.us < late.us else "late"
        apart = early.high95 < late.low95 or late.high95 < early.low95
        if apart:
            said.append(f"With a tail of {early.value:g} us the {better} trigger is the faster one "
                        f"({early.us:.2f} early, {late.us:.2f} us late)." + _cite(early, late))
        else:
            said.append(f"With a tail of {early.value:g} us early and late triggers cannot be told apart." +
                        _cite(early, late))
    return said


def _prologue(matrix: Matrix, path: str) -> list[str]:
    cells = matrix.select(path, "prologue_us", "early")
    paying = [cell for cell in cells if gain(matrix, cell) >= WORTH and cell.high95 < matrix.plain_of(cell).low95]
    if not paying:
        return ["No prologue in the matrix paid." + _cite(*cells)]
    said = [f"The trigger pays from a prologue of {paying[0].value:g} us on: {gain(matrix, paying[0]):.2f}x there, "
            f"{gain(matrix, paying[-1]):.2f}x at {paying[-1].value:g} us." + _cite(paying[0], paying[-1])]
    first, last = cells[0], cells[-1]
    left = (last.us - first.us) / (last.value - first.value)
    said.append(f"Of each further microsecond of prologue {max(0.0, left):.2f} us is left to see." + _cite(first, last))
    return said


def _room(matrix: Matrix, path: str) -> list[str]:
    said = []
    for axis in ("blocks", "threads", "shared_kib", "carveout_apart"):
        cells = matrix.select(path, axis, "early")
        lost = [cell for cell in cells if gain(matrix, cell) < WORTH]
        kept = [cell for cell in cells if gain(matrix, cell) >= WORTH]
        if lost:
            values = ", ".join(f"{cell.value:g} ({gain(matrix, cell):.2f}x)" for cell in lost)
            said.append(f"{AXES[axis]}: nothing is gained at {values}." + _cite(*lost))
        if kept:
            values = ", ".join(f"{cell.value:g} ({gain(matrix, cell):.2f}x)" for cell in kept)
            said.append(f"{AXES[axis]}: gained at {values}." + _cite(*kept))
    return said


def _off(matrix: Matrix, path: str) -> list[str]:
    losses = [cell for cell in matrix.losses() if cell.path == path and cell.axis != "base"]
    if not losses:
        return ["In no cell was PDL slower than plain launches beyond the intervals."]
    return [f"{AXES[cell.axis]} = {cell.value:g}: `{cell.mode}` takes {cell.us:.2f} us, plain "
            f"{matrix.plain_of(cell).us:.2f} us ({gain(matrix, cell):.2f}x)." + _cite(cell, matrix.plain_of(cell))
            for cell in sorted(losses, key=lambda cell: gain(matrix, cell))]


def _table(matrix: Matrix, path: str, axis: str) -> list[str]:
    rows = ["| " + AXES[axis] + " | plain, us | " + " | ".join(f"{mode}, us (gain, of limit)" for mode in MODES[1:]) + " |",
            "|---|---|" + "---|" * (len(MODES) - 1)]
    for plain in matrix.select(path, axis, "plain"):
        others = [_one(matrix, path, axis, mode, plain.value) for mode in MODES[1:]]
        texts = [f"{cell.us:.2f} ({gain(matrix, cell):.2f}x, {cell.of_limit:.0%})" for cell in others]
        rows.append(f"| {plain.value:g} | {plain.us:.2f} | " + " | ".join(texts) + " |")
    return [*rows, ""]


def _bullets(sentences: Sequence[str]) -> list[str]:
    return [f"- {sentence}" for sentence in sentences] + [""]


def _span(value: Any) -> str:
    return f"{value['median']:.3f} ({value['low95']:.3f} to {value['high95']:.3f})"


def _host(costs: Sequence[dict[str, Any]], not_measured: Sequence[str]) -> list[str]:
    if not costs:
        return []
    lines = ["## Host cost of one launch", "",
             "All in one process, interleaved; medians with their 95 % intervals. The raw call of a launcher with overlap is "
             "`cudaLaunchKernelExC` with the attribute, of one without it the same call without any.", "",
             "| launcher | overlap | us | to the raw call | `pdl_launch` to it |", "|---|---|---|---|---|"]
    for row in costs:
        ours = _span(row["pdl_launch_to_it"]) if "pdl_launch_to_it" in row else "-"
        lines.append(f"| {'peer: ' if row['peer'] else ''}`{row['launcher']}` | {'yes' if row['overlap'] else 'no'} | "
                     f"{row['us']:.2f} ({row['us_low95']:.2f} to {row['us_high95']:.2f}) | {_span(row['to_raw'])} | {ours} |")
    return [*lines, "", *(f"- Not measured: {text}." for text in not_measured), ""]


def page(matrix: Matrix, costs: Sequence[dict[str, Any]], not_measured: Sequence[str], plots: Sequence[str]) -> str:
    """The whole page as Markdown; made from the records, so a new run makes a new page."""
    base = _one(matrix, "graph", "base", "plain", 0).shape
    lines = [
        "# What PDL is worth here", "",
        f"Made by `python3 conformance bench` on {matrix.device['device']}, {matrix.device['sms']} multiprocessors, CUDA driver "
        f"{matrix.device['driver_cuda']}, medians of {matrix.device['repetitions']} interleaved repetitions. Base shape: "
        f"{base['blocks']} blocks of {base['threads']} threads, prologue {base['prologue_ns'] / 1000:g} us, main part "
        f"{base['main_ns'] / 1000:g} us, {base['depth']} kernels; one axis is varied at a time. Modes: plain (no attribute), "
        "attribute (wait, no trigger), early (trigger first thing), late (trigger behind the main part). Names in brackets are "
        "cells of the matrix. The limit: main part and tail alone plus the boundary of an empty PDL chain of that shape.", "",
    ]
    for path in PATHS:
        lines += [f"## In a {path}", "", "Where to put the trigger:", "", *_bullets(_trigger(matrix, path))]
        lines += ["How much prologue pays:", "", *_bullets(_prologue(matrix, path))]
        lines += ["Room on the multiprocessors:", "", *_bullets(_room(matrix, path))]
        lines += ["When to leave PDL off:", "", *_bullets(_off(matrix, path))]
    lines += _host(costs, not_measured)
    lines += [f"![{name}]({name})" for name in plots if name.endswith(".png")] + ([""] if plots else [])
    lines += ["## All cells", ""]
    for path in PATHS:
        for axis in AXES:
            lines += [f"{path}:", "", *_table(matrix, path, axis)]
    return "\n".join(lines).rstrip() + "\n"
