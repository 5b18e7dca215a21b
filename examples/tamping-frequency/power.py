"""A measure of the sweep in optimize.py: the power that the drive of the eccentric shaft needs."""

from __future__ import annotations

import csv
from pathlib import Path


def drive(run: Path) -> float:
    """Mean power [kW] of the drive: its torque, a mean over each output interval, times the speed of the shaft."""
    with open(run / "series.csv", newline="") as file:
        rows = list(csv.DictReader(file))[1:]
    powers = [float(row["tamper.drive.force_mean [N m]"]) * float(row["tamper.phif.v [rad/s]"]) for row in rows]
    return sum(powers) / len(powers) / 1000.0
