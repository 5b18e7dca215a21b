"""Angle of repose of spheres and of stones: the scene of scene.toml, built in Python."""

import numpy as np
from numpy.typing import NDArray

import riprap as rr

UNTIL = 2.1  # s


def simulation() -> rr.Simulation:
    bead = rr.Material("bead", density=2500.0, friction=0.5)
    rock = rr.Material("rock", density=2500.0, friction=0.7)
    glass = rr.Material("glass", friction=0.0)
    ground = rr.Material("ground", friction=0.5)
    scene = rr.SceneBuilder()
    # On the ground the spheres soon stop rolling.
    scene.pair(bead, ground, rr.PairLaw(friction=0.5, rolling=0.002))
    scene.add_fixed(rr.Shape.half_space(), material=ground, position=(0, 0, -0.25), name="ground")
    for name, size, at, material in [
        ("platform", (0.34, 0.3, 0.04), (0.13, 0, -0.02), rock),
        ("lip", (0.02, 0.3, 0.04), (0.29, 0, 0.02), rock),
        ("back", (0.04, 0.3, 0.5), (-0.02, 0, 0.25), rock),
        ("side-1", (0.34, 0.02, 0.5), (0.13, 0.14, 0.25), glass),
        ("side-2", (0.34, 0.02, 0.5), (0.13, 0, 0.25), glass),
        ("side-3", (0.34, 0.02, 0.5), (0.13, -0.14, 0.25), glass),
    ]:
        scene.add_fixed(rr.Shape.cuboid(*size), material=material, position=at, name=name)
    scene.add_moving(
        rr.Shape.cuboid(0.02, 0.26, 0.5),
        material=glass,
        velocity=(0, 0, "0.6*ramp(t, 0.7, 0.8)"),
        position=(0.29, 0, 0.291),
        name="gate",
    )
    scene.add_grains(
        rr.Grains.spheres(
            780,
            name="spheres",
            material=bead,
            grading=(0.018, 0.022),
            inside=((0, 0.01, 0), (0.28, 0.13, 2)),
        )
    )
    scene.add_grains(
        rr.Grains.stones(
            900,
            name="stones",
            material=rock,
            grading=(0.018, 0.022),
            vertices=12,
            inside=((0, -0.13, 0), (0.28, -0.01, 2)),
        )
    )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=3e-4, solver=solver))


def slope(x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
    """Angle of a line through the highest centres in columns of 4 cm along x [deg]."""
    columns = [np.flatnonzero((x >= low) & (x < low + 0.04)) for low in np.arange(0.04, 0.24, 0.04)]
    tops = np.array([(x[k][z[k].argmax()], z[k].max()) for k in columns])
    return float(np.degrees(np.arctan(-np.polyfit(tops[:, 0], tops[:, 1], 1)[0])))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.21):
        angles = []
        for name in ("spheres", "stones"):
            at = frame.grains(name).positions
            angles.append(slope(at[:, 0], at[:, 2]))
        print(f"{frame.time:4.2f} s  spheres {angles[0]:4.1f}°, stones {angles[1]:4.1f}°")
