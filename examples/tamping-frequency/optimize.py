"""Optimizes the frequency of a tamping machine: deep penetration of the ballast for little power.

    python examples/tamping-frequency/optimize.py

The scene is that of examples/tamping, of which the dive is run.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, NamedTuple, Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import t

from riprap.sweep import Sweep

HERE = Path(__file__).resolve().parent
SCENE = HERE.parent / "tamping/scene.toml"
UNTIL = 0.25  # end of the dive [s]
START = 1.394  # height of the support before the dive [m]
PRICE = 10.0  # depth that a kilowatt has to be worth [mm/kW]
SHAFT = "mechanism.tamper.joint.phif"


class Dive(NamedTuple):
    """One run: frequency [Hz], phase of the shaft at the start [deg], depth [mm], power [kW]."""

    frequency: float
    phase: float
    depth: float
    power: float

    @property
    def merit(self) -> float:
        """Depth less the price of the power [mm]."""
        return self.depth - PRICE * self.power


class Optimum(NamedTuple):
    """The best frequency [Hz], half of its 95 % interval [Hz], and the scatter of a run about the curve [mm]."""

    frequency: float
    interval: float
    scatter: float


def dives(out: Path, frequencies: Sequence[float], phases: Sequence[float], jobs: int, until: float = UNTIL) -> list[Dive]:
    """Runs all frequencies with all phases; runs that are in the folder are not repeated."""
    speeds = [2 * math.pi * frequency for frequency in frequencies]
    sweep = Sweep(
        scene=SCENE,
        zip=[{"omega": speeds, f"{SHAFT}.start_velocity": speeds}],
        parameters={f"{SHAFT}.start": [f"{phase} deg" for phase in phases], "run.until": [until]},
        measures={
            "height": {"column": "tamper.zs.q", "from": 0.8 * until},
            "power": {"function": f"{HERE / 'power.py'}:drive", "unit": "kW"},
        },
        out=out,
    )
    counts = sweep.run(jobs=jobs, progress=True)
    if counts.finished < len(sweep):
        raise RuntimeError(f"{counts.failed} runs failed; see {out}")
    found = []
    for result in sweep.results():
        frequency = result.parameters["omega"] / (2 * math.pi)
        phase = float(result.parameters[f"{SHAFT}.start"].split()[0])
        depth = 1000 * (START - result.measures["height"])
        found.append(Dive(round(frequency, 6), phase, depth, result.measures["power"]))
    return found


def best(runs: Sequence[Dive], low: float, high: float) -> tuple[float, float]:
    """The frequency [Hz] of the largest merit between two bounds, and the scatter of a run [mm].

    The phase at the start matters more than the frequency, so that every phase has its own constant: frequencies are compared within phases only. With it, the merit
    is a quadratic function of the frequency, by least squares over all runs.
    """
    phases = sorted({run.phase for run in runs})
    rows = [[float(run.phase == phase) for phase in phases] + [run.frequency / 10, (run.frequency / 10) ** 2] for run in runs]
    matrix, merits = np.array(rows), np.array([run.merit for run in runs])
    solution = np.linalg.lstsq(matrix, merits, rcond=None)[0]
    b, c = solution[-2:]
    scatter = np.sqrt(((merits - matrix @ solution) ** 2).sum() / max(1, len(runs) - len(solution)))
    # Without a maximum inside, the best frequency is an end of the range.
    found: Any = minimize_scalar(lambda f: -(b * f / 10 + c * (f / 10) ** 2), bounds=(low, high), method="bounded")
    ends = [low, high, float(found.x)]
    return max(ends, key=lambda f: b * f / 10 + c * (f / 10) ** 2), float(scatter)


def optimum(runs: Sequence[Dive]) -> Optimum:
    """The best frequency with a 95 % interval from a jackknife over phases: each is left out once, because the runs of one phase are not independent."""
    low, high = min(run.frequency for run in runs), max(run.frequency for run in runs)
    frequency, scatter = best(runs, low, high)
    phases = sorted({run.phase for run in runs})
    without = [best([run for run in runs if run.phase != phase], low, high)[0] for phase in phases]
    n = len(phases)
    error = math.sqrt((n - 1) / n * sum((f - sum(without) / n) ** 2 for f in without))
    return Optimum(frequency, float(t.ppf(0.975, n - 1)) * error, scatter)


def optimize(out: Path, jobs: int) -> tuple[list[Dive], Optimum, Optimum]:
    """All runs, the optimum of a coarse first round, and that with a second round of other phases around it."""
    runs = dives(out, (15.0, 25.0, 35.0, 45.0, 55.0), (0.0, 90.0, 180.0, 270.0), jobs)
    first = optimum(runs)
    middle = min(max(5.0 * round(first.frequency / 5.0), 25.0), 45.0)
    runs = runs + dives(out, (middle - 10.0, middle, middle + 10.0), (45.0, 135.0, 225.0, 315.0), jobs)
    return runs, first, optimum(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Optimize the frequency of a tamping machine.")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--out", type=Path, default=Path("out/tamping-frequency"), help="folder of the results")
    options = parser.parse_args()
    runs, first, second = optimize(options.out.resolve(), options.jobs)
    print("frequency [Hz]  runs  depth [mm]  power [kW]  merit [mm]")
    for frequency in sorted({run.frequency for run in runs}):
        same = [run for run in runs if run.frequency == frequency]
        means = [float(np.mean(values)) for values in zip(*((run.depth, run.power, run.merit) for run in same))]
        print(f"{frequency:14.0f}  {len(same):4}  {means[0]:10.1f}  {means[1]:10.2f}  {means[2]:10.1f}")
    for name, result in (("first round", first), ("both rounds", second)):
        print(f"{name}: {result.frequency:.1f} ± {result.interval:.1f} Hz (95 %); runs scatter by {result.scatter:.0f} mm")


if __name__ == "__main__":
    main()
