"""pdl.h, its conformance kit and its tools, as a package. `tree` is what a clone of the project holds."""

from __future__ import annotations

from pathlib import Path

TREE = Path(__file__).resolve().with_name("tree")


def include() -> str:
    """The folder of pdl.h and pdl_device.cuh, for a compiler's -I."""
    return str(TREE)
