"""The README's example of lint prints what the README says that it prints."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit import places

README = (places.ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_of_lint_prints_what_it_says(tmp_path: Path) -> None:
    """Each line that the README shows stands in the output of its command; the output may say more."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    (block,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    assert len(commands) == 3
    root, program = places.ROOT, tmp_path / "before"
    places_named = {
        "-o before": f"-o {program}",
        "-I. -Iexamples examples": f"-I{root} -I{root}/examples {root}/examples",
        "python3 conformance": f"python3 {root}/conformance",
    }
    for command, shown in commands:
        words = command
        for named, meant in places_named.items():
            words = words.replace(named, meant)
        done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True)
        for line in shown.splitlines():
            assert _without_count(line) in _without_count(done.stdout), (command, line, done.stdout, done.stderr)


def _without_count(text: str) -> str:
    """How many instructions there are is the compiler's choice."""
    return re.sub(r"[0-9]+ instructions", "N instructions", text)
