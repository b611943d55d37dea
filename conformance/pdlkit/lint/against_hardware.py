"""Lint's verdict on the kit's own kernels, held against what hardware showed in a run.

    python3 -m pdlkit.lint.against_hardware REPORT.json HARNESS        (from the folder conformance)

A dependent that passed must be without a finding above hint. A mutant that was killed, and that rules.toml says lint sees
(`lint`), must have one of the findings named there. Anything else is a KIT_ERROR: either the machine code is not what the
rule book says (the compiler spoiled a kernel, or repaired a mutant), or lint is wrong. What the kit's kernels may touch
before their wait is declared in kit.toml beside this file.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdlkit import places
from pdlkit.lint.declarations import load as load_declarations
from pdlkit.lint.findings import above_hint
from pdlkit.lint.linter import KernelVerdict, Options, lint_files
from pdlkit.machine_code import symbol_of
from pdlkit.rules import BASE_IMAGE, Tag, load

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


def compare(harness: Path, shown: Iterable[Shown], tags: Mapping[str, Tag]) -> Comparison:
    """Lint these kernels of the harness, and hold each against what hardware showed of it."""
    wanted = list(shown)
    mutants = [re.escape(one.symbol) for one in wanted if one.killed]
    named = re.compile(f"^({'|'.join(mutants)})$") if mutants else None
    symbols = frozenset(one.symbol for one in wanted)
    report = lint_files([harness], Options(overlapping=named, declarations=load_declarations(DECLARED), kernels=symbols))
    verdicts: dict[str, list[KernelVerdict]] = {}
    for verdict in report.verdicts:
        verdicts.setdefault(verdict.kernel, []).append(verdict)
    result = Comparison(disagreements=[f"lint cannot read {name}: {why}" for name, why in report.unreadable])
    for one in wanted:
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


def problems(report: Mapping[str, Any], harness: Path, tags: Mapping[str, Tag]) -> list[str]:
    """The disagreements of a run, as problems of its report."""
    shown = shown_by(report, tags)
    return [f"KIT_ERROR, static check: {text}" for text in compare(harness, shown, tags).disagreements] if shown else []


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    tags = load(places.RULES).tags
    result = compare(Path(argv[1]), shown_by(json.loads(Path(argv[0]).read_text()), tags), tags)
    print(f"{result.compared} kernels compared, {len(result.disagreements)} disagreements; not in this harness: "
          f"{', '.join(result.absent) or 'none'}")
    for text in result.disagreements:
        print(f"    {text}")
    return 1 if result.disagreements or not result.compared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
