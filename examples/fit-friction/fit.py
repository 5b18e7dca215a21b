"""Fits the friction coefficient of stones to an angle of repose, with several heaps per friction because each heap is one sample.

    python examples/fit-friction/fit.py

The measured angle comes from heaps with a known friction, which stand in for the laboratory, so that the answer can be checked.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, curve_fit

from riprap.sweep import Mean, Sweep, mean

HEAP = f"{Path(__file__).resolve().with_name('heap.py')}:repose"
# Of the heaps that stand in for the laboratory; only they and the last line of the output use it.
TRUE_FRICTION = 0.33
# Middle of the bracket, about which the curve is expanded.
MIDDLE = 0.35

Curve = NDArray[np.float64]


class Fit(NamedTuple):
    """A friction coefficient, its standard error, the fraction of its variance that is due to the measured angle, the slope of the angle [deg], its scatter [deg] and the number of heaps."""

    friction: float
    error: float
    share: float
    slope: float
    scatter: float
    heaps: int


class Heaps:
    """Angles of heaps, from sweeps into one folder: heaps that are there are not run again."""

    def __init__(self, out: Path, count: int, jobs: int) -> None:
        self._out, self._count, self._jobs = out, count, jobs

    def angles(self, frictions: Sequence[float], seeds: Sequence[int]) -> list[tuple[float, float]]:
        """Pairs of friction and angle [deg], one per friction and seed."""
        parameters = {"friction": list(frictions), "count": [self._count]}
        sweep = Sweep(function=HEAP, parameters=parameters, seeds=seeds, out=self._out)
        counts = sweep.run(jobs=self._jobs, progress=True)
        if counts.finished < len(sweep):
            raise RuntimeError(f"{counts.failed} heaps failed; see {self._out}")
        return [(result.parameters["friction"], result.measures["angle"]) for result in sweep.results()]


def quadratic(friction: Curve, a: float, b: float, c: float) -> Curve:
    """The angle [deg] as a function of the friction."""
    x = friction - MIDDLE
    return a + b * x + c * x * x


def solve(samples: Sequence[tuple[float, float]], target: Mean, target_error: float) -> Fit:
    """The friction at which the curve through all samples reaches the target.

    Single heaps scatter by a few degrees around the curve. Least squares weights all alike; the scatter about the curve gives the covariance of its
    coefficients, and the slope turns the errors of curve and target into one of the friction.
    """
    friction, angle = np.array(samples).T
    curve, covariance = curve_fit(quadratic, friction, angle, p0=(target.value, 50.0, 0.0))
    low, high = friction.min(), friction.max()
    if not quadratic(low, *curve) < target.value < quadratic(high, *curve):
        raise ValueError(f"the target of {target.value:.1f} deg is outside the angles for friction {low} to {high}; widen the bracket")
    found: Any = brentq(lambda mu: quadratic(mu, *curve) - target.value, low, high)
    root = float(found)
    x = root - MIDDLE
    row = np.array([1.0, x, x * x])
    slope = curve[1] + 2 * curve[2] * x
    variance = float(row @ covariance @ row) + target_error**2
    scatter = np.sqrt(((angle - quadratic(friction, *curve)) ** 2).sum() / (len(samples) - 3))
    return Fit(root, variance**0.5 / abs(slope), target_error**2 / variance, float(slope), float(scatter), len(samples))


def fit(
    out: Path, *, frictions: Sequence[float], seeds: int, refine: int, laboratory: int, count: int = 100, jobs: int = 2
) -> tuple[Mean, Fit, Fit]:
    """The measured angle [deg], a first fit over a wide bracket, and a second one with more heaps around its result.

    ``seeds`` heaps per friction of the bracket, ``refine`` heaps for each of three frictions around the first result, and ``laboratory`` heaps for the measured angle.
    """
    heaps = Heaps(out, count, jobs)
    # Seeds of the laboratory are used nowhere else: it has other stones.
    measured = [angle for _, angle in heaps.angles([TRUE_FRICTION], range(1001, 1001 + laboratory))]
    target = mean(measured)
    target_error = float(np.std(measured, ddof=1) / np.sqrt(laboratory))
    samples = heaps.angles(frictions, range(1, seeds + 1))
    first = solve(samples, target, target_error)
    # Rounded, so that a repeated fit asks for the same heaps.
    around = [round(first.friction + step, 2) for step in (-0.08, 0.0, 0.08)]
    near = samples + heaps.angles(around, range(101, 101 + refine))
    near = [sample for sample in near if abs(sample[0] - first.friction) <= 0.16]
    return target, first, solve(near, target, target_error)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the friction of stones to an angle of repose.")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--out", type=Path, default=Path("out/fit-friction"), help="folder of the results")
    options = parser.parse_args()
    target, first, second = fit(
        options.out.resolve(), frictions=(0.15, 0.25, 0.35, 0.45, 0.55), seeds=4, refine=8, laboratory=10, jobs=options.jobs
    )
    print(f"measured angle    {target.value:.2f} deg ± {target.interval:.2f} (95 %, {target.n} heaps)")
    for name, result in (("first fit", first), ("second fit", second)):
        print(f"{name:<17} {result.friction:.3f} ± {1.96 * result.error:.3f} (95 %, {result.heaps} heaps)")
    print(f"slope, scatter    {second.slope:.0f} deg, {second.scatter:.1f} deg")
    print(f"measured angle    {100 * second.share:.0f} % of the variance")
    print(f"true friction     {TRUE_FRICTION}")


if __name__ == "__main__":
    main()
