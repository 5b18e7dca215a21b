"""A function to try sweeps with."""

from __future__ import annotations

import math
from typing import Dict

__all__ = ["fall"]


def fall(height: float, seed: int = 1) -> Dict[str, float]:
    """The time [s] and speed [m/s] of a free fall from a height [m]; it does not depend on the seed.

    >>> fall(4.905)["time"]
    1.0
    """
    return {"time": math.sqrt(2 * height / 9.81), "speed": math.sqrt(2 * 9.81 * height)}
