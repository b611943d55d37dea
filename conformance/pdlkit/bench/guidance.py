"""The guidance page: sentences computed from the matrix, each naming the cells it rests on. No figure is typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pdlkit.bench.matrix import Cell, Matrix
from pdlkit.bench.record import Bench, Host

AXES = {
    "prologue_us": "prologue, us", "prologue_short_main_us": "prologue, us, before a main part of 1 us",
    "main_us": "main part, us", "traffic_mib": "main part, MiB read and as many written", "tail_us": "tail, us", "depth": "kernels in the chain", "blocks": "blocks",
    "blocks_empty": "blocks, kernels without any work", "threads": "threads per block",
    "shared_kib": "dynamic shared memory, KiB per block",
    "carveout_apart": "carve-out in percent (0: the driver's), every other kernel with 4 KiB of static shared memory",
}
PATHS = ("stream", "graph")
WORTH = 1.02  # a gain below 2 % is not worth a sentence
REACHED = 0.9  # of the limit


def gain(matrix: Matrix, cell: Cell) -> float:
    """How many times faster than the same shape without PDL."""
    return matrix.plain_of(cell).us / cell.us


def slower(one: Cell, other: Cell) -> bool:
    """Beyond both intervals."""
    return one.low95 > other.high95


def _cite(cells: Iterable[Cell]) -> str:
    return " [" + "; ".join(f"`{cell.name}`" for cell in cells) + "]"


def _one(matrix: Matrix, path: str, axis: str, mode: str, value: float) -> Cell:
    return next(c for c in matrix.select(path, axis, mode) if c.value == value)


def _at(cell: Cell) -> str:
    return f"{AXES.get(cell.axis, 'base shape')} = {cell.value:g}"


# ---- in short: what holds in all shapes of one path ------------------------------------------------------------------
def _early_cells(matrix: Matrix, path: str) -> list[Cell]:
    """One per shape: the base shape lies on several axes, and counts once."""
    found: dict[tuple[tuple[str, int], ...], Cell] = {}
    for cell in matrix.cells:
        if cell.path == path and cell.mode == "early":
            found.setdefault(tuple(sorted(cell.shape.items())), cell)
    return list(found.values())


def _best_place(matrix: Matrix, path: str) -> str:
    early = _early_cells(matrix, path)
    beaten = [cell for cell in early
              if any(slower(cell, _one(matrix, path, cell.axis, mode, cell.value)) for mode in matrix.modes if mode != "early")]
    said = f"Put the trigger first: in {len(early) - len(beaten)} of {len(early)} shapes no other mode is faster."
    best = max(early, key=lambda cell: gain(matrix, cell))
    said += f" The most it gains is {gain(matrix, best):.2f}x ({_at(best)})."
    if not beaten:
        return said + _cite([best])
    return said + " It is beaten at " + "; ".join(_at(cell) for cell in beaten) + "." + _cite([best, *beaten])


def _attribute_alone(matrix: Matrix, path: str) -> str:
    cells = [c for c in matrix.cells if c.path == path and c.mode == "attribute"]
    best = max(cells, key=lambda cell: gain(matrix, cell))
    base = _one(matrix, path, "base", "attribute", 0)
    return (f"The attribute alone, without a trigger, saves {matrix.plain_of(base).us - base.us:.2f} us per kernel of the base "
            f"shape, and gains at most {gain(matrix, best):.2f}x ({_at(best)})." + _cite([base, matrix.plain_of(base), best]))


def _hidden(matrix: Matrix, path: str) -> str:
    hidden = [c for c in matrix.select(path, "prologue_short_main_us", "early") if c.of_limit >= REACHED]
    short = [c for c in matrix.select(path, "prologue_short_main_us", "early") if c.of_limit < REACHED]
    said = "A prologue is hidden behind the main part of the kernel before: "
    if not short:
        return (said + f"with a main part of 1 us even the longest of the matrix, {hidden[-1].value:g} us, to "
                f"{hidden[-1].of_limit:.0%} of the limit." + _cite(hidden[-1:]))
    if not hidden:
        return said + "with a main part of 1 us none of the matrix was, to 90 % of the limit." + _cite(short)
    return (said + f"with a main part of 1 us up to {hidden[-1].value:g} us of it to {hidden[-1].of_limit:.0%} of the limit, "
            f"with {short[0].value:g} us only to {short[0].of_limit:.0%}." + _cite([hidden[-1], short[0]]))


def _leave_off(matrix: Matrix, path: str) -> str:
    losses = [cell for cell in matrix.losses() if cell.path == path and cell.mode == "early" and cell.axis != "base"]
    if not losses:
        cells = [min(_early_cells(matrix, path), key=lambda cell: gain(matrix, cell))]
        return f"No reason to leave it off: at worst the gain is {gain(matrix, cells[0]):.2f}x ({_at(cells[0])})." + _cite(cells)
    losses.sort(key=lambda cell: gain(matrix, cell))
    return "Leave PDL, or at least the trigger, off where it costs: " + "; ".join(
        f"{_at(cell)} ({gain(matrix, cell):.2f}x)" for cell in losses) + "." + _cite(losses)


# ---- axis by axis ----------------------------------------------------------------------------------------------------
def _trigger(matrix: Matrix, path: str) -> list[str]:
    by_mode = {mode: _one(matrix, path, "base", mode, 0) for mode in matrix.modes}
    best = min(by_mode.values(), key=lambda cell: cell.us)
    figures = ", ".join(f"{mode} {cell.us:.2f} us" for mode, cell in by_mode.items())
    said = [f"Base shape: {figures} per kernel; the best is `{best.mode}`, {best.of_limit:.0%} of the limit." +
            _cite(by_mode.values())]
    for early in matrix.select(path, "tail_us", "early"):
        late = _one(matrix, path, "tail_us", "late", early.value)
        if slower(early, late) or slower(late, early):
            better = "early" if early.us < late.us else "late"
            said.append(f"With a tail of {early.value:g} us the {better} trigger is the faster one "
                        f"({early.us:.2f} early, {late.us:.2f} us late)." + _cite([early, late]))
        else:
            said.append(f"With a tail of {early.value:g} us early and late triggers cannot be told apart." + _cite([early, late]))
    return said


def _prologue(matrix: Matrix, path: str) -> list[str]:
    cells = matrix.select(path, "prologue_us", "early")
    paying = [cell for cell in cells if gain(matrix, cell) >= WORTH and slower(matrix.plain_of(cell), cell)]
    if not paying:
        return ["No prologue in the matrix paid." + _cite(cells)]
    said = [f"The trigger pays from a prologue of {paying[0].value:g} us on: {gain(matrix, paying[0]):.2f}x there, "
            f"{gain(matrix, paying[-1]):.2f}x at {paying[-1].value:g} us." + _cite([paying[0], paying[-1]])]
    first, last = cells[0], cells[-1]
    left = (last.us - first.us) / (last.value - first.value)
    said.append(f"Of each further microsecond of prologue {max(0.0, left):.2f} us is left to see." + _cite([first, last]))
    return [*said, _hidden(matrix, path)]


def _room(matrix: Matrix, path: str) -> list[str]:
    said = []
    for axis in ("blocks", "threads", "shared_kib", "carveout_apart", "traffic_mib", "depth"):
        cells = matrix.select(path, axis, "early")
        lost = [cell for cell in cells if gain(matrix, cell) < WORTH]
        kept = [cell for cell in cells if gain(matrix, cell) >= WORTH]
        for found, verb in ((lost, "nothing is gained"), (kept, "gained")):
            if found:
                values = ", ".join(f"{cell.value:g} ({gain(matrix, cell):.2f}x)" for cell in found)
                said.append(f"{AXES[axis]}: {verb} at {values}." + _cite(found))
    return said


def _off(matrix: Matrix, path: str) -> list[str]:
    losses = [cell for cell in matrix.losses() if cell.path == path and cell.axis != "base"]
    return [f"{AXES[cell.axis]} = {cell.value:g}: `{cell.mode}` takes {cell.us:.2f} us, plain "
            f"{matrix.plain_of(cell).us:.2f} us ({gain(matrix, cell):.2f}x)." + _cite([cell, matrix.plain_of(cell)])
            for cell in sorted(losses, key=lambda cell: gain(matrix, cell))] or [_leave_off(matrix, path)]


def _table(matrix: Matrix, path: str, axis: str) -> list[str]:
    rows = ["| " + AXES[axis] + " | plain, us | " + " | ".join(f"{mode}, us (gain, of limit)" for mode in matrix.modes[1:]) + " |",
            "|---|---|" + "---|" * (len(matrix.modes) - 1)]
    for plain in matrix.select(path, axis, "plain"):
        others = [_one(matrix, path, axis, mode, plain.value) for mode in matrix.modes[1:]]
        texts = [f"{cell.us:.2f} ({gain(matrix, cell):.2f}x, {cell.of_limit:.0%})" for cell in others]
        rows.append(f"| {plain.value:g} | {plain.us:.2f} | " + " | ".join(texts) + " |")
    return [*rows, ""]


# ---- beside the matrix -----------------------------------------------------------------------------------------------
def _examples(matrix: Matrix, examples: Sequence[dict[str, Any]]) -> list[str]:
    chains = [row for row in examples if row["limit_percent"] is not None]
    if not chains:
        return []
    low = [row for row in chains if row["limit_percent"] < 100 * REACHED]
    lines = ["## The examples", "",
             f"{len(chains) - len(low)} of {len(chains)} examples that are chains reach {REACHED:.0%} of their own limit: " +
             ", ".join(f"{row['name']} {row['limit_percent']:.0f} %" for row in chains) + ".", ""]
    for row in low:
        early = [cell for cell in _early_cells(matrix, row["path"]) if cell.of_limit < REACHED]
        moving = matrix.select(row["path"], "traffic_mib", "early")
        said = f"- {row['name']}, in a {row['path']}, reaches {row['limit_percent']:.0f} %."
        if moving:
            said += (f" A main part that moves memory, as its own does, reaches {min(c.of_limit for c in moving):.0%} to "
                     f"{max(c.of_limit for c in moving):.0%} there." + _cite(moving))
        lines.append(said + " Other shapes below 90 % on that path: " + ("; ".join(
            f"{_at(cell)} ({cell.of_limit:.0%})" for cell in early if cell not in moving) or "none") + "." + _cite(early))
    return [*lines, ""] if low else lines


def _span(value: Any) -> str:
    return f"{value['median']:.3f} ({value['low95']:.3f} to {value['high95']:.3f})"


def _standing(costs: Sequence[dict[str, Any]]) -> list[str]:
    """Where pdl_launch stands among the launchers with overlap."""
    ours = [row for row in costs if row["launcher"] == "pdl_launch"]
    peers = [row for row in costs if row["peer"] and row["overlap"]]
    if not ours or not peers:
        return []
    said = f"- `pdl_launch` takes {_span(ours[0]['to_raw'])} of the raw call's time. "
    faster = [row["launcher"] for row in peers if row["pdl_launch_to_it"]["low95"] > 1]
    slower_ones = [row["launcher"] for row in peers if row["pdl_launch_to_it"]["high95"] < 1]
    said += f"Faster than it beyond the interval: {', '.join(faster) or 'none'} of {len(peers)} peers; "
    return [said + f"slower: {', '.join(slower_ones) or 'none'}.", ""]


def _host(host: Host) -> list[str]:
    lines = ["## What a launch costs the host", ""]
    if host.costs:
        lines += ["All in one process, interleaved; medians with their 95 % intervals. The raw call of a launcher with overlap "
                  "is `cudaLaunchKernelExC` with the attribute, of one without it the same call without any.", "",
                  "| launcher | overlap | us | to the raw call | `pdl_launch` to it |", "|---|---|---|---|---|"]
    for row in host.costs:
        ours = _span(row["pdl_launch_to_it"]) if "pdl_launch_to_it" in row else "-"
        lines.append(f"| {'peer: ' if row['peer'] else ''}`{row['launcher']}` | {'yes' if row['overlap'] else 'no'} | "
                     f"{row['us']:.2f} ({row['us_low95']:.2f} to {row['us_high95']:.2f}) | {_span(row['to_raw'])} | {ours} |")
    if host.costs:
        lines += ["", *_standing(host.costs)]
    if host.not_measured:
        lines += [*(f"- Not measured: {text.rstrip('. ')}." for text in host.not_measured), ""]
    if host.instructions:
        lines += ["Instructions up to the one CUDA call, counted where this page was made, by a C compiler with -O2:", "",
                  "| way to launch | instructions | beyond the raw call |", "|---|---|---|"]
        lines += [f"| {row['way']} | {row['instructions']} | {row['beyond_raw']} |" for row in host.instructions]
    return [*lines, ""] if len(lines) > 2 else []


def _bullets(sentences: Sequence[str]) -> list[str]:
    return [f"- {sentence}" for sentence in sentences] + [""]


def _head(matrix: Matrix) -> list[str]:
    base = _one(matrix, "graph", "base", "plain", 0).shape
    return [
        "# What PDL is worth here", "",
        f"Made by `python3 conformance bench` on {matrix.device['device']}, {matrix.device['sms']} multiprocessors, CUDA driver "
        f"{matrix.device['driver_cuda']}, medians of {matrix.device['repetitions']} interleaved repetitions. Base shape: "
        f"{base['blocks']} blocks of {base['threads']} threads, prologue {base['prologue_ns'] / 1000:g} us, main part "
        f"{base['main_ns'] / 1000:g} us, {base['depth']} kernels; one axis is varied at a time. Modes: plain (no attribute), "
        "attribute (wait, no trigger), early (trigger first thing), late (trigger behind the main part). Names in brackets are "
        "cells of the matrix, PATH.MODE.AXIS=VALUE; all of them stand in the tables at the end.", "",
        "The limit: main part and tail alone plus the boundary of an empty PDL chain of that shape on that path. An empty chain "
        "also shows how its blocks are started, which a real main part hides; so a cell can reach a little more than 100 %.", "",
    ]


def page(bench: Bench, plots: Sequence[str]) -> str:
    """The whole page as Markdown; made from the record, so a new run makes a new page."""
    matrix = bench.matrix
    lines = _head(matrix)
    for path in PATHS:
        lines += [f"## In short, in a {path}", "", *_bullets([
            _best_place(matrix, path), _attribute_alone(matrix, path), _hidden(matrix, path), _leave_off(matrix, path)])]
    lines += [line for name in plots if name.endswith(".png") for line in (f"![{name.removesuffix('.png')}]({name})", "")]
    for path in PATHS:
        lines += [f"## In a {path}", "", "Where to put the trigger:", "", *_bullets(_trigger(matrix, path))]
        lines += ["How much prologue pays:", "", *_bullets(_prologue(matrix, path))]
        lines += ["Room on the multiprocessors:", "", *_bullets(_room(matrix, path))]
        lines += ["When to leave PDL off:", "", *_bullets(_off(matrix, path))]
    lines += _examples(matrix, bench.examples) + _host(bench.host)
    lines += ["## All cells", ""]
    for path in PATHS:
        for axis in AXES:
            if matrix.select(path, axis):
                lines += [f"{path}:", "", *_table(matrix, path, axis)]
    return "\n".join(lines).rstrip() + "\n"
