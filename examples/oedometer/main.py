"""Oedometer: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 1.7  # s
AREA = 0.028224  # of the box [m²]


def walls() -> rr.Shape:
    """Four walls around a square of 16.8 cm."""
    x, y = rr.Shape.cuboid(0.02, 0.208, 0.5), rr.Shape.cuboid(0.168, 0.02, 0.5)
    return rr.Shape.compound(
        [
            (rr.Pose((-0.094, 0, 0.25)), x),
            (rr.Pose((0.094, 0, 0.25)), x),
            (rr.Pose((0, -0.094, 0.25)), y),
            (rr.Pose((0, 0.094, 0.25)), y),
        ]
    )


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    wall = rr.Material("wall", density=2500.0, friction=0.3)
    smooth = rr.Material("smooth", density=2500.0, friction=0.0)
    scene = rr.SceneBuilder()
    box = scene.add_fixed(walls(), material=wall, name="walls")
    scene.add_moving(
        rr.Shape.cuboid(0.208, 0.208, 0.02),
        material=smooth,
        velocity=(0, 0, "-0.02*ramp(t, 1.2, 1.25)"),
        position=(0, 0, -0.01),
        name="floor",
    )
    plate = rr.Body(rr.Shape.cuboid(0.167, 0.167, 0.02), smooth, name="plate", position=(0, 0, 0.26), mass=1.0)
    stress = "(1000 + 39000*ramp(t, 0.5, 1.1))"
    scene.ignore_contact(scene.add_servo(plate, along="-z", force=f"{stress}*{AREA}", speed=0.3), box)
    scene.add_grains(
        rr.Grains.lattice(
            (7, 7, 10),
            (0.024, 0.024, 0.0235),
            name="beads",
            material=glass,
            grading=(0.017, 0.023),
            origin=(-0.072, -0.072, 0.012),
            jitter=4e-4,
        )
    )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4, solver=solver))


def height(run: rr.Simulation) -> float:
    """Height of the sample [m]."""
    return float(run.body("plate").position[2] - run.body("floor").position[2]) - 0.02


if __name__ == "__main__":
    run = simulation()
    run.until(0.5)
    start = height(run)
    for k in range(13):
        run.until(0.5 + 0.1 * k)
        strain = 1 - height(run) / start
        above, below = (1e-3 * abs(float(run.contact_force(name)[2])) / AREA for name in ("plate", "floor"))
        print(f"{strain:6.2%}  plate {above:5.2f} kPa, floor {below:5.2f} kPa")
