"""Driven wheel on a gravel bed: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 1.6  # s


def lugged_wheel() -> rr.Shape:
    """A rim of 24 sides, whose corners are 15 cm from the axle, and twelve lugs that reach to 17 cm."""

    def around(radius: float, angle: float) -> tuple[float, float]:
        return round(radius * math.cos(angle), 5), round(radius * math.sin(angle), 5)

    corners = [around(0.15, math.radians(15 * k)) for k in range(24)]
    rim = rr.Shape.hull([(x, y, z) for y in (-0.06, 0.06) for x, z in corners])
    lug = rr.Shape.cuboid(0.024, 0.12, 0.01)
    parts = [(rr.Pose(), rim)]
    for k in range(12):
        angle = math.radians(30 * k)
        x, z = around(0.158, angle)
        parts.append((rr.Pose((x, 0, z), rr.Rotation("y", -angle)), lug))
    return rr.Shape.compound(parts)


def rover(rubber: rr.Material, steel: rr.Material) -> rr.Mechanism:
    rover = rr.Mechanism("rover")
    chassis = rr.Body(
        rr.Shape.cuboid(0.3, 0.05, 0.05), steel, position=(0, -0.12, 0), mass=10.0, inertia=0.1
    )
    slide = rover.prismatic(rr.GROUND, "x", name="carriage.x", joint_name="x")
    carriage = rover.prismatic(slide, "z", body=chassis, name="carriage", joint_name="z")
    rover.revolute(carriage, "y", body=rr.Body(lugged_wheel(), rubber), name="wheel", joint_name="axle")
    rover.start("x", 0.05)
    rover.start("z", 0.3)
    # A motor with at most 30 N m accelerates the wheel to 3 rad/s; a rope pulls the carriage back with 10 N.
    rover.actuate("axle", "max(-30, min(30, 30*(3*ramp(t, 0.2, 0.4) - v.axle)))", name="motor")
    rover.actuate("x", "-10*ramp(t, 0.2, 0.4)", name="rope")
    return rover


def simulation() -> rr.Simulation:
    gravel = rr.Material("gravel", density=2600.0, friction=0.6)
    rubber = rr.Material("rubber", density=1100.0, friction=0.8)
    steel = rr.Material("steel", density=7800.0, friction=0.4)
    scene = rr.SceneBuilder()
    scene.pair(rubber, gravel, rr.PairLaw(friction=0.7))
    tub = rr.Shape.open_box(1.2, 0.24, 0.15, wall=0.015)
    scene.add_fixed(tub, material=steel, position=(0.4, 0, 0), name="box")
    scene.add_grains(
        rr.Grains.spheres(
            600,
            name="gravel",
            material=gravel,
            grading=(0.032, 0.04),
            inside=((-0.2, -0.12, 0), (1, 0.12, 1)),
            settle=rr.Settle(speed=0.05, at_most=1.0),
        )
    )
    scene.add_mechanism(rover(rubber, steel))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=2e-3, solver=rr.Solver(tolerance=1e-3)))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.1):
        state = frame.mechanism("rover")
        (x, z, _), (speed, _, spin) = state.q, state.v
        print(f"{frame.time:3.1f} s  axle at ({x:.3f}, {z:.3f}) m, {speed:+.3f} m/s, wheel {spin:.2f} rad/s")
