"""How lint makes and calls its analysis: no compiler, a compiler that fails, programs that crash, hang or talk nonsense."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.lint import analyser, disassembly
from conformance.lint.analyser import AnalyserFailed, Question, analyse
from conformance.lint.linter import DEFECT, Options, lint_files
from conformance.pdlkit.elf import KernelInfo, Parameter
from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolchain import Tool, find_nvcc

_ROOT = Path(__file__).resolve().parents[3]
_FOUND = find_nvcc()
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"
_SOURCE = '#include "pdl_device.cuh"\nextern "C" __global__ void {name}(const float *a, float *o)\n{{\n' \
          "    float v = *(const volatile float *)a;\n    pdl_wait();\n    *o = v;\n}}\n"
_QUESTION = Question(90, {"k": KernelInfo()}, entries=["k"])
_CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
_GARBAGE = "print('{\"kernel\": nothing')"
_ANSWER = "print('{\"kernel\": \"k\", \"present\": false}\\n{\"instructions\": 7, \"seconds\": 0.5}')"


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    """What one test found is not found again by the next. (A test may have replaced analyser.program until after this.)"""
    program = analyser.program
    program.cache_clear()
    yield
    program.cache_clear()


def _compiled_files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "cache").glob("*/compiled/*") if path.name != ".lock")


def _script(folder: Path, python: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{python}\n")
    path.chmod(0o755)
    return path


def _elsewhere(monkeypatch: pytest.MonkeyPatch, folder: Path, source: str = "int main(void) { return 0; }") -> None:
    """Another cache folder, and other sources, which compile in no time."""
    sources = folder / "sources"
    (sources / "layer").mkdir(parents=True)
    (sources / "layer" / "main.c").write_text(source)
    monkeypatch.setattr(analyser, "SOURCES", sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


# making it -------------------------------------------------------------------------------------------------------------


def test_it_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _elsewhere(monkeypatch, tmp_path)
    made = analyser.program()
    assert subprocess.run([str(made)]).returncode == 0
    assert _compiled_files(tmp_path) == [made, made.with_name(made.name + ".sha256")]
    assert "compiling" in capsys.readouterr().err
    analyser.program.cache_clear()
    assert analyser.program() == made and capsys.readouterr().err == ""
    (analyser.SOURCES / "layer" / "main.c").write_text("int main(void) { return 1; }")
    analyser.program.cache_clear()
    assert analyser.program() != made  # other sources, another program


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _elsewhere(monkeypatch, tmp_path)
    with monkeypatch.context() as without:
        without.setattr(analyser, "find_c_compiler", lambda: None)
        assert not analyser.at_hand()
        with pytest.raises(SetupImpossible, match=r"no C compiler on PATH.*apt-get install gcc, or set CC"):
            analyser.program()
    assert analyser.at_hand()
    made = analyser.program()
    monkeypatch.setattr(analyser, "find_c_compiler", lambda: None)
    analyser.program.cache_clear()
    assert analyser.program() == made and analyser.at_hand()  # made earlier, and as good without one


def test_what_does_not_compile_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _elsewhere(monkeypatch, tmp_path, "int main(void) { return absent; }")
    with pytest.raises(SetupImpossible, match="does not compile.*absent.*set CC"):
        analyser.program()
    (tmp_path / "cc").write_text("no program")
    monkeypatch.setattr(analyser, "find_c_compiler", lambda: Tool("gcc", tmp_path / "cc", None))
    with pytest.raises(SetupImpossible, match="cannot be compiled"):
        analyser.program()
    assert _compiled_files(tmp_path) == []


def test_several_may_compile_it_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _elsewhere(monkeypatch, tmp_path)
    with ThreadPoolExecutor(6) as workers:
        made = set(workers.map(lambda _: analyser.made(analyser._recipe()), range(6)))
    assert len(made) == 1 and len(_compiled_files(tmp_path)) == 2


def test_a_program_that_was_replaced_is_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _elsewhere(monkeypatch, tmp_path)
    made = analyser.program()
    made.write_text("#!/bin/sh\nexit 66\n")
    analyser.program.cache_clear()
    assert subprocess.run([str(analyser.program())]).returncode == 0


# asking it -------------------------------------------------------------------------------------------------------------


def test_what_it_reads() -> None:
    info = KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 4)], 0x210, 12, 2**70)
    question = Question(90, {"k": info}, {"k": {16: "f\tg"}}, ["k", "m\nn"], {8: "v", 2**40: "far"}, ["f", "k"], ["f"], {"f": ("k", 3)},
                        {"k": (1, 2)}, {"k": {"a\tb": 4}})
    assert question.lines() == [
        "pdl-lint-image\t1", "sm\t90", "kernel\tk\t528\t12\t4294967295", "parameter\t0\t8", "parameter\t8\t4", "code\t16\tf?g",
            "word\t0\t1", "word\t4\t2", "table\t4\ta?b",
        "entry\tk", "entry\tm?n", "constant4\t8\tv", "function\tf", "function\tk", "address\tf", "home\tf\tk\t3", "listing"]


# ok_machine_of_block of the corpus for sm_90: what it does in each turn of its loop is known only if turns are kept apart.
_MACHINE = """\t.section\t.text.{0},"ax",@progbits
.text.{0}:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R7, SR_TID.X ;
        /*0020*/                   LDC.64 R2, c[0x0][0x218] ;
        /*0030*/                   ULDC UR4, c[0x0][0x220] ;
        /*0040*/                   IMAD.MOV.U32 R6, RZ, RZ, RZ ;
        /*0050*/                   ULDC.64 UR6, c[0x0][0x210] ;
        /*0060*/                   IMAD.U32 R0, RZ, RZ, UR4 ;
        /*0070*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0080*/                   IMAD.WIDE.U32 R2, R7, 0x4, R2 ;
.L_{0}_3909:
        /*0090*/                   VIMNMX.U32 R6, R6, 0x2, PT ;
        /*00a0*/                   IMAD.SHL.U32 R6, R6, 0x4, RZ ;
        /*00b0*/                   LDC R4, c[0x2][R6] ;
        /*00c0*/                   SHF.R.S32.HI R5, RZ, 0x1f, R4 ;
.L_{0}_8380:
        /*00d0*/                   BRX R4 -0xe0          (*"BRANCH_TARGETS .L_{0}_8381,.L_{0}_8382,.L_{0}_8383"*);
.L_{0}_8383:
        /*00e0*/                   IADD3 R5, P0, R0, R7, RZ ;
        /*00f0*/                   LEA.HI.X.SX32 R6, R0, RZ, 0x1, P0 ;
        /*0100*/                   LEA R4, P0, R5, UR6, 0x2 ;
        /*0110*/                   LEA.HI.X R5, R5, UR7, R6, 0x2, P0 ;
        /*0120*/                   LDG.E.STRONG.SYS R5, desc[UR4][R4.64] ;
        /*0130*/                   IMAD.MOV.U32 R6, RZ, RZ, 0x2 ;
        /*0140*/                   ISETP.GT.AND P0, PT, R0.reuse, 0x1, PT ;
        /*0150*/                   VIADD R0, R0, 0xffffffff ;
        /*0160*/                   SEL R6, R6, 0x3, P0 ;
        /*0170*/                   STG.E desc[UR4][R2.64], R5 ;
        /*0180*/                   BRA `(.L_{0}_3906) ;
.L_{0}_8381:
        /*0190*/                   ISETP.GT.U32.AND P0, PT, R7, 0x1f, PT ;
        /*01a0*/                   BSSY B0, `(.L_{0}_3907) ;
        /*01b0*/                   IMAD.MOV.U32 R6, RZ, RZ, 0x1 ;
        /*01c0*/               @P0 BRA `(.L_{0}_3908) ;
        /*01d0*/                   ACQBULK ;
.L_{0}_3908:
        /*01e0*/                   BSYNC B0 ;
.L_{0}_3907:
        /*01f0*/                   BRA `(.L_{0}_3906) ;
.L_{0}_8382:
        /*0200*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0210*/                   IMAD.MOV.U32 R6, RZ, RZ, 0x2 ;
.L_{0}_3906:
        /*0220*/                   ISETP.NE.AND P0, PT, R6, 0x3, PT ;
        /*0230*/               @P0 BRA `(.L_{0}_3909) ;
.L_{0}_8379:
        /*0240*/                   EXIT ;
"""


def test_a_kernel_is_judged_alike_whatever_stands_before_it() -> None:
    names = [f"k{i}" for i in range(100)]
    listing = "".join(_MACHINE.replace("{0}", name) for name in names).encode()
    infos = {name: KernelInfo([Parameter(0, 0, 8), Parameter(1, 8, 8), Parameter(2, 16, 4)], 0x210, 20) for name in names}
    answer = analyse(Question(90, infos, entries=names, words={name: (400, 512, 224) for name in names}), [listing])
    assert [name for name in names if answer.kernels[name].accesses] == []


def test_sections_of_a_listing() -> None:
    head, code = b"\t.headerflags\n", b"        /*0000*/  EXIT ;\n"
    one, two = b'\t.section\t.text.one,"ax",@progbits\n', b'\t.section\t.text.tw\xff,"ax"\n'
    other = b"\t.section\t.text.broken\n\t.section\t.nv.info\n"
    parts = disassembly.code_sections(head + one + code + other + two + code)
    assert {name: bytes(part) for name, part in parts.items()} == {
        "one": one + code + other, "tw\ufffd": two.replace(b"\xff", "\ufffd".encode()) + code}
    assert bytes(disassembly.code_sections(one)["one"]) == one and disassembly.code_sections(b"") == {}


def test_an_answer_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(analyser, "program", lambda: _script(tmp_path, _ANSWER))
    answer = analyse(_QUESTION, [])
    assert answer.kernels == {} and answer.instructions == 7 and answer.seconds > 0


@pytest.mark.parametrize(("python", "said"), [
    (_CRASH, "SIGSEGV"), (_GARBAGE, "cannot be read"), ("import time; time.sleep(7200)", "did not end in 1 s"),
    ("import sys; sys.exit('no memory')", "exit code 1: no memory"), ("", "cannot be read"), ("print(7)", "cannot be read"),
    ("print('{\"instructions\": 1}')", "not whole"), ("print('[]')", "cannot be read"),
    ("print('{\"kernel\": \"k\", \"present\": true}\\n{\"instructions\": 1}')", "KeyError"),
    ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "cannot be read")])
def test_a_program_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, python: str, said: str) -> None:
    monkeypatch.setattr(analyser, "program", lambda: _script(tmp_path, python))
    monkeypatch.setattr(analyser, "LIMIT_S", 1.0 if "sleep" in python else 3600.0)
    with pytest.raises(AnalyserFailed, match=said):
        analyse(_QUESTION, [])


def test_a_program_that_cannot_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(analyser, "program", lambda: tmp_path / "absent")
    with pytest.raises(SetupImpossible, match="cannot be started"):
        analyse(_QUESTION, [])


# files -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cubins(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, made = tmp_path_factory.mktemp("cubins"), []
    for name in ("bad", "good"):
        source = folder / f"{name}.cu"
        source.write_text(_SOURCE.format(name=name))
        made.append(source.with_suffix(".cubin"))
        subprocess.run([_NVCC, "-arch=sm_90", "-I", str(_ROOT), "-cubin", "-o", str(made[-1]), str(source)], check=True,
                       capture_output=True)
    return made


@pytest.mark.parametrize("python", [_CRASH, _GARBAGE, "import time; time.sleep(7200)"])
def test_the_other_files_are_still_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cubins: list[Path], python: str) -> None:
    real = analyser.program()
    fails_on_bad = f"import os, sys\nif b'kernel\\tbad' in sys.stdin.buffer.read():\n    {python}\nelse:\n" \
                   f"    sys.stdin.seek(0)\n    os.lseek(0, 0, 0)\n    os.execv({str(real)!r}, [{str(real)!r}])"
    monkeypatch.setattr(analyser, "program", lambda: _script(tmp_path, fails_on_bad))
    monkeypatch.setattr(analyser, "LIMIT_S", 15.0 if "sleep" in python else 3600.0)
    report = lint_files(cubins, Options())
    assert [(file, DEFECT in message, "AnalyserFailed" in message) for file, message in report.unreadable] == [(str(cubins[0]), True, True)]
    assert [v.kernel for v in report.verdicts] == ["good"]
    assert "read-before-wait" in {f.id for f in report.findings}


def test_lint_says_that_a_compiler_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cubins: list[Path]) -> None:
    _elsewhere(monkeypatch, tmp_path)
    monkeypatch.setattr(analyser, "find_c_compiler", lambda: None)
    with pytest.raises(SetupImpossible, match="C compiler"):
        lint_files(cubins, Options())
