"""python3 -m pdlkit.bench, with conformance/ on the path: bench without the command line around it."""

import sys

from pdlkit.bench import main
from pdlkit.exits import KitExit

try:
    sys.exit(main(sys.argv[1:]))
except KitExit as stop:
    print(f"bench: {stop}", file=sys.stderr)
    sys.exit(stop.code)
