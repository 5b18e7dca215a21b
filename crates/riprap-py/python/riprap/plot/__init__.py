"""Plots of runs with matplotlib: pictures, series, energies, forces, gradings, convergence. Its packages come with `pip install ".[plot]"`.

Functions take a `Simulation`, a `RunSummary`, a `RunFolder` or the path of the folder of a run; they draw into the axes `ax`, or
into a new figure, and return the axes. Every axis has its unit.

>>> import riprap as rr
>>> rock = rr.Material("rock", density=2700.0, friction=0.6)
>>> scene = rr.SceneBuilder()
>>> floor = scene.add_fixed(rr.Shape.half_space(), material=rock)
>>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rock, position=(0, 0, 0.5)))
>>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
>>> ax = rr.plot.energies(run.record(until=0.5, every=0.01))
>>> ax.get_xlabel(), ax.get_ylabel()
('time [s]', 'energy [J]')
"""

from __future__ import annotations

from ._forces import fabric, force_chains, normal_forces
from ._grading import grading
from ._picture import png, show
from ._series import energies, series
from ._solver import convergence, residual_history, residuals
from ._source import Source

__all__ = [
    "Source",
    "convergence",
    "energies",
    "fabric",
    "force_chains",
    "grading",
    "normal_forces",
    "png",
    "residual_history",
    "residuals",
    "series",
    "show",
]
