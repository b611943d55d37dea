"""What each machine instruction means for lint. An opcode that is in no table here is reported, never skipped.

The tables were checked against the code of the CUDA 13.0 libraries for sm_90, sm_100 and sm_120.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache


class Kind(IntEnum):
    PLAIN = 0
    LOAD = 1  # reads global memory
    STORE = 2
    ATOMIC = 3
    ASYNC_LOAD = 4  # global to shared, by another engine or past the registers
    ASYNC_STORE = 5  # shared to global
    TEXTURE = 6
    GENERIC_LOAD = 7  # global, shared or local, as the address says
    GENERIC_STORE = 8
    GENERIC_ATOMIC = 9
    PREFETCH = 10
    WAIT = 11
    TRIGGER = 12
    BARRIER = 13  # block-wide or a named part of it
    CLUSTER_BARRIER = 14
    MBARRIER = 15  # waits for an object in shared memory
    FENCE = 16
    BRANCH = 17
    INDEXED_BRANCH = 18
    CALL = 19
    RETURN = 20
    EXIT = 21
    TRAP = 22
    RECONVERGE = 23  # BSYNC: goes on where its BSSY says
    COLLECTIVE = 24
    BARRIER_ARRIVE = 25
    UNKNOWN = 26
    SIGNAL = 27  # arrives at an object in shared memory


ACCESSES = frozenset(
    {Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.ASYNC_LOAD, Kind.ASYNC_STORE, Kind.TEXTURE, Kind.GENERIC_LOAD,
     Kind.GENERIC_STORE, Kind.GENERIC_ATOMIC}
)
GENERIC = frozenset({Kind.GENERIC_LOAD, Kind.GENERIC_STORE, Kind.GENERIC_ATOMIC})
READS = frozenset({Kind.LOAD, Kind.ASYNC_LOAD, Kind.TEXTURE, Kind.GENERIC_LOAD})
WRITES = frozenset({Kind.STORE, Kind.ASYNC_STORE, Kind.GENERIC_STORE})
# Kinds at which the analysis has to stop and think; every other instruction only computes.
CONTROL = frozenset(
    {Kind.BRANCH, Kind.INDEXED_BRANCH, Kind.CALL, Kind.RETURN, Kind.EXIT, Kind.TRAP, Kind.RECONVERGE, Kind.COLLECTIVE}
)

WAIT_CODE, TRIGGER_CODE = 0x82E, 0x82D  # the low 12 bits of ACQBULK and PREEXIT
SCANNED_ARCHITECTURES = frozenset({90, 100, 103, 110, 120, 121})  # for which those two were checked

_BY_BASE = {
    "LDG": Kind.LOAD, "LDGMC": Kind.LOAD, "LD": Kind.GENERIC_LOAD,
    "STG": Kind.STORE, "ST": Kind.GENERIC_STORE,
    "ATOMG": Kind.ATOMIC, "REDG": Kind.ATOMIC, "RED": Kind.ATOMIC, "REDGMC": Kind.ATOMIC, "STGMC": Kind.STORE,
    "ATOM": Kind.GENERIC_ATOMIC,
    "LDGSTS": Kind.ASYNC_LOAD, "UTMALDG": Kind.ASYNC_LOAD, "UTMASTG": Kind.ASYNC_STORE, "UTMAREDG": Kind.ASYNC_STORE,
    "UBLKRED": Kind.ASYNC_STORE, "UBLKCP": Kind.ASYNC_LOAD,
    "TEX": Kind.TEXTURE, "TLD": Kind.TEXTURE, "TLD4": Kind.TEXTURE, "TXD": Kind.TEXTURE, "TMML": Kind.PLAIN,
    "TTU": Kind.TEXTURE, "SULD": Kind.TEXTURE, "SUST": Kind.STORE, "SUATOM": Kind.ATOMIC, "SURED": Kind.ATOMIC,
    "SUQ": Kind.PLAIN, "TXQ": Kind.PLAIN, "SULEA": Kind.PLAIN,
    "ARRIVES": Kind.SIGNAL, "UTCBAR": Kind.SIGNAL, "STAS": Kind.SIGNAL, "REDAS": Kind.SIGNAL, "SYNCSU": Kind.SIGNAL,
    "UTMAPF": Kind.PREFETCH, "UBLKPF": Kind.PREFETCH,
    "ACQBULK": Kind.WAIT, "PREEXIT": Kind.TRIGGER,
    "MEMBAR": Kind.FENCE, "FENCE": Kind.FENCE,
    "UCGABAR_WAIT": Kind.CLUSTER_BARRIER, "UCGABAR_ARV": Kind.PLAIN, "UCGABAR_GET": Kind.PLAIN,
    "UCGABAR_SET": Kind.PLAIN,
    "BRA": Kind.BRANCH, "JMP": Kind.BRANCH, "BRX": Kind.INDEXED_BRANCH, "BRXU": Kind.INDEXED_BRANCH,
    "JMX": Kind.INDEXED_BRANCH, "JMXU": Kind.INDEXED_BRANCH, "CALL": Kind.CALL, "RET": Kind.RETURN,
    "EXIT": Kind.EXIT, "KILL": Kind.EXIT, "BSYNC": Kind.RECONVERGE,
}

_PLAIN = frozenset(
    # floating point
    """FADD FADD32I FADD2 FCHK FFMA FFMA32I FFMA2 FMNMX FMNMX3 FMUL FMUL32I FMUL2 FSEL FSET FSETP FSWZADD MUFU HADD2
    HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 HFMA2_MMA DADD DFMA DMUL DSETP FHADD FHFMA FRND
    """
    # integer, moves, conversions, predicates
    """BMSK BREV FLO IABS IADD IADD3 IADD32I IADD2 IDP IDP4A IMAD IMMA IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP
    LOP3 LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 VHMNMX VIADD2 VIMNMX2 F2F F2I I2F I2I
    I2IP I2FP F2FP F2IP FRND MOV MOV32I MOVM PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P CS2R S2R S2UR B2R R2B BMOV R2UR UR2UP
    CS2UR LEPC VOTE VOTEU MATCH REDUX CREDUX NOP PMTRIG NANOSLEEP DEPBAR YIELD WARPSYNC_ ERRBAR CGAERRBAR GETLMEMBASE
    SETLMEMBASE SETCTAID SETSMEMSIZE ELECT CSMTEST AL2P ISBERD OUT IPA LDTRAM
    """
    # matrix units and tensor memory
    """BMMA BMMA HMMA DMMA QMMA OMMA HGMMA BGMMA IGMMA QGMMA WARPGROUP WARPGROUPSET WARPGROUPDEP LDSM STSM MOVM UTCHMMA
    UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA UTCCP UTCSHIFT UTCATOMSWS UTCLDSWS UTCSTSWS LDT LDTM STT STTM
    """
    # shared, local, constant and tensor memory; descriptors; cache control of other kinds
    """LDS STS ATOMS ATOMS_ LDL STL LDC LDCU ULDC LDGDEPBAR SYNCS QSPC USTS UREDS ULDS
    UTMACCTL UTMACMDFLUSH UTMACMDLFLUSH UTMALST FENCE_ UCPRN CCTLL CCTLT MEMSET
    """
    # uniform datapath
    """UBMSK UBREV UCLEA UF2FP UF2F UF2I UI2F UI2FP UI2I UI2IP UFADD UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET UFSETP UFMNMX3
    UIABS UIADD3 UIADD UIMAD UIMNMX UISETP ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UMOV32I UP2UR UPLOP3 UPOPC UPRMT UPSETP
    UR2UR USEL USETMAXREG USETSHMSZ USGXT USHF USHL USHR UVIADD UVIADDMNMX UVIMNMX UVIMNMX3 UVIRTCOUNT UGETNEXTWORKID
    UMEMSETS UMUFU UCGABAR UREDGR USTGR UIDP UIDP4A UGEMINI UP2R R2UP UVOTE UREDUX UNOT UIADD2
    """
    # control that stays in line
    """BSSY BREAK BPT_INT BPT_DRAIN WARPSYNC_INLINE ENDCOLLECTIVE RTT RPCMOV KILL_ ACQSHMINIT ACQCGASHM RELCGASHM
    """.split()
)


@lru_cache(maxsize=None)
def kind_of(opcode: str) -> Kind:
    """The kind of a full opcode such as LDG.E.128.CONSTANT."""
    base, _, rest = opcode.partition(".")
    if base == "CCTL":
        return _cache_control(rest)
    if base == "BAR":
        return Kind.BARRIER_ARRIVE if rest.startswith("ARV") else Kind.BARRIER
    if base == "BPT":
        return Kind.TRAP if rest.startswith("TRAP") else Kind.PLAIN
    if base == "WARPSYNC":
        return Kind.COLLECTIVE if "COLLECTIVE" in rest else Kind.PLAIN
    if base == "SYNCS":
        return Kind.MBARRIER if rest.startswith("PHASECHK") else (Kind.SIGNAL if rest.startswith("ARRIVE") else Kind.PLAIN)
    if base == "UBLKCP":
        return Kind.ASYNC_STORE if rest.startswith("G.") else _bulk_copy(rest)
    kind = _BY_BASE.get(base)
    if kind is not None:
        return kind
    return Kind.PLAIN if base in _PLAIN else Kind.UNKNOWN


def _bulk_copy(rest: str) -> Kind:
    """UBLKCP destination.source: only copies from global memory read it (shared to shared stays in the cluster)."""
    return Kind.ASYNC_LOAD if ".G" in "." + rest else Kind.PLAIN


def _cache_control(rest: str) -> Kind:
    if "PF" in rest:
        return Kind.PREFETCH
    if "RML2" in rest:  # discard: the line's content is lost
        return Kind.STORE
    return Kind.PLAIN


def is_readonly(opcode: str) -> bool:
    return opcode.endswith(".CONSTANT") or ".CONSTANT." in opcode


_WIDTHS = {"64": 2, "128": 4, "256": 8}


@lru_cache(maxsize=None)
def data_words(opcode: str) -> int:
    """How many 32-bit registers the data of a memory instruction takes."""
    return max((_WIDTHS.get(part, 1) for part in opcode.split(".")[1:]), default=1)
