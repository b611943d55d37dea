"""Reads a report.json that is named on a command line; anything else is refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments


def read_report(path: Path) -> dict[str, Any]:
    """The report in this file, or in this folder."""
    file = path / "report.json" if path.is_dir() else path
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadArguments(f"{file}: {error.strerror}; name a report.json that `run` wrote") from None
    except ValueError:
        raise BadArguments(f"{file} is not valid JSON; name a report.json that `run` wrote") from None
    if not isinstance(report, dict) or not str(report.get("schema", "")).startswith("pdl-report/"):
        raise BadArguments(f"{file} is not a report of this kit; name a report.json that `run` wrote")
    return report
