"""Draws the matrix; run by an interpreter that has matplotlib: plots.py BENCH.json FOLDER. Prints the files' names."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

TITLES = {
    "prologue_us": "prologue (us)", "main_us": "main part (us)", "tail_us": "tail (us)", "blocks": "blocks",
    "blocks_empty": "blocks, empty kernels", "shared_kib": "shared memory (KiB)", "threads": "threads per block",
    "depth": "kernels in the chain",
}
LOGARITHMIC = ("blocks", "blocks_empty", "threads", "depth")


def draw(path: str, cells: list[dict[str, Any]], device: str) -> plt.Figure:
    """One figure per path: a panel per axis, a line per mode with its interval, and the limit."""
    figure, panels = plt.subplots(2, 4, figsize=(16, 7))
    for panel, (axis, title) in zip(panels.flat, TITLES.items()):
        lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for cell in cells:
            if cell["path"] == path and cell["axis"] == axis:
                lines[cell["mode"]].append(cell)
        for mode, points in lines.items():
            points.sort(key=lambda point: point["value"])
            values = [point["value"] for point in points]
            panel.plot(values, [point["us"] for point in points], marker=".", label=mode)
            panel.fill_between(values, [p["low95"] for p in points], [p["high95"] for p in points], alpha=0.2)
        limit = lines.get("plain", [])
        panel.plot([p["value"] for p in limit], [p["limit_us"] for p in limit], "k--", linewidth=1, label="limit")
        panel.set_xlabel(title)
        panel.set_ylabel("us per kernel")
        if axis in LOGARITHMIC:
            panel.set_xscale("log", base=2)
        panel.grid(alpha=0.3)
    panels.flat[0].legend()
    figure.suptitle(f"{device}, {path}: time per kernel")
    figure.tight_layout()
    return figure


def main(source: Path, folder: Path) -> None:
    bench = json.loads(source.read_text())
    for path in ("stream", "graph"):
        figure = draw(path, bench["cells"], bench["device"]["device"])
        for ending in ("png", "svg"):
            name = f"launch_gap_{path}.{ending}"
            figure.savefig(folder / name, dpi=90)
            print(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
