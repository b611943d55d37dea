#!/usr/bin/env -S python3 -S
"""Stands in for the harness in the runner's own tests: speaks its records and misbehaves on demand.

FAKE_HARNESS holds JSON: {"CASE or *": "behaviour", ...}; FAKE_PROBE is the exit code of --probe. FAKE_BOOK names a file that
holds what book_as_json() returns: a run starts one such process per family, and reading rules.toml would take most of its time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from types import SimpleNamespace

TYPE_CHECKING = False  # typing and pathlib take longer to load than most of these processes live
if TYPE_CHECKING:
    from typing import Any

_OF_A_CASE = ("name", "rule", "rule_class", "kind", "window", "path", "proving", "family", "mutants", "controls", "broken_waits")


def book_as_json() -> str:
    """The rule book, as far as it is needed here."""
    from conformance.pdlkit.places import RULES
    from conformance.pdlkit.rules import load

    book = load(RULES)
    cases = [{name: getattr(case, name) for name in _OF_A_CASE} for case in book.cases]
    return json.dumps({"digest": book.digest, "cases": cases, "candidates": [t.tag for t in book.tags.values() if t.equivalent_candidate]})


def _book() -> Any:
    file = os.environ.get("FAKE_BOOK")
    if file:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    else:
        text = book_as_json()
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))


BOOK = _book()


def say(kind: str, /, **fields: Any) -> None:
    print(json.dumps({"record": kind, **fields}), flush=True)


def variants(case: SimpleNamespace, skip: str | None = None, status: str = "KILLED", changed: str | None = None) -> None:
    rows = [("mutant", tag) for tag in case.mutants] + [("control", tag) for tag in case.controls]
    rows += [("broken_wait", "early-8000"), ("broken_wait", "early-500")] if case.broken_waits else []
    for kind, tag in rows:
        if tag == skip:
            continue
        now = status if changed in (None, tag) else "KILLED"
        if tag in BOOK.candidates and now == "KILLED":
            now = "EQUIVALENT_HERE"
        say("variant", case=case.name, kind=kind, tag=tag, status=now, kills=20 if now == "KILLED" else 0, trials=64,
            exercised=64, x_ns=int(tag[6:]) if kind == "broken_wait" else None, must_die=tag != "early-500", reason=None, image=tag)


def verdict(case: SimpleNamespace, status: str = "PASS", exercised: int = 64, **outcomes: int) -> None:
    fresh = 64 - sum(count for name, count in outcomes.items() if name != "early_start")
    say("case", case=case.name, rule=case.rule, **{"class": case.rule_class}, kind=case.kind, window=case.window,
        path=case.path, proving=case.proving, status=status, reason=None,
        trials={"planned": 64, "run": 64, "exercised": exercised, "witnessed": 60},
        outcomes={"fresh": fresh, "stale": 0, "poison": 0, "misplaced": 0, "torn": 0, "foreign": 0, "early_start": 0,
                  "overlap": 3, **outcomes},
        resolution_ns=250 if case.broken_waits else None, survived_x=[], schedules=60, sm_pairs=10,
        sm_pairs_possible=16, wall_s=0.01, kernels=[])


def forbidden(case: SimpleNamespace) -> None:
    say("forbidden", case=case.name, trial=7, outcome="poison", plan={
        "words": 256, "blocks_primary": 4, "blocks_dependent": 2, "threads": 64, "hold_ns": 1000,
        "trigger": "start", "trigger_all_threads": True, "witness": True, "flags": 3, "broken_wait": "at-trigger",
        "x_ns": 0})


def start_grandchild(*argv: str, quiet: bool) -> None:
    """A process that leaves the session; `quiet`: it does not keep the pipes open."""
    import subprocess  # here, because loading it takes longer than most of these processes live

    to = subprocess.DEVNULL if quiet else None
    subprocess.Popen(argv, start_new_session=True, stdout=to, stderr=to)


def spin_ignoring_sigterm(grandchild: bool) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if grandchild:  # one that left the session and keeps the pipes open
        code = "import signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)"
        start_grandchild(sys.executable, "-c", code, quiet=False)
    time.sleep(300)


def dies(case: SimpleNamespace, how: str) -> None:
    """Ends or hangs the process where the behaviour says so."""
    if how.startswith("fail-then-"):
        forbidden(case)
    if how in ("verdict-then-crash", "never-ends", "leave-grandchild"):
        variants(case)
        verdict(case)
    if how in ("hang", "hang-grandchild", "fail-then-hang"):
        say("progress", case=case.name, done=3, planned=64, part="base")
        spin_ignoring_sigterm(how == "hang-grandchild")
    elif how == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how in ("verdict-then-crash", "fail-then-crash"):
        os.kill(os.getpid(), signal.SIGABRT)
    elif how == "sticky":
        say("error", case=case.name, part="base", call="cudaStreamSynchronize(s)", error="cudaErrorIllegalAddress")
        sys.exit(3)
    elif how == "silent-exit":
        sys.exit(0)
    elif how == "truncated":
        sys.stdout.write(f'{{"record":"case","case":"{case.name}","status":"PASS","trials":{{"planned":64}}')
        sys.stdout.flush()
        sys.exit(0)
    elif how == "internal":
        print("the oracle disagrees with itself", file=sys.stderr)
        sys.exit(70)


def says(case: SimpleNamespace, how: str) -> None:
    """Says what fails, or does not fit together."""
    bad = {"start": "early_start"}.get(case.kind, "poison")
    if how == "fail":
        forbidden(case)
        say("variant", case=case.name, kind="triage", tag="attroff", status="SURVIVED", kills=0, trials=64,
            exercised=64, x_ns=None, reason=None, image=case.family)
    if how == "bad-json":
        print('{"record":"case", oops', flush=True)
    if how == "not-a-number":
        print(f'{{"record":"progress","case":"{case.name}","part":"base","done":NaN,"planned":1e999}}', flush=True)
    if how == "survivor":
        variants(case, status="SURVIVED", changed=case.mutants[0])
    elif how != "pass-without-mutants":
        variants(case)
    if how == "odd-extras":
        say("case", case=case.name, status="NOT_SUPPORTED", reason=["too", "old"], schedules="many")
    elif how == "survivor":
        verdict(case, "INCONCLUSIVE")
    elif how == "pass-not-exercised":
        verdict(case, exercised=0)
    elif how in ("fail", "pass-with-forbidden"):
        verdict(case, "FAIL" if how == "fail" else "PASS", **{bad: 5})
    else:
        verdict(case)
    if how == "two-verdicts":
        verdict(case, "FAIL", **{bad: 1})


DEADLY = ("hang", "hang-grandchild", "segv", "sticky", "silent-exit", "verdict-then-crash", "truncated", "internal", "fail-then-crash",
          "fail-then-hang")
ODD = ("fail", "bad-json", "not-a-number", "survivor", "odd-extras", "two-verdicts", "pass-not-exercised", "pass-with-forbidden",
       "pass-without-mutants")


def misbehave(case: SimpleNamespace, how: str) -> bool:
    """True if the case was dealt with."""
    if how in (*DEADLY, "never-ends"):
        dies(case, how)
        return True
    if how == "leave-grandchild":
        start_grandchild("sleep", "300", quiet=True)
        dies(case, how)
    elif how in ODD:
        says(case, how)
    else:
        return False
    say("end", case=case.name)
    return True


def option(name: str) -> str | None:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main() -> int:
    plan = json.loads(os.environ.get("FAKE_HARNESS", "{}"))
    if "--probe" in sys.argv:
        code = int(os.environ.get("FAKE_PROBE", "0"))
        print("probe says " + str(code), file=sys.stderr)
        return code
    if "--held" in sys.argv:
        sys.stdin.readline()
    family = option("--family")
    named = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--case"]
    cases = [c for c in BOOK.cases if c.family == family and (not named or c.name in named)]
    if plan.get("startup") == "die":
        return 3
    if plan.get("startup") == "no device":
        return 77
    if plan.get("startup") != "mute":
        start = {"device": {"name": "fake", "cc": 90, "sms": 4}, "driver": 13000, "runtime": 13000, "toolkit": 13000,
                 "seed": option("--seed"), "profile": option("--profile"), "rules_hash": BOOK.digest}
        say("start", **{**start, **plan.get("start", {}), **plan.get(f"start {family}", {})})
    for case in cases:
        how = plan.get(case.name) or plan.get(case.rule) or plan.get("*", "pass")
        if how == "unreached":
            continue
        say("begin", case=case.name, deadline_s=plan.get("deadline_s", 5) if "hang" in how else 3600)  # a good case may be slow
        if misbehave(case, how):
            continue
        if how == "not-supported":
            say("case", case=case.name, status="NOT_SUPPORTED", reason="too old")
        else:
            variants(case)
            verdict(case, "PASS" if case.proving else "INCONCLUSIVE")
        say("end", case=case.name)
    say("done")
    if plan.get("behind") == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    return int(plan.get("exit", 0))


if __name__ == "__main__":
    sys.exit(main())
