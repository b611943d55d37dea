"""Every command of the tutorial, run as a reader would, in a copy of the folders that it uses.

A comment `# exit N: a, b` after a command says how it ends and what its output contains. Programs that need a GPU may say
that there is none. The chain itself runs on the model, too (examples.on_model.tutorial of CTest).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.places import ROOT
from conformance.pdlkit.toolchain import require

PAGE = ROOT / "examples" / "TUTORIAL.md"
NEEDS_GPU = re.compile(r"^(?:PDL_DISABLE=1 )?\./|conformance (?:stress|bench) ")
SKIPPED = {2, 69, 77}  # stress: inconclusive, because the program itself was skipped; set-up impossible; no GPU
SAID = re.compile(r"\s+# exit (?P<code>\d)(?:: (?P<words>.*))?$")


def commands(text: str) -> list[str]:
    """The lines of all blocks of shell commands."""
    return [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) for line in block.splitlines() if line]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The folders that the commands name, with everything made in the copy."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("pdl.h", "pdl_device.cuh", "conformance"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def _environment() -> dict[str, str]:
    tools = require(for_gpu=True)
    assert tools.nvcc is not None
    folders = {str(Path(program).parent) for program in (sys.executable, tools.nvcc.path, tool("cuobjdump"), tool("nvdisasm"))}
    return os.environ | {"PATH": os.pathsep.join([*folders, os.environ["PATH"]])}


def test_every_command_ends_as_the_page_says(tree: Path) -> None:
    environment, where, wrong = _environment(), tree, []
    for line in commands(PAGE.read_text(encoding="utf-8")):
        said = SAID.search(line)
        command = SAID.sub("", line)
        if command.startswith("cd "):
            where = tree / command.removeprefix("cd ")
            continue
        done = subprocess.run(["bash", "-c", command], cwd=where, env=environment, capture_output=True, text=True, timeout=3600)
        allowed = {int(said["code"])} if said else {0}
        if NEEDS_GPU.search(command):
            allowed |= SKIPPED | ({1} if "broken" in command else set())
        words = said["words"].split(", ") if said and said["words"] else []
        missing = [word for word in words if word not in done.stdout]
        if done.returncode not in allowed or missing:
            wrong.append(f"{command}: ended with {done.returncode}, said {missing} nowhere\n{done.stdout}{done.stderr}")
    assert not wrong, "\n".join(wrong)


def test_the_page_has_commands_and_sees_a_wrong_end() -> None:
    found = commands(PAGE.read_text(encoding="utf-8"))
    assert len(found) > 12 and sum(bool(SAID.search(line)) for line in found) >= 4
    assert commands("```sh\ntrue  # exit 1: a, b\n```\n") == ["true  # exit 1: a, b"]


def test_the_tutorial_shows_what_changed() -> None:
    """Without the lines of PDL, after.cu is before.cu."""
    before, after = ((PAGE.parent / "tutorial" / name).read_text() for name in ("before.cu", "after.cu"))
    kernels = re.search(r"__global__.*?(?=static void launch)", after, re.S)
    assert kernels is not None
    plain = re.sub(r"pdl_fresh\((\w+)\)", r"\1", re.sub(r"\n    pdl_(?:trigger|wait)\(\);", "", kernels[0]))
    plain = re.sub(r" // reads nothing.*", "", plain)
    assert re.sub(r"\s+", " ", plain) in re.sub(r"\s+", " ", before)
