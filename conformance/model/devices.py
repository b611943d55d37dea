"""Makes the table of rules, the broken devices of the model that violate them, and the cases that notice.

    python3 conformance dev devices            # writes conformance/model/devices.md
    python3 conformance dev devices --check    # 1 if that file is not what would be written

Every broken device runs every case that the model can run, profile smoke, one seed. A rule that no device violates has to
say why in rules.toml (`no_device`; `untestable`, or cases for a GPU only, say it too), and a reason must not outlive its
device. A device that its own rule does not notice is a problem.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.model import on_model
from conformance.model.on_model import BROKEN, Device
from conformance.pdlkit import places
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, KitExit
from conformance.pdlkit.rules import Case, Rule, RuleBook

TABLE = places.KIT / "model" / "devices.md"
SEED = 1
Found = Mapping[str, Mapping[str, list[str]]]  # rule -> device -> pairs that noticed it


def notice(harness: Path, book: RuleBook, broken: list[Device]) -> Found:
    """Which rule's cases notice which device."""
    families = list(on_model.by_family(on_model.capable(book)).values())
    jobs = [(device, cases) for device in broken for cases in families]

    def work(job: tuple[Device, list[Case]]) -> list[tuple[str, str, str]]:
        device, cases = job
        results = on_model.run_family(harness, book, device, "smoke", SEED, cases)
        return [(r.case.rule, device.name, r.case.pair) for r in results if r.status in BROKEN]

    found: dict[str, dict[str, list[str]]] = {}
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        for hits in pool.map(work, jobs):
            for rule, device, pair in hits:
                pairs = found.setdefault(rule, {}).setdefault(device, [])
                if pair not in pairs:
                    pairs.append(pair)
    return found


def reason(rule: Rule) -> str | None:
    """Why no broken device violates a rule."""
    if rule.no_device:
        return rule.no_device
    if rule.untestable:
        return f"no case: {rule.untestable}"
    if all(case.gpu_only for case in rule.cases):
        return "its kernels exist on a GPU only"
    if rule.rule_class == "measured" and (rule.kind == "api" or all(case.allowed for case in rule.cases if not case.gpu_only)):
        return "measured: it calls no answer wrong"
    return None


def problems(book: RuleBook, broken: list[Device], found: Found) -> list[str]:
    """What the table must not be written with."""
    wrong = []
    for rule in book.rules:
        if rule.id in found and rule.no_device:
            wrong.append(f"{rule.id} has a `no_device`, but {', '.join(found[rule.id])} violates it; remove the reason")
        if rule.id not in found and reason(rule) is None:
            wrong.append(f"{rule.id} is violated by no broken device; add one, or say why in its `no_device`")
    for device in broken:
        if device.name not in found.get(device.rule, {}):
            wrong.append(f"{device.option} is meant to violate {device.rule}, and none of that rule's cases notices it")
    return wrong


def _row(rule: Rule, broken: list[Device], hits: Mapping[str, list[str]]) -> str:
    own = [device.name for device in broken if device.rule == rule.id]
    others = [device.name for device in broken if device.name in hits and device.name not in own]
    pairs = dict.fromkeys(case.pair for case in rule.cases if any(case.pair in seen for seen in hits.values()))
    names = ", ".join([*(f"**{name}**" for name in own), *others])
    noticed = ", ".join(f"{rule.id}.{pair}" for pair in pairs)
    return f"| {rule.id} | {rule.rule_class} | {names or reason(rule)} | {noticed or '-'} |"


def page(book: RuleBook, broken: list[Device], found: Found) -> str:
    """The Markdown page."""
    lines = [
        "# Broken devices of the model", "",
        "Made by `python3 conformance dev devices`; a test compares it with what that command would write. `model:NAME` is a",
        "device that violates one rule, and often others by consequence. Profile smoke, one seed.", "",
        "| device | rule | what is wrong with it |", "|---|---|---|",
        *(f"| {device.name} | {device.rule} | {device.text} |" for device in broken), "",
        "Rule by rule; **bold**: made for that rule. Measured rules only report, and decide no verdict.", "",
        "| rule | class | broken devices that violate it, or why there is none | cases that notice |", "|---|---|---|---|",
        *(_row(rule, broken, found.get(rule.id, {})) for rule in book.rules),
    ]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="the table of broken devices", allow_abbrev=False)
    parser.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    try:
        book, harness = on_model.load_book(), on_model.harness_at(options.harness)
        broken = [device for device in on_model.devices(harness) if not device.conforming]
        found = notice(harness, book, broken)
    except KitExit as stop:
        print(f"devices: {stop}", file=sys.stderr)
        return stop.code
    wrong, text = problems(book, broken, found), page(book, broken, found)
    if not options.check and not wrong:
        TABLE.write_text(text, encoding="utf-8")
    if options.check and text != (TABLE.read_text(encoding="utf-8") if TABLE.is_file() else ""):
        wrong.append(f"{places.in_tree(TABLE)} is stale: python3 conformance dev devices writes it anew")
    print("\n".join(wrong), end="\n" if wrong else "")
    return FAILED if wrong else OK
