"""The guidance page: sentences computed from the matrix, each naming the cells it rests on. No figure is typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.bench.matrix import Cell, Matrix
from conformance.bench.record import Bench, Host

AXES = {
    "prologue_us": "prologue, us", "prologue_short_main_us": "prologue, us, before a main part of 1 us",
    "main_us": "main part, us", "traffic_mib": "main part, MiB read and as many written", "tail_us": "tail, us",
    "depth": "kernels in the chain", "blocks": "blocks",
    "blocks_empty": "blocks, kernels without any work", "threads": "threads per block",
    "shared_kib": "dynamic shared memory, KiB per block",
    "carveout_apart": "carve-out in percent (0: the driver's), every other kernel with 4 KiB of static shared memory",
}
PATHS = ("stream", "graph")
PLACES = {"plain": "Leave PDL off", "attribute": "Leave the trigger out", "early": "Put the trigger first",
          "waited": "Put the trigger right after the wait", "late": "Put the trigger after the main part"}
MODE_WORDS = {"plain": "no attribute", "attribute": "wait, no trigger", "early": "trigger first thing",
              "waited": "trigger right after the wait", "late": "trigger after the main part"}
WORTH = 1.02  # a gain below 2 % is not worth a sentence
REACHED = 0.9  # of the limit


def gain(matrix: Matrix, cell: Cell) -> float:
    """How many times faster than the same shape without PDL."""
    return matrix.plain_of(cell).us / cell.us


def slower(one: Cell, other: Cell) -> bool:
    """Slower beyond both intervals."""
    return one.low95 > other.high95


def _cite(cells: Iterable[Cell]) -> str:
    return " [" + "; ".join(dict.fromkeys(f"`{cell.name}`" for cell in cells)) + "]"


def _one(matrix: Matrix, path: str, axis: str, mode: str, value: float) -> Cell:
    return next(c for c in matrix.select(path, axis, mode) if c.value == value)


def _at(cell: Cell) -> str:
    return f"{AXES.get(cell.axis, 'base shape')} = {cell.value:g}"


def _shape_of(matrix: Matrix, cell: Cell) -> list[Cell]:
    """The cells of one shape on one path, one per mode."""
    return [_one(matrix, cell.path, cell.axis, mode, cell.value) for mode in matrix.modes]


def _unbeaten(matrix: Matrix, cell: Cell) -> bool:
    """No other mode is faster beyond the intervals and by more than WORTH."""
    return not any(slower(cell, other) and cell.us >= WORTH * other.us for other in _shape_of(matrix, cell))


# ---- in short: what holds in all shapes of one path ------------------------------------------------------------------
def _shapes(matrix: Matrix, path: str, mode: str) -> list[Cell]:
    """One cell per shape: the base shape lies on several axes and counts once."""
    found: dict[tuple[tuple[str, int], ...], Cell] = {}
    for cell in matrix.cells:
        if cell.path == path and cell.mode == mode:
            found.setdefault(tuple(sorted(cell.shape.items())), cell)
    return list(found.values())


def _best_place(matrix: Matrix, path: str) -> str:
    standing = {mode: sum(_unbeaten(matrix, cell) for cell in _shapes(matrix, path, mode)) for mode in matrix.modes}
    mode = max(standing, key=lambda name: standing[name])
    cells = _shapes(matrix, path, mode)
    best = max(cells, key=lambda cell: gain(matrix, cell))
    others = ", ".join(f"`{name}` in {count}" for name, count in standing.items() if name != mode)
    said = (f"{PLACES[mode]} (`{mode}`): in {standing[mode]} of {len(cells)} shapes no other mode is 2 % faster ({others}). "
            f"The most it gains is {gain(matrix, best):.2f}x ({_at(best)}).")
    beaten = [(cell, min(_shape_of(matrix, cell), key=lambda other: other.us))
              for cell in cells if not _unbeaten(matrix, cell)]
    if not beaten:
        return said + _cite([best])
    return (said + " It is beaten at " + "; ".join(f"{_at(cell)} by `{by.mode}`" for cell, by in beaten) + "." +
            _cite([best, *(one for pair in beaten for one in pair)]))


def _attribute_alone(matrix: Matrix, path: str) -> str:
    cells = [c for c in matrix.cells if c.path == path and c.mode == "attribute"]
    best = max(cells, key=lambda cell: gain(matrix, cell))
    base = _one(matrix, path, "base", "attribute", 0)
    return (f"The attribute alone, without a trigger, saves {matrix.plain_of(base).us - base.us:.2f} us per kernel of the base "
            f"shape, and gains at most {gain(matrix, best):.2f}x ({_at(best)})." + _cite([base, matrix.plain_of(base), best]))


def _hidden(matrix: Matrix, path: str) -> str:
    cells = matrix.select(path, "prologue_short_main_us", "early")
    hidden = [cell for cell in cells if cell.of_limit >= REACHED]
    short = [cell for cell in cells if cell.of_limit < REACHED]
    said = "With the trigger first, a prologue is hidden by the kernels before it, even where their main parts are only 1 us: "
    if not short:
        return (said + f"the longest of the matrix, {hidden[-1].value:g} us, reaches {hidden[-1].of_limit:.0%} of the limit." +
                _cite(hidden[-1:]))
    if not hidden:
        return "No prologue before a main part of 1 us is hidden to 90 % of the limit." + _cite(short)
    return (said + f"up to {hidden[-1].value:g} us of it reach {hidden[-1].of_limit:.0%} of the limit, "
            f"{short[0].value:g} us only {short[0].of_limit:.0%}." + _cite([hidden[-1], short[0]]))


def _fastest(matrix: Matrix, path: str, axis: str) -> str:
    """Which mode is the fastest at each value, and which others cannot be told apart from it."""
    cited: list[Cell] = []
    parts = []
    for plain in matrix.select(path, axis, "plain"):
        cells = sorted(_shape_of(matrix, plain), key=lambda cell: cell.us)
        alike = [cell for cell in cells[1:] if not slower(cell, cells[0])]
        near = f" or {', '.join(f'`{cell.mode}`' for cell in alike)}" if alike else ""
        parts.append(f"at {plain.value:g} `{cells[0].mode}`{near} ({cells[0].us:.2f} us, plain {plain.us:.2f} us)")
        cited += [cells[0], *alike, plain]
    return f"The fastest by {AXES[axis]}: " + "; ".join(parts) + "." + _cite(cited)


def _leave_off(matrix: Matrix, path: str) -> str:
    losses = [cell for cell in matrix.losses() if cell.path == path and cell.mode == "early" and cell.axis != "base"]
    if not losses:
        cells = [min(_shapes(matrix, path, "early"), key=lambda cell: gain(matrix, cell))]
        return f"No reason to leave it off: at worst the gain is {gain(matrix, cells[0]):.2f}x ({_at(cells[0])})." + _cite(cells)
    losses.sort(key=lambda cell: gain(matrix, cell))
    parts, cited = [], []
    for cell in losses:
        best = min(_shape_of(matrix, cell), key=lambda other: other.us)
        parts.append(f"{_at(cell)} ({gain(matrix, cell):.2f}x, best `{best.mode}` with {gain(matrix, best):.2f}x)")
        cited += [cell, best]
    return "The trigger first costs more than it saves at " + "; ".join(parts) + "." + _cite(cited)


# ---- axis by axis ----------------------------------------------------------------------------------------------------
def _trigger(matrix: Matrix, path: str) -> list[str]:
    by_mode = {mode: _one(matrix, path, "base", mode, 0) for mode in matrix.modes}
    best = min(by_mode.values(), key=lambda cell: cell.us)
    figures = ", ".join(f"{mode} {cell.us:.2f} us" for mode, cell in by_mode.items())
    said = [f"Base shape: {figures} per kernel; the best is `{best.mode}`, {best.of_limit:.0%} of the limit." +
            _cite(by_mode.values())]
    return [*said, *(_fastest(matrix, path, axis) for axis in ("tail_us", "blocks_empty") if matrix.select(path, axis))]


def _prologue(matrix: Matrix, path: str) -> list[str]:
    cells = matrix.select(path, "prologue_us", "early")
    paying = [cell for cell in cells if gain(matrix, cell) >= WORTH and slower(matrix.plain_of(cell), cell)]
    if not paying:
        return ["No prologue in the matrix paid." + _cite(cells)]
    said = [f"The trigger pays from a prologue of {paying[0].value:g} us on: {gain(matrix, paying[0]):.2f}x there, "
            f"{gain(matrix, paying[-1]):.2f}x at {paying[-1].value:g} us." + _cite([paying[0], paying[-1]])]
    first, last = cells[0], cells[-1]
    left = (last.us - first.us) / (last.value - first.value)
    return [*said, f"Of each further microsecond of prologue {max(0.0, left):.2f} us is left to see." + _cite([first, last])]


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


def _places(matrix: Matrix, path: str) -> list[str]:
    """Where blocks run that read what an earlier kernel stored, at the size where the modes differ most."""
    plain = [cell for cell in matrix.select(path, "traffic_mib", "plain") if cell.moved is not None]
    if not plain:
        return []
    rows = [_shape_of(matrix, cell) for cell in plain]
    row = max(rows, key=lambda cells: max(c.us for c in cells if c.mode == "early") / min(c.us for c in cells))
    parts = ", ".join(f"{cell.moved:.0%} `{cell.mode}` ({cell.us:.2f} us)" for cell in row)
    return [f"With {row[0].value:g} MiB read and as many written, so many blocks run on another multiprocessor than their number "
            f"in the kernel before, whose words they read: {parts}." + _cite(row)]


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
        early = [cell for cell in _shapes(matrix, row["path"], "early") if cell.of_limit < REACHED]
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
        f"{base['main_ns'] / 1000:g} us, {base['depth']} kernels; one axis is varied at a time. Modes: " +
        ", ".join(f"{mode} ({MODE_WORDS[mode]})" for mode in matrix.modes) + ". Names in brackets are cells of the matrix, "
        "PATH.MODE.AXIS=VALUE; all of them stand in the tables at the end.", "",
        "The limit: main part and tail alone plus the boundary of an empty PDL chain of that shape on that path. An empty chain "
        "also shows how its blocks are started, which a real main part hides; so a cell can reach a little more than 100 %.", "",
    ]


def page(bench: Bench, plots: Sequence[str]) -> str:
    """The whole page as Markdown; made from the record, so a new run makes a new page."""
    matrix = bench.matrix
    lines = _head(matrix)
    for path in PATHS:
        moving = [_fastest(matrix, path, "traffic_mib")] if matrix.select(path, "traffic_mib") else []
        hidden = [_hidden(matrix, path)] if matrix.select(path, "prologue_short_main_us") else []
        lines += [f"## In short, in a {path}", "", *_bullets([
            _best_place(matrix, path), *moving, _attribute_alone(matrix, path), *hidden, _leave_off(matrix, path)])]
    lines += [line for name in plots if name.endswith(".png") for line in (f"![{name.removesuffix('.png')}]({name})", "")]
    for path in PATHS:
        lines += [f"## In a {path}", "", "Where to put the trigger:", "", *_bullets(_trigger(matrix, path))]
        lines += ["How much prologue pays:", "", *_bullets(_prologue(matrix, path))]
        lines += ["Room on the multiprocessors:", "", *_bullets(_room(matrix, path) + _places(matrix, path))]
        lines += ["When to leave PDL off:", "", *_bullets(_off(matrix, path))]
    lines += _examples(matrix, bench.examples) + _host(bench.host)
    lines += ["## All cells", ""]
    for path in PATHS:
        for axis in AXES:
            if matrix.select(path, axis):
                lines += [f"{path}:", "", *_table(matrix, path, axis)]
    return "\n".join(lines).rstrip() + "\n"
