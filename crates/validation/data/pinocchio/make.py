#!/usr/bin/env python3
"""Makes random trees of joints with the results of Pinocchio for them, as JSON files beside this one.

    make.py            writes the trees of TREES
    make.py --check    recomputes every result in every JSON file here, given or made, and prints how far it is off

README.md says what is in the files and which packages this needs.
"""

import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

HERE = Path(__file__).parent
POINT = [0.1, -0.2, 0.3]
CONVENTIONS = (
    "frames as in pinocchio: joint i frame = parent frame * placement(R,p) * joint motion; body frame = joint frame after motion. "
    "revolute/prismatic about unit axis expressed in the joint frame.\n"
    "spherical: q=(x,y,z,w) quaternion, v = angular velocity in the body (child) frame. freeflyer: q=(px,py,pz,qx,qy,qz,qw), "
    "v=(linear velocity in child frame, angular velocity in child frame).\n"
    "inertia_com about the com, axes of the body frame. M qdd + nle = tau. J_point: d(point world velocity)/dv of point_local "
    "attached to the LAST joint's body (id=njoints). J_omega: world angular velocity. acc_point: world acceleration of the point "
    "for qdd. potential = -m g.com (pinocchio sign, zero at origin)."
)
REVOLUTE, PRISMATIC, SPHERICAL, FREE = "revolute", "prismatic", "spherical", "freeflyer"


# Random trees


def quaternion(rng):
    """A unit quaternion (x, y, z, w), all rotations equally likely."""
    x = [rng.gauss(0.0, 1.0) for _ in range(4)]
    norm = math.hypot(*x)
    return [a / norm for a in x]


def rotation(rng):
    x, y, z, w = quaternion(rng)
    return pin.Quaternion(w, x, y, z).matrix()


def direction(rng):
    x = [rng.gauss(0.0, 1.0) for _ in range(3)]
    norm = math.hypot(*x)
    return [a / norm for a in x]


def vector(rng, size):
    return [rng.uniform(-size, size) for _ in range(3)]


def inertia(rng, mass, size):
    """Inertia [kg m²] about the centre of mass of a cuboid of edges 0.3 to 1 times `size`, turned anyhow."""
    a, b, c = (rng.uniform(0.3 * size, size) ** 2 for _ in range(3))
    r = rotation(rng)
    tensor = r @ np.diag([b + c, a + c, a + b]) @ r.T * (mass / 12.0)
    return 0.5 * (tensor + tensor.T)


def joint(rng, parent, kind, offset=0.5, mass=None, size=0.5):
    """A joint placed anyhow, up to `offset` [m] from its parent along each axis, and a body of `size` [m] and `mass` [kg], 0.5
    to 5 if none is given."""
    m = mass or rng.uniform(0.5, 5.0)
    return {
        "parent": parent,
        "type": kind,
        "axis": direction(rng) if kind in (REVOLUTE, PRISMATIC) else None,
        "placement_R": rotation(rng).tolist(),
        "placement_p": vector(rng, offset),
        "mass": m,
        "com": vector(rng, 0.4 * size),
        "inertia_com": inertia(rng, m, size).tolist(),
    }


def chain(rng, kinds, **options):
    return [joint(rng, i, kind, **options) for i, kind in enumerate(kinds)]


def tree(rng, kinds, roots=1, **options):
    """A random tree in preorder: the parent of a joint is the one before it or an ancestor of that; `roots` of the joints,
    the first among them, hang on the world."""
    at_world = {0, *rng.sample(range(2, len(kinds)), roots - 1)}
    joints = []
    path = []
    for i, kind in enumerate(kinds):
        path = [] if i in at_world else path[: rng.randint(max(1, len(path) - 2), len(path))]
        joints.append(joint(rng, path[-1] if path else 0, kind, **options))
        path.append(i + 1)
    return joints


def mixed(rng, n, kinds=(REVOLUTE, PRISMATIC, SPHERICAL)):
    """`n` kinds of joints in random order, each about as often as the others."""
    result = [kinds[i % len(kinds)] for i in range(n)]
    rng.shuffle(result)
    return result


def scales(rng):
    """Masses from 1e-4 to 1e3 kg in random order, so that light bodies bear heavy ones; sizes as for one density."""
    joints = tree(rng, mixed(rng, 15))
    masses = [10.0 ** (-4.0 + 0.5 * i) for i in range(15)]
    rng.shuffle(masses)
    return [joint(rng, j["parent"], j["type"], mass=m, size=0.5 * m ** (1.0 / 3.0)) for j, m in zip(joints, masses)]


def two_bases(rng):
    """Two free bodies, each with branches, that share nothing but the world."""
    first = tree(rng, [FREE, *mixed(rng, 5)])
    second = tree(rng, [FREE, *mixed(rng, 5)])
    for j in second:
        j["parent"] += len(first) if j["parent"] else 0
    return first + second


# Name: seed and maker.
TREES = {
    # A telescope along eight directions, turned by one joint in its midst, so that Coriolis forces act on the rest.
    "chain9_prismatic": (11, lambda rng: chain(rng, [PRISMATIC] * 4 + [REVOLUTE] + [PRISMATIC] * 4)),
    "chain6_spherical": (12, lambda rng: chain(rng, [SPHERICAL] * 6)),
    "tree16_float": (13, lambda rng: tree(rng, [FREE, *mixed(rng, 15)])),
    "chain30_revolute": (14, lambda rng: chain(rng, [REVOLUTE] * 30)),
    "tree15_scales": (15, scales),
    # Several joints on the world, and arms of metres.
    "tree20_offsets": (16, lambda rng: tree(rng, mixed(rng, 20), roots=3, offset=4.0)),
    "forest12_two_floats": (17, two_bases),
}
N_STATES = 3


# Results


def build(joints):
    """Pinocchio's model of the joints, and the frame of the point on the last body."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]), np.zeros(3))
    for i, j in enumerate(joints, 1):
        kind = j["type"]
        if kind == REVOLUTE:
            motion = pin.JointModelRevoluteUnaligned(np.array(j["axis"]))
        elif kind == PRISMATIC:
            motion = pin.JointModelPrismaticUnaligned(np.array(j["axis"]))
        else:
            motion = pin.JointModelSpherical() if kind == SPHERICAL else pin.JointModelFreeFlyer()
        placement = pin.SE3(np.array(j["placement_R"]), np.array(j["placement_p"]))
        assert model.addJoint(j["parent"], motion, placement, f"joint{i}") == i
        body = pin.Inertia(j["mass"], np.array(j["com"]), np.array(j["inertia_com"]))
        model.appendBodyToJoint(i, body, pin.SE3.Identity())
    last = len(joints)
    point = model.addFrame(pin.Frame("point", last, 0, pin.SE3(np.eye(3), np.array(POINT)), pin.FrameType.OP_FRAME))
    return model, point


def evaluate(model, point, q, v, tau, force):
    """All results of one state. `force` [N], in the axes of the world, acts on the point in the last of them only."""
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    data = model.createData()
    result = {}
    m = pin.crba(model, data, q)
    result["M"] = np.triu(m) + np.triu(m, 1).T
    result["nle"] = pin.nonLinearEffects(model, data, q, v).copy()
    result["gravity_term"] = pin.computeGeneralizedGravity(model, data, q).copy()
    qdd = result["qdd"] = pin.aba(model, data, q, v, tau).copy()

    pin.forwardKinematics(model, data, q, v, qdd)
    pin.updateFramePlacements(model, data)
    pose = data.oMf[point].copy()
    result["point_local"] = np.array(POINT)
    result["point_world"] = pose.translation
    acceleration = pin.getFrameClassicalAcceleration(model, data, point, world).linear.copy()
    jacobian = pin.computeFrameJacobian(model, data, q, point, world)
    result["J_point"] = jacobian[:3]
    result["J_omega"] = jacobian[3:]
    result["omega_world"] = jacobian[3:] @ v
    result["acc_point"] = acceleration
    result["kinetic"] = pin.computeKineticEnergy(model, data, q, v)
    result["potential"] = pin.computePotentialEnergy(model, data, q)
    result["com"] = pin.centerOfMass(model, data, q).copy()

    result["ext_force_world"] = force
    forces = pin.StdVec_Force()
    forces.extend(pin.Force.Zero() for _ in range(model.njoints))
    local = pose.rotation.T @ force
    forces[model.njoints - 1] = pin.Force(local, np.cross(POINT, local))
    result["qdd_with_ext_force"] = pin.aba(model, data, q, v, tau, forces).copy()
    return result


def random_state(rng, model):
    q = np.zeros(model.nq)
    for j in list(model.joints)[1:]:
        i = j.idx_q
        if j.nq == 1:
            q[i] = rng.uniform(-1.5, 1.5)
        elif j.nq == 4:
            q[i : i + 4] = quaternion(rng)
        else:
            q[i : i + 7] = vector(rng, 1.0) + quaternion(rng)
    v = np.array([rng.gauss(0.0, 1.0) for _ in range(model.nv)])
    tau = np.array([rng.gauss(0.0, 5.0) for _ in range(model.nv)])
    return q, v, tau, np.array([rng.gauss(0.0, 10.0) for _ in range(3)])


def make(seed, maker):
    rng = random.Random(seed)
    joints = maker(rng)
    model, point = build(joints)
    for i, j in enumerate(joints, 1):
        m = model.joints[i]
        joints[i - 1] = {"id": i, **j, "idx_q": m.idx_q, "idx_v": m.idx_v, "nq": m.nq, "nv": m.nv}
    states = []
    for _ in range(N_STATES):
        q, v, tau, force = random_state(rng, model)
        results = evaluate(model, point, q, v, tau, force)
        states.append({k: np.asarray(x).tolist() for k, x in {"q": q, "v": v, "tau": tau, **results}.items()})
    return {
        "seed": seed,
        "nq": model.nq,
        "nv": model.nv,
        "gravity": [0, 0, -9.81],
        "joints": joints,
        "states": states,
        "conventions": CONVENTIONS,
    }


def check(path):
    """Prints the largest difference between the file and Pinocchio, each result relative to its norm in the state."""
    tree = json.loads(path.read_text())
    model, point = build(tree["joints"])
    worst, where = 0.0, ""
    for state in tree["states"]:
        given = {k: np.array(x) for k, x in state.items()}
        mine = evaluate(model, point, given["q"], given["v"], given["tau"], given["ext_force_world"])
        assert mine.keys() | {"q", "v", "tau"} == given.keys(), "other results than make.py's"
        for name, x in mine.items():
            off = np.linalg.norm(x - given[name]) / max(np.linalg.norm(x), 1e-300)
            if off > worst:
                worst, where = off, name
    print(f"{path.stem:22} {worst:.1e} {where}")


if sys.argv[1:] == ["--check"]:
    for path in sorted(HERE.glob("*.json")):
        check(path)
elif not sys.argv[1:]:
    for name, (seed, maker) in TREES.items():
        (HERE / f"{name}.json").write_text(json.dumps(make(seed, maker)) + "\n")
else:
    sys.exit(__doc__)
