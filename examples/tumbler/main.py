"""Tumbler: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 4.0  # s


def drum() -> rr.Shape:
    """Two ends and 16 planks."""
    end, plank = rr.Shape.cuboid(0.46, 0.02, 0.46), rr.Shape.cuboid(0.087521, 0.16, 0.02)
    parts = [(rr.Pose((0, y, 0)), end) for y in (-0.08, 0.08)]
    for k in range(16):
        angle = math.radians(22.5 * k)
        x, z = (round(0.21 * f(angle), 6) for f in (math.sin, math.cos))
        parts.append((rr.Pose((x, 0, z), rr.Rotation("y", angle)), plank))
    return rr.Shape.compound(parts)


def simulation() -> rr.Simulation:
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    steel = rr.Material("steel", friction=0.5)
    scene = rr.SceneBuilder()
    # 15 revolutions per minute after a soft start.
    spin = (0, "2*pi*0.25*ramp(t, 0.5, 1)", 0)
    scene.add_moving(drum(), material=steel, angular_velocity=spin, name="drum")
    scene.add_grains(
        rr.Grains.stones(
            50,
            name="stones",
            material=rock,
            grading=(0.025, 0.035),
            vertices=20,
            flatness=0.8,
            elongation=0.8,
            inside=((-0.12, -0.07, -0.12), (0.12, 0.07, 0.12)),
            seed=1,
        )
    )
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.25):
        heights = frame.grains("stones").positions[:, 2]
        load = -frame.contact_force("drum")[2]
        print(f"{frame.time:4.2f} s  highest stone {heights.max():+.3f} m, load {load:5.1f} N")
