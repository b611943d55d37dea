"""Turns the smallest program that differs, as the harness tells it, into a stand-alone CUDA program."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from conformance.pdlkit.verdicts import CaseResult

ANSWER = "smallest program that differs"  # of harness/programs
LINKS_AT_MOST = 60
STEPS_AT_MOST = 32  # a word of the program has a bit per step
# The ways of building a graph that the template can write; a failure in another way is described in words only.
_WAYS = {"nodes, then all edges in one call": 1, "each node with its edges": 2, "a clone": 3}


def program(result: CaseResult, seed: int, name: str, arch: str) -> str | None:
    """The text, or None where this difference is none of a graph made in one of these ways."""
    told = next((row["answer"] for row in result.record.get("answers") or () if row["what"] == ANSWER), None)
    match = re.fullmatch(r"(?P<way>[^;:]+); [^:]+: (?P<saw>.*): (?P<steps>0 [^;:]*);(?P<links>[^;]*)", told or "")
    if match is None or match["way"] not in _WAYS:
        return None
    steps = [step.split()[1:] for step in match["steps"].split(", ")]
    links = re.findall(r"([0-9]+)>([0-9]+):([0-9]),0,([0-9])", match["links"])
    if len(steps) > STEPS_AT_MOST or len(links) > LINKS_AT_MOST:
        return None
    return Template((Path(__file__).parent / "program.cu.in").read_text()).substitute(
        name=name, arch=arch, case=result.case.name, seed=f"0x{seed:016x}", way=match["way"], saw=match["saw"],
        steps=len(steps), links=len(links), way_number=_WAYS[match["way"]],
        step_rows=", ".join(f"{{ {int(step[0] == 'kernel')}, {int('waits' in step)} }}" for step in steps),
        link_rows=", ".join(f"{{ {', '.join(link)} }}" for link in links) or "{ 0, 0, 0, 0 }",
    )
