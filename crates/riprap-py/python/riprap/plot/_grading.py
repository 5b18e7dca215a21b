"""Sieve curves of the grains of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._riprap import Grains, MoreauJean, SceneBuilder, Simulation
from ._source import Source, axes, folder_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["grading"]


def grading(
    source: Union[Source, Grains, Tuple[ArrayLike, ArrayLike]],
    *,
    label: Optional[str] = None,
    ax: Optional[Axes] = None,
) -> Axes:
    """Plots the sieve curve: the mass that passes a square aperture [%] over its size [mm].

    `source` is a run, a group of `Grains`, or sieve sizes [m] with masses [kg]. Of a folder it is that of the stones in the
    scene, before any of them breaks; of a simulation that of the present ones. Draw several into one `ax` to compare them.

    >>> import riprap as rr
    >>> ax = rr.plot.grading(([0.02, 0.04], [1.0, 3.0]))
    >>> ax.get_xlabel(), ax.lines[0].get_ydata().tolist()
    ('aperture [mm]', [0.0, 25.0, 100.0])
    """
    size, mass = _sizes(source)
    if not len(size):
        raise ValueError("no free body has a sieve size")
    order = np.argsort(size)
    passing = 100 * np.cumsum(mass[order]) / mass.sum()
    ax = axes(ax, "grading")
    at = np.concatenate([size[order][:1], size[order]])
    ax.plot(1e3 * at, np.concatenate([[0.0], passing]), drawstyle="steps-post", label=label or f"{len(size)} grains")
    ax.set_xlabel("aperture [mm]")
    ax.set_ylabel("passing mass [%]")
    ax.set_ylim(0, 100)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def _sizes(source: Union[Source, Grains, Tuple[ArrayLike, ArrayLike]]) -> Tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sieve sizes [m] and masses [kg]."""
    if isinstance(source, tuple):
        return np.asarray(source[0], dtype=np.float64), np.asarray(source[1], dtype=np.float64)
    if isinstance(source, Grains):
        builder = SceneBuilder()
        builder.add_grains(source)
        source = Simulation(builder.build(), MoreauJean(dt=1e-3))
    if not isinstance(source, Simulation):
        source = Simulation(folder_of(source).scene, settle=False)
    return source.grading()
