"""Surfaces for pictures: which bodies enclose the others, faces towards the camera, light, and the patches of half-spaces. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

import numpy as np
from numpy.typing import NDArray

from ._source import Moment

__all__ = ["Faces", "Surface", "towards"]

Floats = NDArray[np.float64]
# Light comes from above, from the left of the camera.
LIGHT = (-0.45, 0.55, 0.7)


def towards(elevation: float, azimuth: float) -> Tuple[Floats, Floats, Floats]:
    """The directions to the camera, to the right and up, for angles as in matplotlib [°]."""
    e, a = np.radians([elevation, azimuth])
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return back, right, np.cross(back, right)


@dataclass(frozen=True)
class Faces:
    """Polygons of some bodies: corners [m], outward normal, and index in the surface of each."""

    corners: List[Floats]
    normals: Floats
    index: NDArray[np.int64]

    def pick(self, which: NDArray[np.bool_]) -> Faces:
        """Some of the faces."""
        kept = np.flatnonzero(which)
        return Faces([self.corners[k] for k in kept], self.normals[kept], self.index[kept])

    def brightness(self, elevation: float, azimuth: float) -> Floats:
        """Light on each face from both sides, from 0 to 1."""
        back, right, up = towards(elevation, azimuth)
        light = LIGHT[0] * right + LIGHT[1] * up + LIGHT[2] * back
        lit = self.normals @ (light / np.linalg.norm(light))
        shade: Floats = 0.46 + 0.54 * np.clip(lit, 0, 1)
        return shade


class Surface:
    """The surface of a moment, sorted into solids, walls around them, and planes."""

    def __init__(self, moment: Moment) -> None:
        data = moment.surface
        self.body = data.cell_data["body"]
        corners = [data.points[polygon] for polygon in data.polygons()]
        self.all = Faces(corners, _normals(corners), np.arange(len(corners)))
        self.free = moment.free(self.body)
        self.planes = self._planes()
        self.walls = self._walls()
        #: Whether everything is in the plane z = 0.
        self.planar = not np.ptp(data.points[:, 2]) if len(data.points) else True

    def solids(self) -> Faces:
        """The faces of bodies that are neither planes nor walls."""
        return self.all.pick(~(self.planes | self.walls))

    def box(self) -> Floats:
        """Lower and upper corner of what is shown [m]: solids and walls, and planes that are near."""
        points = self._points(~self.planes)
        if not len(points):
            points = self._points(np.ones(len(self.body), dtype=bool))
        if not len(points):
            return np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
        low, high = points.min(axis=0), points.max(axis=0)
        for k in np.flatnonzero(self.planes):
            middle, size = 0.5 * (low + high), np.linalg.norm(high - low)
            height = self.all.normals[k] @ (middle - self.all.corners[k][0])
            if abs(height) < 5 * size:
                foot = middle - height * self.all.normals[k]
                low, high = np.minimum(low, foot), np.maximum(high, foot)
        return np.stack([low, high])

    def patches(self, box: Floats) -> Faces:
        """The planes, cut off at a box a little larger than the given one."""
        pad = 0.04 * np.linalg.norm(box[1] - box[0])
        which = np.flatnonzero(self.planes)
        corners = [_patch(self.all.corners[k], self.all.normals[k], box + [[-pad], [pad]]) for k in which]
        some = np.array([len(c) >= 3 for c in corners], dtype=bool)
        return Faces([c for c in corners if len(c) >= 3], self.all.normals[which][some], which[some])

    def _points(self, which: NDArray[np.bool_]) -> Floats:
        chosen = [self.all.corners[k] for k in np.flatnonzero(which)]
        return np.concatenate(chosen) if chosen else np.zeros((0, 3))

    def _planes(self) -> NDArray[np.bool_]:
        """Half-spaces: held bodies with a single square as their surface."""
        count = np.bincount(self.body, minlength=int(self.body.max(initial=-1)) + 1)
        corners = np.array([len(c) == 4 for c in self.all.corners], dtype=bool)
        return (count[self.body] == 1) & corners & ~self.free

    def _walls(self) -> NDArray[np.bool_]:
        """Held bodies that reach over most of the free ones in two directions: containers, floors, drums."""
        walls = np.zeros(len(self.body), dtype=bool)
        inner = self._points(self.free)
        if not len(inner):
            return walls
        low, high = inner.min(axis=0), inner.max(axis=0)
        for body in np.unique(self.body[~self.free & ~self.planes]):
            own = self.body == body
            points = self._points(own)
            shared = np.minimum(points.max(axis=0), high) - np.maximum(points.min(axis=0), low)
            walls[own] = (shared > 0.7 * (high - low)).sum() >= 2
        return walls


def _normals(corners: List[Floats]) -> Floats:
    """Unit normals of polygons (Newell's method)."""
    normals = np.zeros((len(corners), 3))
    for k, c in enumerate(corners):
        normals[k] = np.cross(c - c[0], np.roll(c, -1, axis=0) - c[0]).sum(axis=0)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def _patch(square: Floats, normal: Floats, box: Floats) -> Floats:
    """The part of a plane inside a box: a large square, cut at the six sides."""
    middle = box.mean(axis=0)
    middle = middle - normal * (normal @ (middle - square[0]))
    side = square[1] - square[0]
    a = side / np.linalg.norm(side)
    b, half = np.cross(normal, a), 2 * np.linalg.norm(box[1] - box[0])
    polygon = np.array([middle + half * (x * a + y * b) for x, y in [(-1, -1), (1, -1), (1, 1), (-1, 1)]])
    for axis in range(3):
        for sign, limit in [(1.0, box[1, axis]), (-1.0, -box[0, axis])]:
            polygon = _cut(polygon, sign * polygon[:, axis] - limit) if len(polygon) else polygon
    return polygon


def _cut(polygon: Floats, beyond: Floats) -> Floats:
    """The part of a polygon where a linear function, given at its corners, is not positive."""
    kept = []
    for k, corner in enumerate(polygon):
        after = (k + 1) % len(polygon)
        if beyond[k] <= 0:
            kept.append(corner)
        if (beyond[k] <= 0) != (beyond[after] <= 0):
            part = beyond[k] / (beyond[k] - beyond[after])
            kept.append(corner + part * (polygon[after] - corner))
    return np.array(kept).reshape(-1, 3)
