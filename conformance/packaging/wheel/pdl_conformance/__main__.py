"""The command `pdl`: the same code that `python3 conformance` runs in a clone."""

from __future__ import annotations

import sys

from pdl_conformance import TREE


def main() -> int:
    """Run a command."""
    sys.path.insert(0, str(TREE))
    from conformance.__main__ import main as commands

    return commands(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
