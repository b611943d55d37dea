"""Where things lie in the tree, and where the kit builds: everything made goes below build/.

The installed package holds the same tree with its C parts prebuilt. It is never written to: what has to be made all the same goes
into the user's cache, and reports into the current folder.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

KIT = Path(__file__).resolve().parents[1]
ROOT = KIT.parent
RULES = KIT / "rules.toml"
KERNELS = KIT / "kernels"
PREBUILT = ROOT / "prebuilt"
INSTALLED = PREBUILT.is_dir()
PROGRAM = "pdl" if INSTALLED else "python3 conformance"


def _cache() -> Path:
    """Of the installed package, by the place of its tree: two versions never share what they built."""
    home = os.environ.get("XDG_CACHE_HOME")
    base = Path(home) if home and Path(home).is_absolute() else Path("~/.cache").expanduser()
    return base / "pdl-conformance" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]


BUILD = _cache() if INSTALLED else ROOT / "build"
REPORTS = Path("pdl-reports").resolve() if INSTALLED else BUILD / "reports"
SCHEMA = Path(__file__).with_name("report.schema.json")


_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def escaped(text: str) -> str:
    """The text with each character that would end a line, move the cursor or turn the direction written as an escape."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def prebuilt(name: str) -> Path | None:
    """A program or library that the installed package carries."""
    path = PREBUILT / name
    return path if path.is_file() and (path.suffix == ".so" or os.access(path, os.X_OK)) else None


def in_tree(path: Path) -> str:
    """The path as the project names it; of a path outside the tree only its last part."""
    try:
        return escaped(path.resolve().relative_to(ROOT).as_posix())
    except (ValueError, OSError, RuntimeError):  # a loop of links, for one
        return escaped(path.name)


def shown(path: Path) -> str:
    """The path as a person at this terminal would type it; never for a report."""
    try:
        return escaped(path.resolve().relative_to(Path.cwd()).as_posix())
    except (ValueError, OSError, RuntimeError):
        return escaped(str(path.absolute()))
