#!/usr/bin/env python3
"""Checks the results in the JSON files beside this one without Pinocchio, with 50 digits: how many of theirs are right?

The method is the plainest there is and shares none with Pinocchio's: Jacobians of all bodies in the axes of the world, from them
`M = Σ Jᵀ I J` and `nle = Σ Jᵀ (I a + …)` with the accelerations `a` for `qdd = 0`, and accelerations by elimination.

For each file and result this prints the largest error, relative to the norm of the result in its state, and the condition
number of M.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 50
exact = np.vectorize(mp.mpf, otypes=[object])
IDENTITY = exact(np.eye(3))
GRAVITY = exact(np.array([0.0, 0.0, -9.81]))


def array(values):
    return exact(np.array(values, dtype=float))


def zeros(*shape):
    return exact(np.zeros(shape))


def skew(w):
    o = mp.mpf(0)
    return np.array([[o, -w[2], w[1]], [w[2], o, -w[0]], [-w[1], w[0], o]], dtype=object)


def cross(a, b):
    return skew(a) @ b


def norm(x):
    return float(mp.sqrt(sum(a * a for a in np.ravel(x))))


def rotation(quaternion):
    """Of (x, y, z, w), which is of unit length up to the round-off of the file."""
    x, y, z, w = quaternion / mp.sqrt(quaternion @ quaternion)
    k = skew([x, y, z])
    return IDENTITY + 2 * w * k + 2 * k @ k


@dataclass
class Body:
    """The motion of a body, in the axes of the world: of its frame, its Jacobians, and its accelerations for qdd = 0."""

    r: np.ndarray
    p: np.ndarray
    j_linear: np.ndarray
    j_angular: np.ndarray
    omega: np.ndarray
    a_linear: np.ndarray
    a_angular: np.ndarray

    def at(self, arm):
        """Jacobian and acceleration of the point at `arm` from the origin of the frame, in the axes of the world."""
        jacobian = self.j_linear - skew(arm) @ self.j_angular
        acceleration = self.a_linear + cross(self.a_angular, arm) + cross(self.omega, cross(self.omega, arm))
        return jacobian, acceleration


def world(nv):
    return Body(IDENTITY, zeros(3), zeros(3, nv), zeros(3, nv), zeros(3), zeros(3), zeros(3))


def child(parent, joint, q, v):
    """The body behind a joint."""
    kind = joint["type"]
    q = q[joint["idx_q"] : joint["idx_q"] + joint["nq"]]
    first, end = joint["idx_v"], joint["idx_v"] + joint["nv"]
    v = v[first:end]

    # Where the joint leaves the body, in the frame of the joint; which way the joint lets it move and turn, in the frame
    # of the body, in which these directions are constant.
    r, p = IDENTITY, zeros(3)
    slide, turn = zeros(3, joint["nv"]), zeros(3, joint["nv"])
    if kind == "revolute":
        k = skew(array(joint["axis"]))
        r = IDENTITY + mp.sin(q[0]) * k + (1 - mp.cos(q[0])) * k @ k
        turn[:, 0] = array(joint["axis"])
    elif kind == "prismatic":
        p = array(joint["axis"]) * q[0]
        slide[:, 0] = array(joint["axis"])
    elif kind == "spherical":
        r = rotation(q)
        turn[:] = IDENTITY
    else:
        p, r = q[:3], rotation(q[3:])
        slide[:, :3] = IDENTITY
        turn[:, 3:] = IDENTITY

    r_joint = parent.r @ array(joint["placement_R"])
    arm = parent.r @ array(joint["placement_p"]) + r_joint @ p
    r = r_joint @ r
    slide, turn = r @ slide, r @ turn

    # Carried along by the parent, plus the motion of the joint.
    j_linear, a_linear = parent.at(arm)
    j_angular = parent.j_angular.copy()
    j_linear[:, first:end] += slide
    j_angular[:, first:end] += turn
    omega = parent.omega + turn @ v
    a_angular = parent.a_angular + cross(parent.omega, turn @ v)
    a_linear = a_linear + cross(parent.omega, slide @ v) + cross(omega, slide @ v)
    return Body(r, parent.p + arm, j_linear, j_angular, omega, a_linear, a_angular)


def evaluate(tree, state):
    q, v, tau = (array(state[name]) for name in ("q", "v", "tau"))
    nv = tree["nv"]
    bodies = [world(nv)]
    m, nle, gravity_term = zeros(nv, nv), zeros(nv), zeros(nv)
    total, moment = mp.mpf(0), zeros(3)
    for joint in tree["joints"]:
        body = child(bodies[joint["parent"]], joint, q, v)
        bodies.append(body)
        mass = mp.mpf(joint["mass"])
        inertia = body.r @ array(joint["inertia_com"]) @ body.r.T
        arm = body.r @ array(joint["com"])
        j, a = body.at(arm)
        w = body.j_angular
        m = m + mass * j.T @ j + w.T @ inertia @ w
        nle = nle + mass * j.T @ (a - GRAVITY) + w.T @ (inertia @ body.a_angular + cross(body.omega, inertia @ body.omega))
        gravity_term = gravity_term - mass * j.T @ GRAVITY
        total += mass
        moment = moment + mass * (body.p + arm)

    last = bodies[-1]
    arm = last.r @ array(state["point_local"])
    j_point, a_point = last.at(arm)

    def solve(force):
        return np.array(list(mp.lu_solve(mp.matrix(m.tolist()), mp.matrix(force.tolist()))), dtype=object)

    qdd = solve(tau - nle)
    return {
        "M": m,
        "nle": nle,
        "gravity_term": gravity_term,
        "qdd": qdd,
        "point_world": last.p + arm,
        "J_point": j_point,
        "J_omega": last.j_angular,
        "omega_world": last.omega,
        "acc_point": j_point @ qdd + a_point,
        "kinetic": v @ m @ v / 2,
        "potential": -moment @ GRAVITY,
        "com": moment / total,
        "qdd_with_ext_force": solve(tau - nle + j_point.T @ array(state["ext_force_world"])),
    }


for path in sorted(Path(__file__).parent.glob("*.json")):
    tree = json.loads(path.read_text())
    errors = {}
    condition = 0.0
    for state in tree["states"]:
        for name, right in evaluate(tree, state).items():
            error = norm(array(state[name]) - right)
            errors[name] = max(errors.get(name, 0.0), error / (norm(right) or 1.0))
        condition = max(condition, np.linalg.cond(np.array(state["M"])))
    print(f"{path.stem}: condition of M {condition:.0e}")
    print("   ", ", ".join(f"{name} {error:.0e}" for name, error in errors.items()))
