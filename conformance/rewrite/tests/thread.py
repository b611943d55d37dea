"""Runs rewritten code one thread at a time, from the toolkit's own listing: only the instructions that such code is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_MASK, _WIDE = (1 << 32) - 1, (1 << 64) - 1
_ADDRESS = re.compile(r"^(?:desc\[UR\d+\])?\[R(\d+)(?:\.64)?(?:\+0x([0-9a-f]+))?\]$")


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
        return words | {grid: self.grid & _MASK, grid + 4: self.grid >> 32, stack: 0, 0x28: 0, descriptor: 1, descriptor + 4: 2}


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
        elif family == "STG":
            self._store(name, *words)
        elif family != "NOP":
            steps: dict[str, Callable[[str, list[str]], None]] = {
                "S2R": self._special, "S2UR": self._special, "CS2R": self._time, "LDC": self._constant, "LDCU": self._constant,
                "ULDC": self._constant}
            steps.get(family, self._compute)(name, words)

    def _time(self, name: str, words: list[str]) -> None:
        assert words[1] == "SR_GLOBALTIMERLO"
        self.clock += 100
        self._set_pair(words[0], self.clock)

    def _special(self, name: str, words: list[str]) -> None:
        which = {"SR_VIRTUALSMID": self.launch.multiprocessor}
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
            "IMAD": lambda: v[0] * v[1] + v[2], "MOV": lambda: v[0], "VIADD": lambda: v[0] + v[1],
            "SHF": lambda: v[2] >> v[1] if ".R." in name else v[0] << v[1]}
        self._set(out, values[family]())

    def _store(self, name: str, where: str, what: str) -> None:
        match = _ADDRESS.match(where)
        assert match
        address = self._pair(f"R{match[1]}") + int(match[2] or "0", 16)
        for i in range({"STG.E.128": 4, "STG.E.64": 2}[name]):
            self.memory[address + 4 * i] = 0 if what == "RZ" else self._value(f"R{int(what[1:]) + i}")


def _next(word: str) -> str:
    letters = word.rstrip("0123456789")
    return f"{letters}{int(word[len(letters):]) + 1}"
