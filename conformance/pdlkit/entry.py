"""Dispatches the command line and gives every way to end its exit code: 1 is only ever a verdict or a finding."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import signal
import sys
import traceback

from conformance.pdlkit import outputs
from conformance.pdlkit.exits import BAD_ARGUMENTS, INTERRUPTED, INVALID, OK, SETUP_IMPOSSIBLE, KitExit
from conformance.pdlkit.places import INSTALLED, PROGRAM, escaped

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
    "report": ("conformance.reports.report", "pages and interchange files from one report.json"),
    "diff": ("conformance.reports.diff", "compare two reports: same, worse or better"),
    "replay": ("conformance.reports.replay", "repeat one trial of a run and say how often it went wrong"),
    "submit": ("conformance.reports.submit", "check a result before it goes into the public record"),
    "site": ("conformance.reports.site", "make the static site of the public record"),
    "fleet": ("conformance.fleet", "many GPUs by Slurm, and health checks of nodes"),
    "dev": ("conformance.dev", "tools for those who change the kit"),
}

FOR_A_CLONE = ("test",)  # what the installed package does not carry

# What a machine can refuse that no command can mend: an error of any other kind is the kit's own.
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
           errno.EFBIG)


def _available() -> dict[str, tuple[str, str]]:
    here = {name: entry for name, entry in COMMANDS.items() if importlib.util.find_spec(entry[0])}
    return {name: entry for name, entry in here.items() if not (INSTALLED and name in FOR_A_CLONE)}


def _help() -> str:
    rows = "".join(f"  {name:<8} {text}\n" for name, (_, text) in _available().items())
    return f"usage: {PROGRAM} COMMAND [options]\n\n{rows}\nEvery command has --help."


def main(argv: list[str]) -> int:
    """Run the command; a KitExit becomes its sentence on stderr and its exit code."""
    outputs.prepare()
    os.umask(os.umask(0) | 0o022)  # whatever the user's umask: nothing that is made can be written by others
    _end_in_order()
    name = argv[0] if argv else ""
    try:
        code = _guarded(name, argv)
        reason = outputs.lost()
    except BrokenPipeError:  # the reader (head, less) has gone; nothing more can be said
        return INTERRUPTED
    if reason is not None:
        _say(name, f"its output cannot be written: {reason}")
        return code or INVALID
    return code


def _end_in_order() -> None:
    """Have the signals that end a process end it like Ctrl-C, so that what it made for itself is removed."""
    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def _say(command: str, text: str) -> None:
    print(f"conformance {escaped(command)}: {text}" if command else f"conformance: {text}", file=sys.stderr, flush=True)


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] in ("-h", "--help", "help"):
        print(_help())
        return OK
    if not argv:
        print(_help(), file=sys.stderr)
        return BAD_ARGUMENTS
    entry = _available().get(argv[0])
    if entry is None:
        print(f"conformance: there is no command `{escaped(argv[0])}`\n\n{_help()}", file=sys.stderr)
        return BAD_ARGUMENTS
    return int(importlib.import_module(entry[0]).main(argv[1:]))


def _guarded(name: str, argv: list[str]) -> int:
    """The command's exit code, whatever happens in it; only a stdout that is gone is left to the caller."""
    try:
        return _dispatch(argv)
    except KitExit as stop:
        _say(name, escaped(str(stop)))
        return stop.code
    except KeyboardInterrupt:
        _say(name, "interrupted")
        return INTERRUPTED
    except SystemExit as stop:  # argparse's, for --help
        return stop.code if isinstance(stop.code, int) else OK if stop.code is None else INVALID
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refused(name, error)
    except MemoryError:
        _say(name, "this machine refuses: out of memory")
        return SETUP_IMPOSSIBLE
    except Exception:  # Python would end with 1, which says VIOLATES or "a race was found"
        return _own_error(name)


def _refused(name: str, error: OSError) -> int:
    if error.errno not in REFUSED:
        return _own_error(name)
    where = f"{escaped(str(error.filename))}: " if error.filename else ""
    _say(name, f"this machine refuses: {where}{error.strerror}")
    return SETUP_IMPOSSIBLE


def _own_error(name: str) -> int:
    traceback.print_exc()
    _say(name, "this is an error of the kit itself; nothing was judged")
    return INVALID
