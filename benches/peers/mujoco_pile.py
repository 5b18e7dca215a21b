#!/usr/bin/env python3
"""A pile of stones shared with riprap, run by MuJoCo.

mujoco_pile.py SCENE --settle T --window T --states BEGIN END prints one JSON object. Contacts are elliptic cones with solref 0.001 1; the solver is CG
with 100 iterations and a tolerance of 1e-8.
"""
import argparse
import gzip
import json
import time

import mujoco
import numpy as np


def build(scene):
    """The model: five planes and one free body a stone, with the mass and the inertia of the file."""
    spec = mujoco.MjSpec()
    spec.option.timestep = scene["dt"]
    spec.option.gravity = scene["gravity"]
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.solver = mujoco.mjtSolver.mjSOL_CG
    spec.option.iterations = 100
    spec.option.tolerance = 1e-8
    spec.memory = 1 << 31
    friction = [scene["mu"], 0.0, 0.0]
    contact = dict(friction=friction, solref=[0.001, 1.0], condim=3)
    b = scene["box"]
    for normal, at in (
        ([0, 0, 1], [0, 0, b["zmin"]]),
        ([1, 0, 0], [b["xmin"], 0, 0]),
        ([-1, 0, 0], [b["xmax"], 0, 0]),
        ([0, 1, 0], [0, b["ymin"], 0]),
        ([0, -1, 0], [0, b["ymax"], 0]),
    ):
        wall = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1], pos=at, **contact)
        wall.alt.type = mujoco.mjtOrientation.mjORIENTATION_ZAXIS
        wall.alt.zaxis = normal
    for i, grain in enumerate(scene["grains"]):
        mesh = spec.add_mesh(name=f"m{i}")
        mesh.uservert = np.asarray(grain["verts"]).ravel()
        mesh.userface = np.asarray(grain["faces"]).ravel()
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT
        body = spec.worldbody.add_body(pos=grain["pos"], quat=grain["quat"])
        body.mass = grain["mass"]
        body.inertia = grain["inertia"]
        body.ipos = [0, 0, 0]
        body.iquat = [1, 0, 0, 0]
        body.explicitinertial = True
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"m{i}", **contact)
    return spec.compile()


def write_states(path, model, data, n):
    """One line a grain: x y z qw qx qy qz vx vy vz wx wy wz, the angular velocity in the world."""
    with open(path, "w") as out:
        turn = np.zeros(9)
        for i in range(n):
            q, v = data.qpos[7 * i : 7 * i + 7], data.qvel[6 * i : 6 * i + 6]
            mujoco.mju_quat2Mat(turn, q[3:])
            numbers = np.concatenate([q, v[:3], turn.reshape(3, 3) @ v[3:]])
            out.write(" ".join(repr(float(x)) for x in numbers) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scene")
    parser.add_argument("--settle", type=float, default=0.5)
    parser.add_argument("--window", type=float, default=0.5)
    parser.add_argument("--states", nargs=2)
    arguments = parser.parse_args()
    opened = gzip.open if arguments.scene.endswith(".gz") else open
    with opened(arguments.scene, "rt") as file:
        scene = json.load(file)
    model = build(scene)
    data = mujoco.MjData(model)
    n = len(scene["grains"])
    steps = round(arguments.window / scene["dt"])
    mujoco.mj_step(model, data, nstep=round(arguments.settle / scene["dt"]))
    if arguments.states:
        write_states(arguments.states[0], model, data, n)
    begin, cpu = time.perf_counter(), time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    ms = 1e3 * (time.perf_counter() - begin) / steps
    cpu_ms = 1e3 * (time.process_time() - cpu) / steps
    if arguments.states:
        write_states(arguments.states[1], model, data, n)
    print(json.dumps({"ms_per_step": ms, "cpu_ms_per_step": cpu_ms, "contacts": int(data.ncon), "steps": steps}))


if __name__ == "__main__":
    main()
