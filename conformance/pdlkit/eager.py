"""Compares the same program launched eagerly and captured: the words have to be the same, overlap may differ (F17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MUCH, _LITTLE = 0.5, 0.05  # shares of trials that overlapped


def _side(test: Mapping[str, Any]) -> dict[str, int]:
    outcomes = test["outcomes"]
    return {"run": test["trials"]["run"], "fresh": outcomes.get("fresh", 0), "overlap": outcomes.get("overlap", 0)}


def _share(side: Mapping[str, int]) -> float:
    return side["overlap"] / side["run"]


def compare(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry per pair and window that ran on both paths; `words`: same, or the wrong ones are on that path only."""
    sides: dict[tuple[str, str, str], dict[str, dict[str, int]]] = {}
    for test in tests:
        if test["kind"] != "api" and test["trials"]["run"] and test["path"] in ("stream", "captured"):
            key = (test["rule"], test["name"].split(".")[1], test["window"])
            sides.setdefault(key, {})[test["path"]] = _side(test)
    found = []
    for (rule, pair, window), both in sides.items():
        if len(both) < 2:
            continue
        wrong = [path for path, side in both.items() if side["fresh"] < side["run"]]
        shares = sorted(_share(side) for side in both.values())
        found.append({
            "rule": rule, "pair": pair, "window": window, **both,
            "words": "same" if len(wrong) != 1 else f"wrong when {wrong[0]}",
            "overlap_differs": shares[0] <= _LITTLE and shares[1] >= _MUCH,
        })
    return found


def sentences(entries: list[dict[str, Any]]) -> list[str]:
    """What a reader should know of them."""
    said = []
    for entry in entries:
        name = f"{entry['rule']}.{entry['pair']}" + ("" if entry["window"] == "widened" else f" ({entry['window']})")
        if entry["words"] != "same":
            how = "captured" if entry["words"].endswith("captured") else "launched eagerly"
            said.append(f"{name} gave wrong words when {how}, and never on the other path")
        if entry["overlap_differs"]:
            shares = {path: f"{entry[path]['overlap']:,} of {entry[path]['run']:,}" for path in ("stream", "captured")}
            said.append(f"{name} overlapped in {shares['captured']} trials captured and in {shares['stream']} launched eagerly")
    return said
