"""The benchmark holds lint to the cores that the goals are for, and says when other work was in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from conformance.lint.benchmark import Row, Run, _chosen, _groups, _started, as_markdown
from conformance.pdlkit.exits import BadArguments


def _row(wall: float, cpu: float, others: float) -> Row:
    run, cached = Run(wall, cpu, 100.0, others), Run(1.0, 1.0, 100.0, others)
    return Row("a.so", 1000.0, 0, 0, 0, run, cached, cached)


def test_a_child_is_held_to_the_cores_and_its_parent_is_not() -> None:
    own, cores = os.sched_getaffinity(0), _chosen(1)
    child = _started([sys.executable, "-c", "import json, os; print(json.dumps(sorted(os.sched_getaffinity(0))))"], cores,
                     stdout=subprocess.PIPE)
    assert json.loads(child.communicate()[0]) == cores
    assert os.sched_getaffinity(0) == own


def test_no_core_is_chosen_twice() -> None:
    at_hand = os.sched_getaffinity(0)
    assert sorted(_chosen(len(at_hand))) == sorted(at_hand)


def test_files_that_are_measured_at_once_have_cores_of_their_own() -> None:
    at_hand = os.sched_getaffinity(0)
    groups = _groups(1, len(at_hand))
    assert sorted(groups.get() for _ in at_hand) == [[core] for core in sorted(at_hand)]
    with pytest.raises(BadArguments, match="cores here"):
        _groups(1, len(at_hand) + 1)


def test_the_wall_time_counts_on_idle_cores_only() -> None:
    assert _row(30.0, 10.0, 0.0).missed(2) == ["30.0 s instead of 10 s"]
    assert _row(30.0, 10.0, 0.8).missed(2) == []
    assert _row(30.0, 24.0, 0.8).missed(2) == ["12.0 s instead of 10 s"]
    assert "idle cores have to judge" in as_markdown([_row(30.0, 10.0, 0.8)], 2)
