"""Flow through an orifice: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 1.8  # s


def floor() -> rr.Shape:
    """Sixteen wedges around a hole with the area of a circle of 10 cm."""
    part = math.pi / 16
    radius = 0.05 * math.sqrt(part / math.tan(part)) / math.cos(part)
    wedges = []
    for k in range(16):
        corners = []
        for z in (-0.01, 0.0):
            for r in (radius, 0.19):
                for j in (k, k + 1):
                    angle = 2 * math.pi * j / 16
                    x, y = round(r * math.cos(angle), 6), round(r * math.sin(angle), 6)
                    corners.append((x, y, z))
        wedges.append((rr.Pose(), rr.Shape.hull(corners)))
    return rr.Shape.compound(wedges)


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    smooth = rr.Material("smooth", friction=0.0)
    scene = rr.SceneBuilder()
    x_wall, y_wall = rr.Shape.cuboid(0.02, 0.29, 0.6), rr.Shape.cuboid(0.29, 0.02, 0.6)
    for name, shape, at in [
        ("floor", floor(), (0, 0, 0)),
        ("left", x_wall, (-0.135, 0, 0.3)),
        ("right", x_wall, (0.135, 0, 0.3)),
        ("front", y_wall, (0, -0.135, 0.3)),
        ("rear", y_wall, (0, 0.135, 0.3)),
    ]:
        scene.add_fixed(shape, material=glass, position=at, name=name)
    scene.add_moving(
        rr.Shape.cuboid(0.14, 0.14, 0.02),
        material=smooth,
        velocity=("2*pulse(t, 0.5, 0.6)", 0, 0),
        position=(0, 0, -0.0202),
        name="gate",
    )
    scene.add_grains(
        rr.Grains.lattice(
            (11, 11, 13),
            (0.0227, 0.0227, 0.0225),
            name="grains",
            material=glass,
            grading=(0.018, 0.022),
            origin=(-0.1135, -0.1135, 0.012),
            jitter=1e-4,
        )
    )
    scene.remove(rr.Removal(below=-0.3))
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=8e-4, solver=solver))


if __name__ == "__main__":
    run = simulation()
    mass = 2500 * math.pi / 6 * 0.02**3  # of a grain of the mean size [kg]
    before = 0.0
    for frame in run.frames(until=UNTIL, every=0.2):
        left = int((frame.grains("grains").positions[:, 2] >= -0.04).sum())
        passed = mass * (1573 - left)
        print(f"{frame.time:3.1f} s  {passed:5.2f} kg have passed, {(passed - before) / 0.2:4.2f} kg/s")
        before = passed
