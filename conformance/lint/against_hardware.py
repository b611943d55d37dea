"""Lint's verdict on the kit's own kernels, compared with what the hardware showed in a run.

    python3 conformance dev lint-against-hardware [--json] REPORT.json HARNESS

With - for REPORT.json lint looks at every kernel that a report could name at once, and takes the report's path from standard input.
`run` starts it so while the GPU works.

A dependent that passed must be without a finding above hint. A mutant that was killed, and that rules.toml says lint sees
(`lint`), must have one of the findings named there. Anything else is a KIT_ERROR: either the machine code is not what the
rule book says (the compiler spoiled a kernel, or repaired a mutant), or lint is wrong. What the kit's kernels may touch
before their wait is declared in kit.toml beside this file.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.lint import analyser
from conformance.lint.declarations import load as load_declarations
from conformance.lint.findings import above_hint
from conformance.lint.linter import KernelVerdict, Options, Report, lint_files
from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.cuda_programs import programs_at_hand
from conformance.pdlkit.exits import FAILED, OK
from conformance.pdlkit.machine_code import MachineCode, symbol_of
from conformance.pdlkit.read_report import read_report
from conformance.pdlkit.rules import BASE_IMAGE, Tag, load

DECLARED = Path(__file__).resolve().parent / "kit.toml"
_OVERLAPPED = "_dependent"  # in the name of each kernel that a proving case launches with overlap


@dataclass(frozen=True)
class Shown:
    """What hardware showed of one kernel of one image."""

    case: str
    kernel: str
    image: str
    killed: bool  # else it passed

    @property
    def symbol(self) -> str:
        return symbol_of(self.kernel, self.image)


@dataclass
class Comparison:
    compared: int = 0
    absent: list[str] = field(default_factory=list)  # kernels that this harness does not have
    disagreements: list[str] = field(default_factory=list)


def shown_by(report: Mapping[str, Any], tags: Mapping[str, Tag]) -> list[Shown]:
    """The passed dependents and the killed mutants that lint claims to see, each once."""
    found: dict[str, Shown] = {}
    for test in report["tests"]:
        names = {k["name"] for k in test.get("kernels", ()) if _OVERLAPPED in k["name"]}
        killed = [m["tag"] for m in test["mutants"] if m["status"] == "KILLED"]
        if test["kind"] != "visibility":  # a start rule's dependent may be launched without overlap, and never wait
            continue
        for name in sorted(names):
            if test["status"] == "PASS" and test["proving"]:
                one = Shown(test["name"], name, BASE_IMAGE, False)
                found.setdefault(one.symbol, one)
            for tag in killed:
                if tag in tags and tags[tag].lint:
                    one = Shown(test["name"], name, tag, True)
                    found.setdefault(one.symbol, one)
    return list(found.values())


def could_be_shown(harness: Path, tags: Mapping[str, Tag]) -> frozenset[str]:
    """Every symbol that a report about this harness could ask of lint, and names of mutants that there are not."""
    bases = {symbol.removesuffix(f"_{BASE_IMAGE}") for symbol in MachineCode(harness).symbols() if symbol.endswith(f"_{BASE_IMAGE}")}
    images = [BASE_IMAGE, *(tag.tag for tag in tags.values() if tag.lint)]
    return frozenset(symbol_of(name, image) for name in bases if _OVERLAPPED in name for image in images)


def look(harness: Path, symbols: frozenset[str]) -> Report:
    """What lint says of these kernels. A mutant may have lost its wait, so it is named as one that overlaps."""
    mutants = [re.escape(symbol) for symbol in sorted(symbols) if not symbol.endswith(f"_{BASE_IMAGE}")]
    named = re.compile(f"^({'|'.join(mutants)})$") if mutants else None
    return lint_files([harness], Options(overlapping=named, declarations=load_declarations(DECLARED)[0], kernels=symbols))


def hold_against(shown: Iterable[Shown], report: Report, tags: Mapping[str, Tag]) -> Comparison:
    """What hardware showed of each kernel, beside what lint said of it."""
    verdicts: dict[str, list[KernelVerdict]] = {}
    for verdict in report.verdicts:
        verdicts.setdefault(verdict.kernel, []).append(verdict)
    result = Comparison(disagreements=[f"lint cannot read {name}: {why}" for name, why in report.unreadable])
    for one in shown:
        if one.symbol not in verdicts:
            result.absent.append(one.symbol)
            continue
        result.compared += 1
        found = {f.id: f.message for v in verdicts[one.symbol] for f in above_hint(v.findings)}
        problem = _killed_but(one, found, tags[one.image]) if one.killed else _passed_but(found)
        if problem:
            result.disagreements.append(f"{one.symbol} (image {one.image}, {one.case}): {problem}")
    return result


def _killed_but(one: Shown, found: Mapping[str, str], tag: Tag) -> str | None:
    if set(tag.lint) & set(found):
        return None
    said = "nothing" if not found else ", ".join(sorted(found))
    return (f"hardware killed `{tag.tag}`, of which rules.toml says that lint finds {' or '.join(tag.lint)}; lint finds {said}. "
            "Either the planted bug is not in the machine code, or lint misses it, or its `lint` key is wrong")


def _passed_but(found: Mapping[str, str]) -> str | None:
    if not found:
        return None
    name, message = next(iter(found.items()))
    return (f"it passed on hardware, and lint finds {name}: {message}. Either the compiler moved an access (then the case "
            "cannot see that), or lint is wrong, or kit.toml lacks a declaration")


def compare(harness: Path, shown: Iterable[Shown], tags: Mapping[str, Tag]) -> Comparison:
    """Lint these kernels of the harness, and hold each against what hardware showed of it."""
    wanted = list(shown)
    return hold_against(wanted, look(harness, frozenset(one.symbol for one in wanted)), tags)


def answer(report: Path | None, harness: Path, tags: Mapping[str, Tag]) -> dict[str, Any]:
    """What `run` asks for: `compared` and `disagreements`, or `left_out` with the reason why nothing was compared.

    report: None where standard input will say where it lies."""
    if not (programs_at_hand() and analyser.at_hand()):
        return {"left_out": "nvdisasm, cuobjdump or a C compiler is not on this machine"}
    said = None
    if report is None:
        os.nice(19)  # the run on the GPU goes first
        said = look(harness, could_be_shown(harness, tags))
        report = Path(sys.stdin.readline().removesuffix("\n"))
    shown = shown_by(read_report(report), tags)
    if not shown:
        return {"left_out": "no kernel was proven or killed"}
    result = hold_against(shown, said, tags) if said else compare(harness, shown, tags)
    return {"compared": result.compared, "absent": result.absent, "disagreements": result.disagreements}


def main(argv: list[str]) -> int:
    """Compare; 0 if they agree, 1 if they do not or nothing could be compared. With --json always 0: the answer says it."""
    parser = Parser("dev lint-against-hardware", "compare lint's findings on the harness with a report from a GPU")
    parser.add_argument("report", type=Path, help="of the GPU; - looks at the machine code at once, and reads the path from standard input")
    parser.add_argument("harness", type=Path)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(argv)
    said = answer(None if options.report == Path("-") else options.report, options.harness, load(places.RULES).tags)
    if options.json:
        print(json.dumps(said))
        return OK
    if "left_out" in said:
        print(f"nothing was compared: {said['left_out']}")
        return FAILED
    print(f"{said['compared']} kernels compared, {len(said['disagreements'])} disagreements; not in this harness: "
          f"{', '.join(said['absent']) or 'none'}")
    for text in said["disagreements"]:
        print(f"    {text}")
    return FAILED if said["disagreements"] or not said["compared"] else OK
