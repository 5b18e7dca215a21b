"""Plots of contact forces: chains, their distribution, and the rose of contact directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, cast

import numpy as np

from .._optional import need
from ._network import chains, pairs_of
from ._source import Moment, Source, axes, moment_of, triangulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.projections.polar import PolarAxes

__all__ = ["fabric", "force_chains", "normal_forces"]

# The two axes that are seen along each axis, such that both point right and up.
SEEN = {"x": ("y", "z"), "y": ("x", "z"), "z": ("x", "y")}


def _plane(moment: Moment, view: Optional[str]) -> tuple[str, str]:
    """The axes of a picture; planar scenes are seen along z."""
    if view is None:
        view = "z" if not np.ptp(moment.surface.points[:, 2]) else "y"
    if view not in SEEN:
        raise ValueError(f"no view along `{view}`: x, y or z")
    return SEEN[view]


def force_chains(
    source: Source,
    *,
    view: Optional[str] = None,
    time: Optional[float] = None,
    unique: bool = False,
    bodies: bool = True,
    ax: Optional[Axes] = None,
) -> Axes:
    """Plots the forces between bodies as lines between their centres, with a width in proportion to the normal force [N].

    The pair with the largest force has a width of a third of a grain, and the colour shows the force as well. It is seen along
    `view` (x, y or z; planar scenes along z), over the outlines of the free `bodies`. For a folder, the frame nearest to `time`
    [s] is shown, or the last one. These are the forces of the solver in one step, which are not unique in general; with
    `unique`, those that `riprap forces` has written into the folder.

    >>> import riprap as rr
    >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
    >>> scene = rr.SceneBuilder()
    >>> box = scene.add_fixed(rr.Shape.open_box(0.2, 0.2, 0.2), material=rock)
    >>> inside = ((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4))
    >>> rocks = scene.add_grains(rr.Grains.spheres(40, radius=(0.015, 0.02), material=rock, inside=inside))
    >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    >>> report = run.until(0.5)
    >>> ax = rr.plot.force_chains(run, view="y")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x [m]', 'z [m]')
    """
    moment = moment_of(source, time, unique=unique)
    across, up = _plane(moment, view)
    lines, force = chains(moment)
    if not len(force):
        raise ValueError(f"no contact carries a force at t = {moment.time:.6g} s")
    ax = axes(ax, "force_chains")
    collections = need("matplotlib.collections", by="riprap.plot.force_chains")
    pick = ["xyz".index(across), "xyz".index(up)]
    if bodies:
        _outlines(ax, moment, pick)
    order = np.argsort(force)
    drawn = collections.PolyCollection(
        _bars(lines[order][:, :, pick], force[order], moment.scene.grain_size),
        array=force[order],
        cmap="inferno_r",
        clim=(0.0, float(force.max())),
    )
    ax.add_collection(drawn)
    figure = ax.figure
    if figure is not None:
        figure.colorbar(drawn, ax=ax, label="normal force [N]", shrink=0.6)
    ends = lines[:, :, pick].reshape(-1, 2)
    pad = 0.5 * moment.scene.grain_size
    ax.set_xlim(ends[:, 0].min() - pad, ends[:, 0].max() + pad)
    ax.set_ylim(ends[:, 1].min() - pad, ends[:, 1].max() + pad)
    ax.set_aspect("equal")
    ax.set_xlabel(f"{across} [m]")
    ax.set_ylabel(f"{up} [m]")
    ax.set_title(f"t = {moment.time:.4g} s, {len(force)} pairs", fontsize="medium")
    return ax


def _bars(lines: Any, force: Any, size: float) -> Any:
    """Lines as rectangles with a width in proportion to the force, a third of a grain at most."""
    a, b = lines[:, 0], lines[:, 1]
    along = b - a
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    half = along[:, ::-1] * [-1, 1] / length * (size / 6 * force / force.max())[:, None]
    return np.stack([a - half, a + half, b + half, b - half], axis=1)


def _outlines(ax: Any, moment: Moment, pick: list[int]) -> None:
    """The silhouettes of the free bodies, faint."""
    collections = need("matplotlib.collections", by="riprap.plot.force_chains")
    triangles, body = triangulated(moment.surface)
    faces = triangles[moment.free(body)][:, :, pick]
    ax.add_collection(collections.PolyCollection(faces, facecolor="0.93", edgecolor="0.93", linewidth=0.3, zorder=0))


def normal_forces(
    source: Source, *, time: Optional[float] = None, unique: bool = False, bins: int = 20, ax: Optional[Axes] = None
) -> Axes:
    """Plots the probability density of the normal forces between pairs of bodies, relative to their mean, on a logarithmic axis.

    The line is an exponential through the forces above the mean, exp(−β f/⟨f⟩), with β by maximum likelihood; the legend has the
    mean [N]. Only pairs with a free body count. `time` and `unique` are as in `force_chains`.

    >>> import riprap as rr
    >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
    >>> scene = rr.SceneBuilder()
    >>> box = scene.add_fixed(rr.Shape.open_box(0.2, 0.2, 0.2), material=rock)
    >>> inside = ((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4))
    >>> rocks = scene.add_grains(rr.Grains.spheres(40, radius=(0.015, 0.02), material=rock, inside=inside))
    >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    >>> report = run.until(0.5)
    >>> rr.plot.normal_forces(run).get_xlabel()
    'normal force f/⟨f⟩ [–]'
    """
    moment = moment_of(source, time, unique=unique)
    assert moment.contacts is not None
    pairs = pairs_of(moment.contacts)
    force = pairs.force[moment.free(pairs.bodies).any(axis=1)]
    if len(force) < 2:
        raise ValueError(f"too few forces for a distribution at t = {moment.time:.6g} s: {len(force)}")
    mean = force.mean()
    density, edges = np.histogram(force / mean, bins=bins, range=(0.0, float(force.max() / mean)), density=True)
    ax = axes(ax, "normal_forces")
    middle = 0.5 * (edges[1:] + edges[:-1])
    filled = density > 0
    ax.semilogy(middle[filled], density[filled], "o", label=f"{len(force)} pairs, ⟨f⟩ = {mean:.3g} N")
    tail = force[force > mean] / mean - 1
    if len(tail) >= 10:
        decay, part = 1 / tail.mean(), len(tail) / len(force)
        f = np.array([1.0, float(force.max() / mean)])
        ax.semilogy(f, part * decay * np.exp(-decay * (f - 1)), label=f"exp(−β f/⟨f⟩), β = {decay:.2f}")
    ax.set_xlabel("normal force f/⟨f⟩ [–]")
    ax.set_ylabel("probability density [–]")
    ax.grid(alpha=0.3, which="both")
    ax.legend()
    return ax


def fabric(
    source: Source,
    *,
    view: Optional[str] = None,
    time: Optional[float] = None,
    unique: bool = False,
    bins: int = 36,
    weighted: bool = False,
    ax: Optional[PolarAxes] = None,
) -> PolarAxes:
    """Plots the rose of contact directions: the density of the normals between free bodies in the plane seen along `view`, whose mean is 1 [–].

    A normal and its opposite are the same direction; `time` and `unique` are as in `force_chains`. With `weighted` each pair counts by its normal force [N]. The curve is
    1 + a cos 2(θ − θ₁), from the fabric tensor of the projected normals; a is the anisotropy [–], θ₁ [°] the direction of most
    contacts.

    >>> import riprap as rr
    >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
    >>> scene = rr.SceneBuilder()
    >>> box = scene.add_fixed(rr.Shape.open_box(0.2, 0.2, 0.2), material=rock)
    >>> inside = ((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4))
    >>> rocks = scene.add_grains(rr.Grains.spheres(40, radius=(0.015, 0.02), material=rock, inside=inside))
    >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    >>> report = run.until(0.5)
    >>> rr.plot.fabric(run, weighted=True).get_title()
    'density of normal forces [–]'
    """
    moment = moment_of(source, time, unique=unique)
    assert moment.contacts is not None
    across, up = _plane(moment, view)
    pairs = pairs_of(moment.contacts)
    inner = moment.free(pairs.bodies).all(axis=1)
    if not inner.any():
        raise ValueError(f"no two free bodies press on each other at t = {moment.time:.6g} s")
    flat = pairs.normal[inner][:, ["xyz".index(across), "xyz".index(up)]]
    length = np.linalg.norm(flat, axis=1)
    # A normal along the line of sight has no direction in the plane; one that is inclined counts by its projection.
    weights = length * (pairs.force[inner] if weighted else 1.0)
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    both, weight = np.concatenate([angle, angle + np.pi]) % (2 * np.pi), np.tile(weights, 2)
    counts, edges = np.histogram(both, bins=bins, range=(0, 2 * np.pi), weights=weight)
    if ax is None:
        ax = cast("PolarAxes", axes(None, "fabric", subplot_kw={"projection": "polar"}))
    middle = 0.5 * (edges[1:] + edges[:-1])
    ax.bar(middle, counts * bins / counts.sum(), width=2 * np.pi / bins, edgecolor="white", linewidth=0.5, alpha=0.8)
    second = (weight * np.exp(2j * both)).sum() / weight.sum()
    anisotropy, first = 2 * abs(second), 0.5 * np.angle(second)
    theta = np.linspace(0, 2 * np.pi, 200)
    label = f"a = {anisotropy:.2f}, θ₁ = {np.degrees(first) % 180:.0f}°"
    ax.plot(theta, 1 + anisotropy * np.cos(2 * (theta - first)), color="C1", label=label)
    ax.set_xlabel(f"angle from {across} towards {up} [°]; {label}")
    top = float(ax.get_ylim()[1])
    ax.set_yticks(np.arange(1, 4) * (0.5 if top < 3 else np.ceil(top / 4)))
    ax.set_title("density of normal forces [–]" if weighted else "density of contact normals [–]", fontsize="medium")
    return ax
