"""Where the user wants something written: a file that is new or plain, and for --output a folder that is new, empty or of the kit.

So nothing of the user's is lost. A folder of the kit carries a mark. Only files whose names the kit gives are ever replaced in it,
and only plain files.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import shown
from conformance.pdlkit.read_report import Unreadable, read_json

MARK = ".pdl-output"
_TEXT = "The conformance kit of pdl made this folder and replaces its own files in it.\n"
_REPORT = "report.json"
_RESULT = re.compile(r"report\.json(\.([0-9a-f]{16}\.)?draft)?|report\.html|repro(-[A-Za-z0-9_.-]+)?\.cu|images/[0-9a-f]{16}\.cubin")
_GROWING = ("records.jsonl", "families.jsonl")


def output_path(text: str) -> Path:
    """A folder on the command line; an empty text would mean the folder that the command was called in."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("name a folder; this is empty")
    return Path(text)


def check_file(path: Path) -> None:
    """BadArguments if anything but a plain file stands where a file is to be written: a draft renamed over /dev/stdout removes that."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # there is nothing, or writing will say why it cannot be done
    if not stat.S_ISREG(mode):
        raise BadArguments(f"{shown(path.parent)}/{path.name} is a link or not a plain file; name another place")


@contextmanager
def in_one_step(path: Path) -> Iterator[Path]:
    """The file to write instead of this one, which it then replaces. So whoever reads sees the old content or the new one, and a disk that
    fills up costs neither. What is no plain file, such as /dev/stdout, is written to as it is.
    """
    final = path.resolve()
    try:
        mode = final.stat().st_mode
    except OSError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        yield path
        return
    draft = final.with_name(f".{final.name[:200]}.{os.getpid()}")
    try:
        yield draft
        if mode is not None:
            draft.chmod(stat.S_IMODE(mode))
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)


def _is_of_the_kit(folder: Path) -> bool:
    """Whether it has the mark, or the report of a kit that set no marks yet."""
    if (folder / MARK).is_file() and not (folder / MARK).is_symlink():
        return True
    try:
        report = read_json(folder / _REPORT)
    except Unreadable:
        return False
    return isinstance(report, dict) and str(report.get("schema", "")).startswith("pdl-report/")


def results(folder: Path) -> Iterator[Path]:
    """The files of an earlier run that would be taken for this one's."""
    for path in [*folder.iterdir(), *(folder / "images").glob("*")]:
        if _RESULT.fullmatch(path.relative_to(folder).as_posix()):
            yield path


def claim(folder: Path) -> None:
    """Mark the folder as the kit's; BadArguments if it holds files that are not, or anything but plain files under the kit's names."""
    if any(folder.iterdir()) and not _is_of_the_kit(folder):
        raise BadArguments(f"--output {shown(folder)}: there are files in it that this command did not make; name a new folder")
    for path in [*(folder / name for name in ("images", *_GROWING)), *results(folder)]:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if not (stat.S_ISDIR(mode) if path.name == "images" else stat.S_ISREG(mode)):
            raise BadArguments(f"--output {shown(folder)}: {path.name} in it is a link or not a plain file; name a new folder")
    (folder / MARK).write_text(_TEXT, encoding="utf-8")


def forget(folder: Path) -> None:
    """Remove what an earlier run left in the folder and would be taken for this one's."""
    for path in results(folder):
        path.unlink(missing_ok=True)
