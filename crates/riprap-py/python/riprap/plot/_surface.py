"""Surfaces for pictures: which bodies enclose the others, faces towards the camera, light, and the patches of half-spaces. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, SupportsIndex, Tuple

import numpy as np
from numpy.typing import NDArray

from .._vtp import PolyData
from ._source import Moment, sums

__all__ = ["Faces", "Surface", "towards"]

Floats = NDArray[np.float64]
# Light comes from above, from the left of the camera.
LIGHT = (-0.45, 0.55, 0.7)
# Discs that make up a ball, if there are more than a few.
LAYERS = 6
FEW = 40


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
        """Some of them."""
        kept = np.flatnonzero(which)
        return Faces([self.corners[k] for k in kept], self.normals[kept], self.index[kept])

    def split(self, length: float) -> Tuple[Faces, NDArray[np.bool_]]:
        """The same faces, with quadrilaterals cut into parts no longer than a length [m], and which of the faces are such parts.
        Faces are drawn from back to front by their centres, which is only right if none is much larger than others.
        """
        corners: List[Floats] = []
        counts = np.ones(len(self.corners), dtype=np.int64)
        for k, face in enumerate(self.corners):
            parts = _parts(face, length) if len(face) == 4 else [face]
            corners += parts
            counts[k] = len(parts)
        return Faces(corners, np.repeat(self.normals, counts, axis=0), np.repeat(self.index, counts)), np.repeat(counts > 1, counts)

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
        self._data = data
        self._starts = np.concatenate([[0], data.ends[:-1]]).astype(np.int64) if len(data.ends) else data.ends
        self._lengths = data.ends - self._starts
        self.body = data.cell_data["body"]
        self.normals = _normals(data)
        self.free = moment.free(self.body)
        #: Which polygons are half-spaces, walls around the free bodies, and balls that are drawn as discs.
        self.planes = self._planes()
        self.walls = self._walls()
        self.balls = self._balls()
        #: Whether everything is in the plane z = 0.
        self.planar = not np.ptp(data.points[:, 2]) if len(data.points) else True

    def faces(self, which: NDArray[np.bool_]) -> Faces:
        """Some polygons."""
        kept = np.flatnonzero(which)
        corners = [self._corners(k) for k in kept]
        return Faces(corners, self.normals[kept], kept)

    def _corners(self, k: SupportsIndex) -> Floats:
        start = self._starts[k]
        corners: Floats = self._data.points[self._data.corners[start : start + self._lengths[k]]]
        return corners

    def solids(self, elevation: float, azimuth: float) -> Faces:
        """The faces towards the camera of bodies that are neither planes nor walls nor balls."""
        seen = self.normals @ towards(elevation, azimuth)[0] > 0
        return self.faces(seen & ~(self.planes | self.walls | self.balls))

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
            height = self.normals[k] @ (middle - self._corners(k)[0])
            if abs(height) < 5 * size:
                foot = middle - height * self.normals[k]
                low, high = np.minimum(low, foot), np.maximum(high, foot)
        return np.stack([low, high])

    def patches(self, box: Floats) -> Faces:
        """The planes, cut off at a box a little larger than the given one."""
        pad = 0.04 * np.linalg.norm(box[1] - box[0])
        which = np.flatnonzero(self.planes)
        corners = [_patch(self._corners(k), self.normals[k], box + [[-pad], [pad]]) for k in which]
        return Faces(corners, self.normals[which], which).pick(np.array([len(c) >= 3 for c in corners], dtype=bool))

    def discs(self, elevation: float, azimuth: float) -> Tuple[Faces, Floats]:
        """The balls as discs that face the camera, one in front of the other, and the brightness of each: few polygons that
        look like balls.
        """
        back, right, up = towards(elevation, azimuth)
        turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        circle = np.outer(np.cos(turn), right) + np.outer(np.sin(turn), up)
        towards_light = LIGHT[0] * right + LIGHT[1] * up
        bodies, first = np.unique(self.body[self.balls], return_index=True)
        corners, brightness = [], []
        for centre, radius in zip(self._centre[bodies], self._radius[bodies]):
            for part in np.arange(LAYERS) / LAYERS:
                middle = centre + radius * part * (0.6 * towards_light + 0.02 * back)
                corners.append(middle + radius * np.sqrt(1 - part) * circle)
                brightness.append(0.55 + 0.5 * part)
        index = np.repeat(np.flatnonzero(self.balls)[first], LAYERS)
        return Faces(corners, np.tile(back, (len(corners), 1)), index), np.array(brightness)

    def _points(self, which: NDArray[np.bool_]) -> Floats:
        points: Floats = self._data.points[self._data.corners[np.repeat(which, self._lengths)]]
        return points

    def _planes(self) -> NDArray[np.bool_]:
        """Half-spaces: held bodies with a single square as their surface."""
        count = np.bincount(self.body, minlength=int(self.body.max(initial=-1)) + 1)
        planes: NDArray[np.bool_] = (count[self.body] == 1) & (self._lengths == 4) & ~self.free
        return planes

    def _balls(self) -> NDArray[np.bool_]:
        """Bodies with many faces, all of whose corners have one distance from the centre, if there are many such bodies."""
        n = int(self.body.max(initial=-1)) + 1
        owner, points = np.repeat(self.body, self._lengths), self._data.points[self._data.corners]
        count = np.maximum(np.bincount(owner, minlength=n), 1)
        self._centre = sums(owner, points, n) / count[:, None]
        distance = np.linalg.norm(points - self._centre[owner], axis=1)
        self._radius = np.zeros(n)
        np.maximum.at(self._radius, owner, distance)
        mean = sums(owner, distance, n) / count
        # Coordinates of frames are 32-bit numbers.
        round_ = (self._radius - mean < 1e-3 * self._radius) & (np.bincount(self.body, minlength=n) >= 100)
        balls: NDArray[np.bool_] = round_[self.body] & (np.count_nonzero(round_) > FEW)
        return balls

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


def _normals(surface: PolyData) -> Floats:
    """Unit normals of polygons (Newell's method), over all polygons at once."""
    if not len(surface.ends):
        return np.zeros((0, 3))
    starts = np.concatenate([[0], surface.ends[:-1]]).astype(np.int64)
    after = np.arange(1, len(surface.corners) + 1)
    after[surface.ends - 1] = starts
    # From the first corner of each polygon, where little cancels.
    origin = np.repeat(surface.points[surface.corners[starts]], surface.ends - starts, axis=0)
    here = surface.points[surface.corners] - origin
    sums = np.add.reduceat(np.cross(here, here[after]), starts, axis=0)
    normals: Floats = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
    return normals


def _parts(face: Floats, length: float) -> List[Floats]:
    """A quadrilateral as a grid of parts no longer than a length, at most twenty in each direction."""
    a, b, c, d = face
    across = max(np.linalg.norm(b - a), np.linalg.norm(c - d))
    along = max(np.linalg.norm(d - a), np.linalg.norm(c - b))
    n, m = (int(np.clip(np.ceil(side / length), 1, 20)) for side in (across, along))
    if n == m == 1:
        return [face]
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    u, v = u[..., None], v[..., None]
    grid = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
    return [np.array([grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]]) for i in range(n) for j in range(m)]


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
