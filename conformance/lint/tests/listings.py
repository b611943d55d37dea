"""Listings that no disassembler wrote: real ones with lines changed, and random code full of calls, loops and labels."""

from __future__ import annotations

import random
import re

from conformance.lint.analyser import Question, analyse
from conformance.lint.results import KernelResult
from conformance.pdlkit.elf import KernelInfo

_LINE = re.compile(rb"(\s+/\*[0-9a-f]{4,}\*/\s+)((?:@\S+ )?)([A-Z][\w.]*)(.*?)(;.*)$")
_OPERANDS = (b"R0 R254 RZ R255 R999999 UR0 UR62 URZ P0 P6 PT !P0 !PT UP6 UPT -R3 |R3| R2.64 0x7fffffff -0x80000000 1 -1 32 gsb0 "
             b"B0 B99 0xffffffffffffffffff c[0x0][0x210] c[0x0][R3+0x210] c[0x4][R2] c[0x2][0x0] c[0x3][-0x10] "
             b"desc[UR4][R2.64+0x10] [R1+0x8] [UR4+0xffffffff] [R1+-0x80000000] [] ] [ `(.L_x_1) `( 32@lo(x) "
             b"32@hi(fun@unified(y)) SR_TID.X SR_CTAID.X (*\"BRANCH_TARGETS .L_x_0,.L_x_1\"*)").split(b" ")
_GUARDS = (b"", b"@P0 ", b"@!P6 ", b"@UP0 ", b"@!PT ", b"@P99999999999 ")
_PARTS = b"64 128 256 X HI WIDE U32 EX AND U8 S16 DIV ANY CONV LUT".split()
_NUMBERS = (0, 1, 31, 32, 63, 64, 0x7F, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 60, 1 << 63)
_OPCODES = (b"MOV IADD3 IMAD.WIDE LOP3.LUT SHF.R.U32.HI ISETP.NE.AND PLOP3.LUT SEL PRMT LEA.HI LDG.E STG.E LD.E ST.E LDS STS "
            b"LDL.64 STL.64 ACQBULK BAR.SYNC.DEFER_BLOCKING BAR.ARV SYNCS.PHASECHK.TRANS64.TRYWAIT SYNCS.ARRIVE.TRANS64 EXIT "
            b"RET.REL.NODEC BSYNC BRX WARPSYNC.COLLECTIVE R2UR S2R I2F.RP VIMNMX.U32 P2R R2P UBLKCP.S.G UTMALDG.2D ATOMG.E.ADD "
            b"SHFL.IDX XYZZY").split()


def _changed(line: bytes, labels: list[bytes], dice: random.Random) -> bytes:
    found = _LINE.match(line)
    if not found:
        at = dice.randrange(len(line) + 1)
        return line[:at] + dice.randbytes(1) + line[at + 1 :]
    ahead, guard, opcode, operands, behind = found.groups()
    parts, kind = operands.split(b","), dice.randrange(8)
    if kind == 0:
        opcode = dice.choice(_OPCODES)
    elif kind == 1:
        guard = dice.choice(_GUARDS)
    elif kind == 2:
        opcode += b"." + dice.choice(_PARTS)
    elif kind == 3:
        operands = re.sub(rb"`\([^)]*\)", lambda _: b"`(" + dice.choice(labels) + b")", operands)
    elif kind == 4:
        operands = re.sub(rb"0x[0-9a-f]+", lambda _: b"%#x" % dice.choice(_NUMBERS), operands)
    elif kind == 5:
        del parts[dice.randrange(len(parts))]
        operands = b",".join(parts)
    else:
        parts[dice.randrange(len(parts))] = b" " + dice.choice(_OPERANDS)
        operands = b",".join(parts)
    return ahead + guard + opcode + operands + behind


def mutated(whole: bytes, dice: random.Random) -> bytes:
    """Some lines changed, doubled, swapped, moved or gone; sometimes cut off."""
    lines = whole.split(b"\n")
    labels = [line[:-1] for line in lines if line.endswith(b":")] or [b".L_x_0"]
    for _ in range(dice.choice((1, 8, 64, 512))):
        at, other, kind = dice.randrange(len(lines)), dice.randrange(len(lines)), dice.randrange(10)
        if kind < 6:
            lines[at] = _changed(lines[at], labels, dice)
        elif kind == 6:
            lines.insert(other, lines[at])
        elif kind == 7:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 8 and len(lines) > 2:
            del lines[at]
        else:
            lines.insert(at, dice.choice(labels) + b":")
    text = b"\n".join(lines)
    return text[: dice.randrange(len(text))] if dice.randrange(12) == 0 else text


def _instruction(labels: list[bytes], functions: list[bytes], dice: random.Random) -> bytes:
    kind = dice.randrange(24)
    if kind < 3:
        return b"BRA `(%s)" % dice.choice(labels)
    if kind == 3:
        return b"CALL.REL.NOINC `(%s)" % dice.choice(functions)
    if kind == 4:
        return dice.choice((b"CALL.ABS.NOINC R2", b"RET.REL.NODEC R20 `(%s)" % dice.choice(functions)))
    if kind == 5:
        return b"BRX R2 -0x10 (*\"BRANCH_TARGETS %s\"*)" % b",".join(dice.choice(labels) for _ in range(4))
    if kind == 6:
        return b"BSSY B%d, `(%s)" % (dice.randrange(3), dice.choice(labels))
    registers = (b"R0", b"R1", b"R2", b"R3", b"R4", b"R20")
    operands = (dice.choice(registers if dice.randrange(4) else _OPERANDS) for _ in range(dice.randrange(6)))
    return dice.choice(_OPCODES) + b" " + b", ".join(operands)


def random_code(dice: random.Random) -> bytes:
    """Facts and a listing of a few functions that call each other."""
    functions, size = [b"f%d" % i for i in range(dice.choice((1, 3, 12)))], dice.choice((20, 60, 200))
    rows = [b"pdl-lint-image\t1", b"sm\t%d" % dice.choice((90, 100, 120))]
    rows += [b"kernel\tf0\t528\t64\t%d" % dice.choice((0, 32, 1024))]
    rows += [b"parameter\t%d\t8" % (8 * i) for i in range(8)] + [b"function\t" + name for name in functions]
    rows += [b"address\t" + name for name in functions[1::2]] + [b"constant4\t8\t" + functions[-1], b"entry\tf0", b"listing"]
    for number, name in enumerate(functions):
        labels = [b".L_x_%d" % (100 * number + i) for i in range(dice.choice((1, 5, 40)))]
        rows += [b'\t.section\t.text.%s,"ax",@progbits' % name, name + b":"]
        for at in range(size):
            rows += [label + b":" for label in labels if dice.randrange(size) == 0 or at == size - 1 and label == labels[0]]
            code = dice.choice(_GUARDS[:4]) + _instruction(labels, functions, dice)
            rows.append(b"        /*%04x*/                   %s ;" % (16 * at, code))
    return b"\n".join(rows) + b"\n"


def analysed(info: KernelInfo, *code: str) -> KernelResult:
    """A kernel with this code; a line that ends with a colon is a label."""
    lines, offset = ['\t.section\t.text.k,"ax",@progbits'], 0
    for text in code:
        if text.endswith(":"):
            lines.append(text)
        else:
            lines.append(f"        /*{offset:04x}*/                   {text} ;")
            offset += 16
    return analyse(Question(90, {"k": info}, entries=["k"]), [("\n".join(lines) + "\n").encode()]).kernels["k"]
