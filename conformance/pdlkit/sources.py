"""Ties a recorded result to the code that was judged, also where the tree was copied without its history."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pdlkit.places import KIT, ROOT

_NOT_ON_A_DEVICE = {"tests", "on_model"}
_JUDGED = (ROOT / "pdl.h", ROOT / "pdl_device.cuh", KIT / "rules.toml", KIT / "harness", KIT / "kernels")


def digest() -> str:
    """16 hexadecimal digits over the names and bytes of the headers, the rule book, the harness and the kernels."""
    files = [path for place in _JUDGED for path in ([place] if place.is_file() else place.rglob("*"))
             if path.is_file() and not _NOT_ON_A_DEVICE.intersection(path.relative_to(ROOT).parts)]
    state = hashlib.sha256()
    for path in sorted(files, key=lambda file: file.relative_to(ROOT).as_posix()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        state.update(f"{path.relative_to(ROOT).as_posix()} {content}\n".encode())
    return state.hexdigest()[:16]


def recorded(folder: Path = KIT / "results") -> list[tuple[str, str | None]]:
    """Name and source digest of every recorded report; None: it was recorded before reports had one."""
    found = []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        if isinstance(data, dict) and data.get("schema") == "pdl-report/1":
            found.append((path.name, data["suite"].get("sources")))
    return found
