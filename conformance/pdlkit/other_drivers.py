"""What the recorded results say of other drivers and GPUs, so that a report shows whether a failure is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.pdlkit import places
from conformance.pdlkit.read_report import Unreadable, read_json

RESULTS = places.KIT / "results"


def _whole_run(path: Path) -> dict[str, Any] | None:
    """The report in this file if it is one of a GPU, of all rules and without waivers; a damaged file decides nothing and is left out."""
    try:
        report = read_json(path)
        whole = str(report["schema"]).startswith("pdl-report/") and report["device"]["kind"] == "gpu" and not report["run"]["only"]
        whole = whole and not report.get("waived")
        return dict(report) if whole and report["rules"] else None
    except (Unreadable, KeyError, TypeError):
        return None


def other_drivers(gpu: str | None, driver: str | None, results: Path = RESULTS) -> list[dict[str, Any]]:
    """The last recorded run of each other GPU, driver and toolkit, with the result of every rule."""
    latest: dict[tuple[str, str, str], dict[str, Any]] = {}
    for path in sorted(results.glob("*.json")):
        report = _whole_run(path)
        if report is None:
            continue
        key = (str(report["device"].get("name")), str(report["driver"].get("version")), str(report["toolchain"].get("nvcc")))
        if key[:2] != (gpu, driver) and (key not in latest or latest[key]["run"]["started"] < report["run"]["started"]):
            latest[key] = report
    return [
        {
            "gpu": name, "driver": version, "toolkit": toolkit, "started": report["run"]["started"], "verdict": report["verdict"],
            "rules": {rule["id"]: rule["status"] for rule in report["rules"]},
        }
        for (name, version, toolkit), report in sorted(latest.items())
    ]
