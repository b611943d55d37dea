"""Compares a kernel before and after rewriting, as the toolkit's own disassembler reads both.

Only the instructions that were replaced may differ. Each of them must have become a branch into the code after
the kernel's end, and that code must hold the instruction itself and lead back to the one after it. Labels are replaced by
the addresses they stand for, so that a branch counts as the same only if it goes to the same place.
"""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_LABEL = re.compile(r"`\(([^)]+)\)")
_SECTION = "\t.section\t.text."
_BRANCH = re.compile(r"^BRA 0x([0-9a-f]+)$")


class Unreadable(Exception):
    """The disassembler could not read the image; the message is the disassembler's."""


@dataclass
class Code:
    """One code section: the instructions by address, labels resolved."""

    instructions: list[str] = field(default_factory=list)
    pending: list[tuple[int, str]] = field(default_factory=list)  # instructions with labels, to be resolved at the end
    labels: dict[str, int] = field(default_factory=dict)


def _resolved(code: Code) -> list[str]:
    for index, text in code.pending:
        code.instructions[index] = _LABEL.sub(
            lambda found: f"0x{code.labels[found[1]]:x}" if found[1] in code.labels else found[0], text)
    return code.instructions


def parse(listing: str) -> dict[str, list[str]]:
    """Section without .text. -> its instructions, one per 16 bytes."""
    found: dict[str, list[str]] = {}
    code = Code()
    name = ""
    for line in listing.splitlines():
        if line.startswith("        /*"):
            match = _INSTRUCTION.match(line)
            if match:
                text = match[2]
                if "`(" in text:
                    code.pending.append((len(code.instructions), text))
                code.instructions.append(text)
        elif line.startswith(_SECTION):
            if name:
                found[name] = _resolved(code)
            name, code = line[len(_SECTION) :].partition(",")[0], Code()
        elif line.endswith(":") and not line.startswith("\t"):
            code.labels[line[:-1]] = 16 * len(code.instructions)
    if name:
        found[name] = _resolved(code)
    return found


def disassemble(nvdisasm: Path, image: Path) -> dict[str, list[str]]:
    """All code of an image."""
    done = subprocess.run([str(nvdisasm), "-c", "-ndf", str(image)], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise Unreadable((done.stderr.strip().splitlines() or ["no message"])[-1])
    return parse(done.stdout)


def _guard_free(text: str) -> str:
    return text.split(" ", 1)[1].strip() if text.startswith("@") else text


def _is_last(text: str) -> bool:
    return text == "EXIT"


# What records times (PLAN_RECORD): the address is kept in one pair of registers, the time goes through the pair after it.
_ENTRY_KEEPS = re.compile(r"^MOV R(\d+), R\d+$")
_CLOCK = re.compile(r"^CS2R R(\d+), SR_GLOBALTIMERLO$")
_STAMP = re.compile(r"^STG\.E\.64 \[R(\d+)\+0x(20|28|30|38)\], R(\d+)$")
_ADDED = ("NANOSLEEP", "NOP")
# The same on the stack (PLAN_SPILL): a room of 64 bytes above the kernel's frame, and registers 4 to 7, which are saved there.
_TAKES_ROOM = re.compile(r"^(?:VIADD R1, R1, 0xffffffc0|IADD3 R1, PT, PT, R1, -0x40, RZ)$")
_SAVES = re.compile(r"^STL\.64 \[R1(?:\+(-?0x[0-9a-f]+))?\], R([46])$")
_LOADS = re.compile(r"^LDL\.64 R([46]), \[R1(?:\+(-?0x[0-9a-f]+))?\]$")


def _is_added(text: str) -> bool:
    text = _guard_free(text)
    return text.startswith(_ADDED) or any(form.match(text) for form in (_CLOCK, _STAMP, _TAKES_ROOM, _SAVES, _LOADS))


def spilling_problems(appended: list[str], frame: int) -> list[str]:
    """What is wrong with code that records times on the stack, above a frame of so many bytes; empty if nothing is."""
    keeps = appended.index("MOV R4, " + _source(appended, 4)) if _source(appended, 4) else len(appended)
    sites, wrong, saved = [_guard_free(text) for text in appended[keeps:]], [], set[str]()
    if [text.partition(",")[0] for text in sites[:2]] != ["MOV R4", "MOV R5"] or "STL.64 [R1+-0x40], R4" not in sites[:6]:
        return ["the record's address is not put on the stack"]
    if sum(bool(_TAKES_ROOM.match(text)) for text in sites) != 1:
        wrong.append("the kernel's stack is not moved below the record's address once")
    for text in sites[6:]:
        clock, stamp, save, load = (form.match(text) for form in (_CLOCK, _STAMP, _SAVES, _LOADS))
        if (clock and clock[1] != "6") or (stamp and (stamp[1], stamp[3]) != ("4", "6")):
            wrong.append(f"`{text}` uses other registers than R4 to R7")
        if save and int(save[1] or "0", 16) != frame + (8 if save[2] == "4" else 16):
            wrong.append(f"`{text}` saves to another place than its own")
        if load and int(load[2] or "0", 16) not in ((frame, frame + 8) if load[1] == "4" else (frame + 16,)):
            wrong.append(f"`{text}` loads from another place than its own")
        if save:
            saved.add(save[2])
        elif load and int(load[2] or "0", 16) != frame:
            saved.discard(load[1])
        elif text.startswith(("BRA", "ACQBULK", "PREEXIT")) and saved:
            wrong.append(f"`{text}` runs before R{', R'.join(sorted(saved))} are given back")
    return wrong


def recording_problems(appended: list[str], before: int, now: int) -> list[str]:
    """What is wrong with code that records times, in a kernel that had `before` registers and now has `now`; empty if nothing is."""
    moves = [int(match[1]) if (match := _ENTRY_KEEPS.match(text)) else -2 for text in appended]
    keeps = next(([one, other] for one, other in zip(moves, moves[1:], strict=False) if one >= 0 and other == one + 1), [])
    address = keeps[0] if keeps else -1
    if not keeps or address % 2 or address < before or now != address + 6 or now > 255:
        return [f"the record's address is kept in {keeps[:2]}, of a kernel with {before} registers that now has {now}"]
    wrong, sites = [], appended[appended.index(f"MOV R{address + 1}, {_source(appended, address + 1)}") :]
    for text in map(_guard_free, sites):
        clock, stamp = _CLOCK.match(text), _STAMP.match(text)
        if (clock and int(clock[1]) != address + 2) or (stamp and (int(stamp[1]), int(stamp[3])) != (address, address + 2)):
            wrong.append(f"`{text}` uses other registers than R{address} to R{address + 3}")
    return wrong


def _source(appended: list[str], register: int) -> str:
    return next((text.rpartition(" ")[2] for text in appended if text.startswith(f"MOV R{register}, R")), "")


def _lands(after: list[str], start: int, back: int, original: str) -> bool:
    """Whether the code at `start` holds the original instruction and then goes back (or ended there)."""
    for index in range(start, len(after)):
        if after[index] == original:
            if _is_last(original):
                return True
            following = next((text for text in after[index + 1 :] if not _is_added(text)), "")
            if following == f"BRA 0x{back:x}":
                return True
    return False


def differences(before: list[str], after: list[str]) -> list[str]:
    """What is wrong with the rewritten code; empty if nothing is."""
    wrong = []
    if len(after) < len(before):
        return ["it became shorter"]
    for index, original in enumerate(before):
        now = after[index]
        if now == original:
            continue
        branch = _BRANCH.match(now)
        target = int(branch[1], 16) if branch else 0
        if not branch or target % 16 or not 16 * len(before) <= target < 16 * len(after):
            wrong.append(f"at 0x{16 * index:x}: `{original}` became `{now}`")
        elif not _lands(after, target // 16, 16 * index + 16, original):
            wrong.append(f"at 0x{16 * index:x}: `{original}` is not where its branch leads, or does not lead back")
    return wrong


def changed(before: list[str], after: list[str]) -> int:
    """How many instructions were replaced by a branch."""
    return sum(one != other for one, other in zip(before, after, strict=False))


# ---- only what changed, as bytes: for surveys of whole libraries, because listing all their code would take days -----------------------


@dataclass
class Change:
    """One kernel's section: its bytes before and after, and the bytes appended."""

    section: str
    size: int
    places: list[int]  # offsets of changed instructions
    before: list[bytes]
    now: list[bytes]
    appended: bytes
    recording: tuple[int, int] | None = None  # where its code records times: the kernel's registers before and now
    frame: int | None = None  # where it does so on the stack: the bytes of the kernel's own frame


def code_sections(image: bytes) -> dict[str, bytes]:
    """Section without .text. -> its bytes, read from the section table alone."""
    table, count, names = struct.unpack_from("<Q", image, 40)[0], *struct.unpack_from("<HH", image, 60)
    count = count or struct.unpack_from("<Q", image, table + 32)[0]
    names = names if names != 0xFFFF else struct.unpack_from("<I", image, table + 40)[0]
    rows = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * i) for i in range(count)]
    base = rows[names][4]
    found = {}
    for row in rows:
        name = image[base + row[0] : image.index(b"\0", base + row[0])]
        if name.startswith(b".text.") and row[1] != 8:
            found[name[6:].decode(errors="replace")] = image[row[4] : row[4] + row[5]]
    return found


def _differing(code: bytes, now: bytes) -> list[int]:
    """Where instructions differ; by blocks first, because most are the same."""
    places = []
    for block in range(0, len(code), 4096):
        if code[block : block + 4096] != now[block : min(block + 4096, len(code))]:
            places += [at for at in range(block, min(block + 4096, len(code)), 16) if code[at : at + 16] != now[at : at + 16]]
    return places


def changes(before: bytes, after: bytes) -> list[Change] | str:
    """The sections that differ; a sentence if the images cannot be compared."""
    old, new = code_sections(before), code_sections(after)
    if old.keys() != new.keys():
        return "the code sections are not the same"
    found = []
    for name, code in old.items():
        if new[name] == code:
            continue
        now = new[name]
        if len(now) < len(code):
            return f"a section became shorter: {len(code)} to {len(now)} bytes"
        places = _differing(code, now)
        found.append(Change(name, len(code), places, [code[p : p + 16] for p in places], [now[p : p + 16] for p in places],
                            now[len(code) :]))
    return found


def _raw_listing(nvdisasm: Path, architecture: str, pieces: list[bytes], folder: Path) -> list[str]:
    """The pieces' instructions as text, with the targets of branches relative to the start of all pieces."""
    raw = folder / "pieces.bin"
    raw.write_bytes(b"".join(pieces))
    done = subprocess.run([str(nvdisasm), "-b", architecture.rstrip("af").upper().replace("_", ""), str(raw)],
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise Unreadable((done.stderr.strip().splitlines() or ["no message"])[-1])
    found = [match[2] for match in map(_INSTRUCTION.match, done.stdout.splitlines()) if match]
    if len(found) != sum(map(len, pieces)) // 16:
        raise Unreadable("it lists a different number of instructions than the code has")
    return found


_TARGET = re.compile(r"\b(BRA(?:\.U)?(?: !?U?P\d+,)?) (-?0x[0-9a-f]+)$")


def at_home(text: str, listed_at: int, home: int) -> str:
    """The text of an instruction with its branch's target as it is in the kernel."""
    return _TARGET.sub(lambda found: f"{found[1]} 0x{int(found[2], 16) - listed_at + home:x}", text)


def examine(nvdisasm: Path, architecture: str, found: list[Change], folder: Path) -> list[str]:
    """What is wrong with the changes; empty if nothing is."""
    pieces, wrong = [], []
    for change in found:
        pieces += [b"".join(change.before), b"".join(change.now), change.appended]
    texts, at = _raw_listing(nvdisasm, architecture, pieces, folder), 0
    for change in found:
        count = len(change.places)
        before = [at_home(texts[at + i], 16 * (at + i), change.places[i]) for i in range(count)]
        at += count
        now = [at_home(texts[at + i], 16 * (at + i), change.places[i]) for i in range(count)]
        at += count
        size = len(change.appended) // 16
        appended = [at_home(texts[at + i], 16 * (at + i), change.size + 16 * i) for i in range(size)]
        at += size
        wrong += _examine_one(change, before, now, appended)
        if change.recording:
            wrong += recording_problems(appended, *change.recording) if change.frame is None else spilling_problems(appended, change.frame)
    return wrong


def _examine_one(change: Change, before: list[str], now: list[str], appended: list[str]) -> list[str]:
    wrong = []
    end = change.size + 16 * len(appended)
    for place, original, text in zip(change.places, before, now, strict=True):
        branch = _BRANCH.match(text)
        target = int(branch[1], 16) if branch else 0
        if not branch or target % 16 or not change.size <= target < end:
            wrong.append(f"at 0x{place:x}: `{original}` became `{text}`")
        elif not _lands(appended, (target - change.size) // 16, place + 16, original):
            wrong.append(f"at 0x{place:x}: `{original}` is not where its branch leads, or does not lead back")
    return wrong
