"""Rotating drum: the scene of scene.toml, built in Python."""

import math

import numpy as np

import riprap as rr

UNTIL = 6.0  # s


def drum() -> rr.Shape:
    """A ring of 32 planks."""
    plank = rr.Shape.cuboid(0.051216, 0.12, 0.02)
    parts = []
    for k in range(32):
        angle = math.radians(11.25 * k)
        x, z = (round(0.25 * f(angle), 6) for f in (math.sin, math.cos))
        parts.append((rr.Pose((x, 0, z), rr.Rotation("y", angle)), plank))
    return rr.Shape.compound(parts)


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    smooth = rr.Material("smooth", friction=0.0)
    scene = rr.SceneBuilder()
    # 1 rad/s after a soft start.
    spin = (0, "1*ramp(t, 0.4, 0.6)", 0)
    scene.add_moving(drum(), material=glass, angular_velocity=spin, name="drum")
    end = rr.Shape.cuboid(0.54, 0.02, 0.54)
    for name, y in (("front", -0.07), ("rear", 0.07)):
        scene.add_fixed(end, material=smooth, position=(0, y, 0), name=name)
    scene.add_grains(
        rr.Grains.lattice(
            (14, 5, 12),
            (0.0225, 0.0225, 0.0225),
            name="grains",
            material=glass,
            grading=(0.018, 0.022),
            origin=(-0.14625, -0.045, -0.16),
            jitter=1e-4,
        )
    )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=8e-4, solver=solver))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.25):
        x, _, z = frame.grains("grains").positions.T
        # The highest grain of each column of 4 cm in the middle half, and the line through them.
        columns = [np.flatnonzero((x >= low) & (x < low + 0.04)) for low in np.arange(-0.12, 0.12, 0.04)]
        tops = np.array([(x[k][z[k].argmax()], z[k].max()) for k in columns])
        angle = np.degrees(np.arctan(np.polyfit(tops[:, 0], tops[:, 1], 1)[0]))
        print(f"{frame.time:4.2f} s  {abs(angle):4.1f}°")
