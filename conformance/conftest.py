"""For every Python test: no skip that looks like a pass."""

from __future__ import annotations

import pytest

_skipped = 0


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what did not run."""
    global _skipped
    _skipped += report.skipped


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A session in which anything was skipped is itself skipped (77), unless it failed."""
    if exitstatus == 0 and _skipped:
        session.exitstatus = 77
