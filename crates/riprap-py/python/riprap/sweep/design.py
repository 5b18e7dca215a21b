"""Designs: from the values of the parameters to the list of points of a sweep.

An axis is one parameter, or several that vary together. A ``grid`` combines all values of all axes, a ``list`` takes the first value of each, then the second, and so on,
and ``random`` is a Latin hypercube: with n samples, every parameter has exactly one value in each n-th of its range.
"""

from __future__ import annotations

import itertools
import random
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .values import Range

__all__ = ["DESIGNS", "Axis", "grid", "latin_hypercube", "pointwise"]

DESIGNS = ("grid", "list", "random")

Point = Dict[str, Any]


class Axis(NamedTuple):
    """Parameters that vary together: their names, and one row of values per step; or a continuous range of one parameter."""

    names: Tuple[str, ...]
    rows: List[Tuple[Any, ...]]
    range: Optional[Range] = None


def grid(axes: Sequence[Axis]) -> List[Point]:
    """All combinations; the last axis varies fastest.

    >>> grid([Axis(("a",), [(1,), (2,)]), Axis(("b", "c"), [(3, 4), (5, 6)])])
    [{'a': 1, 'b': 3, 'c': 4}, {'a': 1, 'b': 5, 'c': 6}, {'a': 2, 'b': 3, 'c': 4}, {'a': 2, 'b': 5, 'c': 6}]
    """
    return [_join(axes, rows) for rows in itertools.product(*(axis.rows for axis in axes))]


def pointwise(axes: Sequence[Axis]) -> List[Point]:
    """The first row of every axis, the second, and so on; ``ValueError`` if their numbers differ."""
    if len({len(axis.rows) for axis in axes}) > 1:
        told = ", ".join(f"`{axis.names[0]}` {len(axis.rows)}" for axis in axes)
        raise ValueError(f"with design \"list\" all parameters need the same number of values, but there are: {told}")
    return [_join(axes, rows) for rows in zip(*(axis.rows for axis in axes))] if axes else [{}]


def latin_hypercube(axes: Sequence[Axis], samples: int, seed: int) -> List[Point]:
    """``samples`` random points. They depend on the seed only, on every platform and version of Python.

    >>> points = latin_hypercube([Axis(("x",), [], Range(0.0, 4.0, "", False))], 4, seed=1)
    >>> sorted(int(point["x"]) for point in points)
    [0, 1, 2, 3]
    """
    numbers = random.Random(seed)
    columns = []
    for axis in axes:
        # Sorting random numbers gives a permutation from `random()` alone, the only part of the module that is guaranteed to stay the same.
        order = sorted(range(samples), key=[numbers.random() for _ in range(samples)].__getitem__)
        fractions = [(cell + numbers.random()) / samples for cell in order]
        if axis.range is not None:
            columns.append([(axis.range.at(fraction),) for fraction in fractions])
        else:
            columns.append([axis.rows[int(fraction * len(axis.rows))] for fraction in fractions])
    return [_join(axes, rows) for rows in zip(*columns)] if axes else [{}]


def _join(axes: Sequence[Axis], rows: Sequence[Tuple[Any, ...]]) -> Point:
    return {name: value for axis, row in zip(axes, rows) for name, value in zip(axis.names, row)}
