"""Makes the table of rules, the broken devices of the model that violate them, and the cases that notice.

    python3 conformance dev devices            # writes conformance/model/devices.md
    python3 conformance dev devices --check    # 1 if that file is not what would be written
    python3 conformance dev devices --check --sample 20   # the same for one of twenty of the runs

Every broken device runs the cases of the rule that it was made for, and a few general ones run every case that the model can
run; profile smoke, one seed. A rule that no device violates has to say why in rules.toml (`no_device`; `untestable`, or cases for
a GPU only, say it too), and a reason must not outlive its device. A device that its own rule does not notice is a problem.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.model import on_model
from conformance.model.on_model import BROKEN, Device
from conformance.pdlkit import places
from conformance.pdlkit.exits import BAD_ARGUMENTS, FAILED, OK, KitExit
from conformance.pdlkit.rules import Case, Rule, RuleBook

TABLE = places.KIT / "model" / "devices.md"
SEED = 1
# Devices whose fault shows in many rules: between them they violate each rule that no device was made for and that can be violated.
GENERAL = ("wait-some-blocks", "exit-not-trigger", "plain-overlaps", "event-at-launch", "copy-does-not-wait",
           "edge-becomes-launch-completion", "ordinary-primary-not-covered", "legal-edge-refused", "illegal-edge-accepted",
           "record-keeps-first")
Found = Mapping[str, Mapping[str, list[str]]]  # rule -> device -> pairs that noticed it
Job = tuple[Device, list[Case]]  # a device, and all cases of one family


def own_jobs(book: RuleBook, broken: Iterable[Device]) -> list[Job]:
    """Every device with the cases of the rule that it was made for."""
    families = on_model.by_family(on_model.capable(book)).values()
    jobs = [(device, [case for case in cases if case.rule == device.rule]) for device in broken for cases in families]
    return [(device, cases) for device, cases in jobs if cases]


def all_jobs(book: RuleBook, broken: list[Device], every: int = 1) -> list[Job]:
    """Those, and the general devices with every family; only one of `every` jobs."""
    families = on_model.by_family(on_model.capable(book)).values()
    general = [(device, cases) for device in broken if device.name in GENERAL for cases in families]
    return [*own_jobs(book, broken), *general][::every]


def notice(harness: Path, book: RuleBook, jobs: Iterable[Job]) -> Found:
    """Which rule's cases notice which device."""
    def work(job: Job) -> list[tuple[str, str, str]]:
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


def stated(text: str, broken: list[Device]) -> Found:
    """What a page says; the pairs of a rule count for each of its devices, because the page does not tell them apart."""
    names = {device.name for device in broken}
    found: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4:
            rule, _, devices, noticed = cells
            pairs = [name.partition(".")[2] for name in noticed.split(", ") if name.startswith(f"{rule}.")]
            found[rule] = {name: pairs for name in (word.strip("*") for word in devices.split(", ")) if name in names}
    return {rule: devices for rule, devices in found.items() if devices}


def disagreements(book: RuleBook, jobs: Sequence[Job], found: Found, said: Found) -> list[str]:
    """Where what these jobs found differs from what the page says.

    A pair of a rule may have cases in several families: a device escapes only if all of those ran.
    """
    wrong = []
    ran = {(device.name, case.name) for device, cases in jobs for case in cases}
    for device, cases in jobs:
        for rule in dict.fromkeys(case.rule for case in cases):
            hits = found.get(rule, {}).get(device.name, [])
            listed = said.get(rule, {}).get(device.name, [])
            asked = [case for case in on_model.capable(book) if case.rule == rule and case.pair in listed]
            wrong += [f"{rule}.{pair} notices {device.name}, and the table does not say so" for pair in hits if pair not in listed]
            if listed and not hits and all((device.name, case.name) in ran for case in asked):
                wrong.append(f"the table says that {device.name} violates {rule}, and no case of it notices")
    return list(dict.fromkeys(wrong))


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
        "Made by `python3 conformance dev devices`; a test compares every twentieth run with what that command would write.",
        "`model:NAME` is a device that violates one rule, and often others by consequence. Profile smoke, seed 1.",
        "",
        "| device | rule | what is wrong with it |", "|---|---|---|",
        *(f"| {device.name} | {device.rule} | {device.text} |" for device in broken), "",
        "Rule by rule; **bold**: made for that rule. Of the other devices, only these ran every case: " + ", ".join(GENERAL) + ".",
        "Measured rules only report, and decide no verdict.", "",
        "| rule | class | broken devices that violate it, or why there is none | cases that notice |", "|---|---|---|---|",
        *(_row(rule, broken, found.get(rule.id, {})) for rule in book.rules),
    ]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="the table of broken devices", allow_abbrev=False)
    parser.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--sample", type=int, metavar="N", help="with --check: only one of N of the runs")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else OK
    if options.sample is not None and (options.sample < 1 or not options.check):
        print("devices: --sample takes a number of 1 or more, and goes with --check", file=sys.stderr)
        return BAD_ARGUMENTS
    try:
        book, harness = on_model.load_book(), on_model.harness_at(options.harness)
        broken = [device for device in on_model.devices(harness) if not device.conforming]
        jobs = all_jobs(book, broken, options.sample or 1)
        found = notice(harness, book, jobs)
    except KitExit as stop:
        print(f"devices: {stop}", file=sys.stderr)
        return stop.code
    wrong, recorded = [], TABLE.read_text(encoding="utf-8") if TABLE.is_file() else ""
    if options.sample:
        said = stated(recorded, broken)
        wrong, found = disagreements(book, jobs, found, said), said  # the rest of the page has to follow from what it says
    wrong, text = [*wrong, *problems(book, broken, found)], page(book, broken, found)
    if not options.check and not wrong:
        TABLE.write_text(text, encoding="utf-8")
    if options.check and text != recorded:
        wrong.append(f"{places.in_tree(TABLE)} is stale: python3 conformance dev devices writes it anew")
    print("\n".join(wrong), end="\n" if wrong else "")
    return FAILED if wrong else OK
