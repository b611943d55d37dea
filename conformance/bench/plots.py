"""Draws the matrix; run by an interpreter that has matplotlib: plots.py BENCH.json FOLDER. Prints the files' names."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

AXES = {
    "prologue_us": "prologue (us), main part 5 us", "prologue_short_main_us": "prologue (us), main part 1 us",
    "main_us": "main part (us)", "tail_us": "tail (us)", "depth": "kernels in the chain",
    "traffic_mib": "main part (MiB read, as many written); time: of plain", "blocks": "blocks",
    "blocks_empty": "blocks, kernels without work", "threads": "threads per block",
    "shared_kib": "shared memory (KiB per block)", "carveout_apart": "carve-out (%), kernels alternate",
}
OF_PLAIN = ("traffic_mib",)  # times that grow with the value, so that only their ratio shows a difference
LOGARITHMIC = ("blocks", "blocks_empty", "threads", "depth", "traffic_mib")
COLOURS = {"plain": "#555555", "attribute": "#1f77b4", "early": "#d62728", "waited": "#8a2be2", "late": "#e69f00"}
MARKS = {"plain": "s", "attribute": "v", "early": "o", "waited": "D", "late": "^"}


def _panel(panel: plt.Axes, axis: str, cells: list[dict[str, Any]]) -> None:
    """A line per mode with its interval, and the limit."""
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    plain = {cell["value"]: cell["us"] if axis in OF_PLAIN else 1.0 for cell in cells if cell["mode"] == "plain"}
    for cell in sorted(cells, key=lambda cell: cell["value"]):
        times = {key: cell[key] / plain[cell["value"]] for key in ("us", "low95", "high95", "limit_us")}
        lines[cell["mode"]].append({**cell, **times})
    for mode, colour in ((mode, COLOURS[mode]) for mode in COLOURS if mode in lines):
        points = lines[mode]
        values = [point["value"] for point in points]
        panel.plot(values, [point["us"] for point in points], color=colour, marker=MARKS[mode], markersize=4, label=mode)
        panel.fill_between(values, [p["low95"] for p in points], [p["high95"] for p in points], color=colour, alpha=0.2)
    limit = lines["plain"]
    panel.plot([p["value"] for p in limit], [p["limit_us"] for p in limit], "k--", linewidth=1, label="limit")
    panel.set_xlabel(AXES[axis])
    panel.set_ylim(0, 1.05 * max(point["high95"] for points in lines.values() for point in points))
    if axis in LOGARITHMIC:
        panel.set_xscale("log", base=2)
        ticks = sorted({point["value"] for point in limit})
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=45 if len(ticks) > 6 else 0)
        panel.minorticks_off()
    panel.grid(alpha=0.3)


def gap(path: str, cells: list[dict[str, Any]], device: str) -> plt.Figure:
    """Time per kernel, a panel per axis."""
    figure, panels = plt.subplots(3, 4, figsize=(18, 12))
    axes = [axis for axis in AXES if any(cell["axis"] == axis for cell in cells)]
    for panel, axis in zip(panels.flat, axes, strict=False):
        _panel(panel, axis, [cell for cell in cells if cell["path"] == path and cell["axis"] == axis])
    for panel in panels.flat[len(axes):]:
        panel.set_visible(False)
    for panel in panels[:, 0]:
        panel.set_ylabel("us per kernel")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower right", bbox_to_anchor=(0.9, 0.12), fontsize=14)  # where no panel is
    figure.suptitle(f"{device}, in a {path}: time per kernel of a dependent chain (lower is better)")
    figure.tight_layout()
    return figure


def cost(rows: list[dict[str, Any]], device: str) -> plt.Figure:
    """Microseconds per launch with intervals; launchers with overlap above those without."""
    rows = sorted(rows, key=lambda row: (not row["overlap"], row["us"]), reverse=True)
    figure, panel = plt.subplots(figsize=(9, 0.35 * len(rows) + 1.4))
    for place, row in enumerate(rows):
        ours = row["launcher"].startswith("pdl_launch")
        colour = COLOURS["early"] if ours else COLOURS["attribute"] if row["overlap"] else COLOURS["plain"]
        spread = [[row["us"] - row["us_low95"]], [row["us_high95"] - row["us"]]]
        panel.errorbar(row["us"], place, xerr=spread, color=colour, marker="o", capsize=3)
        text = f"  {row['us']:.2f} us, {row['to_raw']['median']:.3f} of the raw call"
        panel.text(row["us_high95"], place, text, va="center", fontsize=8)
    panel.set_yticks(range(len(rows)), [row["launcher"] for row in rows], fontsize=8)
    panel.set_xscale("log")
    panel.set_xlim(1, 4 * max(row["us_high95"] for row in rows))
    panel.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    panel.minorticks_off()
    panel.grid(axis="x", alpha=0.3)
    panel.set_xlabel("host time per launch (us); red: pdl_launch, blue: others with overlap, grey: without")
    panel.set_title(f"{device}: what a launch costs the host")
    figure.tight_layout()
    return figure


def main(source: Path, folder: Path) -> None:
    bench = json.loads(source.read_text())
    device = bench["device"]["device"]
    figures = {f"launch_gap_{path}": gap(path, bench["cells"], device) for path in ("stream", "graph")}
    if bench["host_cost"]:
        figures["host_cost"] = cost(bench["host_cost"], device)
    matplotlib.rcParams |= {"svg.hashsalt": "pdl", "svg.fonttype": "none"}  # the same records give the same, small files
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", dpi=70)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        print(f"{name}.png", f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
