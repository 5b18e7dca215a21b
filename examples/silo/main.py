"""Janssen's silo: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 1.7  # s


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    wall = rr.Material("wall", friction=0.4)
    scene = rr.SceneBuilder()
    x_wall, y_wall = rr.Shape.cuboid(0.02, 0.16, 0.9), rr.Shape.cuboid(0.16, 0.02, 0.9)
    for name, shape, at in [
        ("left", x_wall, (-0.07, 0, 0.4)),
        ("right", x_wall, (0.07, 0, 0.4)),
        ("front", y_wall, (0, -0.07, 0.4)),
        ("rear", y_wall, (0, 0.07, 0.4)),
    ]:
        scene.add_fixed(shape, material=wall, position=at, name=name)
    scene.add_moving(
        rr.Shape.cuboid(0.119, 0.119, 0.04),
        material=glass,
        velocity=(0, 0, "-0.01*ramp(t, 0.8, 0.9)"),
        position=(0, 0, -0.02),
        name="floor",
    )
    scene.add_grains(
        rr.Grains.lattice(
            (5, 5, 32),
            (0.024, 0.024, 0.0225),
            name="grains",
            material=glass,
            grading=(0.018, 0.022),
            origin=(-0.048, -0.048, 0.012),
            jitter=1e-4,
        )
    )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4, solver=solver))


if __name__ == "__main__":
    weight = 8.211 * 9.81 / 0.0144  # of the grains over the area [Pa]
    for frame in simulation().frames(until=UNTIL, every=0.1):
        pressure = -frame.contact_force("floor")[2] / 0.0144
        print(f"{frame.time:3.1f} s  floor {pressure:5.0f} Pa, {pressure / weight:4.0%} of the weight")
