"""Wrecking ball against a brick wall: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 1.8  # s


def pendulum(steel: rr.Material) -> tuple[rr.Mechanism, rr.Link]:
    """A double pendulum: a universal joint at the beam, a ball joint between the links."""
    crane = rr.Mechanism("crane", position=(-0.22, 0, 3.1))
    link = rr.Body(rr.Shape.cuboid(0.04, 0.04, 1.15), steel, position=(0, 0, -0.575))
    upper = crane.add(rr.Joint.universal("y", "x"), rr.GROUND, link, name="upper", joint_name="swing")
    sphere = rr.Body(rr.Shape.sphere(0.2), steel, position=(0, 0, -1.25))
    ball = crane.add(
        rr.Joint.spherical(), upper, sphere, at=(0, 0, -1.15), name="ball", joint_name="knee"
    )
    crane.attach(ball, rr.Shape.cuboid(0.04, 0.04, 1.1), steel, (0, 0, -0.53), solid=True)
    crane.start("swing.first", math.radians(65))
    crane.start("swing.second", 0.0)
    return crane, upper


def simulation() -> rr.Simulation:
    brick = rr.Material("brick", density=1800.0, friction=0.6)
    steel = rr.Material("steel", density=7800.0, friction=0.4)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=brick, name="floor")
    # The frame that carries the ball.
    post, top = rr.Shape.cuboid(0.14, 0.14, 3.06), rr.Shape.cuboid(0.14, 3.2, 0.14)
    for name, y in [("left_post", -1.4), ("right_post", 1.4)]:
        scene.add_fixed(post, material=steel, position=(-0.22, y, 1.53), name=name)
    beam = scene.add_fixed(top, material=steel, position=(-0.22, 0, 3.13), name="beam")
    # Ten courses in bond: eight bricks in one, seven and two halves in the next, with joints of 1 mm.
    whole, half = rr.Shape.cuboid(0.12, 0.25, 0.12), rr.Shape.cuboid(0.12, 0.1245, 0.12)
    for name, shape, count, spacing, y, z in [
        ("even", whole, 8, 0.251, -0.8785, 0.06),
        ("odd", whole, 7, 0.251, -0.753, 0.18),
        ("end", half, 2, 1.8825, -0.94125, 0.18),
    ]:
        lattice, apart = (1, count, 5), (1, spacing, 0.24)
        bricks = rr.Grains.lattice(lattice, apart, name=name, material=brick, shape=shape, origin=(0, y, z))
        scene.add_grains(bricks)
    crane, upper = pendulum(steel)
    handle = scene.add_mechanism(crane)
    scene.ignore_contact(beam, (handle, upper))  # it is hinged in the beam
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4, solver=rr.Solver(tolerance=5e-4)))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.1):
        ball = frame.body("crane/ball")
        wall = frame.grains("even").positions
        print(f"{frame.time:3.1f} s  ball at {ball.position[0]:+.3f} m, highest brick at {wall[:, 2].max():.2f} m")
