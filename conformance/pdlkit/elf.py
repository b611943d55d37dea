"""Reads a cubin, an ELF file with CUDA machine code: sections, symbols, kernel parameters, architecture, a quick scan.

The one reader of ELF in Python. What the instructions mean comes from nvdisasm. Every offset is checked, because tools are fed
broken files too: the message of CorruptFile says what is wrong.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

EM_CUDA = 190
_STO_CUDA_ENTRY = 0x10
_WITHOUT_BYTES = frozenset({8, 0x7000000A})  # types of sections that take no room in the file: NOBITS; .nv_debug.shared
_STT_FUNC = 2
_ATTR_SIZED = 4  # format byte of an attribute that carries its own size
_EIATTR_PARAM_CBANK, _EIATTR_KPARAM_INFO, _EIATTR_MAX_THREADS, _EIATTR_REQNTID = 0x0A, 0x17, 0x05, 0x10
_EIATTR_KPARAM_INFO_V2, _EIATTR_CTA_PER_CLUSTER = 0x45, 0x3D
# offsets of exits, of instructions of groups, whole warps and mbarriers, and of 0x55, which nobody names -> bytes of a record
_EIATTR_MARKED = {0x1C: 4, 0x28: 4, 0x31: 4, 0x39: 16, 0x55: 4}
_LARGEST_TABLE = 1 << 14  # bytes
_LONGEST_NAME = 1 << 16  # bytes; a damaged file of many such names must not take forever
_CONSTANT4 = ".nv.constant4"
_RELOCATIONS = {4: 24, 9: 16}  # section kind (RELA, REL) -> bytes of a record
_ADDRESS_HALVES = (0x38, 0x39, 0x70, 0x71)  # relocations of a move of half an address; a direct call has others


class CorruptFile(Exception):
    """The file is not what it claims to be; the message says where."""


@dataclass(slots=True, eq=False)  # there are very many, and a frozen one takes four times as long to make
class Section:
    name: str
    index: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    name: str
    value: int
    size: int
    section: int
    kind: int
    other: int


@dataclass(frozen=True)
class Parameter:
    ordinal: int  # 0-based, in source order
    offset: int  # from the start of the parameters in the constant bank
    size: int


@dataclass
class KernelInfo:
    """What .nv.info says of one kernel."""

    parameters: list[Parameter] = field(default_factory=list)
    parameter_base: int = 0  # offset in constant bank 0
    parameter_bytes: int = 0
    max_threads: int = 0  # 0: not stated
    cluster: list[int] = field(default_factory=list)  # blocks along each axis; empty: not stated


class Cubin:
    """One ELF file with CUDA machine code."""

    def __init__(self, data: bytes | bytearray, name: str = "cubin") -> None:
        self.data, self.name = data, name
        if data[:4] != b"\x7fELF" or len(data) < 64 or data[4] != 2:
            raise CorruptFile("it is not a 64-bit ELF file")
        machine = struct.unpack_from("<H", data, 18)[0]
        if machine != EM_CUDA:
            raise CorruptFile(f"its ELF machine is {machine}, not CUDA ({EM_CUDA})")
        self.flags = struct.unpack_from("<I", data, 48)[0]
        self.abi_version = data[8]
        self.sections = self._read_sections()

    @classmethod
    def load(cls, path: Path) -> Cubin:
        return cls(path.read_bytes(), path.name)

    def _read_sections(self) -> list[Section]:
        data = self.data
        table, entry, count, names = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HHH", data, 58))
        if table and (count == 0 or names == 0xFFFF) and table + 64 > len(data):
            raise CorruptFile("the section table lies beyond the end of the file")
        if count == 0 and table:  # more than 65,279 sections: the count stands in section 0
            count = struct.unpack_from("<Q", data, table + 32)[0]
        if names == 0xFFFF and table:
            names = struct.unpack_from("<I", data, table + 40)[0]
        if entry != 64 or table + count * 64 > len(data) or names >= max(count, 1):
            raise CorruptFile("the section table lies beyond the end of the file (truncated?)")
        raw = list(struct.iter_unpack("<IIQQQQIIQQ", data[table : table + count * 64]))
        for row in raw:
            if row[1] not in _WITHOUT_BYTES and row[4] + row[5] > len(data):
                raise CorruptFile("a section lies beyond the end of the file (truncated?)")
        base = raw[names][4] if raw else 0
        return [Section(self._string(base + r[0]), i, r[1], r[2], r[4], r[5], r[6], r[7]) for i, r in enumerate(raw)]

    def _string(self, at: int) -> str:
        end = self.data.find(b"\0", at, at + _LONGEST_NAME)
        if end < 0:
            raise CorruptFile("a name lies beyond the end of the file, or has no end")
        return self.data[at:end].decode(errors="replace")

    def bytes_of(self, section: Section) -> bytes:
        if section.kind in _WITHOUT_BYTES:
            return b""
        return bytes(self.data[section.offset : section.offset + section.size])  # unpacked images are bytearrays

    def section(self, name: str) -> Section | None:
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, Section]:
        return {s.name: s for s in self.sections}

    @cached_property
    def symbols(self) -> list[Symbol]:
        table = self.section(".symtab")
        if table is None or table.link >= len(self.sections):
            return []
        raw, names = self.bytes_of(table), self.sections[table.link].offset
        return [
            Symbol(self._string(names + n), value, size, shndx, info & 15, other)
            for n, info, other, shndx, value, size in struct.iter_unpack("<IBBHQQ", raw[: len(raw) // 24 * 24])
        ]

    @cached_property
    def kernels(self) -> list[str]:
        """Mangled names of the entry functions, in file order."""
        return [s.name for s in self.symbols if s.kind == _STT_FUNC and s.other & _STO_CUDA_ENTRY]

    @cached_property
    def sm(self) -> int:
        """The architecture that the code is for, e.g. 90. New cubins keep it in another byte of the flags."""
        return int(self.flags >> 8 & 0xFF) if self.abi_version >= 8 else int(self.flags & 0xFF)

    @cached_property
    def virtual_sm(self) -> int:
        """The virtual architecture it was compiled from (.note.nv.cuinfo), or 0 if the file does not say."""
        note = self.section(".note.nv.cuinfo")
        if note is None:
            return 0
        raw = self.bytes_of(note)
        if len(raw) < 16:
            return 0
        name_size, size, _ = struct.unpack_from("<III", raw, 0)
        at = 12 + (name_size + 3) // 4 * 4
        return int(struct.unpack_from("<H", raw, at + 2)[0]) if size >= 4 and at + 4 <= len(raw) else 0

    def text_of(self, function: str) -> Section | None:
        return self.section(".text." + function)

    @cached_property
    def text_sections(self) -> list[Section]:
        return [s for s in self.sections if s.name.startswith(".text.") and s.size]

    def kernel_info(self, kernel: str) -> KernelInfo:
        info = KernelInfo()
        section = self.section(".nv.info." + kernel)
        if section is not None:
            for code, value in _attributes(self.bytes_of(section)):
                _note_attribute(info, code, value)
        info.parameters.sort(key=lambda p: p.ordinal)
        return info

    def marked(self, function: str) -> set[int]:
        """Offsets of instructions that the compiler lists, such as those that end a thread: nvdisasm gives each of them a label."""
        section = self.section(".nv.info." + function)
        listed = [(_EIATTR_MARKED[code], value) for code, value in _attributes(self.bytes_of(section) if section else b"")
                  if code in _EIATTR_MARKED]
        return {offset for size, value in listed for offset, in struct.iter_unpack(f"<I{size - 4}x", value[: len(value) // size * size])}

    @cached_property
    def constant4(self) -> dict[int, str]:
        """Offset in constant bank 4 (addresses of module variables and functions) -> symbol."""
        names: dict[int, str] = {}
        for section_name in (".rela" + _CONSTANT4, ".rel" + _CONSTANT4):
            section = self.section(section_name)
            if section is None:
                continue
            step = 24 if section_name.startswith(".rela") else 16
            raw = self.bytes_of(section)
            for at in range(0, len(raw) - step + 1, step):
                offset, info = struct.unpack_from("<QQ", raw, at)
                if info >> 32 < len(self.symbols):
                    symbol = self.symbols[info >> 32]
                    # the high half (at +4) has a relocation of its own in some files
                    names.setdefault(offset & ~7, symbol.name or self._section_name(symbol.section))
        return names

    def _section_name(self, index: int) -> str:
        return self.sections[index].name if index < len(self.sections) else ""

    @cached_property
    def initialised_symbols(self) -> frozenset[str]:
        section = self.section(".nv.global.init")
        if section is None:
            return frozenset()
        return frozenset(s.name for s in self.symbols if s.section == section.index and s.name)

    @cached_property
    def function_names(self) -> frozenset[str]:
        return frozenset(s.name for s in self.symbols if s.kind == _STT_FUNC)

    @cached_property
    def homes(self) -> dict[str, tuple[str, int]]:
        """Function -> (the section that holds it, perhaps with others, index of its first instruction there)."""
        found = {}
        for symbol in self.symbols:
            if symbol.kind == _STT_FUNC and 0 < symbol.section < len(self.sections):
                section = self.sections[symbol.section].name.removeprefix(".text.")
                found[symbol.name] = (section, symbol.value // 16)
        return found

    def code_table(self, kernel: str) -> dict[int, str]:
        """Offset in constant bank 2 -> function of the kernel's section whose place in it stands there."""
        table, code = self.section(".nv.constant2." + kernel), self.text_of(kernel)
        if table is None or code is None:
            return {}
        functions = {s.value: s.name for s in self.symbols if s.kind == _STT_FUNC and s.section == code.index and s.value}
        raw = self.bytes_of(table)
        words = struct.unpack_from(f"<{len(raw) // 8}Q", raw)
        return {8 * i: functions[word] for i, word in enumerate(words) if word in functions}

    def constant2(self, kernel: str) -> tuple[int, ...]:
        """The words of constant bank 2, where the compiler puts the tables of its indexed branches; none if it is large."""
        table = self.section(".nv.constant2." + kernel)
        raw = self.bytes_of(table) if table is not None else b""
        return struct.unpack_from(f"<{len(raw) // 4}I", raw) if len(raw) <= _LARGEST_TABLE else ()

    def tables(self, kernel: str) -> dict[str, int]:
        """Named part of constant bank 2 -> its offset there: an object file's code names its tables."""
        table = self.section(".nv.constant2." + kernel)
        if table is None:
            return {}
        return {s.name: s.value for s in self.symbols if s.section == table.index and s.name and not s.name.startswith(".")}

    @cached_property
    def function_addresses(self) -> frozenset[str]:
        """Functions whose address some data or code takes: what an indirect call may reach."""
        functions = {i: s.name for i, s in enumerate(self.symbols) if s.kind == _STT_FUNC}
        taken: set[str] = set()
        for section in self.sections:
            if section.kind not in _RELOCATIONS or "debug" in section.name or ".nv.info" in section.name:
                continue
            step, raw, in_code = _RELOCATIONS[section.kind], self.bytes_of(section), ".text." in section.name
            for at in range(0, len(raw) - step + 1, step):
                info = struct.unpack_from("<Q", raw, at + 8)[0]
                name = functions.get(info >> 32)
                if name is None or section.name.endswith(".text." + name):
                    continue
                if not in_code or info & 0xFFFFFFFF in _ADDRESS_HALVES:
                    taken.add(name)
        return frozenset(taken)

    def may_contain(self, section: Section, opcodes: frozenset[int]) -> bool:
        """Whether an instruction of this section has one of these 12-bit opcodes (16 bytes an instruction)."""
        raw = self.bytes_of(section)
        first = raw[0::16]
        for opcode in opcodes:
            low, high = opcode & 0xFF, opcode >> 8
            at = first.find(low)
            while at >= 0:
                if raw[at * 16 + 1] & 0x0F == high:
                    return True
                at = first.find(low, at + 1)
        return False


def _attributes(raw: bytes):  # type: ignore[no-untyped-def]
    """(code, value bytes) of each record of a .nv.info section; stops at the first that does not fit."""
    at = 0
    while at + 4 <= len(raw):
        form, code, size = raw[at], raw[at + 1], struct.unpack_from("<H", raw, at + 2)[0]
        at += 4
        if form != _ATTR_SIZED:
            yield code, struct.pack("<H", size)
            continue
        if at + size > len(raw):
            return
        yield code, raw[at : at + size]
        at += size


def _note_attribute(info: KernelInfo, code: int, value: bytes) -> None:
    if code == _EIATTR_PARAM_CBANK and len(value) >= 8:
        info.parameter_base, info.parameter_bytes = struct.unpack_from("<HH", value, 4)
    elif code in (_EIATTR_KPARAM_INFO, _EIATTR_KPARAM_INFO_V2) and len(value) >= 12:
        _, ordinal, offset, packed = struct.unpack_from("<IHHI", value, 0)
        size = packed >> 18 if code == _EIATTR_KPARAM_INFO else packed & 0xFFFFFF  # V2: where 14 bits are too few
        info.parameters.append(Parameter(ordinal, offset, size))
    elif code in (_EIATTR_MAX_THREADS, _EIATTR_REQNTID) and len(value) >= 12:
        x, y, z = struct.unpack_from("<III", value, 0)
        info.max_threads = x * y * z
    elif code == _EIATTR_CTA_PER_CLUSTER and len(value) >= 12:
        info.cluster = list(struct.unpack_from("<III", value, 0))
