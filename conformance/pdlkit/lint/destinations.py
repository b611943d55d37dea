"""Which registers and predicates an instruction writes."""

from __future__ import annotations

from functools import lru_cache

from pdlkit.lint.opcodes import data_words
from pdlkit.lint.values import parse_operand


@lru_cache(maxsize=65536)
def next_register(name: str, step: int = 1) -> str:
    name = name.split(".", 1)[0]
    cut = 2 if name.startswith("U") else 1
    return f"{name[:cut]}{int(name[cut:]) + step}" if name[cut:].isdigit() else name


_WIDE_RESULTS = {"HMMA": 4, "IMMA": 4, "DMMA": 8, "QMMA": 4, "OMMA": 4, "BMMA": 4, "HGMMA": 128, "IGMMA": 128,
                 "QGMMA": 128, "BGMMA": 128, "LDTM": 128, "LDSM": 4, "LDT": 64, "TEX": 4, "TLD": 4, "TLD4": 4, "TXD": 4,
                 "CS2R": 2, "FADD2": 2, "FFMA2": 2, "FMUL2": 2, "DADD": 2, "DMUL": 2, "DFMA": 2, "LDGMC": 4, "UGETNEXTWORKID": 4}
_NO_RESULT = frozenset({"STS", "STL", "STG", "ST", "REDG", "RED", "BAR", "BRA", "EXIT", "MEMBAR", "BSSY", "BSYNC", "STSM",
                        "UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED", "UTMAPF", "LDGSTS", "STAS", "WARPSYNC",
                        "CCTL", "NANOSLEEP", "DEPBAR", "BMOV", "CALL", "RET", "UTMACCTL", "UBLKPF", "SUST", "BREAK"})
_ONLY_PREDICATES = frozenset({"ISETP", "UISETP", "FSETP", "UFSETP", "DSETP", "HSETP2", "PSETP", "UPSETP", "PLOP3", "UPLOP3", "FCHK"})


@lru_cache(maxsize=65536)
def destinations_of(opcode: str, operands: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(registers and predicates written, the other operands)."""
    base = opcode.split(".", 1)[0]
    if base in _NO_RESULT or not operands:
        return (), operands
    if base in _ONLY_PREDICATES:
        return tuple(n for o in operands[:2] if not (n := parse_operand(o)[1]).endswith("T")), operands[2:]
    names: list[str] = []
    at = 0
    while at < len(operands) and at < 3:
        tag = parse_operand(operands[at])
        if tag[0] == "pred" and not operands[at].startswith("!"):
            names.append(tag[1])
            at += 1
            continue
        if tag[0] == "reg" and not any("P" not in n for n in names):
            names += _register_run(base, opcode, tag[1])
            at += 1
            if at < len(operands) and parse_operand(operands[at])[0] == "pred":
                continue
        break
    kept = tuple(n for n in names if not n.endswith(("Z", "T")))
    return kept, operands[min(at, len(operands)) :] or operands


def _register_run(base: str, opcode: str, first: str) -> list[str]:
    if first.endswith("Z"):
        return []
    count = 1 if opcode.startswith("CS2R.32") else _WIDE_RESULTS.get(base, data_words(opcode))
    if ".WIDE" in opcode or opcode.endswith((".F64", ".S64", ".U64")) or ".F64." in opcode:
        count = max(count, 2)
    return [next_register(first, i) for i in range(count)]
