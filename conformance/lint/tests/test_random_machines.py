"""Random machines against running them. The full count: python3 conformance dev random-machines --count 100000."""

from __future__ import annotations

from conformance.lint.tests.random_machines import disagreements, found_by_lint, random_machine, truth


def test_lint_and_the_run_agree() -> None:
    assert disagreements(range(1200)) == []


def test_machines_are_worth_asking_about() -> None:
    """Both answers occur often, also for reads that only a barrier makes safe."""
    machines = [random_machine(seed) for seed in range(300)]
    early = sum(bool(truth(m)) for m in machines)
    ordered = sum(any(m.meetings) and bool(truth(m)) and len(truth(m)) < 12 for m in machines)
    assert 60 < early and ordered > 60


def test_a_barrier_that_is_passed_over_is_noticed() -> None:
    """The check can fail: once threads that wait at a barrier only arrive there, the truth is no longer what lint found."""
    machines = [random_machine(seed) for seed in range(200)]
    before = found_by_lint(machines)
    for machine in machines:
        for meeting in machine.meetings:
            if meeting.kind != "cluster":
                meeting.arriving += meeting.waiting
                meeting.waiting = []
    assert sum(old != truth(machine) for old, machine in zip(before, machines, strict=True)) > 20
