"""The rewriter on the shapes real compilers write, and through the assembler where there is one."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from conformance.pdlkit.cuda_programs import tool
from conformance.stress.options import Options
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT, HOLD, PROTECT, TRIGGER, Settings
from conformance.stress.ptx.rewriter import Outcome, rewrite

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PTXAS = tool("ptxas")  # the toolkit's, or a fetched one

SHAPES = {
    "nvcc": HEAD + """
	// .globl	k	{ this brace and .entry fake( are a comment
.visible .entry k(
	.param .u64 k_param_0,
	.param .align 8 .b8 k_param_1[24]
)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [k_param_0];
	// begin inline asm
	griddepcontrol.wait;
	// end inline asm
	mov.u32 	%r1, %tid.x;
	setp.gt.u32 	%p1, %r1, 4;
	@%p1 bra 	$L__BB0_2;
	@!%p1 exit;
$L__BB0_2:
	ret;
}
""",
    "triton": HEAD + """
	// .globl	k                       // -- Begin function k
.extern .shared .align 16 .b8 global_smem[];
                                        // @k
.visible .entry k(
	.param .u64 .ptr .global .align 1 k_param_0,
	.param .u32 k_param_1
)
.reqntid 128
{
	.reg .b32 	%r<3>;
	.loc	1 5 0                           // zoo.py:5:0
$L__func_begin0:
	.loc	1 5 0
	ld.param.u32 	%r1, [k_param_1];
	ret;
$L__tmp0:
$L__func_end0:
                                        // -- End function
}
	.file	1 "/home/{user}/zoo.py"
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
.b8 17                                  // DW_TAG_compile_unit
.b8 0
	}
""",
    "one line": HEAD + ".weak .entry k ( .param .u64 a ) .pragma \"nounroll\"; { .reg .b64 %rd1; { .reg .b64 %rd1; } ret; }\n",
    "no parameters": HEAD + ".entry k\n{\n\tret;\n}\n",
    "comments everywhere": HEAD + ".visible /* { */ .entry /* } */ k /* ( */ (.param .u64 a) // {\n{ // }\n\tret;\n}\n",
    "cluster": HEAD + ".visible .entry k()\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n\tret;\n}\n",
    "function first": HEAD + ".func (.param .b32 r) f(.param .b32 a)\n{\n\tgriddepcontrol.wait;\n\tret;\n}\n"
                      ".visible .entry k()\n{\n\tret;\n}\n",
}


def everything(_: str) -> Settings:
    return Settings(TRIGGER | HOLD | PROTECT | AFTER_WAIT | BEFORE_EXIT, 100, 1000, 7)


def assembled(text: str, tmp_path: Path, arch: str) -> None:
    source = tmp_path / "module.ptx"
    source.write_text(text)
    done = subprocess.run([PTXAS, f"-arch=sm_{arch}", source, "-o", tmp_path / "module.cubin"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_rewritten_once(shape: str) -> None:
    out = rewrite(SHAPES[shape], Options().choose)
    assert out.rewritten == ["k"] and not out.left
    assert out.text.count("pdl-stress: entry") == 1
    body = out.text[out.text.index("pdl-stress: entry"):]
    assert re.search(r"^\s*griddepcontrol\.launch_dependents;", body, re.M) and "nanosleep" in body


@pytest.mark.parametrize("shape", SHAPES)
def test_only_insertions_are_made(shape: str) -> None:
    out = rewrite(SHAPES[shape], everything)
    left = re.sub(r"\n\t\{ // pdl-stress:.*?_DONE:\n\t\}\n", "", out.text, flags=re.S)
    assert left == SHAPES[shape]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("arch", ["90", "90a", "100", "103", "110", "120"])
def test_every_shape_assembles(shape: str, arch: str, tmp_path: Path) -> None:
    text = SHAPES[shape].replace("sm_90", f"sm_{arch}").replace(".version 8.0", ".version 9.0")
    assembled(rewrite(text, everything).text, tmp_path, arch)


def test_holds_stand_after_the_wait_and_before_each_exit() -> None:
    out = rewrite(SHAPES["nvcc"], lambda _: Settings(AFTER_WAIT | BEFORE_EXIT, 0, 1000, 1))
    assert out.text.count("pdl-stress: hold") == 3
    after = out.text[out.text.index("griddepcontrol.wait;"):]
    assert after.index("pdl-stress: hold") < after.index("mov.u32 \t%r1")
    exits = out.text[:out.text.index("@!%p1 exit;")]
    assert exits.rindex("@%p1 bra PDLS_") > exits.rindex("pdl-stress: hold")


def header(version: str, target: str, body: str = "ret;") -> Outcome:
    return rewrite(f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{body}\n}}\n", Options().choose)


def test_old_headers_are_raised_and_new_ones_left() -> None:
    old = header("7.0", "sm_80, texmode_independent")
    assert ".version 7.8\n.target sm_90, texmode_independent\n" in old.text and len(old.raised) == 2
    assert header("8.5", "sm_100a").text.startswith(".version 8.5\n.target sm_100a\n")


def test_what_cannot_be_rewritten_is_named() -> None:
    out = header("6.0", "sm_60", "shfl.up.b32 %r1, %r2, 1, 0;\nret;")
    assert out.left.keys() == {"k"} and ".sync" in out.left["k"] and "pdl-stress" not in out.text
    assert rewrite("\x7fELF", Options().choose).left


def test_names_choose() -> None:
    text = HEAD + "".join(f".visible .entry {name}()\n{{\nret;\n}}\n" for name in ("one", "two", "_Z5threePi"))
    assert rewrite(text, Options(exempt="^two$").choose).left == {"two": "exempted by name"}
    assert rewrite(text, Options(only=r"three\(int").choose).rewritten == ["_Z5threePi"]
    protected = rewrite(text, Options(protect="one").choose).text
    assert protected.count("griddepcontrol.wait;") == 1
    first = protected[protected.index("entry one"):]
    assert first.index("launch_dependents") < first.index("griddepcontrol.wait")


def test_a_hold_of_zero_only_triggers() -> None:
    out = rewrite(SHAPES["nvcc"], Options(hold_ns=0).choose)
    assert "launch_dependents" in out.text and "nanosleep" not in out.text


def test_fences_right_before_a_trigger_are_reported_and_others_not() -> None:
    near = "st.global.u32 [%rd1], %r1;\nmembar.gl;\nbar.sync 0;\ngriddepcontrol.launch_dependents;\nret;"
    far = "membar.gl;\n" + "add.u32 %r1, %r1, 1;\n" * 20 + "griddepcontrol.launch_dependents;\nret;"
    assert header("8.0", "sm_90", near).fenced == ["k"]
    assert header("8.0", "sm_90", far).fenced == []


def test_seeds_and_kernels_get_different_delays() -> None:
    words = {Settings(3, 0, 1000, seed).words(name)[3] for seed in (0, 1, 1 << 40) for name in ("a", "b")}
    assert len(words) == 6


def _seconds(kernels: int) -> float:
    """Processor time to rewrite a module of that many kernels."""
    body = SHAPES["nvcc"][len(HEAD):].replace("// end inline asm", "add.s32 %r1, %r1, 1;\n" * 60)
    text = HEAD + "".join(body.replace("entry k", f"entry k{n}") for n in range(kernels))
    began = time.process_time()
    assert len(rewrite(text, Options().choose).rewritten) == kernels
    return time.process_time() - began


def test_time_grows_with_the_text_and_no_faster() -> None:
    small = min(_seconds(200) for _ in range(3))
    assert _seconds(3000) < 4 * 15 * small  # 15 times the text; a square would take 225 times as long


@pytest.mark.parametrize(("text", "why"), [
    ("no PTX at all", "not a PTX module"), (HEAD.replace("sm_90", "texmode_independent"), "names no sm_ architecture"),
    (HEAD.replace(".version 8.0\n", ""), "not a PTX module")])
def test_what_no_gpu_is_named_for_is_left_as_it_is(text: str, why: str) -> None:
    text += ".visible .entry k()\n{\n\tret;\n}\n"
    out = rewrite(text, lambda _: Settings(TRIGGER | HOLD, 0, 1000, 1))
    assert out.text == text and why in out.left["k"] and not out.rewritten
    assert why in rewrite(text.partition(".visible")[0], lambda _: Settings(TRIGGER | HOLD, 0, 1000, 1)).left["*"]
