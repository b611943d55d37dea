"""Exact tests for counts, in the standard library: is a difference between two rates, or a median of ratios, more than chance?

scipy has both and is 40 MB; a bring-up machine that compares two reports may have no network. The tests compare with known values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

_CLOSE = 1e-7  # two probabilities that differ by less are the same table seen from the other side
_NEGLIGIBLE = 1e-18


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Two-sided p of Fisher's exact test for two counts (k of n): the tables at most as likely as the one seen, summed."""
    (a, n), (b, m) = first, second
    if not (0 <= a <= n and 0 <= b <= m):
        raise ValueError(f"{a} of {n} and {b} of {m} are no counts")
    both, low, high = a + b, max(0, a + b - m), min(n, a + b)
    if low == high:
        return 1.0
    whole = _log_choose(n + m, both)

    def log_p(x: int) -> float:
        return _log_choose(n, x) + _log_choose(m, both - x) - whole

    seen, mode = log_p(a), (both + 1) * (n + 1) // (n + m + 2)
    mode = min(max(mode, low), high)
    limit = seen + _CLOSE
    if log_p(mode) <= limit:
        return 1.0
    left = _edge(log_p, limit, low, mode, rising=True)
    right = _edge(log_p, limit, mode, high, rising=False)
    total = 0.0
    if left is not None:
        total += _tail(log_p(left), left, low, lambda x: x * (m - both + x) / ((n - x + 1) * (both - x + 1)), -1)
    if right is not None:
        total += _tail(log_p(right), right, high, lambda x: (n - x) * (both - x) / ((x + 1) * (m - both + x + 1)), +1)
    return min(1.0, total)


def _edge(log_p: Callable[[int], float], limit: float, low: int, high: int, rising: bool) -> int | None:
    """The place nearest the mode at which a monotone side is at most `limit`; None if it never is."""
    far, near = (low, high) if rising else (high, low)
    if log_p(far) > limit:
        return None
    while abs(near - far) > 1:
        middle = (near + far) // 2
        far, near = (middle, near) if log_p(middle) <= limit else (far, middle)
    return far


def _tail(log_first: float, x: int, end: int, ratio: Callable[[int], float], step: int) -> float:
    """The sum from x to end, each term from the one before it, until what is left cannot count."""
    term = total = math.exp(log_first)
    while x != end and term > total * _NEGLIGIBLE:
        term *= ratio(x)
        total += term
        x += step
    return total


def binomial(k: int, n: int) -> float:
    """Two-sided p of k heads in n throws of a fair coin."""
    if n == 0:
        return 1.0
    few = min(k, n - k)
    return min(1.0, 2 * math.fsum(math.exp(_log_choose(n, i) - n * math.log(2)) for i in range(few + 1)))


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """The median and an interval for it that assumes nothing about the values: order statistics, by the binomial test."""
    ordered = sorted(values)
    n = len(ordered)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    rank, below = 0, 0.0
    while rank < n // 2:
        below += math.exp(_log_choose(n, rank) - n * math.log(2))
        if 2 * below > 1 - confidence:
            break
        rank += 1
    if rank == 0:  # too few values for this confidence
        return middle, -math.inf, math.inf
    return middle, ordered[rank - 1], ordered[n - rank]


def holm(p_values: Sequence[float]) -> list[float]:
    """The same p values, adjusted for having asked so many questions (Holm's method)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = highest
    return adjusted
