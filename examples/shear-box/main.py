"""Direct shear of glass beads: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 1.4  # s


def lower() -> rr.Shape:
    """The floor and the two ends of the lower half."""
    end = rr.Shape.cuboid(0.06, 0.12, 0.06)
    return rr.Shape.compound(
        [
            (rr.Pose((-0.15, 0, -0.03)), end),
            (rr.Pose((0.15, 0, -0.03)), end),
            (rr.Pose((0, 0, -0.08)), rr.Shape.cuboid(0.36, 0.12, 0.04)),
        ]
    )


def press(smooth: rr.Material) -> rr.Mechanism:
    """A plate on a vertical slide, whose load rises to 144 N."""
    press = rr.Mechanism("press")
    plate = rr.Body(rr.Shape.cuboid(0.238, 0.118, 0.04), smooth, mass=2.0, inertia=0.01)
    press.prismatic(rr.GROUND, "z", body=plate, name="plate", joint_name="z")
    press.start("z", 0.17)
    press.actuate("z", "-144*ramp(t, 0.4, 0.6)", name="load")
    return press


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    smooth = rr.Material("smooth", friction=0.0)
    scene = rr.SceneBuilder()
    drawn = ("0.06*ramp(t, 0.7, 0.8)", 0, 0)
    scene.add_moving(lower(), material=glass, velocity=drawn, name="lower")
    end, side = rr.Shape.cuboid(0.06, 0.12, 0.3), rr.Shape.cuboid(0.48, 0.02, 0.42)
    for name, shape, at, material in [
        ("upper-1", end, (-0.15, 0, 0.151), glass),
        ("upper-2", end, (0.15, 0, 0.151), glass),
        ("front", side, (0, -0.07, 0.1), smooth),
        ("rear", side, (0, 0.07, 0.1), smooth),
    ]:
        scene.add_fixed(shape, material=material, position=at, name=name)
    scene.add_grains(
        rr.Grains.lattice(
            (10, 5, 9),
            (0.024, 0.024, 0.0225),
            name="beads",
            material=glass,
            grading=(0.018, 0.022),
            origin=(-0.108, -0.048, -0.048),
            jitter=1e-4,
        )
    )
    scene.add_mechanism(press(smooth))
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, solver=solver))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.05):
        force = frame.contact_force("lower")
        moved = 1e3 * frame.body("lower").position[0]
        print(f"{frame.time:4.2f} s  {moved:4.1f} mm, {force[0] / force[2]:5.2f}")
