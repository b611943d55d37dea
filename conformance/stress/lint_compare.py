"""Rewriting can change code generation, so both builds of a module that waits are linted; what differs is said.

The assembler's stand-in keeps a pair of files per module in the folder that PAIRS names, `NUMBER.plain.cubin` and
`NUMBER.stressed.cubin`; whoever started the build or the program compares all pairs at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from conformance.pdlkit.places import KIT

PAIRS = "PDL_STRESS_PAIRS"
MOST_PAIRS = 200  # what a session lints at most; more are counted
LINT_S = 300.0
HINT = "hint"


@dataclass
class Comparison:
    """What lint says about one build and not about the other."""

    modules: int = 0
    kernels: int = 0           # that wait, in these modules
    changes: list[str] = field(default_factory=list)
    problem: str | None = None  # why nothing was compared, or not everything


def folder() -> Path | None:
    """Where pairs are kept; None if nobody asked for them."""
    name = os.environ.get(PAIRS)
    if not name or not Path(name).is_dir():
        return None
    return Path(name)


def keep(place: Path, plain: Path, stressed: Path, waiting: Iterable[str]) -> None:
    """One more pair."""
    name = uuid.uuid4().hex
    (place / f"{name}.json").write_text(json.dumps(sorted(waiting)), encoding="utf-8")
    (place / f"{name}.plain.cubin").write_bytes(plain.read_bytes())
    (place / f"{name}.stressed.cubin").write_bytes(stressed.read_bytes())


def _findings(files: list[Path]) -> dict[str, dict[str, set[str]]]:
    """By file and kernel, what is above a hint. ValueError with the reason if lint cannot say."""
    done = subprocess.run([sys.executable, str(KIT), "lint", "--json", *map(str, files)], capture_output=True, text=True,
                          errors="replace", timeout=LINT_S, check=False)
    if done.returncode not in (0, 1, 2, 3):  # 3: no kernel of these waits
        raise ValueError((done.stderr.strip().splitlines() or [f"lint ended with exit code {done.returncode}"])[-1])
    found: dict[str, dict[str, set[str]]] = {}
    for entry in json.loads(done.stdout)["findings"]:
        if entry["severity"] != HINT:
            name = Path(str(entry["where"]).split(": ")[0]).name
            found.setdefault(name, {}).setdefault(entry["kernel"], set()).add(entry["id"])
    return found


def _changes(plain: dict[str, set[str]], stressed: dict[str, set[str]], waiting: list[str]) -> list[str]:
    lines = []
    for kernel in waiting:
        before, after = plain.get(kernel, set()), stressed.get(kernel, set())
        lines += [f"{kernel}: rewriting hides `{name}`, which lint finds in the plain build" for name in sorted(before - after)]
        lines += [f"{kernel}: rewriting brings `{name}`, which lint does not find in the plain build" for name in sorted(after - before)]
    return lines


def compare(place: Path) -> Comparison:
    """All pairs in a folder."""
    names = sorted(path.name.removesuffix(".json") for path in place.glob("*.json"))
    result = Comparison(min(len(names), MOST_PAIRS))
    if not names:
        return result
    chosen = names[:MOST_PAIRS]
    try:
        found = _findings([place / f"{name}.{build}.cubin" for name in chosen for build in ("plain", "stressed")])
    except (ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
        result.modules, result.problem = 0, f"the two builds were not linted: {error}"
        return result
    lines: dict[str, None] = {}
    for name in chosen:
        waiting = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
        result.kernels += len(waiting)
        lines |= dict.fromkeys(_changes(found.get(f"{name}.plain.cubin", {}), found.get(f"{name}.stressed.cubin", {}), waiting))
    result.changes = list(lines)
    if len(names) > MOST_PAIRS:
        result.problem = f"{len(names) - MOST_PAIRS} modules more were not linted"
    return result
