"""What makes a FAIL actionable: a stand-alone program, the machine code that was judged, and lint's word on it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import places, repro
from conformance.pdlkit.children import run_tool
from conformance.pdlkit.machine_code import Cubin, MachineCode, symbol_of
from conformance.pdlkit.verdicts import CaseResult

KEPT = 4  # failing cases for which files are written; the others say the same
LINT_S = 600.0  # against a hang: lint takes seconds
KIT_DECLARED = places.KIT / "lint" / "kit.toml"


@dataclass
class Evidence:
    """The files of one failing case."""

    repro: Path | None = None
    images: list[dict[str, Any]] = field(default_factory=list)  # file, hash, lint


def kernels_of(result: CaseResult) -> list[tuple[str, int]]:
    """(symbol, binary version) of the kernels that the case ran; empty if its record does not say."""
    found = []
    for kernel in result.record.get("kernels", []):
        try:
            found.append((symbol_of(str(kernel["name"]), str(kernel["image"])), int(kernel["binary_version"])))
        except (KeyError, TypeError, ValueError):
            return []
    return found


def ask_lint(arguments: list[str]) -> dict[str, Any] | str:
    """The answer of one command of lint, which runs as a child: its JSON, or the sentence that says why there is none."""
    try:
        done = run_tool([sys.executable, str(places.KIT), *arguments], timeout=LINT_S)
    except subprocess.TimeoutExpired:
        return f"lint did not end in {LINT_S:.0f} s"
    if done.returncode in (0, 1, 3):  # 3: no kernel of the image waits
        try:
            return dict(json.loads(done.stdout))
        except ValueError:
            return "lint printed invalid JSON"
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "lint cannot run here" + (f": {lines[-1][:160]}" if lines else "")


def lint_words(image: Path, symbols: set[str]) -> str:
    """What lint says about these kernels of a saved image; never an error of this command."""
    said = ask_lint(["lint", "--json", "--no-hints", "--independent", str(KIT_DECLARED), str(image)])
    if isinstance(said, str):
        return said
    if said["unreadable"]:
        return f"lint cannot run here: {said['unreadable'][0]['message'][:160]}"
    findings = [f for f in said["findings"] if f.get("kernel") in symbols]
    if not findings:
        return "lint finds nothing"
    return "lint: " + "; ".join(dict.fromkeys(f"{f['severity']} {f['id']} in {f['kernel']}" for f in findings))


def save_images(result: CaseResult, code: MachineCode, folder: Path) -> list[dict[str, Any]]:
    """Save the images that hold the case's kernels, with lint's word on each."""
    wanted: dict[str, tuple[Cubin, set[str]]] = {}
    for symbol, arch in kernels_of(result):
        cubin = code.find(symbol, arch)
        if cubin is not None:
            wanted.setdefault(cubin.digest, (cubin, set()))[1].add(symbol)
    saved = []
    for digest, (cubin, symbols) in wanted.items():
        path = folder / "images" / f"{digest.removeprefix('sha256:')[:16]}.cubin"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(cubin.data)
        saved.append({"file": path.name, "hash": digest, "arch": cubin.arch, "lint": lint_words(path, symbols)})
    return saved


def gather(results: Iterable[CaseResult], code: MachineCode | None, folder: Path, seed: int) -> dict[str, Evidence]:
    """Write what the first failing cases need; case name to files."""
    found: dict[str, Evidence] = {}
    for result in [r for r in results if r.status == "FAIL"][:KEPT]:
        first = not any(evidence.repro for evidence in found.values())
        images = save_images(result, code, folder) if code is not None else []
        found[result.case.name] = Evidence(repro.write(result, folder, seed, first), images)
    return found


def sentences(found: Mapping[str, Evidence], folder: Path) -> list[str]:
    """The evidence as it is printed."""
    lines = []
    for name, evidence in found.items():
        if evidence.repro is not None:
            lines.append(f"{name}: {places.shown(evidence.repro)} repeats it on a GPU without the kit")
        for image in evidence.images:
            path = places.shown(folder / "images" / image["file"])
            lines.append(f"{name}: machine code in {path}; {image['lint']}")
    return lines
