"""Every target in C builds and stands a short run, a fault is noticed with its input, and the counts are written."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.fuzzing import command, programs
from conformance.pdlkit import fuzz
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.toolchain import cuda_headers, find_nvcc
from conformance.rewrite import library

INPUTS = {"rewriter": 10_000, "arguments": 2_000}  # the others take a minute to build, and what they call has sanitized tests of its own
FAULT = """#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data[size] == 7 && size == 5; }
"""


def needs_cuda(name: str) -> None:
    if name in ("graph-check", "arguments") and cuda_headers(find_nvcc()) is None:
        pytest.skip("the model needs CUDA's headers")


@pytest.mark.parametrize("name", INPUTS)
def test_a_short_run_does_no_harm(name: str, tmp_path: Path) -> None:
    needs_cuda(name)
    program = programs.build(name, tmp_path, by_mutation=True)
    seeds = sorted((tmp_path / f"{name}.seeds").iterdir())
    done = subprocess.run([program, "3600", str(INPUTS[name]), "5EED", tmp_path / "kept", *seeds], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    numbers = re.findall(r"tried (\d+) useful (\d+)", done.stdout)
    assert numbers and int(numbers[-1][0]) == INPUTS[name]
    if name == "rewriter":  # many are still good enough to be rewritten, many are not
        assert 1000 < int(numbers[-1][1]) < INPUTS[name]


@pytest.mark.parametrize("name", programs.TARGETS.keys() - INPUTS.keys())
def test_the_other_targets_compile(name: str) -> None:
    needs_cuda(name)
    target = programs.TARGETS[name]
    include = [str(part) for part in target.parts() if str(part).startswith("-I")]
    done = subprocess.run([library.compiler().path, *programs.FLAGS, "-fsyntax-only", "-Wall", *include, target.source],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    assert target.seeds()


def test_a_fault_is_counted_and_its_input_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fault.c").write_text(FAULT)
    faulty = replace(programs.TARGETS["rewriter"], source=tmp_path / "fault.c", seeds=lambda: {"one": b"12345"})
    monkeypatch.setitem(programs.TARGETS, "rewriter", faulty)
    assert command.main(["rewriter", "--build", str(tmp_path / "made")]) == 0
    file = tmp_path / "counts.json"
    assert command.main(["rewriter", "--seconds", "1", "--jobs", "2", "--prebuilt", str(tmp_path / "made"), "--json", str(file)]) == 1
    assert "heap-buffer-overflow" in capsys.readouterr().out
    counts = json.loads(file.read_text())
    assert counts["crashes"] == 2 == counts["targets"]["rewriter"]["crashes"]
    assert counts["targets"]["rewriter"]["found"][0]["inputs"]


def test_what_cannot_run_is_named_and_the_rest_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_of_python", lambda name, seconds: command.Outcome(7))
    monkeypatch.setattr(command, "ensure_venv", lambda name: tmp_path)
    file = tmp_path / "counts.json"
    assert command.main(["elf", "arguments", "--jobs", "3", "--prebuilt", str(tmp_path), "--json", str(file)]) == 0
    counts = json.loads(file.read_text())
    assert counts["executions"] == 21 and counts["targets"]["elf"]["processes"] == 3
    assert "has no program" in counts["targets"]["arguments"]["error"]


def test_every_target_has_a_name_of_its_own_and_wrong_ones_are_refused() -> None:
    assert not fuzz.TARGETS.keys() & programs.TARGETS.keys()
    for argv in (["nothing"], ["--jobs", "0"], ["--prebuilt", "/nowhere"]):
        with pytest.raises(BadArguments):
            command.main(argv)


@pytest.mark.parametrize(("code", "said", "crashes"), [
    (0, b"", 0), (0, b"x: 1,234 inputs in 1 s", 0), (-9, b"", 1), (1, b"", 1), (1, b"bad", 1)])
@pytest.mark.parametrize("in_c", [False, True])
def test_a_process_that_dies_without_a_word_did_harm(in_c: bool, code: int, said: bytes, crashes: int, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run_tool", lambda *_, **__: subprocess.CompletedProcess([], code, b"", said))
    (tmp_path / "one.seeds").mkdir()
    found = command._of_program(tmp_path / "one.mutation", 1.0, tmp_path) if in_c else command._of_python("elf", 1.0)
    tally = command.Tally()
    command._take(tally, found)
    assert (tally.processes, tally.crashes, len(tally.found)) == (1, crashes, crashes)
    assert tally.executions == (1234 if said.startswith(b"x") and not in_c else 0)
