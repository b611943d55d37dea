"""The analysis under the compiler's sanitizers, on listings that no disassembler wrote: no report, and the same answer twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conformance.lint import analyser
from conformance.lint.disassembly import disassemble
from conformance.lint.sources import Image
from conformance.lint.tests.conftest import _NVCC, ROOT
from conformance.lint.tests.listings import mutated, random_code
from conformance.pdlkit.elf import Cubin
from conformance.pdlkit.toolchain import find_c_compiler

SOURCE = ROOT / "conformance" / "lint" / "corpus" / "warps.cu"
FLAGS = ["-std=c11", "-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{analyser.SOURCES}"]
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "exitcode=98"}
ROUNDS, SEED = 60, 20251121
HANG_S = 3600  # a limit against hangs only


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("sanitised")
    (folder / "try.c").write_text("int main(void) { return 0; }\n")
    tried = [str(compiler.path), *FLAGS, "-o", str(folder / "try"), str(folder / "try.c")]
    if any(subprocess.run(command, capture_output=True).returncode for command in (tried, [str(folder / "try")])):
        pytest.skip(f"{compiler.words()} has no sanitizers here")
    command = [str(compiler.path), *FLAGS, "-o", str(folder / "analysis"), *map(str, analyser.c_files())]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "analysis"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the analysis would read of a cubin of the corpus."""
    path = tmp_path_factory.mktemp("corpus") / "warps.cubin"
    includes = ["-I", str(ROOT), "-I", str(SOURCE.parent)]
    command = [_NVCC, "-std=c++17", "-w", "-arch=sm_90", *includes, "-cubin", "-o", str(path), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True)
    cubin = Cubin.load(path)
    parts = disassemble(Image(str(path), None, path, cubin), set(cubin.kernels))
    chosen = sorted(parts)[:12]
    question = analyser.Question.of(cubin, chosen)
    return "\n".join([*question.lines(), ""]).encode() + b"".join(bytes(parts[name]) for name in chosen)


def _answer(program: Path, text: bytes) -> list[dict[str, Any]]:
    """What it says of each kernel, and the count of instructions; without the seconds that it took."""
    done = subprocess.run([str(program), "--code"], input=text, capture_output=True, env=ENVIRONMENT, timeout=HANG_S)
    assert done.returncode in (0, 64), done.stderr[-3000:].decode(errors="replace")  # 64: malformed facts, and it says so
    rows: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        row.pop("seconds", None)
    return rows


def _of_seed(program: Path, whole: bytes, seed: int) -> None:
    dice = random.Random(seed)
    text = mutated(whole, dice) if seed % 3 else random_code(dice)
    answer = _answer(program, text)
    if seed % 10 == 0:
        assert answer == _answer(program, text), seed


def test_listings_that_no_disassembler_wrote(program: Path, whole: bytes) -> None:
    assert _answer(program, whole)[-1]["instructions"] > 1000
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: _of_seed(program, whole, SEED + n), range(ROUNDS)))


def test_calls_in_calls_are_given_up_and_said_so(program: Path) -> None:
    """Twelve functions that each call the next one four times have more ways through them than anybody can walk."""
    names = [f"f{n}" for n in range(12)]
    text = ["pdl-lint-image\t1", "sm\t90", "kernel\tf0\t528\t64\t32", *[f"function\t{name}" for name in names], "listing"]
    for name, callee in zip(names, [*names[1:], None], strict=True):
        calls = [f"CALL.REL.NOINC `({callee})"] * 4 if callee else []
        ends = ["ACQBULK", "EXIT"] if name == "f0" else ["NOP", f"RET.REL.NODEC R20 `({name})"]
        text += [f'\t.section\t.text.{name},"ax",@progbits', f"{name}:"]
        code = [*calls, "LDG.E R2, [R2.64]", *ends]
        text += [f"        /*{16 * i:04x}*/                   {line} ;" for i, line in enumerate(code)]
    row = _answer(program, "\n".join([*text, ""]).encode())[0]
    assert "so deep in calls" in str(row["unresolved"]) and row["accesses"]


def test_recursion_into_functions_that_nobody_called_before(program: Path) -> None:
    """f1 calls itself through a register of which it knows what it holds, then, inside, through one of which it does not."""
    names = [f"f{n}" for n in range(12)]
    text = ["pdl-lint-image\t1", "sm\t90", "kernel\tf0\t528\t64\t32", *[f"function\t{name}" for name in names]]
    text += [*[f"address\t{name}" for name in names[1:]], "entry\tf0", "listing"]
    bodies = {"f0": ["MOV R2, 32@lo(f1)", "MOV R3, 32@lo(f1)", "CALL.ABS.NOINC R2", "ACQBULK", "EXIT"],
              "f1": ["MOV R2, R3", "LDG.E R3, [R8.64]", "CALL.ABS.NOINC R2", "RET.REL.NODEC R20 `(f1)"]}
    for name in names:
        code = bodies.get(name, ["LDG.E R4, [R8.64]", f"RET.REL.NODEC R20 `({name})"])
        text += [f'\t.section\t.text.{name},"ax",@progbits', f"{name}:"]
        text += [f"        /*{16 * i:04x}*/                   {line} ;" for i, line in enumerate(code)]
    assert _answer(program, "\n".join([*text, ""]).encode())[0]["present"]
