"""What makes a FAIL actionable: a stand-alone program, the machine code that was judged, and lint's word on it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit import places, repro
from conformance.pdlkit.children import Kept, run_tool
from conformance.pdlkit.machine_code import Cubin, MachineCode, symbol_of
from conformance.pdlkit.verdicts import CaseResult

KEPT = 4  # failing cases for which files are written; the others say the same
LINT_S = 600.0  # against a hang: lint takes seconds
_TOO_LONG = f"lint did not end in {LINT_S:.0f} s"
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


def _answer(code: int | None, out: bytes, errors: bytes) -> dict[str, Any] | str:
    if code in (0, 1, 3):  # 3: no kernel of the image waits
        try:
            said = json.loads(out)
        except ValueError:
            said = None
        return said if isinstance(said, dict) else "lint printed invalid JSON"
    lines = errors.decode(errors="replace").strip().splitlines()
    return "lint cannot run here" + (f": {lines[-1][:160]}" if lines else "")


def ask_lint(arguments: list[str]) -> dict[str, Any] | str:
    """The answer of one command of lint, which runs as a child: its JSON, or the sentence that says why there is none."""
    try:
        done = run_tool([sys.executable, str(places.KIT), *arguments], timeout=LINT_S)
    except subprocess.TimeoutExpired:
        return _TOO_LONG
    return _answer(done.returncode, done.stdout, done.stderr)


class LintBeside:
    """Lint as a child that looks at a harness's machine code while the GPU works, and is told afterwards what the GPU showed."""

    def __init__(self, harness: Path) -> None:
        """Start it; SetupImpossible if that fails."""
        self.kept = Kept([sys.executable, str(places.KIT), "dev", "lint-against-hardware", "--json", "-", str(harness)],
                          stdin=subprocess.PIPE)

    def compare(self, report: Path) -> dict[str, Any] | str:
        """Its answer about this report, as ask_lint gives one. It can be asked once."""
        try:
            out, errors = self.kept.process.communicate(f"{report.absolute()}\n".encode(), timeout=LINT_S)
        except subprocess.TimeoutExpired:
            return _TOO_LONG
        return _answer(self.kept.process.returncode, out, errors)

    def end(self) -> None:
        """End it, whether it was asked or not."""
        self.kept.stop()
        for pipe in (self.kept.process.stdin, self.kept.process.stdout, self.kept.process.stderr):
            assert pipe
            pipe.close()


def lint_words(image: Path, symbols: Collection[str]) -> str:
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


def save_images(result: CaseResult, code: MachineCode, folder: Path) -> dict[Path, tuple[Cubin, set[str]]]:
    """Save the images that hold the case's kernels; path to the image and those kernels."""
    saved: dict[Path, tuple[Cubin, set[str]]] = {}
    for symbol, arch in kernels_of(result):
        cubin = code.find(symbol, arch)
        if cubin is not None:
            path = folder / "images" / f"{cubin.digest.removeprefix('sha256:')[:16]}.cubin"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(cubin.data)
            saved.setdefault(path, (cubin, set()))[1].add(symbol)
    return saved


def gather(results: Iterable[CaseResult], code: MachineCode | None, folder: Path, seed: int) -> dict[str, Evidence]:
    """Write what the first failing cases need; case name to files."""
    failed = [r for r in results if r.status == "FAIL"][:KEPT]
    images = {r.case.name: save_images(r, code, folder) if code is not None else {} for r in failed}
    asked = {(path, frozenset(symbols)) for saved in images.values() for path, (_, symbols) in saved.items()}
    with ThreadPoolExecutor() as pool:  # where processes start slowly, one after the other takes long
        words = dict(zip(asked, pool.map(lambda one: lint_words(*one), asked), strict=True))
    found: dict[str, Evidence] = {}
    for result in failed:
        name, first = result.case.name, not any(evidence.repro for evidence in found.values())
        found[name] = Evidence(repro.write(result, folder, seed, first), [
            {"file": path.name, "hash": cubin.digest, "arch": cubin.arch, "lint": words[path, frozenset(symbols)]}
            for path, (cubin, symbols) in images[name].items()])
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
