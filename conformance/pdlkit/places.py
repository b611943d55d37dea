"""Where things lie in the tree, and where the kit builds: everything made goes below build/."""

from __future__ import annotations

from pathlib import Path

KIT = Path(__file__).resolve().parents[1]
ROOT = KIT.parent
RULES = KIT / "rules.toml"
KERNELS = KIT / "kernels"
BUILD = ROOT / "build"
REPORTS = BUILD / "reports"
SCHEMA = Path(__file__).with_name("report.schema.json")


def in_tree(path: Path) -> str:
    """The path as the project names it; of a path outside the tree only its last part."""
    try:
        return path.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return path.name


def shown(path: Path) -> str:
    """The path as a person at this terminal would type it; never for a report."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path.resolve())
