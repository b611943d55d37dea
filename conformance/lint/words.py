"""The listing of code that needs no more than its words: each distinct instruction is disassembled once, wherever it stands.

nvdisasm takes about 30 microseconds for an instruction, nearly all of the time that lint takes, and a library of generated kernels
repeats most of them: one in ten is new. Its raw mode knows nothing of an image. So a function is left to its usual mode if a relocation
or a symbol says more of it than its words do, if the image has lines of the source, or if it calls, or jumps through a table. What is
left depends on where it stands only by the targets of its branches; they are recognised by the address at which the words are said to lie.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

from conformance.lint.processes import as_file, output_of
from conformance.pdlkit.cuda_programs import ToolFailed, tool
from conformance.pdlkit.elf import Cubin, Section

_WORD = 16  # bytes
_KEPT = ((1 << 128) - 1 ^ ((1 << 17) - 1) << 105).to_bytes(_WORD, "little")  # all but stall counts and scoreboards: no text shows them
_BASE = 0x5A5A0000000  # more digits than any operand of 32 bits has, so what begins like it is an address
_LINE = re.compile(r"^ */\*([0-9a-f]+)\*/(.*;) *$", re.MULTILINE)
_FIRST_DIGITS = "0x5a5"  # of these addresses
_ADDRESS = rf"{_FIRST_DIGITS}[9ab][0-9a-f]{{7}}\b"
_GUARD = r" *(?:@!?U?P\w+ )?"
_TARGETED = re.compile(rf"({_GUARD}(?:BRA|BSSY|WARPSYNC)\b[^;]*?)({_ADDRESS})( ?;)")  # no blank after a branch to itself
_BOUND = re.compile(rf"{_GUARD}(?:CALL|RET|BRX|BRXU|JMP|JMX|JMXU|LEPC|ULEPC|RPCMOV)\b")  # an image says more of these
_NAMES_ADDRESS = re.compile(_ADDRESS)
_MOST = 1_000_000  # distinct words that are remembered: about 250 MB
_RELOCATIONS = (4, 9)  # kinds of sections
_FEW = 1 << 19  # bytes of code; for less a second call of nvdisasm, half a second, is not worth it


class _Branch(NamedTuple):
    head: str  # up to its target
    distance: int  # bytes from itself to the target
    tail: str


class _Code(NamedTuple):
    """Of a section."""

    code: bytes
    words: list[bytes] | None  # None: they would take too much memory


_Text = str | _Branch | None  # None: only nvdisasm knows what it means where it stands
_known: dict[int, dict[bytes, _Text]] = {}  # by architecture; several threads add to it, and none takes anything out


def listings(cubin: Cubin, wanted: set[str], workplace: Path | None) -> dict[str, bytes]:
    """Section -> its listing, of those whose words are enough, as long as that saves time."""
    plain = _plain(cubin, wanted)
    if len(plain) < len(wanted) and sum(section.size for section in plain.values()) < _FEW:
        return {}
    codes = {name: _Code(code := cubin.bytes_of(section), _words(code)) for name, section in plain.items()}
    try:
        texts = _texts(cubin.sm, codes.values(), workplace)
    except ToolFailed:  # its usual mode may know better
        return {}
    found = ((name, _listing(name, [texts[word] for word in code.words or ()], cubin.marked(name))) for name, code in codes.items())
    return {name: listing for name, listing in found if listing is not None}


def learn(cubin: Cubin, wanted: set[str], workplace: Path | None) -> None:
    """Disassembles what is new in an image that is listed in several parts: one start of nvdisasm instead of one for each."""
    plain = _plain(cubin, wanted)
    if sum(section.size for section in plain.values()) >= _FEW:
        with suppress(ToolFailed):  # it will say so again
            _texts(cubin.sm, [_Code(cubin.bytes_of(section), None) for section in plain.values()], workplace)


def _plain(cubin: Cubin, wanted: set[str]) -> dict[str, Section]:
    """The sections of which nothing is said but their words."""
    if any("debug_line" in section.name and section.size for section in cubin.sections):
        return {}
    said = {section.info for section in cubin.sections if section.kind in _RELOCATIONS and section.size}
    said |= {symbol.section for symbol in cubin.symbols if symbol.value}
    sections = {section.name.removeprefix(".text."): section for section in cubin.text_sections if section.index not in said}
    return {name: section for name, section in sections.items() if name in wanted and cubin.section(section.name) is section}


def _words(code: bytes) -> list[bytes]:
    """The instructions without what no text shows."""
    kept = (int.from_bytes(code, "little") & int.from_bytes(_KEPT * (len(code) // _WORD), "little")).to_bytes(len(code), "little")
    return [kept[at : at + _WORD] for at in range(0, len(kept), _WORD)]


def _texts(sm: int, codes: Collection[_Code], workplace: Path | None) -> dict[bytes, _Text]:
    """Of the words of these sections, perhaps also of others."""
    known = _known.get(sm, {})
    new = _unknown(codes, known)
    if new and len(known) + len(new) > _MOST:
        known, new = {}, _unknown(codes, {})
    if new:
        known.update(zip(new, _disassembled(sm, list(new.values()), workplace), strict=True))
        _known[sm] = known
    return known


def _unknown(codes: Iterable[_Code], known: dict[bytes, _Text]) -> dict[bytes, bytes]:
    """Each word that is not known, with an instruction that has it: nvdisasm refuses some that wait for nothing."""
    return {word: one.code[_WORD * number : _WORD * number + _WORD]
            for one in codes for number, word in enumerate(one.words or _words(one.code)) if word not in known}


def _disassembled(sm: int, instructions: Sequence[bytes], workplace: Path | None) -> Iterator[_Text]:
    """What nvdisasm's raw mode says of instructions that have nothing to do with each other."""
    with as_file(b"".join(instructions), ".bin", workplace) as (path, handles):
        output = output_of([str(tool("nvdisasm")), "-b", f"SM{sm}", "-ndf", "-base", hex(_BASE), path], handles=handles)
    lines = _LINE.findall(output.decode(errors="replace"))
    if [int(address, 16) for address, _ in lines] != list(range(_BASE, _BASE + _WORD * len(instructions), _WORD)):
        raise ToolFailed("nvdisasm did not print each instruction once")
    return (_text(text, int(address, 16)) for address, text in lines)


def _text(text: str, address: int) -> _Text:
    branch = _TARGETED.fullmatch(text) if _FIRST_DIGITS in text else None
    if branch:
        return _Branch(branch[1], int(branch[2], 16) - address, branch[3])
    return None if _BOUND.match(text) or (_FIRST_DIGITS in text and _NAMES_ADDRESS.search(text)) else text


def _listing(function: str, texts: Sequence[_Text], marked: Iterable[int]) -> bytes | None:
    """As nvdisasm prints it but for the names of its labels; None if one of its words does not say enough."""
    heads = _addresses(1 << len(texts).bit_length())[: len(texts)]
    lines: list[Any] = list(texts)
    labels = {offset // _WORD for offset in marked if offset % _WORD == 0 and offset // _WORD < len(texts)}
    for number, text in [(number, text) for number, text in enumerate(texts) if text.__class__ is not str]:  # few
        target, rest = divmod(number * _WORD + text.distance, _WORD) if isinstance(text, _Branch) else (-1, 0)
        if not isinstance(text, _Branch) or rest or not 0 <= target < len(texts):
            return None
        labels.add(target)
        lines[number] = f"{text.head}`(.L_x_{target}){text.tail}"
    for label in labels:
        heads[label] = f".L_x_{label}:\n{heads[label]}"
    code = "\n".join(map(add, heads, lines))
    return f'\t.section\t.text.{function},"ax",@progbits\n{code}\n'.encode()


@lru_cache(maxsize=32)
def _addresses(count: int) -> list[str]:
    """What stands ahead of so many instructions."""
    return [f"        /*{_WORD * number:04x}*/" for number in range(count)]
