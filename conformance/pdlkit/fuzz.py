"""Feeds the readers of files with damaged ones: each may refuse what it is given, in the way it says, and nothing else.

    python3 -m conformance.pdlkit.fuzz [TARGET...] [--seconds N]

The short run is a test (test_fuzz.py); the long one is `python3 conformance dev fuzz`, which calls this and also knows the code in C.
Inputs come from hypothesis: pieces of the files in tests/corpus, changed, cut, repeated and put together, and bytes of any kind. N counts
CPU time, because a busy machine should not make a run worth less. The command ends with 0, or with 1 and the smallest input found that
makes a reader fail.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, reduce
from pathlib import Path
from typing import IO, Any

from conformance.pdlkit import places
from conformance.pdlkit.checked_lines import Damaged, read_lines
from conformance.pdlkit.elf import CorruptFile, Cubin
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.pdlkit.machine_code import cubins_in
from conformance.pdlkit.read_report import Unreadable, checked_report, parse_json
from conformance.pdlkit.records import Session
from conformance.pdlkit.venv import ensure_venv

CORPUS = places.KIT / "pdlkit" / "tests" / "corpus"
ROUND = 2000  # examples between two looks at the clock


def _records(data: bytes) -> None:
    """What a child of the harness writes."""
    session = Session("family", ["WAIT-01.store.widened.stream", "ATTR-05.zero.widened.stream"])
    for line in data.decode("utf-8", "replace").split("\n"):
        session.take(line)


@cache
def _scratch() -> IO[bytes]:
    return tempfile.NamedTemporaryFile(prefix="pdl-fuzz-")  # removed with this process


def _checked_lines(data: bytes) -> None:
    """records.jsonl and families.jsonl."""
    file = Path(_scratch().name)
    file.write_bytes(data)
    with contextlib.suppress(Damaged, Unreadable):
        read_lines(file)


def _report(data: bytes) -> None:
    """report.json."""
    with contextlib.suppress(Unreadable):
        checked_report(parse_json(data.decode("utf-8", "replace")))


def _elf(data: bytes) -> None:
    """A cubin, with everything that tools ask of it."""
    with contextlib.suppress(CorruptFile):
        cubin = Cubin(data)
        for name in ("symbols", "kernels", "sm", "virtual_sm", "text_sections", "constant4", "initialised_symbols", "function_names",
                     "homes", "function_addresses"):
            getattr(cubin, name)
        for kernel in cubin.kernels[:8]:
            cubin.kernel_info(kernel)
            cubin.code_table(kernel)
            cubin.constant2(kernel)
            cubin.tables(kernel)
        for section in cubin.sections[:64]:
            cubin.may_contain(section, frozenset({0x82E, 0x94D}))


def _fatbin(data: bytes) -> None:
    """Containers of machine code inside any file."""
    cubins_in(data)


TARGETS: dict[str, tuple[Callable[[bytes], None], tuple[str, ...]]] = {  # reader, files of the corpus
    "records": (_records, ("records.txt",)), "checked-lines": (_checked_lines, ("families.jsonl",)), "report": (_report, ("report.json",)),
    "elf": (_elf, ("tiny.cubin",)), "fatbin": (_fatbin, ("tiny.fatbin",)),
}


def _changed(data: bytes, change: tuple[str, int, int, bytes]) -> bytes:
    """The file after one change."""
    how, here, there, new = change
    if how == "write":
        return data[:here] + new + data[here + len(new):]
    if how == "insert":
        return data[:here] + new + data[here:]
    if how == "cut":
        return data[:here] + data[max(here, there):]
    if how == "copy":
        return data[:here] + data[there:there + 256] + data[here:]
    return data[:here]


def inputs(target: str) -> Any:
    """hypothesis's strategy for the files of a target: a file of the corpus after up to eight changes, or any bytes."""
    from hypothesis import strategies as st

    seeds = [(CORPUS / name).read_bytes() for name in TARGETS[target][1]]
    at = st.integers(0, max(map(len, seeds)) - 1)
    numbers = [value.to_bytes(width, "little") for width in (1, 2, 4, 8) for value in (0, 1, 2**(8 * width - 1), 2**(8 * width) - 1)]
    piece = st.one_of(st.binary(max_size=8), st.sampled_from(numbers))
    change = st.tuples(st.sampled_from(["write", "insert", "cut", "copy", "end"]), at, at, piece)

    def changed(seed: bytes, changes: list[tuple[str, int, int, bytes]]) -> bytes:
        return reduce(_changed, changes, seed)

    return st.one_of(st.builds(changed, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=8)), st.binary(max_size=512))


def _fuzz(target: str, seconds: float) -> int:
    """Examples run; what a reader raises, hypothesis makes small and shows."""
    from hypothesis import HealthCheck, given, settings

    reader, until, count = TARGETS[target][0], time.process_time() + seconds, 0

    @settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs(target))
    def once(data: bytes) -> None:
        nonlocal count
        count += 1
        reader(data)

    while time.process_time() < until:
        once()
    return count


def main(argv: list[str]) -> int:
    """Fuzz for a time; 0 if no reader failed, 1 if one did."""
    parser = argparse.ArgumentParser(description="feed the readers of files with damaged ones")
    parser.add_argument("target", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU time, for each target (60)")
    options = parser.parse_args(argv)
    for target in options.target:
        if target not in TARGETS:
            raise BadArguments(f"there is no target {target}; say {', '.join(TARGETS)}")
    sys.path += map(str, ensure_venv("test").parents[1].glob("lib/python3*/site-packages"))
    failed = 0
    for target in options.target or TARGETS:
        began = time.process_time()
        try:
            count = _fuzz(target, options.seconds)
            print(f"{target}: {count:,} inputs in {time.process_time() - began:.0f} s of CPU time, no failure", flush=True)
        except Exception as error:
            failed += 1
            print(f"{target}: {type(error).__name__}: {error}\n" + "\n".join(getattr(error, "__notes__", [])), flush=True)
    return FAILED if failed else OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
