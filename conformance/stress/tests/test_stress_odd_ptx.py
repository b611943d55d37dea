"""The rewriter on PTX that no compiler of today writes, but that the assembler takes."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from conformance.pdlkit.toolkit import toolkit_program
from conformance.stress.options import Options
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, PROTECT, TRIGGER, Settings
from conformance.stress.ptx.rewriter import rewrite

PTXAS = toolkit_program("ptxas")


def head(version: str = "8.0", target: str = "sm_90") -> str:
    return f".version {version}\n.target {target}\n.address_size 64\n"


H = head()
CASES = {  # text, the names of its kernels
    "carriage returns": ((H + ".visible .entry k(\n\t.param .u64 a\n)\n{\n\tret;\n}\n").replace("\n", "\r\n"), "k"),
    "old header, carriage returns": ((head("7.4", "sm_80") + ".visible .entry k()\n{\nret;\n}\n").replace("\n", "\r\n"), "k"),
    "old version": (head("7.0", "sm_75") + ".visible .entry k() { ret; }\n", "k"),
    "old target": (head("6.4", "sm_75, texmode_independent") + ".visible .entry k() { ret; }\n", "k"),
    "architecture-specific": (head("8.0", "sm_90a") + ".visible .entry k() { ret; }\n", "k"),
    "family-specific": (head("8.8", "sm_100f") + ".visible .entry k() { ret; }\n", "k"),
    "header in a comment": ("/* .version 1.0 .target sm_10 */\n" + H + ".visible .entry k() { ret; }\n", "k"),
    "empty bodies": (H + ".visible .entry k(){}\n.visible .entry l()\n{\n}\n", "k l"),
    "words on lines of their own": (H + ".visible\n.entry\nk\n(\n.param\n.u64\na\n)\n{\nret;\n}\n", "k"),
    "weak, then a comment": (H + ".weak\n\n// .visible { \n.entry\n  k()\n{\nret;\n}\n", "k"),
    "tabs everywhere": (H + "\t.visible\t.entry\tk\t(\t.param\t.u64\ta\t)\t{\tret\t;\t}\n", "k"),
    "two on a line": (H + ".visible .entry a() { ret; } .weak .entry b() { ret; }\n", "a b"),
    "a declaration, then its definition": (H + ".visible .entry k();\n.visible .entry k()\n{\nret;\n}\n", "k"),
    "a declaration alone": (H + ".extern .entry k();\n.visible .entry l() { ret; }\n", "l"),
    "launch bounds": (H + ".visible .entry k(.param .u64 a)\n.maxntid 256,1,1\n.minnctapersm 2\n.maxnreg 32\n{\nret;\n}\n", "k"),
    "cluster of fixed size": (H + ".visible .entry k() .reqntid 128,1,1 .explicitcluster .reqnctapercluster 2,1,1 { ret; }\n", "k"),
    "cluster of any size": (H + ".visible .entry k() .explicitcluster .maxclusterrank 8 { ret; }\n", "k"),
    "blocks are clusters": (head("9.0") + ".visible .entry k() .reqntid 32,1,1 .reqnctapercluster 1,1,1 .blocksareclusters "
                            "{ ret; }\n", "k"),
    "pragma in the body": (H + ".visible .entry k()\n{\n.pragma \"nounroll\";\n$L: ret;\n}\n", "k"),
    "a label first": (H + ".visible .entry k()\n{\n$L__BB0_0:\n bra $L__BB0_0;\n}\n", "k"),
    "functions around": (H + ".func (.param .b32 r) f (.param .b32 a);\n.visible .entry k() { ret; }\n"
                         ".func (.param .b32 r) f (.param .b32 a)\n{\nst.param.b32 [r], 1; ret;\n}\n.visible .entry l() { ret; }\n", "k l"),
    "a function that never returns": (H + ".func f() .noreturn { trap; }\n.visible .entry k() { ret; }\n", "k"),
    "an indirect call": (H + ".visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, 0; "
                         "{ .param .b32 p; P: .callprototype _ (.param .b32 _); call %rd1, (p), P; } ret; }\n", "k"),
    "a branch table": (H + ".visible .entry k() { .reg .b32 %r; mov.u32 %r,0; ts: .branchtargets L1, L2; brx.idx %r, ts; "
                       "L1: ret; L2: ret; }\n", "k"),
    "braces in comments": (H + ".visible .entry k(.param .u64 a /* ) { */) // {\n{ /* } */ ret; }\n", "k"),
    "a quotation mark in a comment": (H + "// it's \" a quote\n.visible .entry k()\n{\n// \" another\nret;\n}\n", "k"),
    "a semicolon after the parameters": (H + ".visible .entry k(.param .u64 a) // foo; bar\n{ ret; }\n", "k"),
    "a comment inside the head": (H + ".visible .entry /* .entry x( */ k() { ret; }\n", "k"),
    "an entry that is none": (H + ".global .b32 entry;\n// .entry fake()\n.visible .entry k() { ret; }\n", "k"),
    "names with dollars": (H + ".visible .entry $k$1() { ret; }\n.visible .entry _Z1fILi1EEvv() { ret; }\n", "$k$1 _Z1fILi1EEvv"),
    "a name with a percent sign": (H + ".visible .entry %k() { ret; }\n", "%k"),
    "registers with our names": (H + ".visible .entry k() { .reg .b32 %pdls_a; mov.u32 %pdls_a, 1; ret; }\n", "k"),
    "constants of its own": (H + ".const .b32 c[4] = {1,2,3,4};\n.visible .entry k() { .reg .b32 %r; ld.const.u32 %r, [c]; ret; }\n", "k"),
    "nested initialisers": (H + ".global .align 4 .b32 t[2][2] = {{1,2},{3,4}};\n.visible .entry k() { ret; }\n"
                            ".global .align 4 .b32 u[2] = {1,2};\n.visible .entry l() { ret; }\n", "k l"),
    "managed memory": (H + ".visible .global .attribute(.managed) .b32 m;\n.visible .entry k() { ret; }\n", "k"),
    "every kind of exit": (H + ".visible .entry k() { .reg .pred p; setp.eq.u32 p, 1, 1; @p exit; @!p ret; @p ret.uni; ret; }\n", "k"),
    "a wait over three lines": (H + ".visible .entry k() { griddepcontrol\n.wait\n; ret; }\n", "k"),
    "debug sections": (H + ".visible .entry k()\n{\nret;\n}\n.section .debug_info\n{\n.b32 1\n.b8 46,101,110,116,114,121\n"
                       ".b64 .debug_abbrev\n}\n.section .debug_abbrev\n{\n.b8 0\n}\n", "k"),
    "one very long line": (H + ".visible .entry k() { .reg .b32 %r<9>;" + " add.u32 %r1,%r1,1;" * 20000 + " ret; }\n", "k"),
    "many": (H + "".join(f".visible .entry k{n}() {{ ret; }}\n" for n in range(64)), " ".join(f"k{n}" for n in range(64))),
}


def everything(_: str) -> Settings:
    return Settings(TRIGGER | HOLD | PROTECT | AFTER_WAIT | BEFORE_EXIT, 100, 1000, 7)


def complaint(text: str, arch: str, folder: Path) -> str:
    """What the assembler says against it; nothing where there is no assembler."""
    if PTXAS is None:
        return ""
    source = folder / "module.ptx"
    source.write_bytes(text.encode())
    done = subprocess.run([PTXAS, f"-arch={arch}", source, "-o", folder / "module.cubin"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("case", CASES)
def test_every_kernel_is_rewritten_and_still_assembles(case: str, tmp_path: Path) -> None:
    text, names = CASES[case]
    target = re.search(r"\.target\s+(sm_\w+)", re.sub(r"/\*.*?\*/", "", text))[1]  # type: ignore[index]
    assert complaint(text, target, tmp_path) == "", "the case itself is wrong"
    out = rewrite(text, everything)
    assert sorted(out.rewritten) == sorted(names.split()) and not out.left
    assert out.text.count("pdl-stress: entry") == len(names.split())
    raised = target if int(re.search(r"\d+", target)[0]) >= 90 else "sm_90"  # type: ignore[index]
    assert complaint(out.text, raised, tmp_path) == ""


@pytest.mark.parametrize("case", [name for name in CASES if "many" not in name])
def test_nothing_but_insertions(case: str) -> None:
    text, _ = CASES[case]
    if "old" in case:
        return  # its header lines change, which test_old_headers_are_raised_and_new_ones_left looks at
    assert re.sub(r"\n\t\{ // pdl-stress:.*?_DONE:\n\t\}\n", "", rewrite(text, everything).text, flags=re.S) == text


def test_what_is_not_ascii_comes_through() -> None:
    text = H + "// Größe, 大小 {\n.visible .entry k()\n{\n// é }\nret;\n}\n"
    out = rewrite(text, Options().choose)
    assert out.rewritten == ["k"] and "大小 {" in out.text and out.text.count("pdl-stress: entry") == 1


def test_a_module_that_was_rewritten_before_is_left_alone() -> None:
    once = rewrite(H + ".visible .entry k() { ret; }\n", everything)
    twice = rewrite(once.text, everything)
    assert twice.left == {"k": "it has been rewritten before"} and twice.text == once.text


def _seconds(texts: list[str]) -> float:
    """Processor time to rewrite them all."""
    began = time.process_time()
    for text in texts:
        rewrite(text, Options().choose)
    return time.process_time() - began


def test_tiny_files_are_not_slow() -> None:
    one = H + ".visible .entry k0() { ret; }\n"
    many = H + "".join(f".visible .entry k{n}() {{ ret; }}\n" for n in range(500))
    together = min(_seconds([many]) for _ in range(3))
    assert _seconds([one] * 500) < 10 * together  # the head of a file costs little next to its kernels
