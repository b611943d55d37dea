"""The command `pdl`: the same code that `python3 conformance` runs in a clone."""

from __future__ import annotations

import importlib
import sys

from pdl_conformance import TREE


def main() -> int:
    """Run a command. The tree comes first, because another package may be called `conformance`, too."""
    sys.path.insert(0, str(TREE))
    return int(importlib.import_module("conformance.__main__").main(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
