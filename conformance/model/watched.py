"""Compares which words the cases of kind api look at with what is recorded.

    python3 conformance dev watched --harness PATH            # 1 if a case looks at other words; it is named
    python3 conformance dev watched --sample 3 --harness PATH # the same for one word of three in each place
    python3 conformance dev watched --write --harness PATH    # record what they look at now, after a change that was meant

`dev golden` records answers. On a device that conforms they stay as they are when the host looks at one word of sixteen only, and
not every such loss has a broken device that would escape. So here is recorded what becomes of the answers when one word that the
device wrote for the host is one more, or one less. What the cases call, and which answers of calls they compare,
harness/tests/tampered_test.c asks. PATH is pdl-harness-watched, the model's harness with harness/tests/watched.c and asked.c.

Of the families that launch pairs, or programs that they draw, a digest is recorded of every call with what it is given: a stream, an
edge or a size that is another one launches another pair, which may be as right as the one that was meant. Of the families with software
waits that fail on purpose a digest is recorded of what is said where these are run: a run on the model leaves them out, because it has
broken devices instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from conformance.model import golden, on_model
from conformance.model.recorded import compare_or_write
from conformance.pdlkit import places
from conformance.pdlkit.exits import InvalidRun
from conformance.pdlkit.rules import Case

FILE = places.KIT / "model" / "watched.json"
ALL = 64  # of places of so many words each one is falsified
LOOKS = 32  # of larger ones so many, spread over the place
LONG = {"MEM-10a.within": 4, "MEM-10.handed": 8, "COMP-16.blocks": 4}  # cases that take long, and of how many words in each place
SLOW = ("programs", "handed", "crossed_graphs")  # hundreds of drawn programs each: of these the calls are recorded, not the words
WAYS = (1, -1)  # what is added to a word: what is only compared whether it is less, or more, shows with one of them
RUNS = 4  # of the other families, with one seed
CASE_S = 60.0
NOT_ASKED = "?"  # the mark of a word that a sample leaves out
Watched = dict[str, list[str]]  # by case: each place that the device writes for the host, its bytes, and for each way a mark for each word


def _run(
    harness: Path, arguments: Sequence[str], told: Path, falsify: str | None = None, tell: str = "PDL_WATCHED"
) -> list[dict[str, Any]] | None:
    """The records; None if the harness died or did not end: a word that its own kernels rely on was another one."""
    extra = {tell: str(told)} | ({"PDL_FALSIFY": falsify} if falsify else {})
    try:
        done = subprocess.run([harness, *arguments], env={**os.environ, **extra}, capture_output=True, text=True, timeout=CASE_S,
                              stdin=subprocess.DEVNULL)
        return [json.loads(line) for line in done.stdout.splitlines()]
    except (subprocess.TimeoutExpired, ValueError):
        return None


def _answers(records: list[dict[str, Any]] | None) -> dict[str, str] | None:
    """Each answer of the case by its question."""
    said = next((record for record in records or () if record["record"] == "case"), None)
    if said is None:
        return None
    rows = said.get("answers", [])
    return {f"{number} {row['what']}": row["answer"] for number, row in enumerate(rows)} | {"status": said["status"]}


def _told(path: Path) -> list[int]:
    """The sizes of the places."""
    return [int(line) for line in path.read_text(encoding="ascii").split()]


def _mark(before: dict[str, str], now: dict[str, str] | None) -> str:
    """What one falsified word did: `.` nothing, `-` something and the case did not fail, else how many answers changed; `!` no answers."""
    if now is None:
        return "!"
    if now == before:
        return "."
    changed = sum(now.get(what) != answer for what, answer in before.items() if what != "status")
    return str(min(changed, 9)) if now["status"] == "FAIL" else "-"


def _case(harness: Path, case: Case, own: int, sample: int) -> list[str]:
    arguments = ["--seed", "1", "--profile", "smoke", "--family", case.family, "--case", case.name]
    looks = next((few for name, few in LONG.items() if case.name.startswith(f"{name}.")), None)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        before = _answers(_run(harness, arguments, told))
        if before is None:
            raise InvalidRun(f"{case.name} gives no answers")

        def mark(add: int, place: int, byte: int) -> str:
            return _mark(before, _answers(_run(harness, arguments, told, f"{place}:{byte}:{add}")))

        def marks(place: int, size: int) -> str:
            if all(mark(add, place, -1) == "." for add in WAYS):
                return "nothing"
            return " ".join(_marks(_bytes(size, looks), sample, partial(mark, add, place)) for add in WAYS)

        return [f"{size}: {marks(place, size)}" for place, size in enumerate(_told(told))
                if place >= own]  # those of mutants are not looked at while the base fails


def _marks(looked_at: list[int], sample: int, mark: Callable[[int], str]) -> str:
    """A mark for each word, NOT_ASKED for one that the sample leaves out. The last word is always asked."""
    last = len(looked_at) - 1
    return "".join(mark(byte) if (last - i) % sample == 0 else NOT_ASKED for i, byte in enumerate(looked_at))


def _bytes(size: int, looks: int | None) -> list[int]:
    """Of which words the first byte is another one: all of few, else some, the last among them; `looks` of a case that takes long."""
    words, some = (size + 3) // 4, looks or LOOKS
    spread = sorted({i * (words - 1) // (some - 1) for i in range(some)})
    return [4 * word for word in (range(words) if words <= (looks or ALL) else spread)]


def _calls(harness: Path, family: str) -> list[str]:
    """The digest of what this family calls, and how often it calls. Each run has its memory elsewhere, and has to say the same."""
    said = set[str]()
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        for _ in range(1 if family in SLOW else RUNS):
            records = _run(harness, ["--seed", "1", "--profile", "smoke", "--family", family], told, tell="PDL_ASKED")
            if records is None or not told.is_file():
                raise InvalidRun(f"{harness.name} does not tell what {family} calls")
            said.add(golden.digest(records) + told.read_text(encoding="ascii"))
        if len(said) > 1:
            raise InvalidRun(f"{family} says something else from run to run with one seed: an address or the time decides what it does")
        return told.read_text(encoding="ascii").split("\n")[:1]


def _broken_waits(harness: Path, family: str) -> list[str]:
    """The digest of what is said where the software waits are run that fail."""
    with tempfile.TemporaryDirectory() as folder:
        records = _run(harness, ["--seed", "1", "--profile", "smoke", "--family", family], Path(folder, "told"), tell="PDL_BROKEN_WAITS")
    if not any(record.get("kind") == "broken_wait" and record.get("status") == "KILLED" for record in records or ()):
        raise InvalidRun(f"{harness.name} finds no broken wait of {family}")
    return [golden.digest(records or ())]


def launching(families: Container[str] | None) -> list[str]:
    """The families, or those of these, of which the calls are recorded: no case of them is of kind api, or their words are not watched."""
    found = on_model.by_family(on_model.capable(on_model.load_book()))
    return [family for family, own in found.items() if (family in SLOW or all(case.kind != "api" for case in own))
            and (families is None or family in families)]


def waiting(families: Container[str] | None) -> list[str]:
    """The families, or those of these, that have software waits which fail."""
    found = dict.fromkeys(case.family for case in on_model.capable(on_model.load_book()) if case.broken_waits)
    return [family for family in found if families is None or family in families]


def cases(families: Container[str] | None) -> list[Case]:
    """The cases that are watched, or those of these families."""
    return [case for case in on_model.capable(on_model.load_book()) if case.kind == "api" and (families is None or case.family in families)
            and case.family not in SLOW and not case.name.startswith(golden.THREADED)]


def first_difference(harness: Path, recorded: Watched, families: Container[str]) -> str | None:
    """A case of these families that looks at other words than are recorded."""
    now = watch(harness, families=families)
    return next((name for name in now if not _same(now[name], recorded.get(name, []))), None)


def other_calls(harness: Path, recorded: Watched, families: Container[str] | None = None) -> str | None:
    """A family, or one of these, that calls otherwise than is recorded; no word is falsified."""
    return next((family for family in launching(families) if _calls(harness, family) != recorded.get(f"calls of {family}")), None)


def watch(harness: Path, sample: int = 1, families: Container[str] | None = None) -> Watched:
    """What every case of kind api looks at, or of these families; with a sample of N one word of N is looked at in each place."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        if _run(harness, ["--probe"], told) is None or not told.is_file():
            raise InvalidRun(f"{harness.name} tells nothing: it is not pdl-harness-watched")
        own = len(_told(told))
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        asked, called, waits = cases(families), launching(families), waiting(families)
        found = dict(zip((f"calls of {family}" for family in called), pool.map(partial(_calls, harness), called), strict=True))
        found |= dict(zip((f"broken waits of {family}" for family in waits), pool.map(partial(_broken_waits, harness), waits), strict=True))
        looked_at = pool.map(lambda case: _case(harness, case, own, sample), asked)
        return found | dict(zip((case.name for case in asked), looked_at, strict=True))


def differences(now: Watched, recorded: Watched) -> list[str]:
    """Cases that look at other words, are new, or have gone."""
    found = [f"{name}: is not recorded" for name in now if name not in recorded]
    found += [f"{name}: is recorded and was not run" for name in recorded if name not in now]
    found += [f"{name}: looks at other words: {now[name]} instead of {recorded[name]}" for name in now
              if name in recorded and not _same(now[name], recorded[name])]
    return found


def _same(now: list[str], recorded: list[str]) -> bool:
    """Whether all words that were looked at have their recorded marks."""
    return len(now) == len(recorded) and all(
        len(place) == len(known) and all(mark in (NOT_ASKED, its) for mark, its in zip(place, known, strict=True))
        for place, known in zip(now, recorded, strict=True))


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    return compare_or_write("watched", "which words cases of kind api look at, and what is recorded", FILE, watch, differences, argv,
                            sampled=watch)
