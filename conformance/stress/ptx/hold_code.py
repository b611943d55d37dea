"""The PTX that is inserted: trigger, optional wait, and a hold that is bounded in time and in turns. The plan's numbers are
constants of the code.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache

TRIGGER, HOLD, PROTECT, AFTER_WAIT, BEFORE_EXIT = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class Settings:
    """What happens in one kernel. The delay of a block lies in [least_ns, least_ns + span_ns], by (seed, kernel, block)."""

    flags: int = TRIGGER | HOLD
    least_ns: int = 0
    span_ns: int = 0
    seed: int = 0

    def words(self, kernel: str) -> tuple[int, int, int, int]:
        """The four words a kernel works with; the last one mixes seed and name."""
        flags = self.flags if self.least_ns + self.span_ns else self.flags & ~(HOLD | AFTER_WAIT | BEFORE_EXIT | 32)
        return flags, self.least_ns & 0xFFFFFFFF, self.span_ns & 0xFFFFFFFF, kernel_seed(self.seed, kernel)


def kernel_seed(seed: int, kernel: str) -> int:
    """32 bits that differ between kernels and seeds; never 0."""
    return (zlib.crc32(kernel.encode(), seed & 0xFFFFFFFF) ^ (seed >> 32)) & 0xFFFFFFFF or 1


MARK = "\n\t{ // pdl-stress: entry\n"

_BLOCK = """\
\tmov.u32 %pdls_b, %ctaid.z;
\tmov.u32 %pdls_m, %nctaid.y;
\tmov.u32 %pdls_a, %ctaid.y;
\tmad.lo.u32 %pdls_b, %pdls_b, %pdls_m, %pdls_a;
\tmov.u32 %pdls_m, %nctaid.x;
\tmov.u32 %pdls_a, %ctaid.x;
\tmad.lo.u32 %pdls_b, %pdls_b, %pdls_m, %pdls_a;
"""

# Only the last blocks can still run when a dependent starts, because it starts when all have triggered. Holding the ones
# before costs time and finds nothing. At most 2048 threads and 32 blocks share a multiprocessor.
_LAST_WAVE = """\
\tmov.u32 %pdls_a, %nctaid.y;
\tmul.lo.u32 %pdls_m, %pdls_m, %pdls_a;
\tmov.u32 %pdls_a, %nctaid.z;
\tmul.lo.u32 %pdls_m, %pdls_m, %pdls_a;
\tsub.u32 %pdls_m, %pdls_m, %pdls_b;
\tmov.u32 %pdls_n, %ntid.x;
\tmov.u32 %pdls_a, %ntid.y;
\tmul.lo.u32 %pdls_n, %pdls_n, %pdls_a;
\tmov.u32 %pdls_a, %ntid.z;
\tmul.lo.u32 %pdls_n, %pdls_n, %pdls_a;
\tdiv.u32 %pdls_n, 2048, %pdls_n;
\tmin.u32 %pdls_n, %pdls_n, 32;
\tmov.u32 %pdls_a, %nsmid;
\tmul.lo.u32 %pdls_n, %pdls_n, %pdls_a;
\tsetp.gt.u32 %pdls_p, %pdls_m, %pdls_n;
\t@%pdls_p bra PDLS_{n}_DONE;
"""

_DELAY = """\
\tmul.lo.u32 %pdls_b, %pdls_b, 0x85EBCA6B;
\txor.b32 %pdls_b, %pdls_b, %pdls_k;
\tshr.u32 %pdls_a, %pdls_b, 15;
\txor.b32 %pdls_b, %pdls_b, %pdls_a;
\tmul.lo.u32 %pdls_b, %pdls_b, 0xC2B2AE35;
\tshr.u32 %pdls_a, %pdls_b, 16;
\txor.b32 %pdls_b, %pdls_b, %pdls_a;
\tmul.hi.u32 %pdls_b, %pdls_b, %pdls_w;
\tadd.u32 %pdls_b, %pdls_b, %pdls_l;
"""

_SPIN = """\
\tcvt.u64.u32 %pdls_d, %pdls_b;
\tshr.u32 %pdls_b, %pdls_b, 4;
\tadd.u32 %pdls_b, %pdls_b, 64;
\tmov.u32 %pdls_n, 0;
\tmov.u64 %pdls_s, %globaltimer;
PDLS_{n}_TURN:
\tnanosleep.u32 40;
\tmov.u64 %pdls_t, %globaltimer;
\tsub.u64 %pdls_t, %pdls_t, %pdls_s;
\tadd.u32 %pdls_n, %pdls_n, 1;
\tsetp.lt.u64 %pdls_p, %pdls_t, %pdls_d;
\tsetp.lt.and.u32 %pdls_p, %pdls_n, %pdls_b, %pdls_p;
\t@%pdls_p bra PDLS_{n}_TURN;
"""

_REGISTERS = """\
\t.reg .pred %pdls_p;
\t.reg .b32 %pdls_f, %pdls_l, %pdls_w, %pdls_k, %pdls_a, %pdls_b, %pdls_m, %pdls_n;
\t.reg .b64 %pdls_d, %pdls_s, %pdls_t;
"""


_HOLD = _BLOCK + _LAST_WAVE + _DELAY + _SPIN


@lru_cache(maxsize=64)
def _steps(flags: int, inner_bit: int) -> tuple[str, ...]:
    """The parts of an entry (inner_bit 0) or of an inner hold, split where the number that makes labels unique goes."""
    if inner_bit:
        steps = _HOLD if flags & inner_bit else ""
    else:
        steps = "\tgriddepcontrol.launch_dependents;\n" if flags & TRIGGER else ""
        steps += "\tgriddepcontrol.wait;\n" if flags & PROTECT else ""
        steps += _HOLD if flags & HOLD else ""
    return tuple(f"{steps}PDLS_{{n}}_DONE:\n\t}}\n".split("{n}")) if steps else ()


def _numbers(kernel: str, settings: Settings) -> str:
    names = ("f", "l", "w", "k")
    return "".join(f"\tmov.u32 %pdls_{name}, {word};\n" for name, word in zip(names, settings.words(kernel), strict=True))


def entry(n: int, kernel: str, settings: Settings) -> str:
    """Inserted after the opening brace of a kernel; "" if nothing is to be done there.

    The trigger comes before the wait that protects a dependent, so that protecting one kernel never hides the next one's bug.
    """
    steps = _steps(settings.words(kernel)[0], 0)
    if not steps:
        return ""
    return f"{MARK}{_REGISTERS}{_numbers(kernel, settings)}" + str(n).join(steps)


def inner(n: int, kernel: str, settings: Settings, bit: int, unless: str = "") -> str:
    """A hold inside a kernel, after a wait (AFTER_WAIT) or before an exit (BEFORE_EXIT); skipped where `unless` holds."""
    steps = _steps(settings.words(kernel)[0], bit)
    if not steps:
        return ""
    guard = f"\t@{unless} bra PDLS_{n}_DONE;\n" if unless else ""
    return f"\n\t{{ // pdl-stress: hold\n{_REGISTERS}{guard}{_numbers(kernel, settings)}" + str(n).join(steps)
