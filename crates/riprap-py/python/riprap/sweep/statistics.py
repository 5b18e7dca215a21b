"""Means over seeds with confidence intervals of Student's t distribution."""

from __future__ import annotations

import math
from typing import NamedTuple, Sequence

__all__ = ["Mean", "mean", "t_quantile"]


class Mean(NamedTuple):
    """A mean, the half-width of its confidence interval (NaN with fewer than two values), and the number of values.

    >>> from riprap.sweep.statistics import Mean
    >>> Mean(value=2.0, interval=0.5, n=8).interval
    0.5
    """

    value: float
    interval: float
    n: int


def mean(values: Sequence[float], confidence: float = 0.95) -> Mean:
    """The mean of independent values: ``x̄ ± t s/√n``, with the sample standard deviation ``s``.

    >>> from riprap.sweep.statistics import mean
    >>> result = mean([1.0, 2.0, 3.0])
    >>> result.value, round(result.interval, 3)
    (2.0, 2.484)
    """
    n = len(values)
    if n == 0:
        return Mean(math.nan, math.nan, 0)
    average = math.fsum(values) / n
    if n == 1:
        return Mean(average, math.nan, 1)
    deviation = math.sqrt(math.fsum((value - average) ** 2 for value in values) / (n - 1))
    return Mean(average, t_quantile(0.5 + confidence / 2, n - 1) * deviation / math.sqrt(n), n)


def t_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution with a whole number of degrees of freedom, for probabilities above 0.5.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    low, high = 0.0, 1.0
    while _within(high, degrees) < 2 * probability - 1:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if _within(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _within(t: float, degrees: int) -> float:
    """The probability of ``|T| < t``: finite sums in ``θ = atan(t/√ν)`` (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    theta = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = degrees % 2 == 1
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(1 if odd else 0, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    return 2.0 / math.pi * (theta + sine * total) if odd else sine * total
