"""The command `list`: rules, cases and mutants, so that a rule without a case or a mutant shows at a glance."""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.pdlkit import places, references, toolchain
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import TARGETS, build, carried, find_harness
from conformance.pdlkit.display import table
from conformance.pdlkit.drawn_devices import COUNT, draw, grammar
from conformance.pdlkit.exits import OK, BadArguments, InvalidRun, SetupImpossible
from conformance.pdlkit.kernel_lines import kernel_file, kernel_lines, mutant_lines, pair_line
from conformance.pdlkit.references import Reference
from conformance.pdlkit.rules import Rule, RuleBook, RulesError, Tag, load

SOURCE_WIDTH = 56


def parser() -> Parser:
    """The command line of `list`."""
    made = Parser("list", "rules, cases and mutants; with a name, everything about what has that name")
    made.add_argument("name", nargs="*", metavar="NAME", help="a rule such as WAIT-01 or 'EDGE-*', a case, a mutant such as nowait, "
                      "a reference such as B01, F10, AMB-01 or PDL-WAIT-01")
    what = made.add_mutually_exclusive_group()
    what.add_argument("--cases", action="store_true", help="every case")
    what.add_argument("--mutants", action="store_true", help="every mutant and control")
    what.add_argument("--broken-devices", nargs="?", const="named", metavar="random:SEED",
                      help="the model's broken devices, one model:NAME a line; or 200 drawn from its grammar by this seed")
    made.add_argument("--json", action="store_true", help="JSON on stdout, nothing else")
    return made


def _windows(rule: Rule) -> str:
    seen = dict.fromkeys(case.window + ("" if case.proving else "*") for case in rule.cases)
    return ", ".join(seen) or "-"


def _power(rule: Rule) -> str:
    """What a run has to kill. In capitals: a rule that decides verdicts and has nothing to kill; its note says why."""
    parts = [*rule.mutants, *rule.controls]
    if any(case.broken_waits for case in rule.cases):
        parts.append("broken waits")
    if parts:
        return ", ".join(parts)
    if rule.untestable or rule.rule_class == "measured":
        return "-"
    if rule.kind == "api":
        return "answers compared"
    return "NO MUTANT" if any(case.proving for case in rule.cases) else "NO MUTANT, ONLY OBSERVES"


def _source(rule: Rule) -> str:
    """The documents, without the clauses, cut to a column."""
    text = rule.source.partition(" (PDL-")[0]
    return text if len(text) <= SOURCE_WIDTH else text[:SOURCE_WIDTH - 3].rstrip() + "..."


def rules_table(book: RuleBook) -> list[str]:
    """One line per rule; what is missing is in capitals."""
    rows = []
    for rule in book.rules:
        cases = str(len(rule.cases)) if rule.cases else ("untestable" if rule.untestable else "NO CASE")
        rows.append((rule.id, rule.rule_class, rule.kind, "core" if rule.core else "", cases, _windows(rule), _source(rule),
                     _power(rule)))
    lines = table(("rule", "class", "kind", "", "cases", "windows", "source", "killed in the same run"), rows, 8)
    proving = sum(case.proving for case in book.cases)
    return [*lines, f" {len(book.rules)} rules, {len(book.cases)} cases ({proving} proving; * only observes), "
                    f"{len(book.tags)} mutants and controls; `list NAME` shows one"]


def cases_table(book: RuleBook) -> list[str]:
    """One line per case."""
    rows = [
        (case.name, "proving" if case.proving else "observing", case.kind, kernel_file(case.family),
         f"{case.trials[1]:,}", "GPU only" if case.gpu_only else "")
        for case in book.cases
    ]
    return table(("case", "role", "kind", "kernels", "trials (quick)", ""), rows, 6)


def mutants_table(book: RuleBook) -> list[str]:
    """One line per tag, with the rules that must kill it."""
    rows = []
    for tag in book.tags.values():
        used = [rule.id for rule in book.rules if tag.tag in (*rule.mutants, *rule.controls)]
        if tag.kind == "broken_wait":
            used = [rule.id for rule in book.rules if any(case.broken_waits for case in rule.cases)]
        rows.append((tag.tag, tag.kind, ", ".join(used) or "NO CASE", ", ".join(tag.source), tag.text))
    return table(("tag", "kind", "rules", "real bugs", "what it does"), rows, 5)


def planted_at(tag: Tag, rule: Rule) -> list[str]:
    """Where a mutant of this rule is planted: its lines, or the compiler's flags."""
    if tag.flags:
        return [f"-gencode {flag}" for flag in tag.flags]
    pairs = dict.fromkeys((case.family, case.pair) for case in rule.cases if tag.tag in case.mutants)
    return list(dict.fromkeys(line for family, pair in pairs for line in mutant_lines(family, pair, tag.symbol)))


def tag_page(book: RuleBook, tag: Tag) -> list[str]:
    """Everything about one mutant or control: what it does, where it is planted, which rules have to kill it."""
    lines = [f"{tag.tag}  {tag.kind}", f"  {tag.text}"]
    lines += [f"  bugs     {', '.join(tag.source)}"] if tag.source else []
    lines += [f"  lint     {', '.join(tag.lint)}"] if tag.lint else []
    lines += [f"  blind    lint cannot see it: {tag.lint_blind}"] if tag.lint_blind else []
    lines += [f"  may live {tag.equivalent_candidate}"] if tag.equivalent_candidate else []
    for rule in book.rules:
        if tag.tag in (*rule.mutants, *rule.controls):
            lines.append(f"  rule     {rule.id}  {', '.join(planted_at(tag, rule))}".rstrip())
    return lines


def rule_page(book: RuleBook, rule: Rule) -> list[str]:
    """Everything about one rule: from its sentence to the kernel that exercises it."""
    lines = [f"{rule.id}  {rule.rule_class}, {rule.kind}{', core' if rule.core else ''}", f"  {rule.text}",
             f"  source   {rule.source}",
             f"  needs    cc {rule.min_cc // 10}.{rule.min_cc % 10}, CUDA Toolkit "
             f"{rule.min_toolkit // 1000}.{rule.min_toolkit % 1000 // 10}"]
    if rule.note:
        lines.append(f"  note     {rule.note}")
    if rule.untestable:
        lines.append(f"  no case  {rule.untestable}")
    for case in rule.cases:
        role = f"proving, {case.trials[1]:,} trials in quick" if case.proving else "observing"
        where = pair_line(case.family, case.pair)
        lines.append(f"  case     {case.name}  ({role}{', GPU only' if case.gpu_only else ''})  {where}")
    for family, pair in dict.fromkeys((case.family, case.pair) for case in rule.cases):
        if kernels := kernel_lines(family, pair):
            lines.append(f"  kernels  {pair}: {', '.join(kernels)}")
    for name in (*rule.mutants, *rule.controls):
        tag = book.tags[name]
        planted = planted_at(tag, rule)
        lines.append(f"  {'control' if tag.kind == 'control' else 'mutant':<7}  {name}: {tag.text}"
                     + (f"  {', '.join(planted)}" if planted else "") + (f"  [{', '.join(tag.source)}]" if tag.source else ""))
    if any(case.broken_waits for case in rule.cases):
        lines.append("  broken waits: the wait is replaced in software and must be caught (real GPU only)")
    return lines


def reference_page(book: RuleBook, reference: Reference) -> list[str]:
    """One entry of references.md, and the rules and mutants that rest on it."""
    lines = [f"{reference.id}  {places.in_tree(references.REFERENCES)}:{reference.line}"]
    lines += [f"  {name:<8} {said}" for name, said in reference.columns]
    cited = re.compile(rf"\b{reference.id}(?!\w)")
    lines += [f"  mutant   {tag.tag}: {tag.text}" for tag in book.tags.values() if reference.id in tag.source]
    for rule in book.rules:
        if cited.search(f"{rule.text} {rule.source} {rule.note}"):
            lines.append(f"  rule     {rule.id}  {rule.rule_class}: {rule.text}")
    return lines


def rule_json(book: RuleBook, rule: Rule) -> dict[str, Any]:
    """One rule for scripts."""
    return {
        "id": rule.id, "class": rule.rule_class, "kind": rule.kind, "core": rule.core, "text": rule.text,
        "source": rule.source, "note": rule.note, "untestable": rule.untestable,
        "needs": {"cc": rule.min_cc, "toolkit": rule.min_toolkit},
        "kernels": [kernel_file(family) for family in rule.families],
        "cases": [
            {"name": case.name, "window": case.window, "path": case.path, "proving": case.proving,
             "family": case.family, "pair": case.pair, "at": pair_line(case.family, case.pair),
             "kernels": kernel_lines(case.family, case.pair), "gpu_only": case.gpu_only,
             "broken_waits": case.broken_waits,
             "trials": list(case.trials), "mutants": list(case.mutants), "controls": list(case.controls)}
            for case in rule.cases
        ],
        "mutants": [
            {"tag": book.tags[name].tag, "kind": book.tags[name].kind, "text": book.tags[name].text,
             "source": list(book.tags[name].source), "at": planted_at(book.tags[name], rule)}
            for name in (*rule.mutants, *rule.controls)
        ],
    }


def _model_harness() -> Path:
    """The model's harness; builds it if it is not there."""
    brought = carried("model")
    try:
        return brought.harness if brought else find_harness(places.BUILD / "model", TARGETS["model"])
    except SetupImpossible:
        return build("model", toolchain.require(False), lambda text: print(text, file=sys.stderr)).harness


def model_devices() -> list[dict[str, Any]]:
    """The model's devices as its harness lists them."""
    harness = _model_harness()
    done = subprocess.run([str(harness), "--list"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode != 0:
        raise InvalidRun(f"the model's harness cannot list its devices: it exited with {done.returncode}")
    records = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    return [record for record in records if record.get("record") == "device" and record.get("name")]


def _drawn_devices(which: str) -> list[dict[str, Any]]:
    seed = re.fullmatch(r"random:((0[xX])?[0-9a-fA-F]{1,16})", which)
    if seed is None:
        raise BadArguments(f"--broken-devices {which}: leave it without a value, or write random:SEED with up to 16 hexadecimal digits")
    return [{"name": name} for name in draw(grammar(_model_harness()), int(seed[1], 16), COUNT)]


def _show_broken_devices(which: str, as_json: bool) -> int:
    broken = _drawn_devices(which) if which != "named" else [device for device in model_devices() if not device.get("conforming")]
    if as_json:
        print(json.dumps([{"device": f"model:{d['name']}", "rule": d.get("rule")} for d in broken], indent=1))
    else:
        for device in broken:
            print(f"model:{device['name']}")
    return OK


def _chosen(book: RuleBook, names: Sequence[str]) -> tuple[list[Rule], list[Tag], list[Reference]]:
    """The rules, mutants and references of these names; a case's name stands for its rule."""
    rules, tags, cited = dict[str, Rule](), dict[str, Tag](), dict[str, Reference]()
    known_references = {id.lower(): reference for id, reference in references.load().items()}
    for name in names:
        low = name.lower()
        found = [rule for rule in book.rules if any(fnmatch.fnmatchcase(known.lower(), low) for known in (
            rule.id, *(case.name for case in rule.cases)))]
        if not found and low not in book.tags and low not in known_references:
            raise BadArguments(f"there is no rule, case, mutant or reference {name}; `list`, `list --cases` and `list --mutants` show "
                               "rules, cases and mutants, conformance/references.md has the references")
        rules.update({rule.id: rule for rule in found})
        tags.update({low: book.tags[low]} if low in book.tags else {})
        cited.update({low: known_references[low]} if low in known_references else {})
    return list(rules.values()), list(tags.values()), list(cited.values())


def _options(argv: list[str]) -> argparse.Namespace:
    options = parser().parse_args(argv)
    listing = next((name for name in ("cases", "mutants", "broken_devices") if getattr(options, name)), None)
    if listing and options.name:
        raise BadArguments(f"--{listing.replace('_', '-')} lists them all; leave out {options.name[0]}")
    return options


def main(argv: list[str]) -> int:
    """The command `list`; returns its exit code."""
    options = _options(argv)
    if options.broken_devices:
        return _show_broken_devices(options.broken_devices, options.json)
    try:
        book = load(places.RULES)
    except RulesError as error:
        raise InvalidRun(str(error)) from None
    rules, tags, cited = _chosen(book, options.name)
    if options.json:
        shown = rules or [rule for rule in book.rules if not tags or {tag.tag for tag in tags} & {*rule.mutants, *rule.controls}]
        print(json.dumps({"suite": book.suite, "rules_hash": book.digest, "rules": [rule_json(book, rule) for rule in shown]}, indent=1))
    elif options.name:
        pages = [*(rule_page(book, rule) for rule in rules), *(tag_page(book, tag) for tag in tags),
                 *(reference_page(book, each) for each in cited)]
        print("\n\n".join("\n".join(page) for page in pages))
    else:
        pick = cases_table if options.cases else mutants_table if options.mutants else rules_table
        print("\n".join(pick(book)))
    return OK
