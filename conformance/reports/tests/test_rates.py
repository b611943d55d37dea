"""The exact tests: against sums of whole numbers, against published values, and at sizes where nothing can be summed."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from conformance.reports.rates import binomial, fisher, holm, median_interval


def exact_fisher(a: int, n: int, b: int, m: int) -> float:
    """By its definition, in whole numbers."""
    both = a + b

    def ways(x: int) -> int:
        return math.comb(n, x) * math.comb(m, both - x)

    seen = ways(a)
    return float(Fraction(sum(w for x in range(max(0, both - m), min(n, both) + 1) if (w := ways(x)) <= seen), math.comb(n + m, both)))


@pytest.mark.parametrize(
    ("table", "p"),
    [
        ((3, 4, 1, 4), 0.4857142857142857),
        ((8, 10, 1, 6), 0.034965034965034965),
        ((1, 12, 9, 12), 0.0027594561852200836),
        ((0, 5, 0, 9), 1.0),
        ((5, 5, 0, 5), 0.007936507936507936),
    ],
)
def test_published_tables(table: tuple[int, int, int, int], p: float) -> None:
    a, n, b, m = table
    assert fisher((a, n), (b, m)) == pytest.approx(p, rel=1e-9)


def test_every_small_table() -> None:
    for n in range(1, 8):
        for m in range(1, 8):
            for a in range(n + 1):
                for b in range(m + 1):
                    assert fisher((a, n), (b, m)) == pytest.approx(exact_fisher(a, n, b, m), rel=1e-8), (a, n, b, m)


def test_random_larger_tables() -> None:
    draw = random.Random(7)
    for _ in range(300):
        n, m = draw.randint(1, 900), draw.randint(1, 900)
        a, b = draw.randint(0, n), draw.randint(0, m)
        assert fisher((a, n), (b, m)) == pytest.approx(exact_fisher(a, n, b, m), rel=1e-6, abs=1e-300)


def test_millions_of_trials() -> None:
    assert fisher((1_000_000, 2_000_000), (1_000_100, 2_000_000)) == pytest.approx(0.92, abs=0.01)
    assert fisher((0, 2_000_000), (1, 2_000_000)) == pytest.approx(1.0)
    assert fisher((0, 2_000_000), (20, 2_000_000)) == pytest.approx(2 * 0.5**20, rel=1e-3)
    assert fisher((900_000, 2_000_000), (1_000_000, 2_000_000)) < 1e-300


def test_p_is_uniform_enough_when_nothing_differs() -> None:
    draw = random.Random(11)
    low = sum(
        fisher((sum(draw.random() < 0.3 for _ in range(60)), 60), (sum(draw.random() < 0.3 for _ in range(60)), 60)) < 0.05
        for _ in range(500)
    )
    assert low <= 35  # an exact test is never too quick: at most 25 expected


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError):
        fisher((3, 2), (0, 1))


def test_binomial_by_definition() -> None:
    for n in range(0, 40):
        for k in range(n + 1):
            few = sum(math.comb(n, i) for i in range(min(k, n - k) + 1))
            assert binomial(k, n) == pytest.approx(min(1.0, 2 * few / 2**n))


def test_the_interval_of_a_median_covers_it_as_often_as_it_says() -> None:
    draw = random.Random(3)
    covered = 0
    for _ in range(400):
        _, low, high = median_interval([draw.expovariate(1.0) for _ in range(25)])
        covered += low <= math.log(2) <= high
    assert 0.93 <= covered / 400 <= 1.0
    assert median_interval([1.0, 2.0])[1:] == (-math.inf, math.inf)
    assert median_interval(list(range(1, 11)))[1:] == (2, 9)  # the known interval for ten values


def test_holm_keeps_the_order_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
