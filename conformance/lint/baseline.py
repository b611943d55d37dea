"""Baselines: the findings that were there when lint was introduced. Only what is new fails."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from conformance.lint.findings import HINT, Finding
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.output_folder import in_one_step
from conformance.pdlkit.read_report import Unreadable, read_json

_SCHEMA = "pdl-lint-baseline-1"


def load(path: Path) -> frozenset[str]:
    """The fingerprints of one baseline; what lint printed with --json is one as well."""
    try:
        return frozenset(str(row["fingerprint"]) for row in read_json(path)["findings"])
    except Unreadable as reason:
        raise BadArguments(f"{path}: {reason}; --write-baseline makes one") from None
    except (LookupError, TypeError):
        raise BadArguments(f"{path}: it is not a baseline; --write-baseline makes one") from None


def write(path: Path, findings: Iterable[Finding]) -> int:
    """Writes a baseline of these findings and says how many they are; a line each, sorted, so that changes of it can be read."""
    rows = {(f.kernel, f.id, f.fingerprint): f.message for f in findings if f.severity != HINT and f.suppressed is None and f.kernel}
    lines = [json.dumps({"fingerprint": fingerprint, "kernel": kernel, "id": rule, "message": message})
             for (kernel, rule, fingerprint), message in sorted(rows.items())]
    try:
        with in_one_step(path) as draft:
            draft.write_text(f'{{"schema": "{_SCHEMA}", "findings": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    except OSError as error:
        raise SetupImpossible(f"{path}: {error.strerror}") from None
    return len(rows)
