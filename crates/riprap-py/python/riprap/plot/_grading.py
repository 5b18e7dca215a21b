"""Sieve curves of the grains of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

import numpy as np

from .._riprap import Grains, MoreauJean, SceneBuilder, SieveCurve, Simulation
from ._source import Source, axes, folder_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["grading"]


def grading(
    source: Union[Source, Grains, SieveCurve],
    *,
    label: Optional[str] = None,
    ax: Optional[Axes] = None,
) -> Axes:
    """Plots the sieve curve: the mass that passes a square aperture [%] over its size [mm].

    `source` is a run, a group of `Grains`, or a `SieveCurve`. For a folder it is the curve of the stones in the scene, before
    any of them breaks; for a simulation that of the present ones, with their dust. Draw several into one `ax` to compare them.

    >>> import riprap as rr
    >>> ax = rr.plot.grading(rr.SieveCurve([0.02, 0.04], [1.0, 3.0]))
    >>> ax.get_xlabel(), ax.lines[0].get_ydata().tolist()
    ('aperture [mm]', [0.0, 25.0, 100.0])
    """
    curve = _curve(source)
    points = curve.points()
    if not len(points):
        raise ValueError("no free body has a sieve size")
    ax = axes(ax, "grading")
    at = np.concatenate([points[:1, 0], points[:, 0]])
    # Dust passes every sieve.
    passing = np.concatenate([[curve.passing(0.0)], points[:, 1]])
    ax.plot(1e3 * at, 100 * passing, drawstyle="steps-post", label=label or f"{len(points)} grains")
    ax.set_xlabel("aperture [mm]")
    ax.set_ylabel("passing mass [%]")
    ax.set_ylim(0, 100)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def _curve(source: Union[Source, Grains, SieveCurve]) -> SieveCurve:
    """The sieve curve of a source."""
    if isinstance(source, SieveCurve):
        return source
    if isinstance(source, Grains):
        builder = SceneBuilder()
        builder.add_grains(source)
        source = Simulation(builder.build(), MoreauJean(dt=1e-3))
    if not isinstance(source, Simulation):
        source = Simulation(folder_of(source).scene, settle=False)
    return source.grading()
