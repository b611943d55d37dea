"""Exit codes of every command, and the exceptions that carry them."""

from __future__ import annotations

OK = 0
FAILED = 1
CONFORMS = 0
VIOLATES = 1
UNPROVEN = 2
BAD_ARGUMENTS = 64
SETUP_IMPOSSIBLE = 69
INVALID = 70
NOT_APPLICABLE = 77
INTERRUPTED = 130


class KitExit(Exception):
    """Ends a command with one sentence for people and an exit code for scripts."""

    code = FAILED


class BadArguments(KitExit):
    """The command line (or a file named on it) cannot mean anything."""

    code = BAD_ARGUMENTS


class SetupImpossible(KitExit):
    """Something the command needs is missing; the sentence says what and where to put it."""

    code = SETUP_IMPOSSIBLE


class InvalidRun(KitExit):
    """The kit or the machine is in a state in which no verdict would mean anything."""

    code = INVALID
