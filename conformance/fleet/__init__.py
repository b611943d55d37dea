"""`python3 conformance fleet PART`: many GPUs by Slurm, and answers for whatever runs health checks on nodes."""

from __future__ import annotations

import importlib

from conformance.pdlkit.exits import BAD_ARGUMENTS, OK

_PARTS = {
    "submit": ("conformance.fleet.submit", "submit a Slurm job array, or what is still missing of one"),
    "status": ("conformance.fleet.status", "what is done, running, lost and missing"),
    "report": ("conformance.fleet.report", "verdicts per GPU, driver and model, pooled bounds, outliers"),
    "health": ("conformance.fleet.health", "one check of this node for a monitoring system"),
    "worker": ("conformance.fleet.worker", "judge the GPUs of this node for a submission (the job array calls it)"),
    "simulate": ("conformance.fleet.simulate", "write the records of a made-up fleet, to test `report`"),
}


def main(argv: list[str]) -> int:
    """Run one part; without a name, list them."""
    if not argv or argv[0] in ("-h", "--help") or argv[0] not in _PARTS:
        rows = "".join(f"  {name:<9} {text}\n" for name, (_, text) in _PARTS.items())
        print(f"usage: python3 conformance fleet PART [options]\n\n{rows}\nEvery part has --help.")
        return OK if argv and argv[0] in ("-h", "--help") else BAD_ARGUMENTS
    return int(importlib.import_module(_PARTS[argv[0]][0]).main(argv[1:]))
