"""`python3 .../pdlkit/stress PART ...`: how the wrapper scripts start a part, from any folder and any environment."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pdlkit.exits import KitExit  # noqa: E402
from pdlkit.stress import main  # noqa: E402

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KitExit as stop:
        print(f"conformance stress: {stop}", file=sys.stderr)
        sys.exit(stop.code)
