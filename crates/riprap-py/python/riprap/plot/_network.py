"""The contacts of a moment as a network of pairs of bodies: resultants and chains. NumPy only."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import numpy as np
from numpy.typing import NDArray

from ._source import Moment, sums

__all__ = ["Pairs", "chains", "pairs_of"]

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Loaded pairs of bodies."""

    #: Indices of the two bodies.
    bodies: NDArray[np.int64]
    #: Sum of the normal forces at the contacts of the pair [N].
    force: Floats
    #: Mean normal and mean point [m] of these contacts, weighted by force.
    normal: Floats
    point: Floats


def pairs_of(contacts: NDArray[Any]) -> Pairs:
    """The pairs of bodies that press on each other. A face on a face has several contacts; what matters is their sum."""
    normal_force = np.einsum("ij,ij->i", contacts["normal"], contacts["force"])
    loaded = normal_force > 0
    contacts, normal_force = contacts[loaded], normal_force[loaded]
    order = np.sort(contacts["bodies"].astype(np.int64), axis=1)
    bodies, pair = np.unique(order, axis=0, return_inverse=True)
    pair, n = pair.reshape(-1), len(bodies)
    swapped = contacts["bodies"][:, 0] != order[:, 0]
    normals = np.where(swapped[:, None], -contacts["normal"], contacts["normal"])
    force = sums(pair, normal_force, n)

    def weighted(vectors: Floats) -> Floats:
        return sums(pair, normal_force[:, None] * vectors, n) / force[:, None]

    normal = weighted(normals)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return Pairs(bodies.reshape(n, 2), force, normal, weighted(contacts["point"]))


def chains(moment: Moment) -> Tuple[Floats, Floats]:
    """Lines of the loaded pairs [m], and their forces [N]: from the centre of one body to that of the other, or to the point of
    contact with a body that is held.
    """
    assert moment.contacts is not None
    pairs, centres = pairs_of(moment.contacts), moment.centres()
    ends = []
    for side in (0, 1):
        body = pairs.bodies[:, side]
        known = np.minimum(body, max(len(centres) - 1, 0))
        centre = centres[known] if len(centres) else pairs.point
        drawn = moment.free(body) & np.isfinite(centre).all(axis=1)
        ends.append(np.where(drawn[:, None], centre, pairs.point))
    return np.stack(ends, axis=1), pairs.force
