"""Which GPUs differ from their peers beyond chance: peers are GPUs of the same model under the same driver.

Rates (overlaps of the trials of a rule) are compared with the pooled rate of the peers: exact binomial test, two-sided by
doubling the smaller tail. GPUs of one model differ a little from each other by nature, so where there are 8 peers or more
the spread between them is estimated (median and median absolute deviation of the standardised residuals) and the test uses
it. Times (seconds per family of cases) are compared on a logarithmic scale with the peers' median and spread; they need 8.

All tests of one report are corrected together by Benjamini and Hochberg's method: of the GPUs named as outliers, at most
the stated share is expected to be named by chance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

FALSE_DISCOVERY_RATE = 0.05
FEWEST_FOR_SPREAD = 8
_MAD_TO_SD = 1.4826
_FEW = 50.0  # expected counts below which the normal approximation is not used


@dataclass(frozen=True)
class Outlier:
    """One measure in which one GPU differs."""

    gpu: str
    node: str
    model: str
    driver: str
    measure: str  # "overlap rate of ATTR-03", "time of family wait"
    value: float
    peers: float
    errors: float  # how many standard errors apart
    p: float


def _normal_two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2.0))


def binomial_two_sided(k: int, n: int, p: float) -> float:
    """P of a result at least as far out as k of n at rate p, by doubling the smaller exact tail; at most 1."""
    if n == 0:
        return 1.0
    if p <= 0.0 or p >= 1.0:
        return 1.0 if k == round(n * p) else 0.0
    upper = k > n * p
    successes, rate = (k, p) if upper else (n - k, 1.0 - p)  # the lower tail is the upper tail of the failures
    log_term = (math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(n - successes + 1)
                + successes * math.log(rate) + (n - successes) * math.log1p(-rate))
    term = total = math.exp(log_term) if log_term > -745 else 0.0
    odds = rate / (1.0 - rate)
    for i in range(successes, n):
        term *= odds * (n - i) / (i + 1)
        total += term
        if term <= total * 1e-17:
            break
    return min(1.0, 2.0 * total)


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Median, and a standard deviation that outliers do not move."""
    middle = median(values)
    return middle, _MAD_TO_SD * median([abs(value - middle) for value in values])


Row = tuple[int, float, float, float, float]  # index of the GPU, value, value of the peers, standard errors, p


def rate_rows(counts: Sequence[tuple[int, int, int]]) -> list[Row]:
    """(GPU, events, trials) of one measure among peers, tested one by one against the rest."""
    events, trials = sum(k for _, k, _ in counts), sum(n for _, _, n in counts)
    residuals = []
    for _, k, n in counts:
        rest = (events - k) / (trials - n) if trials > n else 0.0
        variance = rest * (1.0 - rest) * (1.0 / n + 1.0 / (trials - n)) if 0 < n < trials else 0.0
        residuals.append((k / n - rest) / math.sqrt(variance) if variance > 0.0 else 0.0)
    wider = max(1.0, _spread(residuals)[1]) if len(residuals) >= FEWEST_FOR_SPREAD else 1.0
    rows = []
    for (gpu, k, n), z in zip(counts, residuals, strict=True):
        if n == 0 or n == trials:
            continue
        rest, z = (events - k) / (trials - n), z / wider
        if wider == 1.0 and min(n * rest, n * (1.0 - rest)) < _FEW:
            # the rest is an estimate, too: half an event more on its side keeps a rate of 0 or 1 honest
            rest = min(max(rest, 0.5 / (trials - n)), 1.0 - 0.5 / (trials - n))
            p = binomial_two_sided(k, n, rest)
        else:
            p = _normal_two_sided(z)
        rows.append((gpu, k / n, rest, z, p))
    return rows


def time_rows(times: Sequence[tuple[int, float]]) -> list[Row]:
    """(GPU, seconds) of one measure among peers; nothing if they are too few to know how much times differ."""
    logs = [(gpu, math.log(seconds)) for gpu, seconds in times if seconds > 0.0]
    if len(logs) < FEWEST_FOR_SPREAD:
        return []
    middle, spread = _spread([value for _, value in logs])
    if spread == 0.0:
        return []
    return [(gpu, math.exp(value), math.exp(middle), (value - middle) / spread, _normal_two_sided((value - middle) / spread))
            for gpu, value in logs]


def _measures(gpus: Sequence[Mapping[str, Any]], peers: Sequence[int]) -> Iterable[tuple[str, list[Row]]]:
    rates: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    times: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for index in peers:
        for rule, (run, _, overlaps) in gpus[index]["rules"].items():
            if run:
                rates[rule].append((index, min(overlaps, run), run))
        for family, seconds in gpus[index]["families"].items():
            times[family].append((index, seconds))
    for rule, counts in rates.items():
        yield f"overlap rate of {rule}", rate_rows(counts)
    for family, seconds_of in times.items():
        yield f"seconds in family {family}", time_rows(seconds_of)


def find(gpus: Sequence[Mapping[str, Any]], rate: float = FALSE_DISCOVERY_RATE) -> tuple[list[Outlier], int]:
    """(outliers, the smallest p first; number of tests made)."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, gpu in enumerate(gpus):
        groups[(gpu["model"], gpu["driver"])].append(index)
    tested, low = 0, list[tuple[float, str, Row]]()
    for peers in groups.values():
        for measure, rows in _measures(gpus, peers):
            tested += len(rows)
            low += [(row[4], measure, row) for row in rows if row[4] <= rate]
    low.sort(key=lambda entry: entry[0])
    last = max((i for i, (p, _, _) in enumerate(low, 1) if p <= rate * i / tested), default=0)
    found = []
    for p, measure, (index, value, others, errors, _) in low[:last]:
        gpu = gpus[index]
        found.append(Outlier(gpu["gpu"], gpu["node"], gpu["model"], gpu["driver"], measure, value, others, errors, p))
    return found, tested
