"""For every Python test: no skip that looks like a pass, and signals that a shell in the background has ignored are heard."""

from __future__ import annotations

import signal

import pytest

_skipped = 0


def pytest_configure() -> None:
    """What tests start inherits this; a program that ignores a signal would never end by it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what did not run."""
    global _skipped
    _skipped += report.skipped


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A session in which anything was skipped is itself skipped (77), unless it failed."""
    if exitstatus == 0 and _skipped:
        session.exitstatus = 77
