"""Runs rewritten code one thread at a time, from the toolkit's own listing: only the instructions that such code is made of."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

_MASK, _WIDE = (1 << 32) - 1, (1 << 64) - 1
_ADDRESS = re.compile(r"^(?:desc\[UR\d+\])?\[R(\d+)(?:\.64)?(?:\+(-?)0x([0-9a-f]+))?\]$")
STACK_TOP = 0xFFF000


@dataclass
class Launch:
    """What the special registers and the constant bank say."""

    threads: tuple[int, int, int]
    blocks: tuple[int, int, int]
    grid: int
    multiprocessor: int
    newer: bool  # the constant bank's layout from sm_100 on

    def constants(self) -> dict[int, int]:
        """The words that are read; any other is an error."""
        threads, blocks, grid = (0x360, 0x370, 0x140) if self.newer else (0, 0xC, 0x30)
        words = {threads + 4 * i: self.threads[i] for i in range(3)} | {blocks + 4 * i: self.blocks[i] for i in range(3)}
        stack, descriptor = (0x37C, 0x358) if self.newer else (0x28, 0x208)
        return words | {grid: self.grid & _MASK, grid + 4: self.grid >> 32, stack: STACK_TOP, descriptor: 1, descriptor + 4: 2}


@dataclass
class Thread:
    """One thread; `memory` holds 32-bit words by address."""

    launch: Launch
    block: tuple[int, int, int]
    index: tuple[int, int, int]
    clock: int
    memory: dict[int, int]
    predicates: set[int] = field(default_factory=set)
    registers: dict[str, int] = field(default_factory=dict)
    lane: int = 0
    said: dict[str, int] = field(default_factory=dict)  # by the first lane to the others
    local: dict[int, int] = field(default_factory=dict)  # the thread's own memory
    done: list[str] = field(default_factory=list)  # the kernel's own waits, triggers and exits, with the time

    def run(self, listing: list[str]) -> None:
        """To the exit."""
        at = 0
        for _ in range(1000):
            text, at = listing[at], at + 1
            guard, text = self._guard(text)
            name, _, rest = text.partition(" ")
            if not guard:
                continue
            if name == "EXIT":
                self.done.append(f"EXIT {self.clock}")
                return
            if name == "BRA":
                at = int(rest, 16) // 16
            else:
                self._step(name, [word.strip().removesuffix(".reuse") for word in rest.split(",")] if rest else [])
        raise AssertionError("it did not end")

    def _guard(self, text: str) -> tuple[bool, str]:
        match = re.match(r"@(!?)P(\d) +(.*)", text)
        return ((int(match[2]) in self.predicates) != bool(match[1]), match[3]) if match else (True, text)

    def _value(self, word: str) -> int:
        if word in ("RZ", "URZ"):
            return 0
        if word.startswith("-R"):
            return -self._value(word[1:]) & _MASK
        if word[0] in "RU":
            return self.registers[word]  # reading one that was never written is an error
        return int(word, 16) & _MASK

    def _pair(self, word: str) -> int:
        return 0 if word in ("RZ", "URZ") else self._value(word) | self._value(_next(word)) << 32

    def _set(self, word: str, value: int) -> None:
        self.registers[word] = value & _MASK

    def _set_pair(self, word: str, value: int) -> None:
        self._set(word, value)
        self._set(_next(word), value >> 32)

    def _step(self, name: str, words: list[str]) -> None:
        family = name.partition(".")[0]
        if name in ("ACQBULK", "PREEXIT"):
            self.done.append(f"{name} {self.clock}")
        elif family in ("STG", "STL"):
            self._store(self.memory if family == "STG" else self.local, name, *words)
        elif family not in ("NOP", "BSSY", "BSYNC"):
            steps: dict[str, Callable[[str, list[str]], None]] = {
                "S2R": self._special, "S2UR": self._special, "CS2R": self._time, "LDC": self._constant, "LDCU": self._constant,
                "ULDC": self._constant, "LDL": self._load, "ATOMG": self._add_in_memory, "SHFL": self._from_first}
            steps.get(family, self._compute)(name, words)

    def _time(self, name: str, words: list[str]) -> None:
        assert words[1] == "SR_GLOBALTIMERLO"
        self.clock += 100
        self._set(words[0], self.clock)
        if name != "CS2R.32":
            self._set_pair(words[0], self.clock)

    def _special(self, name: str, words: list[str]) -> None:
        which = {"SR_VIRTUALSMID": self.launch.multiprocessor, "SR_LANEID": self.lane}
        which |= {f"SR_CTAID.{axis}": value for axis, value in zip("XYZ", self.block, strict=True)}
        which |= {f"SR_TID.{axis}": value for axis, value in zip("XYZ", self.index, strict=True)}
        self._set(words[0], which[words[1]])

    def _constant(self, name: str, words: list[str]) -> None:
        match = re.fullmatch(r"c\[0x0\]\[0x([0-9a-f]+)\]", words[1])
        assert match
        at, constants = int(match[1], 16), self.launch.constants()
        self._set(words[0], constants[at])
        if name.endswith(".64"):
            self._set(_next(words[0]), constants[at + 4])

    def _compute(self, name: str, words: list[str]) -> None:
        out, family = words[0], name.partition(".")[0].removeprefix("U")
        if name == "IADD.64":
            return self._set_pair(out, (self._pair(words[1]) + self._pair(words[2])) & _WIDE)
        if family in ("ISETP", "VIMNMX", "IMNMX"):
            return self._chosen(name, words)
        if name == "MOV.64":
            return self._set_pair(out, self._pair(words[1]) if words[1][0] == "R" else self._value(words[1]))
        if name == "HFMA2":  # how ptxas moves a constant: nothing times nothing plus two half floats
            assert words[1:3] == ["-RZ", "RZ"]
            high, low = (struct.unpack("<H", struct.pack("<e", float(word)))[0] for word in words[3:])
            return self._set(out, high << 16 | low)
        if name == "LEA":
            total = (self._value(words[2]) << int(words[4], 16) & _MASK) + self._value(words[3])
            self.predicates = self.predicates - {0} | ({0} if total >> 32 else set())
            return self._set(out, total)
        v = [self._value(word) for word in words[1:] if word[0] in "RU0-"]
        if family == "LOP3":
            return self._set(out, sum((v[3] >> (4 * (v[0] >> i & 1) + 2 * (v[1] >> i & 1) + (v[2] >> i & 1)) & 1) << i for i in range(32)))
        if name == "LEA.HI.X":
            return self._set(out, ((v[2] << 32 | v[0]) << v[3] >> 32) + v[1] + (0 in self.predicates))
        if name == "IMAD.HI.U32":
            return self._set(out, (v[0] * v[1] >> 32) + v[2])
        values: dict[str, Callable[[], int]] = {
            "IMAD": lambda: v[0] * v[1] + v[2], "IADD3": lambda: sum(v), "MOV": lambda: v[0], "VIADD": lambda: v[0] + v[1],
            "SHF": lambda: v[2] >> v[1] if ".R." in name else v[0] << v[1]}
        self._set(out, values[family]())

    def _chosen(self, name: str, words: list[str]) -> None:
        """Comparisons: one sets predicate 0, the other takes the smaller number."""
        if name == "ISETP.NE.U32.AND":
            assert words[0] == "P0" and words[1] == "PT" and words[-1] == "PT"
            self.predicates = self.predicates - {0} | ({0} if self._value(words[2]) != self._value(words[3]) else set())
        else:
            one, other = (word for word in words[1:] if word != "PT")
            assert name in ("VIMNMX.U32", "IMNMX.U32", "UIMNMX.U32") and words[-1] == "PT", (name, words)
            self._set(words[0], min(self._value(one), self._value(other)))

    def _address(self, where: str, wide: bool) -> int:
        match = _ADDRESS.match(where)
        assert match, where
        offset = int(match[2] + (match[3] or "0"), 16) if match[3] else 0
        return (self._pair(f"R{match[1]}") if wide else self._value(f"R{match[1]}")) + offset

    def _store(self, memory: dict[int, int], name: str, where: str, what: str) -> None:
        address = self._address(where, memory is self.memory)
        for i in range({"STG.E.128": 4, "STG.E.64": 2, "STL.64": 2}[name]):
            memory[address + 4 * i] = 0 if what == "RZ" else self._value(f"R{int(what[1:]) + i}")

    def _load(self, name: str, words: list[str]) -> None:
        assert name == "LDL.64"
        address = self._address(words[1], False)
        self._set_pair(words[0], self.local[address] | self.local[address + 4] << 32)

    def _add_in_memory(self, name: str, words: list[str]) -> None:
        assert name == "ATOMG.E.ADD.64.STRONG.SYS"
        address = self._address(words[2], True)
        before = self.memory[address] | self.memory[address + 4] << 32
        after = before + self._pair(words[3])
        self.memory[address], self.memory[address + 4] = after & _MASK, after >> 32 & _MASK
        self._set_pair(words[1], before)

    def _from_first(self, name: str, words: list[str]) -> None:
        assert name == "SHFL.IDX" and words[3:] == ["RZ", "0x1f"]
        if self.lane == 0:
            self.said["word"] = self._value(words[2])
        self._set(words[1], self.said["word"])


def _next(word: str) -> str:
    letters = word.rstrip("0123456789")
    return f"{letters}{int(word[len(letters):]) + 1}"
