"""python3 conformance COMMAND: the one entry point of the kit; each command is imported only when called."""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036  older ones must be able to read this file and get a sentence
    sys.stderr.write("the conformance kit needs Python 3.11 or newer; this is %s\n" % sys.version.split()[0])  # noqa: UP031
    sys.exit(69)

if not __package__:  # `python3 conformance` puts this folder on the path instead of the one that holds the package
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from conformance.pdlkit.entry import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
