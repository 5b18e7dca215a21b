"""Tower crane lifting stones: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 8.0  # s
STONE = [
    (-0.09, -0.05, -0.06), (0.08, -0.07, -0.05), (0.09, 0.06, -0.04), (-0.06, 0.07, -0.06),
    (-0.07, -0.04, 0.06), (0.05, -0.05, 0.07), (0.06, 0.05, 0.05), (-0.05, 0.05, 0.06),
]  # fmt: skip


def smooth(distance: str, start: float, end: float) -> rr.Motor:
    """Moves by a distance from start to end [s] without jumps in velocity."""
    s = f"ramp(t, {start}, {end})"
    return rr.Motor.motion(f"{distance}*({s} - sin(tau*{s})/tau)")


def simulation() -> rr.Simulation:
    stone = rr.Material("stone", density=2600.0, friction=0.6)
    steel = rr.Material("steel", density=7800.0, friction=0.4)
    box = rr.Shape.cuboid
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=stone, name="ground")
    tower = scene.add_fixed(box(0.4, 0.4, 5.8), material=steel, position=(0, 0, 2.9), name="tower")
    # The load: a bucket with walls of 15 mm, on four slings that are slack until the hook rises.
    tub = rr.Shape.open_box(1.0, 1.0, 0.4, wall=0.015)
    bucket = scene.add(rr.Body(tub, steel, name="bucket", position=(3, 0, 0.0151)))
    hook = scene.add(rr.Body(box(0.12, 0.12, 0.2), steel, name="hook", position=(3, 0, 1.6)))
    scene.add_grains(
        rr.Grains.lattice(
            (5, 5, 2),
            (0.19, 0.19, 0.16),
            name="stone",
            material=stone,
            shape=rr.Shape.hull(STONE),
            origin=(2.62, -0.38, 0.1),
        )
    )

    crane = rr.Mechanism("crane", position=(0, 0, 6))
    beam = rr.Body(box(6.5, 0.3, 0.3), steel, position=(1.75, 0, 0))
    drum = rr.Body(box(0.4, 0.3, 0.2), steel, position=(0, 0, 0.25))
    cart = rr.Body(box(0.4, 0.4, 0.12), steel, position=(0, 0, -0.21))
    jib = crane.revolute(rr.GROUND, "z", body=beam, name="jib", joint_name="slew")
    winch = crane.prismatic(jib, "-x", (2.6, 0, 0), drum, name="winch", joint_name="hoist")
    trolley = crane.prismatic(jib, "x", (3, 0, 0), cart, name="trolley", joint_name="travel")
    crane.drive(jib, smooth("80*pi/180", 2, 7))
    crane.drive(winch, smooth("4", 0.2, 3))  # the hook hangs on two parts of the cable and rises by 2 m
    crane.drive(trolley, smooth("0.8", 3, 7))
    handle = scene.add_mechanism(crane)
    scene.ignore_contact(tower, (handle, jib))
    scene.ignore_contact(tower, (handle, winch))

    scene.add_rope(
        "cable",
        [
            ((handle, winch), (0, 0, 0.15)),
            ((handle, trolley), (-0.1, 0, -0.27)),
            (hook, (0, 0, 0.1)),
            ((handle, trolley), (0.1, 0, -0.27)),
            ((handle, jib), (5, 0, -0.15)),
        ],
    )
    for k, (x, y) in enumerate([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)], 1):
        scene.add_rope(f"sling-{k}", [(hook, (0, 0, -0.1)), (bucket, (x, y, 0.4))], length=1.32)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.5):
        x, y, z = frame.body("bucket").position
        tension = frame.tension("cable")
        print(f"{frame.time:3.1f} s  bucket at ({x:+.2f}, {y:+.2f}, {z:.2f}) m, cable {tension:6.0f} N")
