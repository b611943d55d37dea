"""What lint takes machine instructions for: one that touches global memory and counts as plain hides a bug."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.lint.analyser import Question, analyse
from conformance.lint.linter import Options, lint_files
from conformance.pdlkit.cuda_programs import tool
from conformance.pdlkit.elf import KernelInfo

KINDS = {
    "LOAD": "LDG.E LDG.E.EF.EFL2.256 LDGMC.E.ADD.F32x4.RN.STRONG.SYS",
    "GENERIC_LOAD": "LD.E LD.E.128.STRONG.SYS",
    "STORE": "STG.E STG.E.EF.EFL2.256 SUST.D.1D USTGR.E.NA.MMIO.SYS USTGR.E.NA.U16.STRONG.GPU CCTL.E.RML2 CCTL.E.C.RML2",
    "GENERIC_STORE": "ST.E ST.E.U8",
    "ATOMIC": "ATOMG.E.ADD REDG.E.ADD.STRONG.GPU RED.E.ADD SUATOM.D.1D.ADD SURED.D.1D.ADD UREDGR.E.ADD.NA.MMIO.GPU",
    "GENERIC_ATOMIC": "ATOM.E.ADD.STRONG.GPU",
    "ASYNC_LOAD": "LDGSTS.E.BYPASS.128 UTMALDG.2D UTMALDG.2D.GATHER4.MULTICAST.2CTA UBLKCP.S.G UBLKCP.T.G UBLKCP.S.G.MULTICAST",
    "ASYNC_STORE": "UTMASTG.1D UTMAREDG.2D.ADD UBLKCP.G.S UBLKCP.G.G UBLKRED.G.S.ADD.F32.RN UBLKRED.G.S.MIN.STRONG.SYS",
    "TEXTURE": "TEX.SCR.LL TLD.SCR.B.LZ TLD4.R TXD.B SULD.D.1D",
    "PREFETCH": "CCTL.E.PF1 CCTL.E.PF2 UBLKPF.L2 UTMAPF.L2.2D",
    "SIGNAL": "SYNCS.ARRIVE.TRANS64.A1T0 STAS.64 REDAS.INC UTCBAR.MULTICAST ARRIVES.LDGSTSBAR.64",
    "MBARRIER": "SYNCS.PHASECHK.TRANS64.TRYWAIT",
    "PLAIN": "LDS STS ATOMS.ADD LDSM.16.M88.4 STSM.16.M88.4 LDL STL LDC LDCU.64 LDTM.x32 STTM.x8 UTCCP.T.S.4x32dp128bit UTCHMMA "
             "UBLKCP.S.S UBLKCP.S.S.STRONG.GPU UBLKRED.S.S.INC UMEMSETS.64 QSPC.E.G REDUX.SUM UTMACCTL.PF UTMACMDFLUSH "
             "CCTL.IVALL CCTL.E.DML2 SYNCS.EXCH.64 CLMAD.LO MOV64IUR SUQUERY.2D FOOTPRINT.B.TEX UFHADD UFHFMA.BF16 UF2IP.S8",
    "UNKNOWN": "LDQ STGX ATOMZ.ADD AST.64 ALD USTG.E UBLKX.G.S UTMAXYZ.2D",
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    opcodes = KINDS[kind].split()
    lines = [f"        /*{16 * i:04x}*/                   {opcode} R0, [R2.64] ;\n" for i, opcode in enumerate(opcodes)]
    listing = '\t.section\t.text.k,"ax",@progbits\n' + "".join(lines)
    result = analyse(Question(100, {"k": KernelInfo()}), [listing.encode()], code=True).kernels["k"]
    assert result.code == tuple((opcode, kind) for opcode in opcodes)


_PTX = """\
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 7;
    BODY
    griddepcontrol.wait;
    ret;
}
"""


@pytest.mark.parametrize(("body", "finding"), [  # red.async is not here: ptxas 13.0 removes it
    ("st.async.mmio.release.sys.global.u32 [%rd2], %r1;", "write-before-wait"),
])
def test_asynchronous_stores_to_global_memory(tmp_path: Path, body: str, finding: str) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(_PTX.replace("BODY", body))
    tried = [str(tool("ptxas")), "-arch", "sm_100a", "-o", str(tmp_path / "tried"), str(file)]
    if b"mmio" in subprocess.run(tried, capture_output=True).stderr:
        pytest.skip("this ptxas does not know the instruction")
    found = {f.id: f.parameters for f in lint_files([file], Options()).findings if f.severity == "error"}
    assert found == {finding: [1]}
