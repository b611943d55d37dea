"""Turns a forbidden trial into a stand-alone CUDA program that shows the same fault without the kit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from conformance.pdlkit.places import ROOT
from conformance.pdlkit.repro import programs
from conformance.pdlkit.rules import Case
from conformance.pdlkit.verdicts import CaseResult

LINES_AT_MOST = 150
START_PAIRS = ("plain", "zero", "withhold", "repeat", "resident")  # of the start rules, those a program is made for
_URGENT = ("resident", "oversubscribed")  # the dependent has the highest priority (PAIR_URGENT)
_OTHERS_LEAVE, _WITHHOLD_EXIT = 0x10, 0x20  # PLAN_* of harness/kernel_args.h
_HERE = Path(__file__).parent
_MODES = {
    "early": "returns x ns before the primary's last stores begin",
    "at-trigger": "returns at once",
    "before-flush": "returns when every block has set its flag, nothing being flushed",
    "all-but-one": "does not cover one block",
    "stale-lines": "covers every store and leaves stale lines",
}


def _flag(value: object) -> str:
    return "1" if value else "0"


def strip_comments(text: str) -> str:
    """C text without comments and blank lines; what stands in strings is kept."""
    keep_strings = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.S)
    bare = keep_strings.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip()) + "\n"


def device_part(text: str, with_wait: bool) -> str:
    """Wait and trigger of pdl_device.cuh without comments; its guard, its templates and PDL_RESTRICT are of no use here."""
    bare = strip_comments(text)
    bare = re.sub(r"^template\b.*?^}\n", "", bare, flags=re.S | re.M)
    bare = re.sub(r"^#ifdef PDL_HAS_DEVICE\n#error[^\n]*\n#endif\n", "", bare, flags=re.M)
    bare = re.sub(r"^#if [^\n]*defined\(PDL_STRESS\).*?^#define PDL_STRESS_\(early\) \(\(void\)0\)\n#endif\n", "", bare,
                  flags=re.S | re.M)  # off in the kit's images
    bare = re.sub(r"^(    PDL_STRESS_\([^\n]*\);|#undef PDL_STRESS_)\n", "", bare, flags=re.M)
    bare = re.sub(r"^#define PDL_RESTRICT\b[^\n]*\n", "", bare, flags=re.M)
    bare = re.sub(r"^#if [^\n]*PDL_TARGET_GUARD.*?^#endif\n", "", bare, flags=re.S | re.M)
    bare = re.sub(r"^#if defined\(__CUDACC__\)\n(#define PDL_DEVICE_ [^\n]*\n).*?^#endif\n", r"\1", bare, flags=re.S | re.M)
    bare = re.sub(r"^#ifdef __cplusplus\n(?:extern \"C\+\+\" {\n|}\n)?#endif\n", "", bare, flags=re.M)
    bare = re.sub(r"\A#ifndef (\w+)\n#define \1\n(.*)#endif\n\Z", r"\2", bare, flags=re.S)
    if not with_wait:
        bare = re.sub(r"^PDL_DEVICE_ [^\n]*\bpdl_wait\(.*?^}\n", "", bare, flags=re.S | re.M)
    return bare


def _wait_code(mode: str, x_ns: int, blocks: int) -> str:
    late = "    unsigned long long begin = now();\n" \
        "    while (!peek(&s->target) && now() - begin < BOUND_NS) {}\n" \
        f"    delay((long long)(peek(&s->target) - {x_ns} - now()));"
    done = f"    poll(&s->done, {blocks}, BOUND_NS);"
    but_one = f"    poll(&s->done, {max(blocks - 1, 0)}, BOUND_NS);"
    return {
        "none": "    pdl_wait();", "early": late, "at-trigger": "    (void)s;", "before-flush": done,
        "all-but-one": but_one, "stale-lines": done,
    }.get(mode, "    pdl_wait();")


def _visibility(plan: Mapping[str, Any], pair: str) -> tuple[str, dict[str, str]]:
    mode, x_ns = str(plan.get("broken_wait", "none")), int(plan.get("x_ns") or 0)
    who = "true" if plan.get("trigger_all_threads") else "threadIdx.x == 0"
    trigger = plan.get("trigger", "start")
    return "visibility.cu.in", {
        "wait": _wait_code(mode, x_ns, int(plan["blocks_primary"])),
        "wait_about": "the real wait" if mode == "none" else f"a planted broken wait: it {_MODES.get(mode, mode)}",
        "trigger_first": who if trigger == "start" else "false", "trigger_last": who if trigger == "late" else "false",
        "witness": _flag(plan.get("witness", True)), "announce": _flag(mode != "none"), "x_ns": str(x_ns),
        "late_block": f"blockIdx.x == {int(plan.get('withhold', 0))}" if mode == "all-but-one" else "false",
        "fence_done": _flag(mode not in ("none", "before-flush")),
        "vector": _flag(pair == "vector"), "atomic": _flag(pair == "atomic"), "lines": _flag(pair == "lines"),
        "repeats": str(max(1, int(plan.get("repeats", 1)))),
        "primary_attribute": "-1", "dependent_attribute": "1", "urgent": _flag(pair in _URGENT),
    }


def _start(plan: Mapping[str, Any], pair: str) -> tuple[str, dict[str, str]] | None:
    if pair not in START_PAIRS:
        return None
    withholds, residents = pair in ("withhold", "repeat"), int(plan.get("residents") or plan["blocks_primary"])
    held_block = f"blockIdx.x == {int(plan.get('withhold', 0))}"
    middle, flags = bool(plan.get("programmatic_primary")), int(plan.get("flags") or 0)
    return "start.cu.in", {
        "holds": held_block if withholds else f"blockIdx.x < {residents}" if pair == "resident" else "true",
        "triggers": "!holds" if withholds else "true",
        "triggers_after": _flag(withholds and not flags & _WITHHOLD_EXIT),
        "repeats": str(max(1, int(plan.get("repeats", 1)))), "all_threads": _flag(plan.get("trigger_all_threads")),
        "keeps_place": _flag(pair == "resident"), "residents": str(residents),
        "others_leave": _flag(flags & _OTHERS_LEAVE), "primary_waits": _flag(middle),
        "dependent_waits": _flag(pair not in ("plain", "zero")),
        "primary_attribute": "1" if middle else "-1",
        "dependent_attribute": {"plain": "-1", "zero": "0"}.get(pair, "1"), "urgent": _flag(pair in _URGENT),
    }


def _arch(result: CaseResult) -> str:
    versions = [k.get("binary_version") for k in result.record.get("kernels", []) if isinstance(k, Mapping)]
    return str(max([90, *(v for v in versions if isinstance(v, int))]))


def writes(case: Case) -> bool:
    """Whether a program is written for a case: one in a stream would not show what an edge or an event did."""
    if case.path == "built" or case.family == "event":
        return False
    return case.kind in ("visibility", "progress") or case.pair in START_PAIRS


def program(result: CaseResult, seed: int, device_text: str) -> str | None:
    """The text of repro.cu for the first forbidden trial; None if the trial says too little to repeat it."""
    plan = next((dict(record.get("plan", record)) for record in result.forbidden), None)
    needed = ("words", "blocks_primary", "blocks_dependent", "threads")
    if plan is None or not all(isinstance(plan.get(key), int) and plan[key] > 0 for key in needed):
        return None
    case = result.case
    if not writes(case):
        return None
    made = _start(plan, case.pair) if case.kind == "start" else _visibility(plan, case.pair)
    if made is None:
        return None
    file, values = made
    words = max(4, int(plan["words"]) & ~3)
    body = Template((_HERE / file).read_text()).substitute(values)
    frame = {
        "arch": _arch(result), "case": case.name, "seed": f"0x{seed:016x}", "about": _about(result),
        "device_text": device_part(device_text, "pdl_wait(" in body), "words": str(words), "primary": str(plan["blocks_primary"]),
        "dependent": str(plan["blocks_dependent"]), "threads": str(plan["threads"]),
        "shared": str(int(plan.get("primary_shared_bytes") or 0)), "hold_ns": str(int(plan.get("hold_ns") or 0)),
        "slots": "64" if words <= 16384 else "16", "replays": "256",
        "captured": _flag(case.path == "captured"), **values,
    }
    return Template((_HERE / "frame.cu.in").read_text()).substitute(frame, body=body)


def _about(result: CaseResult) -> str:
    bad = {name: n for name, n in result.record.get("outcomes", {}).items() if name not in ("fresh", "overlap") and n}
    seen = ", ".join(f"{name} {count}" for name, count in sorted(bad.items()))
    return f"The kit saw {seen or 'the fault'} in {result.trials('run')} trials."


def write(result: CaseResult, folder: Path, seed: int, first: bool) -> Path | None:
    """Write DIR/repro.cu (not the first: repro-CASE.cu); returns its path, or None if there is nothing to write."""
    path = folder / ("repro.cu" if first else f"repro-{result.case.name}.cu")
    if result.case.kind == "api":
        text = programs.program(result, seed, path.name, _arch(result))
    else:
        text = program(result, seed, (ROOT / "pdl_device.cuh").read_text())
    if text is None:
        return None
    path.write_text(text.replace("repro.cu", path.name))
    return path
