"""python3 conformance COMMAND: the one entry point of the kit; each command is imported only when called."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path

if sys.version_info < (3, 11):  # before any import that would fail obscurely
    print("the conformance kit needs Python 3.11 or newer; this is " + sys.version.split()[0], file=sys.stderr)
    sys.exit(69)

if not __package__:  # `python3 conformance` puts this folder on the path instead of the one that holds the package
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from conformance.pdlkit.exits import BAD_ARGUMENTS, INTERRUPTED, INVALID, SETUP_IMPOSSIBLE, KitExit  # noqa: E402

COMMANDS = {
    "run": ("conformance.pdlkit.run", "judge this GPU and driver (or the model) and write report.json"),
    "test": ("conformance.pdlkit.selftest", "every test that needs no GPU"),
    "list": ("conformance.pdlkit.list_rules", "rules, cases and mutants"),
    "doctor": ("conformance.pdlkit.doctor", "what this machine can run, and what is in the way"),
    "lint": ("conformance.lint", "static check of machine code for missing waits"),
    "stress": ("conformance.stress", "run a program with the window of its overlapping kernels widened"),
    "trace": ("conformance.trace", "what overlapped in a program, what did not, and why, per pair of kernels"),
    "whatif": ("conformance.trace.whatif", "what PDL would give an unchanged program, measured"),
    "bench": ("conformance.bench", "what PDL is worth on this GPU"),
    "dev": ("conformance.dev", "tools for those who change the kit"),
}

# What a machine can refuse that no command can mend: an error of any other kind is the kit's own.
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def _available() -> dict[str, tuple[str, str]]:
    return {name: entry for name, entry in COMMANDS.items() if importlib.util.find_spec(entry[0])}


def _help() -> str:
    rows = "".join(f"  {name:<8} {text}\n" for name, (_, text) in _available().items())
    return f"usage: python3 conformance COMMAND [options]\n\n{rows}\nEvery command has --help."


def main(argv: list[str]) -> int:
    """Dispatch; a KitExit becomes its sentence on stderr and its exit code."""
    if argv and argv[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if not argv:
        print(_help(), file=sys.stderr)
        return BAD_ARGUMENTS
    entry = _available().get(argv[0])
    if entry is None:
        print(f"conformance: there is no command `{argv[0]}`\n\n{_help()}", file=sys.stderr)
        return BAD_ARGUMENTS
    try:
        return int(importlib.import_module(entry[0]).main(argv[1:]))
    except KitExit as stop:
        print(f"conformance {argv[0]}: {stop}", file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        print(f"conformance {argv[0]}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, less) has gone; nothing more can be said on stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except OSError as error:
        if error.errno not in REFUSED:
            return _own_error(argv[0])
        where = f"{error.filename}: " if error.filename else ""
        print(f"conformance {argv[0]}: this machine refuses: {where}{error.strerror}", file=sys.stderr)
        return SETUP_IMPOSSIBLE
    except Exception:  # Python would end with 1, which says VIOLATES or "a race was found"
        return _own_error(argv[0])


def _own_error(command: str) -> int:
    traceback.print_exc()
    print(f"conformance {command}: this is an error of the kit itself; nothing was judged", file=sys.stderr)
    return INVALID


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
