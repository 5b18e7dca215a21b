"""Pictures of the bodies: shaded polyhedra and balls, translucent walls, forces."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._optional import need
from ._network import chains
from ._source import Moment, Source, axes, moment_of
from ._surface import LAYERS, Faces, Floats, Surface, towards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["png", "show"]

# Stone, steel, and others.
PALETTE = ["#c2ab8b", "#7f93a8", "#b8694a", "#7f9f6d", "#9a7fa8", "#cdb04f", "#5b9a9a"]
WALL = "#8796a5"
# Number of bodies beyond which notebooks show no picture by themselves.
LARGE = 2000
LABELS = {"speed": "speed [m/s]", "height": "height z of the centre [m]"}


def show(
    source: Source,
    *,
    time: Optional[float] = None,
    color: Union[str, ArrayLike] = "material",
    label: str = "",
    cmap: str = "viridis",
    walls: bool = True,
    hide: Sequence[str] = (),
    forces: bool = False,
    view: Tuple[float, float] = (22.0, -60.0),
    ax: Optional[Axes] = None,
) -> Axes:
    """Draws the bodies of a simulation, or of the frame of a run nearest to `time` [s], the last one by default.

    `color` is "material", "speed" [m/s], "height" [m], a colour of matplotlib, or one number per body with `label` (its name and
    unit); `cmap` is for numbers. Floors and containers are translucent and open towards the camera; without `walls` they are
    hidden, and so are the bodies with the names in `hide`, where `*` stands for any characters. `forces` draws the chains of normal forces [N] in translucent grains. `view` is the elevation and azimuth of the camera [°].
    Planar scenes are drawn in x and y. Axes that are given must have `projection="3d"`, except for planar scenes.

    >>> import riprap as rr
    >>> scene = rr.SceneBuilder()
    >>> steel = rr.Material("steel", density=7800.0)
    >>> floor = scene.add_fixed(rr.Shape.half_space(), material=steel)
    >>> box = scene.add(rr.Body(rr.Shape.cuboid(0.3, 0.2, 0.1), steel, position=(0, 0, 0.05)))
    >>> ax = rr.plot.show(rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)), view=(30, -45))
    >>> ax.get_title(), ax.get_xlabel()
    ('t = 0 s', 'x [m]')
    """
    moment = moment_of(source, time, contacts=forces).without(hide)
    surface = Surface(moment)
    if surface.planar:
        ax = axes(ax, "show")
        _draw_planar(ax, moment, surface, _Colors(moment, color, label, cmap), walls, forces)
        return ax
    need("matplotlib.pyplot", by="riprap.plot.show")
    ax = axes(ax, "show", figsize=(7.5, 6.0), subplot_kw={"projection": "3d", "computed_zorder": False})
    if not hasattr(ax, "set_zlim"):
        raise TypeError('a picture needs axes with projection="3d"')
    _draw(ax, moment, surface, _Colors(moment, color, label, cmap), walls, forces, view)
    return ax


def png(source: Source) -> Optional[bytes]:
    """A picture as PNG, for notebooks; None without matplotlib, or if drawing would take long: call `show` then.

    >>> import riprap as rr
    >>> scene = rr.SceneBuilder()
    >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
    >>> picture = rr.plot.png(rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)))
    >>> picture[1:4]
    b'PNG'
    """
    try:
        figures = need("matplotlib.figure", by="riprap.plot.png")
        need("mpl_toolkits.mplot3d", by="riprap.plot.png")
    except ImportError:
        return None
    moment = moment_of(source, contacts=False)
    if moment.scene.n_bodies > LARGE:
        return None
    planar = Surface(moment).planar
    # A figure of its own, which pyplot does not show a second time.
    figure = figures.Figure(figsize=(6.5, 5.2), layout="constrained")
    ax = figure.add_subplot() if planar else figure.add_subplot(projection="3d", computed_zorder=False)
    show(source, ax=ax)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


class _Colors:
    """The colours of bodies, and what the legend says about them."""

    def __init__(self, moment: Moment, color: Union[str, ArrayLike], label: str, cmap: str) -> None:
        data = moment.surface.cell_data
        self.body, self.label = data["body"], label
        self.norm: Any = None
        self.cmap: Any = None
        self.names: Dict[str, Any] = {}
        n = max(int(self.body.max(initial=-1)) + 1, moment.scene.n_bodies)
        if isinstance(color, str) and color == "material":
            self.faces = self._materials(moment)
        elif isinstance(color, str) and color not in LABELS:
            self.faces = np.tile(need("matplotlib.colors", by="riprap.plot.show").to_rgb(color), (len(self.body), 1))
        else:
            self.faces = self._numbers(self._values(moment, color, n), moment, cmap)

    def _values(self, moment: Moment, color: Union[str, ArrayLike], n: int) -> Floats:
        """A number per body."""
        if isinstance(color, str):
            self.label = self.label or LABELS[color]
            if color == "height":
                return moment.centres()[:, 2]
            speed = np.zeros(n)
            speed[self.body] = moment.surface.cell_data["speed [m/s]"]
            return speed
        values = np.asarray(color, dtype=np.float64)
        if values.shape != (n,):
            raise ValueError(f"color needs one number for each of {n} bodies, by id, not an array of shape {values.shape}")
        return values

    def _numbers(self, values: Floats, moment: Moment, cmap: str) -> Floats:
        colors = need("matplotlib", by="riprap.plot.show")
        moving = values[np.unique(self.body[moment.free(self.body)])]
        moving = moving[np.isfinite(moving)]
        low, high = (float(moving.min()), float(moving.max())) if len(moving) else (0.0, 1.0)
        self.norm = colors.colors.Normalize(low, high if high > low else low + 1.0)
        self.cmap = colors.colormaps[cmap]
        shown = np.clip(np.nan_to_num(values, nan=low), low, high)
        faces: Floats = self.cmap(self.norm(shown))[self.body, :3]
        return faces

    def _materials(self, moment: Moment) -> Floats:
        """A colour per material, those of free bodies first; bodies differ a little, so that they can be told apart."""
        material, free = moment.surface.cell_data["material"], moment.free(self.body)
        used = np.unique(material)
        order = sorted(used, key=lambda m: (not free[material == m].any(), m))
        known = [m.name for m in moment.scene.materials]
        rgb = need("matplotlib.colors", by="riprap.plot.show").to_rgb
        table = np.zeros((int(used.max(initial=0)) + 1, 3))
        for k, m in enumerate(order):
            table[m] = rgb(PALETTE[k % len(PALETTE)])
            self.names[known[m] if m < len(known) else f"material {m}"] = table[m]
        # The golden ratio spreads consecutive bodies evenly.
        tint = 0.84 + 0.28 * ((self.body * 0.6180339887) % 1.0)
        faces: Floats = np.clip(table[material] * tint[:, None], 0, 1)
        return faces

    def legend(self, ax: Any) -> None:
        """A colour bar, or the names of the materials."""
        if self.norm is not None:
            mappable = need("matplotlib.cm", by="riprap.plot.show").ScalarMappable(self.norm, self.cmap)
            ax.figure.colorbar(mappable, ax=ax, label=self.label, shrink=0.6, pad=0.08)
        elif len(self.names) > 0:
            patch = need("matplotlib.patches", by="riprap.plot.show").Patch
            handles = [patch(facecolor=c, edgecolor="0.3", linewidth=0.4, label=name) for name, c in self.names.items()]
            ax.legend(handles=handles, loc="upper right", fontsize="small", frameon=False)


def _draw(
    ax: Any, moment: Moment, surface: Surface, colors: _Colors, walls: bool, forces: bool, view: Tuple[float, float]
) -> None:
    """Draws into three-dimensional axes, from back to front: walls behind, solids, forces, edges of walls in front."""
    ax.computed_zorder = False
    ax.view_init(elev=view[0], azim=view[1])
    ax.set_proj_type("ortho")
    box = surface.box()
    if walls:
        _draw_walls(ax, surface, colors, box, view)
    _draw_solids(ax, surface, colors, 0.18 if forces else 1.0, view)
    if forces:
        _draw_forces(ax, moment)
    colors.legend(ax)
    _frame(ax, box, moment.time)


def _draw_solids(ax: Any, surface: Surface, colors: _Colors, opacity: float, view: Tuple[float, float]) -> None:
    """The faces that the camera sees. One collection, so that matplotlib sorts all of them by distance."""
    solids, cut = surface.solids(*view).split(0.06 * float(np.linalg.norm(surface.box()[1] - surface.box()[0])))
    discs, glow = surface.discs(*view)
    if opacity < 1:
        # Translucent discs on top of each other would be opaque.
        discs, glow = discs.pick(np.arange(len(glow)) % LAYERS == 0), glow[::LAYERS] + 0.3
    index = np.concatenate([solids.index, discs.index])
    shade = np.concatenate([1.08 * solids.brightness(*view), glow])
    alpha = np.where(surface.free[index], opacity, 1.0)
    face = np.column_stack([np.clip(colors.faces[index] * shade[:, None], 0, 1), alpha])
    # Edges of faces that are small and many would show that a ball is a polyhedron, those of parts that a face is cut.
    smooth = np.bincount(surface.body)[surface.body[index]] > 100
    smooth[: len(cut)] |= cut
    edge = np.column_stack([face[:, :3] * np.where(smooth, 1.0, 0.72)[:, None], alpha])
    if len(discs.index) and opacity == 1:
        edge[len(solids.index) :: LAYERS, :3] *= 0.6
    # Lines wide enough to close the seams between parts.
    _add(ax, solids.corners + discs.corners, facecolors=face, edgecolors=edge, linewidths=0.6, zorder=5)


def _add(ax: Any, polygons: List[Floats], **options: Any) -> None:
    """Adds polygons, if there are any."""
    if polygons:
        art3d = need("mpl_toolkits.mplot3d.art3d", by="riprap.plot.show")
        ax.add_collection3d(art3d.Poly3DCollection(polygons, **options))


def _draw_walls(ax: Any, surface: Surface, colors: _Colors, box: Floats, view: Tuple[float, float]) -> None:
    """Planes and containers: what is behind the bodies translucent, what is in front as faint edges."""
    grey = np.array(need("matplotlib.colors", by="riprap.plot.show").to_rgb(WALL))
    back = towards(*view)[0]
    middle = box.mean(axis=0) @ back

    def add(faces: Faces, alpha: float, line: float, zorder: int) -> None:
        rgb = 0.5 * (grey + colors.faces[faces.index]) if colors.names else np.tile(grey, (len(faces.index), 1))
        shade, one = faces.brightness(*view)[:, None], np.ones(len(rgb))
        filled = np.column_stack([np.clip(rgb * shade * 1.2, 0, 1), alpha * one])
        edges = np.column_stack([0.7 * rgb, line * one])
        _add(ax, faces.corners, facecolors=filled, edgecolors=edges, linewidths=0.5, zorder=zorder)

    planes = surface.patches(box)
    add(planes.pick(planes.normals @ back > 0), 0.30, 0.5, 1)
    walls = surface.faces(surface.walls)
    depth = np.array([corners.mean(axis=0) @ back for corners in walls.corners])
    seen = walls.normals @ back > 0
    behind = depth < middle if len(depth) else seen
    add(walls.pick(seen & behind), 0.30, 0.4, 2)
    add(walls.pick(seen & ~behind), 0.06, 0.25, 8)


def _draw_forces(ax: Any, moment: Moment) -> None:
    """Lines between centres, whose width and colour show the normal force."""
    lines, force = chains(moment)
    if not len(force):
        return
    art3d = need("mpl_toolkits.mplot3d.art3d", by="riprap.plot.show")
    order = np.argsort(force)
    relative = force[order] / force.max()
    drawn = art3d.Line3DCollection(lines[order], linewidths=0.3 + 5 * relative, cmap="inferno_r", zorder=6)
    drawn.set_array(force[order])
    drawn.set_clim(0.0, float(force.max()))
    drawn.set_capstyle("round")
    ax.add_collection3d(drawn)
    ax.figure.colorbar(drawn, ax=ax, label="normal force [N]", shrink=0.6, pad=0.08)


def _frame(ax: Any, box: Floats, time: float) -> None:
    """Limits, equal scales, labels with units."""
    size = np.maximum(box[1] - box[0], 0.02 * np.linalg.norm(box[1] - box[0]))
    middle = box.mean(axis=0)
    for axis, (c, s) in zip("xyz", zip(middle, size)):
        getattr(ax, f"set_{axis}lim")(c - s / 2, c + s / 2)
        getattr(ax, f"set_{axis}label")(f"{axis} [m]", labelpad=8)
        own = getattr(ax, f"{axis}axis")
        own.set_major_locator(need("matplotlib.ticker", by="riprap.plot.show").MaxNLocator(_ticks(s, size)))
        own.set_pane_color((1.0, 1.0, 1.0, 0.0))
        own._axinfo["grid"].update(color=(0.8, 0.8, 0.8, 0.3), linewidth=0.4)
    ax.set_box_aspect(size / size.max(), zoom=0.85 if size[2] > size[:2].max() else 0.92)
    ax.tick_params(labelsize="small")
    ax.set_title(f"t = {time:.4g} s", fontsize="medium")


def _ticks(length: float, size: NDArray[np.float64]) -> int:
    """Fewer ticks on short axes."""
    return max(1, round(5 * float(length / size.max())))


def _draw_planar(ax: Any, moment: Moment, surface: Surface, colors: _Colors, walls: bool, forces: bool) -> None:
    """Draws a planar scene in x and y."""
    collections = need("matplotlib.collections", by="riprap.plot.show")
    box = surface.box()
    pad = 0.04 * np.linalg.norm(box[1] - box[0])
    held = surface.planes | surface.walls
    for which, options in [(held, {"alpha": 0.5, "zorder": 1}), (~held, {"alpha": 0.35 if forces else 1.0, "zorder": 2})]:
        faces = surface.faces(which)
        if not faces.corners or (which is held and not walls):
            continue
        face = np.tile([0.53, 0.59, 0.65], (len(faces.corners), 1)) if which is held else colors.faces[faces.index]
        flat = [corners[:, :2] for corners in faces.corners]
        ax.add_collection(collections.PolyCollection(flat, facecolors=face, edgecolors="0.25", linewidths=0.5, **options))
    if forces:
        lines, force = chains(moment)
        if len(force):
            drawn = collections.LineCollection(lines[:, :, :2], linewidths=0.3 + 5 * force / force.max(), cmap="inferno_r", zorder=3)
            drawn.set_array(force)
            drawn.set_clim(0.0, float(force.max()))
            ax.add_collection(drawn)
            ax.figure.colorbar(drawn, ax=ax, label="normal force [N]", shrink=0.8)
    ax.set_xlim(box[0, 0] - pad, box[1, 0] + pad)
    ax.set_ylim(box[0, 1] - pad, box[1, 1] + pad)
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    ax.set_title(f"t = {moment.time:.4g} s", fontsize="medium")
    colors.legend(ax)
