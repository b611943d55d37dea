"""Stands in for ptxas: rewrites the PTX among its arguments, calls the real one, and falls back to the unchanged PTX."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolkit import toolkit_programs
from conformance.stress import lint_compare
from conformance.stress import options as stress_options
from conformance.stress.ptx.rewrite_command import as_json
from conformance.stress.ptx.rewriter import LEAST_TARGET, Outcome, rewrite

REAL = "PDL_STRESS_PTXAS"
LOG = "PDL_STRESS_BUILD_LOG"  # a file that gets one JSON line per assembled module
OUTPUT = ("-o", "--output-file")
HEADER = 1 << 16  # bytes of a file within which PTX says its version
_ARCH = re.compile(r"(?:sm|compute)_(\d+)")


def real_ptxas() -> str:
    """The assembler behind this wrapper, which may itself be the first one on PATH."""
    named = os.environ.get(REAL)
    for path in (Path(named or "/nowhere"), *toolkit_programs("ptxas")):
        if path.is_file() and "stress" not in path.resolve().parts[-2:]:
            return str(path)
    raise SetupImpossible(f"ptxas is not on PATH; put the CUDA Toolkit's bin folder there, or set {REAL} to the assembler")


def clean_environment() -> dict[str, str]:
    """For tools: without the injection library, which is for the program under test alone."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH")}


def architecture(argv: list[str]) -> int | None:
    """What ptxas is asked to assemble for."""
    for index, word in enumerate(argv):
        name, _, value = word.partition("=")
        if name in ("-arch", "--gpu-name", "-gpu-name"):
            match = _ARCH.search(value or (argv[index + 1] if index + 1 < len(argv) else ""))
            if match:
                return int(match[1])
    return None


def _is_ptx(word: str) -> bool:
    """An input file; clang's end in .s, so it is the text that counts."""
    if word.startswith("-") or not Path(word).is_file():
        return False
    with open(word, "rb") as file:
        return b".version" in file.read(HEADER)


def log(outcome: Outcome, source: str) -> None:
    """One line about a module for the command that started the build, and for people what could not be done."""
    place = os.environ.get(LOG)
    if place:
        with open(place, "a", encoding="utf-8") as file:
            file.write(json.dumps({"file": source, **as_json(outcome)}) + "\n")
    for name, why in sorted(outcome.left.items()):
        if why not in ("not chosen", "exempted by name"):
            print(f"stress: not rewritten: {name}: {why}", file=sys.stderr)
    for name in outcome.fenced:
        print(f"stress: {name} fences right before it triggers; exempt it if it publishes that way", file=sys.stderr)


def rewrite_file(source: Path, target: Path, linked: bool = False) -> Outcome:
    """Rewrite one file as the environment's options say, in the tunable form."""
    text = source.read_bytes().rstrip(b"\0").decode("utf-8", errors="surrogateescape")
    outcome = rewrite(text, stress_options.from_environment().choose, tunable=True, linked=linked)
    target.write_bytes(outcome.text.encode("utf-8", errors="surrogateescape"))
    return outcome


def _call(argv: list[str]) -> int:
    return subprocess.run(argv, env=clean_environment(), check=False).returncode


def _quiet(argv: list[str]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(argv, env=clean_environment(), capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def main(argv: list[str]) -> int:
    """As ptxas, with rewritten input."""
    real = real_ptxas()
    sources = [index for index, word in enumerate(argv) if _is_ptx(word) and (index == 0 or argv[index - 1] not in OUTPUT)]
    if not sources:
        return _call([real, *argv])
    arch = architecture(argv)
    if arch is not None and arch < LEAST_TARGET:
        print(f"stress: not rewritten: {' '.join(argv[i] for i in sources)}: assembled for sm_{arch}, which has no PDL",
              file=sys.stderr)
        return _call([real, *argv])
    with tempfile.TemporaryDirectory(prefix="pdl-stress-") as folder:
        changed = list(argv)
        outcomes = []
        for index in sources:
            changed[index] = str(Path(folder, f"{index}-{Path(argv[index]).name}"))
            linked = bool({"-c", "--compile-only"} & set(argv))
            outcomes.append((rewrite_file(Path(argv[index]), Path(changed[index]), linked), argv[index]))
        code, out, err = _quiet([real, *changed])
        if code == 0:
            for outcome, name in outcomes:
                log(outcome, name)
            _keep_pair(real, argv, [outcome for outcome, _ in outcomes], Path(folder))
            sys.stdout.buffer.write(out)
            sys.stderr.buffer.write(err)
            return 0
        return _fall_back(real, argv, outcomes, err)


def _keep_pair(real: str, argv: list[str], outcomes: list[Outcome], folder: Path) -> None:
    """For a module that waits: both machine codes, if somebody asked for them to be linted."""
    waiting = [name for outcome in outcomes for name in outcome.waiting if name in outcome.rewritten]
    place = lint_compare.folder()
    output = next((index + 1 for index, word in enumerate(argv[:-1]) if word in OUTPUT), None)
    if not waiting or place is None or output is None:
        return
    plain = folder / "plain.cubin"
    if _quiet([real, *argv[:output], str(plain), *argv[output + 1:]])[0] == 0 and Path(argv[output]).is_file():
        lint_compare.keep(place, plain, Path(argv[output]), waiting)


def _fall_back(real: str, argv: list[str], outcomes: list[tuple[Outcome, str]], err: bytes) -> int:
    """Assemble the unchanged PTX; if that works, the rewritten one was at fault and every kernel of it is named."""
    code = _call([real, *argv])
    if code:
        return code
    first = next(iter(err.decode(errors="replace").splitlines()), "no message")
    for outcome, name in outcomes:
        why = f"ptxas refuses the rewritten text: {first}"
        log(Outcome(outcome.text, left={kernel: why for kernel in outcome.rewritten} | outcome.left), name)
    return 0
