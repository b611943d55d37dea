"""One GPU's report, shortened to what a fleet needs: verdict, counts per rule, times per family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any


def shortened(report: Mapping[str, Any], node: str, ordinal: int, finished: str) -> dict[str, Any]:
    """The fields of a `gpu` record. `gpu` names the GPU across attempts: its hashed UUID, else node and ordinal."""
    device, driver = report.get("device") or {}, report.get("driver") or {}
    rules: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    families: dict[str, float] = defaultdict(float)
    for test in report["tests"]:
        families[test["family"]] += float(test.get("wall_s") or 0.0)
        trials = test.get("trials") or {}
        counts = rules[test["rule"]]
        counts[0] += int(trials.get("run") or 0)
        counts[1] += int(trials.get("exercised") or 0) if test["proving"] and test["status"] == "PASS" else 0
        counts[2] += int((test.get("outcomes") or {}).get("overlap") or 0)
    return {
        "gpu": str(device.get("uuid_hash") or f"{node}:{ordinal}"), "node": node, "ordinal": ordinal, "finished": finished,
        "model": str(device.get("name") or device.get("kind") or "unknown"), "driver": str(driver.get("version") or "none"),
        "verdict": report["verdict"], "exit": report["exit"], "reasons": [str(text)[:200] for text in report["reasons"]][:8],
        "run": report["run"]["id"], "sources": report["suite"].get("sources"),
        "failed": [t["name"] for t in report["tests"] if t["status"] in ("FAIL", "HANG", "CRASH", "DEVICE_LOST")][:32],
        "kinds": {rule["id"]: rule["kind"] for rule in report["rules"]}, "rules": dict(rules), "families": dict(families),
    }
