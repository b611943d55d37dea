"""A zoo without a GPU: programs that race by rule; it reads its plan as the injection library would."""

from __future__ import annotations

import json
import os
import sys
import time

ENTRIES: dict[str, tuple[list[str], list[str], list[tuple[str, str]]]] = {
    "pair": (["poison", "produce", "consume"], ["poison", "produce", "consume_ok"], [("produce", "consume")]),
    "two": (["a", "b", "c"], ["a", "b_ok", "c_ok"], [("a", "b"), ("b", "c")]),
    # c reads what a writes; b's trigger alone is enough to start c too early
    "far": (["a", "b", "c"], ["a", "b", "c_ok"], [("a", "c")]),
    "imagined": (["a", "b"], ["a", "b"], [("a", "b")]),
    "layout": (["a", "b"], ["a", "b_ok"], []),  # a candidate: nothing shows it here
    "falls": (["a", "b"], ["a", "b_ok"], [("a", "b")]),
    "hangs": (["a", "b"], ["a", "b_ok"], [("a", "b")]),
    "last": (["a", "b"], ["a", "b_ok"], [("a", "b")]),
}
TRIGGER, HOLD, PROTECT = 1, 2, 4


def flags() -> dict[str, int]:
    path = os.environ.get("PDL_STRESS_PLAN")
    lines = [line.split() for line in open(path)] if path else []
    return {words[0]: int(words[1]) for words in lines if len(words) == 5}


def wrong(name: str, kernels: list[str]) -> bool:
    plan = flags()

    def has(kernel: str, flag: int) -> bool:
        return bool(plan.get(kernel, plan.get("*", 0)) & flag)
    for first, second in ENTRIES[name][2]:
        if first in kernels and second in kernels and not has(second, PROTECT):
            between = kernels[kernels.index(first):kernels.index(second)]
            if has(first, HOLD) and all(has(kernel, TRIGGER) for kernel in between):
                return True
            if name == "far" and has(first, TRIGGER) and has("b", HOLD):
                return True
    return False


def answer(words: list[str]) -> list[dict[str, object]]:
    if words[0] == "list":
        found: list[dict[str, object]] = [
            {"name": name, "bug": "B00", "shape": "", "path": "graph", "bug_kernels": bug, "twin_kernels": twin,
             "races": [">".join(pair) for pair in pairs], "candidate": "why" if name == "layout" else ""}
            for name, (bug, twin, pairs) in ENTRIES.items()]
        return [{"skipped": "other", "why": "it is not here"}, *found, {"end": True}]
    if words[0] == "reload":
        return [{"reloaded": "PDL_STRESS_PLAN" in os.environ}]
    if words[0] == "cost":
        return [{"us": 10.0 + any(flag & HOLD for flag in flags().values())}]
    if words[1] == "falls":
        raise SystemExit("unspecified launch failure")
    if words[1] == "hangs":
        time.sleep(3600)
    bug, twin, _ = ENTRIES[words[1]]
    mark = "X" if wrong(words[1], twin if words[2] == "twin" else bug) else "."
    return [{"runs": mark * int(words[3]), "us": 1.0, "expected": "77"}]


for line in sys.stdin:
    for entry in answer(line.split()):
        print(json.dumps(entry), flush=True)
