"""A heap of stones behind a gate: the gate opens, the stones flow out, and the angle of the heap is measured.

The slot is 4 cm wide between smooth panes, with a smooth wall at x = 0 and a rough floor. `repose` is one case of the sweep in fit.py.
"""

from __future__ import annotations

import math

import numpy as np

import riprap as rr

WIDTH = 0.04  # of the slot [m]
GATE = 0.07  # position of the gate [m]
OPENS = 0.3  # when the gate starts to rise [s]
UNTIL = 1.0  # end of the run [s]


def heap(friction: float, seed: int, count: int) -> tuple[rr.Simulation, rr.GrainsHandle]:
    """The scene with stones of a friction coefficient above the floor, before they fall."""
    rock = rr.Material("rock", density=2600.0, friction=friction)
    pane = rr.Material("pane", density=2500.0, friction=0.0)
    rough = rr.Material("rough", density=2500.0, friction=1.0)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rough, name="floor")
    scene.add_fixed(rr.Shape.half_space((1, 0, 0)), material=pane, name="wall")
    scene.add_fixed(rr.Shape.half_space((0, 1, 0)), material=pane, position=(0, -WIDTH / 2, 0), name="front")
    scene.add_fixed(rr.Shape.half_space((0, -1, 0)), material=pane, position=(0, WIDTH / 2, 0), name="back")
    lift = ("0", "0", f"if(t < {OPENS}, 0, 1)")
    plate = rr.Shape.cuboid(0.02, 2 * WIDTH, 0.6)
    scene.add_moving(plate, material=pane, position=(GATE + 0.01, 0, 0.3), velocity=lift, name="gate")
    inside = ((0, -WIDTH / 2, 0), (GATE, WIDTH / 2, 0.5))
    stones = rr.Grains.stones(count, grading=(0.010, 0.014), vertices=8, material=rock, seed=seed, inside=inside)
    handle = scene.add_grains(stones)
    # The heap only has to come to rest.
    solver = rr.Solver(tolerance=1e-3, velocity_change_tolerance=1e-2, max_velocity_change_tolerance=0.1)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, solver=solver)), handle


def repose(friction: float, seed: int, count: int = 100) -> dict[str, float]:
    """The angle of the heap at rest [deg], and the largest speed that is left [m/s].

    A triangle against the wall with its foot on the floor has its centroid at a third of its base and height. The angle is that of the triangle with
    the centroid of the stones, which uses all stones and not just those at the surface.
    """
    run, stones = heap(friction, seed, count)
    run.until(UNTIL)
    state = run.grains(stones)
    x, _, z = state.positions.mean(axis=0)
    return {"angle": math.degrees(math.atan2(z, x)), "speed": float(np.linalg.norm(state.velocities, axis=1).max())}
