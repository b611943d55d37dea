"""The statistics of launch costs, from launchers whose cost is made up, and the library where there is no GPU."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from conformance.bench.guidance import _host
from conformance.bench.launch_cost import OURS, RAW, RAW_PLAIN, Launcher, interval, measure, records
from conformance.bench.record import Host


def _launcher(name: str, cost: float, seed: int, peer: bool = False) -> Launcher:
    noise = random.Random(seed)
    return Launcher(name, name != RAW_PLAIN, peer, lambda: cost * noise.lognormvariate(0, 0.02))


def _measured() -> list[dict[str, Any]]:
    launchers = [_launcher(RAW, 2.0, 1), _launcher(OURS, 2.02, 2), _launcher("peer", 2.2, 3, peer=True), _launcher(RAW_PLAIN, 2.4, 4)]
    measure(launchers, 400)
    return records(launchers, ["something: not here"])


def test_ratios_lie_in_their_intervals() -> None:
    rows = {row["launcher"]: row for row in _measured() if "launcher" in row}
    for name, ratio in ((OURS, 1.01), ("peer", 1.10), (RAW_PLAIN, 1.0)):
        found = rows[name]["to_raw"]
        assert found["low95"] <= ratio <= found["high95"] and found["high95"] - found["low95"] < 0.02, (name, found)
    assert rows["peer"]["pdl_launch_to_it"]["high95"] < 1.0
    assert "pdl_launch_to_it" not in rows[RAW_PLAIN]


def test_what_is_missing_is_said() -> None:
    missing = [row for row in _measured() if "not_measured" in row]
    assert len(missing) == 1 and "something: not here" in missing[0]["not_measured"]
    page = "\n".join(_host(Host([row for row in _measured() if "launcher" in row], missing[0]["not_measured"])))
    assert "beyond the interval: none of 1 peers; slower: peer." in page
    assert "Not measured: something: not here." in page and "| peer: `peer` | yes |" in page


def test_no_launcher_always_follows_the_same_one() -> None:
    order: list[int] = []

    def noting(number: int) -> Callable[[], float]:
        def launch() -> float:
            order.append(number)
            return 1.0
        return launch

    launchers = [Launcher(f"{i}", True, False, noting(i)) for i in range(5)]
    measure(launchers, 20)
    assert len(order) == 22 * 10 and all(len(launcher.us) == 20 for launcher in launchers)
    first = {order[k] for k in range(0, len(order), 10)}
    assert first == set(range(5))


@pytest.mark.parametrize("size", [1, 2, 5, 101])
def test_interval_stays_inside_the_values(size: int) -> None:
    counter = count()
    middle, low, high = interval([float(next(counter)) for _ in range(size)])
    assert 0 <= low <= middle <= high <= size - 1
