"""What plots are made from: a simulation, a finished run or its folder, as series or as bodies and contacts at one time."""

from __future__ import annotations

import difflib
import fnmatch
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .. import _vtp
from .._optional import need
from .._riprap import RunSummary, Scene, Simulation
from ..results import RunFolder, open_run
from ..series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Moment", "Source", "axes", "folder_of", "moment_of", "series_of", "sums", "triangulated"]

Source = Union[Simulation, RunSummary, RunFolder, str, "PathLike[str]"]


def axes(ax: Optional[Axes], by: str, **options: Any) -> Axes:
    """The given axes, or those of a new figure with the options of `pyplot.subplots`."""
    if ax is not None:
        return ax
    pyplot = need("matplotlib.pyplot", by=f"riprap.plot.{by}")
    made: Axes = pyplot.subplots(**{"layout": "constrained", **options})[1]
    return made


def folder_of(source: Union[RunSummary, RunFolder, str, PathLike[str]]) -> RunFolder:
    """The folder of a run."""
    if isinstance(source, RunFolder):
        return source
    return open_run(source.folder if isinstance(source, RunSummary) else source)


def series_of(source: Union[Source, Series]) -> Series:
    """The series of a run, or one that was recorded."""
    if isinstance(source, Series):
        return source
    if isinstance(source, Simulation):
        raise TypeError(
            "a Simulation keeps no history: plot what `series = run.record(until=…, every=…)` returns, or the folder of riprap.run"
        )
    return folder_of(source).series


@dataclass(frozen=True)
class Moment:
    """Bodies and contacts of a run at one time."""

    #: Time [s].
    time: float
    scene: Scene
    #: As `Simulation.contacts` gives them; None if the frame has no contacts.
    contacts: Optional[NDArray[Any]]
    #: The polygons of all bodies.
    surface: _vtp.PolyData

    def free(self, bodies: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each of these bodies moves freely. Pieces of broken stones, which the scene does not list, do."""
        masses = self.scene.masses
        known = np.minimum(bodies, len(masses) - 1)
        free: NDArray[np.bool_] = (bodies >= len(masses)) | np.isfinite(masses[known])
        return free

    def without(self, hidden: Sequence[str]) -> Moment:
        """The moment without the surfaces of bodies whose names match."""
        if isinstance(hidden, str):
            hidden = [hidden]
        names = self.scene.names
        for pattern in hidden:
            if not fnmatch.filter(names, pattern):
                near = difflib.get_close_matches(pattern, names, n=3) or names[:8]
                raise ValueError(f"no body `{pattern}` to hide; there is {', '.join(near)}")
        gone = [k for k, name in enumerate(names) if any(fnmatch.fnmatchcase(name, p) for p in hidden)]
        return replace(self, surface=self.surface.pick(~np.isin(self.surface.cell_data["body"], gone))) if gone else self

    def centres(self) -> NDArray[np.float64]:
        """Centre of the volume of each body [m], by index; NaN for bodies without a surface."""
        triangles, body = triangulated(self.surface)
        n = int(body.max(initial=-1)) + 1
        # Volumes are taken from a point near each body, where little cancels.
        count = np.maximum(np.bincount(body, minlength=n), 1)[:, None]
        near = sums(body, triangles.mean(axis=1), n) / count
        a, b, c = np.moveaxis(triangles - near[body, None], 1, 0)
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        total, moment = sums(body, volume, n), sums(body, (a + b + c) / 4 * volume[:, None], n)
        size = sums(body, np.abs(volume), n)
        solid = total > 1e-6 * size
        centres = near + np.where(solid, 1 / np.where(solid, total, 1.0), 0.0)[:, None] * moment
        centres[np.bincount(body, minlength=n) == 0] = np.nan
        return centres


def sums(index: NDArray[Any], values: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Sums of numbers or vectors that have the same index, from 0 to n − 1."""
    if values.ndim == 1:
        return np.bincount(index, values, n).astype(np.float64)
    return np.stack([sums(index, values[:, k], n) for k in range(values.shape[1])], axis=1)


def triangulated(surface: _vtp.PolyData) -> Tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The polygons as triangles, with the body of each."""
    starts = np.concatenate([[0], surface.ends[:-1]]).astype(np.int64)
    lengths = surface.ends - starts
    counts = np.maximum(lengths - 2, 0)
    polygon = np.repeat(np.arange(len(counts)), counts)
    # The k-th triangle of a polygon has its corners 0, k + 1 and k + 2.
    k = np.arange(len(polygon)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = starts[polygon]
    corners = surface.corners[np.stack([first, first + k + 1, first + k + 2], axis=1)]
    return surface.points[corners], surface.cell_data["body"][polygon]


def moment_of(source: Source, time: Optional[float] = None, *, contacts: bool = True, unique: bool = False) -> Moment:
    """Bodies and contacts now, or in the frame of a run nearest to a time [s]; the last one by default. With `unique`, forces
    are the unique ones: of a simulation, or those that `riprap forces` wrote into a folder.
    """
    if isinstance(source, Simulation):
        if time is not None:
            raise ValueError("a Simulation has only its present time: `time` chooses among the frames of a folder")
        surface = _vtp.parse(source._surfaces())
        if unique:
            return Moment(source.time, source.scene, source.force_network().contacts(), surface)
        return Moment(source.time, source.scene, source.contacts() if contacts else None, surface)
    if unique and time is not None:
        raise ValueError("unique forces are those of the last checkpoint: leave out `time`")
    folder = folder_of(source)
    surface, times = folder.surfaces(time), folder.times
    shown = times[-1] if time is None else times[np.argmin(np.abs(times - time))]
    if unique:
        return Moment(float(shown), folder.scene, folder.unique_forces(), surface)
    listed = folder.contacts(shown) if contacts else None
    return Moment(float(shown), folder.scene, listed, surface)
