"""Turns the smallest program that differs, as the harness tells it, into a stand-alone CUDA program."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from conformance.pdlkit.verdicts import CaseResult

ANSWER = "smallest program that differs"  # of harness/programs
LINKS_AT_MOST = 60
STEPS_AT_MOST = 32  # a word of the program has a bit per step
# The ways that a template can write; a failure in another way is described in words only.
_GRAPH_WAYS = {
    "nodes, then edges one by one": "ONE_BY_ONE", "nodes, then all edges in one call": "ONE_CALL", "each node with its edges": "NEW_NODES",
    "a clone": "CLONE", "nodes, then the edges of a kind in one call": "BY_KIND", "a child graph": "CHILD",
    "the body of a conditional node": "BODY",
}
_PRIORITY = "TRY(cudaStreamDestroy(lane[0])); TRY(cudaStreamCreateWithPriority(&lane[0], cudaStreamNonBlocking, high))"
_BLOCKING = "TRY(cudaStreamDestroy(lane[0])); TRY(cudaStreamCreate(&lane[0]))"
_STREAM_WAYS = {  # what the first lane is, of non-blocking streams
    "launched": "", "launched in a blocking stream": _BLOCKING, "captured": "", "launched in a stream of high priority": _PRIORITY,
    "launched in the per-thread default stream": "lane[0] = cudaStreamPerThread",
    "launched in the legacy default stream": "lane[0] = cudaStreamLegacy",
}
_KINDS = {"kernel": "KERNEL", "memset": "MEMSET", "copy": "COPY", "host": "HOST"}
_EVENTS = ("NONE", "TRIGGER", "START")  # by the port of an edge


def _number(step: list[str], name: str, default: int) -> int:
    """The number that follows a word of a step."""
    return int(step[step.index(name) + 1]) if name in step else default


def _stream_row(step: list[str]) -> str:
    """One step, as the template's table has it."""
    trigger = "FIRST" if "first" in step else "LATE" if "late" in step else "NEVER"
    reads = sum(1 << int(number) for number in step[step.index("reads") + 1:]) if "reads" in step else 0
    event = step[step.index("event") + 1].upper() if "event" in step else "NONE"
    flags = [int(name in step) for name in ("cooperative", "urgent", "remote")]
    row = [_KINDS[step[0]], _number(step, "lane", 0), int("waits" in step), int("attribute" in step), trigger,
           _number(step, "blocks", 1), _number(step, "threads", 1), _number(step, "cluster", 1), *flags, _number(step, "shared", 0),
           _number(step, "carveout", -1), event, int("host" in step), reads]
    return f"    {{ {', '.join(map(str, row))} }},\n"


def _reads_wrongly(saw: str, steps: list[list[str]]) -> bool:
    """Whether a step found other words than it was to find: the template looks at nothing else."""
    match = re.fullmatch(r"step ([0-9]+) has a wrong word", saw)
    return match is not None and int(match[1]) < len(steps) and "reads" in steps[int(match[1])]


def _streams(way: str, saw: str, steps: list[list[str]], links: list[tuple[str, ...]]) -> tuple[str, dict[str, object]] | None:
    """The template of work in streams, and what it is given; None: it would not show what was seen, or has no such step."""
    if not _reads_wrongly(saw, steps) or any(step[0] not in _KINDS or (step[0] == "kernel" and "blocks" not in step) for step in steps):
        return None
    legacy = any("legacy" in step for step in steps)
    return "streams.cu.in", {
        "captured": int(way == "captured" and not legacy),  # a legacy program is launched in every way
        "first": "lane[0] = cudaStreamLegacy, lane[2] = cudaStreamPerThread" if legacy else _STREAM_WAYS[way],
        "others": "cudaStreamDefault" if legacy else "cudaStreamNonBlocking", "step_rows": "".join(map(_stream_row, steps)),
        "link_rows": ", ".join(f"{{ {a}, {b}, {_EVENTS[int(port)]} }}" for a, b, port, _ in links) or "{ 0, 0, NONE }",
        "shared": max(_number(step, "shared", 0) for step in steps), "more": max(_number(step, "arguments", 0) for step in steps),
    }


def _graph(way: str, _saw: str, steps: list[list[str]], links: list[tuple[str, ...]]) -> tuple[str, dict[str, object]]:
    """The same of a graph."""
    return "program.cu.in", {
        "made_by": _GRAPH_WAYS[way],
        "step_rows": ", ".join(f"{{ {int(step[0] == 'kernel')}, {int('waits' in step)} }}" for step in steps),
        "link_rows": ", ".join(f"{{ {', '.join(link)} }}" for link in links) or "{ 0, 0, 0, 0 }",
    }


def program(result: CaseResult, seed: int, name: str, arch: str) -> str | None:
    """The text of the first difference that is one of work made in one of these ways, or None."""
    told = [row["answer"] for row in result.record.get("answers") or () if row["what"] == ANSWER]
    texts = (_program(result, answer, {"name": name, "arch": arch, "seed": f"0x{seed:016x}"}) for answer in told)
    return next((text for text in texts if text is not None), None)


def _program(result: CaseResult, told: str, run: dict[str, str]) -> str | None:
    match = re.fullmatch(r"(?P<way>[^;:]+)(; [^:]+)?: (?P<saw>.*): (?P<steps>0 [^;:]*);(?P<links>[^;]*)", told)
    if match is None or match["way"] not in _GRAPH_WAYS | _STREAM_WAYS:
        return None
    steps = [step.split()[1:] for step in match["steps"].split(", ")]
    links = re.findall(r"([0-9]+)>([0-9]+):([0-9]),0,([0-9])", match["links"])
    if len(steps) > STEPS_AT_MOST or len(links) > LINKS_AT_MOST:
        return None
    made = (_graph if match["way"] in _GRAPH_WAYS else _streams)(match["way"], match["saw"], steps, links)
    if made is None:
        return None
    template, values = made
    return Template((Path(__file__).parent / template).read_text()).substitute(
        run, case=result.case.name, way=match["way"] + (match[2] or ""), saw=match["saw"], steps=len(steps), links=len(links), **values)
