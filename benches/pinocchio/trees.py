#!/usr/bin/env python3
"""Writes the two trees of this benchmark, arm7.txt and tree36.txt, into crates/validation/data/pinocchio.

One line a joint, in preorder, so that the first line is joint 1; the parent 0 is the world:

    parent type  ax ay az  R (9, row by row)  p (3)  mass  com (3)  inertia_com (6: xx yy zz xy xz yz)

`type` is revolute, prismatic, spherical or freeflyer; the axis is a unit vector in the frame of the joint, zero for the last
two. R and p place the frame of the joint in that of its parent's body. The centre of mass [m] and the inertia about it
[kg m²] are given in the frame of the joint's own body. Numbers are written so that they are read back unchanged.
"""

import math
import random
from pathlib import Path

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
IDENTITY = (X, Y, Z)


def rotation(axis, angle):
    """Rotation matrix by `angle` [rad] about the unit vector `axis` (Rodrigues)."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    return (
        (t * x * x + c, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, t * y * y + c, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, t * z * z + c),
    )


def direction(rng):
    """A unit vector, all directions equally likely."""
    z = rng.uniform(-1.0, 1.0)
    angle = rng.uniform(-math.pi, math.pi)
    r = math.sqrt(1.0 - z * z)
    return (r * math.cos(angle), r * math.sin(angle), z)


def cuboid(rng, mass, size):
    """Inertia [kg m²] of a cuboid about its centre, turned by up to 0.2 rad so that no product of inertia vanishes."""
    a, b, c = (s * s for s in size)
    principal = (mass / 12.0 * (b + c), mass / 12.0 * (a + c), mass / 12.0 * (a + b))
    r = rotation(direction(rng), rng.uniform(0.1, 0.2))
    at = lambda i, j: sum(r[i][k] * principal[k] * r[j][k] for k in range(3))
    return (at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2))


def link(rng, parent, axis, r, p, mass, length):
    """A revolute joint and its link, `length` along z and a third as thick."""
    com = (rng.uniform(-0.01, 0.01), rng.uniform(-0.01, 0.01), 0.5 * length)
    inertia = cuboid(rng, mass, (length / 3.0, length / 3.0, length))
    return (parent, "revolute", axis, r, p, mass, com, inertia)


def arm7(rng):
    """An arm on the ground: seven links of 0.3 m on one another, turning about z and y in turn, 4 kg to 1 kg."""
    return [
        link(rng, i, Y if i % 2 else Z, IDENTITY, (0.0, 0.0, 0.3 if i else 0.0), 4.0 - 0.5 * i, 0.3)
        for i in range(7)
    ]


def tree36(rng):
    """A free body with four limbs of six joints; two of the limbs bear a branch of three more on their third link."""
    joints = [(0, "freeflyer", (0.0,) * 3, IDENTITY, (0.0,) * 3, 20.0, (0.0, 0.0, 0.05), cuboid(rng, 20.0, (0.6, 0.4, 0.3)))]

    def chain(parent, length, mass, r, p):
        for i in range(length):
            joints.append(link(rng, parent, (X, Y, Z, Y, X, Y)[i % 6], r, p, mass * 0.8**i, 0.2))
            parent = len(joints)
            r, p = IDENTITY, (0.0, 0.0, 0.2)

    for limb in range(4):
        corner = (0.3 if limb < 2 else -0.3, 0.2 if limb % 2 else -0.2, 0.0)
        root = len(joints) + 1
        chain(1, 6, 3.0, rotation(direction(rng), rng.uniform(0.5, 2.5)), corner)
        if limb < 2:
            chain(root + 2, 3, 1.0, rotation(direction(rng), rng.uniform(0.5, 2.5)), (0.05, 0.0, 0.1))
    return joints


FOLDER = Path(__file__).parent / "../../crates/validation/data/pinocchio"


def write(name, joints):
    lines = []
    for parent, kind, axis, r, p, mass, com, inertia in joints:
        numbers = [*axis, *(x for row in r for x in row), *p, mass, *com, *inertia]
        lines.append(f"{parent} {kind} " + " ".join(repr(x) for x in numbers))
    (FOLDER / name).write_text("\n".join(lines) + "\n")


write("arm7.txt", arm7(random.Random(7)))
write("tree36.txt", tree36(random.Random(36)))
