"""Values of parameters: numbers, texts such as ``"25 mm"``, and ranges of them."""

from __future__ import annotations

import math
import re
from typing import Any, List, NamedTuple, Optional, Tuple

__all__ = ["Range", "quantity", "read_range", "seconds", "shared_unit"]

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0}


class Range(NamedTuple):
    """Numbers between two bounds with a common unit, evenly spaced or, with ``log``, by a constant factor."""

    low: float
    high: float
    unit: str
    log: bool

    def at(self, fraction: float) -> Any:
        """The value at a fraction of the way, from 0 to 1.

        >>> Range(1.0, 100.0, "", True).at(0.5), Range(10.0, 30.0, "mm", False).at(0.25)
        (10.0, '15.0 mm')
        """
        if self.log:
            # Powers of ten stay exact, as in numpy.logspace.
            low, high = math.log10(self.low), math.log10(self.high)
            value = 10.0 ** (low + fraction * (high - low))
        else:
            value = self.low + fraction * (self.high - self.low)
        value = self.low if fraction == 0.0 else self.high if fraction == 1.0 else value
        return f"{value!r} {self.unit}" if self.unit else value

    def spaced(self, count: int) -> List[Any]:
        """``count`` values including both bounds."""
        return [self.at(i / (count - 1)) if count > 1 else self.at(0.0) for i in range(count)]


def quantity(value: Any) -> Optional[Tuple[float, str]]:
    """The number and unit of a value; ``None`` if it is something else, such as an expression.

    >>> quantity("25 mm"), quantity(3), quantity("2*pi*f")
    ((25.0, 'mm'), (3.0, ''), None)
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value), ""
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value)
        if match and not re.match(r"[*+\-/^()]", match.group(2)):
            return float(match.group(1)), match.group(2)
    return None


def seconds(value: Any) -> Optional[float]:
    """A time [s] from a number or a text with a unit of time; ``None`` if it is not one.

    >>> seconds("20 ms"), seconds(0.5), seconds("3 m")
    (0.02, 0.5, None)
    """
    read = quantity(value)
    return None if read is None or read[1] not in _SECONDS else read[0] * _SECONDS[read[1]]


def shared_unit(values: List[Any]) -> Optional[str]:
    """The unit that all values have; ``None`` if they differ or are not quantities."""
    read = [quantity(value) for value in values]
    units = {found[1] for found in read if found is not None}
    return units.pop() if len(units) == 1 and None not in read else None


def read_range(table: Any) -> Range:
    """A range from ``{ from, to, scale }``; ``ValueError`` says what is wrong."""
    low, high = quantity(table.get("from")), quantity(table.get("to"))
    if low is None or high is None:
        raise ValueError("a range needs `from` and `to`, numbers or quantities such as \"25 mm\"")
    if low[1] != high[1]:
        raise ValueError(f"`from` is in {low[1] or 'no unit'} and `to` in {high[1] or 'no unit'}; use the same unit for both")
    scale = table.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise ValueError(f"`scale` is {scale!r}; expected \"linear\" or \"log\"")
    if scale == "log" and (low[0] <= 0 or high[0] <= 0):
        raise ValueError("both ends of a logarithmic range must be greater than 0")
    return Range(low[0], high[0], low[1], scale == "log")
