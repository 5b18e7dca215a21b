"""Sheared periodic cell: the scene of scene.toml, built in Python."""

import math

import numpy as np

import riprap as rr

UNTIL = 3.0  # s
RATE = 5.0  # 1/s
SIDE = 0.1535  # m
DIAMETER, DENSITY = 0.0199, 2500.0  # m, kg/m³

# First beads of the four cubic lattices [m].
FIRST = {
    "a": (0.007675, 0.007675, 0.007675),
    "b": (0.023025, 0.023025, 0.007675),
    "c": (0.023025, 0.007675, 0.023025),
    "d": (0.007675, 0.023025, 0.023025),
}


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=DENSITY, friction=0.5)
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.periodic(x=(0, SIDE), y=(0, SIDE), z=(0, SIDE), shear_rate=RATE)
    for seed, (name, first) in enumerate(FIRST.items(), start=1):
        scene.add_grains(
            rr.Grains.lattice(
                (5, 5, 5),
                (0.0307, 0.0307, 0.0307),
                name=name,
                material=glass,
                grading=(0.0185, 0.0214),
                origin=first,
                jitter=5e-5,
                seed=seed,
            )
        )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=2e-4, solver=solver))


def curve(inertial: float) -> float:
    """Friction at an inertial number, by Jop, Forterre and Pouliquen (2006) [–]."""
    low, high = (math.tan(math.radians(angle)) for angle in (20.9, 32.76))
    return low + (high - low) / (0.279 / inertial + 1.0)


def stresses(run: rr.Simulation) -> tuple[float, float]:
    """Shear stress and pressure [Pa]: those of the contacts and of the velocities beyond the mean flow."""
    contacts = run.contacts()
    radii = 0.5 * np.cbrt(6.0 * run.masses / (math.pi * DENSITY))
    arms = radii[contacts["bodies"]].sum(axis=1)[:, np.newaxis] * contacts["normal"]
    force, u = contacts["force"], run.velocities.copy()
    u[:, 0] -= RATE * run.positions[:, 1]
    flux = force.T @ arms + (run.masses[:, np.newaxis] * u).T @ u
    return -0.5 * float(flux[0, 1] + flux[1, 0]) / SIDE**3, float(np.trace(flux)) / 3.0 / SIDE**3


if __name__ == "__main__":
    run = simulation()
    for half in range(6):
        rows = []
        for k in range(1, 501):
            run.until(0.5 * half + 1e-3 * k)
            rows.append(stresses(run))
        shear, pressure = (float(mean) for mean in np.mean(rows, axis=0))
        inertial = RATE * DIAMETER * math.sqrt(DENSITY / pressure)
        friction = shear / pressure
        print(f"{run.time:3.1f} s  I = {inertial:5.3f}, μ = {friction:5.3f}; the curve: {curve(inertial):5.3f}")
