"""A measure of the sweep in optimize.py: the power that the drive of the eccentric shaft needs."""

from __future__ import annotations

from pathlib import Path

import riprap as rr


def drive(run: Path) -> float:
    """Mean power [kW] of the drive: its torque, a mean over each output interval, times the speed of the shaft."""
    series = rr.open_run(run).series
    power = series["tamper.drive.force_mean"] * series["tamper.phif.v"]
    return float(power[1:].mean()) / 1000.0
